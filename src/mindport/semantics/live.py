"""Which nodes of a compiled function the graph compiler's parser really looks at.

Measured on MindSpore 2.7.0 and 2.10.0 (CPU): the parser skips code after ``return`` or ``raise`` and the dead arm
of a condition on an attribute of ``self`` that it can evaluate (``self.flag``, ``self.x is None``, ``self.n == 2``,
``not self.training``, and ``and`` of these). It does not skip arms of any other condition, even a constant one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mindport.findings import Confidence
from mindport.semantics.module import Module
from mindport.semantics.scopes import NamedFunction

TERMINATORS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Live:
    """A node the parser sees, and how sure that is: ``possible`` under a condition whose value is unknown."""

    node: ast.AST
    confidence: Confidence


def live_nodes(module: Module, function: NamedFunction, owner: ast.ClassDef | None) -> list[Live]:
    """All statements and expressions of a function body that are parsed, nested functions included."""
    return list(_block(module, owner, function.body, Confidence.CERTAIN))


def _block(
    module: Module, owner: ast.ClassDef | None, body: Sequence[ast.stmt], sure: Confidence
) -> Iterator[Live]:
    for statement in body:
        yield Live(statement, sure)
        if isinstance(statement, ast.If):
            yield from _expression(statement.test, sure)
            for arm, confidence in arms(module, owner, statement):
                yield from _block(module, owner, arm, sure.weaker(confidence))
        elif isinstance(statement, _FUNCTIONS):
            yield from _block(module, owner, statement.body, sure)
        elif not isinstance(statement, ast.ClassDef):
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.stmt):
                    continue
                if isinstance(child, ast.ExceptHandler | ast.match_case):
                    yield from _block(module, owner, child.body, sure)
                else:
                    yield from _expression(child, sure)
            for name in ("body", "orelse", "finalbody"):
                yield from _block(module, owner, getattr(statement, name, ()), sure)
        if isinstance(statement, TERMINATORS):
            return


def _expression(node: ast.AST, sure: Confidence) -> Iterator[Live]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield Live(current, sure)
        if current.__class__ is ast.Name or current.__class__ is ast.Constant:
            continue
        for name in current._fields:
            value = getattr(current, name, None)
            if value.__class__ is list:
                stack += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.expr | ast.comprehension | ast.keyword | ast.arguments | ast.arg):
                stack.append(value)


def arms(
    module: Module, owner: ast.ClassDef | None, statement: ast.If
) -> list[tuple[list[ast.stmt], Confidence]]:
    """The arms of an ``if`` that may be parsed."""
    if not is_parse_time(statement.test):
        return [(statement.body, Confidence.CERTAIN), (statement.orelse, Confidence.CERTAIN)]
    value = _value(module, owner, statement.test)
    if value is None:
        return [(statement.body, Confidence.POSSIBLE), (statement.orelse, Confidence.POSSIBLE)]
    return [(statement.body if value else statement.orelse, Confidence.CERTAIN)]


def is_parse_time(test: ast.expr) -> bool:
    """Whether the parser evaluates a condition and skips the dead arm."""
    if isinstance(test, ast.BoolOp):
        return any(is_parse_time(value) for value in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_parse_time(test.operand)
    if isinstance(test, ast.Compare) and len(test.comparators) == 1:
        constant = isinstance(test.comparators[0], ast.Constant | ast.UnaryOp)
        return (
            constant
            and isinstance(test.left, ast.Name | ast.Attribute)
            and (_self_attribute(test.left) is not None or (isinstance(test.left, ast.Name) and _plain(test)))
        )
    return _self_attribute(test) is not None


def _plain(test: ast.Compare) -> bool:
    """A comparison of a local name with a number or text may be evaluated; ``is None`` of a name is not."""
    return not isinstance(test.ops[0], ast.Is | ast.IsNot)


def _self_attribute(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def _value(module: Module, owner: ast.ClassDef | None, test: ast.expr) -> bool | None:
    """The value of a condition where the class sets the attribute once, to a constant."""
    if owner is None:
        return None
    if isinstance(test, ast.UnaryOp):
        inner = _value(module, owner, test.operand)
        return None if inner is None else not inner
    left = test.left if isinstance(test, ast.Compare) else test
    name = _self_attribute(left)
    values = module.self_attributes(owner).get(name or "", [])
    if (
        len(values) != 1
        or not isinstance(values[0][0], ast.Constant)
        or module.ancestry(owner).complete is False
    ):
        return None
    value = values[0][0].value
    if not isinstance(test, ast.Compare):
        return bool(value)
    other = test.comparators[0]
    if not isinstance(other, ast.Constant):
        return None
    operation = type(test.ops[0])
    if operation in (ast.Eq, ast.Is):
        return bool(value == other.value)
    if operation in (ast.NotEq, ast.IsNot):
        return bool(value != other.value)
    return None
