"""Refitting the model from a team's own ports: lines first, then the days they took."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, log1p
from pathlib import Path
from typing import Any

from mindport.catalog import Catalog
from mindport.config import Config, ConfigError
from mindport.effort.audit import build
from mindport.effort.days import assumptions
from mindport.effort.lines import load_model, predict
from mindport.effort.record import Record

FEW = 8
"""Below this many ported files single powers cannot be told from noise: only the level is refitted."""


@dataclass(frozen=True, slots=True)
class Example:
    """One port: the torch files with their records and their ports, and the person-days it took."""

    name: str
    files: tuple[tuple[Record, Path, Path], ...]
    days: float | None


def lines_changed(before: str, after: str) -> int:
    """Lines of code of the original that the port does not have as they were, blank lines and comments aside."""
    one, other = _code(before), _code(after)
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return len(one) - sum(block.size for block in matcher.get_matching_blocks())


def _code(text: str) -> list[str]:
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def refit(examples: Sequence[Example], catalog: Catalog) -> str:
    """The refitted ``[lines]`` of model.toml and ``scale`` of days.toml, as TOML."""
    model = load_model()
    measured: list[tuple[Record, int]] = []
    for example in examples:
        for record, before, after in example.files:
            if record.features is not None and after.is_file():
                measured.append((record, lines_changed(_text(before), _text(after))))
    if not measured:
        raise ConfigError("--calibrate: no file of the records has a port of the same name")
    table, gaps = _lines(measured, model)
    powers = ", ".join(f"{name} = {value:.3f}" for name, value in table["powers"].items())
    text = (
        f"# Refitted from {len(measured)} ported files; replace the tables of checks/effort with these.\n"
        f"[lines]\nconstant = {table['constant']:.3f}\nsmall = {table['small']:.3f}\npowers = {{ {powers} }}\n"
        f"spread = {{ low = {_quantile(gaps, 0.2):.3f}, high = {_quantile(gaps, 0.8):.3f} }}\n"
    )
    factors = _scales(examples, catalog)
    if factors:
        scale = exp(sum(map(log, factors)) / len(factors))
        worst = max(abs(log(factor / scale)) for factor in factors)
        text += (
            f"\n# days.toml, from {len(factors)} ports with days; single ports differ by up to a factor of {exp(worst):.1f}.\n"
            f"[days]\nscale = {scale:.2f}\n"
        )
    return text


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _lines(
    measured: Sequence[tuple[Record, int]], model: Mapping[str, Any]
) -> tuple[dict[str, Any], list[float]]:
    """Powers drawn towards the shipped ones (ridge): few records move the level, many also the shape."""
    table = model["lines"]
    names = list(table["powers"])
    small = sum(record.code for record, _ in measured) < int(model["small_below"])
    rows = []
    gaps = []
    for record, changed in measured:
        assert record.features is not None
        expected = log1p(predict(record.features, model, small=small).likely)
        counts = record.features.numbers()
        rows.append([1.0, *(log1p(counts[name]) for name in names)])
        gaps.append(log1p(changed) - expected)
    if len(measured) < FEW:
        shift = [sum(gaps) / len(gaps), *(0.0 for _ in names)]
    else:
        shift = _ridge(rows, gaps, [0.1, *(float(FEW) for _ in names)])
    left = [
        gap - sum(a * b for a, b in zip(row, shift, strict=True)) for row, gap in zip(rows, gaps, strict=True)
    ]
    powers = {
        name: float(table["powers"][name]) + change for name, change in zip(names, shift[1:], strict=True)
    }
    fitted = {
        "constant": float(table["constant"]) + shift[0],
        "small": float(table["small"]),
        "powers": powers,
    }
    return fitted, left


def _ridge(rows: Sequence[Sequence[float]], values: Sequence[float], penalty: Sequence[float]) -> list[float]:
    """Least squares with a penalty per coefficient, by Gaussian elimination: a handful of unknowns."""
    size = len(penalty)
    matrix = [
        [sum(row[i] * row[j] for row in rows) + (penalty[i] if i == j else 0.0) for j in range(size)]
        + [sum(row[i] * value for row, value in zip(rows, values, strict=True))]
        for i in range(size)
    ]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(matrix[r][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for r in range(size):
            if r != i:
                factor = matrix[r][i] / matrix[i][i]
                matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[i], strict=True)]
    return [matrix[i][size] / matrix[i][i] for i in range(size)]


def _scales(examples: Sequence[Example], catalog: Catalog) -> list[float]:
    """Per port with known days: real days of the work that is not fixed, over those estimated."""
    factors = []
    for example in examples:
        if example.days is None or example.days <= 0:
            continue
        found = build([record for record, _, _ in example.files], catalog, Config()).estimate
        fixed = sum(task.days.likely for task in found.tasks if task.fixed)
        work = sum(task.days.likely for task in found.tasks if not task.fixed) / float(assumptions()["scale"])
        if work > 0:
            factors.append(
                max(0.05, example.days - fixed) / work
                if example.days > fixed
                else example.days / (fixed + work)
            )
    return factors


def _quantile(values: Sequence[float], share: float) -> float:
    found = sorted(values)
    if len(found) < 2:
        return -0.3 if share < 0.5 else 0.3
    at = share * (len(found) - 1)
    low = int(at)
    high = min(low + 1, len(found) - 1)
    return found[low] + (found[high] - found[low]) * (at - low)
