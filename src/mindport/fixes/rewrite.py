"""Rewriting one torch expression by its row: names, arguments, defaults, templates.

The rewriter works on syntax trees and never guesses: a call it cannot convert for sure (an argument the row
refuses, ``*args`` over changed parameters, a template that has no place for an argument) is refused with a reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from mindport.catalog import ApiRow, Target
from mindport.catalog.signature import Signature, read_signature


@dataclass(frozen=True, slots=True)
class Facts:
    """What an analysis knows of a call's surroundings; nothing, where a sample stands alone.

    ``kind_of``: what a value is (``device``, ``dtype``, ...), for variants that depend on it. ``keys_of``: the keys
    of a dictionary passed with ``**``, where they are all known.
    """

    kind_of: Callable[[ast.expr], str] = lambda node: ""
    keys_of: Callable[[ast.expr], frozenset[str] | None] = lambda node: None


NOTHING = Facts()
METHODS = ("mindspore.Tensor.", "mindspore.nn.Cell.", "mindspore.Parameter.")
"""Targets that stay methods of the receiver."""


class Refused(Exception):
    """A call the row cannot convert, and why."""


@dataclass(slots=True)
class _Bound:
    """The arguments of one call by torch parameter name; ``extra`` are those of ``*args``."""

    values: dict[str, ast.expr]
    by_position: set[str]
    extra: list[ast.expr]


def rewrite_call(
    call: ast.Call,
    row: ApiRow,
    target: Target,
    receiver: ast.expr | None,
    target_signature: Signature | None,
    facts: Facts = NOTHING,
) -> ast.expr:
    """The MindSpore expression for a torch call; raises `Refused`."""
    if target.difference.value in ("rewrite", "missing") and not target.template:
        raise Refused("a person has to rewrite it")
    call = _filtered(call, target, facts)
    bound = _bind(call, read_signature(row.signature), target, receiver is not None)
    if target.variants:
        return _from_template(_variant(target.variants, bound, facts), bound, receiver, target)
    if not target.name:
        raise Refused("the row names no target")
    return _convert(call, target, receiver, bound, target_signature)


def bound_values(call: ast.Call, row: ApiRow) -> Mapping[str, ast.expr]:
    """The arguments of a call by torch's parameter names; raises `Refused`."""
    target = row.nn or row.mint
    assert target is not None
    return _bind(call, read_signature(row.signature), target, False).values


def _bind(call: ast.Call, signature: Signature | None, target: Target, is_method: bool) -> _Bound:
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    changed = bool(target.arguments or target.omitted or target.always or target.variants)
    if changed and starred:
        raise Refused("`*` hides which arguments are passed")
    hidden = any(k.arg is None for k in call.keywords)
    keywords = {k.arg: k.value for k in call.keywords if k.arg}
    if signature is None:
        if changed and hidden:
            raise Refused("`**` hides which arguments are passed")
        return _Bound(keywords, set(), list(call.args))
    positional = list(signature.positional)
    if is_method and positional and positional[0] == "self":
        positional = positional[1:]
    values = dict(zip(positional, call.args, strict=False))
    by_position = set(values)
    extra = list(call.args[len(positional) :])
    if extra and not signature.variadic:
        raise Refused("more positional arguments than torch's signature has")
    for name, value in keywords.items():
        if name == signature.variadic:
            extra = [value]
        elif name in signature.names or signature.open_keywords or not changed:
            values[name] = value
        else:
            raise Refused(f"`{name}` is no parameter of torch's signature")
    if changed and hidden and not _open(values, target):
        raise Refused("`**` hides which arguments are passed")
    return _Bound(values, by_position, extra)


def _filtered(call: ast.Call, target: Target, facts: Facts) -> ast.Call:
    """The call with what the target drops taken out of dictionaries passed with ``**``."""
    dropped = {
        name for name, rule in target.arguments.items() if isinstance(rule, Mapping) and rule.get("drop")
    }
    keywords = []
    for keyword in call.keywords:
        keys = facts.keys_of(keyword.value) if keyword.arg is None else None
        gone = sorted(keys & dropped) if keys else []
        if gone and keys is not None:
            if keys == set(gone):
                continue
            test = " and ".join(f"k != {name!r}" for name in gone)
            source = f"{{k: v for k, v in __value.items() if {test}}}"
            keyword = ast.keyword(None, _substitute(source, {"__value": keyword.value}))
        keywords.append(keyword)
    return ast.Call(call.func, call.args, keywords)


def _open(values: Mapping[str, ast.expr], target: Target) -> bool:
    """Whether ``**more`` can stay: nothing in it could be converted silently or be written twice."""
    if target.variants:
        return False
    for new in target.omitted:
        old = next((o for o, rule in target.arguments.items() if _new_name(o, rule) == new), new)
        if old not in values and new not in values:
            return False
    return not any(
        isinstance(rule, Mapping) and "value" in rule and _new_name(old, rule) == old and old not in values
        for old, rule in target.arguments.items()
    )


def _new_name(old: str, rule: Any) -> str:
    return rule if isinstance(rule, str) else str(rule.get("to", old))


