"""Calls in a compiled function: built-ins, methods, layers, framework functions, and the project's own functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.module import Module
from mindport.semantics.nodes import walk
from mindport.semantics.reaching import is_decorated
from mindport.semantics.scopes import Context, FunctionNode, Scope
from mindport.semantics.trace.builtin import Builtins
from mindport.semantics.trace.names import Arguments
from mindport.semantics.trace.values import Event, Origin, Shadow, What, cuts_of, unknown
from mindport.semantics.trace.wrappers import may_pass_through
from mindport.semantics.values import ClassValue, FunctionValue, Named, SelfValue

if TYPE_CHECKING:
    from mindport.semantics.trace.frame import Frame

CERTAIN, INFERRED, POSSIBLE = Confidence.CERTAIN, Confidence.INFERRED, Confidence.POSSIBLE
MAX_DEPTH = 5


class Calls(Builtins):
    """What calls give and change."""

    def body(self, frame: Frame, statements: list[ast.stmt]) -> Shadow:
        """See `Tracer`."""
        raise NotImplementedError

    def arguments(self, frame: Frame, node: ast.Call) -> Arguments:
        """The values of the arguments; those of ``*args`` as one."""
        positional = tuple(self.value(frame, a.value if isinstance(a, ast.Starred) else a) for a in node.args)
        return positional, {k.arg or "**": self.value(frame, k.value) for k in node.keywords}

    def call(self, frame: Frame, node: ast.Call) -> Shadow:
        """What a call gives."""
        func = node.func
        if isinstance(func, ast.Attribute):
            owner = self._receiver(frame, func)
            if owner is not None:
                found = self.method(frame, node, func, owner)
                if found is not None:
                    return found
        callee = self.value(frame, func, False)
        arguments = self.arguments(frame, node)
        return self.apply(frame, node, callee, arguments)

    def _receiver(self, frame: Frame, func: ast.Attribute) -> Shadow | None:
        """The object a method is called on; None for names of modules."""
        value = self.value(frame, func.value, False)
        if value.what in (What.UNKNOWN, What.CLASS, What.FUNCTION) and value.ref is not None:
            if value.what is What.CLASS and isinstance(value.ref, ClassValue):
                self._classmethod(frame, func, value.ref, value.sure)
            return None
        return value

    def _function_class(self, frame: Frame, node: ast.Call, func: ast.Attribute) -> None:
        """``F.apply(x)`` of a class with its own backward."""
        owner = self.facts.get(func.value)
        if owner is not None and owner.what is What.CLASS and isinstance(owner.ref, ClassValue):
            if owner.ref.module.ancestry(owner.ref.node).any_of(self.of("autograd-function")) is not None:
                self.event("refused-call", frame, node, self.text(frame, func), owner.sure)

    def _classmethod(self, frame: Frame, func: ast.Attribute, cls: ClassValue, sure: Confidence) -> None:
        for candidate in cls.module.member(cls.node, func.attr, False, 0):
            value = candidate.value
            if isinstance(value, FunctionValue) and is_decorated(value.node, "classmethod"):
                self.event("class-method", frame, func, self.text(frame, func), sure)

    def method(self, frame: Frame, node: ast.Call, func: ast.Attribute, owner: Shadow) -> Shadow | None:
        """A method call; None when it is an attribute that is called."""
        if owner.tensor:
            return self.tensor_method(frame, node, func, owner)
        if owner.what in (What.LIST, What.DICT, What.TUPLE, What.TEXT):
            return self.container_method(frame, node, func, owner)
        if owner.what in (What.CELL, What.OBJECT) and isinstance(owner.ref, ClassValue | SelfValue):
            cls = owner.ref.owner if isinstance(owner.ref, SelfValue) else owner.ref
            parent = isinstance(owner.ref, SelfValue) and owner.ref.parent
            for candidate in cls.module.member(cls.node, func.attr, parent, 0):
                value = candidate.value
                if isinstance(value, FunctionValue):
                    arguments = self.arguments(frame, node)
                    if is_decorated(value.node, "classmethod"):
                        self.event("class-method", frame, func, self.text(frame, func), owner.sure)
                        return unknown()
                    me = None if is_decorated(value.node, "staticmethod") else owner
                    result = self.inline(frame, value, arguments, me, node)
                    cuts = owner.cuts | (owner.element.cuts if owner.element is not None else frozenset())
                    return result if not cuts else result.but(cuts=result.cuts | cuts)
            return None
        if owner.what is What.ARRAY:
            values = self._flat(self.arguments(frame, node))
            what = What.RUNTIME if func.attr in self.of("array-to-scalar") else What.ARRAY
            return Shadow(what, owner.sure, cuts=cuts_of((owner, *values)))
        return None

    @staticmethod
    def _flat(arguments: Arguments) -> tuple[Shadow, ...]:
        return (*arguments[0], *arguments[1].values())

    def apply(self, frame: Frame, node: ast.Call, callee: Shadow, arguments: Arguments) -> Shadow:
        """The result of calling a value."""
        values = self._flat(arguments)
        if callee.what in (What.FUNCTION, What.LAMBDA) and callee.node is not None:
            if callee.stale is not None:
                self.emit(callee.stale)
            return self.local(frame, callee, arguments)
        ref = callee.ref
        if isinstance(ref, FunctionValue):
            if isinstance(ref.node, ast.AsyncFunctionDef):
                self.event("async-call", frame, node, self.text(frame, node.func), callee.sure)
            return self.inline(frame, ref, arguments, None, node)
        if isinstance(node.func, ast.Attribute) and ref is None:
            self._function_class(frame, node, node.func)
        if callee.what is What.CLASS and isinstance(ref, ClassValue):
            return self.create(frame, node, ref, arguments, callee.sure)
        if callee.what is What.PARTIAL:
            cut = self.cut("cut-partial", frame, node, self.text(frame, node.func), callee.sure)
            cuts = cuts_of(values) | ({cut} if callee.origin is Origin.SELF else set())
            return Shadow(What.TENSOR if _any_tensor(values) else What.UNKNOWN, callee.sure, cuts=cuts)
        if callee.what in (What.CELL, What.CELLS, What.SEQUENTIAL) and isinstance(
            ref, ClassValue | SelfValue
        ):
            return self.layer(frame, callee, ref, arguments)
        if callee.what in (What.CELL, What.SEQUENTIAL, What.PRIMITIVE, What.CELLS):
            sure = callee.sure if any(v.tensor for v in values) else callee.sure.weaker(INFERRED)
            return Shadow(What.TENSOR, sure, cuts=cuts_of((*values, callee)))
        if isinstance(ref, Named):
            return self.external(frame, node, ref.name, callee, arguments)
        return Shadow(What.UNKNOWN, POSSIBLE, cuts=cuts_of(values))

    def local(self, frame: Frame, callee: Shadow, arguments: Arguments) -> Shadow:
        """A nested function or a lambda."""
        node = callee.node
        if (
            isinstance(node, ast.Lambda | ast.FunctionDef)
            and node not in self.active
            and len(self.active) < MAX_DEPTH
        ):
            inner = self.frame_of(frame.module, node, None)
            inner.outer = frame
            self.bind(inner, node.args, arguments)
            return self._run(inner, node)
        return unknown()

    def layer(
        self, frame: Frame, callee: Shadow, ref: ClassValue | SelfValue, arguments: Arguments
    ) -> Shadow:
        """A call of a Cell of the project: its ``construct`` (or ``forward``)."""
        cls = ref.owner if isinstance(ref, SelfValue) else ref
        values = self._flat(arguments)
        for name in ("construct", "forward"):
            for candidate in cls.module.member(cls.node, name, False, 0):
                if isinstance(candidate.value, FunctionValue):
                    return self.inline(frame, candidate.value, arguments, callee)
        return Shadow(What.TENSOR, callee.sure.weaker(INFERRED), cuts=cuts_of(values))

    def inline(
        self,
        frame: Frame,
        value: FunctionValue,
        arguments: Arguments,
        self_value: Shadow | None,
        call: ast.Call | None = None,
    ) -> Shadow:
        """Follow a function of the project with the values it is called with."""
        node = value.node
        if value.module is not self.module and not self.far:
            held = frozenset().union(*(v.all_cuts() for v in self._flat(arguments)))
            return Shadow(What.UNKNOWN, POSSIBLE, cuts=held)
        if (
            node in self.active
            or len(self.active) >= MAX_DEPTH
            or self.budget < 0
            or node in value.module.scopes.generators
        ):
            return Shadow(What.UNKNOWN, POSSIBLE, cuts=cuts_of(self._flat(arguments)))
        key = self._key(frame, value, arguments, self_value)
        if key is not None and key in self._results:
            return self._results[key].but()
        given = _changeable(self._flat(arguments))
        before = [(f, dict(f.env)) for f in frame.chain()] if given and key is not None else []
        passed = arguments
        owner = value.owner.node if value.owner else None
        inner = self.frame_of(value.module, node, owner)
        inner.caller = frame
        if inner.self_name is not None:
            if self_value is not None:
                inner.self_ref = self_value
            elif arguments[0]:
                inner.self_ref, arguments = arguments[0][0], (arguments[0][1:], arguments[1])
        self.decorated(value)
        self.bind(inner, node.args, arguments)
        if node.args.kwarg is not None and node.args.kwarg.arg in arguments[1]:
            self.event("keyword-name", frame, call or node, node.args.kwarg.arg, CERTAIN)
        result = self._run(inner, node)
        if key is not None and given:  # kept only when the call changed nothing and gives none of them back
            same = key == self._key(frame, value, passed, self_value) and all(
                f.env == env for f, env in before
            )
            key = key if same and not any(_has(result, v) for v in given) else None
        if key is not None:
            self._results[key] = result
        return result

    far: bool
    _results: dict[object, Shadow]

    def _key(
        self, frame: Frame, value: FunctionValue, arguments: Arguments, self_value: Shadow | None
    ) -> object | None:
        """What a call's result and events depend on; None when that is not known.

        Containers and objects count with all that is in them, and with which of them are the same.
        """
        positional, keywords = arguments
        values = self._flat(arguments)
        given = _changeable(values)
        inside = tuple(_contents(v) for v in given)
        if None in inside:
            return None
        same = tuple(given.index(v) for v in given)
        me = None
        if self_value is not None:
            if self_value.what is not What.CELL:
                return None
            me = self_value.ref
        here = self.here(frame, CERTAIN)
        shown = tuple(v.signature() for v in values)
        return value.node, me, len(positional), tuple(keywords), shown, inside, same, here

    def _run(self, inner: Frame, node: ast.AST) -> Shadow:
        self.active.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self.value(inner, node.body)
            return self.body(inner, node.body)  # type: ignore[attr-defined]
        finally:
            self.active.pop()

    def decorated(self, value: FunctionValue) -> None:
        """A decorator of the project that uses ``functools.wraps`` is dropped by the compiler."""
        for decorator in getattr(value.node, "decorator_list", ()):
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            scope = value.module.scopes.scope_of[value.node].parent or value.module.scopes.module
            for candidate in value.module.resolve(target, _context(scope)):
                found = candidate.value
                wrapper = self._wrapper(found) if isinstance(found, FunctionValue) else None
                if wrapper is not None:
                    shown = " ".join(value.module.source.segment(decorator).split())
                    sure = POSSIBLE if may_pass_through(*wrapper) else candidate.confidence
                    self.emit(Event("decorator-dropped", value.module, decorator, shown, sure))

    def _wrapper(self, value: FunctionValue) -> tuple[ast.FunctionDef, str] | None:
        """The function under ``functools.wraps`` in a decorator, and the name of what it wraps."""
        for node in walk(value.node):
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    scope = value.module.scopes.scope_of[node].parent or value.module.scopes.module
                    names = {
                        c.value.name
                        for c in value.module.resolve(target, _context(scope))
                        if isinstance(c.value, Named)
                    }
                    if names & self.of("wraps"):
                        arguments = decorator.args if isinstance(decorator, ast.Call) else []
                        first = arguments[0] if arguments else None
                        return node, first.id if isinstance(first, ast.Name) else ""
        return None

    def bind(self, frame: Frame, parameters: ast.arguments, arguments: Arguments) -> None:
        """Bind arguments to parameters; what is not passed is its default."""
        positional, keywords = arguments
        names = [a.arg for a in (*parameters.posonlyargs, *parameters.args) if a.arg != frame.self_name]
        for name, value in zip(names, positional, strict=False):
            frame.env[name] = value
        for name, value in keywords.items():
            if name != "**":
                frame.env[name] = value
        defaults = dict(zip(reversed(names), reversed(parameters.defaults), strict=False))
        kwonly = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        defaults |= {a.arg: d for a, d in kwonly if d is not None}
        spread = "**" in keywords or len(positional) > 0
        for name in (*names, *(a.arg for a in parameters.kwonlyargs)):
            if name not in frame.env:
                default = defaults.get(name)
                if default is None or "**" in keywords:
                    frame.env[name] = unknown()
                else:
                    found = self.value(frame, default)
                    if isinstance(default, ast.Set | ast.SetComp):
                        self.parsed("set-default", frame.module, default, self.text(frame, default))
                    mutable = found.what in (What.LIST, What.DICT)
                    frame.env[name] = found.but(origin=Origin.GLOBAL) if mutable else found
        if parameters.vararg:
            rest = positional[len(names) :]
            frame.env[parameters.vararg.arg] = Shadow(What.TUPLE, items=tuple(rest) if spread else None)
        if parameters.kwarg:
            frame.env[parameters.kwarg.arg] = Shadow(What.DICT, element=unknown(), dtype="kwargs")

    def create(
        self, frame: Frame, node: ast.Call, ref: ClassValue, arguments: Arguments, sure: Confidence
    ) -> Shadow:
        """An instance of a class of the project, made in compiled code."""
        values = self._flat(arguments)
        ancestry = ref.module.ancestry(ref.node)
        if ancestry.any_of(self.of("cell") | self.of("module")) is not None:
            return Shadow(What.CELL, sure, ref=ref)
        tensors = [v for v in values if (v.tensor and not v.const) or v.holds(What.TENSOR)]
        result = Shadow(What.OBJECT, sure, ref=ref, node=node)
        if tensors:
            held = sure.weaker(max((t.sure for t in tensors), key=lambda s: s.rank))
            shown = self.text(frame, node.func)
            if self._jit_class(ref):
                self.event("jit-class-tensor", frame, node, shown, held)
                return result
            kind = "cut-tuple" if ancestry.any_of(self.of("named-tuples")) else "cut-object"
            cut = self.cut(kind, frame, node, shown, held)
            made_of = frozenset({cut}) | cuts_of(values)
            result.element = Shadow(What.TENSOR, held, cuts=made_of)
            result.cuts = made_of if kind == "cut-tuple" else cuts_of(values)
        return result

    def _jit_class(self, ref: ClassValue) -> bool:
        return not self.of("jit-class").isdisjoint(ref.module.class_decorators(ref.node))

    def frame_of(self, module: Module, node: FunctionNode, owner: ast.ClassDef | None) -> Frame:
        """See `Tracer`."""
        raise NotImplementedError

    budget: int


def _context(scope: Scope) -> Context:
    return Context(scope, ())


def _any_tensor(values: tuple[Shadow, ...]) -> bool:
    return any(v.tensor for v in values)


_CHANGEABLE = frozenset({What.LIST, What.DICT, What.OBJECT})
_NESTED = 4
"""Values nested deeper than this are not compared."""


def _changeable(values: Iterable[Shadow]) -> list[Shadow]:
    return [v for v in values if v.what in _CHANGEABLE]


def _parts(value: Shadow) -> list[Shadow]:
    parts = [*(value.items or ()), *value.attributes.values()]
    return parts if value.element is None else [*parts, value.element]


def _contents(value: Shadow, depth: int = _NESTED) -> tuple[object, ...] | None:
    """What tells a value from others, with all that is in it; None when it is nested too deeply."""
    parts = _parts(value)
    if parts and depth == 0:
        return None
    inner = [_contents(part, depth - 1) for part in parts]
    return None if None in inner else (value.signature(), tuple(value.attributes), *inner)


def _has(value: Shadow, part: Shadow, depth: int = _NESTED) -> bool:
    """Whether a value is, or holds, this very object."""
    return value is part or (depth > 0 and any(_has(p, part, depth - 1) for p in _parts(value)))
