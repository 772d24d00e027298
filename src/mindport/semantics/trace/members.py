"""Attributes of values in compiled code: reading them, and setting them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.trace.names import Names
from mindport.semantics.trace.values import Origin, Shadow, What, unknown
from mindport.semantics.values import ClassValue, SelfValue

if TYPE_CHECKING:
    from mindport.semantics.trace.frame import Frame

INFERRED, POSSIBLE = Confidence.INFERRED, Confidence.POSSIBLE


class Members(Names):
    """Attributes of Tensors, objects, layers and operators."""

    def member(self, frame: Frame, value: Shadow, node: ast.Attribute) -> Shadow:
        """An attribute of a value."""
        name = node.attr
        if value.tensor:
            if value.what is What.PARAMETER and name in self.of("parameter-refused"):
                self.event("parameter-attribute", frame, node, "", value.sure)
            if name in self.of("tensor-static"):
                dtype = "dtype" if name == "dtype" else None
                return Shadow(What.STATIC, value.sure, dtype=dtype)
            if name in self.of("tensor-transposed"):
                return Shadow(What.TENSOR, value.sure, value.dtype, cuts=value.cuts, const=value.const)
            return Shadow(What.UNKNOWN, POSSIBLE, cuts=value.cuts)
        if value.what is What.PRIMITIVE and name not in self.of("primitive-methods"):
            self.event("primitive-attribute", frame, node, "", value.sure)
            return unknown()
        if value.what in (What.CLASS, What.FUNCTION, What.UNKNOWN) and value.ref is not None:
            return self.resolved(frame, node)
        if value.what in (What.OBJECT, What.CELL):
            written = frame.written(value.ref, name)
            if written is not None:
                return written
            if name in value.attributes:
                return value.attributes[name]
            found = self._object(frame, value, node)
            cuts = found.cuts | value.cuts
            return found.but(cuts=cuts) if cuts != found.cuts else found
        return Shadow(What.UNKNOWN, POSSIBLE, cuts=value.cuts)

    def _object(self, frame: Frame, value: Shadow, node: ast.Attribute) -> Shadow:
        ref = value.ref
        cls = ref.owner if isinstance(ref, SelfValue) else ref
        if value.what is What.OBJECT and value.element is not None:
            return value.element
        if not isinstance(cls, ClassValue):
            return unknown()
        if value.what is What.OBJECT and self.missing(cls, node.attr):
            if cls.module.member(cls.node, "__getattr__", False, 0):
                self.event("getattr-object", frame, node, self.text(frame, node), value.sure)
            return unknown()
        return self.attribute_of(frame, value, node)

    def set_attribute(
        self, frame: Frame, target: ast.Attribute, value: Shadow, augmented: bool = False
    ) -> None:
        """``self.name = value``, or an attribute of another object."""
        owner = self.value(frame, target.value, False)
        own = isinstance(target.value, ast.Name) and target.value.id == frame.self_name
        old = self._quiet(frame, owner, target)
        if old.what is What.PARAMETER or (owner.tensor):
            return
        if owner.what not in (What.CELL, What.OBJECT, What.CLASS):
            return
        sure = owner.sure
        if own and old.what is What.UNKNOWN:
            cls = owner.ref.owner if isinstance(owner.ref, SelfValue) else owner.ref
            if isinstance(cls, ClassValue):
                assigned = cls.module.self_attributes(cls.node).get(target.attr, ())
                elsewhere = [c for _, c in assigned if not self._compiled(c)]
                sure = sure.weaker(POSSIBLE if elsewhere or not self.missing_base(cls) else INFERRED)
        sure = sure.weaker(value.sure)
        if owner.what is What.CELL and not own:
            self.event("cell-attribute", frame, target, "", owner.sure)
            return
        if value.what in (What.CELL, What.CELLS, What.SEQUENTIAL) and owner.what is What.CELL:
            self.event("cell-stored", frame, target, "", sure)
            return
        held = value.tensor or value.holds(What.TENSOR)
        reads = augmented or any(
            isinstance(n, ast.Attribute) and n.attr == target.attr for n in self.reading(frame, target)
        )
        if held and not value.const and not reads and (owner.origin is Origin.SELF or own):
            self.event("attribute-tensor", frame, target, "", sure)
        kind = "attribute-tensor" if held and not value.const and not reads else "cut-attribute"
        cut = self.cut(kind, frame, target, "", sure)
        if owner.what is What.OBJECT and owner.origin is Origin.LOCAL and not own:
            owner.attributes[target.attr] = value
            return
        if owner.what in (What.CELL, What.CLASS) or owner.origin is not Origin.LOCAL:
            frame.write(owner.ref, target.attr, value.but(cuts=value.cuts | {cut}))
        elif own:
            frame.write(owner.ref, target.attr, value)

    def missing_base(self, cls: ClassValue) -> bool:
        """Whether all bases of a class are known, so that it has no attributes but its own."""
        return cls.module.ancestry(cls.node).complete

    def reading(self, frame: Frame, target: ast.Attribute) -> list[ast.AST]:
        """The nodes of the statement that assigns ``target``, the targets left out."""
        for statement in ast.walk(frame.function):
            if isinstance(statement, ast.Assign) and any(
                target is t or target in ast.walk(t) for t in statement.targets
            ):
                return list(ast.walk(statement.value))
        return []

    def _quiet(self, frame: Frame, owner: Shadow, target: ast.Attribute) -> Shadow:
        ref = owner.ref
        cls = ref.owner if isinstance(ref, SelfValue) else ref
        if isinstance(cls, ClassValue) and owner.what in (What.CELL, What.OBJECT):
            return self.attribute_of(frame, owner, target)
        return unknown()

    def names_tensor(self, frame: Frame, annotation: ast.expr) -> bool:
        """Whether an annotation allows a Tensor."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            return any(word in annotation.value for word in self.of("tensor-words"))
        if isinstance(annotation, ast.BinOp):
            return self.names_tensor(frame, annotation.left) or self.names_tensor(frame, annotation.right)
        if isinstance(annotation, ast.Subscript):
            base = _last(annotation.value)
            if base not in self.of("tensor-words"):
                return False
            inner = annotation.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return any(self.names_tensor(frame, part) for part in parts)
        return _last(annotation) in self.of("tensor-words")


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
