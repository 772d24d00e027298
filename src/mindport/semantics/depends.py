"""What a file's findings depended on: files of the project that were read, and imports that were looked for.

A lookup that found nothing counts, too: a file created later could answer it. Memoised answers are covered because
what is recorded is which module asked, ever; a file depends on everything reachable from it that way.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

SUBMODULE = -1
"""The level under which "a module inside this package" is recorded."""


def digest_of(data: bytes) -> str:
    """The digest of a file's bytes."""
    return blake2b(data, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Node:
    """A file as it was read: digest, the folder its absolute imports start from, and what its imports found."""

    file: str
    digest: str
    root: str
    lookups: tuple[tuple[str, int, str | None], ...]


class RealPaths(dict[str, str]):
    """Where files really lie, each looked up once."""

    def __missing__(self, file: str) -> str:
        found = self[file] = os.path.realpath(file)
        return found


@dataclass(slots=True)
class Trace:
    """Recorded while modules are resolved; ``digests`` is empty text for a file that changed meanwhile."""

    digests: dict[str, str] = field(default_factory=dict)
    lookups: dict[str, dict[tuple[str, int], str | None]] = field(default_factory=dict)
    edges: dict[str, set[str]] = field(default_factory=dict)
    _real: RealPaths = field(default_factory=RealPaths)
    _nodes: dict[str, Node] = field(default_factory=dict)

    def read(self, file: str, data: bytes) -> None:
        """A file was read; ``file`` is its real path."""
        digest = digest_of(data)
        known = self.digests.setdefault(file, digest)
        if known != digest:
            self.digests[file] = ""

    def asked(self, file: str, target: str, level: int, found: str | None) -> None:
        """A file looked for a module."""
        real = self.real(file)
        asked = self.lookups.setdefault(real, {})
        if (target, level) not in asked:
            asked[target, level] = found
            if found is not None:
                self.edges.setdefault(real, set()).add(self.real(found))

    def real(self, file: str) -> str:
        """The real path of a file."""
        return self._real[file]

    def reachable(self, file: str) -> set[str]:
        """The real paths of all files the findings of ``file`` can depend on, itself included."""
        start = self.real(file)
        seen = {start}
        todo = [start]
        while todo:
            new = self.edges.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        return seen

    def needed(
        self, files: Iterable[Path], root: Callable[[str], str]
    ) -> tuple[tuple[Node, ...], tuple[tuple[int, ...], ...]]:
        """Everything some files depended on, and for each of them the positions of what it depended on."""
        reached = [self.reachable(str(file)) for file in files]
        names = sorted(set().union(*reached))
        places = {name: index for index, name in enumerate(names)}
        used = tuple(tuple(places[name] for name in found) for found in reached)
        return tuple(self.nodes(names, root)), used

    def nodes(self, files: Iterable[str], root: Callable[[str], str]) -> list[Node]:
        """The files as they were read; ``root`` gives the folder absolute imports start from."""
        return [self._node(file, root) for file in files]

    def _node(self, file: str, root: Callable[[str], str]) -> Node:
        """A file as it was read; the same object as before when nothing was added, as many files lead to it."""
        digest, lookups = self.digests.get(file, ""), self.lookups.get(file, {})
        known = self._nodes.get(file)
        if known is None or known.digest != digest or len(known.lookups) != len(lookups):
            asked = tuple((name, level, found) for (name, level), found in lookups.items())
            known = self._nodes[file] = Node(file, digest, root(file), asked)
        return known
