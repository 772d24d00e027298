"""Blocks that fall away: ``with torch.no_grad():`` and decorators of that kind."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.catalog import ApiRow
from mindport.detectors.base import Use
from mindport.findings import Applicability
from mindport.fixes.draft import Change
from mindport.fixes.rewrite import Refused

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner


def plan(planner: Planner) -> None:
    """Add the drafts for contexts whose row has no counterpart to enter."""
    compiled = {item.node for item in planner.view.compiled}
    for node, context in planner.view.module.scopes.nodes.get(ast.With, ()):
        assert isinstance(node, ast.With)
        found = _context_row(planner, node.items[0].context_expr) if len(node.items) == 1 else None
        if found is None or node.items[0].optional_vars is not None or context.scope.node in compiled:
            continue
        use, row = found
        changes = _dedented(planner, node)
        if changes:
            planner.add(planner.codes["compose"], planner.view.span_of(use), Applicability.UNSAFE, changes)
    for node_uses in planner.by_node.values():
        use = node_uses[0]
        decorated = planner.places.decorated(use.call or use.node)
        found = planner.row_of(node_uses)
        if decorated is None or found is None or found[1].kind != "context" or decorated in compiled:
            continue
        try:
            changes = planner.drop_decorator(use.call or use.node)
        except Refused:
            continue
        planner.add(planner.codes["compose"], planner.view.span_of(use), Applicability.UNSAFE, changes)


def _context_row(planner: Planner, node: ast.expr) -> tuple[Use, ApiRow] | None:
    func = node.func if isinstance(node, ast.Call) else node
    uses = planner.by_node.get(func)
    found = planner.row_of(uses) if uses else None
    return found if found is not None and found[1].kind == "context" else None


def _dedented(planner: Planner, node: ast.With) -> list[Change]:
    """Remove the ``with`` line and move its body one level out; empty when the body cannot be moved."""
    layout = planner.layout
    first, last = node.body[0], node.body[-1]
    if first.lineno == node.lineno:
        return []
    start = layout.range(node)[0]
    line = layout.place(start)[0]
    head = layout.starts[line - 1]
    if layout.text[head:start].strip():
        return []
    body_line = first.lineno
    if getattr(first, "decorator_list", None):
        body_line = first.decorator_list[0].lineno  # type: ignore[attr-defined]
    body_start = layout.starts[body_line - 1]
    outer = layout.text[head:start]
    inner_end = layout.offset(
        body_line, len(layout.source.lines[body_line - 1]) - len(layout.source.lines[body_line - 1].lstrip())
    )
    inner = layout.text[body_start:inner_end]
    if not inner.startswith(outer) or inner == outer:
        return []
    extra = len(inner) - len(outer)
    last_line = last.end_lineno or last.lineno
    inside = _string_lines(planner, body_line, last_line)
    changes = [Change(head, body_start, ())]
    for number in range(body_line, last_line + 1):
        if number in inside:
            continue
        text = layout.source.lines[number - 1]
        if text.startswith(inner[: len(outer) + extra]):
            at = layout.starts[number - 1] + len(outer)
            changes.append(Change(at, at + extra, ()))
    return changes


def _string_lines(planner: Planner, first: int, last: int) -> set[int]:
    """The lines that continue a text that runs over several lines."""
    result: set[int] = set()
    for token in planner.layout.tokens:
        if (token.text[:1] in "\"'rbfuRBFU" and "\n" in token.text) or token.text.startswith(('"""', "'''")):
            start, end = planner.layout.place(token.start)[0], planner.layout.place(token.end)[0]
            result |= set(range(start + 1, end + 1)) if end >= first and start <= last else set()
    return result
