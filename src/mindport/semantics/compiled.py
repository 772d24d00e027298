"""Which functions of a file GRAPH_MODE compiles, and why we think so."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from mindport.findings import Confidence
from mindport.semantics.live import Live, live_nodes
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context, NamedFunction, Scope, ScopeKind
from mindport.semantics.values import FunctionValue


class Origin(Enum):
    """Why a function is compiled."""

    CONSTRUCT = "construct"
    JIT = "jit"
    FORWARD = "forward"  # torch code: compiled after the port


@dataclass(frozen=True, slots=True)
class Compiled:
    """One compiled function: its root's name, and how sure it is that the compiler reaches it.

    ``late`` is that sureness for the steps after the parser (see `Live`); ``live`` holds the nodes of its body
    that are parsed, by type.
    """

    node: NamedFunction
    origin: Origin
    root: str
    confidence: Confidence
    owner: ast.ClassDef | None = None
    late: Confidence = Confidence.CERTAIN
    live: Mapping[type[ast.AST], list[Live]] = field(default_factory=dict, compare=False, repr=False)


def compiled_functions(
    module: Module,
    cells: frozenset[str],
    modules: frozenset[str],
    jit: frozenset[str],
    no_jit: frozenset[str],
) -> list[Compiled]:
    """The functions of a file that GRAPH_MODE compiles: roots, and what they call in the same file."""
    found: dict[NamedFunction, Compiled] = {}
    queue: list[Compiled] = []

    def add(item: Compiled) -> None:
        known = found.get(item.node)
        if known is not None:
            stronger = item.confidence.rank > known.confidence.rank
            if not stronger and item.late.rank <= known.late.rank:
                return
            late = max(item.late, known.late, key=lambda c: c.rank)
            item = replace(item if stronger else known, late=late)
        if _excluded(module, item.node, no_jit):
            return
        live = known.live if known is not None and known.owner is item.owner else _by_type(module, item)
        found[item.node] = replace(item, live=live)
        queue.append(found[item.node])

    for node, context in module.classes:
        ancestry = module.ancestry(node)
        for names, method, origin in (
            (cells, "construct", Origin.CONSTRUCT),
            (modules, "forward", Origin.FORWARD),
        ):
            confidence = ancestry.any_of(names)
            method_node = module.methods(node).get(method) if confidence else None
            if method_node is not None and confidence is not None and not module.guarded(context):
                add(Compiled(method_node, origin, f"{node.name}.{method}", confidence, node))
    for kind in (ast.FunctionDef, ast.AsyncFunctionDef):
        for function, context in module.scopes.nodes.get(kind, ()):
            assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            confidence = _decorated(module, function, context, jit)
            if confidence is not None:
                owner = context.scope.node if isinstance(context.scope.node, ast.ClassDef) else None
                add(Compiled(function, Origin.JIT, function.name, confidence, owner))
    for call, context in module.scopes.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        if call.args and any(_is(c.value, jit) for c in module.resolve(call.func, context)):
            for candidate in module.resolve(call.args[0], context):
                value = candidate.value
                if isinstance(value, FunctionValue) and value.module is module:
                    owner = value.owner.node if value.owner else None
                    add(Compiled(value.node, Origin.JIT, value.node.name, candidate.confidence, owner))
    calls = calls_by_function(module) if queue else {}
    while queue:
        item = queue.pop()
        reached = {live.node: live for live in item.live.get(ast.Call, ())}
        for call, context in calls.get(item.node, ()):
            if call not in reached:
                continue
            for candidate in module.resolve(call.func, context):
                value = candidate.value
                if isinstance(value, FunctionValue) and value.module is module:
                    owner = value.owner.node if value.owner else None
                    sure = item.confidence.weaker(candidate.confidence).weaker(reached[call].confidence)
                    late = item.late.weaker(candidate.confidence).weaker(reached[call].late)
                    add(Compiled(value.node, item.origin, item.root, sure, owner, late))
        for live in item.live.get(ast.Attribute, ()):
            getter = _property(module, item, live.node)
            if getter is not None:
                sure = item.confidence.weaker(live.confidence)
                add(Compiled(getter, item.origin, item.root, sure, item.owner, item.late.weaker(live.late)))
    return sorted(found.values(), key=lambda item: item.node.lineno)


def _property(module: Module, item: Compiled, node: ast.AST) -> NamedFunction | None:
    """The property of the class that ``self.name`` reads."""
    if item.owner is None or not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    method = module.methods(item.owner).get(node.attr) if node.value.id == "self" else None
    if method is None or not any(
        isinstance(d, ast.Name) and d.id == "property" for d in method.decorator_list
    ):
        return None
    return method


def _by_type(module: Module, item: Compiled) -> Mapping[type[ast.AST], list[Live]]:
    result: dict[type[ast.AST], list[Live]] = defaultdict(list)
    for live in live_nodes(module, item.node, item.owner):
        result[live.node.__class__].append(live)
    return result


def calls_by_function(module: Module) -> Mapping[ast.AST, list[tuple[ast.Call, Context]]]:
    """The calls in each function's own body; those in nested functions and lambdas count for the outer too."""
    result: dict[ast.AST, list[tuple[ast.Call, Context]]] = defaultdict(list)
    for call, context in module.scopes.nodes.get(ast.Call, ()):
        scope: Scope | None = context.scope
        while scope is not None:
            if scope.kind is ScopeKind.FUNCTION:
                result[scope.node].append((call, context))  # type: ignore[arg-type]
            scope = scope.parent
    return result


def _is(value: object, names: frozenset[str]) -> bool:
    return getattr(value, "name", None) in names


def _decorated(
    module: Module, function: ast.AST, context: Context, names: frozenset[str]
) -> Confidence | None:
    for decorator in function.decorator_list:  # type: ignore[attr-defined]
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        for candidate in module.resolve(target, context):
            if _is(candidate.value, names):
                return candidate.confidence
    return None


def _excluded(module: Module, function: NamedFunction, no_jit: frozenset[str]) -> bool:
    scope = module.scopes.scope_of[function].parent or module.scopes.module
    return _decorated(module, function, Context(scope, ()), no_jit) is not None
