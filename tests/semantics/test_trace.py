"""Compiled code followed with its values: the pieces of the generated programs, and what they leave out."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path

import pytest

from mindport.config import Config
from mindport.engine import Engine
from mindport.findings import Severity

_FILE = Path(__file__).parents[2] / "proof" / "fragments.py"
_SPEC = importlib.util.spec_from_file_location("fragments", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
fragments = importlib.util.module_from_spec(_SPEC)
sys.modules["fragments"] = fragments
_SPEC.loader.exec_module(fragments)

HEAD = """import collections
import contextlib
import dataclasses
import functools
import itertools
import math
import os
import random
import types

import mindspore as ms
import numpy as np
from mindspore import nn, ops


"""
SEVERE = (Severity.BLOCKER, Severity.CRITICAL)


def severe(code: str, tmp_path: Path, **config: object) -> list[str]:
    """The codes of a module's blocker and critical findings."""
    file = tmp_path / "a.py"
    file.write_text(HEAD + code, encoding="utf-8")
    result = Engine(Config(select=("MSP5",), **config)).check_file(file)  # type: ignore[arg-type]
    assert result.error is None
    return sorted({f.code for f in result.findings if f.severity in SEVERE})


def cell(body: str, init: str = "", cls: str = "", module: str = "", args: str = "x, t") -> str:
    """A module with one Cell."""
    parts = [f"def __init__(self):\n    super().__init__()\n{textwrap.indent(init, '    ')}"] if init else []
    parts += [cls] if cls else []
    parts.append(f"def construct(self, {args}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}")
    return f"{module}\n\n\nclass Net(nn.Cell):\n{textwrap.indent(chr(10).join(parts), '    ')}\n"


def of(piece: object) -> str:
    """A piece as a module of its own."""
    texts = [getattr(piece, name).replace("_N", "_0") for name in ("body", "init", "cls", "module")]
    return cell(f"y = x * 2\n{texts[0]}\nreturn y", *texts[1:])


@pytest.mark.parametrize("piece", fragments.GOOD, ids=lambda piece: piece.name)
def test_what_compiles_is_quiet(piece, tmp_path):
    found = severe(of(piece), tmp_path)
    assert found == (["MSP538"] if piece.name == "helper-args" else [])  # a keyword named as its ** parameter


@pytest.mark.parametrize("piece", fragments.BAD, ids=lambda piece: piece.name)
def test_what_does_not_is_found(piece, tmp_path):
    found = severe(of(piece), tmp_path)
    assert bool(found) is (
        piece.name != "join-loop"
    )  # used in arithmetic a loop's number may turn into a Tensor


@pytest.mark.parametrize("piece", fragments.BAD, ids=lambda piece: piece.name)
def test_what_nobody_calls_is_quiet(piece, tmp_path):
    texts = [getattr(piece, name).replace("_N", "_0") for name in ("body", "init", "cls")]
    uncalled = f"def piece(self, x, t):\n{textwrap.indent(texts[0], '    ')}\n    return x"
    code = cell("return x", texts[1], f"{texts[2]}\n\n{uncalled}", piece.module.replace("_N", "_0"))
    assert severe(code, tmp_path) == []


