"""The analysis of one module: its functions' results and its classes' attributes, each worked out once, on demand.

The file being checked gets a `Flow` of its own, with facts about every expression. Other modules of the project
get one that only answers what is asked: results by annotation first, without what callers pass, so that answers
do not depend on the order in which files are checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.flow.annotations import annotation
from mindport.semantics.flow.frame import Frame
from mindport.semantics.kinds import UNKNOWN, Atom, Kind, Known, join
from mindport.semantics.library import Arguments, Library
from mindport.semantics.scopes import NamedFunction, ScopeKind
from mindport.semantics.values import (
    Candidate,
    ClassValue,
    Expression,
    FunctionValue,
    Instance,
    ModuleValue,
    Named,
    Partial,
    SelfValue,
)

if TYPE_CHECKING:
    from mindport.semantics.module import Module

MAX_CALLS = 7
"""How many calls deep a function's result is followed."""
MAX_AGAIN = 3
"""How often a function of another file is worked out anew because its result was cut short."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Flows:
    """The analyses of a project's modules."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.inside: Flow | None = None  # the other file's analysis that was asked first
        self.cuts = 0  # how often a chain of calls was cut short
        self.depth = 0

    def own(self, module: Module, tensors: tuple[str, ...], proving: tuple[str, ...]) -> Flow:
        """A complete analysis of the file being checked; see `Flow`."""
        flow = Flow(module, self, True, tensors, proving)
        flow.run()
        return flow

    def outside(self, module: Module) -> Flow:
        """The analysis that answers for a module some other file asks about."""
        if module.flow is None:
            module.flow = Flow(module, self, False, self.library.tensors, self.library.tensors)
        return module.flow


