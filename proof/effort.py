"""Back-test of the effort model: lines predicted against lines that real ports changed.

``python proof/effort.py FOLDER [--all] [--write] [--repositories FOLDER]``: FOLDER keeps the unpacked wheels of
transformers 4.57.1 and diffusers 0.35.1 (downloaded when missing). ``proof/effort_pairs.tsv`` holds, per file,
how many lines its port in mindone 0.5.0 or in another public port changed. A third of the pairs, chosen by the hash
of the path, is never fitted on: the figures are of those. ``--all`` measures the fitted ones too, ``--write`` fits the
model anew. The repositories are public ones, unpacked by their names; without them their pairs are left out.
Exits with 1 when the model does not reach what is promised.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from corpus import unpack

from mindport.config import Config
from mindport.effort.features import COUNTS, Features
from mindport.effort.lines import load_model, predict
from mindport.engine import Engine

WHEELS = {"transformers": "transformers==4.57.1", "diffusers": "diffusers==0.35.1"}
POWERS = ("code", "names", "device", "modules", "imports", "texts")
"""The counts the model uses: the others add nothing on held-out pairs."""
MODEL = Path(__file__).resolve().parent.parent / "checks" / "effort" / "model.toml"
SIMPLE = 0.24
"""The simple rule: lines touched = 0.24 x code lines."""


@dataclass(frozen=True, slots=True)
class Row:
    """One ported file: its counts, whether its project is small, what its port changed."""

    tree: str
    file: str
    kind: str
    counted: Features
    changed: int

    @property
    def small(self) -> bool:
        """Whether the file comes from a small project."""
        return self.tree not in WHEELS

    @property
    def held_out(self) -> bool:
        """See `is_held_out`."""
        return is_held_out(self.tree, self.file)


def is_held_out(tree: str, file: str) -> bool:
    """A third of all pairs, by the hash of the path."""
    return int(hashlib.sha256(f"pt/{tree}/{file}".encode()).hexdigest(), 16) % 3 == 0


def rows(folder: Path, repositories: Path | None, everything: bool) -> list[Row]:
    """Count the files of the pairs that can be had."""
    engine = Engine(Config(), measuring=True)
    trees = {name: unpack(wheel, folder) for name, wheel in WHEELS.items()}
    result = []
    left_out: set[str] = set()
    with (Path(__file__).parent / "effort_pairs.tsv").open(encoding="utf-8") as lines:
        for pair in csv.DictReader(lines, delimiter="\t"):
            tree = trees.get(pair["tree"]) or (repositories / pair["tree"] if repositories else None)
            file = tree / pair["file"] if tree is not None else None
            if file is None or not file.is_file():
                left_out.add(pair["tree"])
                continue
            if not everything and not is_held_out(pair["tree"], pair["file"]):
                continue
            counted = engine.check_file(file).features
            if counted is not None:
                result.append(
                    Row(pair["tree"], pair["file"], pair["kind"], counted, int(pair["lines_changed"]))
                )
    if left_out:
        print(f"left out, not there: {', '.join(sorted(left_out))}")
    return result


# --- figures ----------------------------------------------------------------------------------------------


def rank(values: Sequence[float]) -> list[float]:
    """Ranks with ties shared."""
    array = np.asarray(values, float)
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return [float(value) for value in (ends - (counts - 1) / 2)[inverse]]


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The rank correlation."""
    return float(np.corrcoef(rank(one), rank(other))[0, 1])


def error(real: Sequence[float], predicted: Sequence[float]) -> float:
    """The mean absolute error of the logarithm: 0.7 means wrong by a factor of two."""
    return float(np.abs(np.log1p(real) - np.log1p(np.maximum(0, predicted))).mean())


def figures(label: str, chosen: list[Row]) -> tuple[float, float, float, float, float]:
    """Print one line; returns Spearman, share inside P20-P80, both errors, and the simple rule's Spearman."""
    model = load_model()
    real = [float(r.changed) for r in chosen]
    predicted = [predict(r.counted, model, small=r.small) for r in chosen]
    likely = [p.likely for p in predicted]
    simple = [SIMPLE * r.counted.code for r in chosen]
    inside = float(np.mean([p.low <= r <= p.high for p, r in zip(predicted, real, strict=True)]))
    ours, theirs = spearman(real, likely), spearman(real, simple)
    off, simple_off = error(real, likely), error(real, simple)
    print(
        f"{label}: {len(chosen)} files, Spearman {ours:.3f} (0.24 x code lines: {theirs:.3f}), "
        f"inside P20-P80 {inside:.0%}, mean log error {off:.2f} ({simple_off:.2f})"
    )
    return ours, inside, off, simple_off, theirs


def report(measured: list[Row]) -> bool:
    """Print the back-test of the held-out pairs; whether it reaches what is promised."""
    held = [row for row in measured if row.held_out]
    ours, inside, *_ = figures("held-out pairs", held)
    good = ours >= 0.93 and inside >= 0.60
    for label, chosen in (
        ("  large libraries", [r for r in held if not r.small]),
        ("  small projects", [r for r in held if r.small]),
        ("  training scripts", [r for r in held if r.kind.startswith("train")]),
    ):
        if len(chosen) > 4:
            _, _, off, simple_off, _ = figures(label, chosen)
            good = good and off < simple_off
    return good


# --- fitting ----------------------------------------------------------------------------------------------


def fit(measured: list[Row]) -> str:
    """Fit the pairs that are not held out; the new text of the model's table."""
    train = [row for row in measured if not row.held_out]
    design = np.array(
        [[1.0, float(r.small), *(np.log1p(r.counted.numbers()[name]) for name in POWERS)] for r in train]
    )
    real = np.log1p([r.changed for r in train])
    weights = np.linalg.solve(design.T @ design + np.eye(design.shape[1]), design.T @ real)
    gaps = real - design @ weights
    # Wider than 0.2 and 0.8: new projects differ more than old ones.
    low, high = float(np.quantile(gaps, 0.18)), float(np.quantile(gaps, 0.82))
    powers = ", ".join(f"{name} = {value:.3f}" for name, value in zip(POWERS, weights[2:], strict=True))
    return (
        f"[lines]\nconstant = {weights[0]:.3f}\nsmall = {weights[1]:.3f}\npowers = {{ {powers} }}\n"
        f"spread = {{ low = {low:.3f}, high = {high:.3f} }}\n"
    )


def main() -> int:
    """Measure, and fit when asked to."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repositories", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    measured = rows(options.folder, options.repositories, options.all or options.write)
    assert set(POWERS) <= set(COUNTS)
    if not measured:
        print("no pair can be measured here: the wheels cannot be downloaded")
        return 0
    if options.write:
        text = MODEL.read_text(encoding="utf-8")
        text = re.sub(r"\[lines\]\n(?:[^\[\n].*\n)*", lambda _: fit(measured), text)
        MODEL.write_text(text, encoding="utf-8")
        load_model.cache_clear()
    return 0 if report(measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
