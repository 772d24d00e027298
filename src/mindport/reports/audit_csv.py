"""``csv`` of an audit: one row per file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from mindport.findings import Severity

SIDES = ("low", "likely", "high")
HEAD = (
    "path",
    "kind",
    "stage",
    "wave",
    "code_lines",
    *(f"lines_touched_{side}" for side in SIDES),
    *(f"person_days_{side}" for side in SIDES),
    *(severity.value for severity in Severity),
)


def to_csv(document: Mapping[str, Any]) -> str:
    """The table; a text a spreadsheet would take for a formula is quoted with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for file in document["files"]:
        path = file["path"]
        writer.writerow(
            [
                f"'{path}" if path[:1] in "=+-@" else path,
                file["kind"],
                file["stage"] or "",
                file["wave"] or "",
                file["code_lines"],
                *(file["lines_touched"][side] for side in SIDES),
                *(file["person_days"][side] for side in SIDES),
                *(file["findings"].get(severity.value, 0) for severity in Severity),
            ]
        )
    return out.getvalue()
