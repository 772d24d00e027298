"""Whether a call of the port says what the original's call says, by the API tables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
"""A value nobody can tell, or a parameter without a default."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """An expression whose value is not known. ``maybe``: the one constant it may be (a default), or `UNSET`."""

    text: str
    maybe: object = UNSET

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Rules:
    """What the check says of parameters.

    ``ignored`` do not change values; ``same``: settings that amount to the same. ``inverse``: parameter -> the one
    that is 1 minus it. ``lost``: parameters whose expression may not be left out. ``padding``: the parameters that
    say together how much is padded (mode, amount, kernel, stride, dilation).
    """

    ignored: frozenset[str] = frozenset()
    same: Sequence[Mapping[str, object]] = ()
    inverse: Mapping[str, str] = field(default_factory=dict)
    complement: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    padding: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gap:
    """A parameter of the port's callable: what it is, what the original's call amounts to."""

    parameter: str
    actual: object
    wanted: object
    sure: Confidence = Confidence.CERTAIN


class Judge:
    """Compares calls by the rules of the check."""

    def __init__(self, catalog: Catalog, rules: Rules) -> None:
        self.catalog = catalog
        self.rules = rules

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
        if row is None or signature is None or theirs is None or row.kind == "method":
            return
        if any(k.arg not in theirs.names for k in original[1].keywords):
            return  # another spelling of a parameter, such as numpy's
        try:
            wanted_call = rewrite_call(original[1], row, target, None, signature)
        except Refused:
            return
        if not isinstance(wanted_call, ast.Call) or ast.unparse(wanted_call.func) != target.name:
            return
        wanted = _bound(wanted_call, signature, _reader(original[0], original[2]))
        actual = _bound(port[1], signature, _reader(port[0], port[2]))
        if wanted is None or actual is None:
            return
        defaults = _defaults(signature_of(target.name))
        passed = {ast.unparse(a) for a in (*original[1].args, *(k.value for k in original[1].keywords))}
        yield from self._between(defaults, wanted, actual, passed)

    def _between(
        self,
        defaults: Mapping[str, object],
        wanted: Mapping[str, object],
        actual: Mapping[str, object],
        passed: set[str],
    ) -> Iterator[Gap]:
        """``passed``: the sources of what the original passes."""
        rules = self.rules
        one_side = self._turned(defaults, wanted)
        other_side = self._turned(defaults, actual)
        if any(_holds(one_side, other_side, rule) for rule in rules.same):
            return
        judged = set(rules.ignored)
        mode = rules.padding.get("mode", "")
        if mode in one_side and mode in other_side:
            judged |= {mode, rules.padding["amount"]}
            gap = _padding(one_side, other_side, rules.padding)
            if gap is not None:
                yield gap
        names = [rules.inverse.get(n, n) for n in (*wanted, *actual)]
        for name in dict.fromkeys(names):
            one, other = one_side.get(name, UNSET), other_side.get(name, UNSET)
            if name in judged or one is UNSET or other is UNSET:
                continue
            given = name in actual or any(rules.inverse.get(n) == name for n in actual)
            gap = self._gap(name, one, other, given, passed)
            if gap is not None:
                yield gap

    def _gap(self, name: str, wanted: object, actual: object, given: bool, passed: set[str]) -> Gap | None:
        """``given``: the port passes the argument."""
        if isinstance(actual, Symbol):
            if name not in self.rules.complement or not isinstance(wanted, Symbol):
                return None
            turned = _complement(actual)
            if isinstance(turned, Symbol) and turned.text == wanted.text and _unconverted(wanted, actual):
                return Gap(name, actual, wanted, Confidence.INFERRED)
            return None
        if isinstance(wanted, Symbol):
            lost = name in self.rules.lost and not given and wanted.text in passed
            if lost and (wanted.maybe is UNSET or not _equal(wanted.maybe, actual)):
                return Gap(name, actual, wanted, Confidence.INFERRED)
            return None
        return (
            None
            if _unsure(wanted) or _unsure(actual) or _equal(wanted, actual)
            else Gap(name, actual, wanted)
        )

    def _turned(self, defaults: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
        """All values, parameters that say the inverse of another turned into that one."""
        result = {**defaults, **given}
        for name, other in self.rules.inverse.items():
            if name in result and result.get(other) is None:
                result[other] = _complement(result[name])
                del result[name]
        return result


def _unsure(value: object) -> bool:
    return isinstance(value, tuple) and any(isinstance(part, Symbol) for part in value)


def _complement(value: object) -> object:
    """1 - value."""
    if isinstance(value, Symbol):
        text = value.text.removeprefix("1 - ")
        if text == value.text:
            atom = text.replace(".", "").replace("_", "").isalnum()
            text = f"1 - {text}" if atom else f"1 - ({text})"
        elif text.startswith("(") and text.endswith(")"):
            text = text[1:-1]
        return Symbol(text)
    return 1 - value if isinstance(value, int | float) else UNSET


def _unconverted(wanted: Symbol, actual: Symbol) -> bool:
    """Whether one expression stands for one value on both sides: a configuration's, or a default that is equal."""
    names = {s.text.removeprefix("1 - ").strip("()") for s in (wanted, actual)}
    return len(names) == 1 and "." in next(iter(names)) and not next(iter(names)).startswith("self.")


