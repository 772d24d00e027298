"""Calls of compiled code with arguments that make the compiler start again."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from mindport.detectors.base import Detector, FileView, Stage, shape
from mindport.detectors.graph import graph_severity
from mindport.findings import Confidence
from mindport.semantics.compiled import Origin
from mindport.semantics.scopes import Context
from mindport.semantics.values import FunctionValue, Instance, Named

_LISTS = (ast.List, ast.ListComp)


@shape("recompiling-argument")
class RecompilingArgument(Detector):
    """A list, or an array made by a function below ``arrays``, passed to an instance of ``cells`` or a jit function.

    ``jit``: the decorators that make a function compiled.
    """

    parameters: ClassVar[Mapping[str, Any]] = {
        "cells": ((str, list), True),
        "jit": ((str, list), True),
        "arrays": (list, True),
    }
    placeholders: ClassVar[frozenset[str]] = frozenset({"found", "callee"})

    def applies(self, view: FileView) -> bool:
        """Code that runs on MindSpore already."""
        return view.stage in (Stage.MINDSPORE, Stage.MIXED)

    def node_types(self) -> Iterable[type[ast.AST]]:
        """Calls."""
        return (ast.Call,)

    def visit(self, view: FileView, node: ast.AST, context: Context) -> None:
        """Report the argument."""
        assert isinstance(node, ast.Call)
        values = [*node.args, *(k.value for k in node.keywords)]
        for value in values:
            if not isinstance(value, (*_LISTS, ast.Call)) or not self._recompiles(view, value, context):
                continue
            sure = self._compiled(view, node, context)
            if sure is not None and not self._inside(view, node):
                source = view.module.source
                shown = " ".join(source.segment(value).split())
                severity = graph_severity(view, self.check, Origin.CONSTRUCT)
                names = {"found": shown, "callee": source.segment(node.func)}
                view.report(self.check, source.span(value), sure, names, severity=severity)
            return

    def _recompiles(self, view: FileView, value: ast.expr, context: Context) -> bool:
        if not isinstance(value, ast.Call):
            return True
        return any(
            isinstance(c.value, Named) and c.value.name.startswith(tuple(self.values["arrays"]))
            for c in view.module.resolve(value.func, context)
        )

    def _compiled(self, view: FileView, node: ast.Call, context: Context) -> Confidence | None:
        for candidate in view.module.resolve(node.func, context):
            value = candidate.value
            if isinstance(value, Instance):
                kind = view.kind_of(value, self.names("cells"))
                if kind is not None:
                    return kind.weaker(candidate.confidence).weaker(Confidence.INFERRED)
            elif isinstance(value, FunctionValue) and value.module is view.module:
                for decorator in value.node.decorator_list:
                    target = decorator.func if isinstance(decorator, ast.Call) else decorator
                    scope = view.module.scopes.scope_of[value.node].parent or view.module.scopes.module
                    found = view.module.resolve(target, Context(scope, ()))
                    if any(isinstance(c.value, Named) and c.value.name in self.names("jit") for c in found):
                        return candidate.confidence
        return None

    def _inside(self, view: FileView, node: ast.Call) -> bool:
        """Inside compiled code an argument is part of the same graph."""
        return any(c.node.lineno <= node.lineno <= (c.node.end_lineno or 0) for c in view.compiled)
