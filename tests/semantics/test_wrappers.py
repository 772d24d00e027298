"""Wrappers that may hand a call on unchanged, and those that always change something."""

from __future__ import annotations

import ast
import textwrap

import pytest

from mindport.semantics.trace.wrappers import may_pass_through

CASES = [
    ("self, x", "return f(self, x)", True),
    ("*args, **kwargs", "return f(*args, **kwargs)", True),
    ("self, *args, key=1, **kwargs", "return f(self, *args, key=key, **kwargs)", True),
    ("self, x", "'''doc'''\nflag = self.flag\ny = f(self, x)\nif flag:\n    y = (y,)\nreturn y", True),
    ("self, x", "if self.flag:\n    return f(self, x + 1)\nreturn f(self, x)", True),
    ("self, x", "try:\n    y = f(self, x)\nexcept TypeError:\n    y = f(self)\nreturn y", True),
    ("self, x", "try:\n    return f(self, x)\nfinally:\n    close()", True),
    ("self, x", "try:\n    y = f(self, x)\nfinally:\n    close()\nreturn y", False),
    ("self, x", "return f(self, x) + 1", False),
    ("self, x", "return f(self, x + 1)", False),
    ("self, x", "return f(self)", False),
    ("self, x, y", "return f(self, y, x)", False),
    ("self, x, **kwargs", "return f(self, x)", False),
    ("self, x", "x = x + 1\nreturn f(self, x)", False),
    ("self, x", "y = f(self, x)\ny = y + 1\nreturn y", False),
    ("self, x", "y = f(self, x + 1)\nreturn y", False),
    ("self, x", "print(x)\nreturn f(self, x)", False),
    ("self, x", "with no_grad():\n    return f(self, x)", False),
    ("self, x", "f(self, x)", False),
    ("self, x", "y = f(self, x)", False),
    ("self, x", "y = g(self, x)\nreturn y", False),
]


@pytest.mark.parametrize(("parameters", "body", "passes"), CASES)
def test_a_way_through(parameters: str, body: str, passes: bool) -> None:
    code = f"def wrapper({parameters}):\n{textwrap.indent(body, '    ')}"
    (wrapper,) = ast.parse(code).body
    assert isinstance(wrapper, ast.FunctionDef)
    assert may_pass_through(wrapper, "f") is passes
