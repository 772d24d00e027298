"""The project around a file: which file a module name means, and canonical names of external things."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from mindport.semantics.depends import SUBMODULE, Trace
from mindport.semantics.module import Module
from mindport.semantics.oracle import Oracle
from mindport.semantics.values import Named
from mindport.source import text as source_text

KEEP = 128
"""How many parsed modules stay in memory, those asked for last; a run over many files stays flat."""


class Project:
    """Finds and parses modules of the project. Never imports anything.

    ``canonical`` gives the public name of an external thing; ``frameworks`` are the packages never looked for.
    """

    def __init__(
        self, canonical: Callable[[str], str], frameworks: frozenset[str], oracle: Oracle | None = None
    ) -> None:
        self.canonical = canonical
        self.oracle = oracle
        self.trace: Trace | None = None
        self.importing = 0
        """How many imports are being followed into other modules, one within the other."""
        self._frameworks = frameworks
        self._modules: OrderedDict[str, Module | None] = OrderedDict()
        self._exists: dict[str, bool] = {}
        self._located: dict[tuple[str, str], tuple[str, list[str]] | None] = {}
        self._packages: dict[str, str] = {}

    # --- external names --------------------------------------------------------------------------------

    def exports(self, module: str, name: str) -> bool:
        """Whether ``from MODULE import *`` can bring a name: only framework modules, only public names."""
        return module.partition(".")[0] in self._frameworks and not name.startswith("_")

    # --- project modules -------------------------------------------------------------------------------

    def module_for(self, source: source_text.Source) -> Module:
        """The module of a file being checked; the one an importing file made is taken up again."""
        if source.file is None:
            return Module(source, self, "", "")
        file = os.path.realpath(source.file)
        known = self._modules.get(file)
        if known is not None and not known.settled and known.source.text == source.text:
            known.source.path = source.path
            self._modules.move_to_end(file)
            return known
        module = Module(source, self, self._dotted(file), os.path.dirname(file))
        self._remember(file, module)
        return module

    def parsed(self, file: Path) -> Module | None:
        """The module of a file some other file imported, if it was parsed already."""
        return self._modules.get(os.path.realpath(file))

    def put_back(self, file: Path, module: Module) -> None:
        """Let a file count as the given module again: what its importers see stays what is on disk."""
        self._remember(os.path.realpath(file), module)

    def find(self, module: Module, target: str, level: int) -> Named | tuple[Module, list[str]] | None:
        """What an import means: an external name, or a project module and the rest of the path."""
        if level == 0 and target.partition(".")[0] in self._frameworks:
            return Named(self.canonical(target))
        if module.folder:
            located = self._locate(module.folder, target, level)
            if self.trace is not None:
                self.trace.asked(str(module.source.file), target, level, located[0] if located else None)
            if located is not None:
                found = self._load(located[0])
                if found is not None:
                    return found, located[1]
        return None if level else Named(self.canonical(target))

    def at(self, file: str) -> Module | None:
        """The module of a file of the project, by its path; parsed when it is not yet."""
        return self._load(file) if file and self._is_file(file) else None

    def submodule(self, module: Module, name: str) -> Module | None:
        """A module inside a package of the project."""
        file = module.source.file
        if file is None or os.path.basename(file) != "__init__.py":
            return None
        located = self._search(module.folder, [name])
        if self.trace is not None:
            self.trace.asked(str(file), name, SUBMODULE, located[0] if located else None)
        return self._load(located[0]) if located is not None and not located[1] else None

    def located(self, file: str, target: str, level: int) -> str | None:
        """Where a module lies that a file (by its real path) looks for; see `Trace`."""
        folder = os.path.dirname(file)
        found = self._search(folder, [target]) if level == SUBMODULE else self._locate(folder, target, level)
        return found[0] if found is not None else None

    def package_root(self, file: str) -> str:
        """The folder a file's absolute imports start from."""
        return self._package_root(os.path.dirname(file))

    def _locate(self, folder: str, target: str, level: int) -> tuple[str, list[str]] | None:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        key = (folder, f".{target}" if level else target)
        if key not in self._located:
            parts = target.split(".") if target else []
            if level:
                self._located[key] = self._search(folder, parts)
            else:
                roots = dict.fromkeys((self._package_root(folder), folder))
                found = (self._search(root, parts) for root in roots)
                self._located[key] = next((f for f in found if f and len(f[1]) < len(parts)), None)
        return self._located[key]

    def _search(self, folder: str, parts: list[str]) -> tuple[str, list[str]] | None:
        """The longest prefix of ``parts`` that is a module under ``folder``, and what is left."""
        best: tuple[str, list[str]] | None = None
        init = f"{folder}/__init__.py"
        if self._is_file(init):
            best = (init, parts)
        for index, part in enumerate(parts):
            rest = parts[index + 1 :]
            file = f"{folder}/{part}.py"
            folder = f"{folder}/{part}"
            init = f"{folder}/__init__.py"
            if self._is_file(init):
                best = (init, rest)
            elif self._is_file(file):
                return file, rest
            elif not os.path.isdir(folder):
                break
        return best

    def _package_root(self, folder: str) -> str:
        """The folder that holds the topmost package ``folder`` belongs to."""
        if folder not in self._packages:
            root = folder
            while self._is_file(f"{root}/__init__.py") and os.path.dirname(root) != root:
                root = os.path.dirname(root)
            self._packages[folder] = root
        return self._packages[folder]

    def _is_file(self, path: str) -> bool:
        known = self._exists.get(path)
        if known is None:
            known = self._exists[path] = os.path.isfile(path)
        return known

    def _dotted(self, file: str) -> str:
        root = self._package_root(os.path.dirname(file))
        dotted = os.path.relpath(file, root).removesuffix(".py").replace(os.sep, ".")
        return dotted.removesuffix(".__init__")

    def _load(self, path: str) -> Module | None:
        if path in self._modules:
            self._modules.move_to_end(path)
            return self._modules[path]
        file = os.path.realpath(path)
        module = self._modules.get(file)
        if file not in self._modules:
            try:
                data = source_text.read_bytes(Path(file))
                if self.trace is not None:
                    self.trace.read(file, data)
                source = source_text.from_text(os.path.basename(file), source_text.decode(data), Path(file))
                module = Module(source, self, self._dotted(file), os.path.dirname(file))
            except source_text.SourceError:
                module = None
            self._remember(file, module)
        return module

    def _remember(self, file: str, module: Module | None) -> None:
        self._modules[file] = module
        self._modules.move_to_end(file)
        while len(self._modules) > KEEP:
            self._modules.popitem(last=False)
