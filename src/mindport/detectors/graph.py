"""Shapes of code that GRAPH_MODE compiles: syntax, calls and statements its parser refuses or changes."""

from __future__ import annotations

import ast
from typing import Any, ClassVar

from mindport.catalog import Check
from mindport.detectors.base import Detector, FileView, shape
from mindport.findings import Confidence, Severity, Span
from mindport.semantics.compiled import Compiled, Origin
from mindport.semantics.live import Live
from mindport.semantics.scopes import Context
from mindport.semantics.values import ClassValue, FunctionValue, Instance, Named


class CompiledShape(Detector):
    """Base: looks at every live node of every compiled function, and reports by origin and mode."""

    placeholders: ClassVar[frozenset[str]] = frozenset({"function", "found"})

    kinds: ClassVar[tuple[type[ast.AST], ...]] = ()

    late: ClassVar[bool] = False
    """Whether a step after the parser refuses this: it does not see arms whose condition is known to it."""

    def node_kinds(self) -> tuple[type[ast.AST], ...]:
        """The node types `look` wants to see."""
        return self.kinds

    def finish(self, view: FileView) -> None:
        """Look at the compiled functions."""
        for compiled in view.compiled:
            for kind in self.node_kinds():
                for live in compiled.live.get(kind, ()):
                    self.look(view, compiled, live)

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Judge one node."""

    def found(
        self,
        view: FileView,
        compiled: Compiled,
        node: ast.AST,
        sure: Confidence,
        name: str,
        span: Span | None = None,
    ) -> None:
        """Report a node of a compiled function."""
        severity = graph_severity(view, self.check, compiled.origin)
        values = {"function": compiled.root, "found": name}
        where = span or header_span(view, node)
        reached = compiled.late.weaker(compiled.confidence) if self.late else compiled.confidence
        view.report(self.check, where, reached.weaker(sure), values, severity=severity)


def graph_severity(view: FileView, check: Check, origin: Origin) -> Severity | None:
    """How bad a finding of GRAPH_MODE is: advice in PyNative, as the check says before the port, else None."""
    if view.config.mode == "pynative":
        return Severity.INFO
    return check.before_port if origin is Origin.FORWARD else None


def header_span(view: FileView, node: ast.AST) -> Span:
    """The span of an expression, or of the first line of a statement."""
    span = view.module.source.span(node)
    if span.line == span.end_line:
        return span
    line = view.module.source.lines[span.line - 1]
    return Span(span.line, span.column, span.line, max(span.column + 1, len(line.rstrip())))


@shape("compiled-node")
class CompiledNode(CompiledShape):
    """A node of one of the listed ``ast`` types, or a constant of one of the listed Python types."""

    parameters = {"types": (list, False), "constants": (list, False)}

    def node_kinds(self) -> tuple[type[ast.AST], ...]:
        """The listed types; names this Python does not know are skipped."""
        known = [getattr(ast, name, None) for name in self.values.get("types", ())]
        constants = [ast.Constant] if self.values.get("constants") else []
        return tuple(kind for kind in (*known, *constants) if kind is not None)

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the node."""
        name = type(live.node).__name__
        if name in self.values.get("types", ()):
            self.found(view, compiled, live.node, live.confidence, name)
        elif isinstance(live.node, ast.Constant):
            kind = type(live.node.value).__name__
            if kind in self.values.get("constants", ()):
                self.found(view, compiled, live.node, live.confidence, kind)


@shape("compiled-comprehension")
class CompiledComprehension(CompiledShape):
    """A comprehension with more than ``loops`` loops."""

    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    parameters = {"loops": (int, True)}

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the comprehension."""
        generators = getattr(live.node, "generators", ())
        if len(generators) > self.values["loops"]:
            self.found(view, compiled, live.node, live.confidence, str(len(generators)))


@shape("compiled-loop-else")
class CompiledLoopElse(CompiledShape):
    """A loop with an ``else`` arm."""

    kinds = (ast.For, ast.While)

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the loop."""
        if isinstance(live.node, ast.For | ast.While) and live.node.orelse:
            self.found(view, compiled, live.node, live.confidence, type(live.node).__name__.lower())


