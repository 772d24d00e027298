"""Shapes of API use: what the tables say about a torch name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from mindport.catalog import ApiRow, Target
from mindport.catalog.signature import read_signature
from mindport.catalog.surface import signature_of
from mindport.detectors.base import Detector, FileView, Stage, Use, shape
from mindport.findings import Confidence, Effort

_EFFORT = {
    "same": Effort(0, 0.2, 1),
    "rename": Effort(0, 0.2, 1),
    "arguments": Effort(1, 2, 5),
    "default": Effort(1, 2, 10),
    "behaviour": Effort(3, 10, 30),
    "compose": Effort(2, 5, 20),
    "rewrite": Effort(10, 30, 120),
    "missing": Effort(30, 120, 480),
}
"""Minutes per use by difference, low / likely / high; a row's own effort goes first."""


def is_leftover_guarded(view: FileView, use: Use) -> bool:
    """Whether a torch name stands in code that is meant to serve both frameworks."""
    if view.stage is Stage.TORCH:
        return False
    return use.candidate.guarded or view.module.guarded(use.context, use.node)


def is_leftover_method(view: FileView, use: Use) -> bool:
    """Whether MindSpore code calls a method that only the other framework's Tensors have."""
    own = view.flow.tensors[0].partition(".")[0]
    return use.method and view.stage is Stage.MINDSPORE and use.name.partition(".")[0] != own


@shape("api-difference")
class ApiDifference(Detector):
    """A use of a name whose row has one of the listed difference kinds on the preferred side."""

    parameters = {"difference": (list, True), "except": (list, False)}
    placeholders = frozenset({"api", "target", "note"})

    def differences(self) -> Iterable[str]:
        """The listed kinds."""
        return tuple(self.values["difference"])

    def applies(self, view: FileView) -> bool:
        """Whether anybody asks for what this check says."""
        severity = self.check.severity_for(view.config.device)
        return view.wanted(severity, Confidence.CERTAIN, self.check.code)

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the name."""
        row, target = row_of(view, use)
        if row is None or target is None or use.name in self.names("except"):
            return
        if is_leftover_guarded(view, use):
            return
        note = row.notes.get(view.config.language, "").strip()
        values = {"api": use.name, "target": target_text(row, target), "note": f" {note}" if note else ""}
        effort = row.effort or _EFFORT[target.difference.value]
        span = view.span_of(use)
        view.report(self.check, span, use.candidate.confidence, values, effort=effort)


def row_of(view: FileView, use: Use) -> tuple[ApiRow | None, Target | None]:
    """The row of a used name, and its target on the preferred side."""
    row = view.catalog.api(use.name)
    return row, row.preferred(view.config.api) if row is not None else None


def difference_of(view: FileView, use: Use) -> str | None:
    """What kind of difference the tables see in a use; None where they say nothing or it is no use of torch."""
    row, target = row_of(view, use)
    if row is None or target is None or is_leftover_method(view, use):
        return None
    return effective_difference(row, target, use)


def effective_difference(row: ApiRow, target: Target, use: Use) -> str:
    """The difference as far as it bites this very call.

    A call that passes nothing the row converts, leaves out nothing whose default differs and keeps its positions
    is a mere rename, whatever the row says of other calls.
    """
    kind = target.difference.value
    signature = read_signature(row.signature)
    if kind not in ("arguments", "default") or use.call is None or signature is None or target.variants:
        return kind
    if target.always or any(isinstance(a, ast.Starred) for a in use.call.args):
        return kind
    if any(keyword.arg is None for keyword in use.call.keywords):
        return kind
    positional = signature.positional[1:] if use.method else signature.positional
    by_position = positional[: len(use.call.args)]
    passed = {*by_position, *(keyword.arg or "" for keyword in use.call.keywords)}
    converted = {
        name for name in passed & set(target.arguments) if not _changes_nothing(target.arguments[name])
    }
    if converted - _only_renamed_by_position(by_position, target):
        return kind
    sources = {_mapped(target.arguments.get(name), name): name for name in signature.names if name != "self"}
    if any(sources.get(new, new) not in passed for new in target.omitted):
        return kind
    theirs = read_signature(signature_of(target.name))
    if theirs is not None and by_position:
        places = [name for name in theirs.positional if name != "self"][: len(by_position)]
        if not theirs.variadic and places != [_mapped(target.arguments.get(n), n) for n in by_position]:
            return kind
    return "rename"


def _changes_nothing(rule: object) -> bool:
    return isinstance(rule, Mapping) and bool(rule.get("drop"))


def _only_renamed_by_position(by_position: tuple[str, ...], target: Target) -> set[str]:
    """Parameters passed by position whose new name nobody has to write."""
    return {name for name in by_position if isinstance(target.arguments.get(name), str)}


def _mapped(rule: object, name: str) -> str:
    if isinstance(rule, str):
        return rule
    return str(rule.get("to", name)) if isinstance(rule, Mapping) else name


def target_text(row: ApiRow, target: Target) -> str:
    """How a target is named to people: its name, or the template of a composition."""
    return target.name or target.template or row.name


@shape("named-use")
class NamedUse(Detector):
    """Any use of the listed names, as a call or not."""

    parameters = {"names": ((str, list), True)}
    placeholders = frozenset({"api"})

    def qualified_names(self) -> Iterable[str]:
        """The listed names."""
        return self.names("names")

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the name."""
        if not is_leftover_guarded(view, use):
            span = view.span_of(use)
            view.report(self.check, span, use.candidate.confidence, {"api": use.name})


@shape("leftover-method")
class LeftoverMethod(Detector):
    """A method or attribute of a MindSpore Tensor that only the other framework's Tensors have.

    ``except``: names that common containers have as well.
    """

    parameters = {"except": (list, False)}
    placeholders = frozenset({"api", "method", "target", "note"})

    def qualified_names(self) -> Iterable[str]:
        """Every external name; the stage of the file decides."""
        return ("*",)

    def applies(self, view: FileView) -> bool:
        """Code that runs on MindSpore."""
        return view.stage is Stage.MINDSPORE

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the method."""
        if not is_leftover_method(view, use) or use.name in self.names("except"):
            return
        if view.module.guarded(use.context, use.node):
            return
        row, target = row_of(view, use)
        note = row.notes.get(view.config.language, "").strip() if row is not None else ""
        values = {
            "api": use.name,
            "method": use.name.rpartition(".")[2],
            "target": target_text(row, target) if row is not None and target is not None else "-",
            "note": f" {note}" if note else "",
        }
        view.report(self.check, view.span_of(use), use.candidate.confidence, values)
