"""What an audit keeps of one file: small, and the same in memory, in the cache and in a shard's file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mindport.codec import coverage_row, finding_of, finding_row
from mindport.effort.facts import Request
from mindport.effort.features import Features
from mindport.effort.lines import NONE, Lines
from mindport.findings import Coverage, FileError, Finding

SHARD = "mindport-audit-shard-2"
"""The schema of a shard's file."""
FRAME = 1
"""Lines before and after a finding that stay for its code frame."""
WIDTH = 200


@dataclass(frozen=True, slots=True)
class Record:
    """One audited file. ``real``: its real path; ``packages``: what it imports from outside the project, once the
    whole project is known; ``frames``: the source lines around its findings by number.

    ``cell_of``: for a notebook, the 1-based cell and first line of each stretch of lines.
    """

    path: str
    real: str
    stage: str | None = None
    features: Features | None = None
    apis: tuple[tuple[str, int], ...] = ()
    maybe: tuple[tuple[str, int], ...] = ()
    imports: tuple[Request, ...] = ()
    packages: tuple[tuple[str, int], ...] = ()
    modules: int = 0
    findings: tuple[Finding, ...] = ()
    frames: tuple[tuple[int, str], ...] = ()
    coverage: Coverage = Coverage()
    error: FileError | None = None
    lines: Lines = NONE
    cells: tuple[tuple[int, int], ...] = ()

    @property
    def kind(self) -> str:
        """What the file is for."""
        return self.features.kind if self.features is not None else "other"

    @property
    def code(self) -> int:
        """Lines with code."""
        return self.features.code if self.features is not None else 0


def frames_of(findings: tuple[Finding, ...], lines: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """The source lines that findings need for their code frames."""
    wanted = {
        number
        for finding in findings
        for number in range(finding.line - FRAME, finding.line + FRAME + 1)
        if 0 < number <= len(lines)
    }
    return tuple((number, lines[number - 1].rstrip("\r\n")[:WIDTH]) for number in sorted(wanted))


def to_object(record: Record) -> dict[str, Any]:
    """A record as JSON can hold it."""
    data = {f: getattr(record, f) for f in ("path", "real", "stage", "apis", "maybe", "imports", "packages")}
    return data | {
        "modules": record.modules,
        "features": None if record.features is None else asdict(record.features),
        "findings": [finding_row(finding, fix=False) for finding in record.findings],
        "frames": record.frames,
        "coverage": coverage_row(record.coverage),
        "error": None if record.error is None else asdict(record.error),
        "lines": [record.lines.low, record.lines.likely, record.lines.high],
        "cells": record.cells,
    }


def from_object(data: Mapping[str, Any]) -> Record:
    """The record of such an object; raises KeyError, TypeError or ValueError when it is none."""

    def pairs(key: str) -> tuple[Any, ...]:
        return tuple((a, b) for a, b in data[key])

    return Record(
        str(data["path"]),
        str(data["real"]),
        data["stage"],
        None if data["features"] is None else Features(**data["features"]),
        pairs("apis"),
        pairs("maybe"),
        tuple((level, target, name) for level, target, name in data["imports"]),
        pairs("packages"),
        int(data["modules"]),
        tuple(finding_of(str(data["path"]), row) for row in data["findings"]),
        pairs("frames"),
        Coverage(*data["coverage"]),
        None if data["error"] is None else FileError(**data["error"]),
        Lines(*data["lines"]),
        pairs("cells"),
    )
