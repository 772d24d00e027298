"""Behaviour that no single check shows: pylint in this process, jit functions, bindings, losses, pruning."""

from __future__ import annotations

import io
import json
import textwrap

import pytest

from mindport.config import Config
from mindport.engine import Engine
from mindport.reports.words import duration

HEAD = "import mindspore as ms\nfrom mindspore import nn, ops\n"


def codes(code: str, tmp_path, **config) -> list[tuple[int, str]]:
    """Findings of a module after the two import lines; line 3 is the first of ``code``."""
    file = tmp_path / "a.py"
    file.write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    result = Engine(Config(**config)).check_file(file)
    assert result.error is None
    return [(f.line - 2, f.code) for f in result.findings]


def construct(body: str, head: str = "", init: str = "") -> str:
    lines = [head] if head else []
    lines += ["class Net(nn.Cell):"]
    if init:
        lines += [
            "    def __init__(self, flag=True):",
            "        super().__init__()",
            textwrap.indent(init, " " * 8),
        ]
    lines += [
        "    def construct(self, x, flag=None):",
        textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8),
    ]
    return "\n".join(lines) + "\n"


def names(body: str, tmp_path, **kw) -> list[str]:
    return [code for _, code in codes(construct(body, **kw), tmp_path)]


def test_pylint_in_this_process(tmp_path, monkeypatch):
    from pylint.lint import Run
    from pylint.reporters.json_reporter import JSON2Reporter

    from mindport import pylint as plugin

    plugin._engine.cache_clear()
    plugin._check.cache_clear()
    (tmp_path / "a.py").write_text(
        HEAD + "bn = nn.BatchNorm2d(3, momentum=0.1)\nb2 = nn.BatchNorm2d(3, momentum=0.1)  # noqa: MSP201\n"
    )
    out = io.StringIO()
    Run(
        [
            "--load-plugins=mindport.pylint",
            "--disable=all",
            "--enable=batchnorm-momentum-unconverted",
            "a.py",
        ],
        reporter=JSON2Reporter(out),
        exit=False,
    )
    (message,) = json.loads(out.getvalue())["messages"]
    assert (message["messageId"], message["line"], message["column"], message["endColumn"]) == (
        "E9201",
        3,
        32,
        35,
    )
    assert message["confidence"] == "HIGH"


def test_wrong_configuration_stops_pylint_and_flake8(tmp_path, capsys):
    from flake8.exceptions import ExecutionError

    from mindport import flake8, pylint

    (tmp_path / "pyproject.toml").write_text("[tool.mindport]\ncolour = 1\n")
    pylint._engine.cache_clear()
    with pytest.raises(SystemExit) as caught:
        pylint._engine()
    assert caught.value.code == 32
    assert "unknown key" in capsys.readouterr().err
    flake8._engine.cache_clear()
    with pytest.raises(ExecutionError, match="unknown key"):
        flake8._engine(())
    flake8._engine.cache_clear()
    pylint._engine.cache_clear()


def test_flake8_options(tmp_path):
    from flake8.main.cli import main

    (tmp_path / "a.py").write_text(HEAD + "bn = nn.BatchNorm2d(3, momentum=0.1)\n")
    assert main(["--isolated", "--select=MSP", "-j1", "a.py"]) == 1
    assert main(["--isolated", "--select=MSP", "-j1", "--mindport-min-severity=blocker", "a.py"]) == 0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if flag:\n    return x\nelse:\n    y = x\nreturn y", []),
        ("if flag:\n    y = x\nelse:\n    raise ValueError\nreturn y", []),
        ("if flag:\n    y = x\nelif x.ndim:\n    y = x\nelse:\n    y = x\nreturn y", []),
        ("if flag:\n    y = x\nelif x.ndim:\n    return x\nreturn y", ["MSP507"]),
        ("if flag:\n    y = x\nif flag:\n    return y\nreturn x", ["MSP507"]),
        ("if flag:\n    y = x\ny = 3\nreturn y", []),
        ("if flag:\n    y = x\nfor y in (1, 2):\n    x = x + y\nreturn x", []),
        ("if flag:\n    y = x\nif y:\n    return x\nreturn x", ["MSP507"]),
        ("if flag:\n    y = x\nx = [y for y in (1, 2)]\nreturn x", []),
        ("for i in (1, 2):\n    if flag:\n        y = x\n    x = x + y\nreturn x", ["MSP507"]),
        ("while flag:\n    y = x\n    flag = False\nreturn y", ["MSP508"]),
        ("for i in (1, 2):\n    x = x + i\nfor i in (1, 2):\n    x = x + i\nreturn x", []),
        ("for i in (1, 2):\n    y = x\nif flag:\n    return y\nreturn x", ["MSP508"]),
        ("if flag:\n    return x\n    y = 1\nreturn x", []),
        ("with a:\n    y = x\nreturn y", ["MSP505"]),
        ("if self.training and flag:\n    y = x\nreturn y", []),
        ("return x\nimport os", []),
        ("def inner(a):\n    import os\n    return a\nreturn inner(x)", ["MSP501"]),
        ("raise", []),
        ("raise ValueError", []),
        ("raise self.error", []),
        ("return zip([1], [2])", []),
        ("return x * 2j", ["MSP502"]),
        ("with ms.Unknown():\n    return x", ["MSP505", "MSP801"]),
    ],
)
def test_compiled_bodies(body, expected, tmp_path):
    assert names(body, tmp_path) == expected


