"""Shapes of names in compiled code that are not bound on every path the graph compiler follows."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mindport.detectors.base import FileView, shape
from mindport.detectors.graph import CompiledShape
from mindport.findings import Confidence
from mindport.semantics.compiled import Compiled
from mindport.semantics.live import TERMINATORS, arms, decides
from mindport.semantics.nodes import walk
from mindport.semantics.scopes import arguments_of

_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Names:
    """Names a statement reads and binds, each statement looked at once."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, tuple[list[ast.Name], list[ast.Name]]] = {}

    def reads(self, node: ast.AST) -> list[ast.Name]:
        """Names read in a node, those private to a comprehension left out."""
        return self._of(node)[0]

    def writes(self, node: ast.AST) -> list[ast.Name]:
        """Names bound in a node, nested functions left out."""
        return self._of(node)[1]

    def _of(self, node: ast.AST) -> tuple[list[ast.Name], list[ast.Name]]:
        found = self._known.get(node)
        if found is None:
            found = self._known[node] = self._collect(node)
        return found

    def _collect(self, node: ast.AST) -> tuple[list[ast.Name], list[ast.Name]]:
        names: list[ast.Name] = []
        private: set[str] = set()
        stack = [node]
        while stack:
            current = stack.pop()
            kind = current.__class__
            if kind is ast.Name:
                names.append(current)  # type: ignore[arg-type]
                continue
            if kind is ast.Constant or (current is not node and isinstance(current, _NESTED)):
                continue
            if kind is ast.comprehension:
                target = current.target  # type: ignore[attr-defined]
                private |= {n.id for n in walk(target) if isinstance(n, ast.Name)}
            for name in current._fields:
                value = getattr(current, name, None)
                if value.__class__ is list:
                    stack += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    stack.append(value)
        own = [n for n in names if n.id not in private]
        reads = [n for n in own if isinstance(n.ctx, ast.Load)]
        return reads, [n for n in own if isinstance(n.ctx, ast.Store)]


def _bound(names: Names, statements: Sequence[ast.stmt]) -> set[str]:
    """Names a block binds anywhere."""
    result = {name.id for s in statements for name in names.writes(s)}
    return result | {s.name for s in statements if isinstance(s, _NESTED[:3])}


def _always(names: Names, statements: Sequence[ast.stmt]) -> set[str] | None:
    """Names a block binds on every path; None when it never reaches its end."""
    result: set[str] = set()
    for statement in statements:
        if isinstance(statement, TERMINATORS):
            return None
        result |= _header(names, statement)
        if isinstance(statement, ast.If):
            body, orelse = _always(names, statement.body), _always(names, statement.orelse)
            if body is None and orelse is None:
                return None
            result |= (
                (body & orelse) if body is not None and orelse is not None else (body or orelse or set())
            )
        elif isinstance(statement, ast.With | ast.Try):
            inner = _always(names, statement.body)
            if inner is None:
                return None
            result |= inner
        elif not isinstance(statement, ast.For | ast.While):
            result |= _bound(names, [statement])
    return result


def _first_read(names: Names, name: str, following: Sequence[ast.stmt]) -> ast.Name | None:
    """The first place that reads a name before it is bound again.

    A read under the very condition that bound the name counts too: MindSpore 2.10.0 joins the first ``if``
    before it looks at the second, and raises.
    """
    for statement in following:
        if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
            head = getattr(statement, "test", None) or getattr(statement, "iter", None)
            reads = [n for n in names.reads(head) if n.id == name] if head is not None else []
            if reads:
                return reads[0]
            if name in (_always(names, [statement]) or set()) or name in _bound(names, [statement]):
                return None
        reads = [n for n in names.reads(statement) if n.id == name]
        if reads:
            return min(reads, key=lambda n: (n.lineno, n.col_offset))
        if name in _bound(names, [statement]):
            return None
    return None


