"""The result cache: the same answers, faster, and never an answer that no longer holds."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

import mindport.cli.running as running
from mindport.cli.main import cli

BASE = "from mindspore import nn\n\n\nclass Base(nn.Cell):\n    pass\n"
MIDDLE = "from base import Base\n\n\nclass Middle(Base):\n    pass\n"
NET = "from middle import Middle\n\n\nclass Net(Middle):\n    def forward(self, x):\n        return x\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MINDPORT_NO_CACHE", "")  # what --no-cache sets in this process ends with the test
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    Path("base.py").write_text(BASE)
    Path("middle.py").write_text(MIDDLE)
    Path("net.py").write_text(NET)


def check(*args: str) -> dict:
    result = CliRunner().invoke(cli, ["check", *(args or (".",)), "--output-format", "json", "--exit-zero"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def codes(found: dict) -> list[tuple[str, str]]:
    return [(finding["path"], finding["code"]) for finding in found["findings"]]


@pytest.fixture
def looked_at(monkeypatch):
    """The files that were analysed, not taken from the cache."""
    seen: list[str] = []
    real = running.look_at

    def spy(engine, task, files):
        seen.extend(file.name for file in files)
        return real(engine, task, files)

    monkeypatch.setattr(running, "look_at", spy)
    return seen


def test_a_second_run_analyses_nothing_and_says_the_same(looked_at):
    first = check()
    assert codes(first) == [("net.py", "MSP101")]
    assert sorted(looked_at) == ["base.py", "middle.py", "net.py"]
    looked_at.clear()
    assert check() == first
    assert looked_at == ["middle.py"]  # has none of the words, is not analysed and costs nothing
    lines = CliRunner().invoke(cli, ["check", ".", "--exit-zero"]).output
    assert "def forward(self, x):" in lines


def test_a_change_two_imports_away_is_seen(looked_at):
    check()
    Path("base.py").write_text("class Base:\n    pass\n")
    assert codes(check()) == []
    Path("base.py").write_text(BASE)
    assert codes(check()) == [("net.py", "MSP101")]


def test_dependencies_hold_when_a_package_was_analysed_before(looked_at):
    """What `net.py` needs of `base.py` is remembered by `middle.py` when `a.py` was analysed first."""
    Path("a.py").write_text(NET)
    assert codes(check()) == [("a.py", "MSP101"), ("net.py", "MSP101")]
    Path("base.py").write_text("class Base:\n    pass\n")
    assert codes(check()) == []


def test_a_file_that_appears_is_seen():
    Path("base.py").unlink()
    assert codes(check()) == []
    Path("base.py").write_text(BASE)
    assert codes(check()) == [("net.py", "MSP101")]


def test_a_package_that_appears_is_seen():
    """A new `__init__.py` moves the folder that absolute imports start from."""
    Path("inner").mkdir()
    Path("inner/net.py").write_text(NET)
    Path("inner/middle.py").write_text("class Middle:\n    pass\n")
    assert ("inner/net.py", "MSP101") not in codes(check())
    Path("inner/__init__.py").write_text("")
    assert ("inner/net.py", "MSP101") in codes(check())


def test_old_dependencies_do_not_come_back():
    """A result that saw another state of a shared module is not revived when that module is seen anew."""
    Path("base.py").unlink()
    assert codes(check("net.py")) == []
    Path("base.py").write_text(BASE)
    check("middle.py", "base.py")
    Path("a.py").write_text(NET)
    assert codes(check("a.py")) == [("a.py", "MSP101")]
    assert codes(check("net.py")) == [("net.py", "MSP101")]


def test_configuration_decides_too():
    assert codes(check()) == [("net.py", "MSP101")]
    assert codes(check(".", "--ignore", "MSP101")) == []
    chinese = check(".", "--language", "zh")
    assert "改名" in chinese["findings"][0]["suggestion"]


def test_without_the_cache_nothing_is_written(tmp_path, looked_at):
    check(".", "--no-cache")
    assert not (tmp_path / "cache" / "mindport" / "results.db").exists()
    check(".", "--no-cache")
    assert len(looked_at) == 6


def test_a_broken_cache_is_as_good_as_none(tmp_path):
    first = check()
    store = tmp_path / "cache" / "mindport" / "results.db"
    for extra in ("-wal", "-shm"):
        store.with_name(store.name + extra).unlink(missing_ok=True)
    store.write_bytes(b"not a database" * 100)
    assert check() == first
    assert store.read_bytes().startswith(b"SQLite")
    assert check() == first


def test_a_broken_row_is_looked_at_again(tmp_path, looked_at):
    first = check()
    with sqlite3.connect(tmp_path / "cache" / "mindport" / "results.db") as store:
        store.execute("UPDATE results SET value = X'00'")
    store.close()
    looked_at.clear()
    assert check() == first
    assert "net.py" in looked_at


def test_several_processes_fill_the_cache_for_one(looked_at):
    many = check(".", "-j", "2")
    looked_at.clear()
    assert check() == many
    assert "net.py" not in looked_at


def test_the_oldest_results_go_first(monkeypatch, tmp_path):
    import mindport.store as store

    check()
    monkeypatch.setattr(store, "MAX_BYTES", 1)
    check("base.py", "--ignore", "MSP101")
    with sqlite3.connect(tmp_path / "cache" / "mindport" / "results.db") as rows:
        assert rows.execute("SELECT COUNT(*) FROM results").fetchone() == (1,)
    rows.close()


def test_chunks_keep_neighbours_and_stay_short(monkeypatch):
    monkeypatch.setattr(running, "CHUNK_BYTES", len(BASE) + len(MIDDLE))
    files = [Path("base.py"), Path("middle.py"), Path("net.py")]
    assert running.chunks(files) == [(files[0], files[1]), (files[2],)]
    assert running.chunks(files, 1) == [(file,) for file in files]
    assert running.chunks([]) == []
