"""Two records, one verdict: what differs, where it differs first, what has no counterpart. Imports no framework."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two arrays are apart: largest absolute difference, and that over the reference's largest value."""

    absolute: float
    relative: float

    def within(self, tolerance: float) -> bool:
        """Whether it is small: relative to the reference where its values exceed 1, absolute below."""
        return min(self.absolute, self.relative) <= tolerance  # false for NaN


Measure = Callable[[str, str, str], Distance | None]
"""(mode, key of the original, key of the port) -> distance; None when the shapes differ."""


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison. ``phase``: eval, train, statistics, random, attribute, training, dtype, gradient, output."""

    phase: str
    mode: str
    layer: str
    port_layer: str
    layer_class: str
    distance: Distance | None
    original: str
    port: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome. ``first`` is the first line that fails, in the order the network computes."""

    lines: tuple[Line, ...]
    errors: tuple[tuple[str, str, str], ...]
    only_original: tuple[str, ...]
    only_port: tuple[str, ...]
    mapped: Mapping[str, str]
    notes: tuple[str, ...]

    @property
    def first(self) -> Line | None:
        """The first failing line."""
        return next((line for line in self.lines if not line.ok), None)

    @property
    def passed(self) -> bool:
        """Whether everything ran, everything has its counterpart and nothing differs."""
        return self.first is None and not self.errors and not self.only_original and not self.only_port


