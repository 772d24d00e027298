"""Following the statements of compiled functions: branches, loops, and what they join.

Static loops and branches are followed as the compiler unrolls and prunes them; a condition on a Tensor keeps both
arms, whose values must fit together. Loop bodies are followed twice, so that what one pass leaves meets the next.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mindport.findings import Confidence
from mindport.semantics.compiled import Compiled
from mindport.semantics.live import arms, is_parse_time
from mindport.semantics.module import Module
from mindport.semantics.scopes import FunctionNode
from mindport.semantics.trace.calls import Calls
from mindport.semantics.trace.values import SOFT, Event, Origin, Shadow, What, disagree, join, unknown
from mindport.semantics.values import ClassValue, FunctionValue, Named, SelfValue, Value

Path = tuple[tuple[ast.AST, int, bool], ...]
"""The arms taken on the way: the statement, which arm, and whether only running decides it."""

LOOP = "loop-types"
MAX_DEPTH = 5
MAX_STATEMENTS = 6000
"""Statements followed per file; a file that needs more is judged on what was seen until then."""


@dataclass(slots=True)
class Frame:
    """One call being followed. ``env`` is None where control does not arrive."""

    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    owner: ast.ClassDef | None
    env: dict[str, Shadow]
    self_name: str | None = None
    self_ref: Shadow | None = None
    returns: list[tuple[Shadow, Path, ast.AST]] = field(default_factory=list)
    path: Path = ()
    breaks: list[list[tuple[dict[str, Shadow], Path]]] = field(default_factory=list)
    outer: Frame | None = None
    caller: Frame | None = None

    def root(self) -> Frame:
        """The frame of the compiled root."""
        frame = self
        while frame.caller is not None or frame.outer is not None:
            frame = frame.caller or frame.outer or frame
        return frame

    def written(self, ref: Value | None, name: str) -> Shadow | None:
        """What an attribute was set to earlier in the compiled code."""
        return self.root().env.get(_key(ref, name))

    def write(self, ref: Value | None, name: str, value: Shadow) -> None:
        """Remember what an attribute is set to."""
        self.root().env[_key(ref, name)] = value


class Tracer(Calls):
    """Follows the compiled functions of one file."""

    def __init__(
        self, module: Module, sets: Mapping[str, frozenset[str]], compiled: frozenset[ast.AST] = frozenset()
    ) -> None:
        self.module = module
        self.sets = sets
        self.compiled = compiled
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
        self._generators: dict[ast.AST, bool] = {}
        self._results: dict[object, Shadow] = {}
        self.inputs: frozenset[str] = frozenset()

    def trace(self, compiled: Compiled) -> None:
        """Follow one root; cuts that reach its result are events."""
        self.late = compiled.confidence
        frame = self.frame_of(self.module, compiled.node, compiled.owner)
        if "staticmethod" in {d.id for d in compiled.node.decorator_list if isinstance(d, ast.Name)}:
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
        for node in ast.walk(function):
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
            decorators = {d.id for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Name)}
            if positional and not decorators & {"staticmethod", "classmethod"}:
                frame.self_name = positional[0].arg
        return frame

    def event(self, kind: str, frame: Frame, node: ast.AST, found: str, sure: Confidence) -> None:
        """Note an event that a step after the parser finds: arms it drops do not count."""
        self.emit(Event(kind, frame.module, node, found, self.here(frame, sure)))

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

    # --- statements ------------------------------------------------------------------------------------

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
                if _dynamic_split(path, other_path):
                    how = disagree(other, value)
                    if how is not None:
                        split = _split(path, other_path)
                        sure = value.sure.weaker(other.sure).weaker(Confidence.INFERRED)
                        self.event(f"join-{how}", frame, split or node, "return", sure)
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
            if value.conflict is not None and value.conflict.kind == LOOP:
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
        ended: list[tuple[dict[str, Shadow], int]] = []
        narrowed = self.narrowed(frame, node.test)
        for body, index in open_arms:
            frame.env = dict(before)
            if narrowed is not None and narrowed[1] is not bool(index) and narrowed[0] in before:
                frame.env[narrowed[0]] = unknown()
            frame.path = (*path, (node, index, dynamic))
            if self.block(frame, body):
                ended.append((frame.env, index))
            frame.path = path
        if not ended:
            frame.env = before
            return False
        if len(ended) == 1:
            frame.env = ended[0][0]
            if len(open_arms) == 2:
                frame.path = (*path, (node, ended[0][1], dynamic))
            return True
        frame.env = self.merge(frame, node, ended[0][0], ended[1][0], test if dynamic else None)
        return True

    def _is_option(self, frame: Frame, test: ast.expr) -> bool:
        """Whether a condition asks for what the caller or the configuration chose."""
        attributes = {n.attr for n in ast.walk(test) if isinstance(n, ast.Attribute)}
        if attributes and attributes <= self.of("cell-static"):
            return False
        for node in ast.walk(test):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == frame.self_name
            ):
                return True
            if isinstance(node, ast.Name) and node.id in self.inputs:
                return True
        return False

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
    ) -> dict[str, Shadow]:
        """The values after two paths; ``test`` given: they must fit together.

        A loop turns a number it starts from into a Tensor; only returning it as it is fails.
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
                appended = (left.what is What.LIST and left.node is not right.node) and "append" in (
                    left.dtype,
                    right.dtype,
                )
                how = "append" if appended else None
            if how == "lengths" and "append" in (left.dtype, right.dtype):
                how = "append"
            if value is not left and value is not right and (left.stale or right.stale):
                value.stale = left.stale or right.stale
            if how is not None and test is not None:
                value = value.but() if value in (left, right) else value
                sure = test.sure.weaker(left.sure).weaker(right.sure).weaker(Confidence.INFERRED)
                turned = loop and how == "types" and not (left.tensor and right.tensor)
                value.conflict = Event(LOOP if turned else f"join-{how}", frame.module, node, name, sure)
                if turned:
                    value.what = What.TENSOR
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
        element = self.element(frame, sequence)
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
            for env, _ in frame.breaks[-1]:
                frame.env = self.merge(frame, node, env, frame.env, None) if alive else env
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
            dynamic = next((step for step in path[len(frame.path) :] if step[2]), None)
            test = Shadow(What.RUNTIME, Confidence.INFERRED) if dynamic else None
            frame.env = self.merge(frame, node, env, frame.env, test)
        if isinstance(node, ast.For):
            for name, value in before.items():
                if name not in frame.env:
                    frame.env[name] = value


def _settled(before: dict[str, Shadow], after: dict[str, Shadow]) -> bool:
    """Whether a round of a loop left every name as it was, so that another one shows nothing new."""
    return before.keys() == after.keys() and all(
        old is after[name] or old.signature() == after[name].signature() for name, old in before.items()
    )


def _key(ref: Value | None, name: str) -> str:
    owner = ref.owner if isinstance(ref, SelfValue) else ref
    return f"@{owner.node.name if isinstance(owner, ClassValue) else owner}.{name}"


def _split(one: Path, other: Path) -> ast.AST | None:
    for a, b in zip(one, other, strict=False):
        if a[0] is b[0] and a[1] != b[1]:
            return a[0]
    return None


def _dynamic_split(one: Path, other: Path) -> bool:
    """Whether a condition on a Tensor decides between two places."""
    for a, b in zip(one, other, strict=False):
        if a[0] is not b[0]:
            return False
        if a[1] != b[1]:
            return a[2]
    return False


__all__ = ["Frame", "Tracer"]
