"""``mindport audit`` end to end on a small project."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from mindport.cli.main import cli

sys.path.insert(0, str(Path(__file__).parent))
from project import MODEL, notebook, write_project

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["audit", *arguments])


def as_json(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--output-format", "json", "-o", "report.json")
    assert result.exit_code in (0, 1), result.output
    data: dict[str, Any] = json.loads(Path("report.json").read_text(encoding="utf-8"))
    return data


@pytest.fixture
def project(tmp_path: Path) -> str:
    write_project(tmp_path)
    return "work"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path / "cache"))


def test_document_fits_its_schema(project: str) -> None:
    schema = json.loads((ROOT / "docs" / "audit.schema.json").read_text(encoding="utf-8"))
    data = as_json(project)
    jsonschema.validate(data, schema)
    as_json(project)  # and again from the cache, with a comparison
    Path("old.json").write_text(json.dumps(data), encoding="utf-8")
    jsonschema.validate(as_json(project, "--compare", "old.json"), schema)


def test_ranges_rise_and_parts_fit_the_whole(project: str) -> None:
    data = as_json(project)
    ranges = [data["person_days"], data["lines_touched"], *(t["person_days"] for t in data["tasks"])]
    ranges += [f["lines_touched"] for f in data["files"]] + [f["person_days"] for f in data["files"]]
    assert all(0 <= r["low"] <= r["likely"] <= r["high"] for r in ranges)
    likely = sum(task["person_days"]["likely"] for task in data["tasks"])
    assert data["person_days"]["likely"] == pytest.approx(likely, rel=0.06)  # the headline is rounded
    assert sum(w["lines_touched"] for w in data["waves"]) == pytest.approx(
        sum(f["lines_touched"]["likely"] for f in data["files"]), abs=0.5
    )


def test_leaves_come_first_and_one_model_runs_soon(project: str) -> None:
    data = as_json(project)
    waves = {path: wave["wave"] for wave in data["waves"] for path in wave["files"]}
    assert waves["work/shop/block.py"] < waves["work/shop/model.py"] < waves["work/train.py"]
    assert data["first_model"]["model"] == "work/shop/block.py"
    phases = {phase["phase"]: phase["files"] for phase in data["phases"]}
    assert phases == {"components": 2, "training": 0, "distributed": 1}


def test_fixed_tasks_are_triggered_by_what_the_code_uses(project: str) -> None:
    ids = {task["id"] for task in as_json(project)["tasks"]}
    assert {"task-environment", "task-data", "task-accuracy", "task-distributed"} <= ids
    alone = {task["id"] for task in as_json("work/shop")["tasks"]}
    assert not {"task-data", "task-distributed", "task-accuracy"} & alone


def test_more_people_need_less_time_but_not_less_work(project: str) -> None:
    one, three = as_json(project), as_json(project, "--people", "3")
    assert one["person_days"] == three["person_days"]
    assert three["calendar"]["working_days"]["likely"] < one["calendar"]["working_days"]["likely"]


def test_third_party_packages_and_names(project: str) -> None:
    data = as_json(project)
    assert [p["package"] for p in data["third_party"]] == ["einops"]
    names = {api["name"]: api for api in data["apis"]}
    assert names["torch.nn.Linear"]["target"] == "mindspore.nn.Dense"
    assert names["torch.nn.Module"]["count"] == 2


def test_csv_has_a_row_per_file(project: str) -> None:
    result = run(project, "--output-format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert {row["path"] for row in rows} == {
        f"work/{name}" for name in ("shop/__init__.py", "shop/block.py", "shop/model.py", "train.py")
    }


@pytest.mark.parametrize(("language", "word"), [("en", "person-days"), ("zh", "人天")])
@pytest.mark.parametrize("kind", ["text", "markdown", "html"])
def test_reports_in_two_languages(project: str, kind: str, language: str, word: str) -> None:
    result = run(project, "--output-format", kind, "--language", language)
    assert result.exit_code == 0, result.output
    assert word in result.stdout
    assert "Traceback" not in result.output


def test_compare_history_and_limit(project: str) -> None:
    old = run(project, "--output-format", "json", "-o", "old.json", "--history", "history.jsonl")
    assert old.exit_code == 0, old.output
    Path("work/train.py").unlink()
    result = run(project, "--compare", "old.json", "--history", "history.jsonl")
    assert result.exit_code == 0, result.output
    assert "Compared with old.json" in result.stdout
    assert "done 1" in result.stdout
    assert len(Path("history.jsonl").read_text(encoding="utf-8").splitlines()) == 1  # one a day
    assert run(project, "--fail-over", "0.1").exit_code == 1
    assert run(project, "--fail-over", "1000").exit_code == 0


@pytest.mark.parametrize("text", ["[]", "{}", "no", '{"schema": "mindport-audit-1"}'])
def test_a_wrong_old_report_is_one_line(project: str, text: str) -> None:
    Path("old.json").write_text(text, encoding="utf-8")
    result = run(project, "--compare", "old.json")
    assert result.exit_code == 2
    assert "old.json: is no JSON report" in result.output


def test_shards_together_are_the_whole(project: str) -> None:
    whole = as_json(project)
    for index in (1, 2, 3):
        assert run(project, "--shard", f"{index}/3", "-o", f"part{index}.json").exit_code == 0
    assert as_json("merge", "part3.json", "part1.json", "part2.json") == whole
    missing = run("merge", "part1.json", "part2.json")
    assert (missing.exit_code, "parts missing: 3/3" in missing.output) == (2, True)
    twice = run("merge", "part1.json", "part1.json", "part2.json")
    assert (twice.exit_code, "already given" in twice.output) == (2, True)
    assert run(project, "--shard", "4/3").exit_code == 2


def test_several_processes_give_the_same(project: str) -> None:
    assert as_json(project, "-j", "2", "--no-cache") == as_json(project, "--no-cache")


def test_notebooks_name_cell_and_line(project: str) -> None:
    cells = (
        "%matplotlib inline\n!pip list\nimport torch",
        "import torch.nn as nn\nx = 1\n" + MODEL.split("\n\n\n")[1],
    )
    Path("work/look.ipynb").write_text(notebook(*cells), encoding="utf-8")
    data = as_json(project)
    found = [f for f in data["findings"] if f["path"] == "work/look.ipynb"]
    assert found
    assert all(f["cell"] == 4 and f["cell_line"] >= 1 for f in found)
    source = cells[1].splitlines()
    for finding in found:
        assert [finding["line"], source[finding["cell_line"] - 1]] in finding["frame"]


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', '{"cells": [{}]}', "{"])
def test_a_broken_notebook_is_an_error_not_a_crash(project: str, text: str) -> None:
    Path("work/look.ipynb").write_text(text, encoding="utf-8")
    result = run(project)
    assert result.exit_code == 2
    assert "work/look.ipynb: not a notebook" in result.output


def test_a_ported_file_is_no_work(tmp_path: Path) -> None:
    Path("done.py").write_text(
        "import mindspore as ms\nfrom mindspore import nn\nx = nn.Dense(2, 3)\n", encoding="utf-8"
    )
    data = as_json("done.py")
    assert data["person_days"]["high"] == 0
    assert data["files"][0]["lines_touched"]["likely"] == 0


def test_nothing_to_audit(tmp_path: Path) -> None:
    Path("empty").mkdir()
    data = as_json("empty")
    assert data["files"] == []
    assert data["person_days"]["high"] == 0
    assert run("empty", "--output-format", "html").exit_code == 0
    assert run("nowhere").exit_code == 2


def test_calibration_moves_towards_the_records(project: str) -> None:
    port = Path("port")
    port.mkdir()
    (port / "train.py").write_text("\n".join(f"x{i} = {i}" for i in range(30)), encoding="utf-8")
    line = {"before": "work/train.py", "after": "port/train.py", "days": 60}
    Path("records.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    result = run("--calibrate", "records.jsonl")
    assert result.exit_code == 0, result.output
    import tomli

    fitted = tomli.loads(result.stdout)
    shipped = tomli.loads((ROOT / "checks/effort/model.toml").read_text(encoding="utf-8"))
    assert set(fitted["lines"]) == set(shipped["lines"])
    assert fitted["lines"]["constant"] > shipped["lines"]["constant"]  # every line was changed
    assert fitted["days"]["scale"] > 1


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "records.jsonl:1"), ('{"before": "a", "after": "b"}', "no such file"), ("[]", "records.jsonl:1")],
)
def test_wrong_records_are_one_line(project: str, text: str, said: str) -> None:
    Path("records.jsonl").write_text(text + "\n", encoding="utf-8")
    result = run("--calibrate", "records.jsonl")
    assert (result.exit_code, said in result.output) == (2, True), result.output


def test_a_ported_file_with_findings_is_in_a_wave(tmp_path: Path) -> None:
    text = "from mindspore import nn\n\nclass Net(nn.Cell):\n    def forward(self, x):\n        return x\n"
    Path("port.py").write_text(text, encoding="utf-8")
    data = as_json("port.py")
    assert data["findings"]
    assert data["waves"][0]["files"] == ["port.py"]
    assert data["calendar"]["working_days"]["likely"] == data["person_days"]["likely"] > 0