class Judge:
    """Compares the torch record with the port's records, one per mode."""

    def __init__(
        self,
        original: Facts,
        ports: Mapping[str, Facts],
        table: Mapping[str, Any],
        measure: Measure,
        tolerance: float,
        grad_tolerance: float,
        as_built: bool,
    ) -> None:
        self.original = original
        self.ports = ports
        self.table = table
        self.measure = measure
        self.tolerance = tolerance
        self.grad_tolerance = grad_tolerance
        self.as_built = as_built
        self.classes = {e["name"]: e["class"] for e in original.get("layers", ())}

    def verdict(self) -> Verdict:
        """Everything, in the order that points at the first cause."""
        errors = [("torch", "", f"{phase}: {text}") for phase, text in self._errors(self.original)]
        for mode, facts in self.ports.items():
            errors += [("mindspore", mode, f"{phase}: {text}") for phase, text in self._errors(facts)]
        lines: list[Line] = []
        hooked = self.ports.get("pynative") or next(iter(self.ports.values()), {})
        mapped: Mapping[str, str] = hooked.get("mapped", {})
        self.pairs = layer_pairs(self.original, hooked, mapped)
        lines += self._layers("eval", hooked)
        for mode, facts in self.ports.items():
            lines += self._outputs(mode, facts)
        lines += self._modes(hooked)
        lines += self._attributes(hooked)
        lines += self._layers("train", hooked)
        lines += self._statistics(hooked, mapped)
        lines += self._rates(hooked)
        for mode, facts in self.ports.items():
            lines += self._gradients(mode, facts, mapped)
        only_original, only_port, notes = self._unmatched(hooked, mapped)
        return Verdict(tuple(lines), tuple(errors), only_original, only_port, mapped, notes)

    def _errors(self, facts: Facts) -> Sequence[tuple[str, str]]:
        return list(facts.get("errors", {}).items())

    def _line(
        self,
        phase: str,
        mode: str,
        layer: str,
        ours: str,
        distance: Distance | None = None,
        original: object = "",
        port: object = "",
        ok: bool = False,
    ) -> Line:
        return Line(
            phase,
            mode,
            layer,
            ours,
            self.classes.get(layer, ""),
            distance,
            str(original),
            str(port),
            ok,
        )

    def _pair(
        self, phase: str, mode: str, layer: str, ours: str, one: Facts, other: Facts, tolerance: float
    ) -> Line:
        distance = self.measure(mode, one["key"], other["key"])
        if distance is None:
            return self._line(phase, mode, layer, ours, None, tuple(one["shape"]), tuple(other["shape"]))
        types = (one["dtype"], other["dtype"])
        same = types[0] == types[1] or not all(t.startswith(("float", "bfloat")) for t in types)
        if not same:
            return self._line("dtype", mode, layer, ours, distance, *types)
        return self._line(phase, mode, layer, ours, distance, ok=distance.within(tolerance))

    def _layers(self, phase: str, facts: Facts) -> list[Line]:
        """Outputs of the layers both sides have, in the order torch finishes them."""
        theirs = defaultdict(list)
        for call in facts.get(phase, ()):
            theirs[call["layer"]].append(call)
        counts: dict[str, int] = defaultdict(int)
        lines = []
        for call in self.original.get(phase, ()):
            layer = call["layer"]
            ours = self.pairs.get(layer)
            index = counts[layer]
            counts[layer] += 1
            if ours is None or index >= len(theirs[ours]) or call.get("random"):
                continue
            outputs = theirs[ours][index]["outputs"]
            if len(outputs) != len(call["outputs"]):
                continue  # a container or a layer that returns more on one side: its parts are compared
            for one, other in zip(call["outputs"], outputs, strict=True):
                lines.append(self._pair(phase, "pynative", layer, ours, one, other, self.tolerance))
        return lines

    def _outputs(self, mode: str, facts: Facts) -> list[Line]:
        one, other = self.original.get("outputs", []), facts.get("outputs")
        if other is None:
            return []
        if len(one) != len(other):
            return [self._line("output", mode, "", "", None, f"{len(one)} tensors", f"{len(other)} tensors")]
        return [
            self._pair("output", mode, "", "", a, b, self.tolerance) for a, b in zip(one, other, strict=True)
        ]

    def _entries(self, facts: Facts) -> dict[str, Facts]:
        return {e["name"]: e for e in facts.get("layers", ())}

    def _modes(self, facts: Facts) -> list[Line]:
        """Whether the layers that care train or evaluate alike."""
        lines = []
        theirs = self._entries(facts)
        for entry in self.original.get("layers", ()):
            other = theirs.get(self.pairs.get(entry["name"], "-"))
            if other is None or entry["class"] not in self.table["modal"]:
                continue
            for key in ("training", *(("built",) if self.as_built else ())):
                if key in entry and key in other and entry[key] != other[key]:
                    one, two = (f"{key}={e[key]}" for e in (entry, other))
                    lines.append(
                        self._line("training", "pynative", entry["name"], other["name"], None, one, two)
                    )
        return lines

    def _attributes(self, facts: Facts) -> list[Line]:
        lines = []
        theirs = self._entries(facts)
        for entry in self.original.get("layers", ()):
            other = theirs.get(self.pairs.get(entry["name"], "-"))
            if other is None or not (entry["leaf"] or other["leaf"]):
                continue
            for name, value in entry["attributes"].items():
                kept = [
                    other["attributes"][n]
                    for n in self.table["attributes"].get(name, ())
                    if n in other["attributes"]
                ]
                if kept and abs(kept[0] - value) > 1e-6 * max(abs(value), 1e-6):
                    one, two = (f"{name}={number:.6g}" for number in (value, kept[0]))
                    lines.append(
                        self._line("attribute", "pynative", entry["name"], other["name"], None, one, two)
                    )
        return lines

    def _statistics(self, facts: Facts, mapped: Mapping[str, str]) -> list[Line]:
        """Running statistics after one step."""
        lines = []
        after = facts.get("after", {})
        for name, key in self.original.get("after", {}).items():
            ours = mapped.get(name, "")
            if ours in after and self._calm(name.rpartition(".")[0]):
                distance = self.measure("pynative", key, after[ours])
                ok = distance is not None and distance.within(self.tolerance)
                lines.append(self._line("statistics", "pynative", name, ours, distance, ok=ok))
        return lines

    def _calm(self, layer: str) -> bool:
        """Whether nothing random reached a layer in training."""
        return not any(c.get("random") for c in self.original.get("train", ()) if c["layer"] == layer)

    def _rates(self, facts: Facts) -> list[Line]:
        lines = []
        theirs = facts.get("rates", {})
        for layer, rate in self.original.get("rates", {}).items():
            ours = self.pairs.get(layer, "-")
            if ours in theirs:
                ok = abs(rate - theirs[ours]) < 0.05
                one, two = (f"{100 * share:.0f} %" for share in (rate, theirs[ours]))
                lines.append(self._line("random", "pynative", layer, ours, None, one, two, ok=ok))
        return lines

    def _gradients(self, mode: str, facts: Facts, mapped: Mapping[str, str]) -> list[Line]:
        lines = []
        ours = facts.get("gradients")
        if ours is not None:
            for name, key in self.original.get("gradients", {}).items():
                other = mapped.get(name, "")
                if key is not None and other in ours:
                    lines.append(self._gradient(mode, name, other, key, ours[other]))
        pairs = zip(
            self.original.get("input_gradients", ()), facts.get("input_gradients") or (), strict=False
        )
        for index, (one, two) in enumerate(pairs):
            if one is not None and two is not None:
                lines.append(self._gradient(mode, f"input {index}", f"input {index}", one, two))
        return lines

    def _gradient(self, mode: str, name: str, ours: str, one: str, other: str) -> Line:
        distance = self.measure(mode, one, other)
        ok = distance is not None and distance.within(self.grad_tolerance)
        return self._line("gradient", mode, name, ours, distance, ok=ok)

    def _unmatched(
        self, facts: Facts, mapped: Mapping[str, str]
    ) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Trainable parameters without counterpart fail; buffers are only named."""
        if "state" not in facts or "state" not in self.original:
            return (), (), ()
        theirs = [e for e in self.original["state"] if e["name"] not in mapped]
        ours = [e for e in facts["state"] if e["name"] not in mapped.values()]
        buffers = [
            e["name"]
            for e in (*theirs, *ours)
            if not e["trainable"] and e["name"].rpartition(".")[2] not in self.table["ignored"]
        ]
        return (
            tuple(e["name"] for e in theirs if e["trainable"]),
            tuple(e["name"] for e in ours if e["trainable"]),
            tuple(buffers),
        )


def layer_pairs(original: Facts, port: Facts, mapped: Mapping[str, str]) -> dict[str, str]:
    """torch layer -> port layer: by mapped parameters, by equal names, then leaves between pairs by order."""
    names = {e["name"]: e for e in port.get("layers", ())}
    pairs: dict[str, str] = {}
    taken: set[str] = set()

    def add(layer: str, ours: str) -> None:
        if layer not in pairs and ours in names and ours not in taken:
            pairs[layer] = ours
            taken.add(ours)

    add("", "")
    for one, other in mapped.items():
        layer, ours = one.rpartition(".")[0], other.rpartition(".")[0]
        add(layer, layer if ours.startswith(f"{layer}.") else ours)
    for entry in original.get("layers", ()):
        add(entry["name"], entry["name"])
    leaf = {e["name"] for side in (original, port) for e in side.get("layers", ()) if e["leaf"]}
    left = [c for c in original.get("eval", ()) if c["layer"] in leaf]
    right = [c for c in port.get("eval", ()) if c["layer"] in leaf]
    position = {c["layer"]: i for i, c in reversed(list(enumerate(right)))}
    gap: list[Facts] = []
    start = 0
    for call in [*left, None]:
        known = call is not None and call["layer"] in pairs
        if call is not None and not known:
            gap.append(call)
            continue
        end = position.get(pairs[call["layer"]], start) if call is not None else len(right)
        loose = [c for c in right[start:end] if c["layer"] not in taken]
        if len(loose) == len(gap):
            for before, after in zip(gap, loose, strict=True):
                add(before["layer"], after["layer"])
        gap, start = [], max(start, end)
    return pairs
