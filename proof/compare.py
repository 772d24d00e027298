"""Ten seeded faults, each in a small torch model and port of its own: does `mindport compare` name the first layer?

Each pair is run twice: the right port must pass, the faulty one must fail with the expected layer first. Run inside
Python 3.11 with mindspore 2.10.0, torch 2.13.0 and numpy < 2: ``python proof/compare.py [NAME]``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """One pair. ``layers`` and ``flow`` build both sides; ``good`` becomes ``bad`` in the faulty port."""

    name: str
    torch_layers: str
    torch_flow: str
    layers: str
    flow: str
    good: str
    bad: str
    layer: str
    phase: str
    shape: str
    options: tuple[str, ...] = ()


TORCH = """
import torch
from torch import nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
{layers}

    def forward(self, x):
{flow}
        return x


def build():
    net = Net()
    net.train()
    return net
"""
PORT = """
import mindspore as ms
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
{layers}

    def construct(self, x):
{flow}
        return x


def build():
    net = Net()
    net.set_train()
    return net
"""
CONV = "self.conv = nn.Conv2d(3, 4, 3, pad_mode='valid', has_bias=True)"

FAULTS = (
    Fault(
        "momentum",
        "self.conv = nn.Conv2d(3, 4, 3)\nself.bn = nn.BatchNorm2d(4, momentum=0.1)",
        "x = self.bn(self.conv(x))",
        f"{CONV}\nself.bn = nn.BatchNorm2d(4, momentum=0.9)",
        "x = self.bn(self.conv(x))",
        "momentum=0.9",
        "momentum=0.1",
        "bn",
        "attribute",
        "2,3,8,8",
    ),
    Fault(
        "eps",
        "self.fc = nn.Linear(6, 8)\nself.norm = nn.LayerNorm(8)\nself.out = nn.Linear(8, 2)",
        "x = self.out(self.norm(self.fc(x)))",
        "self.fc = nn.Dense(6, 8)\nself.norm = nn.LayerNorm([8], epsilon=1e-5)\nself.out = nn.Dense(8, 2)",
        "x = self.out(self.norm(self.fc(x)))",
        ", epsilon=1e-5",
        "",
        "norm",
        "eval attribute",
        "4,6",
    ),
    Fault(
        "padding",
        "self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.ReLU())\nself.fc = nn.Linear(4, 2)",
        "x = self.fc(self.stem(x).mean((2, 3)))",
        "self.stem = nn.SequentialCell(nn.Conv2d(3, 4, 3, 2, pad_mode='pad', padding=1, has_bias=True), "
        "nn.ReLU())\nself.fc = nn.Dense(4, 2)",
        "x = self.fc(self.stem(x).mean((2, 3)))",
        "pad_mode='pad', padding=1",
        "pad_mode='same'",
        "stem.0",
        "eval",
        "2,3,8,8",
    ),
    Fault(
        "bias",
        "self.a = nn.Linear(6, 8)\nself.b = nn.Linear(8, 2)",
        "x = self.b(F.relu(self.a(x)))",
        "self.a = nn.Dense(6, 8, has_bias=True)\nself.b = nn.Dense(8, 2)",
        "x = self.b(ops.relu(self.a(x)))",
        "has_bias=True",
        "has_bias=False",
        "a",
        "eval",
        "4,6",
    ),
    Fault(
        "dropout",
        "self.fc = nn.Linear(6, 8)\nself.drop = nn.Dropout(0.1)\nself.out = nn.Linear(8, 2)",
        "x = self.out(self.drop(self.fc(x)))",
        "self.fc = nn.Dense(6, 8)\nself.dropout = nn.Dropout(p=0.1)\nself.out = nn.Dense(8, 2)",
        "x = self.out(self.dropout(self.fc(x)))",
        "p=0.1",
        "0.1",
        "drop",
        "random",
        "4,6",
    ),
    Fault(
        "gelu",
        "self.fc = nn.Linear(6, 8)\nself.act = nn.GELU()\nself.out = nn.Linear(8, 2)",
        "x = self.out(self.act(self.fc(x)))",
        "self.lin = nn.Dense(6, 8)\nself.activation = nn.GELU(approximate=False)\nself.head = nn.Dense(8, 2)",
        "x = self.head(self.activation(self.lin(x)))",
        "approximate=False",
        "",
        "act",
        "eval",
        "4,6",
    ),
    Fault(
        "stride",
        "self.conv = nn.Conv2d(3, 4, 3)\nself.pool = nn.MaxPool2d(2)\nself.fc = nn.Linear(4, 2)",
        "x = self.fc(self.pool(self.conv(x)).mean((2, 3)))",
        f"{CONV}\nself.pool = nn.MaxPool2d(2, 2)\nself.fc = nn.Dense(4, 2)",
        "x = self.fc(self.pool(self.conv(x)).mean((2, 3)))",
        "nn.MaxPool2d(2, 2)",
        "nn.MaxPool2d(2)",
        "pool",
        "eval",
        "2,3,8,8",
    ),
    Fault(
        "weight order",
        "self.qkv = nn.Linear(8, 24)\nself.proj = nn.Linear(8, 8)",
        "q, k, v = self.qkv(x).chunk(3, -1)\nx = self.proj(torch.softmax(q @ k.transpose(-2, -1), -1) @ v)",
        "self.qkv = nn.Dense(8, 24)\nself.proj = nn.Dense(8, 8)",
        "q, k, v = ops.chunk(self.qkv(x), 3, -1)\n"
        "x = self.proj(ops.matmul(ops.softmax(ops.matmul(q, k.swapaxes(-2, -1)), -1), v))",
        "q, k, v =",
        "k, v, q =",
        "proj",
        "eval",
        "2,5,8",
    ),
    Fault(
        "dtype",
        "self.a = nn.Linear(6, 8)\nself.b = nn.Linear(8, 2)",
        "x = self.b(self.a(x))",
        "self.a = nn.Dense(6, 8)\nself.b = nn.Dense(8, 2, dtype=ms.float32)",
        "x = self.b(self.a(x).astype(ms.float32))",
        "dtype=ms.float32)",
        "dtype=ms.float32)\nself.a.to_float(ms.float16)",
        "a",
        "eval dtype",
        "4,6",
    ),
    Fault(
        "missing set_train",
        "self.conv = nn.Conv2d(3, 4, 3)\nself.bn = nn.BatchNorm2d(4)",
        "x = self.bn(self.conv(x))",
        f"{CONV}\nself.bn = nn.BatchNorm2d(4)",
        "x = self.bn(self.conv(x))",
        "    net.set_train()\n",
        "",
        "bn",
        "training",
        "2,3,8,8",
        ("--train",),
    ),
)


def source(template: str, layers: str, flow: str) -> str:
    """A module's text."""
    return template.format(layers=textwrap.indent(layers, " " * 8), flow=textwrap.indent(flow, " " * 8))


