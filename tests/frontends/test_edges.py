"""The less travelled ways through the commands: formats, mistakes of people, several processes, broken files."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from mindport.cli.main import cli
from mindport.cli.parallel import Ways, _fix_chunk
from mindport.config import Config
from mindport.effort.calibrate import _ridge
from mindport.effort.progress import HistoryError, append_history
from mindport.engine import Engine
from mindport.findings import Confidence
from mindport.semantics.kinds import Kind
from mindport.semantics.library import read
from mindport.store import _connect, open_store

TORCH = "import torch\nfrom torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
PORT = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Dense(3, 4, has_bias=False)\n"
ORIGINAL = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 4)\n"


def run(*arguments: object):
    return CliRunner().invoke(cli, [str(a) for a in arguments])


@pytest.mark.parametrize("shape", ["json", "jsonl", "concise", "text"])
def test_review_in_every_format(tmp_path: Path, shape: str) -> None:
    (tmp_path / "port.py").write_text(PORT)
    (tmp_path / "original.py").write_text(ORIGINAL)
    result = run(
        "review", tmp_path / "port.py", "--against", tmp_path / "original.py", "--output-format", shape
    )
    assert result.exit_code == 1
    assert "MSP211" in result.output


def test_review_says_which_setting_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "port.py").write_text(PORT)
    result = run("review", tmp_path / "port.py", "--against", tmp_path / "port.py", "--language", "fr")
    assert result.exit_code == 2
    assert "fr" in result.output


def test_compare_without_the_frameworks_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.py").write_text(ORIGINAL)
    monkeypatch.setattr("mindport.compare.run.missing_frameworks", lambda: ["torch"])
    result = run("compare", f"{tmp_path / 'a.py'}:Net", f"{tmp_path / 'a.py'}:Net", "--input", "1,3")
    assert result.exit_code == 2
    assert "mindport[compare]" in result.output


@pytest.mark.parametrize(
    ("setting", "code", "part"),
    [("mode", 2, "KEY=VALUE"), ("mode=graph", 1, "MSP"), ('mode="', 2, "mode"), ("nothing=1", 2, "nothing")],
)
def test_settings_on_the_command_line(tmp_path: Path, setting: str, code: int, part: str) -> None:
    (tmp_path / "a.py").write_text(TORCH)
    result = run("check", tmp_path / "a.py", "--config", setting)
    assert result.exit_code == code
    assert part in result.output


def test_fixing_and_looking_deeper(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(TORCH)
    assert run("check", tmp_path, "--deep").exit_code == 1
    fixed = _fix_chunk(Config(), Ways(fixing=True), True, [tmp_path / "a.py"])
    assert "class Net(nn.Cell)" in fixed[0].after
    assert run("check", tmp_path, "--fix", "--unsafe-fixes", "-j", "2").exit_code in (0, 1)
    assert "class Net(nn.Cell)" in (tmp_path / "b.py").read_text()


def test_a_file_that_cannot_be_written_does_not_stop_the_others(tmp_path: Path, monkeypatch) -> None:
    from mindport.fixes import apply

    def write(fixed: apply.Fixed) -> None:
        if fixed.path.endswith("a.py"):
            raise OSError(28, "No space left on device")
        apply.write(fixed)

    monkeypatch.setattr("mindport.cli.fixing.write", write)
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(TORCH)
    result = run("check", tmp_path, "--fix", "--unsafe-fixes")
    assert result.exit_code == 2
    assert "a.py: cannot be written: No space left on device" in result.output
    assert "in 1 file" in result.output
    assert "class Net(nn.Cell)" in (tmp_path / "b.py").read_text()
    assert (tmp_path / "a.py").read_text() == TORCH


def test_review_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    port, original = tmp_path / "port", tmp_path / "original"
    for folder, text in ((port, PORT), (original, ORIGINAL)):
        folder.mkdir()
        (folder / "net.py").write_text(text)
    assert run("review", port, "--against", original, "--select", "MSP2").exit_code == 1
    wrong = run("review", port, "--against", original, "--select", "MSP77")
    assert (wrong.exit_code, wrong.output.count("\n")) == (2, 1)
    assert "MSP77: no such check" in wrong.output
    (port / "net.py").write_text("def f(:\n")
    broken = CliRunner().invoke(
        cli, ["review", str(port), "--against", str(original), "--output-format", "json"]
    )
    assert broken.exit_code == 2
    assert json.loads(broken.stdout)["findings"] == []
    assert "net.py" in broken.stderr


def test_least_squares_finds_the_line() -> None:
    rows = [[1.0, float(x)] for x in range(10)]
    values = [2.0 + 3.0 * x for x in range(10)]
    found = _ridge(rows, values, [1e-9, 1e-9])
    assert found == pytest.approx([2.0, 3.0], abs=1e-4)


def test_shards_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TORCH)
    (tmp_path / "b.py").write_text(TORCH)
    one, other = tmp_path / "1.json", tmp_path / "other.json"
    assert run("audit", tmp_path / "a.py", tmp_path / "b.py", "--shard", "1/2", "-o", one).exit_code == 0
    assert run("audit", tmp_path / "a.py", "--shard", "1/3", "-o", other).exit_code == 0
    (tmp_path / "no.json").write_text("{}")
    for files, part in (
        ((), "name the files"),
        ((one,), "parts missing: 2/2"),
        ((one, one), "already given"),
        ((tmp_path / "no.json",), "is no shard"),
        ((tmp_path / "nowhere.json",), "cannot be read"),
    ):
        result = run("audit", "merge", *files)
        assert result.exit_code == 2
        assert part in result.output


def test_a_history_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_text('{"something": 1}\n')
    with pytest.raises(HistoryError, match="no history file"):
        append_history(file, {})
    data = {
        "version": "1",
        "model": {"version": "m"},
        "person_days": {},
        "lines_touched": {},
        "findings": [],
        "summary": {"files_with_work": 0},
    }
    with pytest.raises(HistoryError, match="cannot be written"):
        append_history(tmp_path / "no" / "history.jsonl", data)


def test_a_broken_cache_is_as_good_as_none(tmp_path: Path, monkeypatch) -> None:
    file = tmp_path / "results.db"
    file.write_bytes(b"no database" * 100)
    assert _connect(file) is not None  # a new one was begun
    monkeypatch.setenv("MINDPORT_NO_CACHE", "1")
    assert open_store(Engine(Config())) is None
    monkeypatch.delenv("MINDPORT_NO_CACHE")
    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path / "cache"))
    code = tmp_path / "a.py"
    code.write_text(TORCH)
    store = open_store(Engine(Config()))
    assert store is not None
    assert store.get(code) is None
    assert store.get(tmp_path / "gone.py") is None
    store.put(tmp_path / "gone.py", [], (), ())
    store.put(code, [], (), ())
    store._db.close()  # type: ignore[union-attr]
    store._db = sqlite3.connect(":memory:")
    assert store.get(code) is None
    store.commit()
    store.close()
    store.close()
    assert store.get(code) is None


def test_the_words_of_the_returns_table() -> None:
    assert read("tensor").kind is Kind.TENSOR
    assert read("number!").atom.runtime  # type: ignore[union-attr]
    pair = read("tuple[tensor,tuple[tensor,number]]").atom
    assert pair is not None
    assert pair.items is not None
    assert [p.kind for p in pair.items] == [Kind.TENSOR, Kind.TUPLE]
    assert read("list[str]").atom.element.kind is Kind.STR  # type: ignore[union-attr]
    assert read("dict").kind is Kind.DICT
    assert read("generator[parameter]").atom.element.kind is Kind.PARAMETER  # type: ignore[union-attr]
    assert read("generator").kind is Kind.OTHER
    assert read("nonsense") == read("") == read("tensor]")
    assert read("module[tensor]").sure is Confidence.CERTAIN


def test_an_audit_in_every_format_and_language(tmp_path: Path) -> None:
    for index in range(12):
        before = f"from n{index - 1} import Net as Base\n" if index else "Base = object\n"
        (tmp_path / f"n{index}.py").write_text(before + TORCH)
    for shape in ("text", "json", "markdown", "csv", "html"):
        for language in ("en", "zh"):
            result = run("audit", tmp_path, "--output-format", shape, "--language", language, "--people", "3")
            assert result.exit_code == 0, result.output
            assert "torch" in result.output
    document = json.loads(run("audit", tmp_path, "--output-format", "json").output)
    assert document["lines_touched"]["low"] < document["lines_touched"]["high"]
