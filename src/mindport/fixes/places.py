"""What the place of a name means for its fix: annotation, base class, ``isinstance``, decorator, value."""

from __future__ import annotations

import ast
from functools import cached_property

from mindport.detectors.base import FileView
from mindport.semantics.kinds import Kind
from mindport.semantics.scopes import Context
from mindport.semantics.values import Expression, Named, Value

_ASKING = frozenset({"builtins.isinstance", "builtins.issubclass"})
_PARTIAL = "functools.partial"


class Places:
    """Answers about the surroundings of nodes of one file."""

    def __init__(self, view: FileView) -> None:
        self.view = view
        self.parents = view.module.scopes.parents

    @cached_property
    def annotations(self) -> set[ast.AST]:
        """Every node of an annotation."""
        nodes = self.view.module.scopes.nodes
        result: set[ast.AST] = set()
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef):
            for node, _ in nodes.get(kind, ()):
                assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                arguments = node.args
                for arg in (
                    *arguments.posonlyargs,
                    *arguments.args,
                    *arguments.kwonlyargs,
                    *filter(None, (arguments.vararg, arguments.kwarg)),
                ):
                    result |= set(ast.walk(arg.annotation)) if arg.annotation else set()
                result |= set(ast.walk(node.returns)) if node.returns else set()
        for node, _ in nodes.get(ast.AnnAssign, ()):
            assert isinstance(node, ast.AnnAssign)
            result |= set(ast.walk(node.annotation))
        return result

    @cached_property
    def _decorators(self) -> dict[ast.AST, ast.AST]:
        result: dict[ast.AST, ast.AST] = {}
        nodes = self.view.module.scopes.nodes
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            for node, _ in nodes.get(kind, ()):
                for decorator in node.decorator_list:  # type: ignore[attr-defined]
                    result[decorator] = node
        return result

    @cached_property
    def _calls(self) -> dict[ast.AST, Context]:
        return dict(self.view.module.scopes.nodes.get(ast.Call, ()))

    def decorated(self, node: ast.AST) -> ast.AST | None:
        """The definition a node decorates."""
        return self._decorators.get(node)

    def is_context(self, node: ast.AST) -> bool:
        """Whether a node is what a ``with`` enters."""
        parent = self.parents.get(node)
        return isinstance(parent, ast.With | ast.AsyncWith)

    def is_value(self, node: ast.expr) -> bool:
        """Whether a class is passed on as a value (and called elsewhere), not asked about or derived from."""
        if node in self.annotations or node in self._decorators:
            return False
        current: ast.AST = node
        parent = self.parents.get(current)
        while isinstance(parent, ast.Tuple | ast.List | ast.Set):
            current, parent = parent, self.parents.get(parent)
        if isinstance(parent, ast.ClassDef | ast.Compare | ast.Subscript | ast.BinOp):
            return False
        if isinstance(parent, ast.Call):
            return parent.func is not current and not self._asks(parent)
        return True

    def _asks(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and f"builtins.{call.func.id}" in _ASKING

    def partial_of(self, node: ast.AST) -> ast.Call | None:
        """The ``functools.partial`` call that binds arguments of a node."""
        parent = self.parents.get(node)
        if not isinstance(parent, ast.Call) or not parent.args or parent.args[0] is not node:
            return None
        module = self.view.module
        context = self._calls.get(parent)
        if context is None:
            return None
        values = [candidate.value for candidate in module.resolve(parent.func, context)]
        return parent if any(isinstance(v, Named) and v.name == _PARTIAL for v in values) else None

    def is_data(self, node: ast.Attribute) -> bool:
        """Whether a node is the plain tensor of a parameter (``weight.data``)."""
        known = self.view.known(node.value)
        return node.attr == "data" and known.kind in (Kind.PARAMETER, Kind.TENSOR)

    def is_none(self, value: Value) -> bool:
        """Whether a value is the constant None."""
        return (
            isinstance(value, Expression)
            and isinstance(value.node, ast.Constant)
            and value.node.value is None
        )
