"""Walking syntax trees fast: only the fields that hold nodes, and no contexts or operators."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

_NO_NODES = frozenset(
    [
        "ctx",
        "op",
        "ops",
        "id",
        "attr",
        "name",
        "module",
        "level",
        "kind",
        "type_comment",
        "lineno",
        "conversion",
        "simple",
        "is_async",
        "asname",
    ]
)
"""Fields that hold texts, numbers, contexts or operators in every class of node."""
_TEXTS = {
    ast.keyword: "arg",
    ast.arg: "arg",
    ast.Global: "names",
    ast.Nonlocal: "names",
    ast.Constant: "value",
}


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    text = _TEXTS.get(kind)
    return tuple(name for name in kind._fields if name not in _NO_NODES and name != text)


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        found = self[kind] = _fields(kind)
        return found


_FIELDS = _Fields()


_OFTEN: dict[type[ast.AST], Callable[[Any], list[ast.AST]]] = {
    ast.Attribute: lambda node: [node.value],
    ast.Call: lambda node: [node.func, *node.args, *node.keywords],
    ast.keyword: lambda node: [node.value],
    ast.Subscript: lambda node: [node.value, node.slice],
    ast.Assign: lambda node: [*node.targets, node.value],
    ast.Expr: lambda node: [node.value],
    ast.BinOp: lambda node: [node.left, node.right],
    ast.Tuple: lambda node: list(node.elts),
    ast.List: lambda node: list(node.elts),
    ast.If: lambda node: [node.test, *node.body, *node.orelse],
    ast.Compare: lambda node: [node.left, *node.comparators],
    ast.UnaryOp: lambda node: [node.operand],
    ast.BoolOp: lambda node: list(node.values),
    ast.FormattedValue: lambda node: (
        [node.value] if node.format_spec is None else [node.value, node.format_spec]
    ),
    ast.JoinedStr: lambda node: list(node.values),
}
"""The classes of node most files are made of, written out."""


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly under a node, in source order; contexts and operators left out."""
    often = _OFTEN.get(node.__class__)
    if often is not None:
        return often(node)
    result: list[ast.AST] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            result += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            result.append(value)
    return result


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all nodes under it, each before what is under it; contexts and operators left out."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        kind = current.__class__
        if kind is not ast.Name and kind is not ast.Constant:
            stack += reversed(children(current))
