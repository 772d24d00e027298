"""Which files of a project import which, from what their import statements ask for.

Only the audited files are looked at, not the disk: shards can be put together on another machine.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable

from mindport.effort.facts import Request


class Imports:
    """Resolves import statements among a set of files, given by their real paths."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files = {_plain(file): file for file in files}
        self._roots: dict[str, str] = {}

    def of(self, file: str, requests: Iterable[Request]) -> tuple[set[str], Counter[str]]:
        """The files a file imports, and the top-level packages it takes everything else from."""
        folder = posixpath.dirname(_plain(file))
        found: set[str] = set()
        packages: Counter[str] = Counter()
        for level, target, name in requests:
            located = self._find(folder, level, target, name)
            if located is not None:
                found.add(located)
            elif not level:
                packages[target.partition(".")[0]] += 1
        return found - {file}, packages

    def _find(self, folder: str, level: int, target: str, name: str) -> str | None:
        if level:
            for _ in range(level - 1):
                folder = posixpath.dirname(folder)
            return self._below(folder, target, name)
        for root in dict.fromkeys((self._root(folder), folder)):
            located = self._below(root, target, name)
            if located is not None:
                return located
        return None

    def _below(self, folder: str, target: str, name: str) -> str | None:
        """``name`` as a module of its own, else the longest part of ``target`` that is one."""
        parts = target.split(".") if target else []
        if name:
            located = self._module(folder, [*parts, name])
            if located is not None:
                return located
        for length in range(len(parts), 0, -1):
            located = self._module(folder, parts[:length])
            if located is not None:
                return located
        return None if parts else self._files.get(f"{folder}/__init__.py")

    def _module(self, folder: str, parts: list[str]) -> str | None:
        path = "/".join((folder, *parts))
        return self._files.get(f"{path}/__init__.py") or self._files.get(f"{path}.py")

    def _root(self, folder: str) -> str:
        """The folder that holds the topmost package of a folder."""
        if folder not in self._roots:
            root = folder
            while f"{root}/__init__.py" in self._files and posixpath.dirname(root) != root:
                root = posixpath.dirname(root)
            self._roots[folder] = root
        return self._roots[folder]


def _plain(file: str) -> str:
    return file.replace("\\", "/")
