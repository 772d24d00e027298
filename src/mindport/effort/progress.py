"""How far a port has come: one report against an earlier one, and a history of reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

SIDES = ("low", "likely", "high")


class HistoryError(Exception):
    """A report or history file that cannot be used, said in one line."""


def load_report(file: Path) -> dict[str, Any]:
    """An earlier JSON report."""
    try:
        data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if data["schema"].startswith("mindport-audit-") and "person_days" in data:
            return data
    except OSError as error:
        raise HistoryError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HistoryError(f"{file}: is no JSON report of `mindport audit`") from error
    raise HistoryError(f"{file}: is no JSON report of `mindport audit`")


def compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What changed: days and lines left, files done, findings gone and new (matched by code and text, not by line)."""
    before, after = ({f["path"]: f for f in d["files"]} for d in (old, new))
    gone, come = _gone(old, new), _gone(new, old)
    return {
        "model": {"old": old["model"]["version"], "new": new["model"]["version"]},
        "person_days": {"old": old["person_days"], "new": new["person_days"]},
        "lines_touched": {"old": old["lines_touched"], "new": new["lines_touched"]},
        "findings": {"old": len(old["findings"]), "new": len(new["findings"]), "gone": gone, "come": come},
        "files_done": sorted(
            path
            for path, file in before.items()
            if file["lines_touched"]["likely"] > 0
            and (path not in after or after[path]["lines_touched"]["likely"] == 0)
        ),
        "files_new": sorted(
            path for path, file in after.items() if path not in before and file["lines_touched"]["likely"] > 0
        ),
    }


def _gone(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    from collections import Counter

    def keys(data: Mapping[str, Any]) -> Counter[tuple[str, str, str]]:
        return Counter((f["path"], f["code"], f["message"]) for f in data["findings"])

    return sum((keys(one) - keys(other)).values())


def append_history(file: Path, data: Mapping[str, Any], today: str | None = None) -> list[dict[str, Any]]:
    """Add a line for this audit; returns all lines. A second audit of the same day replaces the first."""
    entries: list[dict[str, Any]] = []
    try:
        if file.exists():
            entries = [
                json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()
            ]
            if not all(isinstance(entry, dict) and "person_days" in entry for entry in entries):
                raise ValueError("a line is no audit")
    except (OSError, ValueError) as error:
        raise HistoryError(f"{file}: is no history file of `mindport audit`: {error}") from error
    entry = {
        "date": today or date.today().isoformat(),
        "version": data["version"],
        "model": data["model"]["version"],
        "person_days": data["person_days"],
        "lines_touched": data["lines_touched"],
        "findings": len(data["findings"]),
        "files_with_work": data["summary"]["files_with_work"],
    }
    entries = [old for old in entries if old.get("date") != entry["date"]] + [entry]
    try:
        file.write_text("".join(json.dumps(e, ensure_ascii=False) + "\n" for e in entries), encoding="utf-8")
    except OSError as error:
        raise HistoryError(f"{file}: cannot be written: {error.strerror}") from error
    return entries
