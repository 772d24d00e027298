"""Results and findings as compact JSON values and back: for the result cache and what an audit keeps."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mindport.detectors import Stage
from mindport.engine import Result
from mindport.findings import (
    Applicability,
    Confidence,
    Coverage,
    Edit,
    Effort,
    FileError,
    Finding,
    Fix,
    Severity,
    Span,
)

_SEVERITY = {severity.value: severity for severity in Severity}
_CONFIDENCE = {confidence.value: confidence for confidence in Confidence}
_COVERAGE = tuple(f.name for f in fields(Coverage))


def encode(result: Result) -> dict[str, Any]:
    """A result without source lines, site inventory and drafts, which can be had again from the file."""
    return {
        "path": result.path,
        "findings": [finding_row(f) for f in result.findings],
        "suppressed": [finding_row(f) for f in result.suppressed],
        "error": None
        if result.error is None
        else [result.error.line, result.error.column, result.error.reason],
        "coverage": coverage_row(result.coverage),
        "stage": None if result.stage is None else result.stage.value,
    }


def decode(data: dict[str, Any], lines: tuple[str, ...] = ()) -> Result:
    """The result that was encoded, with the lines of its file."""
    path = data["path"]
    return Result(
        path,
        tuple(finding_of(path, row) for row in data["findings"]),
        tuple(finding_of(path, row) for row in data["suppressed"]),
        None if data["error"] is None else FileError(path, *data["error"]),
        Coverage(*data["coverage"]),
        None if data["stage"] is None else Stage(data["stage"]),
        lines,
    )


def coverage_row(coverage: Coverage) -> list[int]:
    """The numbers of a coverage, in the order of its fields."""
    return [getattr(coverage, name) for name in _COVERAGE]


def finding_row(f: Finding, *, fix: bool = True) -> list[Any]:
    """A finding without the path of its file, with its fix or without."""
    span, effort = f.span, f.effort
    return [
        f.code,
        f.name,
        [span.line, span.column, span.end_line, span.end_column],
        f.severity.value,
        f.confidence.value,
        [effort.low, effort.likely, effort.high],
        f.message,
        f.suggestion,
        _fix(f.fix) if fix and f.fix is not None else None,
    ]


def _fix(fix: Fix) -> list[Any]:
    edits = [[[e.span.line, e.span.column, e.span.end_line, e.span.end_column], e.text] for e in fix.edits]
    return [fix.applicability.value, fix.title, edits]


def finding_of(path: str, row: list[Any]) -> Finding:
    """The finding of such a row; raises KeyError, TypeError or ValueError when it is none."""
    code, name, span, severity, confidence, effort, message, suggestion, fix = row
    return Finding(
        code,
        name,
        path,
        Span(*span),
        _SEVERITY[severity],
        _CONFIDENCE[confidence],
        Effort(*effort),
        message,
        suggestion,
        None if fix is None else _read_fix(fix),
    )


def _read_fix(row: list[Any]) -> Fix:
    applicability, title, edits = row
    return Fix(Applicability(applicability), title, tuple(Edit(Span(*span), text) for span, text in edits))
