"""What a value is, as far as flow analysis tells: kinds, the parts of containers, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from mindport.findings import Confidence
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
    NAMESPACE = "namespace"  # a Python module
    CLASS = "class"
    FUNCTION = "function"
    ARRAY = "array"  # a NumPy array
    INSTANCE = "instance"  # of a class of the project that is no Module
    OTHER = "other"  # known to be none of the above


TENSORS = frozenset({Kind.TENSOR, Kind.PARAMETER})


@dataclass(frozen=True, slots=True)
class Atom:
    """One thing a value can be.

    ``element`` is what iterating gives (dicts: the values); ``items`` the parts of a tuple of known length;
    ``ref`` the class of a Module or instance, or what a class or function is. ``runtime``: a number, bool or
    text that depends on the values inside a Tensor, so that no compiler can know it.
    """

    kind: Kind
    element: Known | None = None
    items: tuple[Known, ...] | None = None
    ref: Value | None = None
    runtime: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """All the things a value can be, and how sure that is; no atoms: nothing is known."""

    atoms: tuple[Atom, ...]
    sure: Confidence

    @property
    def atom(self) -> Atom | None:
        """The one thing it is; ``None`` among several counts for nothing, as it has no methods."""
        if len(self.atoms) == 1:
            return self.atoms[0]
        rest = [atom for atom in self.atoms if atom.kind is not Kind.NONE]
        if len(rest) == 1 or (rest and len({atom.kind for atom in rest}) == 1):
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
        return (
            bool(self.atoms)
            and all(a.kind in TENSORS or a.kind is Kind.NONE for a in self.atoms)
            and (len(self.atoms) > 1 or self.atoms[0].kind is not Kind.NONE)
        )

    def weaker(self, sure: Confidence) -> Known:
        """The same, at most as sure."""
        return self if self.sure.rank <= sure.rank else Known(self.atoms, sure)


UNKNOWN = Known((), Confidence.POSSIBLE)
MAX_ATOMS = 4
"""A value that can be more things than this counts as unknown."""


def join(values: Iterable[Known]) -> Known:
    """What a value is that comes from one of several paths."""
    atoms: dict[Atom, None] = {}
    sure = Confidence.CERTAIN
    count = 0
    for value in values:
        if not value.atoms:
            return UNKNOWN
        sure = sure.weaker(value.sure)
        atoms.update(dict.fromkeys(value.atoms))
        count += 1
    if not count or len(atoms) > MAX_ATOMS:
        return UNKNOWN
    return Known(tuple(atoms), sure)
