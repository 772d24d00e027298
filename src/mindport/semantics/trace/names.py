"""Attributes and names: what ``self`` holds, what a name of the project or of a framework is."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context
from mindport.semantics.trace.values import Event, Origin, Shadow, What, join, unknown
from mindport.semantics.values import (
    Candidate,
    ClassValue,
    Expression,
    FunctionValue,
    Instance,
    ModuleValue,
    Named,
    Partial,
    SelfValue,
)

if TYPE_CHECKING:
    from mindport.semantics.trace.frame import Frame

CERTAIN, INFERRED, POSSIBLE = Confidence.CERTAIN, Confidence.INFERRED, Confidence.POSSIBLE


class Names:
    """Looks up names, attributes of ``self`` and of other values."""

    module: Module
    sets: Mapping[str, frozenset[str]]
    active: list[ast.AST]

    def emit(self, event: Event) -> None:
        """See `Tracer`."""
        raise NotImplementedError

    def parsed(self, kind: str, module: Module, node: ast.AST, found: str) -> None:
        """See `Tracer`."""
        raise NotImplementedError

    def here(self, frame: Frame, sure: Confidence) -> Confidence:
        """See `Tracer`."""
        raise NotImplementedError

    def cut(self, kind: str, frame: Frame, node: ast.AST, shown: str, sure: Confidence) -> Event:
        """See `Builtins`."""
        raise NotImplementedError

    def event(self, kind: str, frame: Frame, node: ast.AST, found: str, sure: Confidence) -> None:
        """See `Tracer`."""
        raise NotImplementedError

    def value(self, frame: Frame, node: ast.expr, whole: bool = True) -> Shadow:
        """See `Expressions`."""
        raise NotImplementedError

    def text(self, frame: Frame, node: ast.AST) -> str:
        """See `Expressions`."""
        raise NotImplementedError

    def context(self, frame: Frame) -> Context:
        """See `Expressions`."""
        raise NotImplementedError

    def inline(
        self,
        frame: Frame,
        value: FunctionValue,
        arguments: Arguments,
        self_value: Shadow | None,
        call: ast.Call | None = None,
    ) -> Shadow:
        """See `Calls`."""
        raise NotImplementedError

    def of(self, name: str) -> frozenset[str]:
        """A named set of the catalogue."""
        return self.sets.get(name, frozenset())

    def member(self, frame: Frame, value: Shadow, node: ast.Attribute) -> Shadow:
        """See `Members`."""
        raise NotImplementedError

    # --- names -----------------------------------------------------------------------------------------

    def resolved(self, frame: Frame, node: ast.expr) -> Shadow:
        """A name or dotted name that is no local variable."""
        candidates = frame.module.resolve(node, self.context(frame))
        return self.candidates(candidates, Origin.GLOBAL)

    def candidates(self, candidates: tuple[Candidate, ...], origin: Origin) -> Shadow:
        """The join of what a name can be."""
        result: Shadow | None = None
        for candidate in candidates[:4]:
            value = self.shadow(candidate, origin)
            result = value if result is None else join(result, value)
        return result if result is not None else unknown()

    def shadow(self, candidate: Candidate, origin: Origin) -> Shadow:
        """A value of the name resolution as the graph compiler sees it."""
        value, sure = candidate.value, candidate.confidence
        if isinstance(value, Named):
            return Shadow(self._named(value.name), sure, ref=value, dtype=self._dtype(value.name))
        if isinstance(value, ClassValue):
            return Shadow(What.CLASS, sure, ref=value)
        if isinstance(value, FunctionValue):
            return Shadow(What.FUNCTION, sure, ref=value)
        if isinstance(value, ModuleValue):
            return Shadow(What.UNKNOWN, sure, ref=value)
        if isinstance(value, SelfValue):
            return self.self_value(value).but(sure=sure)
        if isinstance(value, Partial):
            return Shadow(What.PARTIAL, sure, ref=value, origin=origin)
        if isinstance(value, Instance):
            return self.instance(value, sure, origin)
        if isinstance(value, Expression):
            return self.expression(value, sure, origin)
        return unknown()

    def _named(self, name: str) -> What:
        if name in self.of("cell") or name in self.of("primitive") or name.rpartition(".")[2][:1].isupper():
            return What.CLASS
        if name in self.of("dtypes"):
            return What.STATIC
        return What.FUNCTION if name.startswith("builtins.") or "." in name else What.UNKNOWN

    def _dtype(self, name: str) -> str | None:
        return f"={name.rpartition('.')[2]}" if name in self.of("dtypes") else None

    def instance(self, value: Instance, sure: Confidence, origin: Origin) -> Shadow:
        """What a call outside the compiled code gave."""
        callee = value.callee
        if isinstance(callee, ClassValue):
            ancestry = callee.module.ancestry(callee.node)
            cell = ancestry.any_of(self.of("cell") | self.of("module"))
            if cell is not None:
                what = What.CELLS if ancestry.any_of(self.of("cell-list")) else What.CELL
                return Shadow(what, sure.weaker(cell), ref=callee, origin=origin)
            if any(name.rpartition(".")[2] in ("Enum", "IntEnum") for name in ancestry.names):
                return Shadow(What.STATIC, sure, dtype="enum")
            return Shadow(What.OBJECT, sure, ref=callee, origin=origin)
        if isinstance(callee, Named):
            if callee.name in self.of("named-tuple-makers"):
                return Shadow(What.CLASS, sure, ref=callee)
            what = self.made_by(callee.name)
            const = what is What.TENSOR
            element = None
            if what in (What.CELLS, What.SEQUENTIAL):
                element = self._cells(value, sure)
            return Shadow(what, sure, ref=callee, origin=origin, const=const, element=element)
        return unknown()

    def _cells(self, value: Instance, sure: Confidence) -> Shadow:
        call = value.call
        if call is not None and value.context is not None and call not in self.reading_now:
            self.reading_now.add(call)
            first = call.args[0] if call.args else None
            if isinstance(first, ast.ListComp | ast.GeneratorExp):
                first = first.elt
            elif isinstance(first, ast.List | ast.Tuple):
                first = first.elts[0] if first.elts else None
            if first is not None:
                found = self.candidates(value.module.resolve(first, value.context), Origin.SELF)
                if found.what in (What.CELL, What.CELLS, What.SEQUENTIAL):
                    self.reading_now.discard(call)
                    return found
            self.reading_now.discard(call)
        return Shadow(What.CELL, sure, origin=Origin.SELF)

    def made_by(self, name: str) -> What:
        """The kind of what calling an external name gives."""
        for what, key in _MADE:
            if name in self.of(key):
                return what
        if name in self.of("primitive"):
            return What.PRIMITIVE
        if name in self.of("cell") or name in self.of("module"):
            return What.CELL
        if name.startswith("numpy."):
            return What.ARRAY
        return What.UNKNOWN

    def expression(self, value: Expression, sure: Confidence, origin: Origin) -> Shadow:
        """A literal outside the compiled code: a module variable or an attribute set in ``__init__``."""
        node, module = value.node, value.module
        if node in self.reading_now:  # ``x = [x, ...]``
            return unknown()
        self.reading_now.add(node)
        try:
            return self._literal(node, module, value, sure, origin)
        finally:
            self.reading_now.discard(node)

    reading_now: set[ast.AST]

    def _literal(
        self, node: ast.AST, module: Module, value: Expression, sure: Confidence, origin: Origin
    ) -> Shadow:
        if isinstance(node, ast.Constant):
            if node.value is None:
                return Shadow(What.NONE, sure, origin=origin)
            what = What.TEXT if isinstance(node.value, str | bytes) else What.STATIC
            return Shadow(what, sure, origin=origin)
        if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
            parts = [node.elt] if isinstance(node, ast.ListComp) else node.elts
            what = What.TUPLE if isinstance(node, ast.Tuple) else What.LIST
            found = [self.candidates(module.resolve(part, value.context), origin) for part in parts[:8]]
            element: Shadow | None = None
            for item in found:
                element = item if element is None else join(element, item)
            return Shadow(what, sure, origin=origin, element=element, node=node)
        if isinstance(node, ast.Dict | ast.DictComp):
            return Shadow(What.DICT, sure, origin=origin, element=unknown(), node=node)
        if isinstance(node, ast.Lambda):
            return Shadow(What.LAMBDA, sure, origin=origin, node=node)
        if isinstance(node, ast.UnaryOp | ast.BinOp | ast.Compare | ast.JoinedStr):
            return Shadow(What.STATIC, sure, origin=origin)
        return unknown()

    # --- self ------------------------------------------------------------------------------------------

    def self_of(self, frame: Frame) -> Shadow:
        """The object the frame's method runs on."""
        if frame.self_ref is not None:
            return frame.self_ref
        if frame.owner is None:
            return unknown()
        return self.self_value(SelfValue(ClassValue(frame.module, frame.owner)))

    def self_value(self, value: SelfValue) -> Shadow:
        """``self`` of a class."""
        ancestry = value.owner.module.ancestry(value.owner.node)
        cell = ancestry.any_of(self.of("cell") | self.of("module"))
        what = What.CELL if cell is not None else What.OBJECT
        return Shadow(what, CERTAIN, ref=value, origin=Origin.SELF)

    def self_attribute(self, frame: Frame, node: ast.Attribute, whole: bool) -> Shadow:
        """``self.name`` inside a method."""
        owner = self.self_of(frame)
        written = frame.written(owner.ref, node.attr)
        if written is not None:
            return written
        if frame.owner is None or not isinstance(owner.ref, SelfValue | ClassValue):
            return self.member(frame, owner, node)
        return self.attribute_of(frame, owner, node)

    def attribute_of(self, frame: Frame, owner: Shadow, node: ast.Attribute) -> Shadow:
        """An attribute the project's classes set, or a property."""
        ref = owner.ref
        cls = ref.owner if isinstance(ref, SelfValue) else ref
        if not isinstance(cls, ClassValue):
            return unknown()
        key = (cls.node, node.attr)
        known = self.attributes.get(key)
        if known is None:
            known = self._attribute_value(cls, node.attr)
            self.attributes[key] = known
        self._stored(frame, node, known)
        if (
            known.what is What.FUNCTION
            and isinstance(known.ref, FunctionValue)
            and _is_property(known.ref.node)
        ):
            return self.inline(frame, known.ref, ((), {}), owner)
        return known

    attributes: dict[tuple[ast.ClassDef, str], Shadow]
    compiled: frozenset[ast.AST]

    def _compiled(self, context: Context) -> bool:
        return context.scope.node in self.compiled

    def _attribute_value(self, cls: ClassValue, name: str) -> Shadow:
        """What an attribute is before the compiled code runs: what it assigns itself does not count."""
        assigned = cls.module.self_attributes(cls.node).get(name)
        if assigned:
            outside = [(v, c) for v, c in assigned if not self._compiled(c)]
            if not outside:
                return Shadow(What.UNKNOWN, POSSIBLE, origin=Origin.SELF)
            values = [self.candidates(cls.module.resolve(v, c), Origin.SELF) for v, c in outside]
            parameter = next((v for v in values if v.what is What.PARAMETER), None)
            if parameter is not None:
                return parameter
            result = values[0]
            for value in values[1:]:
                result = join(result, value)
            return result
        found = cls.module.member(cls.node, name, False, 0)
        if not found:
            static = name in self.of("cell-static")
            what = What.STATIC if static else What.UNKNOWN
            return Shadow(what, CERTAIN if static else POSSIBLE, origin=Origin.SELF)
        return self.candidates(found, Origin.SELF)

    def _stored(self, frame: Frame, node: ast.Attribute, value: Shadow) -> None:
        """A plain list on ``self`` of layers that own parameters, or of lambdas."""
        if value.what is not What.LIST or value.element is None:
            return
        if value.element.what is What.LAMBDA:
            self.event("lambda-list", frame, node, self.text(frame, node), value.sure)
        elif value.element.what is What.CELL and self._several(value) and self._owns(value.element):
            self.event("cells-in-list", frame, node, self.text(frame, node), value.sure)

    def _several(self, value: Shadow) -> bool:
        return not isinstance(value.node, ast.List) or len(value.node.elts) > 1

    def _owns(self, value: Shadow, depth: int = 2) -> bool:
        """Whether a layer owns parameters."""
        ref = value.ref
        if isinstance(ref, Named):
            return ref.name in self.of("cells-with-parameters")
        if isinstance(ref, ClassValue) and depth:
            for name in ref.module.self_attributes(ref.node):
                inner = self._attribute_value(ref, name)
                if inner.what is What.PARAMETER or (inner.what is What.CELL and self._owns(inner, depth - 1)):
                    return True
        return False

    def missing(self, owner: ClassValue, name: str) -> bool:
        """Whether a class surely has no such attribute."""
        ancestry = owner.module.ancestry(owner.node)
        return ancestry.complete and not owner.module.member(owner.node, name, False, 0)


Arguments = tuple[tuple[Shadow, ...], Mapping[str, Shadow]]
_MADE = (
    (What.PARAMETER, "parameter-class"),
    (What.TENSOR, "tensor-class"),
    (What.CELLS, "cell-list"),
    (What.CELLS, "module-list"),
    (What.SEQUENTIAL, "sequential"),
)


def _is_property(node: ast.AST) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in getattr(node, "decorator_list", ()))
