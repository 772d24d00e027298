"""Which bindings of a name can reach a place, and where places stand: classes, methods, guards."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mindport.semantics.scopes import Arm, Binding, Branch, Context, Scope, ScopeKind


def flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a class body, those under a plain ``if`` or ``try`` included."""
    for item in body:
        yield item
        if isinstance(item, ast.If | ast.Try):
            yield from flat(item.body)
            yield from flat(item.orelse)


def is_guarded(branch: Branch) -> bool:
    """Whether a place runs only where some framework was found to be there."""
    return any(arm.guard for arm in branch)


def method_owner(scope: Scope) -> ast.ClassDef | None:
    """The class a function scope is a method of (a static method has none)."""
    if scope.kind is not ScopeKind.FUNCTION or isinstance(scope.node, ast.Lambda):
        return None
    if is_decorated(scope.node, "staticmethod"):
        return None
    return class_of(scope.parent)


def is_decorated(node: ast.AST, name: str) -> bool:
    """Whether a function or class has a decorator written as a plain name (``@staticmethod``)."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return any(isinstance(d, ast.Name) and d.id == name for d in decorators)


def class_of(scope: Scope | None) -> ast.ClassDef | None:
    """The class whose body a scope is."""
    if scope is not None and isinstance(scope.node, ast.ClassDef):
        return scope.node
    return None


def first_parameter(node: ast.AST) -> str | None:
    """The name of a function's first positional parameter."""
    args = getattr(node, "args", None)
    if not isinstance(args, ast.arguments):
        return None
    positional = [*args.posonlyargs, *args.args]
    return positional[0].arg if positional else None


def reaching(bindings: list[Binding], context: Context | None, position: tuple[int, int]) -> list[Binding]:
    """The bindings of one name that can reach a use.

    In the same scope (``context`` given) the last binding that surely ran before the use hides earlier ones;
    seen from a nested scope all bindings have run.
    """
    if len(bindings) <= 1:
        return bindings
    branch = context.branch if context is not None else ()
    usable = bindings
    if context is not None:
        before = [b for b in bindings if (b.line, b.column) <= position]
        usable = before or bindings
        usable = [b for b in usable if not _exclusive(b.context.branch, branch)] or usable
    result: list[Binding] = []
    for binding in reversed(usable):
        result.append(binding)
        if _dominates(binding.context.branch, branch):
            break
    return list(reversed(result))


def _dominates(binding: tuple[Arm, ...], use: tuple[Arm, ...]) -> bool:
    return len(binding) <= len(use) and all(
        a.statement == b.statement and a.arm == b.arm for a, b in zip(binding, use, strict=False)
    )


def _exclusive(one: tuple[Arm, ...], other: tuple[Arm, ...]) -> bool:
    return any(
        a.exclusive and a.statement == b.statement and a.arm != b.arm
        for a, b in zip(one, other, strict=False)
    )