class Flow:
    """What the values of one module are.

    ``tensors``: the Tensor classes, the file's own framework first; ``proving``: those whose methods prove that a
    value nothing else is known about is a Tensor.
    """

    def __init__(
        self, module: Module, flows: Flows, own: bool, tensors: tuple[str, ...], proving: tuple[str, ...]
    ) -> None:
        self.module = module
        self.flows = flows
        self.own = own
        self.tensors = tensors
        self.proving = proving
        self.library = flows.library
        self.facts: dict[ast.AST, Known] = {}
        self.frames: dict[ast.AST, Frame] = {}
        self._globals: dict[str, Known] = {}
        self._top: Frame | None = None
        self._named: dict[str, Known] = {}
        self._free: dict[ast.AST, Known] = {}
        self._results: dict[ast.AST, Known] = {}
        self._active: set[ast.AST] = set()
        self._again: dict[ast.AST, int] = {}
        self._written: dict[tuple[ast.ClassDef, str], Known] = {}
        self._members: dict[tuple[ast.ClassDef, str], Known] = {}
        self._asking: set[tuple[ast.ClassDef, str]] = set()
        self._kinds: dict[ast.ClassDef, tuple[Kind, Confidence]] = {}
        self.annotations: dict[str, Known] = {}
        """What a plain name says as an annotation, seen from the functions of the module."""
        self._annotated: dict[ast.ClassDef, dict[str, ast.expr]] = {}

    # --- running ---------------------------------------------------------------------------------------

    def run(self) -> None:
        """Analyse the module's own code, then every function: the methods that run first come first."""
        top = Frame(self, None, None, ())
        self._top = top
        try:
            top.run(self.module.source.tree.body)
        except RecursionError:
            pass
        self._globals = {}
        self.annotations = {}
        functions = [
            (node, context.scope)
            for kind in FUNCTIONS
            for node, context in self.module.scopes.nodes.get(kind, ())
            if context.scope.kind is not ScopeKind.FUNCTION
            and context.scope.kind is not ScopeKind.COMPREHENSION
        ]
        functions.sort(key=lambda item: (item[0].name not in _FIRST, item[0].lineno))  # type: ignore[attr-defined]
        for node, scope in functions:
            owner = scope.node if isinstance(scope.node, ast.ClassDef) else None
            self.ensure(node, ClassValue(self.module, owner) if owner else None)  # type: ignore[arg-type]

    def ensure(
        self, node: NamedFunction, owner: ClassValue | None, arguments: Arguments | None = None
    ) -> Known:
        """What a function gives back; analysed once, with what its first caller passes where nothing else tells."""
        known = self._results.get(node)
        if known is not None:
            return known
        flows = self.flows
        if node in self._active or flows.depth >= MAX_CALLS:
            flows.cuts += 1
            return UNKNOWN
        before, cuts = flows.depth, flows.cuts
        entered = not self.own and flows.inside is None
        if entered:  # what another file says must not depend on who asks, nor how deep in its own calls
            flows.inside, flows.depth = self, 0
        self._active.add(node)
        flows.depth += 1
        try:
            outer = self.frames.get(node)
            frame = Frame(self, owner, node, outer.scopes() if outer is not None else ())
            frame.bind_parameters(node, arguments)
            frame.run(node.body)
            result = frame.result()
        except RecursionError:
            result = UNKNOWN
        finally:
            flows.depth = before
            self._active.discard(node)
            if entered:
                flows.inside = None
            if not self.own and not self._active:  # nobody asks about single expressions of another file
                self.facts.clear()
                self.frames.clear()
        again = self._again.get(node, 0)
        if self.own or entered or flows.cuts == cuts or again >= MAX_AGAIN:
            self._results[node] = result
        else:  # cut short on the way from another function: to be worked out when asked for itself
            self._again[node] = again + 1
        return result

    # --- names -----------------------------------------------------------------------------------------

    def for_module(self, module: Module) -> Flow:
        """The analysis that answers for a module."""
        return self if module is self.module else self.flows.outside(module)

    def named(self, name: str, sure: Confidence = Confidence.CERTAIN) -> Known:
        """An external name as a value."""
        known = self._named.get(name)
        if known is None:
            constant = self.library.constant(name)
            if constant is not None:
                known = constant
            else:
                kind = Kind.CLASS if self.library.is_class(name) else Kind.NAMESPACE
                known = Known((Atom(kind, ref=Named(name)),), Confidence.CERTAIN)
            self._named[name] = known
        return known.weaker(sure)

    def global_(self, name: str) -> Known:
        """What a name of the module is, seen from its functions."""
        known = self._globals.get(name)
        if known is None:
            if self._top is not None and self._top.env is not None and name in self._top.env:
                known = self._top.env[name]
            else:
                self._globals[name] = UNKNOWN
                known = self.candidates(self.module.export(name))
                if not known.atoms and self.module.is_builtin(name):
                    known = self.named(f"builtins.{name}")
            self._globals[name] = known
        return known

    def candidates(self, found: Iterable[Candidate]) -> Known:
        """What name resolution found, as knowledge."""
        values = [self._candidate(candidate).weaker(candidate.confidence) for candidate in found]
        return join(values) if values else UNKNOWN

    def _candidate(self, candidate: Candidate) -> Known:
        value = candidate.value
        if isinstance(value, Named):
            return self.named(value.name)
        if isinstance(value, ClassValue):
            return Known((Atom(Kind.CLASS, ref=value),), Confidence.CERTAIN)
        if isinstance(value, FunctionValue):
            return Known((Atom(Kind.FUNCTION, ref=value),), Confidence.CERTAIN)
        if isinstance(value, ModuleValue):
            return Known((Atom(Kind.NAMESPACE, ref=value),), Confidence.CERTAIN)
        if isinstance(value, SelfValue):
            return self.instance(value.owner, Confidence.INFERRED)
        if isinstance(value, Partial):
            return self._candidate(Candidate(value.callee))
        if isinstance(value, Expression | Instance):
            node = value.node if isinstance(value, Expression) else value.call
            context = value.context
            if node is None or context is None or context.scope.kind is ScopeKind.FUNCTION:
                return UNKNOWN
            return self.for_module(value.module).free(node)
        return UNKNOWN

    def free(self, node: ast.AST) -> Known:
        """What an expression is that sees only the module's own names: annotations, defaults, class bodies."""
        known = self._free.get(node)
        if known is None:
            self._free[node] = UNKNOWN
            try:
                known = Frame(self, None, None, ()).eval(node)  # type: ignore[arg-type]
            except RecursionError:
                known = UNKNOWN
            self._free[node] = known
        return known

    # --- classes ---------------------------------------------------------------------------------------

    def instance(self, value: ClassValue, sure: Confidence) -> Known:
        """An instance of a class of the project."""
        kind, confidence = self.for_module(value.module)._kind(value.node)
        ref = value if kind in (Kind.MODULE, Kind.INSTANCE, Kind.LOADER, Kind.OPTIMIZER) else None
        return Known((Atom(kind, ref=ref),), sure.weaker(confidence))

    def _kind(self, node: ast.ClassDef) -> tuple[Kind, Confidence]:
        known = self._kinds.get(node)
        if known is None:
            ancestry = self.module.ancestry(node)
            known = (Kind.INSTANCE, Confidence.CERTAIN)
            for name, confidence in ancestry.names.items():
                kind = self.library.instance_kind(name)
                if kind in _INHERITED:
                    known = (kind, confidence)
                    break
            self._kinds[node] = known
        return known

    def write(self, owner: ClassValue, name: str, value: Known) -> None:
        """A method stores a value on ``self``."""
        flow = self.for_module(owner.module)
        known = flow._written.get((owner.node, name))
        flow._written[owner.node, name] = value if known is None else join((known, value))

    def member(self, value: ClassValue, name: str, *, parent: bool = False) -> Known:
        """What an attribute of an instance is: own and inherited, methods and properties included."""
        flow = self.for_module(value.module)
        return flow._inherited(value.node, name) if parent else flow._member(value.node, name)

    def _member(self, node: ast.ClassDef, name: str) -> Known:
        key = (node, name)
        known = self._members.get(key)
        if known is not None:
            return known
        if key in self._asking:
            return UNKNOWN
        self._asking.add(key)
        active = bool(self._active)
        try:
            found = self._own_member(node, name)
            known = found if found is not None else self._inherited(node, name)
        finally:
            self._asking.discard(key)
        if known.atoms or not active:
            self._members[key] = known
        return known

    def _own_member(self, node: ast.ClassDef, name: str) -> Known | None:
        owner = ClassValue(self.module, node)
        method = self.module.methods(node).get(name)
        if method is not None:
            return self._method(method, owner)
        annotated = annotation(self, self._annotations(node).get(name))
        if annotated.atoms:
            return annotated
        for _, context in self.module.self_attributes(node).get(name, ()):
            function = context.scope.node
            if isinstance(function, FUNCTIONS):
                self.ensure(function, owner)
        start = self.module.methods(node).get("__init__")
        if start is not None:
            self.ensure(start, owner)
        values = [self._written[node, name]] if (node, name) in self._written else []
        for binding in self.module.scopes.scope_of[node].bindings.get(name, ()):
            if isinstance(binding.value, ast.expr):
                values.append(self.free(binding.value))
        return join(values) if values else None

    def _method(self, node: NamedFunction, owner: ClassValue) -> Known:
        for decorator in node.decorator_list:
            word = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", "")
            if word.endswith("property"):
                return self.returned(FunctionValue(self.module, node, owner), None)
        return Known((Atom(Kind.FUNCTION, ref=FunctionValue(self.module, node, owner)),), Confidence.CERTAIN)

    def _annotations(self, node: ast.ClassDef) -> dict[str, ast.expr]:
        known = self._annotated.get(node)
        if known is None:
            known = self._annotated[node] = {
                item.target.id: item.annotation
                for item in node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
            }
        return known

    def fields(self, value: ClassValue) -> list[Known]:
        """The annotated fields of a data class in order, inherited ones first."""
        flow = self.for_module(value.module)
        result: list[Known] = []
        for base in value.module.bases(value.node):
            if isinstance(base.value, ClassValue) and base.value.node is not value.node:
                result += self.fields(base.value)
        return result + [annotation(flow, node) for node in flow._annotations(value.node).values()]

    def _inherited(self, node: ast.ClassDef, name: str) -> Known:
        for base in self.module.bases(node):
            value = base.value
            if isinstance(value, ClassValue) and value.node is not node:
                found = self.member(value, name)
            elif isinstance(value, Named):
                found = self.named_member(value.name, name)
            else:
                continue
            if found.atoms:
                return found.weaker(base.confidence)
        return UNKNOWN

    def named_member(self, cls: str, name: str) -> Known:
        """What an attribute of an instance of an external class is."""
        bases = (cls, *self.library.sets["module-base"]) if cls in self.library.modules else (cls,)
        return self.external_member(bases, name)

    def external_member(self, classes: Iterable[str], name: str) -> Known:
        """What an attribute is of the first of some external classes that has it; a method is a function."""
        for cls in classes:
            full = f"{cls}.{name}"
            if self.library.is_attribute(full):
                return self.library.attribute(full) or UNKNOWN
            if self.library.exists(full):
                return Known((Atom(Kind.FUNCTION, ref=Named(full)),), Confidence.CERTAIN)
        return UNKNOWN

    # --- calls -----------------------------------------------------------------------------------------

    def returned(self, function: FunctionValue, arguments: Arguments | None) -> Known:
        """What calling a function of the project gives."""
        flow = self.for_module(function.module)
        node = function.node
        declared = _specific(annotation(flow, node.returns))
        if isinstance(node, ast.AsyncFunctionDef):
            return UNKNOWN
        if declared.atoms and (not flow.own or declared.is_tensor):
            return declared
        known = flow.ensure(node, function.owner, arguments if flow.own else None)
        if not declared.atoms:
            return known
        stub = known.kind is Kind.NONE and declared.kind is not Kind.NONE  # a body that only says `...`
        return declared if stub or not known.atoms or known.sure is Confidence.POSSIBLE else known


_FIRST = frozenset({"__init__", "forward", "construct"})
_INHERITED = frozenset(
    {Kind.MODULE, Kind.TENSOR, Kind.PARAMETER, Kind.LOADER, Kind.OPTIMIZER, Kind.STR, Kind.NUMBER}
)


def _specific(value: Known) -> Known:
    """A declared result without the bare ``tuple`` that stands beside a class."""
    if len(value.atoms) > 1:
        rest = tuple(a for a in value.atoms if a.kind is not Kind.TUPLE or (a.element and a.element.atoms))
        if rest:
            return Known(rest, value.sure)
    return value
