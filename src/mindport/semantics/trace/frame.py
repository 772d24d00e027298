"""One call that is being followed: its names, the arms taken, and what it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from mindport.semantics.module import Module
from mindport.semantics.trace.values import Shadow
from mindport.semantics.values import ClassValue, SelfValue, Value

Path = tuple[tuple[ast.AST, int, bool], ...]
"""The arms taken on the way: the statement, which arm, and whether only running decides it."""


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

    def chain(self) -> Iterator[Frame]:
        """The frame, and those it was called from or stands in."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller or frame.outer

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


def _key(ref: Value | None, name: str) -> str:
    owner = ref.owner if isinstance(ref, SelfValue) else ref
    return f"@{owner.node.name if isinstance(owner, ClassValue) else owner}.{name}"


def _fork(one: Path, other: Path) -> tuple[ast.AST, int, bool] | None:
    """The first statement on a path whose other arm the other path took."""
    arms = {node: arm for node, arm, _ in one}
    return next((step for step in other if arms.get(step[0], step[1]) != step[1]), None)


def split(one: Path, other: Path) -> ast.AST | None:
    """The statement whose arms two places lie in."""
    step = _fork(one, other)
    return step[0] if step is not None else None


def dynamic_split(one: Path, other: Path) -> bool:
    """Whether a condition on a Tensor decides between two places."""
    step = _fork(one, other)
    return step is not None and step[2]
