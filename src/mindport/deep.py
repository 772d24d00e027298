"""The oracle built on astroid's inference: used under pylint and by ``check --deep``, never imported elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from typing import Any

import astroid
from astroid import nodes
from astroid.exceptions import AstroidError

from mindport.semantics.oracle import Definition
from mindport.source.text import Source

MAX_ANSWERS = 4
"""An expression that can be more things than this counts as unknown."""
Place = tuple[int, int, int, int]


class AstroidOracle:
    """Finds the node at the same place in astroid's tree of the file and asks what it can be."""

    def __init__(self) -> None:
        self._places: dict[str, dict[Place, Any]] = {}

    def classes(self, source: Source, node: ast.AST) -> tuple[Definition, ...]:
        """The classes an expression can be."""
        found = [value for value in self._infer(source, node) if isinstance(value, nodes.ClassDef)]
        return tuple(Definition(str(v.root().file or ""), v.fromlineno, v.name) for v in found)

    def constants(self, source: Source, node: ast.AST) -> tuple[object, ...]:
        """The Python constants an expression can be."""
        found = list(self._infer(source, node))
        if not all(isinstance(value, nodes.Const) for value in found):
            return ()
        return tuple(value.value for value in found)

    def _infer(self, source: Source, node: ast.AST) -> Iterator[Any]:
        other = self._nodes(source).get(_place(node))
        if other is None:
            return
        try:
            answers = list(islice(other.infer(), MAX_ANSWERS + 1))
        except (AstroidError, RecursionError):
            return
        if len(answers) <= MAX_ANSWERS and astroid.Uninferable not in answers:
            yield from answers

    def _nodes(self, source: Source) -> dict[Place, Any]:
        key = str(source.file or source.path)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = {}
            try:
                if source.file is not None:
                    tree = astroid.MANAGER.ast_from_file(str(source.file))
                else:
                    tree = astroid.parse(source.text)
            except (AstroidError, RecursionError, ValueError):
                return known
            for other in tree.nodes_of_class((nodes.Name, nodes.Attribute, nodes.Call, nodes.Subscript)):
                known[other.lineno, other.col_offset, other.end_lineno, other.end_col_offset] = other
        return known


def _place(node: ast.AST) -> Place:
    return (
        getattr(node, "lineno", 0),
        getattr(node, "col_offset", 0),
        getattr(node, "end_lineno", 0),
        getattr(node, "end_col_offset", 0),
    )
