"""``mindport lookup``: full names, short names, typos, many at once, JSON as in the contract."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from mindport.cli.main import cli


def run(*args: str):
    return CliRunner().invoke(cli, ["lookup", *args])


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("torch.cat", "torch.cat"),
        ("cat", "torch.cat"),
        ("F.gelu", "torch.nn.functional.gelu"),
        ("nn.Linear", "torch.nn.Linear"),
        ("x.view", "torch.Tensor.view"),
        ("Tensor.view", "torch.Tensor.view"),
        ("torch.nn.modules.conv.Conv2d", "torch.nn.Conv2d"),
        ("batchnorm2D", "torch.nn.BatchNorm2d"),
        ("x.size()", "torch.Tensor.size"),
        ("DataLoader", "torch.utils.data.DataLoader"),
    ],
)
def test_names_people_write(asked, name):
    (answer,) = json.loads(run(asked, "--format", "json").stdout)
    assert answer["name"] == name
    assert answer["known"] is True
    assert answer["nn"]["target"] or answer["mint"]["target"] or answer["note"]


def test_json_contract():
    answers = json.loads(run("torch.nn.Conv2d", "torch.no_such_thing", "--format", "json").stdout)
    first, second = answers
    assert first["nn"]["target"] == "mindspore.nn.Conv2d"
    assert first["mint"]["target"] == "mindspore.mint.nn.Conv2d"
    assert first["difference"] == first["nn"]["difference"]
    assert second["known"] is False
    assert second["name"] == "torch.no_such_thing"
    assert second["nn"] is None
    assert second["mint"] is None
    mint = json.loads(run("torch.nn.Conv2d", "--format", "json", "--api", "mint").stdout)[0]
    assert mint["difference"] == mint["mint"]["difference"]


def test_text_in_both_languages_and_typos():
    english = run("torch.nn.Conv2d")
    assert english.exit_code == 0
    assert "mindspore.nn.Conv2d" in english.output
    assert run("torch.nn.Conv2d", "--language", "zh").output != english.output
    typo = run("conv2dd", "torch.cat")
    assert typo.exit_code == 1
    assert "torch.nn.Conv2d" in typo.output
    assert "mindspore.ops.cat" in typo.output
    assert run("()").exit_code == 1


def test_targets_say_where_they_exist():
    (answer,) = json.loads(run("torch.nn.Conv2d", "--format", "json").stdout)
    assert answer["nn"]["versions"][0] == "2.7.0"
    assert answer["nn"]["versions"][-1] == "2.10.0"
    assert answer["nn"]["platforms"] == ["ascend", "gpu", "cpu"]
    assert answer["proof"]["max_difference"]["nn"] < 1e-4
    assert answer["porters"]["mint"][0]["target"] == "mindspore.mint.nn.Conv2d"