def _padding(
    wanted: Mapping[str, object], actual: Mapping[str, object], names: Mapping[str, str]
) -> Gap | None:
    """Whether both pad alike; None where nobody can tell."""
    mode, amount = names["mode"], names["amount"]
    sides = []
    for side in (wanted, actual):
        chosen = str(side[mode])
        value: object = side.get(amount, 0) if chosen == "pad" else 0
        if chosen == "same":
            value = _same(side, names)
        elif chosen not in ("pad", "valid"):
            return None
        sides.append(_per_axis(value))
    one, other = sides
    if other is UNSET and one == 0 and actual[mode] == "same" and _wide(actual, names):
        other = None
    if one is UNSET or other is UNSET or isinstance(one, str | Symbol) or isinstance(other, Symbol):
        return None
    if _unsure(one) or _unsure(other) or _equal(one, other):
        return None
    shown = [_padding_text(side, names) for side in (wanted, actual)]
    if other is None:  # "same" is no fixed amount
        certain = all(isinstance(actual.get(names[n]), int | tuple) for n in ("kernel", "stride"))
        return Gap(mode, shown[1], shown[0], Confidence.CERTAIN if certain else Confidence.INFERRED)
    return Gap(mode, shown[1], shown[0])


def _wide(side: Mapping[str, object], names: Mapping[str, str]) -> bool:
    """Whether a kernel of unknown size is likely wider than its stride, so that ``same`` pads."""
    kernel, stride = side.get(names["kernel"]), side.get(names["stride"])
    return isinstance(kernel, Symbol) and repr(kernel) != repr(stride) and kernel.maybe != 1


def _padding_text(side: Mapping[str, object], names: Mapping[str, str]) -> Symbol:
    """A padding as arguments: the mode, and the amount where it counts."""
    mode, amount = side[names["mode"]], names["amount"]
    return Symbol(f"{mode!r}, {amount}={side.get(amount, 0)!r}" if mode == "pad" else repr(mode))


def _per_axis(value: object) -> object:
    """A padding with one number per side of each axis, both alike, as one number per axis."""
    if isinstance(value, tuple) and len(value) in (4, 6) and value[::2] == value[1::2]:
        return value[::2]
    return value


def _same(side: Mapping[str, object], names: Mapping[str, str]) -> object:
    """The amount ``same`` pads: a number where it is one, None where it is none, UNSET where nobody can tell."""
    kernel, stride = side.get(names["kernel"], UNSET), side.get(names["stride"], UNSET)
    dilation = side.get(names["dilation"], 1)
    if repr(kernel) == repr(stride) and kernel is not UNSET:
        return UNSET  # nothing to pad where the size is a multiple
    if isinstance(kernel, Symbol) or kernel is UNSET or _unsure(kernel):
        return UNSET
    sizes = kernel if isinstance(kernel, tuple) else (kernel,)
    if all(size == 1 for size in sizes):
        return 0
    if isinstance(stride, Symbol) or stride is UNSET or _unsure(stride):
        return UNSET
    if not _equal(stride, 1):
        return None
    if not isinstance(dilation, int) or not all(isinstance(size, int) and size % 2 for size in sizes):
        return None if isinstance(dilation, int) else UNSET
    amounts = tuple(dilation * (size - 1) // 2 for size in sizes if isinstance(size, int))
    return amounts[0] if len(set(amounts)) == 1 else UNSET


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
        constants = module.constants(node, context)
        found = {repr(c.value): c.value for c in constants}
        single = next(iter(found.values())) if len(found) == 1 else UNSET
        if single is not UNSET and all(c.confidence is Confidence.CERTAIN for c in constants):
            return single
        return Symbol(ast.unparse(node), single)

    return read


def _bound(
    call: ast.Call, signature: Signature, read: Callable[[ast.expr], object]
) -> dict[str, object] | None:
    """The values of the arguments by parameter; None where ``*`` or ``**`` hides them."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return None
    order = [name for name in signature.positional if name != "self"]
    if (len(call.args) > len(order) and not signature.variadic) or any(
        k.arg not in signature.names for k in call.keywords
    ):
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
