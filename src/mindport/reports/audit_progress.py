"""The burn-down and the trend as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mindport.reports.audit_words import AUDIT_WORDS, number

BAR = 30


def compared_lines(change: Mapping[str, Any], file: str, language: str) -> list[str]:
    """What is left, what is done, what is new since an earlier report."""
    words = AUDIT_WORDS[language]
    days, lines, findings = change["person_days"], change["lines_touched"], change["findings"]
    result = [
        words["compared"].format(file=file),
        f"  {words['days']}: {number(days['old']['likely'])} -> {number(days['new']['likely'])}",
        f"  {words['lines-touched']}: {number(lines['old']['likely'])} -> {number(lines['new']['likely'])}",
        f"  {words['findings']}: {findings['old']} -> {findings['new']} "
        f"({words['done']}: {findings['gone']}, {words['new']}: {findings['come']})",
        f"  {words['files']}: {words['done']} {len(change['files_done'])}, {words['new']} {len(change['files_new'])}",
    ]
    models = change["model"]
    if models["old"] != models["new"]:
        result.append(f"  {words['model-changed'].format(**models)}")
    return result


def trend_lines(entries: Sequence[Mapping[str, Any]], language: str) -> list[str]:
    """One bar of likely days per audit."""
    words = AUDIT_WORDS[language]
    most = max((entry["person_days"]["likely"] for entry in entries), default=0) or 1
    return [f"{words['trend']} ({words['days']})"] + [
        f"  {entry['date']}  {'█' * round(BAR * entry['person_days']['likely'] / most)} "
        f"{number(entry['person_days']['likely'])}"
        for entry in entries
    ]
