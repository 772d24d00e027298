"""Methods of Modules, calls of classes held in variables, and the names Cells give their parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mindport.catalog import ApiRow, Target
from mindport.catalog.signature import read_signature
from mindport.catalog.surface import signature_of
from mindport.detectors.base import Stage, Use
from mindport.findings import Applicability, Confidence
from mindport.fixes.draft import Change
from mindport.fixes.rewrite import Refused
from mindport.semantics.kinds import Kind
from mindport.semantics.scopes import Context
from mindport.semantics.values import Candidate, ClassValue, Named, SelfValue, Value

if TYPE_CHECKING:
    from mindport.fixes.plan import Planner

MODULE = "torch.nn.Module"


def plan(planner: Planner) -> None:
    """Add the drafts for Modules."""
    for node, context in planner.view.module.scopes.nodes.get(ast.Attribute, ()):
        assert isinstance(node, ast.Attribute)
        if node not in planner.by_node:
            _attribute(planner, node, context)
    for call, context in planner.calls():
        if call.func not in planner.by_node:
            _indirect(planner, call, context)
        _partial(planner, call, context)


def _attribute(planner: Planner, node: ast.Attribute, context: Context) -> None:
    renamed = _parameter_name(planner, node)
    if renamed is not None:
        start, end = planner.layout.range_of(planner.view.module.source.attribute_span(node))
        code = planner.codes["arguments"]
        planner.add(
            code,
            planner.view.module.source.span(node),
            Applicability.UNSAFE,
            [Change(start, end, (renamed,))],
        )
        return
    if not isinstance(node.ctx, ast.Load):
        return
    row = planner.catalog.api(f"{MODULE}.{node.attr}")
    if row is None or row.kind == "statement" or node.attr.startswith("__"):
        return
    sure = module_receiver(planner, node, context)
    if sure is None:
        return
    parent = planner.parents.get(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    use = Use(node, context, row.name, Candidate(Named(row.name), sure), call, True)

    def make(target: Target) -> Sequence[Change]:
        if call is not None:
            signature = read_signature(signature_of(target.name))
            return planner.converter.call(call, row, target, node.value, signature)
        if row.kind == "method" and target.variants:
            raise Refused("a method that is no call")
        return planner.converter.name(node, row, target, node.value)

    planner.convert(use, row, make)


def module_receiver(planner: Planner, node: ast.Attribute, context: Context) -> Confidence | None:
    """How sure it is that an attribute is one a torch Module has from torch, not from the project."""
    view = planner.view
    modules = view.catalog.sets["module"]
    for candidate in view.module.resolve(node.value, context):
        value = candidate.value
        if isinstance(value, SelfValue):
            owner = value.owner
            sure = owner.module.ancestry(owner.node).any_of(modules)
            if sure is None or owner.module.member(owner.node, node.attr, value.parent, 0):
                return None
            return sure
    known = view.known(node.value)
    if known.kind is not Kind.MODULE or known.sure is Confidence.POSSIBLE:
        return None
    refs = [atom.ref for atom in known.atoms if atom.kind is Kind.MODULE]
    if not refs or not all(_is_torch_module(planner, ref, node.attr) for ref in refs):
        return None
    return known.sure


def _is_torch_module(planner: Planner, ref: Value | None, attribute: str) -> bool:
    modules = planner.view.catalog.sets["module"]
    if isinstance(ref, Named):
        return planner.is_torch(ref.name)
    if isinstance(ref, ClassValue):
        if ref.module.ancestry(ref.node).any_of(modules) is None:
            return False
        return not ref.module.member(ref.node, attribute, False, 0)
    return False


# --- parameters ----------------------------------------------------------------------------------------


def _parameter_name(planner: Planner, node: ast.Attribute) -> str | None:
    """The name a Cell of the nn side gives a parameter, where every layer it can be agrees."""
    if planner.view.config.api != "nn":
        return None
    tables = planner.catalog.concepts.get("parameter-names", {})
    if not any(node.attr in table for table in tables.values()):
        return None
    names = set()
    for layer in _layers(planner, node.value):
        names.add(tables.get(layer, {}).get(node.attr, node.attr))
    found = names.pop() if len(names) == 1 else None
    return found if found != node.attr else None


def _layers(planner: Planner, node: ast.expr) -> Iterator[str]:
    """The torch layer classes a value can be an instance of."""
    view = planner.view
    known = view.known(node)
    if not known.atoms and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
        held = planner.held.get((node.value.attr, node.attr))
        if held is not None:
            yield held
    for atom in known.atoms:
        ref = atom.ref
        if atom.kind is not Kind.MODULE:
            continue
        if isinstance(ref, Named) and planner.is_torch(ref.name):
            yield ref.name
        elif isinstance(ref, ClassValue):
            yield from _base_layers(planner, ref)


def _base_layers(planner: Planner, ref: ClassValue) -> Iterator[str]:
    tables = planner.catalog.concepts.get("parameter-names", {})
    names = [n for n in ref.module.ancestry(ref.node).names if n in tables]
    yield from names or ["-"]


# --- classes in variables ------------------------------------------------------------------------------


def _indirect(planner: Planner, call: ast.Call, context: Context) -> None:
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr == "__init__":
        found = _base_of_super(planner, func, context)
    elif isinstance(func, ast.Name | ast.Attribute):
        found = planner.classes_of(func, context)
    else:
        return
    rows: list[tuple[ApiRow, Candidate]] = []
    for name, candidate in found:
        row = planner.catalog.api(name)
        if row is None or row.kind != "class":
            return
        rows.append((row, candidate))
    if not rows:
        _layer_call(planner, call, context)
        return
    direct = (isinstance(func, ast.Attribute) and func.attr == "__init__") or _is_class(
        planner, func, context
    )
    results = []
    for row, candidate in rows:
        target = planner.target(row)
        if target is None:
            return
        bare = target if direct else replace(target, omitted={}, always={})
        try:
            signature = read_signature(signature_of(target.name))
            results.append((row, candidate, planner.converter.arguments_only(call, row, bare, signature)))
        except Refused:
            return
    if any(changes != results[0][2] for *_, changes in results):
        return
    row, candidate, changes = results[0]
    span = planner.view.module.source.span(func)
    planner.add(planner.codes["arguments"], span, Applicability.UNSAFE, changes)


def _layer_call(planner: Planner, call: ast.Call, context: Context) -> None:
    """A call of a layer itself, or of a class nobody knows with keywords that only torch's layers have."""
    span = planner.view.module.source.span(call.func)
    names = set(_layers(planner, call.func))
    row = planner.catalog.api(f"{next(iter(names))}.forward") if len(names) == 1 else None
    target = planner.target(row) if row is not None else None
    try:
        if row is not None and target is not None and row.name != f"{MODULE}.forward":
            signature = read_signature(signature_of(target.name))
            changes = planner.converter.arguments_only(call, row, target, signature, method=True)
        else:
            rules = planner.catalog.concepts.get("layer-keywords", {})
            known = planner.view.module.resolve(call.func, context)
            if not all(planner.places.is_none(c.value) for c in known):
                return
            if planner.view.stage is not Stage.TORCH:
                return
            if not any(keyword.arg in rules for keyword in call.keywords):
                return
            changes = planner.converter.keywords(call, rules)
    except Refused:
        return
    planner.add(planner.codes["arguments"], span, Applicability.UNSAFE, changes)


