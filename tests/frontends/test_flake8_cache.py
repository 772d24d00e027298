"""flake8 runs often: what it reports is kept, and forgotten when anything it depended on changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BASE = "from mindspore import nn\n\n\nclass Base({base}):\n    pass\n"
NET = "from base import Base\nimport mindspore\n\n\nclass Net(Base):\n    def forward(self, x):\n        return x\n"


def lint(folder: Path, *more: str) -> list[str]:
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "MSP101", "-j", "1", *more, "net.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr
    return [line.split()[1] for line in done.stdout.splitlines()]


def test_a_second_run_reports_the_same_and_a_changed_import_is_seen(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "base.py").write_text(BASE.format(base="nn.Cell"))
    (tmp_path / "net.py").write_text(NET)
    assert lint(tmp_path) == ["MSP101"]
    assert lint(tmp_path) == ["MSP101"]
    (tmp_path / "base.py").write_text(BASE.format(base="object"))
    assert lint(tmp_path) == []
    (tmp_path / "base.py").write_text(BASE.format(base="nn.Cell"))
    (tmp_path / "net.py").write_text(NET.replace("forward", "construct"))
    assert lint(tmp_path) == []


def test_settings_are_part_of_what_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDPORT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "base.py").write_text(BASE.format(base="nn.Cell"))
    (tmp_path / "net.py").write_text(NET)
    assert lint(tmp_path) == ["MSP101"]
    (tmp_path / "pyproject.toml").write_text('[tool.mindport]\nignore = ["MSP101"]\n')
    assert lint(tmp_path) == []
