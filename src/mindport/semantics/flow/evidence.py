"""What the use of a parameter says about it, where neither annotation nor default does."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mindport.semantics.library import argument_of
from mindport.semantics.nodes import children
from mindport.semantics.scopes import NamedFunction

if TYPE_CHECKING:
    from mindport.semantics.flow.frame import Frame


@dataclass(slots=True)
class Evidence:
    """``proved``: used as only a Tensor can be; ``against``: as no Tensor is; ``consistent``: as a Tensor can be."""

    proved: bool = False
    against: bool = False
    consistent: bool = False


def parameter_evidence(frame: Frame, node: NamedFunction, names: frozenset[str]) -> dict[str, Evidence]:
    """Read a function body once for all parameters in question."""
    found = {name: Evidence() for name in names}
    stack: list[ast.AST] = list(node.body)
    while stack:
        current = stack.pop()
        look = _LOOK.get(current.__class__)
        if look is not None:
            look(frame, found, current)
        stack += children(current)
    return found


def _of(found: dict[str, Evidence], node: ast.AST | None) -> Evidence | None:
    return found.get(node.id) if isinstance(node, ast.Name) else None


def _attribute(frame: Frame, found: dict[str, Evidence], node: ast.Attribute) -> None:
    evidence = _of(found, node.value)
    if evidence is None:
        return
    library = frame.flow.library
    if not library.is_tensor_method(node.attr):
        evidence.against = True
    elif library.only_tensors_have(node.attr, frame.flow.proving):
        evidence.proved = True
    else:
        evidence.consistent = True


def _call(frame: Frame, found: dict[str, Evidence], node: ast.Call) -> None:
    evidence = _of(found, node.func)
    if evidence is not None:
        evidence.against = True
    passed = [*node.args, *(k.value for k in node.keywords)]
    if not any(_of(found, a) or isinstance(a, ast.Tuple | ast.List | ast.Starred) for a in passed):
        return
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            evidence = _of(found, arg.value)
            if evidence is not None:
                evidence.against = True
    for keyword in node.keywords:
        evidence = _of(found, keyword.value) if keyword.arg is None else None
        if evidence is not None:
            evidence.against = True
    name = frame.external(node.func)
    if not name:
        return
    words = frame.flow.library.sets["no-tensor-argument"]
    if name in words:
        for arg in node.args[:1]:
            evidence = _of(found, arg)
            if evidence is not None:
                evidence.against = True
        return
    for parameter, place, many in frame.flow.library.tensor_places(name):
        value = argument_of(node, parameter, place)
        values = value.elts if many and isinstance(value, ast.Tuple | ast.List) else [] if many else [value]
        for item in values:
            evidence = _of(found, item)
            if evidence is not None:
                evidence.proved = True


def _subscript(frame: Frame, found: dict[str, Evidence], node: ast.Subscript) -> None:
    evidence = _of(found, node.value)
    if evidence is not None:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            evidence.against = True
        elif isinstance(node.slice, ast.Tuple):
            evidence.consistent = True


def _binary(frame: Frame, found: dict[str, Evidence], node: ast.BinOp) -> None:
    for side in (node.left, node.right):
        evidence = _of(found, side)
        if evidence is not None:
            evidence.consistent = True


def _compare(frame: Frame, found: dict[str, Evidence], node: ast.Compare) -> None:
    evidence = _of(found, node.left)
    other = node.comparators[0]
    if evidence is None:
        return
    if (isinstance(other, ast.Constant) and (isinstance(other.value, str | bool))) or isinstance(
        node.ops[0], ast.In | ast.NotIn
    ):
        evidence.against = True


def _condition(frame: Frame, found: dict[str, Evidence], node: ast.If | ast.IfExp | ast.While) -> None:
    stack = [node.test]
    while stack:
        test = stack.pop()
        if isinstance(test, ast.BoolOp):
            stack += test.values
        elif isinstance(test, ast.UnaryOp):
            stack.append(test.operand)
        evidence = _of(found, test)
        if evidence is not None:
            evidence.against = True


def _iterated(frame: Frame, found: dict[str, Evidence], node: ast.For | ast.comprehension) -> None:
    evidence = _of(found, node.iter)
    if evidence is not None:
        evidence.against = True


def _slice(frame: Frame, found: dict[str, Evidence], node: ast.Slice) -> None:
    for bound in (node.lower, node.upper, node.step):
        evidence = _of(found, bound)
        if evidence is not None:
            evidence.against = True


def _assign(frame: Frame, found: dict[str, Evidence], node: ast.Assign) -> None:
    evidence = _of(found, node.value)
    if evidence is not None and any(isinstance(t, ast.Tuple | ast.List) for t in node.targets):
        evidence.against = True


_LOOK: dict[type[ast.AST], Callable[..., None]] = {
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.If: _condition,
    ast.IfExp: _condition,
    ast.While: _condition,
    ast.For: _iterated,
    ast.comprehension: _iterated,
    ast.Slice: _slice,
    ast.Assign: _assign,
}
