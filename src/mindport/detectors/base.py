"""What a detector is, what it subscribes to, and how it reports.

A detector is one code shape with the parameters of one check. It names the node types or the qualified names
it wants to see; the engine calls `visit` for those only. Detectors know no API name and no text for people:
names come from the check's parameters or from the named sets of ``concepts.toml``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, ClassVar

from mindport.catalog import Catalog, Check
from mindport.config import Config
from mindport.findings import Confidence, Effort, Finding, Fix, Severity, Span
from mindport.semantics.compiled import Compiled, compiled_functions
from mindport.semantics.flow import Flow, Flows
from mindport.semantics.flow.expressions import constant
from mindport.semantics.kinds import UNKNOWN, Known
from mindport.semantics.module import Module
from mindport.semantics.scopes import Context
from mindport.semantics.values import Candidate, ClassValue, Instance, Named, SelfValue, Value


class Stage(Enum):
    """How far a file is on its way, from what it imports and derives from."""

    TORCH = "torch"
    MIXED = "mixed"
    MINDSPORE = "mindspore"
    NONE = "none"


class DetectorError(Exception):
    """A check whose ``[[detect]]`` table does not fit its shape."""


@dataclass(slots=True)
class Use:
    """One outermost dotted reference to an external name: ``torch.nn.functional.gelu``.

    ``method``: an attribute of a Tensor, by the Tensor class's full name (``torch.Tensor.view``).
    """

    node: ast.expr
    context: Context
    name: str
    candidate: Candidate
    call: ast.Call | None
    method: bool = False


@dataclass
class FileView:
    """What detectors see of one file, and where they report."""

    module: Module
    stage: Stage
    catalog: Catalog
    config: Config
    flows: Flows
    wanted: Callable[[Severity, Confidence, str], bool] = lambda severity, confidence, code: True
    """Whether anybody asks for a finding of that severity and confidence, by the code of its check."""
    findings: list[Finding] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    _called: dict[ast.Call, tuple[tuple[str, Confidence], ...]] = field(default_factory=dict)

    @cached_property
    def compiled(self) -> list[Compiled]:
        """The functions of the file that GRAPH_MODE compiles (or will, for torch code)."""
        sets = self.catalog.sets
        empty: frozenset[str] = frozenset()
        return compiled_functions(
            self.module,
            sets.get("cell", empty),
            sets.get("module", empty),
            sets.get("jit", empty),
            sets.get("no-jit", empty),
        )

    @cached_property
    def flow(self) -> Flow:
        """The flow analysis of the file."""
        first = "torch" if self.stage is Stage.TORCH else "mindspore"
        classes = self.flows.library.tensors
        ordered = tuple(sorted(classes, key=lambda c: not c.startswith(first)))
        proving = ordered if self.stage is Stage.MIXED else ordered[:1]
        return self.flows.own(self.module, ordered, proving)

    @cached_property
    def _contexts(self) -> Mapping[ast.AST, Context]:
        nodes = self.module.scopes.nodes
        return {node: c for kind in (ast.Call, ast.With, ast.Raise) for node, c in nodes.get(kind, ())}

    def context_of(self, node: ast.AST) -> Context:
        """Where a call, a ``with`` or a ``raise`` stands."""
        return self._contexts.get(node) or Context(self.module.scopes.module, ())

    def called(self, call: ast.Call) -> tuple[tuple[str, Confidence], ...]:
        """The external names a call can reach, and how sure that is; worked out once, as many checks ask."""
        known = self._called.get(call)
        if known is None:
            found = self.module.resolve(call.func, self.context_of(call))
            known = tuple((c.value.name, c.confidence) for c in found if isinstance(c.value, Named))
            self._called[call] = known
        return known

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names of all attributes the file spells."""
        nodes = self.module.scopes.nodes.get(ast.Attribute, ())
        return frozenset(node.attr for node, _ in nodes if isinstance(node, ast.Attribute))

    def span_of(self, use: Use) -> Span:
        """Where a use is shown: the dotted name, or the name of a Tensor's method alone."""
        source = self.module.source
        if use.method and isinstance(use.node, ast.Attribute):
            return source.attribute_span(use.node)
        return source.span(use.node)

    def known(self, node: ast.expr) -> Known:
        """What an expression of the file is, as far as the flow analysis tells."""
        if isinstance(node, ast.Constant):
            return constant(node.value)
        return self.flow.facts.get(node, UNKNOWN)

    def kind_of(self, value: Value, names: frozenset[str]) -> Confidence | None:
        """How sure it is that a value is an instance of one of the external classes ``names``."""
        if isinstance(value, SelfValue):
            return value.owner.module.ancestry(value.owner.node).any_of(names)
        if isinstance(value, Instance):
            callee = value.callee
            if isinstance(callee, Named):
                return Confidence.CERTAIN if callee.name in names else None
            if isinstance(callee, ClassValue):
                return callee.module.ancestry(callee.node).any_of(names)
        return None

    def report(
        self,
        check: Check,
        span: Span,
        confidence: Confidence,
        values: Mapping[str, object] | None = None,
        *,
        fix: Fix | None = None,
        severity: Severity | None = None,
        effort: Effort | None = None,
    ) -> None:
        """Add a finding. ``values`` fill the placeholders of the check's message and suggestion.

        Without a ``severity`` it has the check's on the configured device. One that nobody asks for is not made.
        """
        severity = severity or check.severity_for(self.config.device)
        if not self.wanted(severity, confidence, check.code):
            return
        text = check.text(self.config.language)
        filled = {key: str(value) for key, value in (values or {}).items()}
        settings = self.config.effort
        minutes = settings.get(check.code) or settings.get(severity.value) or effort or check.effort
        self.findings.append(
            Finding(
                check.code,
                check.name,
                self.module.source.path,
                span,
                severity,
                confidence,
                minutes,
                text.message.format_map(filled),
                text.suggestion.format_map(filled),
                fix,
            )
        )


