"""Mapping weights, aligning layers and judging two records, without any framework."""

from __future__ import annotations

import json

import jsonschema
import pytest
from click.testing import CliRunner
from conftest import ROOT

from mindport.cli.main import cli
from mindport.compare.job import Job, JobError, read_input, read_side, side_task, table
from mindport.compare.judge import Distance, Judge, layer_pairs
from mindport.compare.weights import Entry, match
from mindport.reports.compare import WORDS, compare_lines, compare_object, to_json

NAMES = table()["names"]


def test_names_of_norms_embeddings_and_conv1d():
    theirs = [
        Entry("bn.weight", (4,)),
        Entry("bn.running_var", (4,)),
        Entry("emb.weight", (9, 4)),
        Entry("conv.weight", (4, 3, 5)),
        Entry("rnn.weight_ih_l0_reverse", (8, 4)),
    ]
    ours = [
        Entry("bn.moving_variance", (4,)),
        Entry("bn.gamma", (4,)),
        Entry("emb.embedding_table", (9, 4)),
        Entry("conv.weight", (4, 3, 1, 5)),
        Entry("rnn.weight_ih_l0_reverse", (8, 4)),
    ]
    assert match(theirs, ours, NAMES) == {
        "bn.weight": "bn.gamma",
        "bn.running_var": "bn.moving_variance",
        "emb.weight": "emb.embedding_table",
        "conv.weight": "conv.weight",
        "rnn.weight_ih_l0_reverse": "rnn.weight_ih_l0_reverse",
    }


def test_renamed_attributes_are_mapped_by_order_and_shape():
    theirs = [Entry("a.fc1.weight", (4, 3)), Entry("a.fc1.bias", (4,)), Entry("a.norm.weight", (4,))]
    ours = [Entry("b.dense.weight", (4, 3)), Entry("b.dense.bias", (4,)), Entry("b.ln.gamma", (4,))]
    assert match(theirs, ours, NAMES) == {
        "a.fc1.weight": "b.dense.weight",
        "a.fc1.bias": "b.dense.bias",
        "a.norm.weight": "b.ln.gamma",
    }


def test_a_lost_bias_leaves_the_weight_mapped():
    theirs = [Entry("x.fc.weight", (4, 3)), Entry("x.fc.bias", (4,))]
    assert match(theirs, [Entry("y.weight", (4, 3))], NAMES) == {"x.fc.weight": "y.weight"}


def test_another_shape_is_not_mapped():
    assert match([Entry("a.weight", (3, 4))], [Entry("a.weight", (4, 3))], NAMES) == {}


def test_arguments_are_read_and_refused(tmp_path):
    assert read_input("2,16:int64:0..100").high == 100
    assert read_input("1,3").dtype == "float32"
    for bad in ("a", "2:complex9", "2:int64:5..5"):
        with pytest.raises(JobError):
            read_input(bad)
    file = tmp_path / "m.py"
    file.write_text("", encoding="utf-8")
    assert read_side(f"{file}:Net", "3", "{'a': 1}").args == (3,)
    for bad in (
        (f"{file}", None, None),
        ("none.py:Net", None, None),
        (f"{file}:Net", "open()", None),
        (f"{file}:Net", None, "3"),
    ):
        with pytest.raises(JobError):
            read_side(*bad)
    side = read_side(f"{file}:Net", None, None)
    task = side_task(Job(side, side, (read_input("2,3"),)), side, "graph")
    assert json.loads(json.dumps(task))["mode"] == "graph"


def layer(name, kind="Linear", leaf=True, **more):
    return {
        "name": name,
        "class": kind,
        "leaf": leaf,
        "built": True,
        "training": True,
        "attributes": {},
        **more,
    }


def call(name, key, shape=(2, 3), dtype="float32", **more):
    return {"layer": name, "outputs": [{"key": key, "shape": list(shape), "dtype": dtype}], **more}


def records():
    original = {
        "errors": {},
        "state": [
            {"name": "fc.weight", "shape": [3, 3], "trainable": True},
            {"name": "bn.running_mean", "shape": [3], "trainable": False},
            {"name": "bn.num_batches_tracked", "shape": [], "trainable": False},
        ],
        "layers": [
            layer("", "Net", False),
            layer("fc"),
            layer("act", "ReLU"),
            layer("bn", "BatchNorm1d", attributes={"eps": 1e-5}),
        ],
        "eval": [call("fc", "1"), call("act", "1"), call("bn", "1"), call("", "1")],
        "train": [call("fc", "1"), call("bn", "1", random=True)],
        "outputs": [{"key": "1", "shape": [2, 3], "dtype": "float32"}],
        "gradients": {"fc.weight": "1", "other": None},
        "input_gradients": ["1", None],
        "after": {"bn.running_mean": "1"},
        "rates": {"act": 0.5},
    }
    port = {
        "errors": {},
        "mapped": {"fc.weight": "dense.weight", "bn.running_mean": "bn.moving_mean"},
        "state": [
            {"name": "dense.weight", "shape": [3, 3], "trainable": True},
            {"name": "bn.moving_mean", "shape": [3], "trainable": False},
        ],
        "layers": [
            layer("", "Net", False),
            layer("dense", "Dense"),
            layer("relu", "ReLU"),
            layer("bn", "BatchNorm1d", attributes={"eps": 1e-5}),
        ],
        "eval": [call("dense", "1"), call("relu", "1"), call("bn", "1"), call("", "1")],
        "train": [call("dense", "1"), call("bn", "1")],
        "outputs": [{"key": "1", "shape": [2, 3], "dtype": "float32"}],
        "gradients": {"dense.weight": "1"},
        "input_gradients": ["1", None],
        "after": {"bn.moving_mean": "1"},
        "rates": {"relu": 0.5},
    }
    return original, port