# --- argument maps ------------------------------------------------------------------------------------


def _convert(
    call: ast.Call,
    target: Target,
    receiver: ast.expr | None,
    bound: _Bound,
    target_signature: Signature | None,
) -> ast.expr:
    if any(isinstance(a, ast.Starred) for a in call.args):
        return _call(target, receiver, list(call.args), list(call.keywords))
    args: list[ast.expr] = []
    keywords: list[ast.keyword] = []
    order = [n for n in (target_signature.names if target_signature else ()) if n != "self"]
    offset = 1 if receiver is not None and not target.name.startswith(METHODS) else 0
    in_order = True
    for name, value in bound.values.items():
        converted = convert_argument(name, value, target.arguments.get(name))
        if converted is None:
            in_order = in_order and name not in bound.by_position
            continue
        new, expression = converted
        position = len(args) + offset
        fits = order[position] == new if position < len(order) else not order and new == name
        if name in bound.by_position and in_order and fits:
            args.append(expression)
        else:
            in_order = False
            keywords.append(ast.keyword(new, expression))
    if bound.extra:
        if any(name in bound.by_position for name in bound.values) and not in_order:
            raise Refused("positional arguments would change their place")
        args += bound.extra
    present = {k.arg for k in keywords} | set(order[offset : offset + len(args)])
    for new, source in target.omitted.items():
        if new not in present and not _passed(new, target, bound):
            keywords.append(ast.keyword(new, _expression(source)))
    for new, source in target.always.items():
        if new not in present:
            keywords.append(ast.keyword(new, _expression(source)))
    return _call(target, receiver, args, [*keywords, *(k for k in call.keywords if k.arg is None)])


def _passed(new: str, target: Target, bound: _Bound) -> bool:
    """Whether the torch parameter that maps to a MindSpore one was passed."""
    for name in bound.values:
        rule = target.arguments.get(name)
        to = rule if isinstance(rule, str) else rule.get("to", name) if isinstance(rule, Mapping) else name
        if to == new:
            return True
    return False


def convert_argument(name: str, value: ast.expr, rule: Any) -> tuple[str, ast.expr] | None:
    """The MindSpore parameter and expression for one argument; None when it is left out."""
    if rule is None:
        return name, value
    if isinstance(rule, str):
        return rule, value
    if rule.get("refuse"):
        raise Refused(f"`{name}` has no counterpart")
    if rule.get("drop"):
        return None
    new = rule.get("to", name)
    if "values" in rule:
        source = ast.unparse(value)
        table = {ast.unparse(_expression(key)): text for key, text in rule["values"].items()}
        if source not in table:
            raise Refused(f"`{name}={source}` has no counterpart")
        return None if table[source] == "" else (new, _expression(table[source]))
    if rule.get("pairs"):
        if isinstance(value, ast.Tuple | ast.List):
            return new, ast.Tuple([deepcopy(e) for e in value.elts for _ in range(2)], ast.Load())
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            raise Refused(f"`{name}={value.value!r}` has no counterpart")
    if "value" in rule:
        return new, _fold(_substitute(rule["value"].replace("{}", "__value"), {"__value": value}))
    return new, value


