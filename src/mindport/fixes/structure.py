"""``forward`` becomes ``construct`` in every class that will be a Cell, and where it is called by name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Applicability
from mindport.fixes.draft import Change
from mindport.semantics.scopes import Context, NamedFunction
from mindport.semantics.values import ClassValue, Instance, Named, SelfValue

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner


def plan(planner: Planner) -> None:
    """Add the drafts for the methods that checks of the shape ``method-in-class`` know by another name."""
    for check in planner.catalog.checks:
        for detection in check.detections:
            if detection.shape == "method-in-class" and "counterpart" in detection.parameters:
                _rename(planner, check.code, detection.parameters)
    for base, table in planner.catalog.concepts.get("refresh", {}).items():
        _refresh(planner, base, table["text"], frozenset(table["after"]))


def _rename(planner: Planner, code: str, parameters: object) -> None:
    assert hasattr(parameters, "get")
    base = str(parameters.get("base", ""))
    old, new = str(parameters["method"]), str(parameters["counterpart"])  # type: ignore[index]
    names = planner.catalog.sets.get(base.removeprefix("@"), frozenset())
    module = planner.view.module
    for node, context in module.classes:
        methods = module.methods(node)
        function = methods.get(old)
        if function is None or new in methods or module.guarded(context):
            continue
        if module.ancestry(node).any_of(names) is None:
            continue
        span = module.source.name_span(function)
        start, end = planner.layout.range_of(span)
        if planner.layout.text[start:end] == old:
            planner.add(code, span, Applicability.UNSAFE, [Change(start, end, (new,))])
    for attribute, context in module.scopes.nodes.get(ast.Attribute, ()):
        assert isinstance(attribute, ast.Attribute)
        if attribute.attr == old and attribute not in planner.by_node:
            _called(planner, attribute, context, code, new, names)


def _called(
    planner: Planner, node: ast.Attribute, context: Context, code: str, new: str, names: frozenset[str]
) -> None:
    """``super().forward(x)`` keeps naming the method; another layer is called itself."""
    view = planner.view
    end = planner.layout.range(node)[1]
    start = end - len(node.attr)
    span = view.module.source.span(node)
    for candidate in view.module.resolve(node.value, context):
        value = candidate.value
        if isinstance(value, SelfValue) and value.owner.module.ancestry(value.owner.node).any_of(names):
            planner.add(code, span, Applicability.UNSAFE, [Change(start, end, (new,))])
            return
    ref = getattr(view.known(node.value).atom, "ref", None)
    parent = planner.parents.get(node)
    if isinstance(ref, ClassValue) and isinstance(parent, ast.Call) and parent.func is node:
        if ref.module.ancestry(ref.node).any_of(names):
            inner = planner.layout.range(node.value)[1]
            planner.add(code, span, Applicability.UNSAFE, [Change(inner, end, ())])


def _refresh(planner: Planner, base: str, refresh: str, adding: frozenset[str]) -> None:
    """Containers of Cells run a list made by their constructor: it has to be made again after later additions."""
    module = planner.view.module
    for node, _ in module.classes:
        bases = [candidate.value for candidate in module.bases(node)]
        function = module.methods(node).get("__init__")
        if function is None or "forward" in module.methods(node):
            continue
        if not any(isinstance(v, Named) and v.name == base for v in bases):
            continue
        if not function.args.args or not _adds(function, adding):
            continue
        last = function.body[-1]
        start = planner.layout.range(last)[0]
        line, column = planner.layout.place(start)
        indent = planner.layout.source.lines[line - 1][:column]
        end = planner.layout.range(last)[1]
        if indent.strip():
            continue
        text = f"{planner.layout.newline}{indent}{refresh.replace('{self}', function.args.args[0].arg)}"
        span = module.source.name_span(function)
        planner.add(planner.codes["behaviour"], span, Applicability.UNSAFE, [Change(end, end, (text,))])
    _added(planner, base, refresh, adding)


def _adds(function: NamedFunction, adding: frozenset[str]) -> bool:
    """Whether a constructor sets attributes of ``self`` or adds to it by name."""
    name = function.args.args[0].arg
    for node in ast.walk(function):
        made = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        target = node.targets[0] if made else None  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = node.func if node.func.attr in adding else None
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id == name
        ):
            return True
    return False


def _added(planner: Planner, base: str, refresh: str, adding: frozenset[str]) -> None:
    """``container.add_module(name, layer)`` as a statement: the list is made again after it."""
    for call, context in planner.calls():
        statement = planner.parents.get(call)
        func = call.func
        if not isinstance(statement, ast.Expr) or not isinstance(func, ast.Attribute):
            continue
        if func.attr not in adding:
            continue
        ref = getattr(planner.view.known(func.value).atom, "ref", None)
        values = [candidate.value for candidate in planner.view.module.resolve(func.value, context)]
        named = [v.callee for v in values if isinstance(v, Instance)]
        if not any(isinstance(v, Named) and v.name == base for v in (ref, *named)):
            continue
        start, end = planner.layout.range(statement)
        line, column = planner.layout.place(start)
        indent = planner.layout.source.lines[line - 1][:column]
        if indent.strip():
            continue
        receiver = planner.layout.text[slice(*planner.layout.range(func.value))]
        text = f"{planner.layout.newline}{indent}{refresh.replace('{self}', receiver)}"
        span = planner.view.module.source.span(call)
        planner.add(planner.codes["behaviour"], span, Applicability.UNSAFE, [Change(end, end, (text,))])
