"""Arguments that reach a torch layer through ``**kwargs`` of a class or function of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mindport.findings import Applicability
from mindport.fixes.rewrite import Refused
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context, NamedFunction, arguments_of
from mindport.semantics.values import ClassValue, FunctionValue, Named, Value

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner


def plan(planner: Planner) -> None:
    """Add the drafts for calls whose keywords are passed on."""
    for call, context in planner.calls():
        if call.func in planner.by_node or not any(keyword.arg for keyword in call.keywords):
            continue
        rules: dict[str, Any] | None = None
        for candidate in planner.view.module.resolve(call.func, context):
            if planner.places.is_none(candidate.value):
                continue
            found = _rules(planner, candidate.value)
            if found is None or (rules is not None and rules != found):
                rules = None
                break
            rules = found
        if not rules or not any(keyword.arg in rules for keyword in call.keywords):
            continue
        try:
            changes = planner.converter.keywords(call, rules)
        except Refused:
            continue
        span = planner.view.module.source.span(call.func)
        planner.add(planner.codes["arguments"], span, Applicability.UNSAFE, changes)


def _rules(planner: Planner, value: Value) -> dict[str, Any] | None:
    """The rules for keywords a function or constructor does not name and passes on."""
    if isinstance(value, ClassValue):
        module, function = value.module, value.module.methods(value.node).get("__init__")
    elif isinstance(value, FunctionValue):
        module, function = value.module, value.node
    else:
        return None
    if function is None or function.args.kwarg is None:
        return None
    own = {arg.arg for arg in arguments_of(function.args)}
    rules: dict[str, Any] = {}
    for table in _targets(planner, module, function):
        rules |= {name: rule for name, rule in table.items() if name not in own}
    return rules


def _targets(planner: Planner, module: Module, function: NamedFunction) -> Iterator[Mapping[str, Any]]:
    assert function.args.kwarg is not None
    name = function.args.kwarg.arg
    scope = module.scopes.scope_of.get(function)
    if scope is None:
        return
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not any(
            k.arg is None and isinstance(k.value, ast.Name) and k.value.id == name for k in node.keywords
        ):
            continue
        for candidate in module.resolve(node.func, Context(scope, ())):
            value = candidate.value
            row = planner.catalog.api(value.name) if isinstance(value, Named) else None
            target = planner.target(row) if row is not None else None
            if target is not None and not target.variants:
                yield target.arguments
