"""Built-in functions, framework functions and the methods of Tensors and containers, in compiled code."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.trace.changes import Changes
from mindport.semantics.trace.names import Arguments
from mindport.semantics.trace.values import SOFT, Event, Origin, Shadow, What, cuts_of, join, unknown
from mindport.semantics.values import ClassValue, Named, SelfValue

if TYPE_CHECKING:
    from mindport.semantics.trace.frame import Frame

CERTAIN, INFERRED, POSSIBLE = Confidence.CERTAIN, Confidence.INFERRED, Confidence.POSSIBLE


class Builtins(Changes):
    """Calls of things that are not the project's."""

    def arguments(self, frame: Frame, node: ast.Call) -> Arguments:
        """See `Calls`."""
        raise NotImplementedError

    def apply(self, frame: Frame, node: ast.Call, callee: Shadow, arguments: Arguments) -> Shadow:
        """See `Calls`."""
        raise NotImplementedError

    # --- methods ---------------------------------------------------------------------------------------

    def tensor_method(self, frame: Frame, node: ast.Call, func: ast.Attribute, owner: Shadow) -> Shadow:
        """A method of a Tensor."""
        name = func.attr
        arguments = self.arguments(frame, node)
        values = (owner, *arguments[0], *arguments[1].values())
        cuts = cuts_of(values)
        if owner.what is What.PARAMETER and name in self.of("parameter-refused"):
            self.event("parameter-attribute", frame, node, "", owner.sure)
        if name in self.of("tensor-to-python"):
            cut = self.cut("soft-array", frame, node, "", owner.sure)
            return Shadow(What.ARRAY, owner.sure, cuts=cuts | {cut})
        if name in self.of("tensor-to-scalar"):
            return Shadow(What.STATIC if owner.const else What.RUNTIME, owner.sure, cuts=cuts)
        if name in self.of("tensor-static"):
            return Shadow(What.STATIC, owner.sure)
        if name in self.of("tensor-cast"):
            dtype = self._cast(name, arguments, owner)
            return Shadow(What.TENSOR, owner.sure, dtype, cuts=cuts, const=owner.const)
        first = arguments[0][0] if arguments[0] else None
        sizes = first is not None and (len(node.args) > 1 or not first.tensor)
        if name in self.of("expanding") and sizes:
            self.event("torch-expand", frame, node, "", owner.sure)
        elif (name in self.of("two-axes") and _two_axes(node, arguments)) or (
            name in self.of("with-indices")
            and len(node.args) == 1
            and first is not None
            and first.what is What.STATIC
        ):
            self.event("torch-overload", frame, node, "", owner.sure)
        const = owner.const and not any(v.dynamic for v in values[1:])
        dtype = None if name in self.of("other-dtype") else owner.dtype
        if name in self.of("index-methods"):
            dtype = "int64"
        elif name in self.of("bool-methods"):
            dtype = "bool"
        conflict = owner.exit_types if dtype == owner.dtype else None
        return Shadow(What.TENSOR, owner.sure, dtype, cuts=cuts, const=const, conflict=conflict)

    def _cast(self, name: str, arguments: Arguments, owner: Shadow) -> str | None:
        for value in (*arguments[0], *arguments[1].values()):
            if value.dtype is not None and value.dtype.startswith("="):
                return value.dtype[1:]
        named = dict(pair.split(":") for pair in self.of("cast-methods"))
        return named.get(name)

    def container_method(
        self, frame: Frame, node: ast.Call, func: ast.Attribute, owner: Shadow
    ) -> Shadow | None:
        """A method of a list, dict, tuple or text."""
        name = func.attr
        positional, keywords = self.arguments(frame, node)
        if owner.what is What.TEXT:
            return Shadow(What.TEXT, owner.sure, cuts=cuts_of((owner, *positional)))
        if owner.what is What.LIST and name in _LIST_CHANGES:
            return self._list_change(frame, node, func, owner, positional)
        if owner.what is What.DICT and name in ("pop", "popitem"):
            if owner.origin in (Origin.SELF, Origin.GLOBAL):
                self.event("lost-change", frame, node, "", owner.sure)
            elif len(positional) > 1:
                self.event("dict-pop-default", frame, node, "", owner.sure)
            else:
                self.event("dict-pop", frame, node, "", owner.sure)
            return unknown()
        if owner.what is What.DICT and name == "update":
            if keywords and "**" not in keywords:
                self.event("dict-update-keywords", frame, node, "", owner.sure)
            value = next(iter(positional), unknown())
            element = value.element if owner.element is None else owner.element
            self.changed(frame, func.value, owner, owner.but(element=element), node)
            return Shadow(What.NONE)
        if owner.what is What.DICT and name in ("setdefault", "copy"):
            cut = self.cut("cut-dict", frame, node, "", owner.sure)
            held = owner.element if owner.element is not None else unknown()
            if name == "setdefault":
                for value in positional[1:]:
                    held = join(held, value) if held.what is not What.UNKNOWN else value
                return held.but(cuts=held.cuts | {cut}) if held.tensor else held
            if not owner.holds(What.TENSOR):
                return owner.but(origin=Origin.LOCAL)
            return owner.but(
                cuts=owner.cuts | {cut}, element=held.but(cuts=held.cuts | {cut}), origin=Origin.LOCAL
            )
        if owner.what is What.DICT and name == "items":
            inner = Shadow(What.TUPLE, items=(Shadow(What.STATIC), owner.element or unknown()))
            return Shadow(What.TUPLE, owner.sure, element=inner)
        if owner.what is What.DICT and name in ("values", "get"):
            held = owner.element or unknown()
            for value in positional[1:]:
                held = join(held, value)
            return held if name == "get" else Shadow(What.TUPLE, owner.sure, element=held)
        if owner.what is What.DICT and name == "keys":
            return Shadow(What.TUPLE, owner.sure, element=Shadow(What.STATIC))
        if name in ("count", "index"):
            return Shadow(What.STATIC, owner.sure)
        if name == "copy":
            return owner.but(origin=Origin.LOCAL)
        return unknown()

    def _list_change(
        self, frame: Frame, node: ast.Call, func: ast.Attribute, owner: Shadow, positional: tuple[Shadow, ...]
    ) -> Shadow:
        name = func.attr
        if name in ("sort", "remove", "reverse", "clear"):
            if owner.origin in (Origin.LOCAL, Origin.INPUT) and name in ("sort", "remove"):
                self.event("list-change-ignored", frame, node, "", owner.sure)
            elif owner.origin in (Origin.SELF, Origin.GLOBAL):
                self.event("lost-change", frame, node, "", owner.sure)
            return Shadow(What.NONE)
        added = positional[-1] if positional else unknown()
        element = owner.element
        items: tuple[Shadow, ...] | None = None
        cuts = owner.cuts
        result = Shadow(What.NONE)
        tensors = owner.holds(What.TENSOR) or added.tensor or added.holds(What.TENSOR)
        if name == "append":
            items = (*owner.items, added) if owner.items is not None and len(owner.items) < 20 else None
            if items is None:
                element = added if element is None else join(element, added)
        else:
            if tensors:
                cuts = cuts | {self.cut("cut-list", frame, node, "", owner.sure)}
            part = self.element(frame, owner)
            element = part if owner.parts() else self.element(frame, added) if name == "extend" else added
            if name == "pop":
                result = part.but(cuts=part.cuts | cuts) if cuts else part
        new = owner.but(element=element, items=items, cuts=cuts, dtype="append")
        if name == "pop" and positional and not tensors:
            shown = self.text(frame, node)
            new.stale = Event("list-change-ignored", frame.module, node, shown, self.here(frame, owner.sure))
        self.changed(frame, func.value, owner, new, node)
        return result

    # --- functions -------------------------------------------------------------------------------------

    def external(
        self, frame: Frame, node: ast.Call, name: str, callee: Shadow, arguments: Arguments
    ) -> Shadow:
        """A call of a built-in, or of a library's or a framework's function or class."""
        values = (*arguments[0], *arguments[1].values())
        cuts = cuts_of(values)
        sure = callee.sure
        tensors = [v for v in values if v.dynamic or v.holds(What.TENSOR, What.PARAMETER, What.RUNTIME)]
        surest = max((t.sure for t in tensors), key=lambda s: s.rank, default=POSSIBLE).weaker(sure)
        root, _, last = name.rpartition(".")
        if name.startswith("builtins."):
            return self.builtin(frame, node, last, arguments)
        if name in self.of("tensor-class"):
            tensors = [t for t in tensors if self._used_as_tensor(frame, node, t)]
            if tensors or cuts:
                held = surest if tensors else sure
                cuts = cuts | {self.cut("soft-tensor", frame, node, "", held)}
            return Shadow(What.TENSOR, sure, self._dtype_argument(arguments), cuts=cuts, const=not tensors)
        if name in self.of("cell-list") or name in self.of("module-list"):
            self.event("cell-list-created", frame, node, "", sure)
            return Shadow(What.CELLS, sure)
        if name in self.of("named-tuple-makers") or name in self.of("object-makers"):
            result = Shadow(What.OBJECT, sure)
            if tensors:
                kind = "cut-tuple" if name in self.of("named-tuple-makers") else "cut-object"
                made_of = cuts | {self.cut(kind, frame, node, self.text(frame, node.func), surest)}
                result.element = Shadow(What.TENSOR, surest, cuts=made_of)
                result.cuts = made_of if kind == "cut-tuple" else cuts
            return result
        if name in self.of("refused-calls"):
            self.event("refused-call", frame, node, last, sure)
            return unknown()
        made = self.made_by(name)
        if made is not What.UNKNOWN and made is not What.ARRAY:
            return Shadow(made, sure, ref=Named(name))
        if self._matches(name, "interpreted"):
            cuts = cuts | {self.cut("soft-call", frame, node, "", sure)}
            return Shadow(What.RUNTIME, sure, cuts=cuts)
        if tensors and self._matches(name, "interpreted-with-tensors"):
            parts = [t for t in tensors if t.tensor or t.parts()]  # a number out of a Tensor has no gradient
            hard = bool(parts) and self._matches(name, "differentiable-python")
            cuts = cuts | {self.cut("cut-call" if hard else "soft-call", frame, node, "", surest)}
            made_now = (
                Shadow(What.TENSOR, surest, cuts=cuts) if parts else Shadow(What.RUNTIME, surest, cuts=cuts)
            )
            return (
                Shadow(What.LIST, surest, element=made_now, cuts=cuts)
                if self._matches(name, "iterators")
                else made_now
            )
        if name.startswith("numpy.") or name.startswith("math."):
            return Shadow(What.ARRAY if made is What.ARRAY else What.STATIC, sure, cuts=cuts)
        if self._matches(name, "framework-static"):
            return Shadow(What.STATIC, sure)
        if self._matches(name, "tensor-functions"):
            dtype = next((v.dtype for v in values if v.tensor), None)
            dtype = None if last in self.of("other-dtype") or last[:1].isupper() else dtype
            dtype = "bool" if last in self.of("bool-methods") else dtype
            dtype = self._dtype_argument(arguments) or dtype
            const = not tensors and last not in self.of("random-functions")
            return Shadow(What.TENSOR, sure.weaker(INFERRED), dtype, cuts=cuts, const=const)
        return Shadow(What.UNKNOWN, POSSIBLE, cuts=cuts)

    def _used_as_tensor(self, frame: Frame, node: ast.Call, value: Shadow) -> bool:
        """Whether an input that is made a Tensor is used as one elsewhere too."""
        inside_root = frame.outer is None and frame.caller is None
        if value.origin is not Origin.INPUT or value.dtype is None or not inside_root:
            return True
        inside = {id(n) for n in ast.walk(node)}
        names = (n for n in ast.walk(frame.function) if isinstance(n, ast.Name) and n.id == value.dtype)
        return any(id(n) not in inside for n in names)

    def cut(self, kind: str, frame: Frame, node: ast.AST, shown: str, sure: Confidence) -> Event:
        """A call that leaves the graph; what it means for the gradient shows later. ``shown``: see `Tracer.event`."""
        event = Event(kind, frame.module, node, shown or self.text(frame, node), self.here(frame, sure))
        if kind.startswith(SOFT):
            self.emit(event)
        return event

    def _dtype_argument(self, arguments: Arguments) -> str | None:
        for value in (*arguments[0], *arguments[1].values()):
            if value.dtype is not None and value.dtype.startswith("="):
                return value.dtype[1:]
        return None

    def _matches(self, name: str, key: str) -> bool:
        names = self.of(key)
        if name in names:
            return True
        parts = name.split(".")
        return any(".".join([*parts[:n], "*"]) in names for n in range(1, len(parts)))

    def builtin(self, frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Shadow:
        """A built-in function."""
        positional, keywords = arguments
        values = (*positional, *keywords.values())
        cuts = cuts_of(values)
        first = positional[0] if positional else None
        sure = min((v.sure for v in values), key=lambda s: s.rank, default=CERTAIN)
        dynamic = [v for v in values if v.dynamic]
        if name in ("int", "float", "bool", "round", "abs", "pow", "divmod"):
            if first is not None and first.tensor and name in ("abs", "round", "pow"):
                return Shadow(What.TENSOR, first.sure, first.dtype, cuts=cuts, const=first.const)
            return Shadow(What.RUNTIME if dynamic else What.STATIC, sure, cuts=cuts)
        if name == "range":
            tensor = next((v for v in positional if v.what is What.TENSOR and not v.const), None)
            if tensor is not None and tensor.origin is not Origin.INPUT:
                self.event("range-tensor", frame, node, "", tensor.sure)
            return Shadow(What.TUPLE, element=Shadow(What.RUNTIME if dynamic else What.STATIC, sure))
        if name in ("max", "min"):
            if len(positional) > 1 and dynamic and any(v.what is What.STATIC for v in positional):
                if any(v.tensor for v in positional):
                    cuts = cuts | {self.cut("cut-mix", frame, node, "", sure)}
            tensors = [v for v in positional if v.tensor or v.holds(What.TENSOR)]
            what = What.TENSOR if tensors else What.RUNTIME if dynamic else What.STATIC
            return Shadow(what, sure, cuts=cuts)
        if name == "sum" and first is not None:
            part = self.element(frame, first)
            return Shadow(part.what, part.sure, part.dtype, cuts=cuts, const=part.const)
        if name in ("list", "tuple") and first is not None:
            what = What.LIST if name == "list" else What.TUPLE
            part = self.element(frame, first)
            items = first.items if first.what in (What.LIST, What.TUPLE) else None
            return Shadow(what, first.sure, items=items, element=None if items else part, cuts=cuts)
        if name in ("list", "tuple"):
            return Shadow(What.LIST if name == "list" else What.TUPLE, items=())
        if name == "reversed" and first is not None:
            return Shadow(What.TUPLE, first.sure, element=self.element(frame, first), cuts=cuts)
        if name == "sorted" and first is not None:
            if first.holds(What.TENSOR):
                cuts = cuts | {self.cut("cut-call", frame, node, "", first.sure)}
            return Shadow(What.LIST, first.sure, element=self.element(frame, first), cuts=cuts)
        if name == "enumerate" and first is not None:
            pair = Shadow(What.TUPLE, items=(Shadow(What.STATIC), self.element(frame, first)))
            return Shadow(What.TUPLE, first.sure, element=pair)
        if name == "zip":
            pair = Shadow(What.TUPLE, items=tuple(self.element(frame, v) for v in positional))
            return Shadow(What.TUPLE, sure, element=pair)
        if name in ("map", "filter") and len(positional) > 1:
            if name == "filter" and positional[0].what is What.NONE:
                self.event("refused-call", frame, node, "filter(None, ...)", CERTAIN)
            parts = tuple(self.element(frame, v) for v in positional[1:])
            result = self.apply(frame, node, positional[0], (parts, {})) if name == "map" else parts[0]
            return Shadow(What.TUPLE, sure, element=result)
        if name == "dict":
            held = [v for v in keywords.values() if v.tensor]
            if held:
                cuts = cuts | {self.cut("cut-dict", frame, node, "", held[0].sure)}
                return Shadow(What.DICT, sure, element=held[0].but(cuts=held[0].cuts | cuts), cuts=cuts)
            return Shadow(What.DICT, element=first.element if first is not None else None)
        if name == "slice":
            if dynamic and any(v.tensor for v in dynamic):
                cuts = cuts | {self.cut("cut-call", frame, node, "", sure)}
            return Shadow(What.STATIC, sure, cuts=cuts)
        if name in ("iter", "next"):
            return unknown()
        if name == "getattr" and first is not None and len(node.args) > 1:
            attribute = node.args[1]
            if isinstance(attribute, ast.Constant) and isinstance(attribute.value, str):
                found = ast.copy_location(ast.Attribute(node.args[0], attribute.value, ast.Load()), node)
                if first.what in (What.CELL, What.OBJECT):
                    value = self.member(frame, first, found)
                    return value if value.what is not What.UNKNOWN else unknown()
            return unknown()
        if name in ("isinstance", "hasattr", "callable", "len", "issubclass", "hash", "id", "ord"):
            return Shadow(What.STATIC, sure, cuts=cuts)
        if name in ("any", "all"):
            inner = first is not None and first.holds(What.TENSOR, What.RUNTIME)
            return Shadow(What.RUNTIME if inner or dynamic else What.STATIC, sure)
        if name in ("str", "repr", "chr", "format"):
            return Shadow(What.TEXT, sure, cuts=cuts)
        if name == "super" and frame.owner is not None:
            return self.self_value(SelfValue(ClassValue(frame.module, frame.owner), parent=True))
        return unknown()


def _two_axes(node: ast.Call, arguments: Arguments) -> bool:
    """Two axes by position; ``transpose(1, 0)`` reads the same as an order of axes."""
    if node.keywords or len(node.args) != 2 or any(isinstance(a, ast.Starred) for a in node.args):
        return False
    swap = [a.value if isinstance(a, ast.Constant) else None for a in node.args] == [1, 0]
    return not swap and all(v.what is What.STATIC for v in arguments[0])


_LIST_CHANGES = ("append", "extend", "insert", "pop", "sort", "remove", "reverse", "clear")
