"""Shapes of loss objects: which labels they are fed, and what becomes of their result."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from mindport.detectors.base import Detector, FileView, shape
from mindport.detectors.calls import Target, argument, targets
from mindport.findings import Applicability, Confidence, Edit, Fix, Span
from mindport.semantics.module import Module
from mindport.semantics.nodes import walk
from mindport.semantics.scopes import Context
from mindport.semantics.values import Instance, Named

_PARAMETERS = {
    "callee": (list, True),
    "flag": (str, True),  # the parameter looked at
    "position": (int, True),
    "labels": (str, False),  # the name of the label parameter of the loss call
}


class _Loss(Detector):
    def applies(self, view: FileView) -> bool:
        """Whether the file spells one of the losses at all."""
        text = view.module.source.text
        return any(name.rpartition(".")[2] in text for name in self.names("callee"))

    def node_types(self) -> Iterable[type[ast.AST]]:
        """Calls."""
        return (ast.Call,)

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Look at each call that makes the loss object."""
        assert isinstance(node, ast.Call)
        for target in targets(view.module, node, context, self.names("callee")):
            self.made(view, node, context, target)
            return

    def made(self, view: FileView, node: ast.Call, context: Context, target: Target) -> None:
        """Judge one loss object."""
        raise NotImplementedError


def _feeds(module: Module, made: ast.Call) -> Iterator[tuple[ast.Call, Context]]:
    """The calls of a loss object in the same file."""
    for call, context in module.scopes.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        if call.func is made:
            yield call, context
            continue
        for candidate in module.resolve(call.func, context):
            if isinstance(candidate.value, Instance) and candidate.value.call is made:
                yield call, context
                break


@shape("loss-labels")
class LossLabels(_Loss):
    """A loss whose ``flag`` is not set although the labels are class indices, not one-hot rows."""

    parameters = {**_PARAMETERS, "one-hot": ((str, list), True), "one-hot-words": (list, True)}
    parameters |= {"index": ((str, list), True), "dtypes": ((str, list), True)}
    placeholders = frozenset({"callee", "flag"})

    def made(self, view: FileView, node: ast.Call, context: Context, target: Target) -> None:
        """Report the loss when its labels are, or are likely to be, class indices."""
        module = view.module
        flag = argument(module, node, context, self.values["flag"], self.values["position"], target.skip)
        if flag.unknown and flag.node is None:
            return
        explicit = flag.node is not None
        if flag.node is not None:
            values = module.constants(flag.node, context)
            if not values or any(value.value is not False for value in values):
                return
        evidence = self._evidence(view, node)
        if evidence is False:
            return
        if evidence is None and self._one_hot_in(module):
            return
        confidence = target.candidate.confidence
        if evidence is None:
            confidence = confidence.weaker(Confidence.POSSIBLE if explicit else Confidence.INFERRED)
        span = module.source.span(node)
        fix = _set_keyword(module, node, flag.node, self.values["flag"], "True", span)
        values_shown = {"callee": target.name, "flag": self.values["flag"]}
        view.report(self.check, span, confidence, values_shown, fix=fix)

    def _evidence(self, view: FileView, made: ast.Call) -> bool | None:
        """True: fed class indices; False: fed rows; None: the file does not tell."""
        verdict: bool | None = None
        for call, context in _feeds(view.module, made):
            found = argument(view.module, call, context, self.values["labels"], 1)
            if found.node is None:
                continue
            kind = self._labels(view.module, found.node, context, 0)
            if kind is False:
                return False
            verdict = verdict or kind
        return verdict

    def _labels(self, module: Module, node: ast.expr, context: Context, depth: int) -> bool | None:
        if depth > 8:
            return None
        if self._rows(module, node, context):
            return False
        if isinstance(node, ast.Call):
            names = {c.value.name for c in module.resolve(node.func, context) if isinstance(c.value, Named)}
            if names & self.names("index"):
                return True
            parts = [*node.args, *(k.value for k in node.keywords)]
            for part in parts:
                resolved = {c.value.name for c in module.resolve(part, context) if isinstance(c.value, Named)}
                if resolved & self.names("dtypes"):
                    return not _nested(parts)
            if isinstance(node.func, ast.Attribute):
                return self._labels(module, node.func.value, context, depth + 1)
            return None
        if isinstance(node, ast.Name):
            _, bindings = module.lookup(node.id, context, (node.lineno, node.col_offset))
            verdicts = [
                self._labels(module, b.value, b.context, depth + 1)
                for b in bindings
                if isinstance(b.value, ast.expr) and b.value is not node
            ]
            if False in verdicts:
                return False
            return True if verdicts and all(verdicts) else None
        return None

    def _rows(self, module: Module, node: ast.AST, context: Context) -> bool:
        words: list[str] = self.values["one-hot-words"]
        for part in walk(node):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "attr", "")
            if isinstance(name, str) and any(word in name.lower() for word in words):
                return True
            if isinstance(part, ast.Call):
                for candidate in module.resolve(part.func, context):
                    value = candidate.value
                    callee = value.callee if isinstance(value, Instance) else value
                    if isinstance(callee, Named) and callee.name in self.names("one-hot"):
                        return True
        return False

    def _one_hot_in(self, module: Module) -> bool:
        """Whether the file makes one-hot rows or mixes labels anywhere."""
        words: list[str] = self.values["one-hot-words"]
        text = module.source.text.lower()
        return any(word in text for word in words)


