"""What an expression can be, as far as a file and its project tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.frozen import frozen

if TYPE_CHECKING:
    from mindport.semantics.module import Module
    from mindport.semantics.scopes import Context, NamedFunction


@frozen
class Named:
    """Something outside the project, by its canonical dotted name (``torch.nn.Conv2d``)."""

    name: str


@frozen
class ClassValue:
    """A class of the project."""

    module: Module
    node: ast.ClassDef


@frozen
class FunctionValue:
    """A function or method of the project; ``owner`` is the class a method was found on."""

    module: Module
    node: NamedFunction
    owner: ClassValue | None = None


@frozen
class ModuleValue:
    """A module of the project."""

    module: Module


@frozen
class Instance:
    """What calling ``callee`` gives (an instance of a class, or a function's result)."""

    callee: Value
    module: Module
    call: ast.Call | None
    context: Context | None


@frozen
class SelfValue:
    """``self`` (or ``cls``) inside a class of the project; ``parent``: seen through ``super()``."""

    owner: ClassValue
    parent: bool = False


@frozen
class Partial:
    """``functools.partial(callee, ...)``."""

    callee: Value
    module: Module
    call: ast.Call
    context: Context


@frozen
class Expression:
    """Any other expression, with where it stands, for constant evaluation."""

    module: Module
    node: ast.AST
    context: Context


Value = Named | ClassValue | FunctionValue | ModuleValue | Instance | SelfValue | Partial | Expression


@frozen
class Candidate:
    """One value an expression can have. ``guarded``: the name exists only where a framework is there."""

    value: Value
    confidence: Confidence = Confidence.CERTAIN
    guarded: bool = False

    def at(self, value: Value, confidence: Confidence | None = None) -> Candidate:
        """Another value reached through this one, at most as sure."""
        sure = self.confidence if confidence is None else self.confidence.weaker(confidence)
        return Candidate(value, sure, self.guarded)


@frozen
class Constant:
    """A Python constant an expression evaluates to, and how sure that is."""

    value: object
    confidence: Confidence
