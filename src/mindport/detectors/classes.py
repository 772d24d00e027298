"""Shapes of classes: a method that should have another name, calls of it, and its first parameter."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from mindport.detectors.base import Detector, FileView, shape
from mindport.findings import Applicability, Edit, Fix
from mindport.semantics.module import Module
from mindport.semantics.nodes import walk
from mindport.semantics.scopes import Context, NamedFunction
from mindport.semantics.values import ClassValue, Instance, SelfValue

_BASE_PARAMETERS: dict[str, tuple[type | tuple[type, ...], bool]] = {
    "base": ((str, list), True),
    "method": (str, True),
    "counterpart": (str, True),
}


def _lineage(module: Module, node: ast.ClassDef) -> Iterator[tuple[Module, ast.ClassDef]]:
    """A class and its project ancestors, nearest first."""
    seen: set[ast.ClassDef] = set()
    queue = [(module, node)]
    while queue:
        owner, current = queue.pop(0)
        if current in seen:
            continue
        seen.add(current)
        yield owner, current
        for base in owner.bases(current):
            if isinstance(base.value, ClassValue):
                queue.append((base.value.module, base.value.node))


def _calls_own(module: Module, function: NamedFunction, method: str) -> bool:
    """Whether a method hands over to ``self.METHOD`` (a template method of the project)."""
    first = function.args.args[0].arg if function.args.args else ""
    return any(
        isinstance(n, ast.Attribute)
        and n.attr == method
        and isinstance(n.value, ast.Name)
        and n.value.id == first
        for n in walk(function)
    )


def _handed_over(module: Module, node: ast.ClassDef, counterpart: str, method: str) -> bool:
    """Whether the class uses its own method: the counterpart calls it, or any method of the class names it."""
    if counterpart in module.methods(node):
        return any(_calls_own(module, function, method) for function in module.methods(node).values())
    for owner, current in _lineage(module, node):
        function = owner.methods(current).get(counterpart)
        if function is not None:
            return any(_calls_own(owner, item, method) for item in owner.methods(current).values())
    return False


def _bound_in_body(node: ast.ClassDef, name: str) -> bool:
    """Whether the class body assigns a name (``construct = forward``)."""
    return any(
        isinstance(item, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in item.targets)
        for item in node.body
    )


@shape("method-in-class")
class MethodInClass(Detector):
    """A method that classes of a kind must not define: ``alone``, or ``both`` it and its counterpart."""

    parameters = {**_BASE_PARAMETERS, "when": (str, True)}
    placeholders = frozenset({"class", "method", "counterpart"})

    def node_types(self) -> Iterable[type[ast.AST]]:
        """Class definitions."""
        return (ast.ClassDef,)

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Report the method's name."""
        assert isinstance(node, ast.ClassDef)
        module, method, counterpart = view.module, self.values["method"], self.values["counterpart"]
        function = module.methods(node).get(method)
        if function is None:
            return
        confidence = module.ancestry(node).any_of(self.names("base"))
        if confidence is None or _bound_in_body(node, counterpart):
            return
        both = counterpart in module.methods(node)
        if both is not (self.values["when"] == "both") or _handed_over(module, node, counterpart, method):
            return
        span = module.source.name_span(function)
        fix = None
        if not both:
            others = method in view.attributes
            torch = self.names("base") <= view.catalog.sets["module"]  # a Module still needs the old name
            sure = Applicability.UNSAFE if others or context.branch or torch else Applicability.SAFE
            fix = Fix(sure, f"{method} -> {counterpart}", (Edit(span, counterpart),))
        values = {"class": node.name, "method": method, "counterpart": counterpart}
        view.report(self.check, span, confidence, values, fix=fix)


@shape("method-call")
class MethodCall(Detector):
    """A call of ``.METHOD()`` on an instance of a kind of class, on ``self`` or on ``super()``."""

    parameters = _BASE_PARAMETERS
    placeholders = frozenset({"receiver", "method", "counterpart", "instead"})

    def applies(self, view: FileView) -> bool:
        """Whether the file calls a method of that name at all."""
        return f".{self.values['method']}" in view.module.source.text

    def node_types(self) -> Iterable[type[ast.AST]]:
        """Calls."""
        return (ast.Call,)

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Report the method's name in the call."""
        assert isinstance(node, ast.Call)
        method, counterpart = self.values["method"], self.values["counterpart"]
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr != method:
            return
        module = view.module
        for candidate in module.resolve(function.value, context):
            confidence = view.kind_of(candidate.value, self.names("base"))
            if confidence is None or self._own_method(candidate.value):
                continue
            own = isinstance(candidate.value, SelfValue)
            span = module.source.attribute_span(function)
            receiver = module.source.segment(function.value)
            instead = f"{receiver}.{counterpart}(...)" if own else f"{receiver}(...)"
            values = {
                "receiver": receiver,
                "method": method,
                "counterpart": counterpart,
                "instead": instead,
            }
            sure = confidence.weaker(candidate.confidence)
            edit = Edit(span, counterpart)
            fix = Fix(Applicability.UNSAFE, f"{method} -> {counterpart}", (edit,)) if own else None
            view.report(self.check, span, sure, values, fix=fix)
            return

    def _own_method(self, value: object) -> bool:
        """Whether the class has both methods: then the called one is a helper of its own."""
        owner = value.owner if isinstance(value, SelfValue) else None
        if owner is None and isinstance(value, Instance) and isinstance(value.callee, ClassValue):
            owner = value.callee
        if owner is None:
            return False
        names: set[str] = set()
        for module, node in _lineage(owner.module, owner.node):
            names |= set(module.methods(node))
        return {self.values["method"], self.values["counterpart"]} <= names


@shape("first-parameter")
class FirstParameter(Detector):
    """A method of a kind of class whose first parameter must have a given name."""

    parameters = {"base": ((str, list), True), "method": (str, True), "name": (str, True)}
    placeholders = frozenset({"class", "method", "name", "found"})

    def node_types(self) -> Iterable[type[ast.AST]]:
        """Class definitions."""
        return (ast.ClassDef,)

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Report the first parameter, or the method's name when there is none."""
        assert isinstance(node, ast.ClassDef)
        function = view.module.methods(node).get(self.values["method"])
        confidence = view.module.ancestry(node).any_of(self.names("base")) if function else None
        if function is None or confidence is None:
            return
        if any(isinstance(d, ast.Name) and d.id in _NOT_BOUND for d in function.decorator_list):
            return
        positional = [*function.args.posonlyargs, *function.args.args]
        if positional and positional[0].arg == self.values["name"]:
            return
        if not positional and function.args.vararg is not None:
            return
        source = view.module.source
        span = source.span(positional[0]) if positional else source.name_span(function)
        found = positional[0].arg if positional else ""
        values = {
            "class": node.name,
            "method": function.name,
            "name": self.values["name"],
            "found": found,
        }
        view.report(self.check, span, confidence, values)


_NOT_BOUND = {"staticmethod", "classmethod"}
