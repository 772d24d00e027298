"""The line model: what is counted, and that predictions behave."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mindport.config import Config
from mindport.effort.features import Features
from mindport.effort.lines import NONE, Lines, load_model, predict
from mindport.engine import Engine

CODE = '''"""A docstring about torch is no code."""
import torch
from torch import nn

# a comment


class Net(nn.Module):
    """Doc."""

    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x = x.to("cuda")
        return torch.relu(self.fc(x)).permute(0, 1)
'''


def counted(tmp_path: Path, code: str = CODE, name: str = "net.py") -> Features:
    file = tmp_path / name
    file.write_text(code, encoding="utf-8")
    result = Engine(Config(), measuring=True).check_file(file, name)
    assert result.features is not None
    return result.features


def test_lines_are_counted_once(tmp_path: Path) -> None:
    found = counted(tmp_path)
    assert found.kind == "model"
    assert found.code == 9
    assert found.names == 3  # class Net(nn.Module), nn.Linear, torch.relu
    assert found.modules == 3  # class, super().__init__(), forward
    assert found.imports == 2
    assert found.device == 1
    assert found.texts == 1


def test_files_are_told_apart_by_what_they_do(tmp_path: Path) -> None:
    script = CODE + "\n\noptimizer = torch.optim.SGD(Net(3).parameters(), 0.1)\n"
    assert counted(tmp_path, script).kind == "script"
    (tmp_path / "tests").mkdir()
    assert counted(tmp_path, CODE, "tests/test_net.py").kind == "test"
    assert counted(tmp_path, "import torch\nx = torch.ones(3)\n").kind == "other"


def test_a_range_is_in_order_and_grows_with_the_file(tmp_path: Path) -> None:
    model = load_model()
    found = counted(tmp_path)
    lines = predict(found, model, small=False)
    assert 0 < lines.low < lines.likely < lines.high
    more = predict(replace(found, names=found.names * 4, code=found.code * 4), model, small=False)
    assert more.likely > lines.likely
    assert predict(found, model, small=True).likely > lines.likely


def test_a_file_without_the_framework_is_not_touched(tmp_path: Path) -> None:
    model = load_model()
    nothing = replace(counted(tmp_path), names=0, methods=0, modules=0, texts=0)
    assert predict(nothing, model, small=True) == NONE
    assert Lines(1, 2, 3) + Lines(1, 1, 1) == Lines(2, 3, 4)
