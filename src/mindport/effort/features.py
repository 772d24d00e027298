"""What of a file decides how much of it a port touches: counted in lines, so that one line counts once."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mindport.catalog import ApiRow
from mindport.detectors.base import FileView, Use
from mindport.findings import Finding

SKIPPED = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
)


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
    source = view.module.source
    code = code_lines(source.text, source.tree)
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
    device, texts, imports = set(), set(), set()
    identifiers, framework = frozenset(words["device"]), tuple(words["texts"])
    exact = frozenset(words["exact_texts"])
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name | ast.Attribute | ast.keyword | ast.arg):
            word = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None)
            if word in identifiers:
                device.add(getattr(node, "end_lineno", 0) or 0)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in exact or any(part in node.value for part in framework):
                texts.add(node.lineno)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.add(node.lineno)
    modules = _modules(view)
    bad = {f.line for f in findings if f.severity.rank >= 2}
    counted = (len(part & code) for part in (names, methods, plain, device, modules, imports, texts, bad))
    return Features(file_kind(view, words), len(code), *counted)


def _changes(view: FileView, use: Use) -> bool:
    row: ApiRow | None = view.catalog.api(use.name)
    target = row.preferred(view.config.api) if row is not None else None
    return target is None or target.difference.value not in ("same",)


def _modules(view: FileView) -> set[int]:
    result: set[int] = set()
    bases = view.catalog.sets["module"]
    for node, _ in view.module.classes:
        if view.module.ancestry(node).any_of(bases) is None:
            continue
        result.add(node.lineno)
        for name, method in view.module.methods(node).items():
            if name == "forward":
                result.add(method.lineno)
            for child in ast.walk(method):
                if (
                    isinstance(child, ast.Call)
                    and isinstance(child.func, ast.Name)
                    and child.func.id == "super"
                ):
                    result.add(child.lineno)
    return result


def code_lines(text: str, tree: ast.Module) -> set[int]:
    """The 1-based lines that hold code: no blank lines, comments or docstrings."""
    result: set[int] = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in SKIPPED:
                result.update(range(token.start[0], token.end[0] + 1))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        result = {i for i, line in enumerate(text.splitlines(), 1) if line.strip()}
    for line in _docstrings(tree):
        result.discard(line)
    return result


def _docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
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