def _nested(parts: list[ast.expr]) -> bool:
    """Whether one of the arguments is a list of lists: rows, not indices."""
    return any(
        isinstance(part, ast.List | ast.Tuple)
        and any(isinstance(element, ast.List | ast.Tuple) for element in part.elts)
        for argument_node in parts
        for part in walk(argument_node)
    )


@shape("loss-result")
class LossResult(_Loss):
    """A loss whose ``flag`` (the reduction) is omitted and whose result nobody in the file reduces."""

    parameters = {**_PARAMETERS, "reductions": (list, True), "value": (str, True)}
    placeholders = frozenset({"callee", "flag", "value"})

    def made(self, view: FileView, node: ast.Call, context: Context, target: Target) -> None:
        """Report the loss."""
        module = view.module
        flag = argument(module, node, context, self.values["flag"], self.values["position"], target.skip)
        if flag.node is not None or flag.unknown:
            return
        feeds = list(_feeds(module, node))
        if any(self._reduced(module, call, where) for call, where in feeds):
            return
        span = module.source.span(node)
        value = self.values["value"]
        fix = _set_keyword(module, node, None, self.values["flag"], value, span)
        shown = {"callee": target.name, "flag": self.values["flag"], "value": value}
        view.report(self.check, span, target.candidate.confidence.weaker(Confidence.INFERRED), shown, fix=fix)

    def _reduced(self, module: Module, call: ast.Call, context: Context) -> bool:
        """Whether the function that calls the loss uses a reducing name anywhere."""
        words: list[str] = self.values["reductions"]
        for part in walk(context.scope.node):
            name = part.id if isinstance(part, ast.Name) else getattr(part, "attr", "")
            if isinstance(name, str) and any(word in name.lower() for word in words):
                return True
        return False


@shape("loss-label-dtype")
class LossLabelDtype(_Loss):
    """A loss fed labels of a dtype it refuses."""

    parameters = {**_PARAMETERS, "dtypes": ((str, list), True)}
    placeholders = frozenset({"callee"})

    def made(self, view: FileView, node: ast.Call, context: Context, target: Target) -> None:
        """Report the label argument of each call."""
        module = view.module
        for call, where in _feeds(module, node):
            found = argument(module, call, where, self.values["labels"], 1)
            if found.node is not None and self._wrong(module, found.node, where, 0):
                sure = target.candidate.confidence.weaker(Confidence.INFERRED)
                view.report(self.check, module.source.span(found.node), sure, {"callee": target.name})

    def _wrong(self, module: Module, node: ast.expr, context: Context, depth: int) -> bool:
        if depth > 8:
            return False
        if isinstance(node, ast.Call):
            for part in [*node.args, *(k.value for k in node.keywords)]:
                for candidate in module.resolve(part, context):
                    if isinstance(candidate.value, Named) and candidate.value.name in self.names("dtypes"):
                        return True
        if isinstance(node, ast.Name):
            _, bindings = module.lookup(node.id, context, (node.lineno, node.col_offset))
            return bool(bindings) and all(
                isinstance(b.value, ast.expr)
                and b.value is not node
                and self._wrong(module, b.value, b.context, depth + 1)
                for b in bindings
            )
        return False


def _set_keyword(
    module: Module, call: ast.Call, old: ast.expr | None, name: str, value: str, span: Span
) -> Fix:
    """The fix that passes ``name=value`` to a call, replacing what was passed."""
    title = f"{name}={value}"
    if old is not None:
        return Fix(Applicability.UNSAFE, title, (Edit(module.source.span(old), value),))
    end = Span(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
    has_arguments = bool(call.args or call.keywords)
    trailing = has_arguments and _trailing_comma(module, call, end)
    text = title if not has_arguments else f" {title}" if trailing else f", {title}"
    return Fix(Applicability.UNSAFE, title, (Edit(end, text),))


def _trailing_comma(module: Module, call: ast.Call, end: Span) -> bool:
    last = max(
        (module.source.span(n) for n in (*call.args, *(k.value for k in call.keywords))),
        key=lambda s: (s.end_line, s.end_column),
    )
    lines = module.source.lines[last.end_line - 1 : end.line]
    lines[-1] = lines[-1][: end.column]
    lines[0] = lines[0][last.end_column :]
    return any(line.partition("#")[0].strip().startswith(",") for line in lines)
