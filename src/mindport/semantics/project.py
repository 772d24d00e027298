"""The project around a file: which file a module name means, and canonical names of external things."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mindport.semantics.module import Module
from mindport.semantics.values import Named
from mindport.source import text as source_text

KEEP = 256
"""How many parsed modules stay in memory; a run over many files stays flat."""


class Project:
    """Finds and parses modules of the project. Never imports anything."""

    def __init__(self, concepts: Mapping[str, Any], frameworks: frozenset[str]) -> None:
        aliases: Mapping[str, str] = concepts.get("aliases", {})
        self._aliases = dict(aliases)
        self._names: Mapping[str, str] = concepts.get("names", {})
        self._frameworks = frameworks
        self._modules: OrderedDict[Path, Module | None] = OrderedDict()
        self._canonical: dict[str, str] = {}
        self._exists: dict[Path, bool] = {}
        self._located: dict[tuple[Path, str], tuple[Path, list[str]] | None] = {}
        self._packages: dict[Path, Path] = {}

    # --- external names --------------------------------------------------------------------------------

    def canonical(self, name: str) -> str:
        """The public name of an external thing (``torch.nn.modules.conv.Conv2d`` -> ``torch.nn.Conv2d``)."""
        known = self._canonical.get(name)
        if known is None:
            known = self._canonical[name] = (
                self._names.get(name) or self._aliases.get(name) or self._shorten(name)
            )
        return known

    def _shorten(self, name: str) -> str:
        prefix, _, rest = name.rpartition(".")
        while prefix:
            public = self._aliases.get(prefix)
            if public is not None:
                return self.canonical(f"{public}.{rest}") if public != prefix else name
            prefix, _, head = prefix.rpartition(".")
            rest = f"{head}.{rest}"
        return name

    def exports(self, module: str, name: str) -> bool:
        """Whether ``from MODULE import *`` can bring a name: only framework modules, only public names."""
        return module.partition(".")[0] in self._frameworks and not name.startswith("_")

    # --- project modules -------------------------------------------------------------------------------

    def module_for(self, source: source_text.Source) -> Module:
        """The module of a file being checked; remembered for the files that import it."""
        if source.file is None:
            return Module(source, self, "")
        file = source.file.resolve()
        known = self._modules.get(file)
        if known is not None and known.source.text == source.text and known.source.tree is source.tree:
            return known
        module = Module(source, self, self._dotted(file))
        self._remember(file, module)
        return module

    def parsed(self, file: Path) -> Module | None:
        """The module of a file some other file imported, if it was parsed already."""
        return self._modules.get(file.resolve())

    def find(self, module: Module, target: str, level: int) -> Named | tuple[Module, list[str]] | None:
        """What an import means: an external name, or a project module and the rest of the path."""
        if level == 0 and target.partition(".")[0] in self._frameworks:
            return Named(self.canonical(target))
        file = module.source.file
        if file is not None:
            located = self._locate(file, target, level)
            if located is not None:
                found = self._load(located[0])
                if found is not None:
                    return found, located[1]
        return None if level else Named(self.canonical(target))

    def submodule(self, module: Module, name: str) -> Module | None:
        """A module inside a package of the project."""
        file = module.source.file
        if file is None or file.name != "__init__.py":
            return None
        located = self._search(file.parent, [name])
        return self._load(located[0]) if located is not None and not located[1] else None

    def _locate(self, file: Path, target: str, level: int) -> tuple[Path, list[str]] | None:
        folder = file.parent
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            key = (folder, f".{target}")
            if key not in self._located:
                self._located[key] = self._search(folder, target.split(".") if target else [])
            return self._located[key]
        key = (folder, target)
        if key not in self._located:
            parts = target.split(".")
            roots = dict.fromkeys((self._package_root(folder), folder))
            found = (self._search(root, parts) for root in roots)
            self._located[key] = next((f for f in found if f is not None and len(f[1]) < len(parts)), None)
        return self._located[key]

    def _search(self, folder: Path, parts: list[str]) -> tuple[Path, list[str]] | None:
        """The longest prefix of ``parts`` that is a module under ``folder``, and what is left."""
        best: tuple[Path, list[str]] | None = None
        init = folder / "__init__.py"
        if self._is_file(init):
            best = (init, parts)
        for index, part in enumerate(parts):
            rest = parts[index + 1 :]
            file = folder / f"{part}.py"
            folder = folder / part
            init = folder / "__init__.py"
            if self._is_file(init):
                best = (init, rest)
            elif self._is_file(file):
                return file, rest
            elif not folder.is_dir():
                break
        return best

    def _package_root(self, folder: Path) -> Path:
        """The folder that holds the topmost package ``folder`` belongs to."""
        if folder not in self._packages:
            root = folder
            while self._is_file(root / "__init__.py") and root.parent != root:
                root = root.parent
            self._packages[folder] = root
        return self._packages[folder]

    def _is_file(self, path: Path) -> bool:
        known = self._exists.get(path)
        if known is None:
            try:
                known = path.is_file()
            except OSError:
                known = False
            self._exists[path] = known
        return known

    def _dotted(self, file: Path) -> str:
        root = self._package_root(file.parent)
        parts = list(file.relative_to(root).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def _load(self, file: Path) -> Module | None:
        file = file.resolve()
        if file in self._modules:
            self._modules.move_to_end(file)
            return self._modules[file]
        try:
            text = source_text.decode(source_text.read_bytes(file))
            source = source_text.from_text(file.name, text, file)
        except source_text.SourceError:
            self._remember(file, None)
            return None
        module = Module(source, self, self._dotted(file))
        self._remember(file, module)
        return module

    def _remember(self, file: Path, module: Module | None) -> None:
        self._modules[file] = module
        self._modules.move_to_end(file)
        while len(self._modules) > KEEP:
            self._modules.popitem(last=False)
