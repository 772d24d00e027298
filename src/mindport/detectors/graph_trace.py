"""Shapes that following the compiled code finds: what is joined, changed, cut off or refused on the way."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from mindport.detectors.base import FileView, Stage, shape
from mindport.detectors.graph import CompiledShape, graph_severity, header_span
from mindport.findings import Applicability, Confidence, Edit, Fix, Span
from mindport.semantics.compiled import Compiled, Origin
from mindport.semantics.trace import Event, Tracer
from mindport.semantics.trace.values import SOFT

_ROOTS = ("construct", "forward")


def trace(view: FileView) -> Tracer:
    """The followed code of a file; followed once."""
    known: Tracer | None = view.__dict__.get("trace")
    if known is None:
        compiled_nodes = frozenset(c.node for c in view.compiled)
        far = view.stage is not Stage.TORCH  # before the port, what helpers do is said in their own files
        known = Tracer(view.module, view.catalog.sets, compiled_nodes, view.known, far=far)
        for compiled in roots(view):
            known.trace(compiled)
        met = {event.node for event in known.events.values() if event.kind.startswith("cut-")}
        for key in [k for k in known.events if k[0].startswith(SOFT) and k[1] in met]:
            del known.events[key]  # said by the stronger finding
        view.__dict__["trace"] = known
    return known


def roots(view: FileView) -> Iterable[Compiled]:
    """The compiled functions that nothing but the framework calls."""
    for compiled in view.compiled:
        if compiled.node.name in _ROOTS or compiled.origin is Origin.JIT:
            yield compiled


def enclosing(view: FileView, node: ast.AST) -> Compiled | None:
    """The compiled function a node stands in, the innermost one."""
    line = getattr(node, "lineno", 0)
    found = [c for c in view.compiled if c.node.lineno <= line <= (c.node.end_lineno or line)]
    return max(found, key=lambda c: c.node.lineno, default=None)


@shape("trace-event")
class TraceEvent(CompiledShape):
    """One of the listed ``events``; those seen on an attribute of a class are ``inferred`` at most.

    ``ported``: only in code that runs on MindSpore already. ``methods``: what a method that is called becomes when it
    is fixed, by its name; those in ``grouped`` take their arguments as one tuple.
    """

    parameters = {
        "events": (list, True),
        "ported": (bool, False),
        "methods": (dict, False),
        "grouped": (list, False),
    }

    def finish(self, view: FileView) -> None:
        """Report the events of the file."""
        if not view.compiled:
            return
        for event in trace(view).events.values():
            if event.kind in self.values["events"]:
                self._report(view, event)

    def _report(self, view: FileView, event: Event) -> None:
        compiled = enclosing(view, event.node)
        torch = view.stage is Stage.TORCH
        origin = compiled.origin if compiled is not None else Origin.FORWARD if torch else Origin.CONSTRUCT
        if self.values.get("ported") and origin is Origin.FORWARD:
            return
        severity = graph_severity(view, self.check, origin)
        root = compiled.root if compiled is not None else ""
        values = {"function": root, "found": event.found}
        sure = event.sure if event.sure is not Confidence.CERTAIN else Confidence.INFERRED
        fix = self._fix(view, event.node)
        view.report(self.check, header_span(view, event.node), sure, values, fix=fix, severity=severity)

    def _fix(self, view: FileView, call: ast.AST) -> Fix | None:
        """The call with another method; None where the arguments do not show how many they are."""
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        old = call.func.attr
        new = self.values.get("methods", {}).get(old)
        if (
            new is None
            or call.keywords
            or not call.args
            or any(isinstance(a, ast.Starred) for a in call.args)
        ):
            return None
        source = view.module.source
        end = source.span(call.func)
        name = Span(end.end_line, end.end_column - len(old), end.end_line, end.end_column)
        edits = [Edit(name, new)]
        if new in self.values.get("grouped", ()) and not isinstance(call.args[0], ast.Tuple | ast.List):
            if len(call.args) == 1:
                return None  # one size, or the sizes
            first, last = source.span(call.args[0]), source.span(call.args[-1])
            edits.append(Edit(Span(first.line, first.column, first.line, first.column), "("))
            edits.append(Edit(Span(last.end_line, last.end_column, last.end_line, last.end_column), ")"))
        return Fix(Applicability.UNSAFE, f"{old} -> {new}", tuple(edits))