@pytest.mark.parametrize(
    ("init", "condition", "expected"),
    [
        ("self.debug = False", "self.debug", []),
        ("self.debug = True", "self.debug", ["MSP501"]),
        ("self.debug = True", "not self.debug", []),
        ("self.debug = flag", "self.debug", []),
        ("self.n = 2", "self.n == 2", ["MSP501"]),
        ("self.n = 2", "self.n != 2", []),
        ("self.n = None", "self.n is None", ["MSP501"]),
        ("self.n = None", "self.n is not None", []),
        ("self.n = 2", "self.n > 1", []),
        ("self.n = 2", "x.ndim == 2", ["MSP501"]),
    ],
)
def test_pruned_branches(init, condition, expected, tmp_path):
    assert names(f"if {condition}:\n    del x\nreturn flag", tmp_path, init=init) == expected


def test_jit_functions_are_compiled(tmp_path):
    code = """\
    @ms.jit
    def a(x):
        del x

    def b(x):
        del x

    c = ms.jit(b)

    @ms.jit(capture_mode="ast")
    def d(x):
        return helper(x)

    def helper(x):
        yield x

    def unused(x):
        del x
    """
    assert codes(code, tmp_path) == [(3, "MSP501"), (6, "MSP501"), (15, "MSP502")]


def test_pynative_mode_turns_the_graph_family_to_advice(tmp_path):
    code = construct("del x\nreturn flag")
    assert [c for _, c in codes(code, tmp_path)] == ["MSP501"]
    assert codes(code, tmp_path, mode="pynative", min_severity="minor") == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("class N(nn.Cell):\n    def construct():\n        return 1\n", ["MSP105"]),
        ("class N(nn.Cell):\n    def construct(*args):\n        return 1\n", []),
        ("class N(nn.Cell):\n    @staticmethod\n    def construct(x):\n        return 1\n", ["MSP538"]),
        ("class N(nn.Cell):\n    def forward(self, x):\n        return x\n    construct = forward\n", []),
        (
            "class N(nn.Cell):\n    def forward(self, x):\n        return x\n    def construct(self, x):\n        return x\n    def go(self):\n        return self.forward(1)\n",
            [],
        ),
        ("net = nn.ReLU()\ny = net.forward(1)\n", ["MSP102"]),
        (
            "class A(nn.Cell):\n    def construct(self, x):\n        return x\na = A()\na.forward(1)\n",
            ["MSP102"],
        ),
        ("class A:\n    def forward(self, x):\n        return x\na = A()\na.forward(1)\n", []),
        (
            "class T(nn.Cell):\n    def construct(self, x):\n        return self.forward(x)\n\n\nclass A(T):\n    def forward(self, x):\n        return x\n",
            ["MSP102"],
        ),
    ],
)
def test_classes(code, expected, tmp_path):
    assert [c for _, c in codes(code, tmp_path)] == expected


