"""What the flow analysis says a value is: receivers by line, in small programs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindport.config import Config
from mindport.detectors.base import FileView
from mindport.engine import Engine
from mindport.findings import Confidence
from mindport.source import text as source_text

HEAD = "import torch\nfrom torch import nn, Tensor\nimport torch.nn.functional as F\nimport numpy as np\n"


def view_of(code: str, file: Path | None = None) -> FileView:
    engine = Engine(Config())
    source = source_text.from_text("t.py", code, file)
    module = engine.project.module_for(source)
    return FileView(module, engine.stage(module), engine.catalog, engine.config, engine.flows)


def receivers(code: str, file: Path | None = None) -> dict[str, tuple[str | None, str]]:
    """Method name -> (kind of its receiver, confidence); each method name stands once in a program."""
    view = view_of(HEAD + code, file)
    result = {}
    for node, _ in view.module.scopes.nodes[ast.Call]:
        assert isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute):
            known = view.known(node.func.value)
            result[node.func.attr] = (known.kind.value if known.kind else None, known.sure.value)
    return result


def kinds(code: str, file: Path | None = None) -> dict[str, str | None]:
    return {name: kind for name, (kind, _) in receivers(code, file).items()}


TENSORS = [
    ("a torch call", "torch.ones(3).view(3)", "view"),
    ("a chain", "x = torch.ones(3).to('cpu')\nx.view(3)", "view"),
    ("an operator", "x = 1 - torch.ones(3)\nx.view(3)", "view"),
    ("a comparison", "x = torch.ones(3) > 0\nx.view(3)", "view"),
    ("an annotation", "def f(x: Tensor): x.sum()", "sum"),
    (
        "an optional annotation",
        "from typing import Optional\ndef f(x: Optional[Tensor] = None): x.sum()",
        "sum",
    ),
    ("a quoted annotation", "def f(x: 'torch.Tensor | None'): x.sum()", "sum"),
    (
        "a list of annotated",
        "from typing import List\ndef f(xs: List[Tensor]):\n    for x in xs: x.sum()",
        "sum",
    ),
    ("only a Tensor has this method", "def f(x): x.unsqueeze(0)", "unsqueeze"),
    ("known by an earlier use", "def f(x):\n    x.unsqueeze(0)\n    x.sum()", "sum"),
    ("known by a later use of a parameter", "def f(x):\n    x.sum()\n    x.unsqueeze(0)", "sum"),
    ("passed where Tensors go", "def f(x):\n    y = torch.matmul(x, x)\n    x.sum()", "sum"),
    ("in a list passed where Tensors go", "def f(x):\n    y = torch.cat([x, x])\n    x.sum()", "sum"),
    ("a size of a Tensor", "def f(x):\n    return x.size(0)", "size"),
    ("a chain that ends in a Tensor's method", "def f(x):\n    return x.reshape(2).contiguous()", "reshape"),
    ("unpacked", "a, b = torch.ones(4).chunk(2)\na.view(2)", "view"),
    ("a maximum along an axis", "a, b = torch.ones(2, 2).max(1)\nb.view(2)", "view"),
    ("indexed", "torch.ones(3)[0].view(1)", "view"),
    ("in a comprehension", "y = [t.view(1) for t in [torch.ones(1)]]", "view"),
    ("in a dict", "d = {'a': torch.ones(1)}\nfor k, v in d.items(): v.view(1)", "view"),
    ("enumerated", "for i, t in enumerate([torch.ones(1)]): t.view(1)", "view"),
    ("zipped", "for a, t in zip([1], [torch.ones(1)]): t.view(1)", "view"),
    ("appended", "outs = []\nfor i in range(3):\n    outs.append(torch.ones(1))\nouts[0].view(1)", "view"),
    ("either of two", "x = torch.ones(1) if 1 else torch.zeros(1)\nx.view(1)", "view"),
    ("a default by or", "def f(x=None):\n    x = x or torch.ones(1)\n    x.view(1)", "view"),
    ("isinstance", "def f(x):\n    if isinstance(x, torch.Tensor):\n        x.sum()", "sum"),
    (
        "isinstance and return",
        "def f(x):\n    if not torch.is_tensor(x):\n        return\n    x.sum()",
        "sum",
    ),
    ("not None", "def f(x: Tensor = None):\n    if x is not None:\n        x.sum()", "sum"),
    ("a function's result", "def g():\n    return torch.ones(1)\ng().sum()", "sum"),
    ("a parameter by its caller", "def g(x):\n    return x.sum()\ng(torch.ones(1))", "sum"),
    ("a closure", "def f(x: Tensor):\n    def g():\n        return x.sum()\n    return g()", "sum"),
    ("a walrus", "if (x := torch.ones(1)) is not None: x.sum()", "sum"),
    ("in place", "x = torch.ones(1)\nx += 1\nx.sum()", "sum"),
    ("a grad", "x = torch.ones(1)\nx.grad.sum()", "sum"),
]


@pytest.mark.parametrize(("code", "method"), [t[1:] for t in TENSORS], ids=[t[0] for t in TENSORS])
def test_a_tensor_is_known(code: str, method: str) -> None:
    kind, sure = receivers(code)[method]
    assert kind == "tensor"
    assert sure in ("certain", "inferred")


OTHERS = [
    ("a number of an array", "np.ones(3).sum()", "sum", "array"),
    ("a text", "def f(x: str): x.split()", "split", "str"),
    ("a shape", "def f(x: Tensor): x.shape.numel()", "numel", "shape"),
    ("an item of a shape", "def f(x: Tensor): x.shape[0].bit_length()", "bit_length", "number"),
    ("a tensor's item", "torch.ones(1).item().hex()", "hex", "number"),
    ("a tensor's array", "torch.ones(1).numpy().sum()", "sum", "array"),
    ("a list", "[1].index(1)", "index", "list"),
    ("a module", "nn.Linear(1, 1).to('cpu')", "to", "module"),
    ("an optimizer", "torch.optim.SGD([], 0.1).step()", "step", "optimizer"),
    ("a path", "from pathlib import Path\nPath('a').stat()", "stat", "other"),
    ("an unknown with an array's method", "def f(x): x.sum()", "sum", None),
    ("an image", "def f(image): image.resize(3)", "resize", None),
    (
        "a flag of forward",
        "class M(nn.Module):\n    def forward(self, x, flag=False): flag.bit_length()",
        "bit_length",
        "bool",
    ),
    ("joined with something else", "x = torch.ones(1) if a else [1]\nx.index(1)", "index", None),
    ("a callable", "def f(x):\n    x(1)\n    x.sum()", "sum", None),
    ("read by key", "def f(batch): batch['a'].sum()", "sum", None),
]


@pytest.mark.parametrize(("code", "method", "kind"), [t[1:] for t in OTHERS], ids=[t[0] for t in OTHERS])
def test_no_tensor_is_invented(code: str, method: str, kind: str | None) -> None:
    found, sure = receivers(code)[method]
    assert found == kind or (kind is None and sure == "possible")


MODEL = """
class Block(nn.Module):
    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.norm = norm_layer(dim)
        self.fc = nn.Linear(dim, dim)
        self.rnn = nn.LSTM(dim, dim)
        self.register_buffer("mask", torch.ones(3))
        self.scale = nn.Parameter(torch.ones(1))
        self.blocks = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
        self.act = make_act()

    def forward(self, x, mask=None):
        self.fc(x).sum()
        self.norm(x).mean()
        out, (h, c) = self.rnn(x)
        h.prod()
        self.mask.std()
        self.scale.var()
        for blk in self.blocks:
            x = blk(x)
        x.cumsum()
        if mask is not None:
            y = x * mask
            mask.abs()
        self.helper(x).sqrt()
        self.act(x).unsqueeze(0).exp()
        self.last.log()

    def helper(self, t):
        return t + 1

    @property
    def last(self):
        return self.scale * 2
