"""What a comparison found, as values, text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite

WORDS = {
    "en": {
        "equal": "equal within {tolerance:g}",
        "different": "DIFFERENT: first at {first} ({reason})",
        "unpaired": "no partner: {side} {name}",
        "mode": "{mode}: output max abs {abs:.3g}, max rel {rel:.3g}: {verdict}",
        "gradient": "{mode}: gradients of {count} parameters and inputs, max abs {abs:.3g}: {verdict}",
        "error": "{mode}: {message}",
        "layer": "  {name:40} max abs {abs:.3g}  max rel {rel:.3g}  {verdict}",
        "state": "  {name:40} {message}",
        "ok": "ok",
        "bad": "differs",
        "output": "output",
        "gradients": "gradient",
        "buffer": "buffer after one training step",
        "step": "output in training",
        "dropout": "share of zeros in training: torch {torch:.2f}, MindSpore {mindspore:.2f}",
        "training": "after set_train(True) torch trains, the port does not",
        "dtype": "output dtype: torch {torch}, MindSpore {mindspore}",
        "shape": "output shape: torch {torch}, MindSpore {mindspore}",
        "missing": "parameters without a partner",
        "run": "the port does not run",
    },
    "zh": {
        "equal": "在 {tolerance:g} 以内一致",
        "different": "不一致：首先出现在 {first}（{reason}）",
        "unpaired": "没有对应：{side} {name}",
        "mode": "{mode}：输出最大绝对误差 {abs:.3g}，最大相对误差 {rel:.3g}：{verdict}",
        "gradient": "{mode}：{count} 个参数与输入的梯度，最大绝对误差 {abs:.3g}：{verdict}",
        "error": "{mode}：{message}",
        "layer": "  {name:40} 最大绝对误差 {abs:.3g}  最大相对误差 {rel:.3g}  {verdict}",
        "state": "  {name:40} {message}",
        "ok": "一致",
        "bad": "不一致",
        "output": "输出",
        "gradients": "梯度",
        "buffer": "训练一步之后的缓冲区",
        "step": "训练模式下的输出",
        "dropout": "训练时零的比例：torch {torch:.2f}，MindSpore {mindspore:.2f}",
        "training": "set_train(True) 之后 torch 处于训练模式，移植代码没有",
        "dtype": "输出类型：torch {torch}，MindSpore {mindspore}",
        "shape": "输出形状：torch {torch}，MindSpore {mindspore}",
        "missing": "有参数没有对应",
        "run": "移植代码无法运行",
    },
}


@dataclass(frozen=True, slots=True)
class Difference:
    """How far two arrays are apart. ``reason`` is a word of the table when it is not the values."""

    name: str
    max_abs: float
    max_rel: float
    ok: bool
    kind: str = "output"
    detail: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModeResult:
    """One execution mode: output, gradients, layers in the order they ran; ``error`` when it did not run."""

    mode: str
    output: Difference | None = None
    gradients: tuple[Difference, ...] = ()
    layers: tuple[Difference, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything one comparison found."""

    torch: str
    mindspore: str
    tolerance: float
    pairs: int
    torch_left: tuple[str, ...]
    mindspore_left: tuple[str, ...]
    modes: tuple[ModeResult, ...]
    training: tuple[Difference, ...] = ()

    @property
    def first(self) -> Difference | None:
        """The first difference: layers in the order they run, then what training shows, outputs, gradients."""
        for part in self.parts():
            if not part.ok:
                return part
        return None

    def parts(self) -> Iterator[Difference]:
        """All differences in the order in which they explain each other."""
        if self.torch_left:
            yield Difference(self.torch_left[0], 0, 0, False, "missing")
        for mode in self.modes:
            yield from mode.layers
        yield from self.training
        for mode in self.modes:
            if mode.error:
                yield Difference(mode.mode, 0, 0, False, "run")
            if mode.output is not None:
                yield mode.output
            yield from mode.gradients

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return self.first is None


def reason(difference: Difference, language: str) -> str:
    """Why a difference counts, in words."""
    words = WORDS[language]
    key = "gradients" if difference.kind == "gradient" else difference.kind
    return words[key].format(**difference.detail)


def as_text(found: Comparison, language: str, *, every_layer: bool = False) -> str:
    """The report for people."""
    words = WORDS[language]
    lines = [f"{found.torch} / {found.mindspore}"]
    for side, names in (("torch", found.torch_left), ("MindSpore", found.mindspore_left)):
        lines += [words["unpaired"].format(side=side, name=name) for name in names]
    for mode in found.modes:
        lines += _mode(mode, words, every_layer)
    for part in found.training:
        if not part.ok:
            lines.append(words["state"].format(name=part.name, message=reason(part, language)))
    first = found.first
    if first is None:
        lines.append(words["equal"].format(tolerance=found.tolerance))
    else:
        lines.append(words["different"].format(first=first.name, reason=reason(first, language)))
    return "\n".join(lines)


def _mode(mode: ModeResult, words: dict[str, str], every_layer: bool) -> list[str]:
    if mode.error:
        return [words["error"].format(mode=mode.mode, message=mode.error)]
    lines = []
    if mode.output is not None:
        verdict = words["ok" if mode.output.ok else "bad"]
        out = mode.output
        lines.append(words["mode"].format(mode=mode.mode, abs=out.max_abs, rel=out.max_rel, verdict=verdict))
    for layer in mode.layers:
        if every_layer or not layer.ok:
            verdict = words["ok" if layer.ok else "bad"]
            text = words["layer"].format(
                name=layer.name, abs=layer.max_abs, rel=layer.max_rel, verdict=verdict
            )
            lines.append(text)
    if mode.gradients:
        worst = max(mode.gradients, key=lambda g: (not g.ok, g.max_abs))
        verdict = words["ok" if worst.ok else "bad"] + ("" if worst.ok else f" ({worst.name})")
        lines.append(
            words["gradient"].format(
                mode=mode.mode, count=len(mode.gradients), abs=worst.max_abs, verdict=verdict
            )
        )
    return lines


def as_object(found: Comparison, language: str) -> dict[str, object]:
    """The report as one JSON object (docs/compare.schema.json)."""
    first = found.first
    return {
        "torch": found.torch,
        "mindspore": found.mindspore,
        "tolerance": found.tolerance,
        "equal": found.equal,
        "first": None if first is None else {"name": first.name, "reason": reason(first, language)},
        "paired": found.pairs,
        "unpaired": {"torch": list(found.torch_left), "mindspore": list(found.mindspore_left)},
        "modes": [
            {
                "mode": mode.mode,
                "error": mode.error or None,
                "output": None if mode.output is None else _object(mode.output),
                "layers": _objects(mode.layers),
                "gradients": _objects(mode.gradients),
            }
            for mode in found.modes
        ],
        "training": _objects(found.training),
    }


def _objects(parts: Sequence[Difference]) -> list[dict[str, object]]:
    return [_object(part) for part in parts]


def _object(part: Difference) -> dict[str, object]:
    result = asdict(part)
    for key in ("max_abs", "max_rel"):  # JSON knows no infinity
        if not isfinite(result[key]):
            result[key] = None
    return result
