"""The imports of a file whose torch names became MindSpore's: what to add, merge, remove, and how names are spelled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field

from mindport.fixes.layout import Layout
from mindport.source.suppressions import frozen_lines
from mindport.source.text import Source


@dataclass(frozen=True, slots=True)
class Habits:
    """How people import MindSpore: the usual alias by package, and the packages that are to be replaced.

    ``ours``: the codes and names of our checks, for suppressions.
    """

    aliases: Mapping[str, str]
    replaced: frozenset[str]
    ours: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Provider:
    """A name of the file that stands for a module or object."""

    local: str
    target: str


@dataclass(slots=True)
class Imports:
    """The import statements of a file, seen after its torch uses were replaced by placeholders."""

    source: Source
    habits: Habits
    frozen: frozenset[int] = frozenset()
    used: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    removed: list[tuple[ast.Import | ast.ImportFrom, list[ast.alias]]] = field(default_factory=list)
    providers: list[_Provider] = field(default_factory=list)
    vacated: set[str] = field(default_factory=set)
    needed: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frozen = frozen_lines(self.source, self.habits.ours)
        self._scan()

    def fresh(self) -> Imports:
        """The same imports with nothing needed yet; the file is not read again."""
        result = copy(self)
        result.needed = {}
        result.providers = list(self.providers)
        return result

    # --- what is there ---------------------------------------------------------------------------------

    def _scan(self) -> None:
        tree = self.source.tree
        statements: list[tuple[ast.Import | ast.ImportFrom, bool]] = []
        texts: list[str] = []
        top = set(map(id, tree.body))
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                (self.used if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                statements.append((node, id(node) in top))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.bound.add(node.name)
            elif isinstance(node, ast.arg):
                self.bound.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                self.bound.add(node.name)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                self.bound.update(node.names)
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                self.bound.add(node.name)
            for holder in _quoting(node):
                texts += [
                    n.value
                    for n in ast.walk(holder)
                    if isinstance(n, ast.Constant) and isinstance(n.value, str)
                ]
        self._quoted = " ".join(texts)
        for statement, is_top in statements:
            gone = [a for a in statement.names if self._goes(statement, a)] if is_top else []
            if gone:
                self.removed.append((statement, gone))
                self.vacated.update(map(local_name, gone))
            for alias in statement.names:
                if alias not in gone:
                    self.bound.add(local_name(alias))
                    if is_top:
                        self._provide(statement, alias)

    _quoted: str = ""

    def _goes(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
        module = alias.name if isinstance(statement, ast.Import) else (statement.module or "")
        if isinstance(statement, ast.ImportFrom) and (statement.level or alias.name == "*"):
            return False
        if module.partition(".")[0] not in self.habits.replaced:
            return False
        lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        if any(line in self.frozen or _NOQA.search(self.source.lines[line - 1]) for line in lines):
            return False
        name = local_name(alias)
        return name not in self.used and not re.search(rf"\b{re.escape(name)}\b", self._quoted)

    def _provide(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> None:
        if isinstance(statement, ast.Import):
            target = alias.name if alias.asname else alias.name.partition(".")[0]
            self.providers.append(_Provider(local_name(alias), target))
        elif not statement.level and alias.name != "*":
            self.providers.append(_Provider(local_name(alias), f"{statement.module}.{alias.name}"))

    # --- names -----------------------------------------------------------------------------------------

    def spell(self, name: str) -> str:
        """How a full name is written in this file; remembers the import it needs."""
        best: _Provider | None = None
        for provider in self.providers:
            fits = name == provider.target or name.startswith(f"{provider.target}.")
            if fits and (best is None or len(provider.target) > len(best.target)):
                best = provider
        package = self._package(name)
        if best is not None and len(best.target) >= len(package or ""):
            return best.local + name[len(best.target) :]
        parent, _, last = name.rpartition(".")
        if last in self._vacated_objects(last) and self._free(last):
            return self._need(parent, last, last)
        if package is not None:
            alias = self.habits.aliases[package]
            if self._free(alias):
                holder, _, module = package.rpartition(".")
                return self._need(holder, module, alias) + name[len(package) :]
        if best is not None:
            return best.local + name[len(best.target) :]
        root = name.partition(".")[0]
        alias = self.habits.aliases.get(root, root)
        if not self._free(alias):
            alias = root
        return self._need("", root, alias) + name[len(root) :]

    def _package(self, name: str) -> str | None:
        fitting = [p for p in self.habits.aliases if name == p or name.startswith(f"{p}.")]
        longest = max(fitting, key=len, default=None)
        return longest if longest is not None and "." in longest else None

    def _vacated_objects(self, last: str) -> set[str]:
        """The names that removed ``from torch... import NAME`` statements bound, under their own name."""
        return {
            alias.name
            for statement, gone in self.removed
            if isinstance(statement, ast.ImportFrom)
            for alias in gone
            if alias.name == last and alias.asname is None
        }

    def _free(self, name: str) -> bool:
        taken = {local: key for key, local in self.needed.items()}
        return name not in self.bound and name not in taken

    def _need(self, holder: str, module: str, local: str) -> str:
        self.needed[holder, module] = local
        self.providers.append(_Provider(local, f"{holder}.{module}" if holder else module))
        return local

    # --- the statements --------------------------------------------------------------------------------

    def rewritten(self) -> str:
        """The text with the imports added and removed."""
        layout = Layout(self.source)
        edits: list[tuple[int, int, str]] = []
        needed = dict(self.needed)
        for statement in self.source.tree.body:  # merge into a statement that imports from the same package
            if not isinstance(statement, ast.ImportFrom) or statement.level or self._is_removed(statement):
                continue
            same = [key for key in needed if key[0] == statement.module]
            if same and statement.lineno not in self.frozen and statement.names[0].name != "*":
                end = layout.range(statement.names[-1])[1]
                edits.append((end, end, "".join(f", {_alias(k[1], needed.pop(k))}" for k in sorted(same))))
        lines = list(_statements(needed))
        newline = layout.newline
        at: int | None = None
        for statement, gone in self.removed:
            start, end = layout.range(statement)
            kept = [a for a in statement.names if a not in gone]
            if at is None and lines:
                at = start
            if kept:
                rest = _without(statement, kept)
                edits.append((start, end, newline.join([*lines, rest]) if at == start else rest))
            elif at == start:
                edits.append((start, end, newline.join(lines)))
            else:
                edits.append(_whole_line(layout, start, end))
        if at is None and lines:
            place = self._place(layout)
            edits.append((place, place, "".join(line + newline for line in lines)))
        text = self.source.text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def statements(self) -> list[str]:
        """The import statements the spelled names need."""
        return list(_statements(self.needed))

    def _is_removed(self, statement: ast.ImportFrom) -> bool:
        return any(statement is other for other, _ in self.removed)

    def _place(self, layout: Layout) -> int:
        """Where new imports go: after the last import of the file's head, or after its docstring."""
        return insertion_place(self.source.tree, layout)


