"""The values of a compiled function as the graph compiler sees them, and what happens to them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from mindport.findings import Confidence
from mindport.frozen import frozen
from mindport.semantics.module import Module
from mindport.semantics.values import Value


class What(Enum):
    """The kinds of values the compiler treats differently."""

    TENSOR = "tensor"
    PARAMETER = "parameter"
    RUNTIME = "runtime"  # a number or text that depends on a Tensor's values
    STATIC = "static"  # a number, bool, shape, dtype: known when the graph is built
    TEXT = "text"
    NONE = "none"
    LIST = "list"
    TUPLE = "tuple"
    DICT = "dict"
    CELLS = "cells"  # a CellList
    SEQUENTIAL = "sequential"
    CELL = "cell"
    PRIMITIVE = "primitive"
    FUNCTION = "function"
    LAMBDA = "lambda"
    PARTIAL = "partial"
    CLASS = "class"
    OBJECT = "object"  # an instance of a plain class
    ARRAY = "array"
    UNKNOWN = "unknown"


class Origin(Enum):
    """Where a value lives."""

    LOCAL = "local"
    INPUT = "input"
    SELF = "self"
    GLOBAL = "global"


@frozen
class Event:
    """Something the graph compiler refuses or changes: its kind, where, and what to show."""

    kind: str
    module: Module
    node: ast.AST
    found: str
    sure: Confidence

    def named(self, kind: str) -> Event:
        """The same under another kind."""
        return Event(kind, self.module, self.node, self.found, self.sure)

    def hard(self) -> Event:
        """A soft cut that met a live Tensor."""
        kind = self.kind.replace(SOFT, "cut-", 1) if self.kind.startswith(SOFT) else self.kind
        return self.named(kind)


@dataclass(slots=True, eq=False)
class Shadow:
    """One value; two names with the same object are aliases.

    ``dtype``: a dtype's name, or the name of the input it follows. ``cuts``: places on its way where the
    interpreter took over, so that no gradient passes. ``stale``: a change to it that the compiler forgets.
    ``conflict``: how the branches it was joined from disagree. ``const``: a Tensor of
    constants; ``masked``: its size is known only at run time, as a mask picked it.
    """

    what: What
    sure: Confidence = Confidence.CERTAIN
    dtype: str | None = None
    items: tuple[Shadow, ...] | None = None
    element: Shadow | None = None
    ref: Value | None = None
    origin: Origin = Origin.LOCAL
    cuts: frozenset[Event] = frozenset()
    const: bool = False
    masked: bool = False
    base: Shadow | None = None
    stale: Event | None = None
    conflict: Event | None = None
    node: ast.AST | None = None
    attributes: dict[str, Shadow] = field(default_factory=dict)

    def but(self, **changes: object) -> Shadow:
        """A new object, changed."""
        values = {name: getattr(self, name) for name in self.__slots__}
        values["stale"] = values["conflict"] = None
        return Shadow(**{**values, **changes})

    def signature(self) -> tuple[object, ...]:
        """What tells two values apart for the compiler, containers by their size."""
        size = len(self.items) if self.items is not None else -1
        return (
            self.what,
            self.sure,
            self.dtype,
            size,
            self.ref,
            self.node,
            self.origin,
            self.cuts,
            self.const,
            self.stale,
            self.conflict,
        )

    @property
    def tensor(self) -> bool:
        """Whether it is a Tensor or Parameter."""
        return self.what is What.TENSOR or self.what is What.PARAMETER

    @property
    def exit_types(self) -> Event | None:
        """The conflict of a Tensor whose type depends on how a loop was left: what keeps its type has it, too."""
        return self.conflict if self.conflict is not None and self.conflict.kind == EXIT else None

    @property
    def dynamic(self) -> bool:
        """Whether only running tells it: a Tensor that is no constant, or a value taken from one."""
        return (self.tensor and not self.const) or self.what is What.RUNTIME

    def parts(self) -> tuple[Shadow, ...]:
        """The parts of a container, as far as known."""
        if self.items is not None:
            return self.items
        return (self.element,) if self.element is not None else ()

    def holds(self, *whats: What, depth: int = 3) -> bool:
        """Whether a container holds one of the kinds, at any level."""
        return depth > 0 and any(p.what in whats or p.holds(*whats, depth=depth - 1) for p in self.parts())

    def all_cuts(self, depth: int = 3) -> frozenset[Event]:
        """The cuts of a value and of its parts."""
        result = self.cuts
        if depth > 0 and self.what is not What.OBJECT:
            for part in self.parts():
                result |= part.all_cuts(depth - 1)
        return result


def unknown(sure: Confidence = Confidence.POSSIBLE) -> Shadow:
    """A value nothing is known about."""
    return Shadow(What.UNKNOWN, sure)


SOFT = "soft-"
"""Kinds of cuts that stop the gradient in PyNative as well: they count once a live Tensor meets them."""


def cuts_of(values: Iterable[Shadow]) -> frozenset[Event]:
    """The cuts of several values that an operator brings together."""
    result: frozenset[Event] = frozenset()
    live = False
    for value in values:
        if value.cuts or value.items or value.element:
            result |= value.all_cuts()
        live = live or (
            value.tensor and not value.const and not any(c.kind.startswith(SOFT) for c in value.cuts)
        )
    if live and any(c.kind.startswith(SOFT) for c in result):
        return frozenset(c.hard() for c in result)
    return result


LOOP, EXIT = "loop-types", "exit-types"
LATE = frozenset({LOOP, EXIT})
"""Conflicts that only returning shows: of a number a loop makes a Tensor, and of the ways out of a loop."""
SCALARS = frozenset({What.STATIC, What.RUNTIME})


def disagree(one: Shadow, other: Shadow) -> str | None:
    """How two values of a branch cannot be joined: ``types``, ``lengths``, ``none``; None when they can."""
    if one is other or What.UNKNOWN in (one.what, other.what):
        return None
    if one.tensor and other.tensor:
        return "types" if one.dtype and other.dtype and one.dtype != other.dtype else None
    if one.what is other.what:
        if one.what in (What.TUPLE, What.LIST):
            return _containers(one, other)
        return None
    if What.NONE in (one.what, other.what):
        return "none" if one.tensor or other.tensor else None
    if {one.what, other.what} <= SCALARS | {What.TEXT}:
        return None
    plain = {What.TENSOR, What.PARAMETER, What.STATIC, What.RUNTIME, What.TUPLE, What.LIST, What.DICT}
    if one.what in plain and other.what in plain:
        if {one.what, other.what} == {What.TUPLE, What.LIST}:
            return None
        return "types"
    return None


def _containers(one: Shadow, other: Shadow) -> str | None:
    if one.items is None or other.items is None:
        return None
    if len(one.items) != len(other.items):
        return "lengths"
    found = [disagree(a, b) for a, b in zip(one.items, other.items, strict=True)]
    return next((kind for kind in found if kind), None)


def join(one: Shadow, other: Shadow) -> Shadow:
    """A value that is one of two; kept as the same object when both are."""
    if one is other:
        return one
    sure = one.sure.weaker(other.sure)
    cuts = one.cuts | other.cuts
    if one.what is other.what or (one.tensor and other.tensor):
        items = one.items if other.items is not None and one.items is not None else None
        if items is not None and other.items is not None and len(items) != len(other.items):
            items = None
        dtype = one.dtype if one.dtype == other.dtype else None
        return one.but(
            sure=sure,
            cuts=cuts,
            items=items,
            element=one.element or other.element or (one.items or other.items or (None,))[0],
            dtype=dtype,
            const=one.const and other.const,
            ref=one.ref if one.ref == other.ref else None,
        )
    if {one.what, other.what} <= SCALARS | {What.TEXT}:
        return Shadow(What.RUNTIME if What.RUNTIME in (one.what, other.what) else one.what, sure, cuts=cuts)
    if one.what is What.NONE:
        return other.but(sure=sure.weaker(Confidence.INFERRED), cuts=cuts)
    if other.what is What.NONE:
        return one.but(sure=sure.weaker(Confidence.INFERRED), cuts=cuts)
    return Shadow(What.UNKNOWN, Confidence.POSSIBLE, cuts=cuts)
