"""Type annotations as knowledge about values."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.kinds import UNKNOWN, Atom, Kind, Known, container, items, join, of
from mindport.semantics.values import ClassValue, Named

if TYPE_CHECKING:
    from mindport.semantics.flow.analysis import Flow

_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Unpack"})
_SEQUENCES = frozenset(
    {"List", "list", "Sequence", "MutableSequence", "Iterable", "Iterator", "Collection", "deque"}
)
_MAPPINGS = frozenset(
    {"Dict", "dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "DefaultDict"}
)
_TUPLES = frozenset({"Tuple", "tuple"})
_BARE = _SEQUENCES | _MAPPINGS | _TUPLES
_CALLABLES = frozenset({"Callable", "Type", "type"})


def annotation(flow: Flow, node: ast.expr | None, depth: int = 0) -> Known:
    """What an annotation says about a value; unknown when it says nothing the analysis understands."""
    if node is None or depth > 8:
        return UNKNOWN
    if isinstance(node, ast.Constant):
        if node.value is None:
            return of(Kind.NONE, Confidence.INFERRED)
        if isinstance(node.value, str):
            return annotation(flow, _parsed(node.value), depth + 1)
        return UNKNOWN
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([annotation(flow, side, depth + 1) for side in (node.left, node.right)])
    if isinstance(node, ast.Subscript):
        return _subscript(flow, node, depth)
    if isinstance(node, ast.Name):
        known = flow.annotations.get(node.id)
        if known is None:
            known = flow.annotations[node.id] = _named(flow, node)
        return known
    if isinstance(node, ast.Attribute):
        return _named(flow, node)
    return UNKNOWN


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _word(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _subscript(flow: Flow, node: ast.Subscript, depth: int) -> Known:
    word = _word(node.value)
    parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    if word == "Union" or word in _WRAPPERS:
        values = [annotation(flow, part, depth + 1) for part in (parts if word == "Union" else parts[:1])]
        if word == "Optional":
            values.append(of(Kind.NONE, Confidence.INFERRED))
        return _union(values)
    if word in _TUPLES:
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
            return container(Kind.TUPLE, annotation(flow, parts[0], depth + 1), Confidence.INFERRED)
        known = tuple(annotation(flow, part, depth + 1) for part in parts)
        if len(known) == 1:  # people write Tuple[Tensor] for any length
            return container(Kind.TUPLE, known[0], Confidence.INFERRED)
        return items(known, Confidence.INFERRED)
    if word in _SEQUENCES:
        return container(Kind.LIST, annotation(flow, parts[0], depth + 1), Confidence.INFERRED)
    if word in _MAPPINGS:
        return container(Kind.DICT, annotation(flow, parts[-1], depth + 1), Confidence.INFERRED)
    if word == "Literal":
        return _union([of(_constant(part), Confidence.INFERRED) for part in parts])
    if word in _CALLABLES:
        return of(Kind.FUNCTION, Confidence.INFERRED)
    return annotation(flow, node.value, depth + 1)


def _constant(node: ast.expr) -> Kind:
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool):
        return Kind.BOOL
    return Kind.STR if isinstance(value, str) else Kind.NUMBER if isinstance(value, int) else Kind.OTHER


def _named(flow: Flow, node: ast.expr) -> Known:
    found: list[Known] = []
    for atom in flow.free(node).atoms:
        if isinstance(atom.ref, Named):
            found.append(_external(flow, atom.ref))
        elif atom.kind is Kind.CLASS and isinstance(atom.ref, ClassValue):
            found.append(flow.instance(atom.ref, Confidence.INFERRED))
        else:
            return UNKNOWN
    if found:
        return join(found)
    word = _word(node)
    if word in _BARE:
        kind = Kind.TUPLE if word in _TUPLES else Kind.DICT if word in _MAPPINGS else Kind.LIST
        return container(kind, UNKNOWN, Confidence.INFERRED)
    return UNKNOWN


def _external(flow: Flow, value: Named) -> Known:
    word = value.name.rpartition(".")[2]
    root = value.name.partition(".")[0]
    if root in ("typing", "collections", "builtins", "typing_extensions"):
        if word in _BARE:
            kind = Kind.TUPLE if word in _TUPLES else Kind.DICT if word in _MAPPINGS else Kind.LIST
            return container(kind, UNKNOWN, Confidence.INFERRED)
        if word in _CALLABLES:
            return of(Kind.FUNCTION, Confidence.INFERRED)
        if word in ("Any", "object", "TypeVar", "Self"):
            return UNKNOWN
    if not flow.library.is_class(value.name):
        return UNKNOWN
    kind = flow.library.instance_kind(value.name)
    if kind in (Kind.LIST, Kind.TUPLE, Kind.DICT):
        return container(kind, UNKNOWN, Confidence.INFERRED)
    ref = value if kind in (Kind.MODULE, Kind.INSTANCE, Kind.OPTIMIZER, Kind.LOADER) else None
    return Known((Atom(kind, ref=ref),), Confidence.INFERRED)


def _union(values: list[Known]) -> Known:
    """Of a union with parts nothing is known about only the whole is unknown."""
    return join(values)
