"""What `mindport compare` prints: text in English or Chinese, or one JSON object (docs/compare.schema.json)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from mindport import __version__
from mindport.compare.judge import Distance, Line, Verdict

WORDS = {
    "en": {
        "eval": "forward",
        "output": "output",
        "train": "forward in training",
        "statistics": "running statistics after one step",
        "random": "share set to zero in training",
        "attribute": "attribute",
        "training": "training mode",
        "dtype": "dtype",
        "gradient": "gradient",
        "network": "(whole network)",
        "only-original": "no counterpart in the port",
        "only-port": "no counterpart in the original",
        "buffers": "buffers without counterpart",
        "failed": "{side} failed: {text}",
        "first": "first difference: {what}",
        "pass": "PASS: {count} comparisons within {tolerance:g} (gradients {grad:g}), {mapped} parameters mapped",
        "fail": "FAIL: {bad} of {count} comparisons differ, {errors} errors, {unmatched} parameters without counterpart",
        "head": "largest difference (absolute, relative)",
    },
    "zh": {
        "eval": "前向",
        "output": "输出",
        "train": "训练模式前向",
        "statistics": "一步之后的滑动统计量",
        "random": "训练时置零的比例",
        "attribute": "属性",
        "training": "训练状态",
        "dtype": "数据类型",
        "gradient": "梯度",
        "network": "（整个网络）",
        "only-original": "移植代码中没有对应参数",
        "only-port": "原代码中没有对应参数",
        "buffers": "没有对应的缓冲区",
        "failed": "{side} 执行失败：{text}",
        "first": "首个差异：{what}",
        "pass": "通过：{count} 项比较均在 {tolerance:g} 以内（梯度 {grad:g}），映射了 {mapped} 个参数",
        "fail": "未通过：{count} 项比较中 {bad} 项不同，{errors} 个错误，{unmatched} 个参数没有对应",
        "head": "最大差异（绝对，相对）",
    },
}


def compare_lines(
    verdict: Verdict, language: str, tolerance: float, grad_tolerance: float, everything: bool
) -> Iterator[str]:
    """The report as text: all comparisons or the failing ones, then the verdict."""
    words = WORDS[language]
    shown = [line for line in verdict.lines if everything or not line.ok]
    if shown:
        yield f"{words['head']}:"
    for line in shown:
        yield f"  {'ok  ' if line.ok else 'DIFF'} {line_text(line, language)}"
    for side, mode, text in verdict.errors:
        yield words["failed"].format(side=f"{side} {mode}".strip(), text=text)
    for key, names in (
        ("only-original", verdict.only_original),
        ("only-port", verdict.only_port),
        ("buffers", verdict.notes),
    ):
        if names:
            yield f"{words[key]}: {', '.join(names)}"
    if verdict.first is not None:
        yield words["first"].format(what=line_text(verdict.first, language))
    bad = sum(not line.ok for line in verdict.lines)
    yield words["pass" if verdict.passed else "fail"].format(
        count=len(verdict.lines),
        bad=bad,
        errors=len(verdict.errors),
        unmatched=len(verdict.only_original) + len(verdict.only_port),
        tolerance=tolerance,
        grad=grad_tolerance,
        mapped=len(verdict.mapped),
    )


def line_text(line: Line, language: str) -> str:
    """One comparison in one line."""
    words = WORDS[language]
    layer = line.layer or words["network"]
    if line.port_layer and line.port_layer != line.layer:
        layer = f"{layer} -> {line.port_layer}"
    kind = f" {line.layer_class}" if line.layer_class else ""
    parts = [f"{words[line.phase]} [{line.mode}] {layer}{kind}"]
    if line.distance is not None:
        parts.append(f"{line.distance.absolute:.3g}, {line.distance.relative:.3g}")
    if line.original or line.port:
        parts.append(f"{line.original} != {line.port}" if not line.ok else f"{line.original}, {line.port}")
    return ": ".join(parts)


def compare_object(
    verdict: Verdict, versions: Mapping[str, str], tolerance: float, grad_tolerance: float
) -> dict[str, Any]:
    """The report as JSON; numbers that are not finite are null."""
    return {
        "version": __version__,
        "frameworks": dict(versions),
        "passed": verdict.passed,
        "tolerance": tolerance,
        "grad_tolerance": grad_tolerance,
        "first": None if verdict.first is None else _line_object(verdict.first),
        "comparisons": [_line_object(line) for line in verdict.lines],
        "errors": [{"side": side, "mode": mode, "message": text} for side, mode, text in verdict.errors],
        "only_original": list(verdict.only_original),
        "only_port": list(verdict.only_port),
        "buffers": list(verdict.notes),
        "mapped": dict(verdict.mapped),
    }


def to_json(value: Mapping[str, Any]) -> str:
    """One JSON object."""
    return json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False)


def _line_object(line: Line) -> dict[str, Any]:
    return {
        "phase": line.phase,
        "mode": line.mode,
        "layer": line.layer,
        "port_layer": line.port_layer,
        "class": line.layer_class,
        "max_abs": _number(line.distance, "absolute"),
        "max_rel": _number(line.distance, "relative"),
        "original": line.original,
        "port": line.port,
        "ok": line.ok,
    }


def _number(distance: Distance | None, name: str) -> float | None:
    value = None if distance is None else getattr(distance, name)
    return value if value is not None and math.isfinite(value) else None
