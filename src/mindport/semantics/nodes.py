"""Walking syntax trees fast: only the fields that hold nodes, and no contexts or operators."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly under a node, in source order; contexts and operators left out."""
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
