"""Following the compiled functions of a file: where it starts, what its inputs are, what is found on the way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from mindport.findings import Confidence
from mindport.semantics.compiled import Compiled
from mindport.semantics.kinds import Known
from mindport.semantics.module import Module
from mindport.semantics.nodes import walk
from mindport.semantics.reaching import is_decorated
from mindport.semantics.scopes import FunctionNode
from mindport.semantics.trace.frame import Frame
from mindport.semantics.trace.statements import Statements
from mindport.semantics.trace.values import SOFT, Event, Origin, Shadow, What, unknown
from mindport.semantics.values import FunctionValue

MAX_STATEMENTS = 6000
"""Statements followed per file; a file that needs more is judged on what was seen until then."""


class Tracer(Statements):
    """Follows the compiled functions of one file.

    ``far``: functions of other files are followed, too; else what they give is what ``known`` says, the flow analysis.
    """

    def __init__(
        self,
        module: Module,
        sets: Mapping[str, frozenset[str]],
        compiled: frozenset[ast.AST],
        known: Callable[[ast.expr], Known],
        *,
        far: bool,
    ) -> None:
        self.module = module
        self.sets = sets
        self.compiled = compiled
        self.known = known
        self.far = far
        self.events: dict[tuple[str, ast.AST], Event] = {}
        self.facts: dict[ast.AST, Shadow] = {}
        self.budget = MAX_STATEMENTS
        self.active: list[ast.AST] = []
        self.attributes: dict[tuple[ast.ClassDef, str], Shadow] = {}
        self._free: dict[ast.AST, frozenset[str]] = {}
        self.late = Confidence.CERTAIN
        self.reading_now: set[ast.AST] = set()
        self.options: set[ast.AST] = set()
        self._uses: dict[ast.AST, Mapping[str, tuple[frozenset[str], What | None]]] = {}
        self._contexts = {}
        self._spelled = {}
        self._results: dict[object, Shadow] = {}
        self.inputs: frozenset[str] = frozenset()

    def trace(self, compiled: Compiled) -> None:
        """Follow one root; cuts that reach its result are events."""
        self.late = compiled.confidence
        frame = self.frame_of(self.module, compiled.node, compiled.owner)
        if is_decorated(compiled.node, "staticmethod"):
            if compiled.node.name in ("construct", "forward"):
                self.parsed("static-construct", self.module, compiled.node, compiled.root)
        self.decorated(FunctionValue(self.module, compiled.node))
        arguments = compiled.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults
        pairs = [
            *zip(positional, defaults, strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for argument, default in pairs:
            if argument.arg != frame.self_name:
                frame.env[argument.arg] = self.parameter(frame, argument, default)
        if arguments.vararg:
            inner = Shadow(What.TENSOR, Confidence.INFERRED, origin=Origin.INPUT)
            frame.env[arguments.vararg.arg] = Shadow(What.TUPLE, element=inner)
        if arguments.kwarg:
            frame.env[arguments.kwarg.arg] = Shadow(What.DICT, element=unknown())
        with_default = positional[len(positional) - len(arguments.defaults) :] if arguments.defaults else []
        self.inputs = frozenset(a.arg for a in (*with_default, *arguments.kwonlyargs))
        self.active.append(compiled.node)
        result = self.body(frame, compiled.node.body)
        self.active.pop()
        for cut in result.all_cuts():
            if not cut.kind.startswith(SOFT):
                self.emit(cut)
        for value, _, node in frame.returns:
            shown = value.items if value.what is What.TUPLE and value.items else (value,)
            for part in shown:
                if part.what in (What.FUNCTION, What.LAMBDA, What.CELL):
                    self.event("returns-function", frame, node, self.text(frame, node), part.sure)

    def parameter(self, frame: Frame, argument: ast.arg, default: ast.expr | None) -> Shadow:
        """An input: a Tensor unless its default, its annotation or its use says otherwise."""
        used = self.used_as(frame, argument.arg)
        none = isinstance(default, ast.Constant) and default.value is None
        if used is not None:
            return Shadow(used, Confidence.INFERRED, origin=Origin.INPUT)
        if default is not None and not none:
            return self.value(frame, default).but(origin=Origin.INPUT)
        if argument.annotation is not None and not self.names_tensor(frame, argument.annotation):
            return Shadow(What.UNKNOWN, Confidence.POSSIBLE, origin=Origin.INPUT)
        sure = Confidence.POSSIBLE if none else Confidence.INFERRED
        return Shadow(What.TENSOR, sure, argument.arg, origin=Origin.INPUT)

    def used_as(self, frame: Frame, name: str) -> What | None:
        """What the use of an input shows when it is no Tensor."""
        attributes, other = self.uses_of(frame.function).get(name, (frozenset(), None))
        if other is not None:
            return other
        if attributes & {"append", "extend", "insert", "remove"}:
            return What.LIST
        if attributes & {"items", "keys", "get", "pop", "setdefault"}:
            return What.DICT
        unlike = attributes - self.of("tensor-members")
        return What.UNKNOWN if unlike and self.of("tensor-members") else None

    def uses_of(self, function: ast.AST) -> Mapping[str, tuple[frozenset[str], What | None]]:
        """The attributes read of each name of a function, and what its calls and keys show; one walk each."""
        known = self._uses.get(function)
        if known is not None:
            return known
        attributes: dict[str, set[str]] = {}
        shown: dict[str, What] = {}
        for node in walk(function):
            kind = node.__class__
            if kind is ast.Attribute and node.value.__class__ is ast.Name:  # type: ignore[attr-defined]
                attributes.setdefault(node.value.id, set()).add(node.attr)  # type: ignore[attr-defined]
            elif kind is ast.Call and node.func.__class__ is ast.Name:  # type: ignore[attr-defined]
                shown[node.func.id] = What.UNKNOWN  # type: ignore[attr-defined]
            elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                    shown.setdefault(node.value.id, What.DICT)
        names = attributes.keys() | shown.keys()
        result = {name: (frozenset(attributes.get(name, ())), shown.get(name)) for name in names}
        self._uses[function] = result
        return result

    def frame_of(self, module: Module, node: FunctionNode, owner: ast.ClassDef | None) -> Frame:
        """A frame with ``self`` bound where there is one."""
        frame = Frame(module, node, owner, {})
        if owner is not None:
            positional = [*node.args.posonlyargs, *node.args.args]
            unbound = is_decorated(node, "staticmethod") or is_decorated(node, "classmethod")
            if positional and not unbound:
                frame.self_name = positional[0].arg
        return frame

    def event(self, kind: str, frame: Frame, node: ast.AST, found: str, sure: Confidence) -> None:
        """Note an event that a step after the parser finds: arms it drops do not count.

        ``found`` is what to show, empty for the text of the node.
        """
        if frame.module is self.module:
            shown = found or self.text(frame, node)
            self.emit(Event(kind, frame.module, node, shown, self.here(frame, sure)))

    def parsed(self, kind: str, module: Module, node: ast.AST, found: str) -> None:
        """Note an event that the parser finds, whatever the conditions around it."""
        self.emit(Event(kind, module, node, found, Confidence.CERTAIN))

    def here(self, frame: Frame, sure: Confidence) -> Confidence:
        """At most ``possible`` in an arm that is taken only for some configurations or inputs."""
        current: Frame | None = frame
        while current is not None:
            if any(not dynamic and statement in self.options for statement, _, dynamic in current.path):
                return sure.weaker(Confidence.POSSIBLE)
            current = current.caller or current.outer
        return sure

    def emit(self, event: Event) -> None:
        """Note an event as sure as the surest time it is seen."""
        if event.module is not self.module:
            return
        known = self.events.get((event.kind, event.node))
        sure = event.sure.weaker(self.late)
        if known is None or known.sure.rank < sure.rank:
            self.events[event.kind, event.node] = Event(
                event.kind, event.module, event.node, event.found, sure
            )