class _Blocks(CompiledShape):
    def finish(self, view: FileView) -> None:
        """Look at every block of the compiled functions that hold what `statement` judges."""
        self.names_of: Names = view.__dict__.setdefault("names", Names())
        for compiled in view.compiled:
            if not any(kind in compiled.live for kind in self.kinds):
                continue
            before = {argument.arg for argument in arguments_of(compiled.node.args)}
            before |= set(view.module.scopes.scope_of[compiled.node].outer_names)
            self._walk(view, compiled, compiled.node.body, before, Confidence.INFERRED)

    def _walk(
        self,
        view: FileView,
        compiled: Compiled,
        body: Sequence[ast.stmt],
        before: set[str],
        sure: Confidence,
    ) -> None:
        known = set(before)
        for index, statement in enumerate(body):
            header = _header(self.names_of, statement)
            self.statement(view, compiled, statement, body[index + 1 :], known | header, sure)
            known |= header
            for inner, confidence in _inner(view, compiled, statement):
                self._walk(view, compiled, inner, known | _targets(statement), sure.weaker(confidence))
            known |= _bound(self.names_of, [statement])
            if isinstance(statement, TERMINATORS):
                return

    def statement(
        self,
        view: FileView,
        compiled: Compiled,
        node: ast.stmt,
        following: Sequence[ast.stmt],
        known: set[str],
        sure: Confidence,
    ) -> None:
        """Judge one statement, with what follows it in its block and the names bound before."""
        raise NotImplementedError


def _inner(
    view: FileView, compiled: Compiled, statement: ast.stmt
) -> list[tuple[list[ast.stmt], Confidence]]:
    """The blocks in a statement that may be parsed."""
    if isinstance(statement, _NESTED):
        return []
    if isinstance(statement, ast.If):
        return arms(view.module, compiled.owner, statement)
    blocks = (getattr(statement, name, None) for name in ("body", "orelse", "finalbody"))
    return [(block, Confidence.CERTAIN) for block in blocks if isinstance(block, list)]


def _header(names: Names, statement: ast.stmt) -> set[str]:
    """Names bound in the condition, the sequence or the ``with`` items of a compound statement."""
    if not isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Match):
        return set()
    parts = [getattr(statement, name, None) for name in ("test", "iter", "subject")]
    parts += getattr(statement, "items", ())
    return {name.id for part in parts if part is not None for name in names.writes(part)}


def _targets(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.For):
        return {n.id for n in walk(statement.target) if isinstance(n, ast.Name)}
    return set()


@shape("bound-in-one-branch")
class BoundInOneBranch(_Blocks):
    """A name bound in one arm of an ``if`` only, never before, and read after it."""

    kinds = (ast.If,)

    def statement(
        self,
        view: FileView,
        compiled: Compiled,
        node: ast.stmt,
        following: Sequence[ast.stmt],
        known: set[str],
        sure: Confidence,
    ) -> None:
        """Report the read."""
        if not isinstance(node, ast.If) or decides(view.module, compiled.owner, node.test):
            return
        body, orelse = _always(self.names_of, node.body), _always(self.names_of, node.orelse)
        if body is None or orelse is None:
            return
        for name in sorted((body ^ orelse) - known):
            read = _first_read(self.names_of, name, following)
            if read is not None:
                self.found(view, compiled, read, sure, name)


@shape("bound-in-loop")
class BoundInLoop(_Blocks):
    """A name first bound by a loop (its variable or its body) and read after it."""

    kinds = (ast.For, ast.While)

    def statement(
        self,
        view: FileView,
        compiled: Compiled,
        node: ast.stmt,
        following: Sequence[ast.stmt],
        known: set[str],
        sure: Confidence,
    ) -> None:
        """Report the read."""
        if not isinstance(node, ast.For | ast.While):
            return
        for name in sorted((_bound(self.names_of, node.body) | _targets(node)) - known):
            read = _first_read(self.names_of, name, following)
            if read is not None:
                self.found(view, compiled, read, sure, name)
