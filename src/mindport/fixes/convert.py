"""From a rewritten expression back to changes of the text: as small as they can be, so that layout stays."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mindport.catalog import ApiRow, Target
from mindport.catalog.signature import Signature, read_signature
from mindport.catalog.surface import signature_of
from mindport.fixes.draft import Change, Part, Ref, Slice
from mindport.fixes.layout import Layout
from mindport.fixes.rewrite import Facts, Refused, convert_argument, rewrite_call, rewrite_name

_MARK = "_mindport_mark"
_PLACE = re.compile(r"mindport_(arg|name)_(\d+)_")
_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.Constant,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.DictComp,
    ast.SetComp,
    ast.JoinedStr,
)
"""Expressions whose text needs no brackets wherever it is put (a number before a dot aside)."""


class Converter:
    """Converts single expressions of one file."""

    def __init__(self, layout: Layout, parents: Mapping[ast.AST, ast.AST], facts: Facts) -> None:
        self.layout = layout
        self.parents = parents
        self.facts = facts

    def call(
        self,
        call: ast.Call,
        row: ApiRow,
        target: Target,
        receiver: ast.expr | None,
        signature: Signature | None,
    ) -> list[Change]:
        """The changes that turn a torch call into its target; raises `Refused`."""
        marked = _Marked()
        values = [*call.args, *(k.value for k in call.keywords)]
        for value in values if receiver is None else [receiver, *values]:
            marked.mark(value)
        try:
            result = rewrite_call(call, row, target, receiver, signature, self.facts)
            return self._changes(call, result, receiver, marked)
        finally:
            marked.clear()

    def call_parts(self, call: ast.Call, row: ApiRow, target: Target, receiver: ast.expr) -> list[Part]:
        """The whole new text of a method call; raises `Refused`."""
        marked = _Marked()
        for value in [receiver, *call.args, *(k.value for k in call.keywords)]:
            marked.mark(value)
        try:
            signature = read_signature(signature_of(target.name))
            return self.parts(rewrite_call(call, row, target, receiver, signature, self.facts), marked)
        finally:
            marked.clear()

    def name(self, node: ast.expr, row: ApiRow, target: Target, receiver: ast.expr | None) -> list[Change]:
        """The changes that turn a name or attribute that is not called into its target; raises `Refused`."""
        marked = _Marked()
        if receiver is not None:
            marked.mark(receiver)
        try:
            return self.regenerated(node, rewrite_name(node, row, target, receiver), receiver, marked)
        finally:
            marked.clear()

    def arguments_only(
        self,
        call: ast.Call,
        row: ApiRow,
        target: Target,
        signature: Signature | None,
        *,
        method: bool = False,
    ) -> list[Change]:
        """The changes of a call whose callee is a variable: its arguments alone; raises `Refused`.

        ``method``: the row is a method of the callee, whose first parameter is not among the arguments.
        """
        marked = _Marked()
        for value in [*call.args, *(k.value for k in call.keywords)]:
            marked.mark(value)
        try:
            if method:
                row = replace(row, signature=re.sub(r"^\(self,?\s*", "(", row.signature))
            result = rewrite_call(call, row, target, None, signature, self.facts)
            changes = self._arguments(call, result, None, marked) if isinstance(result, ast.Call) else None
        finally:
            marked.clear()
        if changes is None or (isinstance(result, ast.Call) and not dotted_target(result.func)):
            raise Refused("the call becomes another expression")
        return changes

    def keywords(self, call: ast.Call, rules: Mapping[str, Any]) -> list[Change]:
        """The changes of a call some of whose keywords follow rules of a table; raises `Refused`."""
        marked = _Marked()
        for value in [*call.args, *(k.value for k in call.keywords)]:
            marked.mark(value)
        try:
            keywords = []
            for keyword in call.keywords:
                rule = rules.get(keyword.arg or "")
                converted = (
                    convert_argument(keyword.arg, keyword.value, rule) if keyword.arg and rule else None
                )
                if rule is None or converted is not None:
                    keywords.append(ast.keyword(*converted) if converted is not None else keyword)
            changes = self._arguments(call, ast.Call(call.func, call.args, keywords), None, marked)
        finally:
            marked.clear()
        if changes is None:
            raise Refused("the arguments change their order")
        return changes

    def partial(self, call: ast.Call, row: ApiRow, target: Target) -> list[Change]:
        """The changes of ``functools.partial(torch name, ...)``; raises `Refused`."""
        marked = _Marked()
        for value in [*call.args, *(k.value for k in call.keywords)]:
            marked.mark(value)
        try:
            inner = ast.Call(call.args[0], call.args[1:], call.keywords)
            signature = read_signature(signature_of(target.name))
            result = rewrite_call(inner, row, target, None, signature, self.facts)
            if not isinstance(result, ast.Call) or not (name := dotted_target(result.func)):
                raise Refused("the call becomes another expression")
            whole = ast.Call(call.func, [call.args[0], *result.args], result.keywords)
            changes = self._arguments(call, whole, None, marked)
        finally:
            marked.clear()
        if changes is None:
            raise Refused("the arguments change their order")
        return [Change(*self.layout.range(call.args[0]), (Ref(name),)), *changes]

    def bound_name(self, node: ast.expr, target: Target, later: Mapping[str, str]) -> list[Change]:
        """A class passed on as a value, with the arguments torch's defaults need bound to it."""
        parts: list[Part] = [Ref("functools.partial"), "(", Ref(target.name)]
        for name, source in later.items():
            value = ast.parse(source, mode="eval").body
            parts += [f", {name}=", *self.parts(value, _Marked())]
        return [Change(*self.layout.range(node), (*parts, ")"))]

    # --- small changes ---------------------------------------------------------------------------------

    def _changes(
        self, call: ast.Call, result: ast.expr, receiver: ast.expr | None, marked: _Marked
    ) -> list[Change]:
        if isinstance(result, ast.Call):
            head = self._callee(call, result.func, receiver, marked)
            rest = self._arguments(call, result, receiver, marked) if head is not None else None
            if head is not None and rest is not None:
                return [*head, *rest]
        return self.regenerated(call, result, receiver, marked)

    def _callee(
        self, call: ast.Call, func: ast.expr, receiver: ast.expr | None, marked: _Marked
    ) -> list[Change] | None:
        if receiver is None:
            name = dotted_target(func)
            start, end = self.layout.range(call.func)
            return [Change(start, end, (Ref(name),))] if name else None
        if not isinstance(call.func, ast.Attribute) or not isinstance(func, ast.Attribute):
            return None
        if marked.index(func.value) != marked.index(receiver):
            return None
        if func.attr == call.func.attr:
            return []
        end = self.layout.range(call.func)[1]
        return [Change(end - len(call.func.attr), end, (func.attr,))]

    def _arguments(
        self, call: ast.Call, result: ast.Call, receiver: ast.expr | None, marked: _Marked
    ) -> list[Change] | None:
        regions = self.layout.arguments(call)
        opened = self.layout.open_bracket(call)
        if regions is None or opened is None:
            return None
        before = _in_order(call)
        new: list[tuple[str | None, ast.expr]] = [
            *((None, a) for a in result.args),
            *((k.arg, k.value) for k in result.keywords),
        ]
        homes = {marked.index(value): i for i, (_, value) in enumerate(before)}
        kept: dict[int, tuple[str | None, ast.expr]] = {}
        added: list[tuple[str | None, ast.expr]] = []
        position = -1
        for name, value in new:
            found = {homes[m] for m in marked.inside(value) if m in homes}
            if marked.inside(value) - set(homes):
                return None  # the receiver became an argument
            if not found:
                added.append((name, value))
                continue
            if len(found) > 1 or added or (home := found.pop()) <= position or home in kept:
                return None
            position = home
            kept[home] = (name, value)
        if any(name is None for name, _ in added) and kept:
            return None
        changes: list[Change] = []
        last_kept = max(kept, default=-1)
        for i, ((old_name, old), (start, end)) in enumerate(zip(before, regions, strict=True)):
            if i not in kept:
                stop = regions[i + 1][0] if i + 1 < len(regions) and last_kept > i else end
                begin = start if last_kept > i else (regions[i - 1][1] if i else start)
                changes.append(Change(begin, stop, ()))
                continue
            name, value = kept[i]
            inner = self.layout.range(old)
            if marked.index(value) is None:
                double = old_name is None and self.layout.text.startswith("**", start)
                head_text = f"{name}=" if name else "**" if double else ""
                changes.append(Change(start, end, (head_text, *self.parts(value, marked))))
            elif name != old_name:
                if isinstance(old, ast.Starred):
                    return None
                head = start if old_name else min(start, inner[0])
                stop = self._after_equals(start, inner[0]) if old_name else head
                changes.append(Change(head, stop, (f"{name}=",) if name else ()))
        text: list[Part] = []
        if added:
            at = regions[last_kept][1] if kept else opened + 1
            for name, value in added:
                text += [
                    ", " if text or kept else "",
                    *([f"{name}="] if name else []),
                    *self.parts(value, marked),
                ]
            if kept or not regions:
                changes.append(Change(at, at, tuple(text)))
        if not kept and regions:  # every old argument goes, with the commas
            changes = [Change(opened + 1, self.layout.range(call)[1] - 1, tuple(text))]
        return changes

    def _after_equals(self, start: int, end: int) -> int:
        for token in self.layout.between(start, end):
            if token.text == "=":
                following = self.layout.after(token.end)
                return following.start if following is not None else token.end
        return end

    # --- whole texts -----------------------------------------------------------------------------------

    def regenerated(
        self, node: ast.expr, result: ast.expr, receiver: ast.expr | None, marked: _Marked
    ) -> list[Change]:
        """Replace a node's text; a receiver that stays in front keeps its text."""
        start, end = self.layout.range(node)
        parts = self.parts(result, marked)
        atom = isinstance(result, _ATOMS)
        if atom and receiver is not None and parts and parts[0] == Slice(*self.layout.range(receiver)):
            return [Change(self.layout.range(receiver)[1], end, tuple(parts[1:]))]
        if not atom and not isinstance(result, ast.Tuple | ast.GeneratorExp):
            parent = self.parents.get(node)
            if isinstance(parent, ast.expr) and _tight(node, parent):
                parts = ["(", *parts, ")"]
        return [Change(start, end, tuple(parts))]

    def parts(self, expression: ast.expr, marked: _Marked) -> list[Part]:
        """The text of an expression: names to spell, slices of old text, and what stands between."""
        names: list[str] = []
        tree = _Places(marked, names).visit(expression)
        text = ast.unparse(ast.fix_missing_locations(tree))
        parents = {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
        loose = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and not _tight(node, parents.get(node))
        }
        result: list[Part] = []
        position = 0
        for match in _PLACE.finditer(text):
            result.append(text[position : match.start()])
            position = match.end()
            number = int(match[2])
            if match[1] == "name":
                result.append(Ref(names[number]))
                continue
            node = marked.nodes[number]
            piece = Slice(*self.layout.range(node))
            simple = isinstance(node, _ATOMS) and not _is_number(node)
            bare = isinstance(node, ast.Tuple) and self.layout.text[piece.start] != "("
            if (match[0] in loose or simple or isinstance(node, ast.Tuple | ast.GeneratorExp)) and not bare:
                result.append(piece)
            else:
                result += ["(", piece, ")"]
        result.append(text[position:])
        return [part for part in result if part != ""]


