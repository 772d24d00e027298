"""What names resolve to: aliases, re-exports, partial, star imports, guards, shadowing, other files."""

from __future__ import annotations

import ast
import textwrap

import pytest

from mindport.config import Config
from mindport.engine import Engine
from mindport.semantics.values import Named
from mindport.source.text import from_text


def resolved(code: str, tmp_path, files=()) -> set[str]:
    """The external names the last expression of a module can be."""
    for name, text in dict(files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    file = tmp_path / "pkg" / "main.py" if files else tmp_path / "main.py"
    file.parent.mkdir(exist_ok=True)
    engine = Engine(Config())
    source = from_text("main.py", textwrap.dedent(code), file)
    module = engine.project.module_for(source)
    nodes = [(n, c) for kind in (ast.Name, ast.Attribute) for n, c in module.scopes.nodes[kind]]
    last = max(
        (n for n, _ in nodes if isinstance(n.ctx, ast.Load)),
        key=lambda n: (n.end_lineno, n.end_col_offset, -n.col_offset),
    )
    context = dict(nodes)[last]
    return {c.value.name for c in module.resolve(last, context) if isinstance(c.value, Named)}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import torch\ntorch.nn.Conv2d", {"torch.nn.Conv2d"}),
        ("import torch.nn as nn\nnn.Conv2d", {"torch.nn.Conv2d"}),
        ("from torch import nn\nnn.Conv2d", {"torch.nn.Conv2d"}),
        ("from torch.nn import Conv2d as C\nC", {"torch.nn.Conv2d"}),
        ("from torch.nn.modules.conv import Conv2d\nConv2d", {"torch.nn.Conv2d"}),
        ("import torch.nn.modules.conv as m\nm.Conv2d", {"torch.nn.Conv2d"}),
        ("from torch import nn\nnn.modules.batchnorm.BatchNorm2d", {"torch.nn.BatchNorm2d"}),
        ("import torch.nn.functional as F\nF.gelu", {"torch.nn.functional.gelu"}),
        ("from torch import *\ncat", {"torch.cat"}),
        ("from torch import nn\nnorm = nn.BatchNorm2d\nnorm", {"torch.nn.BatchNorm2d"}),
        ("from torch import nn\ndef f(norm=nn.BatchNorm2d):\n    return norm", {"torch.nn.BatchNorm2d"}),
        ("from torch import nn\nnn = 3\nnn", set()),
        ("from torch import nn\ndef f(nn):\n    return nn.Conv2d", set()),
        (
            "from torch import nn\nclass A:\n    nn = 1\n    def f(self):\n        return nn.Conv2d",
            {"torch.nn.Conv2d"},
        ),
        (
            "from torch import nn\nif x:\n    n = nn.ReLU\nelse:\n    n = nn.GELU\nn",
            {"torch.nn.ReLU", "torch.nn.GELU"},
        ),
        ("import torch\nx = [torch.cat for torch in y]\ntorch.cat", {"torch.cat"}),
        ("import torch\n[torch.cat for torch in y]", set()),
        ("from mindspore.nn.layer.conv import Conv2d\nConv2d", {"mindspore.nn.Conv2d"}),
        ("from mindspore.common.tensor import Tensor\nTensor", {"mindspore.Tensor"}),
        ("import mindspore as ms\nms.common.Parameter", {"mindspore.Parameter"}),
        ("zip", {"builtins.zip"}),
        ("def zip():\n    pass\nzip", set()),
        ("x = x\nx", set()),
        ("a = b\nb = a\na", set()),
    ],
)
def test_resolution_in_one_file(code, names, tmp_path):
    assert resolved(code, tmp_path) == names


