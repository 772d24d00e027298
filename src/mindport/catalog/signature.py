"""Parameter lists as text, read into names and places."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a callable in order. ``variadic``: the name of ``*args``, if any."""

    positional: tuple[str, ...]
    variadic: str
    keyword_only: tuple[str, ...]
    open_keywords: bool

    @property
    def names(self) -> tuple[str, ...]:
        """All named parameters."""
        return (*self.positional, *self.keyword_only)


@cache
def read_signature(text: str) -> Signature | None:
    """Parse ``(a, b=1, *args, c=2)``; None when there is nothing to read."""
    if not text or text == "-":
        return None
    try:
        tree = ast.parse(f"def f{text}: pass")
    except SyntaxError:  # a default that is no Python, such as <object>
        names = re.findall(r"[(,]\s*(\w+)\s*(?==|,|\))", text)
        return Signature(tuple(names), "", (), False) if names else None
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    args = function.args
    return Signature(
        tuple(a.arg for a in (*args.posonlyargs, *args.args)),
        args.vararg.arg if args.vararg else "",
        tuple(a.arg for a in args.kwonlyargs),
        args.kwarg is not None,
    )
