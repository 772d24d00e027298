"""Shared helpers: every test has its own cache folder and starts in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mindport.catalog.load import EXPECT

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def expected(code: str) -> list[tuple[int, str]]:
    """The ``# expect:`` marks of an example: (1-based line, code), sorted."""
    result = []
    for number, line in enumerate(code.split("\n"), 1):
        for match in EXPECT.finditer(line):
            result += [(number, name) for name in re.split(r"\s*,\s*", match["codes"])]
    return sorted(result)
