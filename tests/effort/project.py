"""A small project to audit: two models that share a block, a training script, a notebook, a broken file."""

from __future__ import annotations

import json
from pathlib import Path

BLOCK = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm2d(width, momentum=0.1)
        self.conv = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(self.norm(x))) + x
"""
MODEL = """
import torch
from torch import nn
from .block import Block


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 10)

    def forward(self, x):
        return self.head(torch.flatten(self.blocks(x).mean((2, 3)), 1))
"""
TRAIN = """
import einops
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from shop.model import Net


def main(data):
    dist.init_process_group("nccl")
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=4):
        loss = torch.nn.functional.cross_entropy(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def write_project(folder: Path) -> Path:
    """The project below ``folder``; returns its root."""
    root = folder / "work"
    package = root / "shop"
    package.mkdir(parents=True)
    for name, text in (("__init__", ""), ("block", BLOCK), ("model", MODEL)):
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (root / "train.py").write_text(TRAIN, encoding="utf-8")
    return root


def notebook(*cells: str) -> str:
    """An ``.ipynb`` with these code cells, each after a text cell."""
    made: list[dict[str, object]] = []
    for cell in cells:
        made.append({"cell_type": "markdown", "source": ["# text"], "metadata": {}})
        made.append(
            {"cell_type": "code", "source": cell.splitlines(keepends=True), "metadata": {}, "outputs": []}
        )
    info = {"language_info": {"name": "python"}}
    return json.dumps({"cells": made, "metadata": info, "nbformat": 4, "nbformat_minor": 5})
