"""Shapes of defaults and places that mean something else than in torch, read off the API tables."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cached_property

from mindport.catalog.signature import read_signature
from mindport.catalog.surface import signature_of
from mindport.detectors.base import Detector, FileView, Stage, Use, shape
from mindport.findings import Applicability, Confidence, Edit, Fix, Span


@shape("target-default")
class TargetDefault(Detector):
    """A call of a table's target that leaves out a parameter whose default is not torch's.

    In a file that still uses torch this is likely a port in progress (``inferred``); in pure MindSpore code the
    default may well be meant (``possible``).
    """

    placeholders = frozenset({"callee", "parameter", "value", "api"})

    @cached_property
    def _defaults(self) -> Mapping[str, tuple[str, Mapping[str, str]]]:
        result: dict[str, tuple[str, Mapping[str, str]]] = {}
        for name in self.catalog.api_names:
            raw = self.catalog.raw_apis[name].get("nn", {})
            values = {k: v for k, v in raw.get("omitted", {}).items() if isinstance(v, str)}
            if values and raw.get("target"):
                result.setdefault(raw["target"], (name, values))
        return result

    def qualified_names(self) -> Iterable[str]:
        """Every name: reading the tables from the other side waits until one is used."""
        return ("*",)

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the call once, with all parameters it leaves out."""
        call = use.call
        if call is None or use.name not in self._defaults or view.module.guarded(use.context, use.node):
            return
        if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
            return
        api, values = self._defaults[use.name]
        signature = read_signature(signature_of(use.name))
        if signature is None:
            return
        order = [name for name in signature.positional if name != "self"]
        passed = {*order[: len(call.args)], *(k.arg for k in call.keywords)}
        missing = {name: value for name, value in values.items() if name not in passed}
        if not missing:
            return
        text = ", ".join(f"{name}={value}" for name, value in missing.items())
        sure = Confidence.INFERRED if view.stage is Stage.MIXED else Confidence.POSSIBLE
        source = view.module.source
        span = source.span(call)
        end = Span(span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
        fix = None
        if source.lines[span.end_line - 1][: end.column].rstrip()[-1:] not in (",", "("):
            fix = Fix(Applicability.UNSAFE, text, (Edit(end, f", {text}"),))
        shown = {"callee": use.name, "parameter": ", ".join(missing), "value": text, "api": api}
        view.report(self.check, view.span_of(use), sure.weaker(use.candidate.confidence), shown, fix=fix)


@shape("positional-type")
class PositionalType(Detector):
    """A positional argument whose Python type only fits another parameter of torch's signature.

    ``places``: callee -> [position, type name, torch's parameter, the keyword to write].
    """

    parameters = {"places": (dict, True)}
    placeholders = frozenset({"callee", "value", "parameter", "lands", "instead"})

    def qualified_names(self) -> Iterable[str]:
        """The callees."""
        return list(self.values["places"])

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the argument."""
        if use.call is None:
            return
        position, kind, parameter, keyword = self.values["places"][use.name]
        if len(use.call.args) <= position or any(isinstance(a, ast.Starred) for a in use.call.args):
            return
        node = use.call.args[position]
        constants = view.module.constants(node, use.context)
        if not constants or any(type(c.value).__name__ != kind for c in constants):
            return
        signature = read_signature(signature_of(use.name))
        lands = ""
        if signature is not None:
            lands = [n for n in signature.positional if n != "self"][position]
        source = view.module.source
        span = source.span(node)
        text = source.segment(node)
        shown = {
            "callee": use.name,
            "value": text,
            "parameter": parameter,
            "lands": lands,
            "instead": f"{keyword}={text}",
        }
        start = Span(span.line, span.column, span.line, span.column)
        fix = Fix(Applicability.UNSAFE, f"{keyword}={text}", (Edit(start, f"{keyword}="),))
        last = position == len(use.call.args) - 1
        sure = constants[0].confidence.weaker(use.candidate.confidence)
        view.report(self.check, span, sure, shown, fix=fix if last else None)


@shape("target-behaviour")
class TargetBehaviour(Detector):
    """A use of a name that behaves otherwise than the torch name it stands for.

    The notes come from the rows marked ``behaviour`` (with ``rows``), read from the other side, and from ``notes``:
    name -> {en, zh}. As sure as `TargetDefault`.
    """

    parameters = {"rows": (bool, True), "notes": (dict, False)}
    placeholders = frozenset({"callee", "api", "note"})

    @cached_property
    def _notes(self) -> Mapping[str, tuple[str, Mapping[str, str]]]:
        result: dict[str, tuple[str, Mapping[str, str]]] = {}
        for name in self.catalog.api_names if self.values["rows"] else ():
            raw = self.catalog.raw_apis[name]
            side = raw.get("nn", {})
            target, note = side.get("target", ""), raw.get("note", {})
            if side.get("difference") == "behaviour" and note and target and raw.get("kind") != "package":
                result.setdefault(target, (name, note))
        for name, note in self.values.get("notes", {}).items():
            result[name] = (str(note.get("torch", "torch")), note)
        return result

    def qualified_names(self) -> Iterable[str]:
        """Every name: reading the tables from the other side waits until one is used."""
        return ("*",)

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the name."""
        if use.name not in self._notes or view.module.guarded(use.context, use.node):
            return
        api, note = self._notes[use.name]
        sure = Confidence.INFERRED if view.stage is Stage.MIXED else Confidence.POSSIBLE
        values = {"callee": use.name, "api": api, "note": note.get(view.config.language, "")}
        span = view.span_of(use)
        view.report(self.check, span, sure.weaker(use.candidate.confidence), values)