PACKAGE = {
    "pkg/__init__.py": "",
    "pkg/compat.py": "from torch import nn\nimport torch\nMOMENTUM = 0.1\n",
    "pkg/layers/__init__.py": "from .conv import Block as B\n",
    "pkg/layers/conv.py": "from torch.nn import Conv2d\nclass Block(Conv2d):\n    pass\n",
    "pkg/star.py": "from torch.nn import Linear\n",
}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("from .compat import nn\nnn.Conv2d", {"torch.nn.Conv2d"}),
        ("from pkg.compat import torch\ntorch.cat", {"torch.cat"}),
        ("from . import compat\ncompat.nn.ReLU", {"torch.nn.ReLU"}),
        ("from .star import *\nLinear", {"torch.nn.Linear"}),
        ("from .layers.conv import Conv2d\nConv2d", {"torch.nn.Conv2d"}),
        ("from .nowhere import nn\nnn.Conv2d", set()),
    ],
)
def test_resolution_across_files(code, names, tmp_path):
    assert resolved(code, tmp_path, PACKAGE) == names


def found(code: str, tmp_path, files=()) -> list[tuple[int, str]]:
    for name, text in dict(files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    file = tmp_path / ("pkg/main.py" if files else "main.py")
    file.write_text(textwrap.dedent(code))
    return [(f.line, f.code) for f in Engine(Config()).check_file(file).findings]


def test_ancestry_goes_through_other_files(tmp_path):
    files = {
        "pkg/__init__.py": "",
        "pkg/base.py": "from mindspore import nn\nclass Base(nn.Cell):\n    pass\n",
        "pkg/middle.py": "from .base import Base as Root\nclass Middle(Root):\n    pass\n",
    }
    code = "from .middle import Middle\n\n\nclass Net(Middle):\n    def forward(self, x):\n        return x\n"
    assert found(code, tmp_path, files) == [(5, "MSP101")]


def test_constants_come_from_other_files(tmp_path):
    files = {"pkg/__init__.py": "", "pkg/config.py": "BN_MOMENTUM = 0.1\n"}
    code = "from mindspore import nn\nfrom .config import BN_MOMENTUM\nbn = nn.BatchNorm2d(3, momentum=BN_MOMENTUM)\n"
    assert found(code, tmp_path, files) == [(3, "MSP201")]


def test_cyclic_classes_and_imports_end(tmp_path):
    files = {
        "pkg/__init__.py": "from .a import *\n",
        "pkg/a.py": "from .b import B\nfrom .main import *\nclass A(B):\n    pass\n",
        "pkg/b.py": "from .a import A\nclass B(A):\n    pass\n",
    }
    code = "from .a import A\nfrom mindspore import nn\nclass Net(A, nn.Cell):\n    def forward(self, x):\n        return x\n"
    assert found(code, tmp_path, files) == [(4, "MSP101")]


def test_guarded_torch_is_no_leftover(tmp_path):
    code = (
        "import mindspore\n"
        "try:\n    import torch\nexcept ImportError:\n    torch = None\n"
        "def f(x):\n    return torch.backends.cudnn.benchmark, torch.save(x)\n"
    )
    assert found(code, tmp_path) == []


def test_wrappers_of_batchnorm(tmp_path):
    code = """\
    from mindspore import nn


    class BN(nn.BatchNorm2d):
        def __init__(self, channels, momentum=0.1):
            super().__init__(channels, momentum=momentum)


    class Thin(nn.BatchNorm2d):
        pass


    a = Thin(3, momentum=0.1)
    kwargs = {"momentum": 0.1}
    b = nn.BatchNorm2d(3, **kwargs)
    c = nn.BatchNorm2d(3, **dict(momentum=0.1))
    """
    lines = [line for line, code_ in found(code, tmp_path) if code_ == "MSP201"]
    assert lines == [6, 13, 14, 16]


def test_a_package_that_re_exports_everything_is_not_followed(tmp_path, monkeypatch):
    """Looking one name up through hundreds of star imports would parse the whole project, name by name."""
    from mindport.semantics import project

    files = {"pkg/__init__.py": "".join(f"from .m{i} import *\n" for i in range(40))}
    files |= {f"pkg/m{i}.py": "x = 1\n" for i in range(40)}
    loaded = []
    original = project.Project._load
    monkeypatch.setattr(
        project.Project, "_load", lambda self, path: loaded.append(path) or original(self, path)
    )
    code = "from . import *\nimport torch\n" + "".join(f"y{i} = name_{i}\n" for i in range(50))
    assert found(code, tmp_path, files) == []
    assert len(loaded) < 200
