"""Every example of every check through every front end: exactly the marked findings, at the marked lines."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import expected

from mindport.catalog import load_catalog
from mindport.config import Config
from mindport.engine import Engine
from mindport.flake8 import Plugin
from mindport.review.align import pair_files
from mindport.review.run import Reviewer

CONFIG = Config()
ALL = [
    pytest.param(check, example, id=f"{check.code}-{example.kind.value}-{index}")
    for check in load_catalog(examples=True).checks
    for index, example in enumerate(check.examples)
]
CASES = [case for case in ALL if not case.values[1].original]
REVIEWED = [case for case in ALL if case.values[1].original]


@pytest.mark.parametrize(("check", "example"), CASES)
def test_engine_finds_exactly_what_is_marked(check, example, tmp_path):
    file = tmp_path / "example.py"
    file.write_text(example.code, encoding="utf-8")
    result = Engine(CONFIG if check.enabled else Config(select=(check.code,))).check_file(file)
    assert result.error is None
    assert sorted((f.line, f.code) for f in result.findings) == expected(example.code)


@pytest.mark.parametrize(("check", "example"), CASES)
def test_flake8_plugin_reports_the_same_places(check, example, tmp_path):
    file = tmp_path / "example.py"
    file.write_text(example.code, encoding="utf-8")
    if not check.enabled:
        pytest.skip("off by default: the flake8 plugin runs the default checks")
    plugin = Plugin(ast.parse(example.code), example.code.splitlines(keepends=True), str(file))
    found = list(plugin.run())
    engine = Engine(Config()).check_file(file)
    assert [(line, column, text.split()[0]) for line, column, text, _ in found] == [
        (f.line, f.column, f.code) for f in engine.findings
    ]


@pytest.mark.parametrize(("check", "example"), REVIEWED)
def test_review_finds_exactly_what_is_marked(check, example, tmp_path):
    (tmp_path / "port.py").write_text(example.code, encoding="utf-8")
    (tmp_path / "original.py").write_text(example.original, encoding="utf-8")
    results = Reviewer(CONFIG).review(pair_files(tmp_path / "port.py", tmp_path / "original.py"))
    assert [r.error for r in results] == [None]
    assert sorted((f.line, f.code) for r in results for f in r.findings) == expected(example.code)
    assert Engine(CONFIG).check_file(tmp_path / "port.py").error is None


@pytest.mark.parametrize(("check", "example"), ALL)
def test_every_example_has_a_proof_or_a_reason(check, example):
    assert example.proof is not None
    assert example.proof.run or example.proof.unproven


@pytest.fixture(scope="module")
def all_examples(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    for case in CASES:
        check, example = case.values
        name = re.sub(r"\W", "_", case.id or "")
        (folder / f"{name}.py").write_text(example.code, encoding="utf-8")
    return folder


def _run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_flake8_pylint_and_command_line_agree(all_examples):
    """The three front ends, run as people run them, give the same codes at the same places."""
    command = _run("mindport", "check", ".", "--output-format", "json", cwd=all_examples)
    assert command.returncode == 1, command.stderr
    ours = {
        (f["path"], f["line"], f["column"], f["code"], f["name"])
        for f in json.loads(command.stdout)["findings"]
    }
    flake = _run(
        "flake8",
        "--select",
        "MSP",
        "--format",
        "%(path)s|%(row)d|%(col)d|%(code)s|%(text)s",
        ".",
        cwd=all_examples,
    )
    flake_found = set()
    for line in flake.stdout.splitlines():
        path, row, column, code, text = line.split("|", 4)
        name = text.rsplit("[", 1)[1].rstrip("]")
        flake_found.add((path.removeprefix("./"), int(row), int(column) - 1, code, name))
    pylint = _run(
        "pylint",
        "--load-plugins=mindport.pylint",
        "--disable=all",
        "--enable=" + ",".join(c.name for c in load_catalog().checks),
        "--output-format=json2",
        *sorted(p.name for p in all_examples.glob("*.py")),
        cwd=all_examples,
    )
    pylint_found = {
        (m["path"], m["line"], m["column"], f"MSP{m['messageId'][2:]}", m["symbol"])
        for m in json.loads(pylint.stdout)["messages"]
    }
    assert flake_found == ours
    assert pylint_found == ours
