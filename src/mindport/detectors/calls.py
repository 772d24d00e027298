"""Reading the arguments of a call by parameter name, whatever way they were passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from mindport.findings import Confidence
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context
from mindport.semantics.values import Candidate, ClassValue, Expression, Instance, Named, SelfValue


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument's expression, or None when it is not passed. ``unknown``: it may hide in ``*`` or ``**``."""

    node: ast.expr | None
    unknown: bool = False


def argument(
    module: Module, call: ast.Call, context: Context, name: str, position: int | None, skip: int = 0
) -> Argument:
    """The argument for a parameter; ``position`` is 0-based, ``skip`` leading arguments do not count."""
    unknown = False
    for keyword in call.keywords:
        if keyword.arg == name:
            return Argument(keyword.value)
        if keyword.arg is None:
            found = _spread(module, keyword.value, context, name)
            if found is not None:
                return Argument(found)
            unknown = True
    if position is not None:
        for index, value in enumerate(call.args[skip:]):
            if isinstance(value, ast.Starred):
                return Argument(None, True)
            if index == position:
                return Argument(value)
    return Argument(None, unknown)


def _spread(module: Module, node: ast.expr, context: Context, name: str) -> ast.expr | None:
    for candidate in module.resolve(node, context):
        value = candidate.value
        if isinstance(value, Expression) and isinstance(value.node, ast.Dict):
            for key, item in zip(value.node.keys, value.node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return item
        if isinstance(value, Instance) and value.callee == Named("builtins.dict") and value.call:
            for keyword in value.call.keywords:
                if keyword.arg == name:
                    return keyword.value
    return None


@dataclass(frozen=True, slots=True)
class Target:
    """What a call really calls: an external name, how sure, and how many leading arguments are not its own."""

    name: str
    candidate: Candidate
    skip: int = 0


def targets(module: Module, call: ast.Call, context: Context, names: frozenset[str]) -> Iterator[Target]:
    """Which of ``names`` a call reaches: directly, by ``partial``, by a thin subclass or ``super().__init__``."""
    for candidate in module.resolve(call.func, context):
        value = candidate.value
        if isinstance(value, Named):
            if value.name in names:
                yield Target(value.name, candidate)
            elif value.name == "functools.partial" and call.args:
                for inner in module.resolve(call.args[0], context):
                    if isinstance(inner.value, Named) and inner.value.name in names:
                        yield Target(inner.value.name, inner, 1)
        elif isinstance(value, ClassValue):
            if "__init__" not in value.module.methods(value.node):
                yield from _inherited(value, candidate, names)
    if isinstance(call.func, ast.Attribute) and call.func.attr == "__init__":
        for candidate in module.resolve(call.func.value, context):
            if isinstance(candidate.value, SelfValue) and candidate.value.parent:
                yield from _inherited(candidate.value.owner, candidate, names)


def _inherited(owner: ClassValue, candidate: Candidate, names: frozenset[str]) -> Iterator[Target]:
    for base in owner.module.bases(owner.node):
        if isinstance(base.value, Named) and base.value.name in names:
            sure = candidate.confidence.weaker(base.confidence).weaker(Confidence.INFERRED)
            yield Target(base.value.name, Candidate(base.value, sure, candidate.guarded))
