"""Which parameter of the port is which parameter of the original: by name, then by structure, order and shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class Entry:
    """A parameter or buffer: its full name and shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def owner(self) -> str:
        """The layer it belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def last(self) -> str:
        """Its name within the layer."""
        return self.name.rpartition(".")[2]

    @property
    def squeezed(self) -> tuple[int, ...]:
        """The shape without axes of length 1: Conv1d keeps one more in MindSpore."""
        return tuple(size for size in self.shape if size != 1)


def match(
    theirs: Sequence[Entry], ours: Sequence[Entry], names: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """torch name -> MindSpore name. ``names`` are the other last parts a torch last part may have.

    First layers with equal paths; then, among what is left, layers in the order of registration whose parameters
    have equal roles and shapes; then single parameters the same way.
    """
    result: dict[str, str] = {}
    free = {entry.name: entry for entry in ours}
    for entry in theirs:
        for last in (entry.last, *names.get(entry.last, ())):
            name = f"{entry.owner}.{last}" if entry.owner else last
            if name in free and free[name].squeezed == entry.squeezed:
                result[entry.name] = name
                del free[name]
                break
    canonical = {other: name for name, others in names.items() for other in others}
    for whole in (True, False):
        left = [entry for entry in theirs if entry.name not in result]
        right = [entry for entry in ours if entry.name in free]
        for one, other in _align(_groups(left, {}, whole), _groups(right, canonical, whole)):
            for role, entry in one.items():
                if role in other and other[role].squeezed == entry.squeezed:
                    result[entry.name] = other[role].name
                    free.pop(other[role].name, None)
    return result


Group = dict[str, Entry]


def _groups(entries: Sequence[Entry], canonical: Mapping[str, str], whole: bool) -> list[Group]:
    """Parameters by layer (``whole``) or one by one, under the role they play."""
    groups: dict[str, Group] = defaultdict(dict)
    for entry in entries:
        key = entry.owner if whole else entry.name
        groups[key][canonical.get(entry.last, entry.last)] = entry
    return list(groups.values())


def _align(left: Sequence[Group], right: Sequence[Group]) -> list[tuple[Group, Group]]:
    keys = [[tuple(sorted((r, e.squeezed) for r, e in g.items())) for g in side] for side in (left, right)]
    blocks = SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_matching_blocks()
    return [(left[b.a + i], right[b.b + i]) for b in blocks for i in range(b.size)]