def _partial(planner: Planner, call: ast.Call, context: Context) -> None:
    """``partial(Norm, eps=1e-6)`` of a class that inherits a layer's constructor."""
    if not call.args or planner.places.partial_of(call.args[0]) is not call:
        return
    values = [candidate.value for candidate in planner.view.module.resolve(call.args[0], context)]
    name = planner.layer_behind(values[0]) if len(values) == 1 else None
    row = planner.catalog.api(name) if name and isinstance(values[0], ClassValue) else None
    target = planner.target(row) if row is not None else None
    if target is None or target.variants:
        return
    try:
        changes = planner.converter.keywords(call, target.arguments)
    except Refused:
        return
    span = planner.view.module.source.span(call.func)
    planner.add(planner.codes["arguments"], span, Applicability.UNSAFE, changes)


def _is_class(planner: Planner, func: ast.expr, context: Context) -> bool:
    """Whether a call names a class of the project itself, not a variable that may hold one."""
    values = [candidate.value for candidate in planner.view.module.resolve(func, context)]
    return len(values) == 1 and isinstance(values[0], ClassValue) and values[0].node.name in ast.unparse(func)


def _base_of_super(planner: Planner, func: ast.Attribute, context: Context) -> list[tuple[str, Candidate]]:
    """The torch layer whose ``__init__`` a ``super().__init__(...)`` reaches."""
    for candidate in planner.view.module.resolve(func.value, context):
        value = candidate.value
        if isinstance(value, SelfValue) and value.parent:
            bases = value.owner.module.bases(value.owner.node)
            if len(bases) == 1 and isinstance(bases[0].value, Named):
                name = bases[0].value.name
                if planner.is_torch(name) and name != MODULE:
                    return [(name, bases[0])]
    return []
