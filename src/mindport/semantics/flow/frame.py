"""One function body (or module body) run over knowledge instead of values: statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from mindport.findings import Confidence
from mindport.semantics.flow.annotations import annotation
from mindport.semantics.flow.evidence import parameter_evidence
from mindport.semantics.flow.expressions import Expressions
from mindport.semantics.flow.narrow import narrow
from mindport.semantics.kinds import (
    UNKNOWN,
    Atom,
    Kind,
    Known,
    container,
    elements,
    join,
    of,
)
from mindport.semantics.library import Arguments
from mindport.semantics.reaching import is_decorated
from mindport.semantics.scopes import NamedFunction, parameter_defaults
from mindport.semantics.values import ClassValue, FunctionValue

if TYPE_CHECKING:
    from mindport.semantics.flow.analysis import Flow

Env = dict[str, Known]
PASSES = 2
"""How often a loop body is run: once more when what it changes reaches its start."""
_METHODS_OF_CELLS = frozenset({"forward", "construct"})


class Frame(Expressions):
    """The state of one run: what each name is at this point; ``env`` is None where no path gets."""

    def __init__(
        self, flow: Flow, owner: ClassValue | None, node: ast.AST | None, outers: tuple[Env, ...]
    ) -> None:
        super().__init__(flow, owner, outers)
        self.node = node
        self._returns: list[Known] = []
        self._yields: list[Known] = []
        self._ends: list[Env] = []
        self._loops: list[tuple[list[Env], list[Env]]] = []
        self._nested: list[NamedFunction] = []

    # --- the whole body --------------------------------------------------------------------------------

    def scopes(self) -> tuple[Env, ...]:
        """The names a nested function sees."""
        return (self.env if self.env is not None else {}, *self.outers)

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Run a body and what is defined in it."""
        self.block(body)
        if self._ends:
            self.env = _merge([*([self.env] if self.env is not None else []), *self._ends])
        for node in self._nested:
            self.flow.ensure(node, None)

    def result(self) -> Known:
        """What the function gives back."""
        if self._yields:
            return Known((Atom(Kind.OTHER, join(self._yields)),), Confidence.INFERRED)
        if not self._returns:
            return of(Kind.NONE)
        return join(self._returns)

    def bind_parameters(self, node: NamedFunction, arguments: Arguments | None) -> None:
        """What the parameters are: by annotation, default, use, or what the first caller passes."""
        args = node.args
        positional = [*args.posonlyargs, *args.args]
        assert self.env is not None
        rest = positional
        if self.owner is not None and positional and not is_decorated(node, "staticmethod"):
            first = positional[0].arg
            if _is_class_method(node):
                self.env[first] = Known((Atom(Kind.CLASS, ref=self.owner),), Confidence.CERTAIN)
            else:
                self.self_name = first
                self.env[first] = self.flow.instance(self.owner, Confidence.CERTAIN)
            rest = positional[1:]
        defaults = parameter_defaults(args)
        unclear: list[str] = []
        for arg in (*rest, *args.kwonlyargs):
            known = annotation(self.flow, arg.annotation)
            default = defaults.get(arg.arg)
            fallback = UNKNOWN if default is None else self.flow.free(default).weaker(Confidence.INFERRED)
            if known.atoms:
                if fallback.kind is Kind.NONE and len(known.atoms) < 4:
                    known = join((known, fallback))
            elif fallback.atoms and fallback.kind is not Kind.NONE:
                known = fallback
            else:
                unclear.append(arg.arg)
            self.env[arg.arg] = known
        if unclear:
            self._by_use(node, unclear, [a.arg for a in rest], defaults, arguments)
        if args.vararg is not None:
            inner = annotation(self.flow, args.vararg.annotation)
            self.env[args.vararg.arg] = container(Kind.TUPLE, inner, Confidence.INFERRED)
        if args.kwarg is not None:
            inner = annotation(self.flow, args.kwarg.annotation)
            self.env[args.kwarg.arg] = container(Kind.DICT, inner, Confidence.INFERRED)

    def _by_use(
        self,
        node: NamedFunction,
        names: list[str],
        places: list[str],
        defaults: dict[str, ast.expr],
        arguments: Arguments | None,
    ) -> None:
        assert self.env is not None
        found = parameter_evidence(self, node, frozenset(names))
        in_cell = node.name in _METHODS_OF_CELLS and self.owner is not None
        in_cell = in_cell and self.flow.instance(self.owner, Confidence.CERTAIN).kind is Kind.MODULE  # type: ignore[arg-type]
        for name in names:
            evidence = found[name]
            known = UNKNOWN
            if (evidence.proved and not evidence.against) or (
                in_cell and not evidence.against and (name not in defaults or evidence.consistent)
            ):
                known = of(Kind.TENSOR, Confidence.INFERRED)
            elif arguments is not None:
                known = _passed(arguments, name, places).weaker(Confidence.INFERRED)
            if known.atoms and name in defaults:
                known = join((known, of(Kind.NONE, Confidence.INFERRED)))
            self.env[name] = known

    # --- statements ------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Run statements until one leaves."""
        for statement in body:
            if self.env is None:
                return
            handler = _STATEMENTS.get(statement.__class__)
            if handler is not None:
                handler(self, statement)

    def _expr(self, node: ast.Expr) -> None:
        self.eval(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        known = annotation(self.flow, node.annotation)
        if node.value is not None:
            value = self.eval(node.value)
            self.assign(node.target, value if value.atoms and value.kind is not Kind.NONE else known)
        elif isinstance(node.target, ast.Name) and known.atoms:
            self.assign(node.target, known)

    def _augmented(self, node: ast.AugAssign) -> None:
        target = node.target
        before = self.eval(target)
        value = self.eval(node.value)
        result = self.binary(before, value, node.op)
        if isinstance(target, ast.Name | ast.Attribute):
            self.assign(target, result)

    def assign(self, target: ast.expr, value: Known) -> None:
        """Bind a target."""
        kind = target.__class__
        if kind is ast.Name:
            self.env[target.id] = value  # type: ignore[index,attr-defined]
        elif kind is ast.Tuple or kind is ast.List:
            self._unpack(target.elts, value)  # type: ignore[attr-defined]
        elif kind is ast.Attribute:
            self.eval(target.value)  # type: ignore[attr-defined]
            key = self.key(target)
            if key is not None:
                self.set(key, value)
                if self.owner is not None:
                    self.flow.write(self.owner, target.attr, value)  # type: ignore[attr-defined]
        elif kind is ast.Subscript:
            known = self.eval(target.value)  # type: ignore[attr-defined]
            self.eval(target.slice)  # type: ignore[attr-defined]
            self.grow(target.value, known, value)  # type: ignore[attr-defined]
        elif kind is ast.Starred:
            self.assign(target.value, container(Kind.LIST, value, value.sure))  # type: ignore[attr-defined]

    def _unpack(self, targets: list[ast.expr], value: Known) -> None:
        atom = value.atom
        parts = atom.items if atom is not None else None
        starred = any(isinstance(t, ast.Starred) for t in targets)
        if parts is not None and len(parts) == len(targets) and not starred:
            for target, part in zip(targets, parts, strict=True):
                self.assign(target, part.weaker(value.sure))
            return
        each = elements(value)
        for target in targets:
            self.assign(target, each)

    def _return(self, node: ast.Return) -> None:
        value = self.eval(node.value) if node.value is not None else of(Kind.NONE)
        self._returns.append(value)
        self._leave()

    def _leave(self) -> None:
        if self.env is not None:
            self._ends.append(self.env)
        self.env = None

    def _raise(self, node: ast.Raise) -> None:
        for part in (node.exc, node.cause):
            if part is not None:
                self.eval(part)
        self.env = None

    def _assert(self, node: ast.Assert) -> None:
        self.eval(node.test)
        narrow(self, node.test, True)
        if node.msg is not None:
            self.eval(node.msg)

    def _if(self, node: ast.If) -> None:
        self.eval(node.test)
        before = self.env
        assert before is not None
        self.env = dict(before)
        narrow(self, node.test, True)
        self.block(node.body)
        after = self.env
        self.env = before
        narrow(self, node.test, False)
        self.block(node.orelse)
        self.env = _join_envs(after, self.env)

    def _loop(self, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], start: Callable[[], None]) -> None:
        entry = self.env
        assert entry is not None
        breaks: list[Env] = []
        for _ in range(PASSES):
            self.env = dict(entry)
            breaks = []
            continues: list[Env] = []
            self._loops.append((breaks, continues))
            start()
            self.block(body)
            self._loops.pop()
            ends = [*([self.env] if self.env is not None else []), *continues]
            merged = _merge([entry, *ends])
            if _same(entry, merged):
                break
            entry = merged
        self.env = entry
        self.block(orelse)
        for env in breaks:
            self.env = _join_envs(self.env, env)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        value = self.eval(node.iter)
        each = elements(value) if isinstance(node, ast.For) else UNKNOWN
        self._loop(node.body, node.orelse, lambda: self.assign(node.target, each))

    def _while(self, node: ast.While) -> None:
        def start() -> None:
            self.eval(node.test)
            narrow(self, node.test, True)

        self._loop(node.body, node.orelse, start)

    def _break(self, node: ast.Break) -> None:
        if self._loops and self.env is not None:
            self._loops[-1][0].append(self.env)
        self.env = None

    def _continue(self, node: ast.Continue) -> None:
        if self._loops and self.env is not None:
            self._loops[-1][1].append(self.env)
        self.env = None

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.eval(item.context_expr)
            if item.optional_vars is not None:
                atom = value.atom
                entered = value if atom is not None and atom.kind is Kind.MODULE else UNKNOWN
                self.assign(item.optional_vars, entered)
        self.block(node.body)

    def _try(self, node: ast.Try) -> None:
        before = dict(self.env or {})
        self.block(node.body)
        after = self.env
        middle = _merge([before, *([after] if after is not None else [])])
        self.env = after
        if self.env is not None:
            self.block(node.orelse)
        result = self.env
        for handler in node.handlers:
            self.env = dict(middle)
            if handler.type is not None:
                self.eval(handler.type)
            if handler.name:
                self.env[handler.name] = of(Kind.OTHER)
            self.block(handler.body)
            result = _join_envs(result, self.env)
        self.env = result
        if node.finalbody:
            dead = self.env is None
            self.env = dict(middle) if self.env is None else self.env
            self.block(node.finalbody)
            if dead:
                self.env = None

    def _function(self, node: NamedFunction) -> None:
        for decorator in node.decorator_list:
            self.eval(decorator)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.eval(default)
        assert self.env is not None
        value = FunctionValue(self.flow.module, node)
        self.env[node.name] = Known((Atom(Kind.FUNCTION, ref=value),), Confidence.CERTAIN)
        if self.node is not None:
            self.flow.frames[node] = self
            self._nested.append(node)

    def _class(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
            self.eval(part)
        value = ClassValue(self.flow.module, node)
        inner = Frame(self.flow, None, None, self.scopes() if self.node is not None else ())
        inner.block([s for s in node.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)])
        assert self.env is not None
        self.env[node.name] = Known((Atom(Kind.CLASS, ref=value),), Confidence.CERTAIN)
        if self.node is not None:
            for item in node.body:
                if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
                    self.flow.frames[item] = self
                    self.flow.ensure(item, value)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        assert self.env is not None
        module = self.flow.module
        for alias in node.names:
            if alias.name == "*":
                continue
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
                target, level = (alias.name if alias.asname else bound), 0
            else:
                bound = alias.asname or alias.name
                target = f"{node.module}.{alias.name}" if node.module else alias.name
                level = node.level
            if self.node is None:  # the module's own names are resolved when they are asked for
                self.env.pop(bound, None)
            else:
                self.env[bound] = self.flow.candidates(module.imported(target, level))

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                assert self.env is not None
                self.env.pop(target.id, None)
            else:
                self.eval(target)

    def _match(self, node: ast.Match) -> None:
        self.eval(node.subject)
        before = self.env
        result: Env | None = before
        for case in node.cases:
            self.env = dict(before or {})
            for pattern in ast.walk(case.pattern):
                name = getattr(pattern, "name", None) or getattr(pattern, "rest", None)
                if isinstance(name, str):
                    self.env[name] = UNKNOWN
            if case.guard is not None:
                self.eval(case.guard)
            self.block(case.body)
            result = _join_envs(result, self.env)
        self.env = result

    def add_yield(self, value: Known) -> None:
        """The function is a generator that gives this."""
        self._yields.append(value)


