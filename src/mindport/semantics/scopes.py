"""One iterative walk over a tree: scopes with their bindings, parents, and nodes by type."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from mindport.semantics.nodes import children as children_of
from mindport.source.text import Source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NamedFunction = ast.FunctionDef | ast.AsyncFunctionDef


class ScopeKind(Enum):
    """What opens a scope."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    COMPREHENSION = "comprehension"


class BindingKind(Enum):
    """How a name gets its value."""

    IMPORT = "import"
    ASSIGN = "assign"
    PARAMETER = "parameter"
    CLASS = "class"
    FUNCTION = "function"
    OTHER = "other"  # loop variables, with targets, unpacking, del, ...

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slow


@dataclass(slots=True)
class Arm:
    """One arm of a branching statement. ``guard``: it exists because a framework may be missing."""

    statement: int
    arm: int
    exclusive: bool
    test: ast.AST | None = None
    catches: bool = False
    _guard: bool | None = None

    @property
    def guard(self) -> bool:
        """Looked at on demand: few arms are ever asked."""
        if self._guard is None:
            self._guard = self.catches or (self.test is not None and is_guard(self.test))
        return self._guard


Branch = tuple[Arm, ...]


@dataclass(slots=True, eq=False)
class Context:
    """Where a node stands: its scope and the branch arms around it within that scope."""

    scope: Scope
    branch: Branch


@dataclass(slots=True)
class Binding:
    """One way a name of a scope gets a value. ``target`` is the dotted path of an import."""

    kind: BindingKind
    line: int
    column: int
    context: Context
    value: ast.AST | None = None
    target: str = ""
    level: int = 0


@dataclass(slots=True, eq=False)
class Scope:
    """A namespace of Python: a module, class body, function body or comprehension."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[Binding] = field(default_factory=list)
    outer_names: dict[str, bool] = field(default_factory=dict)  # global (True) and nonlocal (False) names

    def bind(self, name: str, binding: Binding) -> None:
        """Record a binding, in the module for a name declared ``global``."""
        scope = self
        if name in self.outer_names:
            scope = self.module() if self.outer_names[name] else (self.parent or self)
        scope.bindings.setdefault(name, []).append(binding)

    def module(self) -> Scope:
        """The module scope this scope lies in."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def enclosing_class(self) -> Scope | None:
        """The class scope a method's own scope (or a nested function's) lies in, if any."""
        scope: Scope | None = self
        while scope is not None and scope.kind is not ScopeKind.CLASS:
            scope = scope.parent
        return scope


_GUARD_WORDS = ("available", "has_", "have_", "version", "find_spec", "hasattr", "type_checking", "use_torch")
_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "AttributeError", "BaseException"}


