"""What names outside the project are and give back: the tables of ``checks/returns*.tsv``, read for the analysis."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from mindport.findings import Confidence
from mindport.frozen import frozen
from mindport.semantics.kinds import UNKNOWN, Atom, Kind, Known, container, items, of, runtime

SELF, FIRST = "self", "first"
"""Words of the table: the result is what the receiver, or the first argument, is."""


@frozen
class Row:
    """What a callable gives back when ``given`` holds (empty: otherwise); ``tensors``: what must be a Tensor."""

    given: str
    returns: str
    tensors: tuple[str, ...]


@frozen
class Arguments:
    """The evaluated arguments of one call."""

    positional: tuple[Known, ...]
    keywords: Mapping[str, Known]
    constants: Mapping[str, object]


class Library:
    """Answers for external names. ``kind_of`` gives a surface kind (class, function, ...) or an empty text."""

    def __init__(
        self,
        rows: Mapping[str, Sequence[Row]],
        sets: Mapping[str, frozenset[str]],
        kinds: Mapping[str, Sequence[str]],
        classes: Mapping[str, str],
        tensors: Mapping[str, str],
        kind_of: Callable[[str], str],
        parameters_of: Callable[[str], tuple[str, ...]],
    ) -> None:
        self._rows = rows
        self._kind_of = kind_of
        self._parameters_of = parameters_of
        self._kinds = {name: Kind(kind) for kind, names in kinds.items() for name in names}
        self.tensors = tuple(tensors.values())
        self._classes = {Kind(kind): name for kind, name in classes.items()}
        self.sets = sets
        self.modules = sets["module"] | sets["cell"] | sets["primitive"]
        self.ambiguous = sets["ambiguous-method"]
        self._methods: dict[tuple[str, tuple[str, ...]], bool] = {}
        self._places: dict[str, tuple[tuple[str, int, bool], ...]] = {}

    # --- what a name is --------------------------------------------------------------------------------

    def is_class(self, name: str) -> bool:
        """Whether an external name is a class."""
        return name in self._kinds or name in self.modules or self._kind_of(name) == "class"

    def instance_kind(self, name: str) -> Kind:
        """The kind an instance of an external class has."""
        known = self._kinds.get(name)
        if known is not None:
            return known
        return Kind.MODULE if name in self.modules else Kind.INSTANCE

    def class_of(self, kind: Kind) -> str | None:
        """The class whose methods values of a kind have."""
        return self._classes.get(kind)

    def exists(self, name: str) -> bool:
        """Whether the tables know an external name."""
        return name in self._rows or bool(self._kind_of(name))

    def is_attribute(self, name: str) -> bool:
        """Whether a name is a value, not something to call."""
        rows = self._rows.get(name)
        return self._kind_of(name) == "attribute" or (rows is not None and rows[0].given == "attribute")

    def constant(self, name: str) -> Known | None:
        """What a module-level constant is (``torch.float32``)."""
        return self.attribute(name) if self.is_attribute(name) else None

    def is_tensor_method(self, name: str, classes: tuple[str, ...] = ()) -> bool:
        """Whether Tensors (of the given classes) have a method or attribute of this name."""
        known = self._methods.get((name, classes))
        if known is None:
            found = (f"{cls}.{name}" for cls in classes or self.tensors)
            known = self._methods[name, classes] = any(map(self.exists, found))
        return known

    def only_tensors_have(self, name: str, classes: tuple[str, ...]) -> bool:
        """Whether a method name all but proves a Tensor of one of the given classes."""
        if name in self.ambiguous or name in _BUILTIN_METHODS:
            return False
        return self.is_tensor_method(name, classes)

    # --- what a call gives -----------------------------------------------------------------------------

    def attribute(self, name: str) -> Known | None:
        """What an attribute or constant is; None when the table does not say."""
        for row in self._rows.get(name, ()):
            return read(row.returns)
        return None

    def result(self, name: str, arguments: Arguments, receiver: Known | None = None) -> Known | None:
        """What calling a name gives; None when the tables do not say."""
        rows = self._rows.get(name)
        if rows is None:
            prefix = name.rpartition(".")[0]
            while prefix and rows is None:
                rows = self._rows.get(f"{prefix}.*")
                prefix = prefix.rpartition(".")[0]
            if rows is None:
                return None
        for row in rows:
            if not row.given or self._holds(name, row.given, arguments, receiver is not None):
                return self._read(row.returns, arguments, receiver)
        return None

    def _read(self, text: str, arguments: Arguments, receiver: Known | None) -> Known:
        if text == SELF:
            return receiver or UNKNOWN
        if text == FIRST:
            return arguments.positional[0] if arguments.positional else UNKNOWN
        return read(text)

    def _holds(self, name: str, given: str, arguments: Arguments, is_method: bool) -> bool:
        parameter, colon, kind = given.partition(":")
        parameter, equals, constant = parameter.partition("=")
        value = arguments.keywords.get(parameter)
        known = arguments.constants.get(parameter)
        if value is None:
            place = self._place(name, parameter, is_method)
            if place is None or place >= len(arguments.positional):
                return False
            value = arguments.positional[place]
            known = arguments.constants.get(str(place))
        if equals:
            return str(known) == constant
        if colon:
            if kind == "runtime":
                return value.atom is not None and value.atom.runtime
            return value.is_tensor if kind == "tensor" else value.kind is Kind(kind)
        return value.kind is not Kind.NONE

    def _place(self, name: str, parameter: str, is_method: bool) -> int | None:
        if parameter.isdigit():
            return int(parameter)
        names = self._parameters_of(name)
        if is_method and names[:1] == ("self",):
            names = names[1:]
        return names.index(parameter) if parameter in names else None

    def tensor_places(self, name: str) -> Sequence[tuple[str, int, bool]]:
        """The parameters that must be Tensors: name, place among the positional ones, whether a list of them."""
        known = self._places.get(name)
        if known is None:
            texts = dict.fromkeys(text for row in self._rows.get(name, ()) for text in row.tensors)
            known = self._places[name] = tuple(_read_place(text) for text in texts)
        return known


def argument_of(call: ast.Call, parameter: str, place: int) -> ast.expr | None:
    """What a call passes for a parameter, by keyword or by place."""
    value = next((k.value for k in call.keywords if k.arg == parameter), None)
    if value is None and 0 <= place < len(call.args):
        return call.args[place]
    return value


def _read_place(text: str) -> tuple[str, int, bool]:
    name, _, place = text.rstrip("*").partition("@")
    return name, int(place), text.endswith("*")


_BUILTIN_METHODS = frozenset(
    name for kind in (str, bytes, list, tuple, dict, set, int, float, complex) for name in dir(kind)
)

_ITERATORS = frozenset({"generator", "range"})
_WORD = re.compile(r"[a-z]+!?|\[|\]|,")


@cache
def read(text: str) -> Known:
    """Read an expression of the table (``tuple[tensor,number!]``); what it does not know is unknown."""
    tokens = _WORD.findall(text)
    value, rest = _parse(tokens)
    return value if not rest else UNKNOWN


def _parse(tokens: list[str]) -> tuple[Known, list[str]]:
    if not tokens:
        return UNKNOWN, []
    word, rest = tokens[0], tokens[1:]
    parts: list[Known] = []
    if rest[:1] == ["["]:
        while rest and rest[0] != "]":
            part, rest = _parse(rest[1:])
            parts.append(part)
        rest = rest[1:]
    changing = word.endswith("!")
    try:
        kind = Kind(word.rstrip("!"))
    except ValueError:
        if word in _ITERATORS:
            return Known((Atom(Kind.OTHER, parts[-1] if parts else None),), Confidence.CERTAIN), rest
        return UNKNOWN, rest
    if changing:
        return runtime(kind, Confidence.CERTAIN), rest
    if not parts:
        return (
            of(kind) if kind not in (Kind.LIST, Kind.TUPLE, Kind.DICT) else container(kind, UNKNOWN)
        ), rest
    if kind is Kind.TUPLE and len(parts) > 1:
        return items(tuple(parts)), rest
    if kind in (Kind.LIST, Kind.TUPLE, Kind.DICT):
        return container(kind, parts[-1]), rest
    return Known((Atom(kind, parts[-1]),), Confidence.CERTAIN), rest
