"""Torch names inside annotations that are written as text."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Applicability
from mindport.fixes.draft import Change, Ref
from mindport.fixes.rewrite import dotted
from mindport.semantics.scopes import Context
from mindport.semantics.values import Named

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner


def plan(planner: Planner) -> None:
    """Add a draft per annotation text that names torch's classes."""
    module = planner.view.module
    context = Context(module.scopes.module, ())
    for node in planner.places.annotations:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            _text(planner, node, context)


def _text(planner: Planner, node: ast.Constant, context: Context) -> None:
    start, end = planner.layout.range(node)
    written = planner.layout.text[start:end]
    if written[1:-1] != node.value or not node.value.isascii():
        return
    try:
        tree = ast.parse(node.value, mode="eval")
    except SyntaxError:
        return
    changes = []
    for inner in ast.walk(tree):
        name = dotted(inner) if isinstance(inner, ast.Attribute) else ""
        if not name or inner.lineno != 1:  # type: ignore[attr-defined]
            continue
        for candidate in planner.view.module.resolve(inner, context):
            value = candidate.value
            row = planner.catalog.api(value.name) if isinstance(value, Named) else None
            target = planner.target(row) if row is not None else None
            if target is not None and target.name:
                at = start + 1 + inner.col_offset  # type: ignore[attr-defined]
                changes.append(Change(at, at + len(name), (Ref(target.name),)))
                break
    if changes:
        span = planner.view.module.source.span(node)
        planner.add(planner.codes["rename"], span, Applicability.UNSAFE, changes)
