"""Where a file uses a framework: names that resolve to one, and methods and attributes of Tensors."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from mindport.detectors.base import FileView, Use
from mindport.findings import Confidence, Coverage
from mindport.semantics.kinds import TENSORS, Kind, Known
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context
from mindport.semantics.values import Candidate, Named


def name_uses(module: Module, is_framework: Callable[[str], bool]) -> Iterator[Use]:
    """Every outermost dotted reference that spells an imported name and resolves to a framework's."""
    parents = module.scopes.parents
    imported = module.scopes.imported
    stars = bool(module.scopes.module.stars)
    for root, context in module.scopes.nodes.get(ast.Name, ()):
        assert isinstance(root, ast.Name)
        if root.id not in imported and not (stars and not module.scopes.is_bound(root.id)):
            continue
        node: ast.expr = root
        parent = parents.get(node)
        while isinstance(parent, ast.Attribute):
            node = parent
            parent = parents.get(node)
        if not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            continue
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        for candidate in module.resolve(node, context):
            value = candidate.value
            if isinstance(value, Named) and is_framework(value.name):
                yield Use(node, context, value.name, candidate, call)


def method_uses(view: FileView) -> Iterator[Use]:
    """Every method or attribute of a value that the flow analysis knows to be a Tensor."""
    parents = view.module.scopes.parents
    for node, context in view.module.scopes.nodes.get(ast.Attribute, ()):
        assert isinstance(node, ast.Attribute)
        known = view.known(node.value)
        if not known.is_tensor or not isinstance(node.ctx, ast.Load):
            continue
        name = tensor_name(view, known, node.attr)
        if name is not None:
            parent = parents.get(node)
            call = parent if isinstance(parent, ast.Call) and parent.func is node else None
            yield Use(node, context, name, Candidate(Named(name), known.sure), call, True)


def tensor_name(view: FileView, known: Known, attribute: str) -> str | None:
    """The full name of a Tensor's method or attribute: of the file's own framework, else of the other one."""
    library = view.flows.library
    own, *others = view.flow.tensors
    classes = [own]
    if any(atom.kind is Kind.PARAMETER for atom in known.atoms):  # a Parameter is a Tensor with more to it
        classes += sorted(library.sets["parameter"])
    return next((f"{c}.{attribute}" for c in (*classes, *others) if library.exists(f"{c}.{attribute}")), None)


def unclear_receivers(view: FileView) -> Iterator[tuple[ast.Call, Context, Known]]:
    """Method calls on values about which nothing is known, by a name that Tensors have."""
    library = view.flows.library
    for node, context in view.module.scopes.nodes.get(ast.Call, ()):
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or not library.is_tensor_method(node.func.attr):
            continue
        known = view.known(node.func.value)
        if not known.atoms or known.sure is Confidence.POSSIBLE:
            yield node, context, known


def coverage(view: FileView, judges: Callable[[str], bool]) -> Coverage:
    """Sites seen, resolved and judged in one file.

    A site is a use of a framework's name, a method or attribute of a Tensor, or a method call on a value about
    which nothing is known by a name that Tensors have: the last are sites nobody can judge.
    """
    seen: dict[tuple[int, int, int, int], bool] = {}
    for use in view.uses:
        node = use.node
        key = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
        if use.method and use.candidate.confidence is Confidence.POSSIBLE:
            continue
        seen[key] = seen.get(key, False) or judges(use.name)
    unknown = sum(1 for _ in unclear_receivers(view)) + _unknown_stars(view.module)
    return Coverage(1, 0, len(seen) + unknown, len(seen), sum(seen.values()))


def _unknown_stars(module: Module) -> int:
    """Names that only an ``import *`` nobody can follow may bind."""
    if not module.scopes.module.stars:
        return 0
    return sum(
        1
        for node, context in module.scopes.nodes.get(ast.Name, ())
        if isinstance(node, ast.Name)
        and module.lookup(node.id, context, (node.lineno, node.col_offset))[0] is None
        and not module.resolve(node, context)
    )


_SHOWN = {Kind.PARAMETER: "tensor"}


def sites(view: FileView) -> Iterator[dict[str, object]]:
    """The inventory of a file: every use of a framework's name and every method call, in source order."""
    found: list[tuple[ast.expr, str | None, str | None, Confidence | None]] = []
    for use in view.uses:
        if not use.method:
            found.append((use.node, use.name, None, use.candidate.confidence))
    names = {id(node) for node, *_ in found}
    for node, _ in view.module.scopes.nodes.get(ast.Call, ()):
        assert isinstance(node, ast.Call)
        func = node.func
        if not isinstance(func, ast.Attribute) or id(func) in names:
            continue
        known = view.known(func.value)
        kind = known.kind
        api = tensor_name(view, known, func.attr) if kind in TENSORS else None
        receiver = _SHOWN.get(kind, kind.value) if kind is not None else None
        found.append((func, api, receiver, known.sure if kind is not None else None))
    source = view.module.source
    for node, api, receiver, sure in sorted(found, key=lambda item: _order(item[0])):
        span = source.span(node)
        yield {
            "path": source.path,
            "line": span.line,
            "column": span.column,
            "end_line": span.end_line,
            "end_column": span.end_column,
            "attribute": node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None),
            "api": api,
            "receiver": receiver,
            "confidence": sure.value if sure is not None else None,
        }


def _order(node: ast.expr) -> tuple[int, int, int, int]:
    return node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