CASES = [
    ("if not isinstance(t, ms.Tensor):\n    t = ms.Tensor(t)\nreturn x * t", []),
    ("if not ops.is_tensor(t):\n    t = ms.tensor([t])\nreturn x * t", []),
    ("return x * ms.Tensor(t)", []),
    ("z = t.items()\nreturn x", []),
    ("t['a'] = x\nreturn x", ["MSP528"]),
    ("t.append(x)\nreturn x", ["MSP528"]),
    ("x[0] = 1\nreturn x", []),
    ("x[0] = 1\nreturn t", ["MSP528"]),
    ("z = 0\nwhile z < x.sum():\n    z = z + x.max()\nreturn z", ["MSP517"]),
    ("while x.sum() < 20:\n    x = ops.concat((x, x), 0)\nreturn x", ["MSP517"]),
    ("if x.ndim == 2:\n    if x.sum() > 3:\n        return x.astype(ms.float16)\nreturn x", ["MSP517"]),
    ("if x.ndim == 2:\n    if x.sum() > 3:\n        return x * 2\nreturn x", []),
    (
        "if x.ndim == 2:\n    if x.sum() > 3:\n        x = x + 1\n    else:\n        return x.astype(ms.float16)\nreturn x",
        ["MSP517"],
    ),
    ("if x.ndim == 2:\n    return x.astype(ms.float16)\nif x.sum() > 3:\n    x = x + 1\nreturn x", []),
    ("for i in range(2):\n    if x.sum() > 3:\n        return x.astype(ms.float16)\nreturn x", ["MSP517"]),
    (
        "z = x\nfor i in range(3):\n    if x.sum() > 3:\n        break\n    z = x.astype(ms.float16)\nreturn z",
        ["MSP517"],
    ),
    (
        "z = x\nfor i in range(3):\n    z = x.astype(ms.float16)\n    if x.sum() > 3:\n        continue\n"
        "    z = x + 1\nreturn z",
        ["MSP517"],
    ),
    ("for i in range(3):\n    if x.sum() > 3:\n        break\n    z = x.astype(ms.float16)\nreturn x", []),
    (
        "z = x\nfor i in range(3):\n    if x.sum() > 3:\n        break\n    z = x.astype(ms.float16)\nreturn x + z",
        [],  # the rest is compiled for each way out of the loop, and both give float32
    ),
    (
        "z = x\nfor i in range(3):\n    if x.sum() > 3:\n        break\n    z = x.astype(ms.float16)\n"
        "return (z + 1).sum()",
        ["MSP517"],
    ),
    (
        "i = 0\nz = x\nwhile i < 3:\n    if x.sum() > 3:\n        break\n    z = x.astype(ms.float16)\n"
        "    i = i + 1\nreturn z",
        ["MSP517"],
    ),
    ("z = 0\nfor i in range(3):\n    if x.sum() > 3:\n        break\n    z = x * 2\nreturn x + z", []),
    ("z = 0\nfor i in range(3):\n    if x.sum() > 3:\n        break\n    z = x * 2\nreturn z", ["MSP517"]),
    ("y = x * 2\nif isinstance(y, ms.Tensor):\n    y = y + 1\nreturn y + ms.Tensor(y.asnumpy())", ["MSP544"]),
    ("return x.max(1)", ["MSP540"]),
    ("return x.transpose(1, 0)", []),
    ("return x.expand(2, -1)", ["MSP551"]),
    ("return ops.relu", ["MSP536"]),
    ("l = [1, 2, 3]\nk = l.pop(0)\nreturn x * k + l[0]", ["MSP529"]),
    ("d = {}\nd.update(a=x)\nreturn d['a']", ["MSP530"]),
    ("for k in {'a': x}:\n    pass\nreturn x", []),
    ("d = {'a': 1}\nfor k in d:\n    x = x * d[k]\nreturn x", []),
    ("o = types.SimpleNamespace(a=x)\nreturn o.a * 2", ["MSP543"]),
    ("return [t for t in x if t.sum() > 0][0]", ["MSP518"]),
    ("a = (x, x) if x.sum() > 0 else (x,)\nreturn a", ["MSP519"]),
    ("y = x if x.sum() > 0 else 1\nreturn y", ["MSP517"]),
    ("return sorted([x.sum(), x.max()])[0]", ["MSP544"]),
    ("l = [v * 2 for v in x]\nreturn l[t.item()]", []),
    ("return x[slice(0, t)]", ["MSP544"]),
    ("y, z = divmod(7, 3)\nreturn x * y + z + round(2.6) + pow(2, 3)", []),
    ("a = any(v.sum() > 0 for v in [x, x])\nreturn x * 2 if a else x", []),
    ("return x * len(str(x.shape)) * ord('a')", []),
    ("return x * dict(zip(['a'], [1]))['a']", []),
    ("l = list(range(4)) + [1] * 2\nreturn x * l[-1] * min(l) * len(tuple(l))", []),
    ("ys = list(filter(None, [0, 2]))\nreturn x * ys[0]", ["MSP538"]),
    ("for i, v in enumerate(reversed([x, x])):\n    x = x + v * i\nreturn x", []),
    ("for l in nn.CellList([nn.ReLU(), nn.Tanh()]):\n    x = l(x)\nreturn x", ["MSP535"]),
    ("a = b = x * 1\na += 1\nreturn b", ["MSP533"]),
    ("x = x.astype(ms.int32)\nx += 0.5\nreturn x", ["MSP533"]),
    ("with open('f') as f:\n    y = x\nreturn y", ["MSP505"]),
    ("y = x\ntry:\n    y = x * 2\nexcept ValueError:\n    pass\nreturn y", ["MSP501"]),
    ("s = os.path.join('a', 'b')\nassert len(s), s\nreturn x", []),
    ("return (x.asnumpy() * 2).sum()", []),
    ("return x * float(np.mean(x.asnumpy()))", ["MSP544"]),
    ("return x.float().half().T[None].data", []),
]