"""


def test_attributes_layers_and_methods_of_a_module() -> None:
    found = kinds(MODEL)
    names = ["sum", "mean", "prod", "std", "var", "cumsum", "abs", "sqrt", "exp", "log"]
    assert [found[name] for name in names] == ["tensor"] * 4 + ["parameter"] + ["tensor"] * 5


def test_base_classes_and_functions_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "base.py").write_text(
        "import torch\nfrom torch import nn\n"
        "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.Parameter(torch.ones(1))\n"
        "def make(n):\n    return torch.ones(n)\n"
    )
    code = "from .base import Base, make\nclass M(Base):\n    def forward(self):\n        self.w.a0()\n        make(3).a1()\n"
    assert kinds(code, tmp_path / "m.py") == {"a0": "parameter", "a1": "tensor"}


def test_recursive_functions_end() -> None:
    assert kinds("def f(n):\n    return g(n)\ndef g(n):\n    return f(n) if n else torch.ones(1)\nf(3).a0()")[
        "a0"
    ] in (None, "tensor")


def test_a_very_long_expression_is_no_error() -> None:
    code = "import torch\nx = " + " + ".join(["torch.ones(1)"] * 600) + "\n"
    view = view_of(code)
    assert view.flow is not None


def test_values_that_depend_on_a_tensor_are_told_from_constants() -> None:
    view = view_of(HEAD + "x = torch.ones(3)\na = int(x.sum())\nb = x.shape[0]\nc = a + 1\nd = a > 1\n")
    top = {
        n.targets[0].id: view.known(n.value).atom
        for n in view.module.source.tree.body
        if isinstance(n, ast.Assign)
    }  # type: ignore[attr-defined]
    assert {name: atom.runtime for name, atom in top.items() if atom} == {
        "x": False,
        "a": True,
        "b": False,
        "c": True,
        "d": True,
    }


def test_confidence_follows_the_path() -> None:
    assert receivers("torch.ones(1).sum()")["sum"][1] == Confidence.CERTAIN.value
    assert receivers("def f(x: Tensor): x.sum()")["sum"][1] == Confidence.INFERRED.value