LOSS = "loss = nn.SoftmaxCrossEntropyWithLogits({})\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (LOSS.format("") + "loss(1, 2)\n", ["MSP301", "MSP302"]),
        (LOSS.format("False, 'mean'") + "def f(a, b):\n    return loss(a, b.astype(ms.int32))\n", ["MSP301"]),
        (LOSS.format("False, 'mean'") + "def f(a, b):\n    return loss(a, b)\n", []),
        (LOSS.format("sparse=flag, reduction='mean'"), []),
        (LOSS.format("*args"), []),
        (LOSS.format("**kwargs"), []),
        (
            LOSS.format("reduction='mean'") + "def f(a, b):\n    b = ops.argmax(b)\n    return loss(a, b)\n",
            ["MSP301"],
        ),
        (
            LOSS.format("reduction='mean'")
            + "def f(a, b):\n    return loss(a, ms.Tensor([[0, 1]], ms.int32))\n",
            [],
        ),
        (LOSS.format("reduction='mean'") + "def f(a, onehot):\n    return loss(a, onehot)\n", []),
        (LOSS.format("sparse=True") + "def f(a, b):\n    return loss(a, b).mean()\n", []),
        (LOSS.format("sparse=True,"), ["MSP302"]),
        ("l = nn.CrossEntropyLoss()\nb = ms.Tensor([1], ms.int64)\nl(1, b)\n", ["MSP304"]),
        ("l = nn.CrossEntropyLoss()\nb = ms.Tensor([1], ms.int32)\nl(1, b)\n", []),
        ("l = nn.CrossEntropyLoss()\nl(1, target=2)\n", []),
        ("nn.CrossEntropyLoss()(1, ms.Tensor([1], ms.int64))\n", ["MSP304"]),
    ],
)
def test_losses(code, expected, tmp_path):
    assert [c for _, c in codes(code, tmp_path)] == expected


def test_loss_fixes_are_valid_python(tmp_path):
    import ast

    for arguments in ("", "reduction='mean'", "reduction='mean',", "\n    False,\n    'mean',\n"):
        text = HEAD + LOSS.format(arguments) + "def f(a, b):\n    return loss(a, b.astype(ms.int32))\n"
        file = tmp_path / "a.py"
        file.write_text(text)
        for finding in Engine(Config()).check_file(file).findings:
            lines = text.split("\n")
            for edit in finding.fix.edits:
                span = edit.span
                assert span.line == span.end_line
                line = lines[span.line - 1]
                lines[span.line - 1] = line[: span.column] + edit.text + line[span.end_column :]
            ast.parse("\n".join(lines))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("nn.BatchNorm2d(3, momentum=0.1 if a else 0.9)\n", []),
        ("def f(a, m=None):\n    nn.BatchNorm2d(3, momentum=m or 0.1)\n", []),
        ("M = 1 - 0.9\nnn.BatchNorm2d(3, momentum=M)\n", ["MSP201"]),
        ("M = 1 / 0\nnn.BatchNorm2d(3, momentum=M)\n", []),
        ("nn.BatchNorm2d(3, momentum=-0.1)\n", []),
        ("class C:\n    M = 0.1\nnn.BatchNorm2d(3, momentum=C.M)\n", ["MSP201"]),
        ("import functools\nf = functools.partial(nn.BatchNorm2d, momentum=0.1)\nf(3)\n", ["MSP201"]),
        ("x = [nn.BatchNorm2d]\nx[0](3, momentum=0.1)\n", []),
        ("def f(norm=nn.BatchNorm2d):\n    return norm(3, momentum=0.1)\n", ["MSP201"]),
        ("n = nn.BatchNorm2d if a else nn.LayerNorm\nn(3, momentum=0.1)\n", ["MSP201"]),
        ("nn.BatchNorm2d(*args)\n", []),
        ("a, b = nn.BatchNorm2d, 0.1\na(3, momentum=b)\n", ["MSP201"]),
        (
            "class N(nn.Cell):\n    def __init__(self):\n        self.norm = nn.BatchNorm2d\n        self.bn = self.norm(3, momentum=0.1)\n",
            ["MSP201"],
        ),
    ],
)
def test_momentum(code, expected, tmp_path):
    assert [c for _, c in codes(code, tmp_path)] == expected


EVERY_STATEMENT = """\
import os.path
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> int:
    global G
    async for i in a:
        pass
    async with a as (b, *c):
        pass
    del a
    return await b
def h():
    v = 1
    def k():
        nonlocal v
        v += 1
    match v:
        case [x, *y] if x:
            pass
        case {"a": z, **rest}:
            pass
    try:
        w: int
        w: int = 3
    except (ValueError, TypeError) as error:
        pass
    else:
        pass
    finally:
        pass
    while v:
        break
    else:
        pass
    if (q := v) and [z := 1 for _ in v]:
        pass
    return lambda p, o=1: {p: o for p in v for o in p if o}, {1}, {s for s in v}, (t for t in v)
"""


