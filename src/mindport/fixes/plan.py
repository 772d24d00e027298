"""What can be fixed in a file: a draft per use of a torch name, Tensor method, layer, class and statement."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from mindport.catalog import ApiRow, Target
from mindport.catalog.evidence import proven
from mindport.catalog.signature import read_signature
from mindport.catalog.surface import signature_of
from mindport.detectors.api import effective_difference, is_leftover_guarded
from mindport.detectors.base import FileView, Use
from mindport.findings import Applicability, Confidence, Span
from mindport.fixes.convert import Converter
from mindport.fixes.draft import Change, Draft, Slice
from mindport.fixes.layout import Layout
from mindport.fixes.places import Places
from mindport.fixes.rewrite import Facts, Refused
from mindport.semantics.compiled import Origin
from mindport.semantics.kinds import Kind
from mindport.semantics.scopes import Context, NamedFunction, Scope
from mindport.semantics.values import Candidate, ClassValue, Expression, Named, Partial, Value
from mindport.uses import tensor_name, unclear_receivers

MODULE = "torch.nn.Module"
_PYTHON = (str, bytes, list, tuple, dict, set, int, float)


def _within(scope: Scope | None, functions: set[NamedFunction]) -> bool:
    while scope is not None:
        if scope.node in functions:
            return True
        scope = scope.parent
    return False


class Planner:
    """Makes the drafts of one file. Every part adds what it knows; none needs another's result."""

    def __init__(self, view: FileView) -> None:
        self.view = view
        self.catalog = view.catalog
        self.layout = Layout(view.module.source)
        self.parents = view.module.scopes.parents
        self.converter = Converter(self.layout, self.parents, Facts(self.kind_word, self.keys_of))
        self.places = Places(view)
        self.drafts: list[Draft] = []
        concepts = self.catalog.concepts
        self.torch = frozenset(concepts.get("frameworks", {}).get("torch", ()))
        self.codes = {
            difference: check.code
            for check in self.catalog.checks
            for detection in check.detections
            if detection.shape == "api-difference"
            for difference in detection.parameters["difference"]
        }
        self.by_node: dict[ast.AST, list[Use]] = defaultdict(list)
        for use in view.uses:
            self.by_node[use.node].append(use)

    def plan(self) -> list[Draft]:
        """All drafts, in source order."""
        from mindport.fixes import forwarding, layers, quoted, statements, structure

        for uses in self.by_node.values():
            self._use(uses)
        self._unclear()
        layers.plan(self)
        structure.plan(self)
        statements.plan(self)
        forwarding.plan(self)
        quoted.plan(self)
        return sorted(self.drafts, key=lambda draft: draft.start)

    # --- shared ----------------------------------------------------------------------------------------

    def is_torch(self, name: str) -> bool:
        """Whether a full name is torch's (or one of its sister packages')."""
        return name.partition(".")[0] in self.torch

    def target(self, row: ApiRow) -> Target | None:
        """The side of a row the configuration prefers."""
        return row.preferred(self.view.config.api)

    def kind_word(self, node: ast.expr) -> str:
        """The kind of a value as templates name it; empty when it is not known."""
        kind = self.view.known(node).kind
        if kind is not None:
            return kind.value
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        words = self.catalog.concepts.get("kinds-by-name", {})
        return next((word for word, names in words.items() if name in names), "")

    def keys_of(self, node: ast.expr) -> frozenset[str] | None:
        """The keys of a dictionary in a variable, where every value it can have is written out."""
        if not isinstance(node, ast.Name):
            return None
        context = self.contexts.get(node)
        if context is None:
            return None
        keys: set[str] = set()
        for candidate in self.view.module.resolve(node, context):
            value = candidate.value
            if not isinstance(value, Expression) or not isinstance(value.node, ast.Dict):
                return None
            for key in value.node.keys:
                if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                    return None
                keys.add(key.value)
        return frozenset(keys)

    @cached_property
    def contexts(self) -> dict[ast.AST, Context]:
        """Where the names of the file stand."""
        return dict(self.view.module.scopes.nodes.get(ast.Name, ()))

    @cached_property
    def held(self) -> dict[tuple[str, str], str]:
        """The layers in dictionaries of layers: (attribute, key) -> torch name."""
        result = {}
        containers = self.catalog.concepts.get("nested-containers", {})
        for uses in self.by_node.values():
            use = uses[0]
            if use.name not in containers or use.call is None or len(use.call.args) != 1:
                continue
            statement = self.parents.get(use.call)
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            for key, value in (written_items(use.call.args[0]) or {}).items():
                inner = self.by_node.get(value.func, []) if isinstance(value, ast.Call) else []
                if inner and isinstance(target, ast.Attribute):
                    result[target.attr, key] = inner[0].name
        return result

    def applicability(self, row: ApiRow, target: Target, difference: str, sure: Confidence) -> Applicability:
        """Safe where executing the row showed equal results and the name is certain."""
        side = "mint" if target is row.mint else "nn"
        shown = side in proven()["rows"].get(row.name, {})
        calm = difference in ("same", "rename", "arguments", "default", "compose")
        safe = shown and calm and sure is Confidence.CERTAIN
        return Applicability.SAFE if safe else Applicability.UNSAFE

    def add(self, code: str, span: Span, applicability: Applicability, changes: Sequence[Change]) -> None:
        """Add a draft unless it changes nothing."""
        real = tuple(c for c in changes if c.parts != (self.layout.text[c.start : c.end],))
        if real:
            self.drafts.append(Draft(code, span, applicability, real))

    def convert(
        self,
        use: Use,
        row: ApiRow,
        make: Callable[[Target], Sequence[Change]],
        target: Target | None = None,
    ) -> None:
        """Add the draft of one use; nothing where the row refuses."""
        target = target or self.target(row)
        if target is None:
            return
        difference = effective_difference(row, target, use)
        code = self.codes.get(difference)
        if code is None:
            return
        try:
            changes = make(target)
        except Refused:
            return
        applicability = self.applicability(row, target, difference, use.candidate.confidence)
        self.add(code, self.view.span_of(use), applicability, changes)

    def row_of(self, uses: Sequence[Use]) -> tuple[Use, ApiRow] | None:
        """The one row all readings of a name share."""
        names = {use.name for use in uses}
        use = uses[0]
        if len(names) != 1 or not self.is_torch(use.name):
            return None
        if use.candidate.confidence is Confidence.POSSIBLE or is_leftover_guarded(self.view, use):
            return None
        row = self.catalog.api(use.name)
        return (use, row) if row is not None else None

    # --- uses ------------------------------------------------------------------------------------------

    def _use(self, uses: Sequence[Use]) -> None:
        found = self.row_of(uses)
        if found is None:
            return
        use, row = found
        if use.method:
            self._method(use, row)
        elif use.call is not None and row.kind not in ("context", "statement"):
            self._call(use, row, use.call)
        elif use.call is None:
            self._reference(use, row)

    def _call(self, use: Use, row: ApiRow, call: ast.Call) -> None:
        def make(target: Target) -> Sequence[Change]:
            signature = read_signature(signature_of(target.name))
            return self.converter.call(call, row, target, None, signature)

        self.convert(use, row, make)

    def _method(self, use: Use, row: ApiRow) -> None:
        assert isinstance(use.node, ast.Attribute)
        node, call = use.node, use.call
        in_place = node.attr.endswith("_") and not node.attr.startswith("__")
        if call is not None and in_place:
            self._in_place(use, row, call, node)
        elif call is not None:
            self.convert(use, row, lambda target: self._on_receiver(call, node, row, target))
        elif row.kind != "method":
            self.convert(use, row, lambda target: self.converter.name(node, row, target, node.value))

    def _unclear(self) -> None:
        """Methods of values nobody can follow, in the functions a network runs: there they are Tensors.

        Names that Python's own containers and texts have are left alone.
        """
        inside = {item.node for item in self.view.compiled if item.origin is Origin.FORWARD}
        for call, context, known in unclear_receivers(self.view):
            func = call.func
            if not isinstance(func, ast.Attribute) or not _within(context.scope, inside):
                continue
            name = tensor_name(self.view, known, func.attr)
            row = self.catalog.api(name) if name is not None and self.is_torch(name) else None
            if row is None or any(hasattr(kind, func.attr) for kind in _PYTHON):
                continue
            if func in self.by_node or self.view.module.resolve(func.value, context):
                continue
            use = Use(func, context, row.name, Candidate(Named(row.name), Confidence.POSSIBLE), call, True)
            self._method(use, row)

    def _on_receiver(
        self, call: ast.Call, node: ast.Attribute, row: ApiRow, target: Target
    ) -> Sequence[Change]:
        signature = read_signature(signature_of(target.name))
        return self.converter.call(call, row, target, node.value, signature)

    def _in_place(self, use: Use, row: ApiRow, call: ast.Call, node: ast.Attribute) -> None:
        """``x.add_(y)`` as a statement becomes ``x = x.add(y)``; inside an expression the result is enough."""
        outer = self.catalog.api(use.name[:-1])
        target = self.target(row)
        if outer is not None and (target is None or not target.variants):
            row = outer
        if not isinstance(self.parents.get(call), ast.Expr):
            if not isinstance(node.value, ast.Name | ast.Attribute):
                self.convert(use, row, lambda target: self._on_receiver(call, node, row, target))
            return
        receiver: ast.expr = node.value
        if isinstance(receiver, ast.Attribute) and self.places.is_data(receiver):
            receiver = receiver.value
        parameter = self.view.known(receiver).kind is Kind.PARAMETER or receiver is not node.value
        if not isinstance(receiver, ast.Name | ast.Attribute) or (
            isinstance(receiver, ast.Attribute) and not isinstance(receiver.value, ast.Name) and not parameter
        ):
            return
        start, end = self.layout.range(call)
        name = Slice(*self.layout.range(receiver))
        before, after = (".set_data(", ")") if parameter else (" = ", "")

        def make(target: Target) -> Sequence[Change]:
            parts = self.converter.call_parts(call, row, target, receiver)
            return [Change(start, end, (name, before, *parts, after))]

        self.convert(use, row, make)

    def _reference(self, use: Use, row: ApiRow) -> None:
        node = use.node
        call = self.places.partial_of(node)
        if call is not None:
            self.convert(use, row, lambda target: self.converter.partial(call, row, target))
            return
        decorated = self.places.decorated(node)
        if decorated is not None:
            if row.kind == "decorator":
                self.convert(use, row, lambda target: self.drop_decorator(node))
            return
        if row.kind == "context" or self.places.is_context(node):
            return

        def make(target: Target) -> Sequence[Change]:
            plain = replace(target, variants=()) if target.name else target
            if row.kind == "class" and self.places.is_value(node) and not target.variants:
                later = {**target.omitted, **target.always}
                if later:
                    return self.converter.bound_name(node, target, later)
            if row.kind in ("class", "function") and not target.name:
                raise Refused("a composition has no name to pass on")
            return self.converter.name(node, row, plain if row.kind == "class" else target, None)

        self.convert(use, row, make)

    def drop_decorator(self, node: ast.expr) -> list[Change]:
        """Remove a decorator with its line."""
        start, end = self.layout.range(node)
        line, _ = self.layout.place(start)
        last, _ = self.layout.place(end)
        begin = self.layout.starts[line - 1]
        stop = self.layout.starts[last] if last < len(self.layout.starts) else len(self.layout.text)
        before, after = self.layout.text[begin:start].strip(), self.layout.text[end:stop].strip()
        if before != "@" or (after and not after.startswith("#")):
            raise Refused("the decorator shares its line")
        return [Change(begin, stop, ())]

    # --- calls through variables -----------------------------------------------------------------------

    def classes_of(self, node: ast.expr, context: Context) -> list[tuple[str, Candidate]]:
        """The torch classes and functions a variable can stand for; empty when it can be anything else."""
        found: list[tuple[str, Candidate]] = []
        for candidate in self.view.module.resolve(node, context):
            value = candidate.value
            if isinstance(value, Partial):
                value = value.callee
            name = self.layer_behind(value)
            if name is not None:
                found.append((name, candidate))
            elif not self.places.is_none(value):
                return []
        return found

    def layer_behind(self, value: Value) -> str | None:
        """The torch name a value is, or the layer whose constructor a class of the project inherits."""
        if isinstance(value, Named):
            return value.name if self.is_torch(value.name) else None
        if not isinstance(value, ClassValue) or "__init__" in value.module.methods(value.node):
            return None
        bases = value.module.bases(value.node)
        base = self.layer_behind(bases[0].value) if len(bases) == 1 and bases[0].value != value else None
        return None if base == MODULE else base

    def calls(self) -> Iterator[tuple[ast.Call, Context]]:
        """Every call of the file with its context."""
        for node, context in self.view.module.scopes.nodes.get(ast.Call, ()):
            assert isinstance(node, ast.Call)
            yield node, context


def written_items(node: ast.expr) -> dict[str, ast.expr] | None:
    """The keys and values of a dictionary that is written out, all keys being names."""
    if isinstance(node, ast.Dict):
        pairs = [(getattr(k, "value", None), v) for k, v in zip(node.keys, node.values, strict=True)]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        pairs = [(k.arg, k.value) for k in node.keywords]
    else:
        return None
    result = {key: value for key, value in pairs if isinstance(key, str) and key.isidentifier()}
    return result if len(result) == len(pairs) else None