@shape("compiled-with")
class CompiledWith(CompiledShape):
    """A ``with`` on something else than an instance of a class decorated with one of ``allowed``."""

    kinds = (ast.With,)
    late = True

    parameters = {"allowed": (list, True), "ignored": (list, False)}

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the statement."""
        if not isinstance(live.node, ast.With):
            return
        for item in live.node.items:
            sure = self._refused(view, item.context_expr, view.context_of(live.node))
            if sure is not None:
                name = view.module.source.segment(item.context_expr)
                self.found(view, compiled, live.node, live.late.weaker(sure), name)
                return

    def _refused(self, view: FileView, node: ast.expr, context: Context) -> Confidence | None:
        verdict = Confidence.POSSIBLE if isinstance(node, ast.Call) else Confidence.INFERRED
        for candidate in view.module.resolve(node, context):
            callee = candidate.value.callee if isinstance(candidate.value, Instance) else candidate.value
            if isinstance(callee, ClassValue) and self._allowed(callee):
                return None
            if isinstance(callee, Named) and callee.name in self.names("ignored"):
                return None
            verdict = candidate.confidence
        return verdict

    def _allowed(self, value: ClassValue) -> bool:
        return not self.names("allowed").isdisjoint(value.module.class_decorators(value.node))


@shape("compiled-raise")
class CompiledRaise(CompiledShape):
    """A ``raise`` of an exception class that is not in ``allowed``."""

    kinds = (ast.Raise,)

    parameters = {"allowed": ((str, list), True)}

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the statement."""
        if not isinstance(live.node, ast.Raise) or live.node.exc is None:
            return
        exception = live.node.exc
        target = exception.func if isinstance(exception, ast.Call) else exception
        context = view.context_of(live.node)
        for candidate in view.module.resolve(target, context):
            value = candidate.value
            builtin = isinstance(value, Named) and value.name.startswith("builtins.")
            refused = isinstance(value, Named) and builtin and value.name not in self.names("allowed")
            if refused or isinstance(value, ClassValue):
                name = view.module.source.segment(target)
                self.found(view, compiled, live.node, live.confidence.weaker(candidate.confidence), name)
                return


@shape("compiled-call")
class CompiledCall(CompiledShape):
    """A call of one of ``names`` (``prefix.*`` for a whole module) but none of ``ignored``.

    ``keywords``: only when one of these is passed. ``used = true``: not when the result is never read.
    """

    kinds = (ast.Call,)
    late = True

    parameters: ClassVar[dict[str, Any]] = {
        "names": ((str, list), True),
        "ignored": (list, False),
        "keywords": (list, False),
        "used": (bool, False),
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        names = self.names("names")
        self._exact = frozenset(n for n in names if not n.endswith(".*"))
        self._prefixes = tuple(n[:-1] for n in names if n.endswith(".*"))

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the call."""
        if not isinstance(live.node, ast.Call):
            return
        keywords = self.values.get("keywords")
        if keywords and not any(k.arg in keywords for k in live.node.keywords):
            return
        ignored = self.names("ignored")
        for name, confidence in view.called(live.node):
            if name in ignored or not (name in self._exact or name.startswith(self._prefixes)):
                continue
            if not (self.values.get("used") and _unread(compiled, live.node)):
                shown = name.removeprefix("builtins.")
                self.found(view, compiled, live.node, live.late.weaker(confidence), shown)
                return


def _unread(compiled: Compiled, call: ast.Call) -> bool:
    """Whether a call's result goes to a name that the function never reads."""
    for live in compiled.live.get(ast.Assign, ()):
        if isinstance(live.node, ast.Assign) and live.node.value is call:
            targets = live.node.targets
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            return len(names) == len(targets) and not any(
                isinstance(other.node, ast.Name)
                and other.node.id in names
                and isinstance(other.node.ctx, ast.Load)
                for other in compiled.live.get(ast.Name, ())
            )
    return False


@shape("compiled-method-call")
class CompiledMethodCall(CompiledShape):
    """A call of one of ``methods`` on ``self`` or on an instance of one of ``base``."""

    kinds = (ast.Call,)
    late = True

    parameters = {"methods": (list, True), "base": ((str, list), True)}

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the call."""
        node = live.node
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return
        if node.func.attr not in self.values["methods"]:
            return
        context = view.context_of(node)
        if any(isinstance(c.value, FunctionValue) for c in view.module.resolve(node.func, context)):
            return  # the project's own method of that name
        for candidate in view.module.resolve(node.func.value, context):
            kind = view.kind_of(candidate.value, self.names("base"))
            if kind is not None:
                sure = live.late.weaker(kind).weaker(candidate.confidence)
                self.found(view, compiled, node, sure, node.func.attr)
                return


@shape("compiled-signature")
class CompiledSignature(CompiledShape):
    """A compiled function with positional-only parameters."""

    def finish(self, view: FileView) -> None:
        """Report the first such parameter of each function."""
        for compiled in view.compiled:
            only = compiled.node.args.posonlyargs
            if only:
                span = view.module.source.span(only[0])
                self.found(view, compiled, only[0], Confidence.CERTAIN, only[0].arg, span)


@shape("compiled-dict-spread")
class CompiledDictSpread(CompiledShape):
    """``{**d}`` in compiled code."""

    kinds = (ast.Dict,)
    late = True

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the dict."""
        if isinstance(live.node, ast.Dict) and None in live.node.keys:
            self.found(view, compiled, live.node, live.late, "**")
