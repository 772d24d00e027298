"""Assignments in a compiled function, and what changes in place: the compiler gives a new value to one name only."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.nodes import walk
from mindport.semantics.trace.expressions import Expressions
from mindport.semantics.trace.literals import INTEGERS, integer
from mindport.semantics.trace.values import Event, Origin, Shadow, What, join

if TYPE_CHECKING:
    from mindport.semantics.trace.frame import Frame

INFERRED = Confidence.INFERRED


class Changes(Expressions):
    """Binds targets, and follows changes to containers and Tensors."""

    def assign(self, frame: Frame, target: ast.expr, value: Shadow) -> None:
        """Bind a target."""
        if isinstance(target, ast.Name):
            self._rebound(frame, target)
            frame.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(frame, target, value)
        elif isinstance(target, ast.Starred):
            self.assign(frame, target.value, Shadow(What.LIST, element=value))
        elif isinstance(target, ast.Attribute):
            self.set_attribute(frame, target, value)
        elif isinstance(target, ast.Subscript):
            self.set_item(frame, target, value)

    def _unpack(self, frame: Frame, target: ast.Tuple | ast.List, value: Shadow) -> None:
        fixed = value.items is not None and len(value.items) == len(target.elts)
        fixed = fixed and not any(isinstance(t, ast.Starred) for t in target.elts)
        for index, part in enumerate(target.elts):
            if fixed and value.items is not None:
                inner = value.items[index]
                inner = inner if not value.cuts else inner.but(cuts=inner.cuts | value.cuts)
            else:
                inner = self.element(frame, value)
            self.assign(frame, part, inner)

    def _rebound(self, frame: Frame, target: ast.Name) -> None:
        """Nested functions keep the value a name had when they were defined."""
        if target.id not in frame.env:
            return
        for name, value in frame.env.items():
            function = value.node
            if value.what not in (What.FUNCTION, What.LAMBDA) or function is None or value.stale is not None:
                continue
            if function.lineno < target.lineno and target.id in self.free_names(function):  # type: ignore[attr-defined]
                event = Event("early-binding", frame.module, target, target.id, self.here(frame, INFERRED))
                frame.env[name] = _marked(value, event)

    def set_item(self, frame: Frame, target: ast.Subscript, value: Shadow) -> None:
        """``container[index] = value``."""
        container = self.value(frame, target.value, False)
        index = self.value(frame, target.slice)
        if container.tensor and index.tensor and index.dtype == "bool" and value.masked:
            self.event("masked-assignment", frame, target, "", index.sure)
        if container.what is What.DICT and index.dynamic:
            self.event("dict-key", frame, target, "", index.sure)
        if container.tensor:
            self.changed(
                frame, target.value, container, container.but(cuts=container.cuts | value.cuts), target
            )
        elif container.what in (What.LIST, What.DICT):
            element = value if container.element is None and not container.items else container.element
            items = container.items
            position = integer(target.slice)
            if items is not None and position is not None and -len(items) <= position < len(items):
                items = tuple(value if i == position % len(items) else item for i, item in enumerate(items))
            elif items is not None:
                items = tuple(join(item, value) for item in items)
            cuts = container.cuts | value.all_cuts()
            new = container.but(element=element, items=items, cuts=cuts if items is None else container.cuts)
            self.changed(frame, target.value, container, new, target)

    def changed(self, frame: Frame, place: ast.expr, old: Shadow, new: Shadow, node: ast.AST) -> None:
        """A container changed in place: only the name it was reached by sees the change."""
        if old.what is What.PARAMETER:
            return
        sure = old.sure
        if old.origin is Origin.SELF or old.origin is Origin.GLOBAL:
            self.event("lost-change", frame, node, "", sure)
            return
        if isinstance(place, ast.Subscript):  # d["k"].append(..), y[0][1] = v reach through
            return
        if old.origin is Origin.INPUT and old.what is not What.UNKNOWN and frame.outer is None:
            if len(self.active) <= 1 and not self.returned(frame, place):
                self.event("input-change", frame, node, "", sure)
        if isinstance(place, ast.Name):
            new.origin = Origin.LOCAL
            new.base = None
            shown, held = self.text(frame, node), self.here(frame, sure.weaker(INFERRED))
            self.mark(frame, old, Event("lost-alias-change", frame.module, node, shown, held))
            frame.env[place.id] = new
        elif isinstance(place, ast.Attribute):
            owner = self.facts.get(place.value)
            if owner is not None and owner.what is What.OBJECT and owner.origin is Origin.SELF:
                self.event("lost-change", frame, node, "", sure)

    def mark(self, frame: Frame, old: Shadow, event: Event) -> None:
        """Other names of a value that changed in place keep, or get, what they should not."""
        current: Frame | None = frame
        while current is not None:
            for name, value in current.env.items():
                if value is old or (value is old.base and old.tensor):
                    current.env[name] = _marked(value, event)
            current = current.caller or current.outer

    def returned(self, frame: Frame, place: ast.expr) -> bool:
        """Whether the function returns the name that was changed, so that the caller gets the change."""
        return isinstance(place, ast.Name) and any(
            isinstance(node, ast.Return)
            and node.value is not None
            and any(isinstance(n, ast.Name) and n.id == place.id for n in walk(node.value))
            for node in walk(frame.function)
        )

    def augment(self, frame: Frame, node: ast.AugAssign) -> None:
        """``target += value``."""
        value = self.value(frame, node.value)
        target = node.target
        if isinstance(target, ast.Name):
            load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            old = self.value(frame, load)
            new = self.combine(node.op, old, value)
            if old.tensor:
                grows = old.dtype in INTEGERS and value.what is What.STATIC and value.dtype == "float"
                if grows or (old.origin is Origin.INPUT and old.dtype == "int" and value.dtype == "float"):
                    self.event("augmented-dtype", frame, node, self.text(frame, node), old.sure)
                self.mark(
                    frame,
                    old,
                    Event(
                        "augmented-alias",
                        frame.module,
                        node,
                        self.text(frame, node),
                        self.here(frame, old.sure),
                    ),
                )
            frame.env[target.id] = new
        elif isinstance(target, ast.Attribute):
            self.set_attribute(frame, target, value, augmented=True)
        elif isinstance(target, ast.Subscript):
            self.set_item(frame, target, value)

    def free_names(self, node: ast.AST) -> frozenset[str]:
        """Names a nested function reads that it does not bind."""
        known = self._free.get(node)
        if known is None:
            inner = {n for n in walk(node) if isinstance(n, ast.Name)}
            bound = {n.id for n in inner if isinstance(n.ctx, ast.Store)}
            arguments = getattr(node, "args", None)
            if isinstance(arguments, ast.arguments):
                bound |= {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}
            known = self._free[node] = frozenset({n.id for n in inner} - bound)
        return known


def _marked(value: Shadow, event: Event) -> Shadow:
    marked = value.but()
    marked.stale = event
    return marked
