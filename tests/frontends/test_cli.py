"""The command line as people use it: exit codes, formats, bad input, configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from mindport.cli.main import cli

BAD = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def forward(self, x):\n        return x\n"
GOOD = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def construct(self, x):\n        return x\n"
TORCH = "import torch\n\n\ndef f(x):\n    with torch.no_grad():\n        return torch.cat([x, x], dim=1)\n"


def run(*args: str, stdin: str | bytes | None = None):
    return CliRunner().invoke(cli, args, input=stdin)


def findings(*args: str, stdin=None):
    return json.loads(run("check", *args, "--output-format", "json", stdin=stdin).stdout)


def test_clean_code_exits_0_and_states_coverage(tmp_path):
    (tmp_path / "a.py").write_text(GOOD)
    result = run("check", "a.py")
    assert result.exit_code == 0
    assert "no findings in 1 files" in result.output
    assert "coverage: 1 torch/MindSpore sites seen" in result.output


def test_nothing_seen_is_no_clean_bill(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    assert "nothing was judged" in run("check", "a.py").output


def test_findings_exit_1_with_a_code_frame(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    result = run("check", "a.py")
    assert result.exit_code == 1
    assert "a.py:5:9  MSP101 blocker" in result.output
    assert "    5 |     def forward(self, x):\n      |         ^^^^^^^\n" in result.output
    assert "fix: rename `forward` to `construct`" in result.output
    assert run("check", "a.py", "--exit-zero").exit_code == 0


def test_chinese_output(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    output = run("check", "a.py", "--language", "zh").output
    assert "将 `forward` 改名为 `construct`" in output
    assert "覆盖率" in output


def test_json_is_the_contract(tmp_path):
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text(BAD)
    data = findings("pkg")
    assert set(data) == {"version", "findings", "errors", "coverage"}
    (finding,) = data["findings"]
    assert finding["path"] == "pkg/a.py"
    place = (finding["line"], finding["column"], finding["end_line"], finding["end_column"])
    assert place == (5, 8, 5, 15)
    assert finding["code"] == "MSP101"
    assert finding["name"] == "forward-in-cell"
    assert finding["severity"] == "blocker"
    assert finding["confidence"] == "certain"
    assert finding["effort_minutes"] == {"low": 1, "likely": 2, "high": 10}
    assert finding["fix"] == {
        "applicability": "safe",
        "title": "forward -> construct",
        "edits": [{"line": 5, "column": 8, "end_line": 5, "end_column": 15, "text": "construct"}],
    }
    assert data["coverage"] == {
        "files": 1,
        "files_failed": 0,
        "sites": 1,
        "resolved": 1,
        "judged": 1,
        "unknown": 0,
    }


def test_json_lines_and_concise(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    lines = run("check", "a.py", "--output-format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["MSP101"]
    assert "a.py:5:9: MSP101 [blocker]" in run("check", "a.py", "--output-format", "concise").output


def test_stdin(tmp_path):
    data = findings("-", stdin=BAD)
    assert data["findings"][0]["path"] == "<stdin>"
    data = findings("-", "--stdin-filename", "src/net.py", stdin=BAD)
    assert data["findings"][0]["path"] == "src/net.py"


def test_select_ignore_and_thresholds(tmp_path):
    (tmp_path / "a.py").write_text(TORCH)
    codes = lambda *args: [f["code"] for f in findings("a.py", *args)["findings"]]  # noqa: E731
    assert codes() == ["MSP403", "MSP404"]
    assert codes("--select", "MSP403") == ["MSP403"]
    assert codes("--ignore", "MSP403,MSP404") == []
    assert codes("--min-severity", "major") == []
    assert codes("--config", "min-severity='major'") == []
    assert codes("--min-confidence", "certain") == ["MSP403", "MSP404"]
    assert codes("--select", "MSP4", "--ignore", "MSP404") == ["MSP403"]


def test_renames_in_torch_files_are_shown_when_asked_for(tmp_path):
    (tmp_path / "a.py").write_text("import torch\n\ny = torch.sigmoid(1)\n")
    assert findings("a.py")["findings"] == []
    assert [f["code"] for f in findings("a.py", "--select", "MSP405")["findings"]] == ["MSP405"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--select", "MSP999"), "no such check"),
        (("--select", "E501"), "is not a code"),
        (("--config", "colour='red'"), "unknown key"),
        (("--config", "mode"), "write KEY=VALUE"),
        (("--config", "mode='fast'"), "is not one of graph, pynative"),
        (("--min-severity", "awful"), "is not one of"),
        (("--language", "fr"), "is not one of en, zh"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(args, said, tmp_path):
    (tmp_path / "a.py").write_text(GOOD)
    result = run("check", "a.py", *args)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_one_bad_file_loses_nothing(tmp_path):
    (tmp_path / "a.py").write_text("import torch\ndef f(:\n")
    (tmp_path / "b.py").write_text(BAD)
    result = run("check", ".", "nowhere.py", "--output-format", "json")
    assert result.exit_code == 2
    data = json.loads(result.stdout)
    assert [f["path"] for f in data["findings"]] == ["b.py"]
    assert [(e["path"], e["line"]) for e in data["errors"]] == [("a.py", 2), ("nowhere.py", 0)]
    assert data["coverage"]["files_failed"] == 2
    assert "nowhere.py: error: no such file or folder" in result.stderr
    text = run("check", ".").output
    assert "a.py:2:7: error: syntax error" in text
    assert "1 could not be checked" in text


def test_links_and_odd_files(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    os.symlink(tmp_path, tmp_path / "loop")
    os.symlink(tmp_path / "gone.py", tmp_path / "dangling.py")
    os.symlink(tmp_path / "a.py", tmp_path / "again.py")
    (tmp_path / "notes.txt").write_text("forward to construct, torch\n")
    data = json.loads(run("check", ".", "--output-format", "json").stdout)
    assert len(data["findings"]) == 1  # a file reached twice is checked once
    assert [e["path"] for e in data["errors"]] == ["dangling.py"]
    named = run("check", "notes.txt", "--output-format", "json")
    assert "syntax error" in json.loads(named.stdout)["errors"][0]["reason"]


def test_configuration_file(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "b.py").write_text(BAD)
    config = tmp_path / "pyproject.toml"
    config.write_text(
        '[tool.mindport]\nlanguage = "zh"\nexclude = ["old"]\n[tool.mindport.effort]\nMSP101 = [1, 1, 1]\n'
    )
    data = findings(".")
    assert len(data["findings"]) == 1
    assert data["findings"][0]["effort_minutes"]["high"] == 1
    assert "而" in data["findings"][0]["message"]
    config.write_text('[tool.mindport]\n[tool.mindport.per-file-ignores]\n"old/*" = ["MSP1"]\n')
    assert [f["path"] for f in findings(".")["findings"]] == ["a.py"]
    for text, said in (
        ("[tool.mindport]\ncolour = 1\n", "unknown key"),
        ("[tool.mindport\n", "not valid TOML"),
        ("[tool]\nmindport = 3\n", "must be a table"),
        ("[tool.mindport]\nselect = 3\n", "must be a list"),
        ("[tool.mindport.effort]\nblocker = [3, 2, 1]\n", "three rising numbers"),
        ("[tool.mindport.effort]\nawful = [1, 2, 3]\n", "neither a severity nor a code"),
        ("[tool.mindport]\neffort = 3\n", "must be a table"),
        ("[tool.mindport]\nper-file-ignores = 3\n", "must be a table"),
    ):
        config.write_text(text)
        result = run("check", ".")
        assert result.exit_code == 2
        assert said in result.stderr


def test_statistics(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    output = run("check", "a.py", "--statistics").output
    row = next(line for line in output.splitlines() if "forward-in-cell:" in line)
    assert row.split()[:3] == ["1", "MSP101", "blocker"]
    assert "2 min" in row


def test_jobs_give_the_same_result(tmp_path):
    for number in range(9):
        (tmp_path / f"m{number}.py").write_text(BAD if number % 2 else TORCH)
    assert findings(".") == findings(".", "-j", "2")


def test_explain_and_checks():
    page = run("explain", "msp201").output
    assert page.startswith("# MSP201: BatchNorm momentum passed unconverted")
    assert "```python" in page
    assert run("explain", "E9201").output == run("explain", "batchnorm-momentum-unconverted").output == page
    assert "未换算" in run("explain", "MSP201", "--language", "zh").output
    missing = run("explain", "forward-in-sell")
    assert missing.exit_code == 2
    assert "did you mean forward-in-cell" in missing.stderr
    listed = run("checks").output
    assert "MSP101  E9101  blocker   forward-in-cell" in listed
    rows = json.loads(run("checks", "--output-format", "json").stdout)
    assert {row["code"] for row in rows} >= {"MSP101", "MSP201", "MSP301", "MSP401", "MSP501"}


def test_frameworks_are_never_imported_and_do_not_matter(tmp_path):
    """With torch and mindspore installed as modules that fail on import, the result is the same."""
    (tmp_path / "net.py").write_text(BAD + TORCH)
    fake = tmp_path / "fake"
    for name in ("torch", "mindspore"):
        (fake / name).mkdir(parents=True)
        (fake / name / "__init__.py").write_text("raise SystemExit('imported')\n")
    command = [sys.executable, "-m", "mindport", "check", "net.py", "--output-format", "json"]
    path = os.pathsep.join(filter(None, (str(fake), os.environ.get("PYTHONPATH", ""))))
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    with_fakes = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path}
    )
    assert plain.returncode == 1
    assert plain.stdout == with_fakes.stdout


def test_default_path_does_not_import_astroid(tmp_path):
    (tmp_path / "a.py").write_text(BAD)
    code = (
        "import sys\nfrom mindport.cli.main import cli\n"
        "try:\n    cli(['check', 'a.py'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('astroid', 'pylint', 'torch', 'mindspore') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_internal_errors_are_one_line(tmp_path, monkeypatch):
    import mindport.cli.main as main

    (tmp_path / "a.py").write_text(BAD)
    monkeypatch.setattr(sys, "argv", ["mindport", "check", "a.py"])
    monkeypatch.setattr(main, "_run", lambda *_: 1 / 0)
    with pytest.raises(SystemExit) as caught:
        main.main()
    assert caught.value.code == 2
