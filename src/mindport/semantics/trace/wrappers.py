"""What a decorator's wrapper does to the call it wraps."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def may_pass_through(wrapper: ast.FunctionDef, wrapped: str) -> bool:
    """Whether some way through a wrapper only calls ``wrapped`` with the wrapper's own arguments.

    Then dropping the wrapper changes nothing on that way. Statements that may not run (in ``if``, loops and handlers)
    are left out; a ``with``, a call for its effect or another argument always changes something.
    """
    own = wrapper.args
    order = [a.arg for a in (*own.posonlyargs, *own.args)]
    result: str | None = None
    for statement in _straight(wrapper.body):
        match statement:
            case ast.If() | ast.For() | ast.While() | ast.FunctionDef() | ast.Pass():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Return(value=ast.Name(id=name)):
                return name == result
            case ast.Return(value=ast.Call() as call):
                return _forwards(call, wrapped, order, own)
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=called)) as call
            ) if called == wrapped:
                if not _forwards(call, wrapped, order, own):
                    return False
                result = name
            case ast.Assign(targets=[ast.Name(id=name)]) if name != result and name not in order:
                continue
            case _:
                return False
    return False


def _straight(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in order, where nothing is raised."""
    for statement in body:
        if isinstance(statement, ast.Try):
            yield from _straight([*statement.body, *statement.orelse, *statement.finalbody])
        else:
            yield statement


def _forwards(call: ast.Call, wrapped: str, order: list[str], own: ast.arguments) -> bool:
    """Whether a call hands on exactly the wrapper's arguments."""
    if not isinstance(call.func, ast.Name) or call.func.id != wrapped:
        return False
    wanted = [*order, *((f"*{own.vararg.arg}",) if own.vararg else ())]
    wanted += [f"{a.arg}={a.arg}" for a in own.kwonlyargs]
    wanted += [f"**{own.kwarg.arg}"] if own.kwarg else []
    shown = [ast.unparse(a) for a in call.args]
    shown += [
        f"{k.arg}={ast.unparse(k.value)}" if k.arg else f"**{ast.unparse(k.value)}" for k in call.keywords
    ]
    return shown == wanted