_STATEMENTS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: Frame._expr,
    ast.Assign: Frame._assign,
    ast.AnnAssign: Frame._annotated,
    ast.AugAssign: Frame._augmented,
    ast.Return: Frame._return,
    ast.Raise: Frame._raise,
    ast.Assert: Frame._assert,
    ast.If: Frame._if,
    ast.For: Frame._for,
    ast.AsyncFor: Frame._for,
    ast.While: Frame._while,
    ast.Break: Frame._break,
    ast.Continue: Frame._continue,
    ast.With: Frame._with,
    ast.AsyncWith: Frame._with,
    ast.Try: Frame._try,
    ast.FunctionDef: Frame._function,
    ast.AsyncFunctionDef: Frame._function,
    ast.ClassDef: Frame._class,
    ast.Import: Frame._import,
    ast.ImportFrom: Frame._import,
    ast.Delete: Frame._delete,
    ast.Match: Frame._match,
    **({ast.TryStar: Frame._try} if hasattr(ast, "TryStar") else {}),
}


def _merge(envs: list[Env]) -> Env:
    result = dict(envs[0])
    for env in envs[1:]:
        if env is envs[0]:
            continue
        for name, value in env.items():
            known = result.get(name)
            if known is None:
                if "." not in name:
                    result[name] = value
            elif known is not value:
                result[name] = join((known, value))
        for name in [n for n in result if "." in n and n not in env]:
            del result[name]
    return result


def _join_envs(one: Env | None, other: Env | None) -> Env | None:
    if one is None or other is None:
        return one if other is None else other
    return _merge([one, other])


def _same(one: Env, other: Env) -> bool:
    return len(one) == len(other) and all(
        (known := other.get(name)) is value or known == value for name, value in one.items()
    )


def _passed(arguments: Arguments, name: str, places: list[str]) -> Known:
    known = arguments.keywords.get(name)
    if known is None and name in places:
        place = places.index(name)
        if place < len(arguments.positional):
            known = arguments.positional[place]
    return known or UNKNOWN


_IMPLICIT = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
"""Methods that Python passes the class without being told to."""


def _is_class_method(node: NamedFunction) -> bool:
    return node.name in _IMPLICIT or is_decorated(node, "classmethod")
