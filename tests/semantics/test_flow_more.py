"""More of what the flow analysis follows: annotations, containers, attributes across files, guesses it refuses."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_flow import HEAD, kinds, view_of

from mindport.cli.main import cli

TYPING = "from typing import *\nfrom collections import OrderedDict\n"
ANNOTATIONS = [
    ("x: Union[Tensor, None]", "x.sum()", "sum", "tensor"),
    ("x: Tensor | None", "x.sum()", "sum", "tensor"),
    ("x: Optional['Tensor']", "x.sum()", "sum", "tensor"),
    ("x: torch.FloatTensor", "x.sum()", "sum", "tensor"),
    ("x: Tuple[Tensor, int]", "x[0].sum()", "sum", "tensor"),
    ("x: Tuple[Tensor, int]", "x[1].hex()", "hex", "number"),
    ("x: Tuple[Tensor, ...]", "x[5].sum()", "sum", "tensor"),
    ("x: Tuple[Tensor]", "x[5].sum()", "sum", "tensor"),
    ("x: Sequence[Tensor]", "x[0].sum()", "sum", "tensor"),
    ("x: Dict[str, Tensor]", "x['a'].sum()", "sum", "tensor"),
    ("x: Dict[str, Tensor]", "[v.sum() for v in x.values()]", "sum", "tensor"),
    ("x: Dict[str, Tensor]", "x.get('a', torch.ones(1)).sum()", "sum", "tensor"),
    ("x: Literal['a', 'b']", "x.upper()", "upper", "str"),
    ("x: Literal[1, 2]", "x.hex()", "hex", "number"),
    ("x: nn.Linear", "x.to(1)", "to", "module"),
    ("x: int", "x.hex()", "hex", "number"),
    ("x: np.ndarray", "x.sum()", "sum", "array"),
    ("x: list", "x.index(1)", "index", "list"),
    ("x: 'no python ['", "x.index(1)", "index", None),
    ("x: Any", "x.index(1)", "index", None),
    ("x: Union[Tensor, List[int]]", "x.index(1)", "index", None),
    ("x: torch.Size", "x.numel()", "numel", "shape"),
    ("x: Annotated[Tensor, 1]", "x.sum()", "sum", "tensor"),
    ("*xs: Tensor", "xs[0].sum()", "sum", "tensor"),
    ("**xs: Tensor", "xs['a'].sum()", "sum", "tensor"),
]


@pytest.mark.parametrize(("parameter", "use", "method", "kind"), ANNOTATIONS)
def test_annotations(parameter: str, use: str, method: str, kind: str | None) -> None:
    assert kinds(f"{TYPING}def f({parameter}):\n    {use}\n")[method] == kind


CODE = [
    ("slices", "x = [torch.ones(1)]\nx[1:][0].sum()", "sum", "tensor"),
    ("added lists", "x = [torch.ones(1)] + [torch.zeros(1)]\nx[0].sum()", "sum", "tensor"),
    ("added tuples", "x = (torch.ones(1),) + (1,)\nx[0].sum()", "sum", "tensor"),
    ("repeated lists", "x = [torch.ones(1)] * 3\nx[0].sum()", "sum", "tensor"),
    ("starred parts", "a = [torch.ones(1)]\nb = [*a, *a]\nb[0].sum()", "sum", "tensor"),
    ("dict displays", "d = {**{'a': torch.ones(1)}, 'b': torch.ones(1)}\nd['b'].sum()", "sum", "tensor"),
    ("dict calls", "d = dict(a=torch.ones(1))\nd['a'].sum()", "sum", "tensor"),
    ("dict stores", "d = {}\nd['a'] = torch.ones(1)\nd['a'].sum()", "sum", "tensor"),
    ("dict updates", "d = {}\nd.update({'a': torch.ones(1)})\nd['a'].sum()", "sum", "tensor"),
    ("extended lists", "x = []\nx.extend([torch.ones(1)])\nx.pop().sum()", "sum", "tensor"),
    ("starred targets", "a, *b = torch.ones(3)\nb[0].sum()", "sum", "tensor"),
    ("sorted", "for t in sorted([torch.ones(1)]): t.sum()", "sum", "tensor"),
    ("reversed", "for t in reversed([torch.ones(1)]): t.sum()", "sum", "tensor"),
    ("next of iter", "next(iter([torch.ones(1)])).sum()", "sum", "tensor"),
    ("max of two", "max(torch.ones(1), torch.zeros(1)).sum()", "sum", "tensor"),
    ("a built-in sum", "sum([torch.ones(1)]).mean()", "mean", "tensor"),
    ("dict comprehension", "d = {k: torch.ones(1) for k in 'ab'}\nd['a'].sum()", "sum", "tensor"),
    ("generator expression", "for t in (torch.ones(1) for _ in [1]): t.sum()", "sum", "tensor"),
    ("generator function", "def g():\n    yield torch.ones(1)\nfor t in g(): t.sum()", "sum", "tensor"),
    ("yield from", "def g():\n    yield from [torch.ones(1)]\nfor t in g(): t.sum()", "sum", "tensor"),
    ("partial", "from functools import partial\nf = partial(torch.ones, 3)\nf().sum()", "sum", "tensor"),
    ("a lambda's argument is unknown", "f = lambda x: x.sum()", "sum", None),
    ("while", "x = torch.ones(1)\nwhile True:\n    x = x + 1\n    if 1: break\nx.sum()", "sum", "tensor"),
    (
        "try",
        "try:\n    x = torch.ones(1)\nexcept ValueError as e:\n    x = torch.zeros(1)\nelse:\n    pass\nfinally:\n    x.sum()",
        "sum",
        "tensor",
    ),
    (
        "match",
        "match 1:\n    case 1:\n        x = torch.ones(1)\n    case _:\n        x = torch.zeros(1)\nx.sum()",
        "sum",
        "tensor",
    ),
    ("assert", "def f(x):\n    assert isinstance(x, torch.Tensor), 1\n    x.sum()", "sum", "tensor"),
    ("isinstance of two", "def f(x):\n    if isinstance(x, (int, float)):\n        x.hex()", "hex", "number"),
    (
        "an else of isinstance",
        "def f(x: 'Tensor | list'):\n    if isinstance(x, list):\n        return\n    x.sum()",
        "sum",
        "tensor",
    ),
    ("annotated assignment", "x: torch.Tensor = unknown()\nx.sum()", "sum", "tensor"),
    ("annotated only", "def f():\n    x: torch.Tensor\n    x.sum()", "sum", "tensor"),
    ("deleted", "x = torch.ones(1)\ndel x\nx.index(1)", "index", None),
    ("conditional none", "x = None\nif a:\n    x = torch.ones(1)\nx.sum()", "sum", "tensor"),
    ("texts by a tensor", "f'{torch.ones(1)}'.upper()", "upper", "str"),
    ("percent of a text", "('%s' % a).upper()", "upper", "str"),
    ("not", "(not torch.ones(1)).hex()", "hex", "bool"),
    ("minus", "(-nn.Parameter(torch.ones(1))).sum()", "sum", "tensor"),
    ("and", "(a is not None and torch.ones(1)).sum()", "sum", "tensor"),
    ("numpy compare", "(np.ones(1) > 0).sum()", "sum", "array"),
    ("shape arithmetic", "(torch.ones(1).shape + (1,)).numel()", "numel", "shape"),
    ("await", "async def f(x):\n    (await x).index(1)", "index", None),
    ("a class attribute", "class A:\n    t = torch.ones(1)\nA.t.sum()", "sum", "tensor"),
    (
        "an instance attribute",
        "class A:\n    def __init__(self):\n        self.t = torch.ones(1)\nA().t.sum()",
        "sum",
        "tensor",
    ),
    (
        "a callable object",
        "class A:\n    def __call__(self):\n        return torch.ones(1)\nA()().sum()",
        "sum",
        "tensor",
    ),
    (
        "a static method",
        "class A:\n    @staticmethod\n    def f(x: Tensor):\n        return x\nA.f(1).sum()",
        "sum",
        "tensor",
    ),
    (
        "a class method",
        "class A:\n    @classmethod\n    def f(cls):\n        return cls.g()\n    @staticmethod\n    def g():\n        return torch.ones(1)\nA.f().sum()",
        "sum",
        "tensor",
    ),
    ("a call with too few names", "def f(a, b): return b\nf(1).index(1)", "index", None),
    ("a local import", "def f():\n    import torch as t\n    t.ones(1).sum()", "sum", "tensor"),
    ("an aliased import from", "from torch import ones as o\no(1).sum()", "sum", "tensor"),
    (
        "data classes by place",
        "from dataclasses import dataclass\n@dataclass\nclass Out:\n    first: Tensor\n    second: int = 0\ndef f() -> Out: ...\nf()[0].sum()",
        "sum",
        "tensor",
    ),
    (
        "data classes by name",
        "from dataclasses import dataclass\n@dataclass\nclass Out:\n    first: Tensor\nOut(1).first.sum()",
        "sum",
        "tensor",
    ),
    (
        "super",
        "class A(nn.Linear):\n    def forward(self, x):\n        return super().forward(x).sum()",
        "sum",
        "tensor",
    ),
    (
        "module lists grow",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = nn.ModuleList()\n        self.l.append(nn.Linear(1, 1))\n    def forward(self, x):\n        return self.l[0](x).sum()",
        "sum",
        "tensor",
    ),
    (
        "sequentials",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.s = nn.Sequential(nn.Linear(1, 1), nn.ReLU())\n    def forward(self, x):\n        return self.s(x).sum()",
        "sum",
        "tensor",
    ),
    ("state dicts", "nn.Linear(1, 1).state_dict()['weight'].sum()", "sum", "tensor"),
    ("parameters", "for p in nn.Linear(1, 1).parameters(): p.sum()", "sum", "parameter"),
    ("named parameters", "for n, p in nn.Linear(1, 1).named_parameters(): n.upper()", "upper", "str"),
]


@pytest.mark.parametrize(("code", "method", "kind"), [c[1:] for c in CODE], ids=[c[0] for c in CODE])
def test_what_code_makes(code: str, method: str, kind: str | None) -> None:
    assert kinds(code)[method] == kind


def test_modules_of_the_project_are_seen_through_their_names(tmp_path: Path) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "ops.py").write_text(
        "import torch\nSCALE = torch.ones(1)\nclass Box:\n    value = torch.ones(1)\n"
    )
    code = "import pkg.ops\nfrom pkg import ops\nops.SCALE.sum()\npkg.ops.Box().value.mean()\n"
    assert kinds(code, tmp_path / "main.py") == {"sum": "tensor", "mean": "tensor", "Box": "namespace"}


def test_conditions_on_tensors_are_told_from_others() -> None:
    code = "x = torch.ones(1)\na = x.sum() > 0\nb = x.shape[0] > 0\nc = int(x) in [1]\nd = x is None\n"
    view = view_of(HEAD + code)
    found = {}
    for node in view.module.source.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            atom = view.known(node.value).atom
            assert atom is not None
            found[node.targets[0].id] = (atom.kind.value, atom.runtime)
    assert found["a"] == ("tensor", False)
    assert found["b"] == ("bool", False)
    assert found["c"] == ("bool", True)
    assert found["d"] == ("bool", False)


def test_the_inventory_lists_names_and_method_calls(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        "import torch\nx = torch.ones(3)\nx.view(3).sum()\n'a'.upper()\nunknown.foo()\n", encoding="utf-8"
    )
    out = tmp_path / "sites.jsonl"
    result = CliRunner().invoke(cli, ["check", str(file), "--sites", str(out), "--exit-zero"])
    assert result.exit_code == 0
    sites = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    keys = ("line", "column", "end_line", "end_column", "attribute", "api", "receiver", "confidence")
    assert [tuple(s[k] for k in keys) for s in sites] == [
        (2, 4, 2, 14, "ones", "torch.ones", None, "certain"),
        (3, 0, 3, 6, "view", "torch.Tensor.view", "tensor", "certain"),
        (3, 0, 3, 13, "sum", "torch.Tensor.sum", "tensor", "certain"),
        (4, 0, 4, 9, "upper", None, "str", "certain"),
        (5, 0, 5, 11, "foo", None, None, None),
    ]


def test_an_inventory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\ntorch.unknown_name_of_mine(1)\ntorch.svd(1)\n")
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "a.py"), "--sites", str(tmp_path / "no" / "s")])
    assert result.exit_code == 2
    assert "cannot be written" in result.output
    assert "coverage: " in result.output  # the findings are not lost


def test_coverage_counts_receivers_nobody_knows(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\ndef f(x):\n    return torch.ones(1) + x.reshape(3)\n")
    result = CliRunner().invoke(cli, ["check", str(tmp_path / "a.py"), "--output-format", "json"])
    coverage = json.loads(result.output)["coverage"]
    assert (coverage["sites"], coverage["resolved"], coverage["judged"], coverage["unknown"]) == (2, 1, 1, 1)