class ScopeTree:
    """Scopes, parents and nodes by type of one file; built in one walk, without recursion."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: dict[type[ast.AST], list[tuple[ast.AST, Context]]] = defaultdict(list)
        self.scope_of: dict[ast.AST, Scope] = {}
        self.imported: set[str] = set()
        self.texts: list[ast.Constant] = []
        self._bound: set[str] | None = None
        self.module = Scope(ScopeKind.MODULE, source.tree, None)
        self.scope_of[source.tree] = self.module
        self._walk()
        found = (*self.nodes.get(ast.Yield, ()), *self.nodes.get(ast.YieldFrom, ()))
        self.generators = {context.scope.node for _, context in found}
        """The functions that yield."""

    def is_bound(self, name: str) -> bool:
        """Whether any scope of the file binds a name."""
        if self._bound is None:
            self._bound = {n for scope in self.scope_of.values() for n in scope.bindings}
        return name in self._bound

    # The stack holds (node, context) in reverse source order, so nodes come out in source order.
    def _walk(self) -> None:
        stack: list[tuple[ast.AST, Context]] = []
        parents = self.parents
        nodes = self.nodes
        special = self._special
        texts = self.texts
        root = Context(self.module, ())
        for statement in reversed(self.source.tree.body):
            parents[statement] = self.source.tree
            stack.append((statement, root))
        while stack:
            node, context = stack.pop()
            kind = node.__class__
            if kind is ast.Constant:
                if node.value.__class__ is str:  # type: ignore[attr-defined]
                    texts.append(node)  # type: ignore[arg-type]
                continue
            nodes[kind].append((node, context))
            if kind is ast.Name:
                continue
            if kind is ast.Attribute:
                value: ast.AST = node.value  # type: ignore[attr-defined]
                parents[value] = node
                stack.append((value, context))
                continue
            handler = special.get(kind)
            if handler is None:
                for child in reversed(children_of(node)):
                    parents[child] = node
                    stack.append((child, context))
                continue
            for item in reversed(handler(self, node, context)):
                parents[item[0]] = node
                stack.append(item)

    def _same(self, context: Context, *nodes: ast.AST | None) -> list[tuple[ast.AST, Context]]:
        return [(node, context) for node in nodes if node is not None]

    def _class(self, node: ast.ClassDef, context: Context) -> list[tuple[ast.AST, Context]]:
        _bind(context, node.name, BindingKind.CLASS, node, node)
        scope = Scope(ScopeKind.CLASS, node, context.scope)
        self.scope_of[node] = scope
        inner = Context(scope, ())
        outer: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
        return [*((n, context) for n in outer), *((n, inner) for n in node.body)]

    def _function(self, node: NamedFunction, context: Context) -> list[tuple[ast.AST, Context]]:
        _bind(context, node.name, BindingKind.FUNCTION, node, node)
        inner = self._function_scope(node, node.args, context)
        result = self._same(context, *node.decorator_list, *_defaults(node.args))
        result += self._same(context, *(a.annotation for a in arguments_of(node.args)), node.returns)
        return result + [(n, inner) for n in node.body]

    def _lambda(self, node: ast.Lambda, context: Context) -> list[tuple[ast.AST, Context]]:
        inner = self._function_scope(node, node.args, context)
        return [*self._same(context, *_defaults(node.args)), (node.body, inner)]

    def _function_scope(self, node: FunctionNode, args: ast.arguments, context: Context) -> Context:
        scope = Scope(ScopeKind.FUNCTION, node, context.scope)
        self.scope_of[node] = scope
        inner = Context(scope, ())
        defaults = parameter_defaults(args)
        for arg in arguments_of(args):
            binding = Binding(BindingKind.PARAMETER, arg.lineno, arg.col_offset, inner, defaults.get(arg.arg))
            scope.bind(arg.arg, binding)
        return inner

    def _comprehension(self, node: ast.AST, context: Context) -> list[tuple[ast.AST, Context]]:
        scope = Scope(ScopeKind.COMPREHENSION, node, context.scope)
        self.scope_of[node] = scope
        inner = Context(scope, ())
        result: list[tuple[ast.AST, Context]] = []
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        for index, generator in enumerate(generators):
            result.append((generator.iter, context if index == 0 else inner))
            _bind_targets(inner, generator.target, None)
            result.append((generator.target, inner))
            result += [(test, inner) for test in generator.ifs]
        if isinstance(node, ast.DictComp):
            result += [(node.key, inner), (node.value, inner)]
        else:
            result.append((node.elt, inner))  # type: ignore[attr-defined]
        return result

    def _assign(self, node: ast.Assign, context: Context) -> list[tuple[ast.AST, Context]]:
        for target in node.targets:
            _bind_targets(context, target, node.value)
        return self._same(context, node.value, *node.targets)

    def _annotated(self, node: ast.AnnAssign, context: Context) -> list[tuple[ast.AST, Context]]:
        if node.value is not None:
            _bind_targets(context, node.target, node.value)
        return self._same(context, node.annotation, node.value, node.target)

    def _augmented(self, node: ast.AugAssign, context: Context) -> list[tuple[ast.AST, Context]]:
        _bind_targets(context, node.target, None)
        return self._same(context, node.value, node.target)

    def _walrus(self, node: ast.NamedExpr, context: Context) -> list[tuple[ast.AST, Context]]:
        scope = context.scope
        while scope.kind is ScopeKind.COMPREHENSION and scope.parent is not None:
            scope = scope.parent
        _bind_targets(Context(scope, ()), node.target, node.value)
        return self._same(context, node.value, node.target)

    def _for(self, node: ast.For | ast.AsyncFor, context: Context) -> list[tuple[ast.AST, Context]]:
        _bind_targets(context, node.target, None)
        inner = _arm(context, node, 0)
        result = self._same(context, node.iter, node.target)
        return result + [(n, inner) for n in (*node.body, *node.orelse)]

    def _while(self, node: ast.While, context: Context) -> list[tuple[ast.AST, Context]]:
        inner = _arm(context, node, 0)
        return [(node.test, context), *((n, inner) for n in (*node.body, *node.orelse))]

    def _with(self, node: ast.With | ast.AsyncWith, context: Context) -> list[tuple[ast.AST, Context]]:
        result: list[tuple[ast.AST, Context]] = []
        for item in node.items:
            result.append((item.context_expr, context))
            if item.optional_vars is not None:
                _bind_targets(context, item.optional_vars, None)
                result.append((item.optional_vars, context))
        return result + [(n, context) for n in node.body]

    def _if(self, node: ast.If, context: Context) -> list[tuple[ast.AST, Context]]:
        body, orelse = _arm(context, node, 0, node.test), _arm(context, node, 1, node.test)
        result: list[tuple[ast.AST, Context]] = [(node.test, context), *((n, body) for n in node.body)]
        return result + [(n, orelse) for n in node.orelse]

    def _try(self, node: ast.Try, context: Context) -> list[tuple[ast.AST, Context]]:
        guard = any(_catches_import_error(handler) for handler in node.handlers)
        body = _arm(context, node, 0, None, guard)
        result: list[tuple[ast.AST, Context]] = [(n, body) for n in (*node.body, *node.orelse)]
        for index, handler in enumerate(node.handlers, 1):
            inner = _arm(context, node, index, None, guard)
            self.nodes[ast.ExceptHandler].append((handler, inner))
            self.parents[handler] = node
            result += self._same(context, handler.type)
            if handler.name:
                _bind(inner, handler.name, BindingKind.OTHER, handler, None)
            result += [(n, inner) for n in handler.body]
        return result + [(n, context) for n in node.finalbody]

    def _match(self, node: ast.Match, context: Context) -> list[tuple[ast.AST, Context]]:
        result: list[tuple[ast.AST, Context]] = [(node.subject, context)]
        for index, case in enumerate(node.cases):
            inner = _arm(context, node, index)
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    _bind(inner, name, BindingKind.OTHER, node, None)
            result += self._same(inner, case.guard, *case.body)
        return result

    def _import(self, node: ast.Import, context: Context) -> list[tuple[ast.AST, Context]]:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            target = alias.name if alias.asname else name
            binding = Binding(BindingKind.IMPORT, node.lineno, node.col_offset, context, node, target)
            context.scope.bind(name, binding)
            self.imported.add(name)
        return []

    def _import_from(self, node: ast.ImportFrom, context: Context) -> list[tuple[ast.AST, Context]]:
        for alias in node.names:
            path = f"{node.module}.{alias.name}" if node.module else alias.name
            if alias.name == "*":
                path = node.module or ""
            binding = Binding(
                BindingKind.IMPORT, node.lineno, node.col_offset, context, node, path, node.level
            )
            if alias.name == "*":
                context.scope.stars.append(binding)
            else:
                context.scope.bind(alias.asname or alias.name, binding)
                self.imported.add(alias.asname or alias.name)
        return []

    def _global(self, node: ast.Global | ast.Nonlocal, context: Context) -> list[tuple[ast.AST, Context]]:
        for name in node.names:
            context.scope.outer_names[name] = isinstance(node, ast.Global)
        return []

    def _delete(self, node: ast.Delete, context: Context) -> list[tuple[ast.AST, Context]]:
        for target in node.targets:
            if isinstance(target, ast.Name):
                _bind(context, target.id, BindingKind.OTHER, node, None)
        return self._same(context, *node.targets)

    _special: ClassVar[dict[type[ast.AST], Callable[..., list[tuple[ast.AST, Context]]]]] = {
        ast.ClassDef: _class,
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.Lambda: _lambda,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.DictComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.Assign: _assign,
        ast.AnnAssign: _annotated,
        ast.AugAssign: _augmented,
        ast.NamedExpr: _walrus,
        ast.For: _for,
        ast.AsyncFor: _for,
        ast.While: _while,
        ast.With: _with,
        ast.AsyncWith: _with,
        ast.If: _if,
        ast.Try: _try,
        ast.Match: _match,
        ast.Import: _import,
        ast.ImportFrom: _import_from,
        ast.Global: _global,
        ast.Nonlocal: _global,
        ast.Delete: _delete,
        **({ast.TryStar: _try} if hasattr(ast, "TryStar") else {}),
    }


def arguments_of(args: ast.arguments) -> Iterator[ast.arg]:
    """Every parameter of a signature, in order."""
    yield from args.posonlyargs
    yield from args.args
    if args.vararg:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg:
        yield args.kwarg


def parameter_defaults(args: ast.arguments) -> dict[str, ast.expr]:
    """Default values by parameter name."""
    positional = [*args.posonlyargs, *args.args]
    pairs = zip(reversed(positional), reversed(args.defaults), strict=False)
    result = {arg.arg: default for arg, default in pairs}
    for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        if value is not None:
            result[arg.arg] = value
    return result


def is_guard(test: ast.AST) -> bool:
    """Whether a condition asks if a framework, version or attribute is there."""
    for node in ast.walk(test):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name != "is_available" and any(word in name.lower() for word in _GUARD_WORDS):
            return True
    return False


def _defaults(args: ast.arguments) -> list[ast.expr]:
    return [*args.defaults, *(d for d in args.kw_defaults if d is not None)]


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {n.id if isinstance(n, ast.Name) else getattr(n, "attr", "") for n in ast.walk(handler.type)}
    return bool(names & _IMPORT_ERRORS)


def _arm(
    context: Context, node: ast.AST, arm: int, test: ast.AST | None = None, catches: bool = False
) -> Context:
    exclusive = not isinstance(node, ast.For | ast.AsyncFor | ast.While)
    return Context(context.scope, (*context.branch, Arm(id(node), arm, exclusive, test, catches)))


def _bind(context: Context, name: str, kind: BindingKind, node: ast.AST, value: ast.AST | None) -> None:
    line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    context.scope.bind(name, Binding(kind, line, column, context, value))


def _bind_targets(context: Context, target: ast.AST, value: ast.AST | None) -> None:
    if isinstance(target, ast.Name):
        kind = BindingKind.OTHER if value is None else BindingKind.ASSIGN
        _bind(context, target.id, kind, target, value)
    elif isinstance(target, ast.Tuple | ast.List):
        pairs: list[tuple[ast.expr, ast.AST | None]] = [(element, None) for element in target.elts]
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for element, part in pairs:
            _bind_targets(context, element, part)
    elif isinstance(target, ast.Starred):
        _bind_targets(context, target.value, None)
