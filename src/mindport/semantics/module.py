"""One module of the project: resolving its names, classes and constants, across files where needed."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.ancestry import Ancestry, add_name
from mindport.semantics.constants import constants_of
from mindport.semantics.reaching import (
    class_of,
    first_parameter,
    flat,
    is_guarded,
    method_owner,
    reaching,
)
from mindport.semantics.scopes import (
    Binding,
    BindingKind,
    Context,
    NamedFunction,
    Scope,
    ScopeKind,
    ScopeTree,
    is_guard,
)
from mindport.semantics.values import (
    Candidate,
    ClassValue,
    Constant,
    Expression,
    FunctionValue,
    Instance,
    ModuleValue,
    Named,
    Partial,
    SelfValue,
)
from mindport.source.text import Source

if TYPE_CHECKING:
    from mindport.semantics.flow.analysis import Flow
    from mindport.semantics.project import Project

MAX_DEPTH = 24
"""How many definitions a chain of names is followed through before giving up."""
MAX_STARS = 16
"""A module with more star imports is a package that re-exports everything: following all would parse it all."""
MAX_CANDIDATES = 8
"""How many values one expression may have before it counts as unknown."""

_BUILTINS = frozenset(dir(builtins))


class Module:
    """A parsed file with lazily resolved names."""

    def __init__(self, source: Source, project: Project, name: str, folder: str) -> None:
        self.source = source
        self.settled = False
        self.folder = folder
        self.project = project
        self.name = name
        self.scopes = ScopeTree(source)
        self._stars: dict[str, tuple[Candidate, ...]] = {}
        self._memo: dict[tuple[ast.AST, int], tuple[Candidate, ...]] = {}
        self._dotted: dict[tuple[object, ...], Candidate] = {}
        self._imported: dict[tuple[str, int], tuple[Candidate, ...]] = {}
        self._active: set[ast.AST] = set()
        self._ancestry: dict[ast.ClassDef, Ancestry] = {}
        self._methods: dict[ast.ClassDef, Mapping[str, NamedFunction]] = {}
        self.flow: Flow | None = None

    def settle(self) -> None:
        """Drop what only the check of this very file needs; what importing files ask stays answerable."""
        assigns: dict[type[ast.AST], list[tuple[ast.AST, Context]]] = {
            kind: self.scopes.nodes.get(kind, []) for kind in (ast.Assign, ast.AnnAssign, ast.ClassDef)
        }
        self.scopes.nodes = assigns
        self.scopes.parents = {}
        self.scopes.texts = []
        self._memo = {}
        self._imported = {}
        self._dotted = {}
        self.settled = True

    def __repr__(self) -> str:
        return f"Module({self.name or self.source.path!r})"

    # --- names -----------------------------------------------------------------------------------------

    def resolve(self, node: ast.AST, context: Context, depth: int = 0) -> tuple[Candidate, ...]:
        """What an expression can be; empty when nothing is known."""
        key = (node, id(context))
        known = self._memo.get(key)
        if known is not None:
            return known
        if depth > MAX_DEPTH or node in self._active:
            return ()
        self._active.add(node)
        try:
            found = self._resolve(node, context, depth + 1)
        finally:
            self._active.discard(node)
        result = found if len(found) < 2 else tuple(dict.fromkeys(found))[:MAX_CANDIDATES]
        if not self._active:  # a result cut short by a cycle is not remembered
            self._memo[key] = result
        return result

    def _resolve(self, node: ast.AST, context: Context, depth: int) -> tuple[Candidate, ...]:
        if isinstance(node, ast.Name):
            return self._name(node, context, depth)
        if isinstance(node, ast.Attribute):
            names: list[str] = []
            base: ast.expr = node
            while isinstance(base, ast.Attribute):
                names.append(base.attr)
                base = base.value
            names.reverse()
            candidates = self.resolve(base, context, depth)
            if len(candidates) == 1 and isinstance(candidates[0].value, Named):
                return (self._below(candidates[0], candidates[0].value.name, names),)
            for name in names:
                candidates = self._attributes_of(candidates, name, depth)
            return candidates
        if isinstance(node, ast.Call):
            return tuple(self._call(node, context, depth))
        if isinstance(node, ast.IfExp | ast.BoolOp):
            parts = (node.body, node.orelse) if isinstance(node, ast.IfExp) else node.values
            return tuple(
                candidate.at(candidate.value, Confidence.INFERRED)
                for part in parts
                for candidate in self.resolve(part, context, depth)
            )
        if isinstance(node, ast.NamedExpr):
            return self.resolve(node.value, context, depth)
        return (Candidate(Expression(self, node, context)),) if isinstance(node, ast.expr) else ()

    def _name(self, node: ast.Name, context: Context, depth: int) -> tuple[Candidate, ...]:
        sole = self._sole.get(node.id)
        if sole is not None and node.lineno > sole.line:  # most names of frameworks
            return self.imported(sole.target, sole.level, depth)
        scope, bindings = self.lookup(node.id, context, (node.lineno, node.col_offset))
        if scope is None:
            found = self._star(node.id, depth)
            if not found and node.id in _BUILTINS:
                return (Candidate(Named(f"builtins.{node.id}")),)
            return found
        only = len(bindings) == 1
        if only and bindings[0].kind is BindingKind.IMPORT and not is_guarded(bindings[0].context.branch):
            return self.imported(bindings[0].target, bindings[0].level, depth)
        owner = method_owner(scope)
        result: list[Candidate] = []
        for binding in bindings:
            if (
                binding.kind is BindingKind.PARAMETER
                and owner is not None
                and node.id == first_parameter(scope.node)
            ):
                result.append(Candidate(SelfValue(ClassValue(self, owner))))
                continue
            for candidate in self._bound(binding, node.id, depth):
                guarded = candidate.guarded or is_guarded(binding.context.branch)
                sure = Confidence.CERTAIN if only or guarded else Confidence.INFERRED
                result.append(Candidate(candidate.value, candidate.confidence.weaker(sure), guarded))
        return tuple(result)

    @cached_property
    def _sole(self) -> Mapping[str, Binding]:
        """The names that only one import binds in the whole file, without any condition."""
        scopes = self.scopes.scope_of.values()
        counts = Counter(name for scope in scopes for name in scope.bindings)
        return {
            name: found[0]
            for name, found in self.scopes.module.bindings.items()
            if counts[name] == len(found) == 1
            and found[0].kind is BindingKind.IMPORT
            and not found[0].context.branch
        }

    def lookup(
        self, name: str, context: Context, position: tuple[int, int]
    ) -> tuple[Scope | None, list[Binding]]:
        """The scope that binds a name as seen from a place, and the bindings that can reach that place."""
        scope: Scope | None = context.scope
        start = scope
        while scope is not None:
            declared = scope.outer_names.get(name)
            if declared:
                scope = scope.module()
            visible = scope.kind is not ScopeKind.CLASS or scope is start
            found = scope.bindings.get(name) if visible else None
            if found:
                return scope, reaching(found, context if scope is start else None, position)
            scope = scope.parent
        return None, []

    def _bound(self, binding: Binding, name: str, depth: int) -> Iterator[Candidate]:
        value = binding.value
        if binding.kind is BindingKind.IMPORT:
            yield from self.imported(binding.target, binding.level, depth)
        elif isinstance(value, ast.ClassDef):
            yield Candidate(ClassValue(self, value))
        elif isinstance(value, ast.FunctionDef | ast.AsyncFunctionDef):
            owner = class_of(binding.context.scope)
            yield Candidate(FunctionValue(self, value, ClassValue(self, owner) if owner else None))
        elif binding.kind is BindingKind.PARAMETER:
            if value is not None:
                outer = Context(binding.context.scope.parent or self.scopes.module, ())
                for candidate in self.resolve(value, outer, depth):
                    yield candidate.at(candidate.value, Confidence.INFERRED)
        elif value is not None:
            yield from self.resolve(value, binding.context, depth)

    def imported(self, target: str, level: int, depth: int = 0) -> tuple[Candidate, ...]:
        """What an imported name can be."""
        known = self._imported.get((target, level))
        if known is not None:
            return known
        if depth > MAX_DEPTH:
            return ()
        found = self.project.find(self, target, level)
        if found is None or isinstance(found, Named):
            candidates: tuple[Candidate, ...] = () if found is None else (Candidate(found),)
        else:
            module, rest = found
            candidates = (Candidate(ModuleValue(module)),)
            self.project.importing += 1
            try:
                for part in rest:
                    candidates = self._attributes_of(candidates, part, depth)
            finally:
                self.project.importing -= 1
        if not self.project.importing:  # modules that import each other are cut short on the way
            self._imported[target, level] = candidates
        return candidates

    def _below(self, base: Candidate, name: str, path: list[str]) -> Candidate:
        """An attribute of something outside the project; files spell the same few again and again."""
        key = (name, base.confidence, base.guarded, *path)
        known = self._dotted.get(key)
        if known is None:
            for part in path:
                name = self.project.canonical(f"{name}.{part}")
            known = self._dotted[key] = base.at(Named(name))
        return known

    def _attributes_of(self, bases: tuple[Candidate, ...], name: str, depth: int) -> tuple[Candidate, ...]:
        if len(bases) == 1 and isinstance(bases[0].value, Named):  # nearly all
            return (self._below(bases[0], bases[0].value.name, [name]),)
        return tuple(candidate for base in bases for candidate in self.attribute(base, name, depth))

    def _star(self, name: str, depth: int) -> tuple[Candidate, ...]:
        """What a name can be through ``import *``; looked for once per name and module."""
        known = self._stars.get(name)
        if known is None:
            self._stars[name] = ()  # modules that import each other end here
            known = self._stars[name] = tuple(self._through_stars(name, depth))
        return known

    def _through_stars(self, name: str, depth: int) -> Iterator[Candidate]:
        stars = self.scopes.module.stars
        if len(stars) > MAX_STARS:
            return
        for binding in stars:
            found = self.project.find(self, binding.target, binding.level)
            guarded = is_guarded(binding.context.branch)
            if isinstance(found, Named):
                if self.project.exports(found.name, name):
                    full = self.project.canonical(f"{found.name}.{name}")
                    yield Candidate(Named(full), Confidence.INFERRED, guarded)
            elif found is not None and not found[1]:
                for candidate in found[0].export(name, depth):
                    yield Candidate(candidate.value, candidate.confidence, candidate.guarded or guarded)

    def is_builtin(self, name: str) -> bool:
        """Whether Python itself defines a name."""
        return name in _BUILTINS

    def export(self, name: str, depth: int = 0) -> tuple[Candidate, ...]:
        """What a module-level name of this module is for those who import it."""
        if depth > MAX_DEPTH:
            return ()
        bindings = reaching(self.scopes.module.bindings.get(name, []), None, (0, 0))
        if not bindings:
            return self._star(name, depth + 1)
        sure = Confidence.CERTAIN if len(bindings) == 1 else Confidence.INFERRED
        return tuple(
            Candidate(c.value, c.confidence.weaker(sure), c.guarded or is_guarded(binding.context.branch))
            for binding in bindings
            for c in self._bound(binding, name, depth + 1)
        )

    def _call(self, node: ast.Call, context: Context, depth: int) -> Iterator[Candidate]:
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            scope = context.scope.enclosing_class()
            if scope is not None and isinstance(scope.node, ast.ClassDef):
                yield Candidate(SelfValue(ClassValue(self, scope.node), parent=True))
            return
        for candidate in self.resolve(node.func, context, depth):
            value = candidate.value
            if isinstance(value, Named) and value.name == "functools.partial":
                for inner in self.resolve(node.args[0], context, depth) if node.args else ():
                    yield inner.at(Partial(inner.value, self, node, context))
            elif isinstance(value, Partial):
                yield candidate.at(Instance(value.callee, self, node, context))
            elif isinstance(value, Named | ClassValue | FunctionValue):
                yield candidate.at(Instance(value, self, node, context))

    def attribute(self, base: Candidate, name: str, depth: int = 0) -> Iterator[Candidate]:
        """What an attribute of a value can be."""
        value = base.value
        if isinstance(value, Named):
            yield base.at(Named(self.project.canonical(f"{value.name}.{name}")))
        elif isinstance(value, ModuleValue):
            found = value.module.export(name, depth + 1)
            if not found:
                inner = self.project.submodule(value.module, name)
                found = (Candidate(ModuleValue(inner)),) if inner is not None else ()
            for candidate in found:
                yield Candidate(
                    candidate.value,
                    base.confidence.weaker(candidate.confidence),
                    base.guarded or candidate.guarded,
                )
        elif isinstance(value, SelfValue):
            for candidate in value.owner.module.member(value.owner.node, name, value.parent, depth + 1):
                yield base.at(candidate.value, candidate.confidence)
        elif isinstance(value, ClassValue):
            for candidate in value.module.member(value.node, name, False, depth + 1):
                yield base.at(candidate.value, candidate.confidence)
        elif isinstance(value, Instance) and isinstance(value.callee, ClassValue):
            owner = value.callee
            for candidate in owner.module.member(owner.node, name, False, depth + 1):
                yield base.at(candidate.value, candidate.confidence)

    # --- classes ---------------------------------------------------------------------------------------

    def member(self, node: ast.ClassDef, name: str, parent: bool, depth: int) -> tuple[Candidate, ...]:
        """A method, class attribute or ``self.`` attribute of a class or of its project bases."""
        if depth > MAX_DEPTH:
            return ()
        if not parent:
            own = tuple(self._own_member(node, name, depth + 1))
            if own:
                return own
        found: list[Candidate] = []
        for base in self.bases(node, depth + 1):
            if isinstance(base.value, ClassValue):
                found += base.value.module.member(base.value.node, name, False, depth + 1)
            if found:
                break
        return tuple(found)

    def _own_member(self, node: ast.ClassDef, name: str, depth: int) -> Iterator[Candidate]:
        scope = self.scopes.scope_of[node]
        for binding in reaching(scope.bindings.get(name, []), None, (0, 0)):
            yield from self._bound(binding, name, depth)
        values = self.self_attributes(node).get(name, [])
        for value, context in values:
            for candidate in self.resolve(value, context, depth):
                sure = Confidence.CERTAIN if len(values) == 1 else Confidence.INFERRED
                yield candidate.at(candidate.value, sure)

    def self_attributes(self, node: ast.ClassDef) -> Mapping[str, list[tuple[ast.expr, Context]]]:
        """The values assigned to ``self.NAME`` in the methods of a class, by name."""
        return self._attributes.get(node, {})

    @cached_property
    def _attributes(self) -> Mapping[ast.ClassDef, dict[str, list[tuple[ast.expr, Context]]]]:
        result: dict[ast.ClassDef, dict[str, list[tuple[ast.expr, Context]]]] = {}
        for kind in (ast.Assign, ast.AnnAssign):
            for statement, context in self.scopes.nodes.get(kind, ()):
                assert isinstance(statement, ast.Assign | ast.AnnAssign)
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                attributes = [t for t in targets if isinstance(t, ast.Attribute)]
                owner = method_owner(context.scope) if attributes and statement.value is not None else None
                if owner is None or statement.value is None:
                    continue
                first = first_parameter(context.scope.node)
                for target in attributes:
                    if isinstance(target.value, ast.Name) and target.value.id == first:
                        values = result.setdefault(owner, {}).setdefault(target.attr, [])
                        values.append((statement.value, context))
        return result

    def methods(self, node: ast.ClassDef) -> Mapping[str, NamedFunction]:
        """The functions defined in a class body, by name (the last definition of a name)."""
        known = self._methods.get(node)
        if known is None:
            known = self._methods[node] = {
                item.name: item
                for item in flat(node.body)
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
            }
        return known

    def bases(self, node: ast.ClassDef, depth: int = 0) -> tuple[Candidate, ...]:
        """What the base classes of a class can be."""
        scope = self.scopes.scope_of[node]
        context = Context(scope.parent or self.scopes.module, ())
        return tuple(c for base in node.bases for c in self._base(base, context, depth))

    def _base(self, base: ast.expr, context: Context, depth: int) -> tuple[Candidate, ...]:
        plain = base.value if isinstance(base, ast.Subscript) else base  # Generic[T]
        found = self.resolve(plain, context, depth)
        known = any(isinstance(c.value, Named | ClassValue) for c in found)
        return found if known or self.project.oracle is None else (*found, *self._asked(base))

    def _asked(self, node: ast.expr) -> Iterator[Candidate]:
        """The classes of the project the oracle says an expression can be."""
        oracle = self.project.oracle
        for answer in oracle.classes(self.source, node) if oracle is not None else ():
            module = self.project.at(answer.file)
            for cls, _ in module.scopes.nodes.get(ast.ClassDef, ()) if module is not None else ():
                if isinstance(cls, ast.ClassDef) and cls.lineno == answer.line and module is not None:
                    yield Candidate(ClassValue(module, cls), Confidence.INFERRED)

    def class_decorators(self, node: ast.ClassDef) -> list[str]:
        """The external names that decorate a class, each written without a call."""
        context = Context(self.scopes.scope_of[node].parent or self.scopes.module, ())
        found = (c.value for decorator in node.decorator_list for c in self.resolve(decorator, context))
        return [value.name for value in found if isinstance(value, Named)]

    def ancestry(self, node: ast.ClassDef, depth: int = 0) -> Ancestry:
        """The external names a class derives from, through all classes of the project."""
        if node in self._ancestry:
            return self._ancestry[node]
        names: dict[str, Confidence] = {}
        complete = True
        self._ancestry[node] = Ancestry(names, False)  # a cyclic class ends here
        for base in node.bases:
            context = Context(self.scopes.scope_of[node].parent or self.scopes.module, ())
            candidates = self._base(base, context, depth)
            known = False
            for candidate in candidates:
                value = candidate.value
                if isinstance(value, Named):
                    add_name(names, value.name, candidate.confidence)
                    known = True
                elif isinstance(value, ClassValue) and depth <= MAX_DEPTH:
                    inherited = value.module.ancestry(value.node, depth + 1)
                    for name, confidence in inherited.names.items():
                        add_name(names, name, confidence.weaker(candidate.confidence))
                    complete = complete and inherited.complete
                    known = True
            complete = complete and known
        result = Ancestry(names, complete)
        self._ancestry[node] = result
        return result

    @cached_property
    def classes(self) -> list[tuple[ast.ClassDef, Context]]:
        """Every class definition of the file."""
        return [(n, c) for n, c in self.scopes.nodes.get(ast.ClassDef, ()) if isinstance(n, ast.ClassDef)]

    # --- constants -------------------------------------------------------------------------------------

    def constants(self, node: ast.AST, context: Context, depth: int = 0) -> tuple[Constant, ...]:
        """The Python constants an expression can be; empty when any part is unknown."""
        found = constants_of(self, node, context, depth)
        if found or depth or self.project.oracle is None or isinstance(node, ast.Constant):
            return found
        answers = self.project.oracle.constants(self.source, node)
        return tuple(Constant(value, Confidence.INFERRED) for value in answers)

    # --- guards ----------------------------------------------------------------------------------------

    def guarded(self, context: Context, node: ast.AST | None = None) -> bool:
        """Whether a place runs only where some framework, version or attribute was found to be there."""
        scope: Scope | None = context.scope
        if is_guarded(context.branch):
            return True
        while scope is not None and scope.kind is not ScopeKind.MODULE:
            outer = self._context_of(scope.node)
            if outer is not None and is_guarded(outer.branch):
                return True
            scope = scope.parent
        current = node
        while current is not None:
            parent = self.scopes.parents.get(current)
            if isinstance(parent, ast.IfExp) and current is not parent.test and is_guard(parent.test):
                return True
            if isinstance(parent, ast.BoolOp) and any(is_guard(v) for v in parent.values if v is not current):
                return True
            current = parent if isinstance(parent, ast.expr) else None
        return False

    def _context_of(self, node: ast.AST) -> Context | None:
        return self._definition_contexts.get(node)

    @cached_property
    def _definition_contexts(self) -> Mapping[ast.AST, Context]:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return {node: context for kind in kinds for node, context in self.scopes.nodes.get(kind, ())}
