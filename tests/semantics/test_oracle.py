"""With the oracle there are more findings or surer ones, never fewer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from mindport.config import Config
from mindport.deep import AstroidOracle
from mindport.engine import Engine

FACTORY = """
from mindspore import nn


class Base(nn.Cell):
    pass


BASES = {"plain": Base}


class Net(BASES["plain"]):
    def forward(self, x):
        return x
"""


def codes(engine: Engine, file: Path) -> list[str]:
    return [f.code for f in engine.check_file(file).findings]


def test_a_base_class_out_of_a_table_is_found(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(FACTORY)
    assert "MSP101" not in codes(Engine(Config()), file)
    assert "MSP101" in codes(Engine(Config(), oracle=AstroidOracle()), file)


def test_a_constant_behind_a_function_is_found(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "from mindspore import nn\n\ndef momentum():\n    return 0.1\n\n"
        "bn = nn.BatchNorm2d(3, momentum=momentum())\n"
    )
    plain, deep = codes(Engine(Config()), file), codes(Engine(Config(), oracle=AstroidOracle()), file)
    assert "MSP201" in deep
    assert set(plain) <= set(deep)


def test_the_other_front_ends_never_load_astroid() -> None:
    code = (
        "import sys, ast, mindport.cli.main, mindport.engine, mindport.flake8\n"
        "from mindport.engine import Engine\nfrom mindport.config import Config\n"
        "Engine(Config()).check_bytes(b'import torch', 'a.py')\n"
        "print('astroid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