def verdict(original, port, as_built=False):
    def measure(_mode, one, other):
        return (
            None
            if "shape" in (one, other)
            else Distance(abs(float(one) - float(other)), abs(float(one) - float(other)))
        )

    return Judge(original, {"pynative": port}, table(), measure, 1e-5, 1e-4, as_built).verdict()


def test_layers_are_paired_by_weights_names_and_order():
    original, port = records()
    assert layer_pairs(original, port, port["mapped"]) == {"": "", "fc": "dense", "act": "relu", "bn": "bn"}


def test_equal_records_pass():
    result = verdict(*records())
    assert result.passed
    assert {line.phase for line in result.lines} == {"eval", "output", "train", "random", "gradient"}


@pytest.mark.parametrize(
    ("change", "phase", "where"),
    [
        (lambda p: p["eval"][1]["outputs"][0].update(key="2"), "eval", "act"),
        (lambda p: p["eval"][0]["outputs"][0].update(key="shape"), "eval", "fc"),
        (lambda p: p["eval"][0]["outputs"][0].update(dtype="float16"), "dtype", "fc"),
        (lambda p: p["outputs"].clear(), "output", ""),
        (lambda p: p["layers"][3]["attributes"].update(eps=1e-3), "attribute", "bn"),
        (lambda p: p["layers"][3].update(training=False), "training", "bn"),
        (lambda p: p["train"][0]["outputs"][0].update(key="2"), "train", "fc"),
        (lambda p: p["rates"].update(relu=0.9), "random", "act"),
        (lambda p: p["gradients"].update({"dense.weight": "2"}), "gradient", "fc.weight"),
        (lambda p: p["input_gradients"].__setitem__(0, "2"), "gradient", "input 0"),
    ],
)
def test_each_difference_is_named_first(change, phase, where):
    original, port = records()
    change(port)
    result = verdict(original, port)
    assert not result.passed
    assert (result.first.phase, result.first.layer) == (phase, where)


def test_running_statistics_after_a_step():
    original, port = records()
    original["train"][1]["random"] = False
    port["after"]["bn.moving_mean"] = "2"
    assert verdict(original, port).first.phase == "statistics"


def test_as_built_asks_for_set_train():
    original, port = records()
    port["layers"][3]["built"] = False
    assert verdict(original, port).passed
    assert verdict(original, port, as_built=True).first.layer == "bn"


def test_report_says_everything_in_both_languages_and_fits_the_schema():
    original, port = records()
    original["state"].append({"name": "fc.bias", "shape": [3], "trainable": True})
    port["state"].append({"name": "bn.extra", "shape": [3], "trainable": False})
    port["errors"]["gradients"] = "TypeError: no"
    port["eval"][0]["outputs"][0]["key"] = "nan"
    result = verdict(original, port)
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    for language in WORDS:
        text = "\n".join(compare_lines(result, language, 1e-5, 1e-4, True))
        assert "fc.bias" in text
        assert "bn.extra" in text
        assert "TypeError: no" in text
        assert "fc -> dense" in text
    schema = json.loads((ROOT / "docs" / "compare.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(json.loads(to_json(compare_object(result, {"torch": "x"}, 1e-5, 1e-4))), schema)
    passed = "\n".join(compare_lines(verdict(*records()), "en", 1e-5, 1e-4, False))
    assert passed.startswith("PASS")


def test_wrong_usage_is_one_line_and_exit_2(tmp_path):
    result = CliRunner().invoke(cli, ["compare", "none.py:Net", "none.py:Net", "--input", "1"])
    assert result.exit_code == 2
    assert "no such file" in result.output


def test_without_the_frameworks_it_says_what_to_install(tmp_path, monkeypatch):
    file = tmp_path / "m.py"
    file.write_text("", encoding="utf-8")
    monkeypatch.setattr("mindport.compare.run.NEEDED", ("no_such_framework",))
    result = CliRunner().invoke(cli, ["compare", f"{file}:Net", f"{file}:Net", "--input", "1"])
    assert result.exit_code == 2
    assert "mindport[compare]" in result.output