class Detector:
    """Base of all shapes. ``parameters`` maps names to (type, required)."""

    shape: ClassVar[str]
    parameters: ClassVar[Mapping[str, tuple[type | tuple[type, ...], bool]]] = {}
    placeholders: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, check: Check, values: Mapping[str, Any], catalog: Catalog) -> None:
        self.check = check
        self.catalog = catalog
        for key in values:
            if key not in self.parameters:
                known = ", ".join(sorted(self.parameters)) or "none"
                raise DetectorError(
                    f"{check.code}: shape {self.shape}: unknown parameter {key}; known: {known}"
                )
        for key, (kind, required) in self.parameters.items():
            if key not in values:
                if required:
                    raise DetectorError(f"{check.code}: shape {self.shape}: parameter {key} is missing")
            elif not isinstance(values[key], kind):
                raise DetectorError(f"{check.code}: shape {self.shape}: parameter {key} has the wrong type")
        self.values = values
        self._names: dict[str, frozenset[str]] = {}

    def names(self, key: str) -> frozenset[str]:
        """A parameter that lists qualified names; ``@set`` stands for a named set of ``concepts.toml``."""
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = self._read_names(key)
        return known

    def _read_names(self, key: str) -> frozenset[str]:
        result: set[str] = set()
        for item in _listed(self.values.get(key, [])):
            if item.startswith("@"):
                if item[1:] not in self.catalog.sets:
                    raise DetectorError(f"{self.check.code}: {key}: no set named {item} in concepts.toml")
                result |= self.catalog.sets[item[1:]]
            else:
                result.add(item)
        return frozenset(result)

    def applies(self, view: FileView) -> bool:
        """Whether a file can hold anything for this detector.

        Asked once per file, before any node, and before uses where it wants to see all of them.
        """
        return True

    def node_types(self) -> Iterable[type[ast.AST]]:
        """The node types `visit` wants to see."""
        return ()

    def qualified_names(self) -> Iterable[str]:
        """The external names whose uses `visit_use` wants to see; ``*`` for all."""
        return ()

    def differences(self) -> Iterable[str]:
        """The kinds of difference, as the tables have them, whose uses `visit_use` wants to see."""
        return ()

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Called for each node of the subscribed types."""

    def visit_use(self, view: FileView, use: Use) -> None:
        """Called for each use of a subscribed name or difference."""

    def finish(self, view: FileView) -> None:
        """Called once per file, after all visits."""


def _listed(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]


SHAPES: dict[str, type[Detector]] = {}


def shape(name: str) -> Callable[[type[Detector]], type[Detector]]:
    """Register a class as the shape ``name`` of the vocabulary."""

    def register(cls: type[Detector]) -> type[Detector]:
        cls.shape = name
        SHAPES[name] = cls
        return cls

    return register


def build_detectors(catalog: Catalog) -> list[Detector]:
    """The detectors of all checks; raises `DetectorError` for one that does not fit its shape."""
    result = []
    for check in catalog.checks:
        for detection in check.detections:
            cls = SHAPES.get(detection.shape)
            if cls is None:
                raise DetectorError(
                    f"{check.code}: unknown shape {detection.shape}; known: {', '.join(sorted(SHAPES))}"
                )
            result.append(cls(check, detection.parameters, catalog))
    return result