def faulty_source(fault: Fault) -> tuple[str, str]:
    """The right port and the faulty one."""
    right = source(PORT, fault.layers, fault.flow)
    if fault.good in right:
        wrong = right.replace(fault.good, textwrap.indent(fault.bad, " " * 8).strip(" "), 1)
    else:
        raise ValueError(f"{fault.name}: {fault.good!r} is not in the port")
    return right, wrong


def run(fault: Fault, port: str, folder: Path) -> tuple[int, dict[str, object]]:
    """`mindport compare` as people run it: exit code and JSON."""
    (folder / "original.py").write_text(source(TORCH, fault.torch_layers, fault.torch_flow), encoding="utf-8")
    (folder / "port.py").write_text(port, encoding="utf-8")
    command = [sys.executable, "-m", "mindport", "compare", "original.py:build", "port.py:build"]
    process = subprocess.run(
        [*command, "--input", fault.shape, "--format", "json", *fault.options],
        cwd=folder,
        env={**os.environ, "GLOG_v": "3"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    try:
        return process.returncode, json.loads(process.stdout)
    except ValueError:
        return process.returncode, {"stderr": process.stderr}


def judge(fault: Fault, folder: Path) -> str:
    """Empty when the right port passes and the faulty one fails at the right place."""
    right, wrong = faulty_source(fault)
    code, report = run(fault, right, folder)
    if code != 0 or not report.get("passed"):
        return f"the right port fails: {report.get('first') or report.get('errors') or report}"
    code, report = run(fault, wrong, folder)
    first = report.get("first")
    if code == 0 or not isinstance(first, dict):
        return f"the fault is not found: {report.get('errors')}"
    if (
        first["layer"].removesuffix(".running_mean") != fault.layer
        or first["phase"] not in fault.phase.split()
    ):
        return f"another place first: {first}"
    print(f"ok   {fault.name}: {first['phase']} {first['layer']} {first['class']}", flush=True)
    return ""


def main() -> int:
    """Run all faults, or those named; 0 when all hold."""
    wanted = sys.argv[1:]
    failed = 0
    for fault in FAULTS:
        if wanted and fault.name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            reason = judge(fault, Path(folder))
        if reason:
            failed += 1
            print(f"FAIL {fault.name}: {reason}", flush=True)
    print(f"{len(FAULTS) if not wanted else len(wanted)} faults, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
