"""``json`` of an audit: one object (``docs/audit.schema.json``), which every other report prints."""

from __future__ import annotations

from typing import Any

from mindport import __version__
from mindport.effort.audit import (
    Audit,
    apis,
    blockers,
    calendar_object,
    cell_of,
    counted,
    differences,
    file_object,
    first_model,
    headline,
    lines_object,
    phases,
    third_party,
    waves,
)
from mindport.effort.days import assumptions, drivers
from mindport.effort.lines import load_model
from mindport.effort.record import Record
from mindport.findings import Confidence, Coverage, Finding, Severity
from mindport.reports.as_json import coverage_object, error_object, finding_object

SCHEMA = "mindport-audit-1"


def document(audit: Audit) -> dict[str, Any]:
    """The audit as the JSON report writes it (``docs/audit.schema.json``)."""
    records = audit.records
    findings = [finding for record in records for finding in record.findings]
    coverage = sum((record.coverage for record in records), Coverage())
    days = audit.estimate.total
    model, table = load_model(), assumptions()
    return {
        "schema": SCHEMA,
        "version": __version__,
        "model": {
            "version": model["version"],
            "days_version": table["version"],
            "small_project": audit.small,
            "back_test": model.get("back_test", {}),
        },
        "settings": {
            key: getattr(audit.config, key.replace("-", "_"))
            for key in ("mindspore-version", "device", "mode", "api", "language")
        },
        "person_days": headline(days),
        "lines_touched": lines_object(audit.lines),
        "summary": {
            "files": len(records),
            "files_with_work": sum(1 for r in records if r.lines.likely > 0),
            "code_lines": sum(r.code for r in records),
            "findings": len(findings),
            "by_severity": {s.value: sum(f.severity is s for f in findings) for s in Severity},
            "by_family": counted(audit.catalog.by_code[f.code].family for f in findings),
            "by_confidence": {c.value: sum(f.confidence is c for f in findings) for c in Confidence},
            "by_difference": differences(audit),
        },
        "coverage": coverage_object(coverage),
        "tasks": [
            {
                "id": task.id,
                "person_days": lines_object(task.days, 3),
                "count": task.count,
                "fixed": task.fixed,
                "files": len(task.shares),
            }
            for task in audit.estimate.tasks
        ],
        "drivers": [
            {"id": t.id, "share": round(share, 3)}
            for t, share in drivers(audit.estimate.tasks)[:5]
            if share >= 0.01
        ],
        "assumptions": {k: v for k, v in table.items() if k not in ("route", "packages")},
        "calendar": calendar_object(audit),
        "waves": waves(audit),
        "phases": phases(audit),
        "first_model": first_model(audit),
        "groups": [list(group) for group in audit.order.groups],
        "files": [file_object(audit, record) for record in records],
        "apis": apis(audit),
        "blockers": blockers(audit),
        "third_party": third_party(audit),
        "findings": [_finding(record, f) for record in records for f in record.findings],
        "errors": [error_object(record.error) for record in records if record.error is not None],
    }


def _finding(record: Record, finding: Finding) -> dict[str, Any]:
    data = finding_object(finding)
    del data["fix"]
    data["frame"] = [[number, text] for number, text in record.frames if abs(number - finding.line) <= 1]
    cell = cell_of(record, finding.line)
    if cell is not None:
        data["cell"], data["cell_line"] = cell
    return data
