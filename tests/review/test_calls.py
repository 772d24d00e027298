"""Review: what counts as the same padding, what a left-out expression and an inverted probability are."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindport.config import Config
from mindport.review.align import Pair
from mindport.review.run import Reviewer

TORCH = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self, config, p=0.1, k=3):\n        self.a = {}\n"
PORT = "from mindspore import nn, ops\n\n\nclass Net(nn.Cell):\n    def __init__(self, config, p=0.1, k=3):\n        self.a = {}\n"
CONV, POOL = "nn.Conv2d(3, 4, {}, bias=False)", "nn.Conv2d(3, 4, {})"


def found(folder: Path, original: str, port: str) -> list[str]:
    (folder / "original.py").write_text(TORCH.format(original), encoding="utf-8")
    (folder / "port.py").write_text(PORT.format(port), encoding="utf-8")
    pair = Pair(folder / "port.py", folder / "original.py")
    return [finding.message for finding in Reviewer(Config()).review_pair(pair).findings]


@pytest.mark.parametrize(
    ("original", "port"),
    [
        (CONV.format("3, 1, 1"), POOL.format("3")),
        (CONV.format("1, 2"), POOL.format("1, 2")),
        (CONV.format("3"), POOL.format("3, pad_mode='valid'")),
        (CONV.format("5, padding=2"), POOL.format("5, pad_mode='pad', padding=2")),
        (CONV.format("3, dilation=2, padding=2"), POOL.format("3, dilation=2")),
        (CONV.format("3, padding=(1, 2)"), POOL.format("3, pad_mode='pad', padding=(1, 1, 2, 2)")),
        (CONV.format("3, padding='same'"), POOL.format("3")),
        (CONV.format("config.k, padding=config.p"), POOL.format("config.k")),
        (CONV.format("config.k, stride=config.k"), POOL.format("config.k, stride=config.k")),
        (CONV.format("3, stride=config.s"), POOL.format("3, stride=config.s")),
        ("nn.Dropout(config.p)", "nn.Dropout(p=config.p)"),
        ("nn.Dropout(config.p)", "nn.Dropout(keep_prob=1 - config.p)"),
        ("nn.Dropout(p)", "nn.Dropout(keep_prob=p)"),
        ("nn.Dropout(0.1)", "nn.Dropout(keep_prob=0.9)"),
        ("nn.Dropout()", "nn.Dropout()"),
        ("nn.BatchNorm2d(4, momentum=config.m)", "nn.BatchNorm2d(4, momentum=1 - config.m)"),
        ("nn.BatchNorm2d(4, momentum=p)", "nn.BatchNorm2d(4, momentum=p)"),
        ("nn.LayerNorm(4, eps=p)", "nn.LayerNorm([4], epsilon=p)"),
        ("nn.MaxPool2d(3, 2, 1)", "nn.MaxPool2d(3, 2, pad_mode='pad', padding=1)"),
        ("nn.AvgPool2d(2)", "nn.AvgPool2d(2, 2)"),
    ],
)
def test_what_amounts_to_the_same_is_quiet(tmp_path, original, port):
    assert found(tmp_path, original, port) == []


@pytest.mark.parametrize(
    ("original", "port", "said"),
    [
        (CONV.format("3"), POOL.format("3"), "pad_mode='same'"),
        (CONV.format("3, 2, 1"), POOL.format("3, 2"), "pad_mode='same'"),
        (CONV.format("4, padding=1"), POOL.format("4"), "pad_mode='same'"),
        (
            CONV.format("config.k, stride=config.s"),
            POOL.format("config.k, stride=config.s"),
            "pad_mode='same'",
        ),
        (CONV.format("3, padding=1"), POOL.format("3, pad_mode='valid'"), "pad_mode='pad', padding=1"),
        (CONV.format("3, padding=1"), POOL.format("3, pad_mode='pad'"), "padding=0"),
        ("nn.Conv2d(3, 4, 1)", POOL.format("1, pad_mode='valid'"), "has_bias=False"),
        ("nn.MaxPool2d(3, 2, 1)", "nn.MaxPool2d(3, 2)", "pad_mode='pad', padding=1"),
        ("nn.MaxPool2d(2)", "nn.MaxPool2d(2)", "stride=1"),
        ("nn.Dropout(config.p)", "nn.Dropout(config.p)", "p=1 - config.p"),
        ("nn.Dropout(config.p)", "nn.Dropout(p=1 - config.p)", "p=1 - config.p"),
        ("nn.Dropout(config.p)", "nn.Dropout()", "p=config.p"),
        ("nn.Dropout(0.1)", "nn.Dropout(0.1)", "p=0.9"),
        ("nn.BatchNorm2d(4, momentum=config.m)", "nn.BatchNorm2d(4, momentum=config.m)", "1 - config.m"),
        ("nn.BatchNorm2d(4, momentum=0.01)", "nn.BatchNorm2d(4)", "momentum=0.99"),
        ("nn.LayerNorm(4, eps=config.eps)", "nn.LayerNorm([4])", "epsilon=config.eps"),
        ("nn.GELU()", "nn.GELU()", "approximate=False"),
        ("nn.LeakyReLU()", "nn.LeakyReLU()", "alpha=0.01"),
        ("nn.SmoothL1Loss()", "nn.SmoothL1Loss()", "reduction='mean'"),
        ("nn.InstanceNorm2d(4)", "nn.InstanceNorm2d(4)", "affine=False"),
        ("nn.BatchNorm2d(4)", "nn.BatchNorm2d(4, use_batch_statistics=True)", "use_batch_statistics=None"),
        ("nn.Conv2d(4, 4, 1, groups=2)", POOL.format("1, has_bias=True"), "group=2"),
        ("torch.meshgrid(p, k)", "ops.meshgrid(p, k)", "indexing='ij'"),
        ("torch.var(k, -1)", "ops.var(k, -1)", "ddof=1"),
    ],
)
def test_silent_differences_are_said(tmp_path, original, port, said):
    messages = found(tmp_path, original, port)
    assert len(messages) == 1, messages
    assert said in messages[0]
