"""`# noqa` and `# pylint: disable` mean the same in every front end."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from mindport.config import Config
from mindport.engine import Engine
from mindport.flake8 import Plugin

HEAD = "from mindspore import nn\n\n"


def lines_of(code: str, tmp_path) -> list[int]:
    file = tmp_path / "a.py"
    file.write_text(code, encoding="utf-8")
    return [f.line for f in Engine(Config()).check_file(file).findings]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("bn = nn.BatchNorm2d(3, momentum=0.1)\n", [3]),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # noqa\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # noqa: MSP201\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # noqa: E501,MSP2\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # noqa: MSP301\n", [3]),
        ("bn = nn.BatchNorm2d(\n    3,\n    momentum=0.1,\n)  # noqa: MSP201\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # pylint: disable=batchnorm-momentum-unconverted\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # pylint: disable=E9201\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # pylint: disable=all\n", []),
        ("bn = nn.BatchNorm2d(3, momentum=0.1)  # pylint: disable=line-too-long\n", [3]),
        ("# pylint: disable-next=E9201\nbn = nn.BatchNorm2d(3, momentum=0.1)\n", []),
        ("# pylint: disable=E9201\nbn = nn.BatchNorm2d(3, momentum=0.1)\n", []),
        (
            "# pylint: disable=E9201\na = nn.BatchNorm2d(3, momentum=0.1)\n"
            "# pylint: enable=E9201\nb = nn.BatchNorm2d(3, momentum=0.1)\n",
            [6],
        ),
        (
            "def f():  # pylint: disable=E9201\n    return nn.BatchNorm2d(3, momentum=0.1)\n\n\n"
            "def g():\n    return nn.BatchNorm2d(3, momentum=0.1)\n",
            [8],
        ),
        (
            "def f():\n    # pylint: disable=E9201\n    return nn.BatchNorm2d(3, momentum=0.1)\n\n\n"
            "b = nn.BatchNorm2d(3, momentum=0.1)\n",
            [8],
        ),
        ("# flake8: noqa\nbn = nn.BatchNorm2d(3, momentum=0.1)\n", []),
        ("# flake8: noqa: MSP201\nbn = nn.BatchNorm2d(3, momentum=0.1)\n", []),
        ("# flake8: noqa: MSP301\nbn = nn.BatchNorm2d(3, momentum=0.1)\n", [4]),
        ("# pylint: skip-file\nbn = nn.BatchNorm2d(3, momentum=0.1)\n", []),
        ('s = "# noqa"; bn = nn.BatchNorm2d(3, momentum=0.1)\n', [3]),
    ],
)
def test_suppressions(code, expected, tmp_path):
    assert lines_of(HEAD + code, tmp_path) == expected


def test_every_front_end_agrees_on_suppressions(tmp_path):
    code = HEAD + (
        "a = nn.BatchNorm2d(3, momentum=0.1)\n"
        "b = nn.BatchNorm2d(3, momentum=0.1)  # noqa: MSP201\n"
        "c = nn.BatchNorm2d(3, momentum=0.1)  # pylint: disable=batchnorm-momentum-unconverted\n"
        "d = nn.BatchNorm2d(\n    3,\n    momentum=0.1,  # noqa\n)\n"
        "# pylint: disable=E9201\n"
        "e = nn.BatchNorm2d(3, momentum=0.1)\n"
    )
    (tmp_path / "a.py").write_text(code)

    def run(*command: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, capture_output=True, text=True, check=False
        ).stdout

    ours = [
        line.split(":")[1]
        for line in run("mindport", "check", "a.py", "--output-format", "concise").splitlines()
        if "MSP" in line
    ]
    flake = [line.split(":")[1] for line in run("flake8", "--select=MSP", "a.py").splitlines()]
    lint = run("pylint", "--load-plugins=mindport.pylint", "--disable=all", "--enable=E9201", "a.py")
    pylint = [line.split(":")[1] for line in lint.splitlines() if "E9201" in line]
    assert ours == flake == pylint == ["3"]


def test_flake8_keeps_noqa_for_itself(tmp_path):
    code = HEAD + "a = nn.BatchNorm2d(3, momentum=0.1)  # noqa\n"
    plugin = Plugin(ast.parse(code), code.splitlines(keepends=True), str(tmp_path / "a.py"))
    assert len(list(plugin.run())) == 1
