"""Evaluating expressions that can only be Python constants."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.scopes import Context
from mindport.semantics.values import Constant, Expression

if TYPE_CHECKING:
    from mindport.semantics.module import Module

MAX_DEPTH = 24
"""How many names a constant is followed through."""

_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def constants_of(module: Module, node: ast.AST, context: Context, depth: int) -> tuple[Constant, ...]:
    """See `Module.constants`."""
    if depth > MAX_DEPTH:
        return ()
    if isinstance(node, ast.Constant):
        return (Constant(node.value, Confidence.CERTAIN),)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return tuple(
            Constant(-c.value, c.confidence)
            for c in module.constants(node.operand, context, depth + 1)
            if isinstance(c.value, int | float)
        )
    if isinstance(node, ast.BinOp):
        return tuple(_arithmetic(module, node, context, depth + 1))
    if isinstance(node, ast.Name | ast.Attribute | ast.IfExp):
        return tuple(
            Constant(c.value, c.confidence.weaker(candidate.confidence))
            for candidate in module.resolve(node, context, depth + 1)
            if isinstance(candidate.value, Expression)
            for c in candidate.value.module.constants(
                candidate.value.node, candidate.value.context, depth + 1
            )
        )
    return ()


def _arithmetic(module: Module, node: ast.BinOp, context: Context, depth: int) -> Iterator[Constant]:
    function = _OPERATORS.get(type(node.op))
    if function is None:
        return
    for left in module.constants(node.left, context, depth):
        for right in module.constants(node.right, context, depth):
            if isinstance(left.value, int | float) and isinstance(right.value, int | float):
                try:
                    value = function(left.value, right.value)
                except (ArithmeticError, OverflowError):
                    continue
                yield Constant(value, left.confidence.weaker(right.confidence))
