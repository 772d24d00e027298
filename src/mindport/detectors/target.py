"""Shapes of names the target version or device does not have, and of keywords a callable does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from mindport.catalog.signature import read_signature
from mindport.catalog.surface import full_version, missing_part, same_last_name, surface
from mindport.detectors.base import Detector, FileView, Use, shape
from mindport.findings import Confidence
from mindport.semantics.scopes import BindingKind


class _Target(Detector):
    parameters = {"framework": (str, True)}

    def qualified_names(self) -> Iterable[str]:
        """Every external name; the surface decides."""
        return ("*",)

    def version(self, view: FileView) -> str:
        """The version the configuration aims at."""
        return full_version(self.values["framework"], view.config.mindspore_version)

    def ours(self, view: FileView, use: Use) -> bool:
        """Whether a use belongs to the framework and is not guarded."""
        if use.name.partition(".")[0] != self.values["framework"]:
            return False
        return not (use.candidate.guarded or view.module.guarded(use.context, use.node))


def spelled(view: FileView, node: ast.expr, use: Use) -> Iterator[str]:
    """The full names as the file's own imports spell them, before any re-export is followed."""
    rest: list[str] = []
    while isinstance(node, ast.Attribute):
        rest.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return
    _, bindings = view.module.lookup(node.id, use.context, (node.lineno, node.col_offset))
    for binding in bindings:
        if binding.kind is BindingKind.IMPORT and not binding.level:
            yield ".".join([binding.target, *reversed(rest)])


@shape("missing-name")
class MissingName(_Target):
    """A name the target version does not have; ``replaced`` maps names to what to use instead."""

    parameters = {"framework": (str, True), "replaced": (dict, False)}
    placeholders = frozenset({"api", "missing", "version", "instead"})

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the name when every way the file can mean it is missing."""
        if not self.ours(view, use):
            return
        framework, version = self.values["framework"], self.version(view)
        names = [n for n in spelled(view, use.node, use) if n.partition(".")[0] == framework]
        gone = [missing_part(framework, name, version) for name in names]
        if not names or None in gone:
            return
        missing = gone[0]
        assert missing is not None
        span = view.span_of(use)
        values = {
            "api": names[0],
            "missing": missing,
            "version": version,
            "instead": self._instead(names[0], missing, version) or "-",
        }
        view.report(self.check, span, use.candidate.confidence, values)

    def _instead(self, name: str, missing: str, version: str) -> str:
        replaced = self.values.get("replaced", {})
        for prefix in (name, missing):
            if prefix in replaced:
                return str(replaced[prefix]) + name.removeprefix(prefix)
        return ", ".join(f"`{n}`" for n in same_last_name(self.values["framework"], name, version)[:3])


@shape("missing-platform")
class MissingPlatform(_Target):
    """A name whose documentation lists platforms, the configured device not among them.

    ``host``: namespaces that run on the host whatever the device. ``fails`` and ``works`` correct the
    documentation by execution: device -> names.
    """

    parameters = {
        "framework": (str, True),
        "host": (list, False),
        "fails": (dict, False),
        "works": (dict, False),
    }
    placeholders = frozenset({"api", "device", "platforms"})
    _LETTERS = {"ascend": "A", "gpu": "G", "cpu": "C"}
    _NAMES = {"A": "Ascend", "G": "GPU", "C": "CPU"}

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the name."""
        device = view.config.device
        found = surface(self.values["framework"]).get(use.name)
        if (
            found is None
            or not self.ours(view, use)
            or use.name.startswith(tuple(self.values.get("host", ())))
        ):
            return
        fails = use.name in self.values.get("fails", {}).get(device, ())
        works = use.name in self.values.get("works", {}).get(device, ())
        listed = found.platforms == "-" or self._LETTERS[device] in found.platforms
        if not fails and (works or listed):
            return
        letters = found.platforms.replace(self._LETTERS[device], "")
        platforms = ", ".join(self._NAMES[letter] for letter in letters if letter in self._NAMES) or "-"
        values = {"api": use.name, "device": device, "platforms": platforms}
        sure = use.candidate.confidence.weaker(Confidence.INFERRED)
        view.report(self.check, view.span_of(use), sure, values)


@shape("unknown-keyword")
class UnknownKeyword(_Target):
    """A call with a keyword its callable does not take."""

    placeholders = frozenset({"api", "keyword", "known"})

    def visit_use(self, view: FileView, use: Use) -> None:
        """Report the keyword."""
        if use.call is None or not use.call.keywords or not self.ours(view, use):
            return
        found = surface(self.values["framework"]).get(use.name)
        signature = read_signature(found.signature) if found is not None else None
        if found is None or signature is None or signature.open_keywords:
            return
        if self.version(view) not in found.versions or not signature.names:
            return
        for keyword in use.call.keywords:
            if keyword.arg is not None and keyword.arg not in signature.names:
                span = view.module.source.span(keyword)
                known = ", ".join(n for n in signature.names if n != "self")
                values = {"api": use.name, "keyword": keyword.arg, "known": known}
                sure = use.candidate.confidence.weaker(Confidence.CERTAIN)
                view.report(self.check, span, sure, values)
