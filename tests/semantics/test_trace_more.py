"""More bodies the compiler refuses, changes or takes as they are: what is found in each (facts measured on 2.10.0)."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_trace import HEAD, SEVERE

from mindport.config import Config
from mindport.engine import Engine

BODIES = [
    ("a list sorted in place", "l = [3, 1]\nl.sort()\nreturn x + l[0]", True),
    ("a list on self emptied", "self.items.clear()\nreturn x", True),
    ("a list on self sorted", "self.items.reverse()\nreturn x", True),
    ("a class method through the class", "return Helper.make(x)", True),
    ("a static method through the class", "return Helper.plain(x)", False),
    ("a mask on the left, run-time sizes on the right", "x[x > 0] = x[x > 0] * 2\nreturn x", True),
    ("a mask on the left, a number on the right", "x[x > 0] = 1.0\nreturn x", False),
    ("a dict with text keys", "d = {'a': x}\nd['b'] = x + 1\nreturn d['a'] + d['b']", False),
    (
        "keys, values and defaults of a dict",
        "d = {'a': x}\ny = x\nfor k in d.keys():\n    y = y + d.get(k, x)\nfor v in d.values():\n    y = y + v\nreturn y",
        False,
    ),
    ("counting in a list of numbers", "return x + [1, 2].count(1) + [1, 2].index(2)", False),
    ("a copied list", "l = [x, x]\nk = l.copy()\nreturn k[0]", False),
    ("index and bool methods", "return x.argmax(0) + x.isnan().astype(ms.int64)", False),
    ("a nested list changed through a local name", "l = [[x], [x]]\nl[0][0] = x + 1\nreturn l[1][0]", False),
    ("a tuple of a list", "l = [x]\nl.append(x + 1)\nreturn ops.stack(l)", False),
    ("a branch on a shape", "if x.shape[0] > 1:\n    y = x\nelse:\n    y = x + 1\nreturn y", False),
    (
        "a branch on a Tensor with equal types",
        "if x.sum() > 0:\n    y = x\nelse:\n    y = x + 1\nreturn y",
        False,
    ),
    (
        "a branch on a Tensor with other dtypes",
        "if x.sum() > 0:\n    y = x\nelse:\n    y = x.astype(ms.int32)\nreturn y",
        True,
    ),
    ("an early return of another dtype", "if x.sum() > 0:\n    return x\nreturn x.astype(ms.int32)", True),
    ("a range of a Tensor", "for i in range(x.sum()):\n    x = x + 1\nreturn x", True),
    ("a range of an int of a Tensor", "for i in range(int(x.sum())):\n    x = x + 1\nreturn x", False),
    ("an object of the module changed", "self.box.value = x\nreturn x", True),
    ("an object made and read", "b = Box(1)\nreturn x + b.value", False),
    ("a helper with a default", "return self.helper(x) + self.helper(x, 2)", False),
    ("a helper that recurses", "return self.down(x, 3)", False),
    ("a nested function", "def f(y):\n    return y * 2\nreturn f(x)", False),
    ("a comprehension over layers", "return sum([layer(x) for layer in self.layers])", False),
    ("a layer picked by a Tensor's int", "return self.layers[int(x.sum())](x)", True),
    ("a layer picked by a constant", "return self.layers[1](x)", False),
    ("a ternary on self", "return self.layers[0](x) if self.flag else x", False),
    ("enumerate and zip", "for i, (a, b) in enumerate(zip([x], [x])):\n    x = a + b + i\nreturn x", False),
    ("a walrus", "if (y := x + 1) is not None:\n    return y\nreturn x", True),
    ("a value that is None or not", "y = None\nif y is None:\n    y = x\nreturn y", False),
    ("starred arguments", "args = (x, x)\nreturn ops.add(*args)", False),
    ("a slice of a list", "l = [x, x + 1, x + 2]\nreturn l[1:][0]", False),
    ("an in-place sum over a loop", "y = x * 0\nfor i in range(3):\n    y = y + x\nreturn y", False),
    ("a while on a counter", "i = 0\nwhile i < 3:\n    x = x + 1\n    i += 1\nreturn x", False),
    ("an assertion", "assert x.ndim == 2, 'two axes'\nreturn x", False),
    ("a print", "print(x.shape)\nreturn x", False),
]

CLASS = """
class Box:
    def __init__(self, value):
        self.value = value


class Helper:
    @classmethod
    def make(cls, x):
        return x + 1

    @staticmethod
    def plain(x):
        return x + 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.items = [1]
        self.flag = True
        self.box = Box(1)
        self.layers = nn.CellList([nn.Dense(3, 3), nn.Dense(3, 3)])

    def helper(self, x, by=1):
        return x + by

    def down(self, x, n):
        if n == 0:
            return x
        return self.down(x + 1, n - 1)

    def construct(self, x):
"""


@pytest.mark.parametrize(("body", "severe"), [b[1:] for b in BODIES], ids=[b[0] for b in BODIES])
def test_what_the_compiler_makes_of_it(body: str, severe: bool) -> None:
    code = HEAD + CLASS + "".join(f"        {line}\n" for line in body.splitlines())
    result = Engine(Config()).check_bytes(code.encode(), "net.py")
    assert result.error is None
    found = [(f.code, f.line) for f in result.findings if f.code.startswith("MSP5") and f.severity in SEVERE]
    assert bool(found) is severe, found


def test_a_function_compiled_through_the_project_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("import mindspore as ms\n\ncompiled = ms.jit\n", encoding="utf-8")
    file = tmp_path / "step.py"
    file.write_text(
        "import mindspore as ms\nimport tools\n\n\ndef step(x):\n    try:\n        return x + 1\n"
        "    except ValueError:\n        return x\n\n\nrun = tools.compiled(step)\n",
        encoding="utf-8",
    )
    found = Engine(Config(select=("MSP5",))).check_file(file).findings
    assert [f.line for f in found] == [6]
