"""Evaluating expressions over knowledge: names, operators, containers, comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.flow.calls import Calls
from mindport.semantics.flow.narrow import narrow
from mindport.semantics.kinds import (
    TENSORS,
    UNKNOWN,
    Atom,
    Kind,
    Known,
    container,
    elements,
    items,
    join,
    of,
    runtime,
)
from mindport.semantics.values import ClassValue, Named

if TYPE_CHECKING:
    from mindport.semantics.flow.analysis import Flow

_CONSTANTS = {bool: Kind.BOOL, int: Kind.NUMBER, float: Kind.NUMBER, complex: Kind.NUMBER, str: Kind.STR}
_CONSTANT_VALUES = {kind: of(value) for kind, value in _CONSTANTS.items()}
_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE})
_NUMBERS = frozenset({Kind.NUMBER, Kind.BOOL})


class Expressions(Calls):
    """The expression half of a frame."""

    def __init__(self, flow: Flow, owner: ClassValue | None, outers: tuple[dict[str, Known], ...]) -> None:
        self.flow = flow
        self.owner = owner
        self.outers = outers
        self.env: dict[str, Known] | None = {}
        self.self_name = ""

    # --- places ----------------------------------------------------------------------------------------

    def key(self, node: ast.AST) -> str | None:
        """The name under which a local variable or an attribute of ``self`` is kept."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == self.self_name and self.self_name:
                return f"self.{node.attr}"
        return None

    def set(self, key: str, value: Known) -> None:
        """Change what a place holds."""
        if self.env is not None:
            self.env[key] = value

    def get(self, key: str, node: ast.expr) -> Known:
        """What a place holds."""
        known = self.env.get(key) if self.env is not None else None
        return known if known is not None else self.eval(node)

    def external(self, node: ast.expr) -> str:
        """The external name an expression means, empty for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        known = self._lookup(node.id)
        for atom in known.atoms:
            if isinstance(atom.ref, Named) and atom.kind in (Kind.NAMESPACE, Kind.CLASS):
                return self.flow.module.project.canonical(".".join([atom.ref.name, *reversed(parts)]))
        return ""

    def _lookup(self, name: str) -> Known:
        if self.env is not None:
            known = self.env.get(name)
            if known is not None:
                return known
        for env in self.outers:
            if name in env:
                return env[name]
        return self.flow.global_(name)

    # --- evaluation ------------------------------------------------------------------------------------

    def eval(self, node: ast.expr) -> Known:
        """What an expression is; remembered as a fact of the file."""
        kind = node.__class__
        if kind is ast.Constant:
            return constant(node.value)  # type: ignore[attr-defined]
        handler = _EXPRESSIONS.get(kind)
        known = handler(self, node) if handler is not None else UNKNOWN
        self.flow.facts[node] = known
        return known

    def _name(self, node: ast.Name) -> Known:
        return self._lookup(node.id)

    def _attribute(self, node: ast.Attribute) -> Known:
        value = node.value
        if value.__class__ is ast.Name and value.id == self.self_name:
            known = self.env.get(f"self.{node.attr}") if self.env is not None else None
            if known is not None:
                self.eval(value)
                return known
        base = self.eval(value)
        result = self.attribute(base, node.attr)
        if not result.atoms and not base.atoms and node.attr == "shape":
            return of(Kind.SHAPE, Confidence.POSSIBLE)
        return result

    def _bool_op(self, node: ast.BoolOp) -> Known:
        values: list[Known] = []
        before = self.env
        if before is None:
            return UNKNOWN
        self.env = dict(before)
        is_and = isinstance(node.op, ast.And)
        last = len(node.values) - 1
        for index, part in enumerate(node.values):
            value = self.eval(part)
            if index < last:
                narrow(self, part, is_and)
                if not is_and:
                    value = _truthy(value)
            values.append(value)
        self.env = before
        if is_and:
            kinds = {v.kind for v in values}
            if kinds <= {Kind.BOOL, Kind.NONE}:
                return join(values)
            return values[-1] if values[-1].is_tensor and values[0].atoms else join(values)
        return join([v for v in values if v.kind is not Kind.NONE] or values)

    def _bin_op(self, node: ast.BinOp) -> Known:
        return self.binary(self.eval(node.left), self.eval(node.right), node.op)

    def binary(self, left: Known, right: Known, op: ast.operator) -> Known:
        """What an arithmetic operation gives."""
        one, other = left.atom, right.atom
        kinds = {one.kind if one else None, other.kind if other else None}
        if kinds & TENSORS:
            if one is not None and other is not None:
                return of(Kind.TENSOR, left.sure.weaker(right.sure))
            tensor = left if one is not None and one.kind in TENSORS else right
            return of(Kind.TENSOR, tensor.sure.weaker(Confidence.INFERRED))
        if one is None or other is None:
            if one is not None and one.kind is Kind.STR and isinstance(op, ast.Mod | ast.Add):
                return left
            return UNKNOWN
        sure = left.sure.weaker(right.sure)
        changing = one.runtime or other.runtime
        if kinds <= _NUMBERS:
            if changing:
                return runtime(Kind.NUMBER, sure)
            return of(Kind.NUMBER, sure)
        if Kind.ARRAY in kinds:
            return of(Kind.ARRAY, sure)
        if one.kind is Kind.STR:
            return of(Kind.STR, sure)
        if one.kind in _SEQUENCES and one.kind is other.kind:
            known = [e for e in (one.element, other.element) if e is not None]
            if one.items is not None and other.items is not None and isinstance(op, ast.Add):
                return items((*one.items, *other.items), sure)
            return container(one.kind, join(known) if known else None, sure)
        if kinds <= {Kind.SHAPE, Kind.TUPLE, Kind.NUMBER}:
            return of(Kind.SHAPE, sure) if Kind.SHAPE in kinds else left if one.kind is Kind.TUPLE else right
        if one.kind is Kind.LIST and other.kind in _NUMBERS:
            return left
        if other.kind is Kind.LIST and one.kind in _NUMBERS:
            return right
        if one.kind is Kind.SHAPE or other.kind is Kind.SHAPE:
            return of(Kind.SHAPE, sure)
        return UNKNOWN

    def _unary_op(self, node: ast.UnaryOp) -> Known:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            atom = value.atom
            changing = atom is not None and (atom.runtime or atom.kind in TENSORS)
            return runtime(Kind.BOOL, value.sure) if changing else of(Kind.BOOL)
        if value.kind is Kind.PARAMETER:
            return of(Kind.TENSOR, value.sure)
        return value

    def _compare(self, node: ast.Compare) -> Known:
        values = [self.eval(node.left), *(self.eval(c) for c in node.comparators)]
        if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return of(Kind.BOOL)
        atoms = [v.atom for v in values]
        if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            changing = any(a is not None and (a.runtime or a.kind in TENSORS) for a in atoms)
            return runtime(Kind.BOOL, Confidence.INFERRED) if changing else of(Kind.BOOL)
        kinds = {a.kind if a else None for a in atoms}
        if kinds & TENSORS:
            sure = min((v.sure for v in values if v.is_tensor), key=lambda s: s.rank)
            return of(Kind.TENSOR, sure if None not in kinds else sure.weaker(Confidence.INFERRED))
        if Kind.ARRAY in kinds:
            return of(Kind.ARRAY, Confidence.INFERRED)
        if any(a is not None and a.runtime for a in atoms):
            return runtime(Kind.BOOL, Confidence.INFERRED)
        if None in kinds and not kinds & {Kind.STR, Kind.NONE, Kind.DTYPE, Kind.DEVICE}:
            return of(Kind.BOOL, Confidence.POSSIBLE)
        return of(Kind.BOOL)

    def _if_exp(self, node: ast.IfExp) -> Known:
        self.eval(node.test)
        before = self.env
        if before is None:
            return UNKNOWN
        self.env = dict(before)
        narrow(self, node.test, True)
        body = self.eval(node.body)
        self.env = dict(before)
        narrow(self, node.test, False)
        orelse = self.eval(node.orelse)
        self.env = before
        return join((body, orelse))

    def _named_expr(self, node: ast.NamedExpr) -> Known:
        value = self.eval(node.value)
        if self.env is not None:
            self.env[node.target.id] = value
        return value

    def _subscript(self, node: ast.Subscript) -> Known:
        base = self.eval(node.value)
        self.eval(node.slice)
        parts = [atom for atom in base.atoms if atom.kind is not Kind.NONE]
        return join([self._item(atom, base.sure, node.slice) for atom in parts])

    def _item(self, atom: Atom, sure: Confidence, node: ast.expr) -> Known:
        kind = atom.kind
        if kind in TENSORS:
            return of(Kind.TENSOR, sure)
        is_slice = isinstance(node, ast.Slice)
        if kind is Kind.SHAPE:
            return of(Kind.SHAPE if is_slice else Kind.NUMBER, sure)
        if kind in (Kind.STR, Kind.ARRAY):
            return of(kind, sure)
        if kind in _SEQUENCES:
            if is_slice:
                return container(kind, atom.element, sure)
            if atom.items is not None:
                place = _integer(node)
                if place is not None and -len(atom.items) <= place < len(atom.items):
                    return atom.items[place].weaker(sure)
            return (atom.element or UNKNOWN).weaker(sure)
        if kind is Kind.DICT:
            return (atom.element or UNKNOWN).weaker(sure)
        if kind is Kind.MODULE:
            if is_slice:
                return Known((atom,), sure)
            return (atom.element or UNKNOWN).weaker(sure)
        if kind is Kind.INSTANCE and isinstance(atom.ref, ClassValue):
            return self._instance_item(atom.ref, node, sure)
        return UNKNOWN

    def _instance_item(self, ref: ClassValue, node: ast.expr, sure: Confidence) -> Known:
        """A data class that is also a mapping: its first field that is set comes first."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.flow.member(ref, node.value).weaker(sure)
        fields = self.flow.fields(ref)
        if _integer(node) == 0 and fields and fields[0].is_tensor:
            return of(Kind.TENSOR, Confidence.INFERRED)
        return UNKNOWN

    def _slice(self, node: ast.Slice) -> Known:
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                self.eval(bound)
        return of(Kind.OTHER)

    def _tuple(self, node: ast.Tuple) -> Known:
        return self._sequence(node.elts, Kind.TUPLE)

    def _list(self, node: ast.List) -> Known:
        return self._sequence(node.elts, Kind.LIST)

    def _sequence(self, nodes: list[ast.expr], kind: Kind) -> Known:
        parts: list[Known] = []
        starred = False
        for part in nodes:
            if isinstance(part, ast.Starred):
                parts.append(elements(self.eval(part.value)))
                starred = True
            else:
                parts.append(self.eval(part))
        sure = min((p.sure for p in parts if p.atoms), key=lambda s: s.rank, default=Confidence.CERTAIN)
        if kind is Kind.TUPLE and not starred:
            return items(tuple(parts), sure)
        return container(kind, join(parts) if parts else None, sure)

    def _set(self, node: ast.Set) -> Known:
        parts = [self.eval(part) for part in node.elts]
        return Known((Atom(Kind.OTHER, join(parts)),), Confidence.CERTAIN)

    def _dict(self, node: ast.Dict) -> Known:
        values: list[Known] = []
        for key, value in zip(node.keys, node.values, strict=True):
            known = self.eval(value)
            if key is None:
                atom = known.atom
                known = (atom.element or UNKNOWN) if atom is not None else UNKNOWN
            else:
                self.eval(key)
            values.append(known)
        return container(Kind.DICT, join(values) if values else None)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Known:
        before = self.env
        if before is None:
            return UNKNOWN
        self.env = dict(before)
        for generator in node.generators:
            self.assign(generator.target, elements(self.eval(generator.iter)))
            for test in generator.ifs:
                self.eval(test)
                narrow(self, test, True)
        if isinstance(node, ast.DictComp):
            self.eval(node.key)
            result = container(Kind.DICT, self.eval(node.value))
        else:
            element = self.eval(node.elt)
            if isinstance(node, ast.ListComp):
                result = container(Kind.LIST, element, element.sure if element.atoms else Confidence.CERTAIN)
            else:
                result = Known((Atom(Kind.OTHER, element),), Confidence.CERTAIN)
        self.env = before
        return result

    def _lambda(self, node: ast.Lambda) -> Known:
        before = self.env
        if before is None:
            return UNKNOWN
        self.env = dict(before)
        args = node.args
        for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            self.env[arg.arg] = UNKNOWN
        self.eval(node.body)
        self.env = before
        return of(Kind.FUNCTION)

    def _text(self, node: ast.JoinedStr) -> Known:
        changing = False
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                atom = self.eval(part.value).atom
                changing = changing or (atom is not None and (atom.runtime or atom.kind in TENSORS))
                if part.format_spec is not None:
                    self.eval(part.format_spec)
        return runtime(Kind.STR, Confidence.CERTAIN) if changing else of(Kind.STR)

    def _starred(self, node: ast.Starred) -> Known:
        return elements(self.eval(node.value))

    def _await(self, node: ast.Await) -> Known:
        self.eval(node.value)
        return UNKNOWN

    def _yield(self, node: ast.Yield) -> Known:
        self.add_yield(self.eval(node.value) if node.value is not None else of(Kind.NONE))
        return UNKNOWN

    def _yield_from(self, node: ast.YieldFrom) -> Known:
        self.add_yield(elements(self.eval(node.value)))
        return UNKNOWN

    def add_yield(self, value: Known) -> None:
        """The function is a generator that gives this."""
        raise NotImplementedError

    def assign(self, target: ast.expr, value: Known) -> None:
        """Bind a target."""
        raise NotImplementedError


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Known]] = {
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions.call,
    ast.BinOp: Expressions._bin_op,
    ast.BoolOp: Expressions._bool_op,
    ast.UnaryOp: Expressions._unary_op,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._if_exp,
    ast.NamedExpr: Expressions._named_expr,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list,
    ast.Set: Expressions._set,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.Lambda: Expressions._lambda,
    ast.JoinedStr: Expressions._text,
    ast.Starred: Expressions._starred,
    ast.Await: Expressions._await,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield_from,
}


def constant(value: object) -> Known:
    """What a Python constant is."""
    if value is None:
        return _NONE
    return _CONSTANT_VALUES.get(value.__class__, _OTHER)


_NONE = of(Kind.NONE)
_OTHER = of(Kind.OTHER)


def _truthy(value: Known) -> Known:
    """What is left when ``or`` goes on only if a value is false."""
    rest = tuple(a for a in value.atoms if a.kind is not Kind.NONE)
    return Known(rest, value.sure) if rest and len(rest) < len(value.atoms) else value


def _integer(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return sign * node.value
    return None