def _fold(node: ast.expr) -> ast.expr:
    """``1 - 0.1`` -> ``0.9``, in decimal so that no binary noise appears."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        sides = [n.value for n in (node.left, node.right) if isinstance(n, ast.Constant)]
        if len(sides) == 2 and all(isinstance(side, int | float) for side in sides):
            value = float(Decimal(str(sides[0])) - Decimal(str(sides[1])))
            # a small result would read like a value nobody converted
            return ast.Constant(value) if value >= 0.5 else node
    return node


# --- templates ----------------------------------------------------------------------------------------

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\*?)(\w+)(?:=([^{}]*))?\}")


def _variant(
    variants: Sequence[Mapping[str, Any]], bound: _Bound, facts: Facts = NOTHING
) -> Mapping[str, Any]:
    passed = set(bound.values)
    for variant in variants:
        given, absent = set(variant.get("given", ())), set(variant.get("absent", ()))
        if bound.extra:  # `*names` has no name among the values
            given = {name for name in given if f"{{*{name}}}" not in variant["template"]}
        kinds = variant.get("kinds", {})
        if any(
            name not in bound.values or facts.kind_of(bound.values[name]) not in kinds[name] for name in kinds
        ):
            continue
        literal = variant.get("when", {})
        if any(n not in bound.values or ast.unparse(bound.values[n]) != literal[n] for n in literal):
            continue
        if given <= passed and not absent & passed:
            return variant
    raise Refused("no template fits the arguments passed")


def _from_template(
    variant: Mapping[str, Any], bound: _Bound, receiver: ast.expr | None, target: Target
) -> ast.expr:
    used: set[str] = {*variant.get("kinds", ()), *variant.get("when", ())}
    names: dict[str, ast.expr | list[ast.expr]] = {}

    def place(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        star, name, default = match[1], match[2], match[3]
        used.add(name)
        key = f"__{name}"
        if name == "self" and receiver is not None:
            names[key] = receiver
        elif star:
            names[key] = list(bound.extra) or _listed(bound.values.get(name))
        elif name in bound.values:
            names[key] = bound.values[name]
        elif default is not None:
            names[key] = _expression(default)
        else:
            raise Refused(f"the template needs `{name}`")
        return key

    text = _PLACEHOLDER.sub(place, str(variant["template"]))
    for name in bound.values:
        rule = target.arguments.get(name)
        if name not in used and not (isinstance(rule, Mapping) and rule.get("drop")):
            raise Refused(f"the template has no place for `{name}`")
    if bound.extra and not any(isinstance(value, list) for value in names.values()):
        raise Refused("the template has no place for further arguments")
    return _substitute(text, names)


def _listed(value: ast.expr | None) -> list[ast.expr]:
    if value is None:
        return []
    return list(value.elts) if isinstance(value, ast.Tuple | ast.List) else [value]


def _substitute(text: str, names: Mapping[str, ast.expr | list[ast.expr]]) -> ast.expr:
    try:
        tree = _expression(text)
    except SyntaxError as error:
        raise Refused(f"the template is no expression: {text}") from error
    return _Place(names).visit(tree)  # type: ignore[no-any-return]


class _Place(ast.NodeTransformer):
    """Put expressions where their placeholders stand; a list fills several places."""

    def __init__(self, names: Mapping[str, ast.expr | list[ast.expr]]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> Any:
        """Replace a placeholder."""
        value = self.names.get(node.id)
        if value is None:
            return node
        return [deepcopy(v) for v in value] if isinstance(value, list) else deepcopy(value)


def _expression(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def _call(
    target: Target, receiver: ast.expr | None, args: list[ast.expr], keywords: list[ast.keyword]
) -> ast.expr:
    if receiver is not None and target.name.startswith(METHODS):
        method = ast.Attribute(receiver, target.name.rpartition(".")[2], ast.Load())
        return ast.Call(method, args, keywords)
    leading = [] if receiver is None else [receiver]
    return ast.Call(_expression(target.name), [*leading, *args], keywords)


# --- names ---------------------------------------------------------------------------------------------


def rewrite_name(node: ast.expr, row: ApiRow, target: Target, receiver: ast.expr | None) -> ast.expr:
    """The MindSpore expression for a torch name or Tensor attribute that is not called; raises `Refused`."""
    if target.variants and (row.kind == "attribute" or not target.name):
        nothing = _Bound({}, set(), [])
        return _from_template(_variant(target.variants, nothing), nothing, receiver, target)
    if receiver is not None and isinstance(node, ast.Attribute):
        return ast.Attribute(receiver, target.name.rpartition(".")[2] or node.attr, ast.Load())
    if not target.name:
        raise Refused(f"{row.name} has no target")
    return _expression(target.name)


# --- whole expressions --------------------------------------------------------------------------------


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites every torch name in an expression written with full names (``torch.nn.Linear(3, 4)(x)``).

    A method call on anything that is no torch name is taken as a Tensor method: the caller knows its receivers.
    """

    def __init__(
        self, find: Callable[[str], ApiRow | None], signature_of: Callable[[str], str], api: str
    ) -> None:
        self.find = find
        self.signature_of = signature_of
        self.api = api

    def rewrite(self, source: str) -> str:
        """The MindSpore source of an expression; raises `Refused`."""
        return ast.unparse(ast.fix_missing_locations(self.visit(_expression(source))))

    def _target(self, row: ApiRow) -> Target:
        target = row.mint if self.api == "mint" else row.nn
        if target is None:
            raise Refused(f"{row.name} has no {self.api} target")
        return target

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Rewrite a call with its arguments."""
        args = [self.visit(a) for a in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        call = ast.Call(node.func, args, keywords)
        name = dotted(node.func)
        row = self.find(name) if name else None
        receiver: ast.expr | None = None
        if row is None and name.partition(".")[0] == "torch":
            raise Refused(f"{name} has no row")
        if row is None and isinstance(node.func, ast.Attribute):
            row = self.find(f"torch.Tensor.{node.func.attr}")
            receiver = self.visit(node.func.value)
        if row is not None:
            target = self._target(row)
            signature = read_signature(self.signature_of(target.name))
            return rewrite_call(call, row, target, receiver, signature)
        if receiver is not None and isinstance(node.func, ast.Attribute):
            return ast.Call(ast.Attribute(receiver, node.func.attr, ast.Load()), args, keywords)
        return ast.Call(self.visit(node.func), args, keywords)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Rewrite a name that is not called, or an attribute of a value."""
        name = dotted(node)
        row = self.find(name) if name else None
        if row is not None:
            return rewrite_name(node, row, self._target(row), None)
        if name.partition(".")[0] == "torch":
            raise Refused(f"{name} has no row")
        receiver = self.visit(node.value)
        row = self.find(f"torch.Tensor.{node.attr}")
        if row is None or row.kind != "attribute":
            return ast.Attribute(receiver, node.attr, ast.Load())
        return rewrite_name(node, row, self._target(row), receiver)


def dotted(node: ast.expr) -> str:
    """``a.b.c`` for a chain of attributes on a name; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
