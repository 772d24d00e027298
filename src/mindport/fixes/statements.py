"""Blocks that fall away: ``with torch.no_grad():`` and decorators of that kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mindport.catalog import ApiRow
from mindport.detectors.base import Use
from mindport.findings import Applicability
from mindport.fixes.draft import Change, Part, Ref, Slice
from mindport.fixes.rewrite import Refused, bound_values
from mindport.semantics.compiled import Origin
from mindport.semantics.values import Named

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner


def plan(planner: Planner) -> None:
    """Add the drafts for contexts whose row has no counterpart to enter."""
    _plain(planner)
    _mappings(planner)
    for name, table in planner.catalog.concepts.get("nested-containers", {}).items():
        _nested(planner, name, table)
    compiled = {item.node for item in planner.view.compiled}
    for node, context in planner.view.module.scopes.nodes.get(ast.With, ()):
        assert isinstance(node, ast.With)
        found = _context_row(planner, node.items[0].context_expr) if len(node.items) == 1 else None
        if found is None or node.items[0].optional_vars is not None:
            continue
        use, row = found
        changes = _dedented(planner, node)
        if context.scope.node in compiled:  # what is differentiated: the values themselves are cut off
            cut = _cut_off(planner, node, row)
            changes = [*changes, *cut] if changes and cut else []
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


def _plain(planner: Planner) -> None:
    """Calls whose row is a statement: ``torch._assert(a, b)`` becomes ``assert a, b``."""
    for uses in planner.by_node.values():
        found = planner.row_of(uses)
        if found is None or found[1].kind != "statement" or found[0].call is None:
            continue
        use, row = found
        target = planner.target(row)
        statement = planner.parents.get(use.call) if use.call is not None else None
        if target is None or not target.template or not isinstance(statement, ast.Expr) or use.call is None:
            continue
        try:
            values = bound_values(use.call, row)
            changes = [_filled(planner, statement, target.template, values)]
        except Refused:
            continue
        code = planner.codes[target.difference.value]
        planner.add(code, planner.view.span_of(use), Applicability.UNSAFE, changes)


def _filled(planner: Planner, statement: ast.Expr, template: str, values: Mapping[str, ast.expr]) -> Change:
    start, end = planner.layout.range(statement)
    line, column = planner.layout.place(start)
    head = planner.layout.source.lines[line - 1][:column]
    if template == "pass":
        body = getattr(planner.parents.get(statement), "body", None)
        last = planner.layout.place(end)[0]
        tail = planner.layout.source.lines[last - 1][planner.layout.place(end)[1] :]
        if head.strip() or tail.strip() or not isinstance(body, list) or len(body) < 2:
            return Change(start, end, ("pass",))
        stop = planner.layout.starts[last] if last < len(planner.layout.starts) else end
        return Change(start - column, stop, ())
    parts: list[Part] = []
    position = 0
    for match in re.finditer(r"\{(\w+)\}", template):
        if match[1] not in values:
            raise Refused(f"the template needs `{match[1]}`")
        piece = Slice(*planner.layout.range(values[match[1]]))
        many = (
            "\n" in planner.layout.text[piece.start : piece.end]
        )  # no call's brackets hold the lines any more
        parts += [template[position : match.start()], *(("(", piece, ")") if many else (piece,))]
        position = match.end()
    return Change(start, end, (*parts, template[position:]))


def _mappings(planner: Planner) -> None:
    """``map(lambda t: f(t), values)`` in compiled code becomes a list: the compiler maps no closures."""
    names = planner.catalog.sets.get("mapping", frozenset())
    compiled = {item.node for item in planner.view.compiled if item.origin is Origin.FORWARD}
    for call, context in planner.calls():
        if context.scope.node not in compiled or len(call.args) != 2 or call.keywords:
            continue
        function, values = call.args
        if not isinstance(function, ast.Lambda) or len(function.args.args) != 1:
            continue
        found = [candidate.value for candidate in planner.view.module.resolve(call.func, context)]
        if not any(isinstance(value, Named) and value.name in names for value in found):
            continue
        name = function.args.args[0].arg
        body, rest = Slice(*planner.layout.range(function.body)), Slice(*planner.layout.range(values))
        change = Change(*planner.layout.range(call), ("[", body, f" for {name} in ", rest, "]"))
        span = planner.view.module.source.span(call)
        planner.add(planner.codes["compose"], span, Applicability.UNSAFE, [change])


def _nested(planner: Planner, name: str, table: Mapping[str, Any]) -> None:
    """A dictionary of layers that holds containers: its counterpart takes none, a plain Cell does."""
    from mindport.fixes.plan import written_items

    inner, plain = frozenset(table["inner"]), str(table["plain"])
    text = planner.layout.text
    for uses in planner.by_node.values():
        call = uses[0].call
        if uses[0].name != name or call is None or len(call.args) != 1 or call.keywords:
            continue
        statement = planner.parents.get(call)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        items = written_items(call.args[0])
        if not isinstance(target, ast.Attribute) or items is None or not isinstance(statement, ast.Assign):
            continue
        holds = any(u.name in inner for v in items.values() for u in _uses_of(planner, v))
        if not holds and not (_by_attribute(text, items) and not _by_key(text, items)):
            continue
        if re.search(rf"\.{target.attr}\s*(\[|\.(items|keys|values|update|pop)\b)", text):
            continue
        start, end = planner.layout.range(statement)
        line, column = planner.layout.place(start)
        indent = planner.layout.source.lines[line - 1][:column]
        local = target.attr if not re.search(rf"(?<![.\w]){target.attr}\b", text) else f"{target.attr}_cell"
        if indent.strip():
            continue
        step = planner.layout.newline + indent
        parts: list[Part] = [f"{local} = ", Ref(plain), "()"]
        for key, value in items.items():
            parts += [f"{step}{local}.{key} = ", Slice(*planner.layout.range(value))]
        parts += [step, Slice(*planner.layout.range(target)), f" = {local}"]
        span = planner.view.module.source.span(statement)
        planner.add(planner.codes["compose"], span, Applicability.UNSAFE, [Change(start, end, tuple(parts))])


def _by_attribute(text: str, keys: Iterable[str]) -> bool:
    return any(re.search(rf"\w\.{key}\(", text) for key in keys)


def _by_key(text: str, keys: Iterable[str]) -> bool:
    return any(f"['{key}']" in text or f'["{key}"]' in text for key in keys)


def _uses_of(planner: Planner, value: ast.expr) -> list[Use]:
    return planner.by_node.get(value.func, []) if isinstance(value, ast.Call) else []


def _context_row(planner: Planner, node: ast.expr) -> tuple[Use, ApiRow] | None:
    func = node.func if isinstance(node, ast.Call) else node
    uses = planner.by_node.get(func)
    found = planner.row_of(uses) if uses else None
    return found if found is not None and found[1].kind == "context" else None


def _cut_off(planner: Planner, node: ast.With, row: ApiRow) -> list[Change]:
    """Wrap every value a block assigns by the row's template; empty where the block does more than that."""
    target = planner.target(row)
    match = re.fullmatch(r"([\w.]+)\(\{value\}\)", target.template) if target is not None else None
    result: list[Change] = []
    for statement in node.body:
        simple = isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets)
        if match is None or not simple or not isinstance(statement, ast.Assign):
            return []
        start, end = planner.layout.range(statement.value)
        result += [Change(start, start, (Ref(match[1]), "(")), Change(end, end, (")",))]
    return result


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
