"""What a condition tells about names: ``is None``, ``isinstance``, truth."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.flow.annotations import annotation
from mindport.semantics.kinds import TENSORS, UNKNOWN, Kind, Known, join, of, without

if TYPE_CHECKING:
    from mindport.semantics.flow.expressions import Expressions

_NONE = frozenset({Kind.NONE})


def narrow(frame: Expressions, test: ast.expr, truth: bool) -> None:
    """Change what the frame knows to what holds where ``test`` came out as ``truth``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        narrow(frame, test.operand, not truth)
    elif isinstance(test, ast.BoolOp):
        if truth is isinstance(test.op, ast.And):
            for value in test.values:
                narrow(frame, value, truth)
    elif isinstance(test, ast.Compare):
        _compare(frame, test, truth)
    elif isinstance(test, ast.Call):
        _call(frame, test, truth)
    elif isinstance(test, ast.NamedExpr):
        narrow(frame, test.target, truth)
    elif truth:
        key = frame.key(test)
        if key is not None:
            frame.set(key, without(frame.get(key, test), _NONE))


def _compare(frame: Expressions, test: ast.Compare, truth: bool) -> None:
    if len(test.ops) != 1 or not isinstance(test.ops[0], ast.Is | ast.IsNot):
        return
    other = test.comparators[0]
    key = frame.key(test.left)
    if key is None or not isinstance(other, ast.Constant) or other.value is not None:
        return
    if truth is isinstance(test.ops[0], ast.Is):
        frame.set(key, of(Kind.NONE))
    else:
        value = frame.get(key, test.left)
        frame.set(key, without(value, _NONE) if value.kind is not Kind.NONE else UNKNOWN)


def _call(frame: Expressions, test: ast.Call, truth: bool) -> None:
    if not test.args:
        return
    key = frame.key(test.args[0])
    if key is None:
        return
    name = frame.external(test.func)
    if name == "builtins.isinstance" and len(test.args) == 2:
        wanted = _classes(frame, test.args[1])
    elif name in frame.flow.library.sets["is-tensor"]:
        wanted = of(Kind.TENSOR, Confidence.INFERRED)
    else:
        return
    value = frame.get(key, test.args[0])
    if truth:
        if wanted.atoms:
            kept = _both(value, wanted)
            frame.set(key, kept)
        else:
            frame.set(key, UNKNOWN)
    elif wanted.atoms:
        kinds = frozenset(a.kind for a in wanted.atoms if a.ref is None)
        frame.set(key, without(value, kinds | TENSORS if Kind.TENSOR in kinds else kinds))


def _both(value: Known, wanted: Known) -> Known:
    """What is left of a value that is an instance of one of the wanted classes."""
    kinds = {a.kind for a in wanted.atoms}
    if Kind.TENSOR in kinds:
        kinds |= TENSORS
    left = tuple(a for a in value.atoms if a.kind in kinds)
    if left and all(a.ref is None for a in wanted.atoms):
        return Known(left, value.sure if value.sure is not Confidence.POSSIBLE else Confidence.INFERRED)
    return wanted


def _classes(frame: Expressions, node: ast.expr) -> Known:
    if isinstance(node, ast.Tuple):
        return join([annotation(frame.flow, part) for part in node.elts])
    return annotation(frame.flow, node)
