"""``json``: one object with all findings; ``jsonl``: one finding per line."""

from __future__ import annotations

import json
from typing import Any

from mindport import __version__
from mindport.findings import Coverage, Effort, FileError, Finding, Fix, Span
from mindport.reports.run import Run


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding as the product contract writes it: 1-based lines, 0-based character columns."""
    return {
        "code": finding.code,
        "name": finding.name,
        "path": finding.path,
        **_span(finding.span),
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "effort_minutes": effort_object(finding.effort),
        "message": finding.message,
        "suggestion": finding.suggestion,
        "fix": None if finding.fix is None else _fix(finding.fix),
        "url": finding.url,
    }


def effort_object(effort: Effort) -> dict[str, float]:
    """Minutes, low, likely and high."""
    return {"low": effort.low, "likely": effort.likely, "high": effort.high}


def _span(span: Span) -> dict[str, int]:
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [{**_span(edit.span), "text": edit.text} for edit in fix.edits]
    return {"applicability": fix.applicability.value, "title": fix.title, "edits": edits}


def coverage_object(coverage: Coverage) -> dict[str, int]:
    """The coverage statement."""
    return {
        "files": coverage.files,
        "files_failed": coverage.files_failed,
        "sites": coverage.sites,
        "resolved": coverage.resolved,
        "judged": coverage.judged,
        "unknown": coverage.unknown,
    }


def error_object(error: FileError) -> dict[str, Any]:
    """A file that could not be checked."""
    return {"path": error.path, "line": error.line, "column": error.column, "reason": error.reason}


def to_json(run: Run) -> str:
    """The whole run as one JSON object."""
    return json.dumps(
        {
            "version": __version__,
            "findings": [finding_object(finding) for finding in run.findings],
            "errors": [error_object(error) for error in run.errors],
            "coverage": coverage_object(run.coverage),
        },
        ensure_ascii=False,
        indent=1,
    )


def to_json_lines(run: Run) -> str:
    """One finding per line."""
    return "\n".join(json.dumps(finding_object(f), ensure_ascii=False) for f in run.findings)
