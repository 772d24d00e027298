"""Literals, operators and dtypes, as the graph compiler sees them."""

from __future__ import annotations

import ast

from mindport.semantics.trace.values import Shadow, What, join

INTEGERS = frozenset({"int", "int8", "int16", "int32", "int64", "uint8"})


def constant(value: object) -> Shadow:
    """A literal."""
    if value is None:
        return Shadow(What.NONE)
    if isinstance(value, str | bytes):
        return Shadow(What.TEXT)
    return Shadow(What.STATIC, dtype="float" if isinstance(value, float) else None)


def fact(known: Shadow, new: Shadow) -> Shadow:
    """The join of what one place was on two visits."""
    if known.what is new.what:
        return known if known.sure.rank >= new.sure.rank else new
    return join(known, new)


def fixed(value: Shadow) -> bool:
    """Whether a value is known when the graph is built."""
    return value.const or value.what in (What.STATIC, What.TEXT, What.NONE)


def promote(op: ast.operator, left: Shadow, right: Shadow) -> str | None:
    """The dtype of an operator's result; None when it is not known."""
    if left.tensor and right.tensor:
        if left.dtype == right.dtype:
            return left.dtype
        return None
    tensor, other = (left, right) if left.tensor else (right, left)
    if isinstance(op, ast.Div) or other.dtype == "float":
        return None if tensor.dtype in INTEGERS or tensor.dtype == "bool" else tensor.dtype
    return tensor.dtype if tensor.dtype != "bool" else None


def truth(node: ast.expr) -> bool:
    """Whether an expression is a truth value by its form."""
    return isinstance(node, ast.Compare | ast.BoolOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def number(node: ast.expr, kind: type) -> bool:
    """Whether an expression is a literal of one Python type."""
    return isinstance(node, ast.Constant) and type(node.value) is kind


def negative(node: ast.expr) -> bool:
    """Whether an expression is a negative integer literal."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number(node.operand, int)


def float_sum(node: ast.expr) -> bool:
    """Whether an expression computes with two float literals."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
        and number(node.left, float)
        and number(node.right, float)
    )


def integer(node: ast.expr) -> int | None:
    """The value of an integer literal."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None
