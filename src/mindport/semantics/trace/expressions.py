"""What expressions of a compiled function are to the graph compiler."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.kinds import Known
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context
from mindport.semantics.trace.literals import (
    constant,
    fact,
    fixed,
    float_sum,
    integer,
    negative,
    number,
    promote,
    truth,
)
from mindport.semantics.trace.members import Members
from mindport.semantics.trace.values import LATE, SCALARS, Event, Origin, Shadow, What, cuts_of, join, unknown

if TYPE_CHECKING:
    from mindport.semantics.trace.frame import Frame

CERTAIN, INFERRED, POSSIBLE = Confidence.CERTAIN, Confidence.INFERRED, Confidence.POSSIBLE
_ASKED = frozenset({ast.Name, ast.Attribute, ast.Call, ast.Subscript})
_SINGLE = frozenset({What.STATIC, What.TEXT, What.RUNTIME})


class Expressions(Members):
    """Values of expressions, assignments and what they change."""

    facts: dict[ast.AST, Shadow]
    _free: dict[ast.AST, frozenset[str]]

    def merge(
        self,
        frame: Frame,
        node: ast.AST,
        one: dict[str, Shadow],
        other: dict[str, Shadow],
        test: Shadow | None,
    ) -> dict[str, Shadow]:
        """See `Tracer`."""
        raise NotImplementedError

    def assign(self, frame: Frame, target: ast.expr, value: Shadow) -> None:
        """See `Changes`."""
        raise NotImplementedError

    def call(self, frame: Frame, node: ast.Call) -> Shadow:
        """See `Calls`."""
        raise NotImplementedError

    def text(self, frame: Frame, node: ast.AST) -> str:
        """The source of a node, shortened."""
        shown = " ".join(frame.module.source.segment(node).split())
        return shown if len(shown) <= 60 else f"{shown[:57]}..."

    def context(self, frame: Frame) -> Context:
        """Where the frame's function stands."""
        known = self._contexts.get(frame.function)
        if known is None:  # one for each function: the name resolution remembers by it
            known = self._contexts[frame.function] = Context(frame.module.scopes.scope_of[frame.function], ())
        return known

    _contexts: dict[ast.AST, Context]

    def value(self, frame: Frame, node: ast.expr, whole: bool = True) -> Shadow:
        """What an expression is. ``whole``: it is used as it is, not only a part of it."""
        method = _DISPATCH.get(node.__class__)
        if method is None:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(frame, child)
            return unknown()
        result = method(self, frame, node, whole)
        result = self._seen_by_flow(frame, node, result)
        known = self.facts.get(node)
        self.facts[node] = result if known is None else fact(known, result)
        return result

    module: Module
    known: Callable[[ast.expr], Known]

    def _seen_by_flow(self, frame: Frame, node: ast.expr, result: Shadow) -> Shadow:
        """What the flow analysis adds: Tensors and numbers out of Tensors unknown here, and inputs that are no Tensors."""
        if frame.module is not self.module or result.conflict is not None or result.stale is not None:
            return result
        if result.what is What.UNKNOWN and result.ref is None and node.__class__ in _ASKED:
            known = self.known(node)
            if known.is_tensor and known.sure is not POSSIBLE:
                return Shadow(What.TENSOR, INFERRED, cuts=result.cuts)
            if known.sure is not POSSIBLE and any(atom.runtime for atom in known.atoms):
                return Shadow(What.RUNTIME, INFERRED, cuts=result.cuts)
        elif result.origin is Origin.INPUT and result.what is What.TENSOR and node.__class__ is ast.Name:
            known = self.known(node)
            if known.kind is not None and not known.is_tensor and known.sure is not POSSIBLE:
                return Shadow(What.UNKNOWN, POSSIBLE, origin=Origin.INPUT)
        return result

    def _name(self, frame: Frame, node: ast.Name, whole: bool) -> Shadow:
        current: Frame | None = frame
        while current is not None:
            found = current.env.get(node.id)
            if found is not None:
                return self._read(frame, node, found, whole)
            current = current.outer
        if node.id == frame.self_name:
            return self.self_of(frame)
        return self.resolved(frame, node)

    def _read(self, frame: Frame, node: ast.AST, found: Shadow, whole: bool) -> Shadow:
        """Reading a name: a forgotten change or a conflict of branches shows now."""
        if found.stale is not None:
            self.emit(found.stale)
        conflict = found.conflict
        if conflict is not None and conflict.kind not in LATE and (whole or conflict.kind != "join-lengths"):
            self.emit(conflict)
        return found

    def _constant(self, frame: Frame, node: ast.Constant, whole: bool) -> Shadow:
        return constant(node.value)

    def _attribute(self, frame: Frame, node: ast.Attribute, whole: bool) -> Shadow:
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == frame.self_name
            and node.value.id not in frame.env
        ):
            return self.self_attribute(frame, node, whole)
        value = self.value(frame, node.value, False)
        if value.what is What.CLASS:
            written = frame.written(value.ref, node.attr)
            if written is not None:
                return written
        if value.what is What.UNKNOWN and value.ref is not None:
            return self.resolved(frame, node)
        return self.member(frame, value, node)

    def _binary(self, frame: Frame, node: ast.BinOp, whole: bool) -> Shadow:
        left, right = self.value(frame, node.left), self.value(frame, node.right)
        if isinstance(node.op, ast.BitOr) and left.what is What.DICT and right.what is What.DICT:
            self.event("dict-union", frame, node, "|", left.sure.weaker(right.sure))
            return Shadow(What.DICT)
        if isinstance(node.op, ast.BitXor) and truth(node.left) and truth(node.right):
            self.event("bool-xor", frame, node, "^", CERTAIN)
        if isinstance(node.op, ast.Pow) and number(node.left, int) and negative(node.right):
            self.event("float-precision", frame, node, self.text(frame, node), CERTAIN)
        return self.combine(node.op, left, right)

    def combine(self, op: ast.operator, left: Shadow, right: Shadow) -> Shadow:
        """The result of an operator."""
        cuts = cuts_of((left, right))
        sure = left.sure.weaker(right.sure)
        if left.tensor or right.tensor:
            sure = left.sure if not right.tensor else right.sure if not left.tensor else sure
            dtype = promote(op, left, right)
            const = fixed(left) and fixed(right)
            masked = left.masked or right.masked
            conflict = None if left.tensor and right.tensor else left.exit_types or right.exit_types
            return Shadow(What.TENSOR, sure, dtype, cuts=cuts, const=const, masked=masked, conflict=conflict)
        if What.ARRAY in (left.what, right.what):
            return Shadow(What.ARRAY, sure, cuts=cuts)
        if isinstance(op, ast.Add) and left.what is right.what and left.what in (What.LIST, What.TUPLE):
            items = (
                (*left.items, *right.items) if left.items is not None and right.items is not None else None
            )
            element = left.element or right.element or (left.parts() or right.parts() or (None,))[0]
            return Shadow(left.what, sure, items=items, element=None if items else element, cuts=cuts)
        if isinstance(op, ast.Mult) and left.what in (What.LIST, What.TUPLE):
            return Shadow(left.what, sure, element=(left.parts() or (None,))[0], cuts=cuts)
        if What.TEXT in (left.what, right.what):
            return Shadow(What.TEXT, sure, cuts=cuts)
        if {left.what, right.what} <= SCALARS:
            what = What.RUNTIME if What.RUNTIME in (left.what, right.what) else What.STATIC
            return Shadow(what, sure, cuts=cuts)
        return Shadow(What.UNKNOWN, POSSIBLE, cuts=cuts)

    def _unary(self, frame: Frame, node: ast.UnaryOp, whole: bool) -> Shadow:
        value = self.value(frame, node.operand)
        if value.tensor:
            return Shadow(What.TENSOR, value.sure, value.dtype, cuts=value.cuts, const=value.const)
        if isinstance(node.op, ast.Not):
            return Shadow(What.RUNTIME if value.what is What.RUNTIME else What.STATIC, value.sure)
        return value.but() if value.what in _SINGLE else unknown()

    def _bool(self, frame: Frame, node: ast.BoolOp, whole: bool) -> Shadow:
        values = [self.value(frame, part) for part in node.values]
        dynamic = next((v for v in values if v.dynamic), None)
        result = values[0]
        for value in values[1:]:
            result = join(result, value)
        if dynamic is not None and not result.dynamic:
            return Shadow(What.RUNTIME, dynamic.sure, cuts=cuts_of(values))
        return result

    def _compare(self, frame: Frame, node: ast.Compare, whole: bool) -> Shadow:
        values = [self.value(frame, part) for part in (node.left, *node.comparators)]
        for op, left, right, part in zip(node.ops, values, values[1:], node.comparators, strict=False):
            self._compared(frame, node, op, left, right, part)
        if all(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
            dynamic = [v for v in values if v.dynamic]
            if dynamic and isinstance(node.ops[0], ast.In | ast.NotIn):
                return Shadow(What.RUNTIME, dynamic[0].sure)
            return Shadow(What.STATIC, min((v.sure for v in values), key=lambda s: s.rank))
        tensors = [v for v in values if v.tensor]
        if tensors:
            const = all(fixed(v) for v in values)
            return Shadow(What.TENSOR, tensors[0].sure, "bool", cuts=cuts_of(values), const=const)
        if any(v.what is What.RUNTIME for v in values):
            return Shadow(What.RUNTIME, values[0].sure.weaker(values[-1].sure))
        sure = values[0].sure.weaker(values[-1].sure)
        return Shadow(What.STATIC if What.UNKNOWN not in {v.what for v in values} else What.UNKNOWN, sure)

    def _compared(
        self, frame: Frame, node: ast.Compare, op: ast.cmpop, left: Shadow, right: Shadow, part: ast.expr
    ) -> None:
        sure = left.sure.weaker(right.sure)
        if isinstance(op, ast.In | ast.NotIn):
            plain = right.what in (What.LIST, What.TUPLE) and not right.holds(What.TENSOR, What.PARAMETER)
            filled = bool(right.parts())
            if (
                (
                    left.what is What.TENSOR
                    and not left.const
                    and ((plain and filled) or right.what is What.DICT)
                )
                or (
                    left.what is What.RUNTIME
                    and left.dtype == "choice"
                    and (plain or right.what is What.DICT)
                )
                or (left.what is What.RUNTIME and right.what is What.DICT)
            ):
                self.event("membership", frame, node, "", sure)
        elif isinstance(op, ast.Is | ast.IsNot):
            if left.tensor and right.tensor:
                self.event("identity", frame, node, "", sure)
            elif right.what in (What.CELL, What.CELLS, What.SEQUENTIAL) or (
                right.what is What.STATIC and right.dtype == "enum"
            ):
                self.event("identity-refused", frame, node, "", right.sure)
        elif isinstance(op, ast.Eq | ast.NotEq) and (float_sum(node.left) or float_sum(part)):
            self.event("float-precision", frame, node, "", CERTAIN)

    def _conditional(self, frame: Frame, node: ast.IfExp, whole: bool) -> Shadow:
        test = self.value(frame, node.test)
        left, right = self.value(frame, node.body), self.value(frame, node.orelse)
        merged = self.merge(frame, node, {"": left}, {"": right}, test if test.dynamic else None)[""]
        if merged.conflict is not None:
            self.emit(
                Event(merged.conflict.kind, frame.module, node, self.text(frame, node), merged.conflict.sure)
            )
            merged = merged.but()
        return merged

    def _list(self, frame: Frame, node: ast.List | ast.Tuple, whole: bool) -> Shadow:
        what = What.LIST if isinstance(node, ast.List) else What.TUPLE
        if any(isinstance(item, ast.Starred) for item in node.elts):
            parts = [self.value(frame, i.value if isinstance(i, ast.Starred) else i) for i in node.elts]
            return Shadow(what, element=parts[0] if parts else None, cuts=cuts_of(parts))
        return Shadow(what, items=tuple(self.value(frame, item) for item in node.elts), node=node)

    def _dict(self, frame: Frame, node: ast.Dict, whole: bool) -> Shadow:
        keys = [self.value(frame, key) if key is not None else None for key in node.keys]
        values = [self.value(frame, value) for value in node.values]
        for key in keys:
            if key is not None and key.dynamic:
                self.event("dict-key", frame, node, self.text(frame, node), key.sure)
        element = values[0] if values else None
        for value in values[1:]:
            element = join(element, value) if element is not None else value
        return Shadow(What.DICT, element=element, node=node)

    def _subscript(self, frame: Frame, node: ast.Subscript, whole: bool) -> Shadow:
        value = self.value(frame, node.value, False)
        index = self.value(frame, node.slice)
        if value.tensor:
            dtype = value.dtype
            base = value if not index.dynamic else None
            fixed = value.const and not index.dynamic
            mask = index.tensor and index.dtype == "bool"
            cuts = cuts_of((value, index))
            return Shadow(What.TENSOR, value.sure, dtype, cuts=cuts, base=base, const=fixed, masked=mask)
        return self.picked(frame, node, value, index)

    def picked(self, frame: Frame, node: ast.Subscript, value: Shadow, index: Shadow) -> Shadow:
        """An element of a container, by an index known when the graph is built or not."""
        sure = value.sure.weaker(index.sure)
        run = index.what is What.RUNTIME
        tensor = index.tensor and not index.const
        part = self.element(frame, value)
        if isinstance(node.slice, ast.Slice):
            return (
                value.but(items=None, element=part) if value.what in (What.LIST, What.TUPLE) else value.but()
            )
        constant_index = integer(node.slice)
        if value.items is not None and constant_index is not None:
            if -len(value.items) <= constant_index < len(value.items):
                found = value.items[constant_index]
                return found if not value.cuts else found.but(cuts=found.cuts | value.cuts)
        if value.what is What.CELLS and run:
            self.event("cell-index", frame, node, "", sure)
        elif value.what is What.SEQUENTIAL and run:
            self.event("sequential-index", frame, node, "", sure)
        elif value.what in (What.LIST, What.TUPLE) and run:
            if value.holds(What.CELL, What.FUNCTION, What.LAMBDA, What.CELLS):
                self.event("cell-index", frame, node, "", sure)
            elif value.what is What.LIST and value.holds(What.STATIC):
                self.event("number-index", frame, node, "", sure)
        elif value.what in (What.LIST, What.TUPLE) and tensor:
            if not value.holds(What.CELL, What.FUNCTION, What.LAMBDA, What.CELLS) and value.parts():
                cut = self.cut("cut-index", frame, node, "", sure)
                return part.but(cuts=part.cuts | {cut})
        elif value.what is What.DICT and (run or tensor):
            self.event("dict-key", frame, node, "", sure)
        elif value.what is What.DICT and value.origin is Origin.GLOBAL and index.dtype == "dtype":
            cut = self.cut("cut-global-dict", frame, node, "", sure)
            return Shadow(What.STATIC, sure, cuts=frozenset({cut}))
        cuts = part.cuts | value.cuts | index.cuts
        return part if cuts == part.cuts else part.but(cuts=cuts)

    def iterated(self, frame: Frame, value: Shadow) -> Shadow:
        """What a loop over a value gives: the keys of a dict."""
        return Shadow(What.STATIC, value.sure) if value.what is What.DICT else self.element(frame, value)

    def element(self, frame: Frame, value: Shadow) -> Shadow:
        """An element of a container, a row of a Tensor; of a dict a value."""
        if value.tensor:
            return Shadow(What.TENSOR, value.sure, value.dtype, cuts=value.cuts, const=value.const)
        if value.items:
            result = value.items[0]
            for item in value.items[1:]:
                result = join(result, item)
        elif value.element is not None:
            result = value.element
        elif value.what in (What.CELLS, What.SEQUENTIAL):
            result = Shadow(What.CELL, value.sure)
        elif value.what in (What.STATIC, What.RUNTIME):
            result = Shadow(value.what, value.sure)
        elif value.what is What.TEXT:
            result = Shadow(What.TEXT, value.sure)
        else:
            result = unknown()
        return result if not value.cuts <= result.cuts else result.but(cuts=result.cuts | value.cuts)

    def _slice(self, frame: Frame, node: ast.Slice, whole: bool) -> Shadow:
        parts = [self.value(frame, p) for p in (node.lower, node.upper, node.step) if p is not None]
        dynamic = next((p for p in parts if p.dynamic), None)
        return Shadow(What.RUNTIME if dynamic is not None else What.STATIC, cuts=cuts_of(parts))

    def _lambda(self, frame: Frame, node: ast.Lambda, whole: bool) -> Shadow:
        return Shadow(What.LAMBDA, node=node)

    def _text(self, frame: Frame, node: ast.JoinedStr, whole: bool) -> Shadow:
        cuts: frozenset[Event] = frozenset()
        run = False
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                value = self.value(frame, part.value)
                if value.dynamic:
                    run = True
                    cuts |= {self.cut("soft-text", frame, node, self.text(frame, node), value.sure)}
                if part.format_spec is not None:
                    self.parsed("format-spec", frame.module, node, self.text(frame, node))
        return Shadow(What.TEXT, cuts=cuts, dtype="choice" if run else None)

    def _comprehension(
        self, frame: Frame, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, whole: bool
    ) -> Shadow:
        saved = dict(frame.env)
        sure = CERTAIN
        targets: set[str] = set()
        for generator in node.generators:
            sequence = self.value(frame, generator.iter)
            sure = sure.weaker(sequence.sure)
            self.assign(frame, generator.target, self.iterated(frame, sequence))
            targets |= {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            for test in generator.ifs:
                value = self.value(frame, test)
                if value.dynamic:
                    self.event("tensor-filter", frame, node, self.text(frame, test), value.sure)
        if isinstance(node, ast.DictComp):
            self.value(frame, node.key)
            element = self.value(frame, node.value)
            what = What.DICT
        else:
            element = self.value(frame, node.elt)
            what = What.LIST
            lambdas = node.elt if isinstance(node.elt, ast.Lambda) else None
            if lambdas is not None:
                own = {a.arg for a in lambdas.args.args}
                free = {n.id for n in ast.walk(lambdas.body) if isinstance(n, ast.Name)} - own
                if free & targets:
                    self.event("early-binding", frame, node, ", ".join(sorted(free & targets)), CERTAIN)
        frame.env = saved
        return Shadow(what, sure, element=element, node=node)

    def _starred(self, frame: Frame, node: ast.Starred, whole: bool) -> Shadow:
        return self.value(frame, node.value)


_DISPATCH: Mapping[type[ast.AST], Callable[..., Shadow]] = {
    ast.Name: Expressions._name,
    ast.Constant: Expressions._constant,
    ast.Attribute: Expressions._attribute,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.BoolOp: Expressions._bool,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._conditional,
    ast.List: Expressions._list,
    ast.Tuple: Expressions._list,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.Lambda: Expressions._lambda,
    ast.JoinedStr: Expressions._text,
    ast.ListComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.Starred: Expressions._starred,
    ast.Call: lambda self, frame, node, whole: self.call(frame, node),
}