def test_every_statement_of_python_is_walked(tmp_path):
    assert codes(EVERY_STATEMENT, tmp_path) == []


def test_durations_have_two_digits():
    assert duration(0.2, "en") == "0.2 min"
    assert duration(90, "en") == "1.5 h"
    assert duration(4800, "en") == "10 days"
    assert duration(480 * 123, "zh") == "120 人天"


def test_star_imports_count_as_unresolved_sites(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("from torch import *\ny = cat([1])\n_z = _hidden\n")
    coverage = Engine(Config()).check_file(file).coverage
    assert coverage.sites == 2
    assert coverage.resolved == 1
    assert coverage.unknown == 1


def test_terminal_output_has_styles_and_the_same_text(tmp_path):
    from rich.console import Console

    from mindport.catalog import load_catalog
    from mindport.reports import as_text
    from mindport.reports.run import Run

    file = tmp_path / "a.py"
    file.write_text(HEAD + "\tbn = 1\n")
    bad = Engine(Config()).check_file(file)
    file.write_text(HEAD + "if 1:\n\tbn = nn.BatchNorm2d(3, momentum=0.1)\n")
    good = Engine(Config()).check_file(file)
    run = Run([bad, good], load_catalog(), "en")
    plain, styled = io.StringIO(), io.StringIO()
    as_text.print_text(run, Console(file=plain))
    as_text.print_text(run, Console(file=styled, force_terminal=True, color_system="standard", width=400))
    assert "\x1b[" in styled.getvalue()
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", styled.getvalue()) == plain.getvalue()
    assert (
        "    4 |     bn = nn.BatchNorm2d(3, momentum=0.1)\n      |                                     ^^^"
        in plain.getvalue()
    )


def test_lookup_shows_every_kind_of_argument_change():
    from mindport.reports.lookup import lookup_lines

    target = {
        "target": "mindspore.g",
        "difference": "arguments",
        "template": "mindspore.g({a})",
        "unproven": None,
        "versions": ["2.7.0", "2.10.0"],
        "platforms": ["ascend"],
        "arguments": {
            "a": {"to": "x"},
            "b": {"drop": True},
            "c": {"refuse": True},
            "d": {"value": "1 - {}"},
            "e": {"to": "f", "values": {"'p'": "", "'q'": "2"}},
        },
        "omitted": {"h": "3"},
        "always": {},
    }
    answer = {
        "known": True,
        "name": "torch.f",
        "signature": None,
        "nn": target,
        "mint": None,
        "note": "",
        "also": ["torch.g"],
        "proof": {"versions": {"mindspore": "2.10.0"}, "max_difference": {"nn": 1e-7}},
        "porters": {"mint": [{"target": "mindspore.h", "count": 3}], "nn": []},
    }
    text = "\n".join(lookup_lines(answer, "en"))
    for part in (
        "a -> x",
        "b -> leave out",
        "c -> cannot be converted",
        "d=1 - d",
        "f ('p': leave out, 'q': 2)",
        "+ h=3",
        "also: torch.g",
        "MindSpore 2.7.0-2.10.0; ascend",
        "executed on mindspore 2.10.0, largest difference 1e-07",
        "wrote: mindspore.h (3)",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("torch.nn.functional.softmax(x, 1)", ["MSP404"]),
        ("torch.nn.functional.softmax(x, dim=1)", ["MSP404"]),
        ("torch.nn.Linear(3, 4)", []),
        ("torch.nn.Linear(3, 4, False)", ["MSP404"]),
        ("torch.nn.Linear(3, 4, bias=False)", ["MSP404"]),
        ("torch.nn.Linear(*sizes)", ["MSP404"]),
        ("torch.nn.Conv2d(3, 4, 3)", ["MSP404"]),
        ("torch.nn.GELU()", ["MSP404"]),
        ("torch.nn.GELU('tanh')", ["MSP404"]),
        ("torch.nn.LayerNorm(3, 1e-6)", ["MSP404"]),
        ("torch.nn.ReLU()", []),
        ("f(torch.nn.Linear)", ["MSP404"]),
    ],
)
def test_a_difference_is_reported_only_where_it_bites(call, found, tmp_path):
    file = tmp_path / "a.py"
    file.write_text(f"import torch\n\ny = {call}\n")
    assert [f.code for f in Engine(Config()).check_file(file).findings] == found
