"""The fix engine: what changes, what stays, and that fixing twice is fixing once."""

from __future__ import annotations

import ast
import json
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from mindport.cli.main import cli
from mindport.config import Config
from mindport.engine import Engine
from mindport.findings import Applicability, Span
from mindport.fixes.apply import fix_bytes
from mindport.fixes.draft import Change, Draft, Ref, Slice, compose

ENGINES: dict[str, Engine] = {}


def fixed(code: str, *, unsafe: bool = True, api: str = "nn", **settings) -> str:
    key = f"{api}{settings}"
    engine = ENGINES.setdefault(key, Engine(Config(api=api, **settings), fixing=True))
    result = fix_bytes(engine, code.encode(), "file.py", None, unsafe=unsafe)
    assert result.result.error is None
    ast.parse(result.after)
    again = fix_bytes(engine, result.after.encode(), "file.py", None, unsafe=unsafe)
    assert again.after == result.after
    return result.after


HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"


def body(code: str, **options) -> str:
    """The code below the imports, after fixing."""
    text = fixed(HEAD + code, **options)
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line and not line.startswith(("import", "from")))
    return "\n".join(lines[first:])


@pytest.mark.parametrize(
    ("torch", "mindspore"),
    [
        ("y = F.relu(x, inplace=True)", "y = ops.relu(x)"),
        ("y = torch.cat([x, x], dim=1)", "y = ops.cat([x, x], axis=1)"),
        (
            "c = nn.Conv2d(3, 4, 3,  # sizes\n    bias=False)",
            "c = nn.Conv2d(3, 4, 3,  # sizes\n    has_bias=False, pad_mode='pad')",
        ),
        (
            "c = nn.Conv2d(3, 4, 3, padding=(1, 2))",
            "c = nn.Conv2d(3, 4, 3, padding=(1, 1, 2, 2), has_bias=True, pad_mode='pad')",
        ),
        ("r = nn.ReLU(inplace=True,)", "r = nn.ReLU()"),
        ("b = nn.BatchNorm2d(8, momentum=0.1)", "b = nn.BatchNorm2d(8, momentum=0.9)"),
        ("y = torch.flatten(torch.cat((a, b), 1), 1)", "y = ops.flatten(ops.cat((a, b), 1), start_dim=1)"),
        ("d = torch.float16", "d = ms.float16"),
        ("z = torch.zeros(2, 3, device='cuda')", "z = ops.zeros((2, 3))"),
        ("y = F.softmax(a if a else b, dim=-1)", "y = ops.softmax(a if a else b, axis=-1)"),
        ("y = torch.add(a, b + 1, alpha=c - d)", "y = ops.add(a, (c - d) * (b + 1))"),
        (
            "t = torch.randn(2, 3)\nn = t.size(0) + t.size()[1]",
            "t = ops.randn(2, 3)\nn = t.shape[0] + t.shape[1]",
        ),
        ("t = torch.ones(3)\nt = (t + 1).transpose(0, 1)", "t = ops.ones(3)\nt = (t + 1).swapaxes(0, 1)"),
        ("t = torch.ones(3)\nt.mul_(2)", "t = ops.ones(3)\nt = t.mul(2)"),
        ("t = torch.ones(3).to('cuda').cuda()", "t = ops.ones(3)"),
        (
            "x = nn.quantized.FloatFunctional()\ny = nn.ReLU()",
            "x = nn.quantized.FloatFunctional()\ny = ms.nn.ReLU()",
        ),
    ],
)
def test_expressions(torch, mindspore):
    assert body(torch) == mindspore


def test_a_module_becomes_a_cell():
    code = '''
class Net(nn.Module):
    """A net."""

    def __init__(self):
        super(Net, self).__init__()
        self.act = nn.GELU()  # exact
        self.norm = nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            x = F.dropout(x, p=0.1, training=self.training)
        return self.act(self.norm(x))


def run():
    net = Net()
    net.eval()
    with torch.no_grad():
        y = net(torch.rand(2, 8))

        print(y.size())
    return y
'''
    assert (
        body(code)
        == '''class Net(nn.Cell):
    """A net."""

    def __init__(self):
        super(Net, self).__init__()
        self.act = nn.GELU(approximate=False)  # exact
        self.norm = nn.LayerNorm([8], epsilon=1e-05)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        if self.training:
            x = ops.dropout(x, p=0.1, training=self.training)
        return self.act(self.norm(x))


def run():
    net = Net()
    net.set_train(False)
    y = net(ops.rand(2, 8))

    print(y.shape)
    return y
'''
    )