@pytest.mark.parametrize(("body", "expected"), CASES)
def test_values(body, expected, tmp_path):
    assert severe(cell(body), tmp_path, device="cpu") == expected


def test_the_device_decides_about_overloads(tmp_path):
    """MindSpore documents ``transpose(dim0, dim1)`` on Ascend only, and the front end's ``expand`` is one for all."""
    body = "return x.transpose(1, 2) + x.expand(2, -1)"
    assert severe(cell(body), tmp_path, device="gpu") == ["MSP540", "MSP551"]
    assert severe(cell(body), tmp_path) == ["MSP551"]


def test_options_are_possible_only(tmp_path):
    """A finding of a step after the parser counts where the arm is taken whatever the caller chooses."""
    code = cell("if flag:\n    d = dict(a=x)\n    return d['a'] * 2\nreturn x", args="x, flag=False")
    assert severe(code, tmp_path) == []
    assert severe(code, tmp_path, min_confidence="possible") == ["MSP542"]


def test_layers_of_the_project(tmp_path):
    module = (
        "class Sub(nn.Cell):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = ms.Parameter(ms.Tensor(1.0))\n\n    def construct(self, x):\n        return x * self.w\n"
    )
    code = cell("for l in self.l:\n    x = l(x)\nreturn x", "self.l = [Sub(), Sub()]", module=module)
    assert severe(code, tmp_path) == ["MSP539"]
    code = cell(
        "for l in self.l:\n    x = l(x)\nreturn x", "self.l = nn.CellList([Sub(), Sub()])", module=module
    )
    assert severe(code, tmp_path) == []
    code = cell(
        "return self.l(x)", "self.l = functools.partial(helper)", module="def helper(x):\n    return x\n"
    )
    assert severe(code, tmp_path) == ["MSP544"]


def test_objects(tmp_path):
    module = (
        "@ms.jit_class\nclass State:\n    def __init__(self, a):\n        self.a = a\n\n"
        "class Any:\n    def __getattr__(self, name):\n        return 3\n\n"
        "class Counter:\n    def __init__(self):\n        self.n = 0\n\n"
        "    def inc(self):\n        self.n += 1\n        return self.n\n"
    )
    assert severe(cell("return State(x).a", module=module), tmp_path) == ["MSP538"]
    assert severe(cell("return x * self.o.zz", "self.o = Any()", module=module), tmp_path) == ["MSP537"]
    assert severe(cell("return x * self.o.inc()", "self.o = Counter()", module=module), tmp_path) == [
        "MSP546"
    ]


def test_pynative_and_torch(tmp_path):
    code = cell("l = [x]\nl.insert(0, x * 2)\nreturn sum(l)")
    assert severe(code, tmp_path) == ["MSP542"]
    assert severe(code, tmp_path, mode="pynative") == []
    torch = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
    file = tmp_path / "b.py"
    file.write_text(
        torch + "        l = [x]\n        l.insert(0, x * 2)\n        return sum(l).transpose(0, 1)\n"
    )
    found = Engine(Config(select=("MSP5",))).check_file(file).findings
    assert [(f.code, f.severity) for f in found] == [("MSP542", Severity.MAJOR)]
