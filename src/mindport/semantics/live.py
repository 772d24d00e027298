"""Which nodes of a compiled function the graph compiler's parser really looks at.

Measured on MindSpore 2.7.0 and 2.10.0 (CPU): the parser skips code after ``return`` or ``raise`` and the dead arm
of a condition on an attribute of ``self`` that it can evaluate (``self.flag``, ``self.x is None``, ``self.n == 2``,
``not self.training``, and ``and`` or ``or`` that such operands decide from the left). It does not skip arms of any other condition, even a constant one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from mindport.findings import Confidence
from mindport.semantics.module import Module
from mindport.semantics.scopes import NamedFunction

TERMINATORS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_EXPRESSIONS = (ast.expr, ast.comprehension, ast.keyword, ast.arguments, ast.arg)


@dataclass(slots=True)
class Live:
    """A node the parser sees, and how sure that is: ``possible`` under a condition whose value is unknown.

    ``late`` is how sure it is that the steps after the parser see it too: they drop the arms of every condition
    that is known when the graph is built, such as one that asks only attributes of ``self``.
    """

    node: ast.AST
    confidence: Confidence
    late: Confidence


def live_nodes(module: Module, function: NamedFunction, owner: ast.ClassDef | None) -> list[Live]:
    """All statements and expressions of a function body that are parsed, nested functions included."""
    found: list[Live] = []
    _block(found, module, owner, function.body, Confidence.CERTAIN, Confidence.CERTAIN)
    return found


def _block(
    found: list[Live],
    module: Module,
    owner: ast.ClassDef | None,
    body: Sequence[ast.stmt],
    sure: Confidence,
    late: Confidence,
) -> None:
    """Add the nodes of statements, up to the first that ends them."""
    for statement in body:
        found.append(Live(statement, sure, late))
        if isinstance(statement, ast.If):
            _expression(found, Live(statement.test, sure, late), module, owner)
            possible = arms(module, owner, statement)
            kept = Confidence.CERTAIN
            if len(possible) > 1:
                kept = Confidence.INFERRED
                if _asks_only_self(statement.test) and not _asks_only_mode(statement.test):
                    kept = Confidence.POSSIBLE
            for arm, confidence in possible:
                inner = late.weaker(confidence).weaker(kept)
                _block(found, module, owner, arm, sure.weaker(confidence), inner)
        elif isinstance(statement, _FUNCTIONS):
            _block(found, module, owner, statement.body, sure, late)
        elif not isinstance(statement, ast.ClassDef):
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.stmt):
                    continue
                if isinstance(child, ast.ExceptHandler | ast.match_case):
                    _block(found, module, owner, child.body, sure, late)
                else:
                    _expression(found, Live(child, sure, late))
            for name in ("body", "orelse", "finalbody"):
                _block(found, module, owner, getattr(statement, name, ()), sure, late)
        if isinstance(statement, TERMINATORS):
            return


def _expression(
    found: list[Live], start: Live, module: Module | None = None, owner: ast.ClassDef | None = None
) -> None:
    """Add the nodes of an expression; only the condition of an ``if`` (given with its class) ends early."""
    stack = [start]
    while stack:
        live = stack.pop()
        found.append(live)
        current, sure, late = live.node, live.confidence, live.late
        kind = current.__class__
        if kind is ast.Name or kind is ast.Constant:
            continue
        if module is not None and owner is not None and isinstance(current, ast.BoolOp):
            stack += _operands(module, owner, current, live)
            continue
        for name in current._fields:
            value = getattr(current, name, None)
            if value.__class__ is list:
                stack += [Live(item, sure, late) for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, _EXPRESSIONS):
                stack.append(Live(value, sure, late))


def _operands(module: Module, owner: ast.ClassDef, node: ast.BoolOp, live: Live) -> list[Live]:
    """The operands of ``and`` or ``or`` that are parsed: an attribute the class sets can end it early."""
    result = []
    sure, late = live.confidence, live.late
    for operand in node.values:
        result.append(Live(operand, sure, late))
        if isinstance(operand, ast.BoolOp) or not is_parse_time(operand):
            continue
        value = _value(module, owner, operand)
        if value is None:
            if _asks_only_mode(operand):
                sure = late = sure.weaker(Confidence.INFERRED)
            elif _attribute_of(operand) in module.self_attributes(owner):
                sure = late = Confidence.POSSIBLE
        elif value is not isinstance(node.op, ast.And):
            break
    return result


def _asks_only_self(test: ast.expr) -> bool:
    """Whether a condition depends on nothing but ``self`` and constants."""
    names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    return names == {"self"}


MODE = "training"
"""The attribute that takes both values in the life of a Cell: each arm is compiled sooner or later."""


def _asks_only_mode(test: ast.expr) -> bool:
    """Whether the only attribute a condition asks is the training mode."""
    attributes = {node.attr for node in ast.walk(test) if isinstance(node, ast.Attribute)}
    return attributes == {MODE}


def arms(
    module: Module, owner: ast.ClassDef | None, statement: ast.If
) -> list[tuple[list[ast.stmt], Confidence]]:
    """The arms of an ``if`` that may be parsed."""
    if not decides(module, owner, statement.test):
        return [(statement.body, Confidence.CERTAIN), (statement.orelse, Confidence.CERTAIN)]
    value = _value(module, owner, statement.test)
    if value is None:
        sure = Confidence.INFERRED if _asks_only_mode(statement.test) else Confidence.POSSIBLE
        return [(statement.body, sure), (statement.orelse, sure)]
    return [(statement.body if value else statement.orelse, Confidence.CERTAIN)]


def is_parse_time(test: ast.expr) -> bool:
    """Whether the parser evaluates a condition and skips the dead arm."""
    if isinstance(test, ast.BoolOp):
        return is_parse_time(test.values[0])  # read from the left, up to the first one it cannot evaluate
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


def decides(module: Module, owner: ast.ClassDef | None, test: ast.expr) -> bool:
    """Whether the parser evaluates a condition: ``not self.x`` of None is one it leaves open (measured)."""
    if not is_parse_time(test) or _stays_open(module, owner, test):
        return False
    inner, negated = test, False
    while isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
        inner, negated = inner.operand, True
    bare = isinstance(inner, ast.Attribute)
    return not (negated and bare and owner is not None and _constant(module, owner, inner) == (None,))


def _plain(test: ast.Compare) -> bool:
    """A comparison of a local name with a number or text may be evaluated; ``is None`` of a name is not."""
    return not isinstance(test.ops[0], ast.Is | ast.IsNot)


def _self_attribute(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def _stays_open(module: Module, owner: ast.ClassDef | None, test: ast.expr) -> bool:
    """Whether known operands do not decide ``and`` or ``or`` before one that the parser cannot evaluate."""
    if not isinstance(test, ast.BoolOp):
        return False
    for operand in test.values:
        if not is_parse_time(operand):
            return True
        if _value(module, owner, operand) is not isinstance(test.op, ast.And):
            return False
    return False


def _attribute_of(test: ast.expr) -> str | None:
    """The attribute of ``self`` a condition asks about."""
    while isinstance(test, ast.UnaryOp):
        test = test.operand
    return _self_attribute(test.left if isinstance(test, ast.Compare) else test)


def _value(module: Module, owner: ast.ClassDef | None, test: ast.expr) -> bool | None:
    """The value of a condition where the class sets the attribute once, to a constant."""
    if owner is None:
        return None
    if isinstance(test, ast.UnaryOp):
        inner = _value(module, owner, test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        for operand in test.values:
            value = _value(module, owner, operand) if is_parse_time(operand) else None
            if value is not isinstance(test.op, ast.And):
                return value
        return isinstance(test.op, ast.And)
    found = _constant(module, owner, test)
    if found is None:
        return None
    (constant,) = found
    if not isinstance(test, ast.Compare):
        return bool(constant)
    other = test.comparators[0]
    if not isinstance(other, ast.Constant):
        return None
    operation = type(test.ops[0])
    if operation in (ast.Eq, ast.Is):
        return bool(constant == other.value)
    if operation in (ast.NotEq, ast.IsNot):
        return bool(constant != other.value)
    return None


def _constant(module: Module, owner: ast.ClassDef, test: ast.expr) -> tuple[object] | None:
    """The constant an attribute holds when compiling starts; what compiled methods assign comes later."""
    values = [
        (value, context)
        for value, context in module.self_attributes(owner).get(_attribute_of(test) or "", [])
        if getattr(context.scope.node, "name", "") not in _COMPILED
    ]
    if len(values) != 1 or not isinstance(values[0][0], ast.Constant):
        return None
    return (values[0][0].value,) if module.ancestry(owner).complete else None


_COMPILED = ("construct", "forward")
