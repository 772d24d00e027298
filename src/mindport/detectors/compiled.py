"""More shapes of compiled code: module variables that are never written, and calls on a kind of object."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, ClassVar

from mindport.detectors.base import FileView, shape
from mindport.detectors.graph import CompiledShape
from mindport.semantics.compiled import Compiled
from mindport.semantics.live import Live


@shape("compiled-global-write")
class CompiledGlobalWrite(CompiledShape):
    """A ``global`` statement whose variable the function assigns; one that is only read is harmless."""

    kinds = (ast.Global,)
    late = True

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the statement, as sure as the surest assignment."""
        if not isinstance(live.node, ast.Global):
            return
        for name in live.node.names:
            writes = [
                other.late
                for other in compiled.live.get(ast.Name, ())
                if isinstance(other.node, ast.Name)
                and other.node.id == name
                and isinstance(other.node.ctx, ast.Store)
            ]
            if writes:
                sure = max(writes, key=lambda confidence: confidence.rank)
                self.found(view, compiled, live.node, live.late.weaker(sure), name)
                return


@shape("compiled-call-on")
class CompiledCallOn(CompiledShape):
    """A call of one of ``names`` whose first argument is an instance of one of ``base``."""

    kinds = (ast.Call,)
    late = True

    parameters: ClassVar[Mapping[str, Any]] = {"names": (list, True), "base": ((str, list), True)}

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report the call."""
        node = live.node
        if not isinstance(node, ast.Call) or not node.args:
            return
        names = self.names("names")
        for name, sure in view.called(node):
            if name not in names:
                continue
            for candidate in view.module.resolve(node.args[0], view.context_of(node)):
                kind = view.kind_of(candidate.value, self.names("base"))
                if kind is not None:
                    sure = sure.weaker(kind).weaker(candidate.confidence).weaker(live.late)
                    self.found(view, compiled, node, sure, name.removeprefix("builtins."))
                    return


@shape("compiled-within-for")
class CompiledWithinFor(CompiledShape):
    """A node of one of the listed ``ast`` types in the body of a ``for`` loop, nested functions left out."""

    kinds = (ast.For,)
    parameters: ClassVar[Mapping[str, Any]] = {"types": (list, True)}

    def look(self, view: FileView, compiled: Compiled, live: Live) -> None:
        """Report each such node that is parsed."""
        if not isinstance(live.node, ast.For):
            return
        wanted = tuple(getattr(ast, name) for name in self.values["types"])
        parsed = {other.node: other for kind in wanted for other in compiled.live.get(kind, ())}
        stack: list[ast.AST] = list(live.node.body)
        while parsed and stack:
            node = stack.pop()
            if isinstance(node, ast.FunctionDef | ast.For):
                continue  # an inner loop is looked at itself
            if node in parsed:
                name = view.module.source.segment(node)
                self.found(view, compiled, node, parsed[node].confidence, name)
            stack.extend(ast.iter_child_nodes(node))