_NOQA = re.compile(r"#\s*noqa", re.IGNORECASE)


def insertion_place(tree: ast.Module, layout: Layout) -> int:
    """The offset of the line where an import can be added."""
    last: ast.stmt | None = None
    for index, statement in enumerate(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            last = statement
        elif not (index == 0 and _is_docstring(statement)):
            break
        elif last is None:
            last = statement
    if last is None:
        first = tree.body[0].lineno if tree.body else 1
        if tree.body and getattr(tree.body[0], "decorator_list", None):
            first = tree.body[0].decorator_list[0].lineno  # type: ignore[attr-defined]
        return layout.offset(first, 0)
    line = (last.end_lineno or last.lineno) + 1
    return layout.offset(line, 0) if line <= len(layout.starts) else len(layout.text)


def _quoting(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node in which texts are names: annotations, and the list of what a module exports."""
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation is not None:
        yield node.annotation
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
        yield node.returns
    elif isinstance(node, ast.Assign) and any(
        isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
    ):
        yield node.value


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def local_name(alias: ast.alias) -> str:
    """The name an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def _alias(name: str, local: str) -> str:
    return name if name == local else f"{name} as {local}"


def _statements(needed: Mapping[tuple[str, str], str]) -> Iterator[str]:
    plain = [(module, local) for (holder, module), local in needed.items() if not holder]
    for module, local in sorted(plain):
        yield f"import {_alias(module, local)}"
    holders = sorted({holder for holder, _ in needed if holder})
    for holder in holders:
        names = sorted((module, local) for (h, module), local in needed.items() if h == holder)
        yield f"from {holder} import {', '.join(_alias(*pair) for pair in names)}"


def _without(statement: ast.Import | ast.ImportFrom, kept: Iterable[ast.alias]) -> str:
    names = list(kept)
    if isinstance(statement, ast.Import):
        return ast.unparse(ast.Import(names))
    return ast.unparse(ast.ImportFrom(statement.module, names, statement.level))


def _whole_line(layout: Layout, start: int, end: int) -> tuple[int, int, str]:
    """A statement with its line, when it stands alone on it; else a ``pass`` in its place."""
    line, column = layout.place(start)
    last, _ = layout.place(end)
    tail_end = layout.starts[last] if last < len(layout.starts) else len(layout.text)
    tail = layout.text[end:tail_end].strip()
    if layout.text[layout.starts[line - 1] : start].strip() or (tail and not tail.startswith("#")):
        return start, end, "pass"
    return layout.starts[line - 1], tail_end, ""
