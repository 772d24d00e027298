"""What a value is, as far as flow analysis tells: kinds, the parts of containers, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import Enum

from mindport.findings import Confidence
from mindport.frozen import frozen
from mindport.semantics.values import Value


class Kind(Enum):
    """The kinds of values the analysis tells apart."""

    TENSOR = "tensor"
    PARAMETER = "parameter"
    MODULE = "module"  # an instance of a Module or Cell class
    OPTIMIZER = "optimizer"
    LOADER = "loader"
    SHAPE = "shape"
    NUMBER = "number"
    BOOL = "bool"
    STR = "str"
    NONE = "none"
    LIST = "list"
    TUPLE = "tuple"
    DICT = "dict"
    DTYPE = "dtype"
    DEVICE = "device"
    NAMESPACE = "namespace"  # a Python module, or a name of one outside the project
    CLASS = "class"
    FUNCTION = "function"
    ARRAY = "array"  # a NumPy array
    INSTANCE = "instance"  # of a class that is no Module
    OTHER = "other"  # known to be none of the above

    __hash__ = object.__hash__  # members are singletons; Enum's own hash is slow


TENSORS = frozenset({Kind.TENSOR, Kind.PARAMETER})
_MERGED = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.MODULE, Kind.NUMBER, Kind.BOOL, Kind.STR})


@frozen
class Atom:
    """One thing a value can be.

    ``element`` is what iterating gives (dicts: the values), None for an empty container; ``items`` the parts of
    a tuple of known length; ``ref`` the class of a Module or instance, or what a class or function is.
    ``runtime``: a number, bool or text that depends on the values inside a Tensor, so that no compiler can know it.
    """

    kind: Kind
    element: Known | None = None
    items: tuple[Known, ...] | None = None
    ref: Value | None = None
    runtime: bool = False


@frozen
class Known:
    """All the things a value can be, and how sure that is; no atoms: nothing is known."""

    atoms: tuple[Atom, ...]
    sure: Confidence

    @property
    def atom(self) -> Atom | None:
        """The one thing it is; ``None`` among several counts for nothing, as it has no methods."""
        atoms = self.atoms
        if len(atoms) < 2:
            return atoms[0] if atoms else None
        rest = [atom for atom in atoms if atom.kind is not Kind.NONE]
        if rest and (
            len(rest) == 1 or len({a.kind for a in rest}) == 1 or all(a.kind in TENSORS for a in rest)
        ):
            return rest[0]
        return None

    @property
    def kind(self) -> Kind | None:
        """The kind of the one thing it is, None when several are possible or nothing is known."""
        atom = self.atom
        return atom.kind if atom is not None else None

    @property
    def is_tensor(self) -> bool:
        """Whether it is a Tensor or a Parameter (or None)."""
        return self.kind in TENSORS

    def weaker(self, sure: Confidence) -> Known:
        """The same, at most as sure."""
        return self if self.sure.rank <= sure.rank else Known(self.atoms, sure)


UNKNOWN = Known((), Confidence.POSSIBLE)
MAX_ATOMS = 4
"""A value that can be more things than this counts as unknown."""
MAX_DEPTH = 4
"""Containers nested deeper than this have unknown parts: values stay finite in loops."""

_SIMPLE = {(kind, sure): Known((Atom(kind),), sure) for kind in Kind for sure in Confidence}


def of(kind: Kind, sure: Confidence = Confidence.CERTAIN) -> Known:
    """A value of a kind about which no more is known."""
    return _SIMPLE[kind, sure]


def container(kind: Kind, element: Known | None, sure: Confidence = Confidence.CERTAIN) -> Known:
    """A list, tuple or dict with one kind of elements."""
    if element is not None and depth_of(element) >= MAX_DEPTH:
        element = UNKNOWN
    return Known((Atom(kind, element),), sure)


def items(parts: tuple[Known, ...], sure: Confidence = Confidence.CERTAIN) -> Known:
    """A tuple of known length."""
    if any(depth_of(part) >= MAX_DEPTH for part in parts):
        parts = (UNKNOWN,) * len(parts)
    return Known((Atom(Kind.TUPLE, join(parts) if parts else None, parts),), sure)


def runtime(kind: Kind, sure: Confidence) -> Known:
    """A Python number, bool or text that depends on the values inside a Tensor."""
    return Known((Atom(kind, runtime=True),), sure)


def depth_of(value: Known) -> int:
    """How deeply containers are nested."""
    inner = [a.element for a in value.atoms if a.element is not None]
    return 1 + max(map(depth_of, inner)) if inner else 0


def join(values: Iterable[Known]) -> Known:
    """What a value is that comes from one of several paths."""
    known = list(values)
    if not known:
        return UNKNOWN
    first = known[0]
    if len(known) == 1 or all(value is first for value in known):
        return first
    atoms: dict[Atom, None] = {}
    sure = Confidence.CERTAIN
    for value in known:
        if not value.atoms:
            return UNKNOWN
        sure = sure.weaker(value.sure)
        for atom in value.atoms:
            _add(atoms, atom)
    return Known(tuple(atoms), sure) if len(atoms) <= MAX_ATOMS else UNKNOWN


def _add(atoms: dict[Atom, None], atom: Atom) -> None:
    if atom in atoms:
        return
    if atom.kind in _MERGED:
        for other in atoms:
            if other.kind is atom.kind and other.ref == atom.ref:
                del atoms[other]
                atoms[_merge(other, atom)] = None
                return
    atoms[atom] = None


def _merge(one: Atom, other: Atom) -> Atom:
    if one.element is None or other.element is None:
        element = one.element or other.element
    else:
        element = join((one.element, other.element))
    parts = None
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        parts = tuple(join(pair) for pair in zip(one.items, other.items, strict=True))
    return replace(one, element=element, items=parts, runtime=one.runtime or other.runtime)


def without(value: Known, kinds: frozenset[Kind]) -> Known:
    """The value after a test excluded some kinds; unchanged when nothing would be left."""
    if not value.atoms or all(a.kind not in kinds for a in value.atoms):
        return value
    left = tuple(a for a in value.atoms if a.kind not in kinds)
    return Known(left, value.sure) if left else UNKNOWN


def elements(value: Known) -> Known:
    """What iterating over a value gives."""
    found = [_iterated(atom, value.sure) for atom in value.atoms if atom.kind is not Kind.NONE]
    return join(found) if found else UNKNOWN


def _iterated(atom: Atom, sure: Confidence) -> Known:
    kind = atom.kind
    if kind in TENSORS:
        return of(Kind.TENSOR, sure)
    if kind is Kind.SHAPE:
        return of(Kind.NUMBER, sure)
    if kind is Kind.STR or kind is Kind.ARRAY:
        return of(kind, sure)
    if kind is Kind.DICT:
        return UNKNOWN
    return atom.element.weaker(sure) if atom.element is not None else UNKNOWN