def test_classes_in_variables():
    code = """
from functools import partial


def block(dim, norm=nn.LayerNorm, act=nn.GELU):
    return nn.Sequential(norm(dim), act())


def wide(dim, norm=None):
    norm = norm or partial(nn.LayerNorm, eps=1e-6)
    return norm(dim)


def count(m):
    return isinstance(m, (nn.Conv2d, nn.LayerNorm))
"""
    new = fixed(HEAD + code)
    assert (
        "def block(dim, norm=partial(nn.LayerNorm, epsilon=1e-05), act=partial(nn.GELU, approximate=False)):"
        in new
    )
    assert "nn.SequentialCell(norm([dim]), act())" in new
    assert "partial(nn.LayerNorm, epsilon=1e-6)" in new
    assert "isinstance(m, (nn.Conv2d, nn.LayerNorm))" in new


def test_initialisation_and_parameter_names():
    code = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm2d(3)
        for m in self.modules():
            if isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                m.bias.data.zero_()
"""
    new = fixed(HEAD + code)
    plain = new.replace("(_, cell)", "_, cell")  # Python 3.10 writes the tuple with parentheses
    assert "for m in (cell for _, cell in self.cells_and_names()):" in plain
    assert "m.gamma.set_data(init.initializer(init.Constant(1), m.gamma.shape, m.gamma.dtype))" in new
    assert "m.beta.set_data(ops.zeros_like(m.beta))" in new


def test_imports_are_merged_kept_and_never_clash():
    assert (
        fixed("import os, torch\n\nx = torch.ones(3)\n")
        == "from mindspore import ops\nimport os\n\nx = ops.ones(3)\n"
    )
    merged = fixed("from mindspore import nn\nimport torch\n\nx = torch.ones(3)\ny = nn.ReLU()\n")
    assert merged == "from mindspore import nn, ops\n\nx = ops.ones(3)\ny = nn.ReLU()\n"
    kept = fixed("import torch\n\nops = 3\nx = torch.ones(ops)\ntorch.load('f')\n")
    assert kept == "import torch\nimport mindspore as ms\n\nops = 3\nx = ms.ops.ones(ops)\ntorch.load('f')\n"
    named = fixed(
        "from torch import Tensor, nn\n\n\ndef f(x: Tensor) -> 'Tensor':\n    return x + nn.ReLU()(x)\n"
    )
    assert "def f(x: " in named
    assert "Tensor) -> 'Tensor'" in named


def test_suppressed_lines_stay():
    code = (
        HEAD
        + "x = torch.ones(3)  # noqa: MSP405\ny = torch.cat(\n    [x, x],\n    dim=1,\n)  # noqa\nz = torch.ones(3)\n"
    )
    new = fixed(code)
    assert "x = torch.ones(3)  # noqa: MSP405\n" in new
    assert "y = torch.cat(\n    [x, x],\n    dim=1,\n)  # noqa\n" in new
    assert "z = ops.ones(3)" in new
    assert "import torch\n" in new
    assert fixed("# flake8: noqa\n" + code) == "# flake8: noqa\n" + code
    pylint = "import torch\n\nx = torch.ones(3)  # pylint: disable=api-rename,api-differs\n"
    assert fixed(pylint) == pylint
    other = fixed("import torch\n\nx = torch.ones(3)  # noqa: E501\n")
    assert "ops.ones(3)  # noqa: E501" in other


def test_safe_fixes_are_those_proven_equal():
    code = HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return torch.cat([x], dim=1)\n"
    safe = fixed(code, unsafe=False)
    assert "class Net(nn.Module)" in safe
    assert "def forward" in safe
    assert "ops.cat([x], axis=1)" in safe


def test_selection_decides():
    code = HEAD + "x = torch.ones(3)\nclass N(nn.Module):\n    def forward(self, x):\n        return x\n"
    only = fixed(code, select=("MSP104",))
    assert "def construct" in only
    assert "torch.ones(3)" in only


def test_mint_side():
    assert body("y = torch.cat([x, x], dim=1)", api="mint") == "y = mint.cat([x, x], dim=1)"
    assert "class N(nn.Cell):\n    c = mint.nn.Conv2d(3, 4, 3)" in body(
        "class N(nn.Module):\n    c = nn.Conv2d(3, 4, 3)", api="mint"
    )


# --- composing -----------------------------------------------------------------------------------------


def draft(*changes: Change) -> Draft:
    return Draft("MSP405", Span(1, 0, 1, 1), Applicability.SAFE, changes)


def test_nested_drafts_are_applied_inside_the_slices_of_outer_ones():
    outer = draft(Change(0, 7, (Ref("mindspore.f"), "[", Slice(2, 6), "]")))
    inner = draft(Change(4, 5, ("Z",)))
    lost = draft(Change(0, 1, ("Q",)))
    composed = compose("g(a+b )", [inner, outer, lost])
    assert composed.spell_in(composed.text, {"mindspore.f": "ms.f"}) == "ms.f[a+Z ]"
    assert composed.applied == [outer, inner]


def test_crossing_drafts_are_refused_whole():
    one = draft(Change(0, 3, ("A",)))
    two = draft(Change(2, 5, ("B",)), Change(6, 7, ("C",)))
    composed = compose("abcdefgh", [one, two])
    assert composed.text == "Adefgh"
    assert composed.applied == [one]


# --- the command ---------------------------------------------------------------------------------------


def run(*arguments: str, stdin: str | None = None) -> SimpleNamespace:
    done = CliRunner().invoke(cli, ["check", *arguments], input=stdin)
    return SimpleNamespace(returncode=done.exit_code, stdout=done.stdout, stderr=done.stderr)


NET = "import torch\r\n\r\nx = torch.cat([a, b], dim=1)  # \u4e2d\u6587\r\n"


def test_writing_keeps_encoding_line_ends_and_mode(tmp_path):
    file = tmp_path / "net.py"
    file.write_bytes(b"\xef\xbb\xbf" + NET.encode())
    file.chmod(0o750)
    link = tmp_path / "link.py"
    link.symlink_to(file)
    done = run("--fix", "--unsafe-fixes", str(link))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fixed 1 places in 1 files; findings left: 0" in done.stdout
    data = file.read_bytes()
    assert (
        data
        == b"\xef\xbb\xbf"
        + "from mindspore import ops\r\n\r\nx = ops.cat([a, b], axis=1)  # \u4e2d\u6587\r\n".encode()
    )
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o750
    assert link.is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "net.py"]


def test_diff_writes_nothing(tmp_path):
    file = Path("net.py")
    file.write_text(NET, encoding="utf-8", newline="")
    before = file.read_bytes()
    done = run("--diff", "--unsafe-fixes", "net.py")
    assert done.returncode == 1
    assert file.read_bytes() == before
    assert "+x = ops.cat([a, b], axis=1)" in done.stdout
    assert "would fix 1 places in 1 files" in done.stderr
    Path("clean.py").write_text("x = 1\n", encoding="utf-8")
    assert run("--diff", "clean.py").returncode == 0


def test_standard_input_and_broken_files():
    done = run("--fix", "--unsafe-fixes", "-", stdin="import torch\nx = torch.ones(3)\n")
    assert done.stdout == "from mindspore import ops\nx = ops.ones(3)\n"
    Path("broken.py").write_text("import torch\nx = (\n", encoding="utf-8")
    assert run("--fix", "broken.py").returncode == 2
    assert Path("broken.py").read_text(encoding="utf-8") == "import torch\nx = (\n"


def test_json_carries_fixes_that_can_be_applied():
    code = "import torch\nimport torch.nn as nn\n\nc = nn.Conv2d(3, 4, 3)\n"
    Path("net.py").write_text(code, encoding="utf-8")
    done = run("--output-format", "json", "--select", "MSP4", "net.py")
    finding = json.loads(done.stdout)["findings"][0]
    assert finding["fix"]["applicability"] in ("safe", "unsafe")
    assert finding["fix"]["title"]
    lines = code.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:i]) for i in range(len(lines) + 1)]
    text = code
    for edit in sorted(finding["fix"]["edits"], key=lambda e: (e["line"], e["column"]), reverse=True):
        start = starts[edit["line"] - 1] + edit["column"]
        end = starts[edit["end_line"] - 1] + edit["end_column"]
        text = text[:start] + edit["text"] + text[end:]
    assert "import mindspore as ms\n" in text
    assert "c = ms.nn.Conv2d(3, 4, 3, has_bias=True, pad_mode='pad')" in text
    ast.parse(text)


def test_many_processes_give_the_same(tmp_path):
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text("import torch\nx = torch.ones(3)\n", encoding="utf-8")
    assert run("--fix", "--unsafe-fixes", "-j", "2", ".").returncode == 0
    for name in ("a.py", "b.py", "c.py"):
        assert Path(name).read_text(encoding="utf-8") == "from mindspore import ops\nx = ops.ones(3)\n"


@pytest.mark.parametrize(
    ("call", "after"),
    [
        ("x.transpose(1, 2)", "x.swapaxes(1, 2)"),
        ("x.expand(2, -1)", "x.broadcast_to((2, -1))"),
        ("x.expand((2, -1))", "x.broadcast_to((2, -1))"),
        (
            "x.expand(\n            2,  # rows\n            3,\n        )",
            "x.broadcast_to(\n            (2,  # rows\n            3),\n        )",
        ),
        ("x.expand(n)", "x.expand(n)"),
        ("x.expand(*n)", "x.expand(*n)"),
        ("x.max(1)", "x.max(1)"),
        ("x.transpose((0, 2, 1))", "x.transpose((0, 2, 1))"),
    ],
)
def test_torch_forms_that_graph_mode_refuses(call: str, after: str) -> None:
    code = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x, n):\n        return {}\n"
    assert fixed(code.format(call)) == code.format(after)
