"""Review: which files stand for each other, and what people get to see."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from mindport.cli.main import cli
from mindport.review.align import pair_files

TORCH = "from torch import nn\n\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(3, 4)\n"
PORT = "from mindspore import nn\n\n\nclass Net(nn.Cell):\n    def __init__(self):\n        super().__init__()\n        self.fc = nn.Dense(3, 4, has_bias=False)\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def test_files_are_paired_by_path_then_by_name(tmp_path: Path) -> None:
    port = write(tmp_path / "port", {"a/net.py": PORT, "b/other.py": PORT, "__init__.py": "", "new.py": ""})
    original = write(tmp_path / "original", {"a/net.py": TORCH, "c/other.py": TORCH, "d/__init__.py": ""})
    found = pair_files(port, original)
    assert {(p.port.name, p.original.parent.name) for p in found.pairs} == {
        ("net.py", "a"),
        ("other.py", "c"),
    }
    assert {p.name for p in found.alone} == {"new.py", "__init__.py"}
    said = CliRunner().invoke(cli, ["review", str(port), "--against", str(original)])
    assert f"not reviewed: 2 files without an original under {original}: " in said.stderr
    assert "new.py" in said.stderr


def test_a_file_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    port, original = (
        write(tmp_path / "port", {"net.py": PORT}),
        write(tmp_path / "original", {"net.py": TORCH}),
    )
    (port / "gone.py").symlink_to(tmp_path / "nowhere.py")
    result = CliRunner().invoke(cli, ["review", str(port), "--against", str(original)])
    assert result.exit_code == 2
    assert "gone.py" in result.output
    assert "MSP211" in result.output


def test_both_lines_are_shown(tmp_path: Path) -> None:
    write(tmp_path, {"port.py": PORT, "original.py": TORCH})
    command = ["review", str(tmp_path / "port.py"), "--against", str(tmp_path / "original.py")]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 1
    assert "self.fc = nn.Dense(3, 4, has_bias=False)" in result.output
    assert "original.py:7: self.fc = nn.Linear(3, 4)" in result.output
    chinese = CliRunner().invoke(cli, [*command, "--language", "zh"])
    assert "原代码相当于 has_bias=True" in chinese.output
    found = json.loads(CliRunner().invoke(cli, [*command, "--output-format", "json"]).output)["findings"]
    assert [(f["code"], f["line"], f["severity"]) for f in found] == [("MSP211", 7, "critical")]


def test_suppressions_count(tmp_path: Path) -> None:
    write(tmp_path, {"port.py": PORT.replace("False)", "False)  # noqa: MSP211"), "original.py": TORCH})
    command = ["review", str(tmp_path / "port.py"), "--against", str(tmp_path / "original.py")]
    assert CliRunner().invoke(cli, command).exit_code == 0


def test_nothing_to_compare_is_no_clean_bill(tmp_path: Path) -> None:
    port = write(tmp_path / "port", {"a.py": PORT})
    original = write(tmp_path / "original", {"b.py": TORCH})
    result = CliRunner().invoke(cli, ["review", str(port), "--against", str(original)])
    assert result.exit_code == 2
    assert "no file has an original" in result.output


def test_a_broken_original_is_said(tmp_path: Path) -> None:
    write(tmp_path, {"port.py": PORT, "original.py": "def"})
    command = ["review", str(tmp_path / "port.py"), "--against", str(tmp_path / "original.py")]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 2
    assert "syntax error" in result.output
