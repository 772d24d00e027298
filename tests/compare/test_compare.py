"""``compare`` without the frameworks: what is read, how weights are paired, what is reported."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import tomli
from click.testing import CliRunner

from mindport.catalog.load import checks_directory
from mindport.cli.main import cli
from mindport.compare.report import Comparison, Difference, ModeResult, as_object, as_text
from mindport.compare.spec import SpecError, read_arguments, read_input, read_place
from mindport.compare.weights import fits, layers, pair

TABLE = tomli.loads((checks_directory() / "compare" / "weights.toml").read_text(encoding="utf-8"))
SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "compare.schema.json").read_text(encoding="utf-8"))


def paired(torch: dict[str, tuple[int, ...]], mindspore: dict[str, tuple[int, ...]]):
    return pair(torch, mindspore, TABLE["names"], TABLE["ignored"])


def test_names_are_translated() -> None:
    found = paired(
        {
            "bn.weight": (3,),
            "bn.bias": (3,),
            "bn.running_mean": (3,),
            "bn.running_var": (3,),
            "bn.num_batches_tracked": (),
            "emb.weight": (5, 3),
            "conv.weight": (4, 3, 3),
            "rnn.weight_ih_l0": (16, 3),
        },
        {
            "bn.gamma": (3,),
            "bn.beta": (3,),
            "bn.moving_mean": (3,),
            "bn.moving_variance": (3,),
            "emb.embedding_table": (5, 3),
            "conv.weight": (4, 3, 1, 3),
            "rnn.weight_ih_l0": (16, 3),
        },
    )
    assert found.pairs["bn.weight"] == "bn.gamma"
    assert found.pairs["bn.running_var"] == "bn.moving_variance"
    assert found.pairs["conv.weight"] == "conv.weight"
    assert not found.torch_left
    assert not found.mindspore_left


def test_renamed_attributes_are_paired_in_order() -> None:
    found = paired(
        {"a.weight": (4, 3), "a.bias": (4,), "b.weight": (4, 3), "b.bias": (4,)},
        {"x.weight": (4, 3), "x.bias": (4,), "y.weight": (4, 3), "y.bias": (4,)},
    )
    assert found.pairs == {
        "a.weight": "x.weight",
        "a.bias": "x.bias",
        "b.weight": "y.weight",
        "b.bias": "y.bias",
    }
    assert layers(found.pairs) == {"a": "x", "b": "y"}


def test_what_has_no_partner_is_said() -> None:
    found = paired({"a.weight": (4, 3), "a.bias": (4,)}, {"a.weight": (4, 3), "z.gamma": (9,)})
    assert found.torch_left == ("a.bias",)
    assert found.mindspore_left == ("z.gamma",)


def test_shapes_fit_but_for_axes_of_one() -> None:
    assert fits((4, 3, 3), (4, 3, 1, 3))
    assert not fits((4, 3), (3, 4))


@pytest.mark.parametrize(
    ("text", "shape", "dtype", "low", "high"),
    [
        ("1,3,32,32", (1, 3, 32, 32), "float32", 0, 2),
        ("2,16:int64:0..100", (2, 16), "int64", 0, 100),
        ("4:bool", (4,), "bool", 0, 2),
    ],
)
def test_inputs(text: str, shape: tuple[int, ...], dtype: str, low: int, high: int) -> None:
    found = read_input(text)
    assert (found.shape, found.dtype, found.low, found.high) == (shape, dtype, low, high)


@pytest.mark.parametrize("text", ["", "a,b", "1,2:float99", "2:int64:5..5", "1;2"])
def test_bad_inputs_say_what_to_write(text: str) -> None:
    with pytest.raises(SpecError) as error:
        read_input(text)
    assert "\n" not in str(error.value)


def test_places_and_arguments(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text("")
    assert read_place(f"{file}:Net").name == "Net"
    for bad in (f"{file}", f"{file}:", "nowhere.py:Net"):
        with pytest.raises(SpecError):
            read_place(bad)
    assert read_arguments("3", "{'a': 1}").positional == (3,)
    for positional, keywords in (("x", ""), ("", "[1]"), ("(", "")):
        with pytest.raises(SpecError):
            read_arguments(positional, keywords)


def comparison(*layers: Difference, error: str = "", training: tuple[Difference, ...] = ()) -> Comparison:
    output = Difference("Net", 0.0, 0.0, True)
    modes = (ModeResult("pynative", None if error else output, (), layers, error),)
    return Comparison("a.py:Net", "b.py:Net", 1e-5, 3, (), (), modes, training)


def test_the_first_difference_is_named_in_both_languages() -> None:
    found = comparison(
        Difference("a", 0, 0, True), Difference("b", 0.5, 0.5, False), Difference("c", 1, 1, False)
    )
    assert not found.equal
    assert "first at b" in as_text(found, "en")
    assert "b" in as_text(found, "zh")
    assert comparison().equal


def test_every_kind_of_difference_has_words_and_fits_the_schema() -> None:
    details: dict[str, dict[str, object]] = {
        "shape": {"torch": [1], "mindspore": [2]},
        "dtype": {"torch": "float32", "mindspore": "float16"},
        "dropout": {"torch": 0.2, "mindspore": 0.8},
    }
    kinds = SCHEMA["$defs"]["difference"]["properties"]["kind"]["enum"]
    for kind in kinds:
        part = Difference("layer", float("inf"), 0.0, False, kind, details.get(kind, {}))
        found = comparison(part, training=(part,))
        for language in ("en", "zh"):
            assert "layer" in as_text(found, language)
            report = json.loads(json.dumps(as_object(found, language), allow_nan=False))
            jsonschema.validate(report, SCHEMA)
    jsonschema.validate(as_object(comparison(error="TypeError: no"), "en"), SCHEMA)


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["compare", "nowhere.py:A", "nowhere.py:B", "--input", "1"])
    assert result.exit_code == 2
    assert result.output.strip() == "mindport: nowhere.py: no such file"
