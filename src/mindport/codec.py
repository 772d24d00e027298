"""Results as compact JSON values and back: for the result cache of ``check``."""

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
        "findings": [_finding(f) for f in result.findings],
        "suppressed": [_finding(f) for f in result.suppressed],
        "error": None
        if result.error is None
        else [result.error.line, result.error.column, result.error.reason],
        "coverage": [getattr(result.coverage, name) for name in _COVERAGE],
        "stage": None if result.stage is None else result.stage.value,
    }


def decode(data: dict[str, Any], lines: tuple[str, ...] = ()) -> Result:
    """The result that was encoded, with the lines of its file."""
    path = data["path"]
    return Result(
        path,
        tuple(_read_finding(path, row) for row in data["findings"]),
        tuple(_read_finding(path, row) for row in data["suppressed"]),
        None if data["error"] is None else FileError(path, *data["error"]),
        Coverage(*data["coverage"]),
        None if data["stage"] is None else Stage(data["stage"]),
        lines,
    )


def _finding(f: Finding) -> list[Any]:
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
        None if f.fix is None else _fix(f.fix),
    ]


def _fix(fix: Fix) -> list[Any]:
    edits = [[[e.span.line, e.span.column, e.span.end_line, e.span.end_column], e.text] for e in fix.edits]
    return [fix.applicability.value, fix.title, edits]


def _read_finding(path: str, row: list[Any]) -> Finding:
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
