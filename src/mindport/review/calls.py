"""Whether a call of the port says what the original's call says, by the API tables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from mindport.catalog import Catalog, Target
from mindport.catalog.signature import Signature, read_signature
from mindport.catalog.surface import signature_of
from mindport.findings import Confidence
from mindport.fixes.rewrite import Refused, rewrite_call
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context
from mindport.semantics.values import Named

UNSET = object()
"""A value that is no constant, or a parameter without a default."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A parameter of the port's callable: what it is, what the original's call amounts to."""

    parameter: str
    actual: object
    wanted: object


class Judge:
    """Compares calls. ``ignored``: parameters that do not change values; ``same``: sets of equal settings."""

    def __init__(
        self,
        catalog: Catalog,
        ignored: frozenset[str],
        same: Sequence[Mapping[str, object]],
    ) -> None:
        self.catalog = catalog
        self.ignored = ignored
        self.same = same

    @cached_property
    def _meant(self) -> Mapping[str, frozenset[str]]:
        """MindSpore name -> the torch names it is the target of."""
        result: dict[str, set[str]] = {}
        for name in self.catalog.api_names:
            row = self.catalog.api(name)
            for target in (row.mint, row.nn) if row is not None else ():
                if target is not None and target.name:
                    result.setdefault(target.name, set()).add(name)
        return {name: frozenset(names) for name, names in result.items()}

    def torch_name(self, module: Module, call: ast.Call, context: Context) -> str | None:
        """The torch name a call of the original means, if it has a row."""
        return _only(name for name in _names(module, call, context) if self.catalog.api(name) is not None)

    def port_name(self, module: Module, call: ast.Call, context: Context) -> str | None:
        """The MindSpore name a call of the port means, if some row leads to it."""
        return _only(name for name in _names(module, call, context) if name in self._meant)

    def key(self, port: str) -> str:
        """A port's name by the last part of what it stands for, so that it meets the original's."""
        meant = sorted(self._meant.get(port, ()), key=lambda n: (n.count("."), n))
        return meant[0].rpartition(".")[2].lower() if meant else port

    def target(self, torch: str, port: str) -> Target | None:
        """The row's target that the port uses."""
        row = self.catalog.api(torch)
        for target in (row.nn, row.mint) if row is not None else ():
            if target is not None and target.name == port:
                return target
        return None

    def is_other(self, torch: str, port: str) -> bool:
        """Whether the port creates a layer that stands for another one than the original's."""
        sets = self.catalog.sets
        layers = (sets["module"] - sets["container"], sets["cell"] - sets["container"])
        if torch not in layers[0] or port not in layers[1]:
            return False
        meant = self._meant.get(port, frozenset())
        last = torch.rpartition(".")[2].lower()
        return bool(meant) and torch not in meant and all(m.rpartition(".")[2].lower() != last for m in meant)

    def gaps(
        self,
        torch: str,
        target: Target,
        original: tuple[Module, ast.Call, Context],
        port: tuple[Module, ast.Call, Context],
    ) -> Iterator[Gap]:
        """The parameters of the port's call that are known to have another value than the original's amounts to."""
        row = self.catalog.api(torch)
        signature = read_signature(signature_of(target.name))
        theirs = read_signature(row.signature) if row is not None else None
        if row is None or signature is None or theirs is None or target.variants or row.kind == "method":
            return
        if any(k.arg not in theirs.names for k in original[1].keywords):
            return  # another spelling of a parameter, such as numpy's
        try:
            wanted_call = rewrite_call(original[1], row, target, None, signature)
        except Refused:
            return
        if not isinstance(wanted_call, ast.Call):
            return
        wanted = _bound(wanted_call, signature, _reader(original[0], original[2]))
        actual = _bound(port[1], signature, _reader(port[0], port[2]))
        if wanted is None or actual is None:
            return
        defaults = _defaults(signature_of(target.name))
        full_wanted = {**defaults, **wanted}
        full_actual = {**defaults, **actual}
        if any(_holds(full_wanted, full_actual, rule) for rule in self.same):
            return
        for name in (*wanted, *(n for n in actual if n not in wanted)):
            one, other = full_wanted.get(name, UNSET), full_actual.get(name, UNSET)
            if name in self.ignored or one is UNSET or other is UNSET:
                continue
            if not _equal(one, other):
                yield Gap(name, other, one)


def _only(names: Iterator[str]) -> str | None:
    found = dict.fromkeys(names)
    return next(iter(found)) if len(found) == 1 else None


def _names(module: Module, call: ast.Call, context: Context) -> Iterator[str]:
    for candidate in module.resolve(call.func, context):
        if isinstance(candidate.value, Named):
            yield candidate.value.name


def _reader(module: Module, context: Context) -> Callable[[ast.expr], object]:
    def read(node: ast.expr) -> object:
        if isinstance(node, ast.Tuple | ast.List):
            parts = [read(part) for part in node.elts]
            return UNSET if UNSET in parts else tuple(parts)
        if isinstance(node, ast.Name) and not hasattr(node, "lineno"):
            return UNSET
        found = {repr(c.value): c.value for c in module.constants(node, context)}
        sure = all(c.confidence is Confidence.CERTAIN for c in module.constants(node, context))
        return next(iter(found.values())) if len(found) == 1 and sure else UNSET

    return read


def _bound(
    call: ast.Call, signature: Signature, read: Callable[[ast.expr], object]
) -> dict[str, object] | None:
    """The values of the arguments by parameter; None where ``*`` or ``**`` hides them."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    order = [name for name in signature.positional if name != "self"]
    if len(call.args) > len(order) or any(k.arg not in signature.names for k in call.keywords):
        return None
    result = {name: read(value) for name, value in zip(order, call.args, strict=False)}
    result.update({k.arg: read(k.value) for k in call.keywords if k.arg is not None})
    return result


def _defaults(text: str) -> dict[str, object]:
    """The constant defaults of a signature."""
    try:
        function = ast.parse(f"def f{text}: pass").body[0]
    except SyntaxError:
        return {}
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(positional), reversed(args.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    result: dict[str, object] = {}
    for arg, default in pairs:
        try:
            result[arg.arg] = ast.literal_eval(default)
        except ValueError:
            continue
    return result


def _holds(wanted: Mapping[str, object], actual: Mapping[str, object], rule: Mapping[str, object]) -> bool:
    """Whether a rule of the check says that two settings amount to the same, or cannot be told apart."""
    sides = (("wanted", wanted), ("actual", actual))
    return all(
        name in values and _equal(values[name], value)
        for side, values in sides
        for name, value in dict(rule.get(side, {})).items()  # type: ignore[call-overload]
    )


def _equal(one: object, other: object) -> bool:
    """Equality as layers see it: one number stands for a tuple of equal ones, True for 1."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        left = one if isinstance(one, tuple) else (one,)
        right = other if isinstance(other, tuple) else (other,)
        if len(set(map(repr, left))) <= 1 and len(set(map(repr, right))) <= 1 and left and right:
            return _equal(left[0], right[0])
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return one == other