class _Marked:
    """Numbers the nodes whose old text is to be kept."""

    def __init__(self) -> None:
        self.nodes: list[ast.AST] = []

    def mark(self, node: ast.AST) -> None:
        setattr(node, _MARK, len(self.nodes))
        self.nodes.append(node)

    def clear(self) -> None:
        for node in self.nodes:
            if hasattr(node, _MARK):
                delattr(node, _MARK)

    def index(self, node: ast.AST) -> int | None:
        return getattr(node, _MARK, None)

    def inside(self, node: ast.AST) -> set[int]:
        found = self.index(node)
        if found is not None:
            return {found}
        return {number for child in ast.iter_child_nodes(node) for number in self.inside(child)}


class _Places(ast.NodeTransformer):
    """Puts placeholders where old text and MindSpore names stand."""

    def __init__(self, marked: _Marked, names: list[str]) -> None:
        self.marked = marked
        self.names = names

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace a marked node or a MindSpore name; copy the rest."""
        number = self.marked.index(node)
        if number is not None and not isinstance(node, ast.Starred):
            return ast.Name(f"mindport_arg_{number}_", ast.Load())
        if number is not None and isinstance(node, ast.Starred):
            # the star belongs to the old text's slice: keep it as an opaque argument
            return ast.Name(f"mindport_arg_{number}_", ast.Load())
        if isinstance(node, ast.Attribute | ast.Name):
            name = dotted_target(node)
            if name:
                self.names.append(name)
                return ast.Name(f"mindport_name_{len(self.names) - 1}_", ast.Load())
        copied = node.__class__(**{field: self._copy(value) for field, value in ast.iter_fields(node)})
        return ast.copy_location(copied, node) if hasattr(node, "lineno") else copied

    def _copy(self, value: object) -> object:
        if isinstance(value, list):
            return [self._copy(item) for item in value]
        return self.visit(value) if isinstance(value, ast.AST) else value


def dotted_target(node: ast.AST) -> str:
    """The full name when a node spells one of MindSpore's; empty otherwise."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        if hasattr(node, _MARK):
            return ""
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in ROOTS or hasattr(node, _MARK):
        return ""
    return ".".join([node.id, *reversed(parts)])


ROOTS = frozenset({"mindspore", "functools", "typing", "numpy"})
"""The modules templates may name; everything else in a template is Python's own."""


def _in_order(call: ast.Call) -> Sequence[tuple[str | None, ast.expr]]:
    pairs = [*((None, a) for a in call.args), *((k.arg, k.value) for k in call.keywords)]
    return sorted(pairs, key=lambda pair: (pair[1].lineno, pair[1].col_offset))


def _tight(node: ast.AST, parent: ast.AST | None) -> bool:
    """Whether a place needs brackets around an expression that is no atom."""
    if parent is None or isinstance(parent, ast.keyword | ast.List | ast.Tuple | ast.Dict | ast.Slice):
        return False
    if isinstance(parent, ast.Call):
        return parent.func is node
    if isinstance(parent, ast.Subscript):
        return parent.value is node
    return True


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


__all__ = ["Converter", "Refused", "dotted_target"]
