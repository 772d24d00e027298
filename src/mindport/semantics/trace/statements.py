"""Following the statements of compiled functions: branches, loops, and what they join.

Static loops and branches are followed as the compiler unrolls and prunes them; a condition on a Tensor keeps both
arms, whose values must fit together. Loop bodies are followed twice, so that what one pass leaves meets the next.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mindport.findings import Confidence
from mindport.semantics.live import arms, is_parse_time
from mindport.semantics.nodes import walk
from mindport.semantics.trace.calls import Calls
from mindport.semantics.trace.frame import Frame, Path, dynamic_split, split
from mindport.semantics.trace.values import EXIT, LATE, LOOP, Event, Shadow, What, disagree, join, unknown
from mindport.semantics.values import Named


class Statements(Calls):
    """Follows statements, and joins what their arms leave."""

    options: set[ast.AST]
    inputs: frozenset[str]

    def body(self, frame: Frame, statements: Sequence[ast.stmt]) -> Shadow:
        """Follow a function's body; its value is the join of what it returns."""
        ends = self.block(frame, statements)
        if ends:
            frame.returns.append((Shadow(What.NONE), frame.path, frame.function))
        returns = frame.returns
        if not returns:
            return unknown()
        result = returns[0][0]
        for index, (value, path, node) in enumerate(returns):
            for other, other_path, _ in returns[:index]:
                if dynamic_split(path, other_path):
                    how = disagree(other, value)
                    if how is not None:
                        where = split(path, other_path)
                        sure = value.sure.weaker(other.sure).weaker(Confidence.INFERRED)
                        self.event(f"join-{how}", frame, where or node, "return", sure)
            result = join(result, value) if index else value
        return result

    def block(self, frame: Frame, statements: Sequence[ast.stmt]) -> bool:
        """Follow statements; False when control does not reach their end."""
        start = frame.path
        for statement in statements:
            self.budget -= 1
            if self.budget < 0:
                return True
            if not self.statement(frame, statement):
                frame.path = start
                return False
        return True

    def statement(self, frame: Frame, node: ast.stmt) -> bool:
        """Follow one statement; False when it ends the block."""
        if isinstance(node, ast.Return):
            value = Shadow(What.NONE) if node.value is None else self.value(frame, node.value)
            frame.returns.append((value, frame.path, node))
            if value.conflict is not None and value.conflict.kind in LATE:
                self.emit(value.conflict.named("join-types"))
            return False
        if isinstance(node, ast.Raise):
            return False
        if isinstance(node, ast.Break | ast.Continue):
            if frame.breaks:
                frame.breaks[-1].append((dict(frame.env), frame.path))
            return False
        if isinstance(node, ast.If):
            return self.branch(frame, node)
        if isinstance(node, ast.For):
            self.loop(frame, node)
        elif isinstance(node, ast.While):
            self.repeat(frame, node)
        elif isinstance(node, ast.With):
            for item in node.items:
                value = self.value(frame, item.context_expr)
                if item.optional_vars is not None:
                    self.assign(
                        frame, item.optional_vars, unknown() if value.what is not What.TENSOR else value
                    )
            return self.block(frame, node.body)
        elif isinstance(node, ast.Try):
            self.block(frame, node.body)
        elif isinstance(node, ast.FunctionDef):
            self.nested(frame, node)
        elif isinstance(node, ast.Assign):
            value = self.value(frame, node.value)
            for target in node.targets:
                self.assign(frame, target, value)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.assign(frame, node.target, self.value(frame, node.value))
        elif isinstance(node, ast.AugAssign):
            self.augment(frame, node)
        elif isinstance(node, ast.Expr):
            self.value(frame, node.value)
        elif isinstance(node, ast.Assert):
            self.value(frame, node.test)
        return True

    def nested(self, frame: Frame, node: ast.FunctionDef) -> None:
        """A function defined inside: its decorators are dropped, its free names bound now."""
        value = Shadow(What.FUNCTION, node=node)
        if node.decorator_list:
            first = node.decorator_list[0]
            self.parsed("decorator-dropped", frame.module, first, self.text(frame, first))
        frame.env[node.name] = value
        value.attributes = {"": Shadow(What.UNKNOWN, node=node)}

    def branch(self, frame: Frame, node: ast.If) -> bool:
        """Both arms of an ``if``, or the one that the parser or a constant leaves."""
        test = self.value(frame, node.test)
        dynamic = test.dynamic
        open_arms: list[tuple[Sequence[ast.stmt], int]] = [(node.body, 0), (node.orelse, 1)]
        if not dynamic and is_parse_time(node.test):
            found = arms(frame.module, frame.owner, node)
            if len(found) == 1:
                open_arms = [(found[0][0], 0 if found[0][0] is node.body else 1)]
        before, path = frame.env, frame.path
        if not dynamic and len(open_arms) == 2 and self._is_option(frame, node.test):
            self.options.add(node)
        ended: list[tuple[dict[str, Shadow], int, Path]] = []
        narrowed = self.narrowed(frame, node.test)
        no_tensor = unknown()
        for body, index in open_arms:
            frame.env = dict(before)
            if narrowed is not None and narrowed[1] is not bool(index) and narrowed[0] in before:
                frame.env[narrowed[0]] = no_tensor
            frame.path = (*path, (node, index, dynamic))
            if self.block(frame, body):
                inside = frame.path[len(path) + 1 :]
                ended.append((frame.env, index, tuple(step for step in inside if step[2])))
            frame.path = path
        if not ended:
            frame.env = before
            return False
        if len(ended) == 1:
            frame.env, index, left = ended[0]
            here: Path = ((node, index, dynamic),) if len(open_arms) == 2 else ()
            frame.path = (*path, *here, *left)
            return True
        frame.path = (*path, *ended[0][2], *ended[1][2])  # Tensors that let one of the arms return
        one, other = ended[0][0], ended[1][0]
        if narrowed is not None:  # what is said afterwards is said of the Tensor it may be
            for env, rest in ((one, other), (other, one)):
                if env.get(narrowed[0]) is no_tensor:
                    env[narrowed[0]] = rest[narrowed[0]]
        frame.env = self.merge(frame, node, one, other, test if dynamic else None)
        return True

    def _is_option(self, frame: Frame, test: ast.expr) -> bool:
        """Whether a condition asks for what the caller or the configuration chose."""
        known = self._spelled.get(test)
        if known is None:
            nodes = list(walk(test))
            attributes = [n for n in nodes if isinstance(n, ast.Attribute)]
            known = self._spelled[test] = (
                {n.attr for n in attributes},
                {n.value.id for n in attributes if isinstance(n.value, ast.Name)},
                {n.id for n in nodes if isinstance(n, ast.Name)},
            )
        read, owners, names = known
        if read and read <= self.of("cell-static"):
            return False
        return frame.self_name in owners or not names.isdisjoint(self.inputs)

    _spelled: dict[ast.expr, tuple[set[str], set[str], set[str]]]
    """The attributes a condition reads, the names it reads them of, and all its names."""

    def narrowed(self, frame: Frame, test: ast.expr) -> tuple[str, bool] | None:
        """The name that a test of its class shows to be no Tensor, and in which arm: True for the first."""
        positive = True
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, positive = test.operand, False
        if not isinstance(test, ast.Call):
            return None
        if len(test.args) == 1 and isinstance(test.args[0], ast.Name):
            found = frame.module.resolve(test.func, self.context(frame))
            asks = any(isinstance(c.value, Named) and c.value.name in self.of("is-tensor") for c in found)
            return (test.args[0].id, not positive) if asks else None
        if not (isinstance(test.func, ast.Name) and test.func.id == "isinstance"):
            return None
        if len(test.args) != 2 or not isinstance(test.args[0], ast.Name):
            return None
        kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        tensor = any(
            isinstance(c.value, Named) and c.value.name in self.of("tensor-class")
            for kind in kinds
            for c in frame.module.resolve(kind, self.context(frame))
        )
        return test.args[0].id, positive is not tensor

    def merge(
        self,
        frame: Frame,
        node: ast.AST,
        one: dict[str, Shadow],
        other: dict[str, Shadow],
        test: Shadow | None,
        loop: bool = False,
        exits: bool = False,
    ) -> dict[str, Shadow]:
        """The values after two paths; ``test`` given: they must fit together.

        A ``loop`` turns a number it starts from into a Tensor; only returning it as it is fails. After different
        ``exits`` of a loop the rest is compiled for each; only what is returned must fit.
        """
        result = {}
        for name in one.keys() | other.keys():
            left, right = one.get(name), other.get(name)
            if left is None or right is None:
                result[name] = (left or right).but(sure=Confidence.POSSIBLE)  # type: ignore[union-attr]
                continue
            value = join(left, right)
            how = disagree(left, right) if test is not None else None
            if test is not None and how is None and left is not right:
                grown = "append" in (left.dtype, right.dtype)
                how = "append" if left.what is What.LIST and left.node is not right.node and grown else None
            if how == "lengths" and "append" in (left.dtype, right.dtype):
                how = "append"
            if value is not left and value is not right and (left.stale or right.stale):
                value.stale = left.stale or right.stale
            if how is not None and test is not None:
                sure = test.sure.weaker(left.sure).weaker(right.sure).weaker(Confidence.INFERRED)
                mixed = how == "types" and left.tensor is not right.tensor
                value = (left if left.tensor else right).but() if mixed and (loop or exits) else value.but()
                kind = EXIT if exits and how == "types" else LOOP if loop and mixed else f"join-{how}"
                value.conflict = Event(kind, frame.module, node, name, sure)
            elif test is not None and {left.what, right.what} <= {What.STATIC, What.TEXT}:
                if left is not right:
                    value = Shadow(
                        What.RUNTIME, value.sure.weaker(test.sure), dtype="choice", cuts=value.cuts
                    )
            if (left.conflict or right.conflict) and value.conflict is None:
                value = value.but() if value in (left, right) else value
                value.conflict = left.conflict or right.conflict
            result[name] = value
        return result

    def loop(self, frame: Frame, node: ast.For) -> None:
        """A ``for``: unrolled by the compiler."""
        sequence = self.value(frame, node.iter)
        element = self.iterated(frame, sequence)
        frame.breaks.append([])
        before = frame.env
        for _ in range(2):
            self.assign(frame, node.target, element)
            start = frame.env
            frame.env = dict(start)
            if not self.block(frame, node.body) or _settled(start, frame.env):
                break
        self.after_loop(frame, node, before)

    def repeat(self, frame: Frame, node: ast.While) -> None:
        """A ``while``: unrolled when its condition is known, else compiled as a loop."""
        frame.breaks.append([])
        before = dict(frame.env)
        test = self.value(frame, node.test)
        if test.dynamic:
            self._growth(frame, node, test)
        for _ in range(2):
            alive = self.block(frame, node.body)
            for env, path in frame.breaks[-1]:
                frame.env = self._left(frame, node, env, path) if alive else env
                alive = True
            frame.breaks[-1].clear()
            if test.dynamic and alive:
                frame.env = self.merge(frame, node, before, frame.env, test, loop=True)
            test = self.value(frame, node.test)
            if not test.dynamic and not alive:
                break
        self.after_loop(frame, node, before)

    def _growth(self, frame: Frame, node: ast.While, test: Shadow) -> None:
        """A Tensor that each round of a loop makes longer."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call):
                names = {n.id for n in ast.walk(inner.value) if isinstance(n, ast.Name)}
                targets = {t.id for t in inner.targets if isinstance(t, ast.Name)}
                called = inner.value.func
                last = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                if targets & names and last in self.of("concatenations"):
                    self.event("loop-growth", frame, inner, sorted(targets & names)[0], test.sure)

    def after_loop(self, frame: Frame, node: ast.AST, before: dict[str, Shadow]) -> None:
        """Join with the ways out through ``break`` and ``continue``."""
        for env, path in frame.breaks.pop():
            frame.env = self._left(frame, node, env, path)
        if isinstance(node, ast.For):
            for name, value in before.items():
                if name not in frame.env:
                    frame.env[name] = value

    def _left(self, frame: Frame, node: ast.AST, env: dict[str, Shadow], path: Path) -> dict[str, Shadow]:
        """The values where a way out of a loop meets the others."""
        test = Shadow(What.RUNTIME, Confidence.INFERRED) if dynamic_split(frame.path, path) else None
        return self.merge(frame, node, env, frame.env, test, exits=True)


def _settled(before: dict[str, Shadow], after: dict[str, Shadow]) -> bool:
    """Whether a round of a loop left every name as it was, so that another one shows nothing new."""
    return before.keys() == after.keys() and all(
        old is after[name] or old.signature() == after[name].signature() for name, old in before.items()
    )
