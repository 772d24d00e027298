"""What of a file decides how much of it a port touches: counted in lines, so that one line counts once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mindport.detectors.api import row_of
from mindport.detectors.base import FileView, Use
from mindport.findings import Finding
from mindport.semantics.module import Module
from mindport.semantics.scopes import arguments_of


@dataclass(frozen=True, slots=True)
class Features:
    """Line counts of one file; ``kind`` is what the file is for (model, script, test, config, other).

    ``code``: lines with code. Of these: ``names`` with a torch name, ``methods`` with a Tensor method that has
    another name or meaning in MindSpore, ``plain`` with one that has not, ``device`` that place things on devices,
    ``modules`` that define or initialise Modules, ``imports``, ``texts`` whose strings name the framework, and
    ``findings`` with a finding of more than a rename.
    """

    kind: str
    code: int
    names: int
    methods: int
    plain: int
    device: int
    modules: int
    imports: int
    texts: int
    findings: int

    def numbers(self) -> Mapping[str, int]:
        """The counts by name."""
        return {name: getattr(self, name) for name in COUNTS}


COUNTS = ("code", "names", "methods", "plain", "device", "modules", "imports", "texts", "findings")


def features(view: FileView, findings: list[Finding], words: Mapping[str, Any]) -> Features:
    """Count one file. ``words``: the model's lists of identifiers, texts and file name parts."""
    nodes = view.module.scopes.nodes
    code = code_lines(view.module)
    names: set[int] = set()
    methods: set[int] = set()
    plain: set[int] = set()
    for use in view.uses:
        root = use.name.partition(".")[0]
        if root == "mindspore":
            continue
        line = use.node.end_lineno if use.method else use.node.lineno
        if not use.method:
            names.add(line or 0)
        elif _changes(view, use):
            methods.add(line or 0)
        else:
            plain.add(line or 0)
    device: set[int] = set()
    texts: set[int] = set()
    imports: set[int] = set()
    identifiers, framework = frozenset(words["device"]), tuple(words["texts"])
    exact = frozenset(words["exact_texts"])
    for kind, field in (("Name", "id"), ("Attribute", "attr"), ("keyword", "arg")):
        for node, _ in nodes.get(getattr(ast, kind), ()):
            if getattr(node, field) in identifiers:
                device.add(getattr(node, "end_lineno", 0) or 0)
    for definition in (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda):
        for node, _ in nodes.get(definition, ()):
            found = (arg for arg in arguments_of(node.args) if arg.arg in identifiers)  # type: ignore[attr-defined]
            device.update(arg.end_lineno or 0 for arg in found)
    for text in view.module.scopes.texts:
        if text.value in exact or any(part in str(text.value) for part in framework):
            texts.add(text.lineno)
    for statement in (ast.Import, ast.ImportFrom):
        imports.update(node.lineno for node, _ in nodes.get(statement, ()))  # type: ignore[attr-defined]
    modules = _modules(view)
    bad = {f.line for f in findings if f.severity.rank >= 2}
    counted = (len(part & code) for part in (names, methods, plain, device, modules, imports, texts, bad))
    return Features(file_kind(view, words), len(code), *counted)


def _changes(view: FileView, use: Use) -> bool:
    _, target = row_of(view, use)
    return target is None or target.difference.value not in ("same",)


def _modules(view: FileView) -> set[int]:
    result: set[int] = set()
    bases = view.catalog.sets["module"]
    calls: list[Any] = [node for node, _ in view.module.scopes.nodes.get(ast.Call, ())]
    supers = [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "super"]
    for node, _ in view.module.classes:
        if view.module.ancestry(node).any_of(bases) is None:
            continue
        result.add(node.lineno)
        for name, method in view.module.methods(node).items():
            if name == "forward":
                result.add(method.lineno)
            last = method.end_lineno or method.lineno
            result.update(line for line in supers if method.lineno <= line <= last)
    return result


def code_lines(module: Module) -> set[int]:
    """The 1-based lines that hold code: no blank lines, comments or docstrings."""
    result: set[int] = set()
    for number, line in enumerate(module.source.lines, 1):
        line = line.strip()
        if line and line[0] != "#" and line != "\\":
            result.add(number)
    scopes = module.scopes
    for text in (*scopes.texts, *(node for node, _ in scopes.nodes.get(ast.JoinedStr, ()))):
        first: int = text.lineno  # type: ignore[attr-defined]
        last: int = text.end_lineno or first  # type: ignore[attr-defined]
        if last > first:  # what looks blank or like a comment belongs to the text
            result.update(range(first, last + 1))
    return result.difference(_docstrings(module))


def _docstrings(module: Module) -> Iterator[int]:
    for holder in module.scopes.scope_of:
        body = getattr(holder, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            if isinstance(first.value.value, str):
                yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def file_kind(view: FileView, words: Mapping[str, Any]) -> str:
    """What a file is for: by what it does, else by its path."""
    path = view.module.source.path.lower()
    names = {use.name for use in view.uses}
    for kind, parts in words["kinds"].items():
        if any(part in path for part in parts.get("paths", ())):
            return str(kind)
    for kind, parts in words["kinds"].items():
        if any(name.startswith(tuple(parts.get("names", ()))) for name in names if parts.get("names")):
            return str(kind)
    bases = view.catalog.sets["module"]
    if any(view.module.ancestry(node).any_of(bases) for node, _ in view.module.classes):
        return "model"
    return "other"
