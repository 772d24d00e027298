"""Eleven faults of ports, seeded one at a time: ``mindport compare`` must name the layer each begins at.

``python proof/compare.py``: needs torch and MindSpore. The sound port must be found equal in both modes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from mindport.cli.main import cli

TORCH = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.act = nn.GELU()
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        return self.drop(self.act(self.bn(self.conv(x))))


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.bn0 = nn.BatchNorm2d(width)
        self.block = Block(width)
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        x = self.block(torch.relu(self.bn0(self.stem(x))))
        x = self.norm(x.mean(dim=(2, 3)))
        x = self.query(x) * self.key(x).sigmoid()
        return self.head(x)
"""

PORT = """
import mindspore as ms
from mindspore import nn, ops


class Block(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(width, momentum=0.9)
        self.act = nn.GELU(approximate=False)
        self.drop = nn.Dropout(p=0.2)

    def construct(self, x):
        return self.drop(self.act(self.bn(self.conv(x))))


class Net(nn.Cell):
    def __init__(self, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn0 = nn.BatchNorm2d(width, momentum=0.9)
        self.block = Block(width)
        self.norm = nn.LayerNorm([width], epsilon=1e-5)
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.head = nn.Dense(width, 5)

    def construct(self, x):
        x = self.block(ops.relu(self.bn0(self.stem(x))))
        x = self.norm(x.mean(axis=(2, 3)))
        x = self.query(x) * ops.sigmoid(self.key(x))
        return self.head(x)
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """A change of the port and the layer it must be blamed on."""

    name: str
    old: str
    new: str
    layer: str


BN = "self.bn = nn.BatchNorm2d(width, momentum=0.9)"
FAULTS = (
    Fault("momentum", BN, "self.bn = nn.BatchNorm2d(width, momentum=0.1)", "block.bn"),
    Fault("eps", "epsilon=1e-5", "epsilon=1e-2", "norm"),
    Fault("padding", 'stride=2, pad_mode="pad", padding=1', 'stride=2, pad_mode="same"', "block.conv"),
    Fault(
        "bias",
        "self.head = nn.Dense(width, 5)",
        "self.head = nn.Dense(width, 5, has_bias=False)",
        "head.bias",
    ),
    Fault("dropout", "nn.Dropout(p=0.2)", "nn.Dropout(p=0.8)", "block.drop"),
    Fault("gelu", "approximate=False", "approximate=True", "block.act"),
    Fault("stride", "3, stride=2", "3, stride=1", "block.conv"),
    Fault(
        "weight order",
        "self.query(x) * ops.sigmoid(self.key(x))",
        "self.key(x) * ops.sigmoid(self.query(x))",
        "head",
    ),
    Fault("dtype", "self.head(x)\n", "self.head(x).astype(ms.float16)\n", "Net"),
    Fault(
        "missing set_train",
        "    def construct(self, x):\n        x = self.block",
        "    def set_train(self, mode=True):\n        return self\n\n    def construct(self, x):\n        x = self.block",
        "Net",
    ),
    Fault(
        "frozen statistics",
        BN,
        "self.bn = nn.BatchNorm2d(width, momentum=0.9, use_batch_statistics=False)",
        "block.bn",
    ),
)


def run(folder: Path, port: str, *more: str) -> tuple[int, dict[str, object]]:
    """The exit code and the JSON report."""
    (folder / "torch_net.py").write_text(TORCH, encoding="utf-8")
    file = folder / f"port_{abs(hash(port))}.py"
    file.write_text(port, encoding="utf-8")
    command = [
        "compare",
        f"{folder / 'torch_net.py'}:Net",
        f"{file}:Net",
        "--input",
        "2,3,8,8:float32",
        "--format",
        "json",
    ]
    result = CliRunner().invoke(cli, [*command, *more])
    if result.exit_code == 2:
        return 2, {"first": {"name": result.output.strip(), "reason": ""}}
    return result.exit_code, json.loads(result.stdout)


def main() -> int:
    """Run the sound port and the faults."""
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        code, report = run(folder, PORT)
        print(f"sound port: exit {code}, first difference {report['first']}")
        bad += code != 0
        for fault in FAULTS:
            assert fault.old in PORT, fault.name
            code, report = run(folder, PORT.replace(fault.old, fault.new), "--mode", "pynative")
            first = report["first"]
            found = first["name"] if isinstance(first, dict) else None
            good = code == 1 and found == fault.layer
            bad += not good
            print(
                f"{fault.name}: {'found at' if good else 'WRONG:'} {found} ({first['reason'] if isinstance(first, dict) else ''})"
            )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
