"""Whole files and packages: our own models, and what larger code bases do with layers."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from conftest import ROOT

from mindport.catalog.surface import surface
from mindport.config import Config
from mindport.engine import Engine
from mindport.fixes.apply import Fixed, fix_bytes, fix_file, write

MODELS = sorted((ROOT / "tests" / "models").glob("*.py"))
NN = Engine(Config(), fixing=True)
MINT = Engine(Config(api="mint"), fixing=True)


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_our_models_become_mindspore_files(file):
    fixed = fix_file(NN, file, unsafe=True)
    names = imported(fixed.after)
    assert not [name for name in names if name.partition(".")[0] == "torch"]
    assert "def construct(" in fixed.after
    assert "def forward(" not in fixed.after
    again = fix_bytes(NN, fixed.after.encode(), file.as_posix(), None, unsafe=True)
    assert again.after == fixed.after


@pytest.mark.parametrize("file", MODELS, ids=lambda file: file.stem)
def test_every_mindspore_name_and_keyword_written_exists(file):
    """Both sides: each name is in the surface, and each keyword in the signature it has there."""
    for engine in (NN, MINT):
        assert unknown_names(fix_file(engine, file, unsafe=True).after) == []


def imported(code: str) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def unknown_names(code: str) -> list[str]:
    """MindSpore names and keywords in code that version 2.10.0 does not have."""
    from mindport.catalog.signature import read_signature

    tree = ast.parse(code)
    local = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            local |= {a.asname or a.name: a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            local |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    names = surface("mindspore")

    def full(node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return local.get(node.id, "")
        if isinstance(node, ast.Attribute):
            base = full(node.value)
            return f"{base}.{node.attr}" if base else ""
        return ""

    problems = []
    for node in ast.walk(tree):
        name = full(node) if isinstance(node, ast.Attribute) else ""
        if name.startswith("mindspore.") and name not in names:
            problems.append(name)
        called = full(node.func) if isinstance(node, ast.Call) else ""
        if not called.startswith("mindspore.") or called not in names:
            continue
        signature = read_signature(names[called].signature)
        if signature is None or signature.open_keywords:
            continue
        assert isinstance(node, ast.Call)
        problems += [f"{called}({k.arg}=)" for k in node.keywords if k.arg and k.arg not in signature.names]
    return problems


# --- packages ------------------------------------------------------------------------------------------


def port(files: dict[str, str]) -> dict[str, str]:
    """Write a package, fix all of it with one engine, and give the new texts."""
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
    engine = Engine(Config(), fixing=True)
    done = [fix_file(engine, Path(name), unsafe=True) for name in files]
    for fixed in done:
        assert fixed.result.error is None
        if fixed.changed:
            write(fixed)
    again = Engine(Config(), fixing=True)
    assert not any(fix_file(again, Path(name), unsafe=True).changed for name in files)
    return {fixed.path: fixed.after for fixed in done}


def one(code: str) -> str:
    return port({"net.py": code})["net.py"]


def test_a_package_is_fixed_as_it_was_before_any_file_was():
    new = port(
        {
            "pkg/__init__.py": "",
            "pkg/base.py": "from torch import nn\n\n\nclass Base(nn.Module):\n    def forward(self, x):\n        return x\n",
            "pkg/net.py": (
                "from .base import Base\n\n\nclass Net(Base):\n    def forward(self, x):\n"
                "        for m in self.modules():\n            pass\n        return super().forward(x)\n"
            ),
        }
    )
    assert "def construct" in new["pkg/net.py"]
    assert "self.cells_and_names()" in new["pkg/net.py"]
    assert "super().construct(x)" in new["pkg/net.py"]


def test_keywords_passed_on_follow_the_layer_they_reach():
    new = one(
        "from torch import nn\n\n\n"
        "class Conv(nn.Module):\n    def __init__(self, a, b, **kwargs):\n        super().__init__()\n"
        "        self.conv = nn.Conv2d(a, b, bias=False, **kwargs)\n\n"
        "    def forward(self, x):\n        return self.conv(x)\n\n\n"
        "class Net(nn.Module):\n    def __init__(self, block=None):\n        super().__init__()\n"
        "        if block is None:\n            block = Conv\n"
        "        self.a = Conv(1, 2, kernel_size=3, padding=(0, 1))\n"
        "        self.b = block(1, 2, kernel_size=3, groups=1)\n"
    )
    assert "nn.Conv2d(a, b, has_bias=False, pad_mode='pad', **kwargs)" in new
    assert "Conv(1, 2, kernel_size=3, padding=(0, 0, 1, 1))" in new
    assert "block(1, 2, kernel_size=3, group=1)" in new


def test_dictionaries_of_arguments_and_classes_in_variables():
    new = one(
        "import torch\n\n\n"
        "def block(dim, inplace=None, act=torch.nn.ReLU, other=None):\n"
        "    params = {} if inplace is None else {'inplace': inplace}\n"
        "    more = {'p': 0.1, 'inplace': inplace}\n"
        "    layers = [act(**params), torch.nn.Dropout(0.1, **params), torch.nn.Dropout(**more)]\n"
        "    return layers + [other(inplace=True)]\n"
    )
    assert "act()" in new
    assert "nn.Dropout(p=0.1)" in new
    assert "torch.nn.Dropout(**more)" in new
    assert "other()" in new


def test_subclasses_of_layers_take_the_arguments_of_their_base():
    new = one(
        "from functools import partial\n\nfrom torch import nn\n\n\n"
        "class Norm(nn.LayerNorm):\n    def forward(self, x):\n        return super().forward(x) + self.weight\n\n\n"
        "class Pad(nn.Conv2d):\n    def __init__(self, a, b):\n        super().__init__(a, b, 3, groups=1)\n\n\n"
        "norm = partial(Norm, eps=1e-6)\nplain = Norm(8)\n"
    )
    assert "partial(Norm, epsilon=1e-6)" in new
    assert "Norm([8], epsilon=1e-05)" in new
    assert "super().__init__(a, b, 3, group=1, has_bias=True, pad_mode='pad')" in new
    assert "self.gamma" in new


def test_containers_that_grow_run_all_their_cells():
    new = one(
        "from torch import nn\n\n\n"
        "class Step(nn.Sequential):\n    def __init__(self):\n        super().__init__()\n"
        "        self.norm = nn.BatchNorm2d(3)\n        self.act = nn.ReLU()\n\n\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.features = nn.Sequential(nn.ReLU())\n"
        "        self.features.add_module('last', nn.Tanh())\n\n"
        "    def forward(self, x):\n        return self.features(x)\n"
    )
    assert "        self.act = nn.ReLU()\n        self.cell_list = list(self._cells.values())\n" in new
    assert (
        "        self.features.insert_child_to_cell('last', nn.Tanh())\n"
        "        self.features.cell_list = list(self.features._cells.values())\n"
    ) in new


def test_statements_decorators_and_quoted_annotations():
    new = one(
        "import torch\nimport torch.fx\nfrom torch import nn\n\n"
        "torch.fx.wrap('f')\n\n\n"
        "class Net(nn.Module):\n"
        "    @torch.jit.unused\n    def check(self, x: 'torch.Tensor') -> 'list[torch.Tensor]':\n"
        "        torch._assert(x.dim() == 4, f'{x.shape}')\n        return [x]\n\n"
        "    @torch.no_grad()\n    def predict(self, x):\n        return self(x)\n\n"
        "    def forward(self, x):\n        return x if torch.jit.is_scripting() else self.check(x)[0]\n"
    )
    assert "torch" not in new
    assert "assert x.dim() == 4, f'{x.shape}'" in new
    assert "x: 'ms.Tensor') -> 'list[ms.Tensor]'" in new
    assert "@" not in new


def test_layers_whose_call_differs():
    new = one(
        "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.att = nn.MultiheadAttention(8, 2, batch_first=True)\n\n"
        "    def forward(self, x):\n        y, _ = self.att(x, x, x, need_weights=False)\n        return y\n"
    )
    assert "self.att(x, x, x)" in new


def test_blocks_that_stay_and_blocks_that_go():
    new = one(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n"
        "        with torch.no_grad():\n            y = torch.relu(x) + 1\n"
        "        with torch.no_grad():\n            self.last = x\n        return y\n\n\n"
        "def run(net, x):\n    with torch.no_grad():\n        text = '''\n        kept\n        '''\n"
        "        # a comment\n        for _ in range(2):\n            net(x)\n    return text\n\n\n"
        "def short(net, x):\n    with torch.no_grad(): net(x)\n"
    )
    assert "        y = ops.stop_gradient(ops.relu(x) + 1)\n" in new
    assert "        with torch.no_grad():\n            self.last = x\n" in new
    assert (
        "    text = '''\n        kept\n        '''\n    # a comment\n    for _ in range(2):\n        net(x)\n"
        in new
    )
    assert "with torch.no_grad(): net(x)" in new


def test_device_plumbing_falls_away():
    new = one(
        "import torch\nfrom torch import nn\n\n"
        "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "net = nn.Linear(3, 4).to(device)\nx = torch.randn(2, 3, device=device).to(device)\n"
        "y = net(x).cpu().detach().numpy()\nz = x.to(torch.float16)\nw = x.type_as(z).to(z)\n"
    )
    assert "torch" not in new
    assert "net = nn.Dense(3, 4)\n" in new
    assert "x = ops.randn(2, 3)\n" in new
    assert "asnumpy()" in new
    assert "z = x.to(ms.float16)" in new
    assert ".to(z.dtype)" in new


def test_in_place_methods_on_values():
    new = one(
        "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.fc = nn.Linear(3, 4)\n        self.fc.weight.data.normal_(0, 0.02)\n"
        "        self.fc.bias.data.zero_()\n\n"
        "    def forward(self, x: torch.Tensor):\n        x.add_(1)\n        y = torch.empty(3).uniform_(0, 1)\n"
        "        return self.fc(x) + y.mul_(2)\n"
    )
    assert "self.fc.weight.set_data(ops.normal(self.fc.weight.shape, 0, 0.02))" in new
    assert "self.fc.bias.set_data(ops.zeros_like(self.fc.bias))" in new
    assert "        x = x.add(1)\n" in new
    assert "y.mul_(2)" in new


def test_results_that_would_not_parse_are_left_out(monkeypatch):
    from mindport.findings import Applicability, Span
    from mindport.fixes import apply
    from mindport.fixes.draft import Change, Draft
    from mindport.source.text import from_text

    source = from_text("a.py", "x = 1\ny = 2\nz = 3\n")
    drafts = [
        Draft("MSP405", Span(1, 4, 1, 5), Applicability.SAFE, (Change(4, 5, ("10",)),)),
        Draft("MSP405", Span(2, 4, 2, 5), Applicability.SAFE, (Change(10, 11, ("(",)),)),
        Draft("MSP405", Span(3, 4, 3, 5), Applicability.SAFE, (Change(16, 17, ("30",)),)),
    ]
    text, count = apply.apply_drafts(source, drafts, apply.habits_of(NN.catalog))
    assert (text, count) == ("x = 10\ny = 2\nz = 30\n", 2)
    assert apply.apply_drafts(source, drafts[1:2], apply.habits_of(NN.catalog)) == (source.text, 0)


def test_text_the_encoding_cannot_hold_is_not_written():
    fixed: Fixed = fix_bytes(
        NN, b"# coding: latin-1\nimport torch\nx = torch.ones(3)  # \xe9\n", "a.py", None, unsafe=True
    )
    assert fixed.encoding == "iso-8859-1"
    assert fixed.after.encode(fixed.encoding).endswith(b"x = ops.ones(3)  # \xe9\n")
    broken = fix_bytes(NN, b"x = (\n", "a.py", None, unsafe=True)
    assert broken.result.error is not None
    missing = fix_file(NN, Path("missing.py"), unsafe=True)
    assert missing.result.error is not None
