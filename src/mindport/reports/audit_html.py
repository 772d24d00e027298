"""``html`` of an audit: one page that needs nothing else and nobody's network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mindport.catalog import Catalog
from mindport.effort.lines import load_model
from mindport.findings import Severity
from mindport.reports.audit_words import (
    AUDIT_WORDS,
    back_test_line,
    calendar_line,
    headline,
    number,
    routes,
    task_title,
)
from mindport.reports.treemap import HEADER, Box, treemap

BUDGET = 1_700_000
"""Bytes of findings in the page; the JSON report has all."""
FILES = 2_500
BOXES = 600
WIDTH, HEIGHT = 1100, 460
SHADES = 5


def html(document: Mapping[str, Any], catalog: Catalog, language: str) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = AUDIT_WORDS[language]
    environment.filters |= {"number": number, "span": _span}
    findings, total = _findings(document)
    files = sorted(
        (f for f in document["files"] if f["lines_touched"]["likely"] > 0 or f["findings"]),
        key=lambda f: (-f["person_days"]["likely"], f["path"]),
    )
    tasks = sorted(document["tasks"], key=lambda task: -task["person_days"]["likely"])
    return environment.get_template("audit.html.j2").render(
        d=document,
        w=words,
        language=language,
        headline=headline(document, language),
        calendar=calendar_line(document, language),
        back_test=back_test_line(document, language),
        model=words["model-version"].format(**document["model"]),
        routes=routes(language),
        titles={t["id"]: task_title(t["id"], catalog, language) for t in tasks},
        tasks=tasks,
        assumptions=_assumptions(document, language),
        boxes=_boxes(document),
        width=WIDTH,
        height=HEIGHT,
        files=files[:FILES],
        files_total=len(files),
        severities=[s.value for s in Severity],
        data=_embedded(findings),
        shown=len(findings["rows"]),
        total=total,
        spread=load_model()["lines"]["spread"],
    )


def _span(days: Mapping[str, float]) -> str:
    return f"{number(days['low'])} – {number(days['high'])}"


def _assumptions(document: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """The figures the days come from, as people can read them."""
    table = document["assumptions"]
    words = AUDIT_WORDS[language]
    result = [
        (key, str(table[key])) for key in ("hours", "exponent", "correlation", "scale", "line", "script")
    ]
    result += [("verify", f"{table['verify']['minutes']}, ^{table['verify']['exponent']}")]
    result += [
        (words["class"].format(label=words.get(name, name)), f"{cost['first']} + {cost['repeat']}")
        for name, cost in table["classes"].items()
    ]
    return result + [(str(task[language]), str(task["days"])) for task in table["task"]]


def _boxes(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The treemap of likely days; darker where a line costs more."""
    files = sorted(document["files"], key=lambda f: -f["person_days"]["likely"])[:BOXES]
    days = {f["path"]: f["person_days"]["likely"] for f in files if f["person_days"]["likely"] > 0}
    lines = {f["path"]: f["lines_touched"]["likely"] for f in files}
    rates = sorted(days[p] / max(1.0, lines[p]) for p in days)
    result = []
    for box in treemap(days, WIDTH, HEIGHT):
        shade = 0
        if not box.group:
            rate = days[box.name] / max(1.0, lines[box.name])
            shade = min(SHADES - 1, sum(rate > rates[len(rates) * i // SHADES] for i in range(1, SHADES)))
        result.append(
            {
                "name": box.name,
                "days": number(box.value),
                "x": round(box.x, 1),
                "y": round(box.y, 1),
                "width": round(max(0.0, box.width - 0.6), 1),
                "height": round(max(0.0, box.height - 0.6), 1),
                "group": box.group,
                "shade": shade,
                "label": _label(box),
            }
        )
    return result


def _label(box: Box) -> str:
    """The last part of the path, as far as it fits."""
    if box.height < (2 * HEADER if box.group else HEADER) or (box.group and box.width <= 40):
        return ""
    name = box.name.rstrip("/").rpartition("/")[2]
    return _fitting(name, box.width, 7.4 if box.group else 6.4)


def _fitting(text: str, width: float, character: float) -> str:
    room = int((width - 8) / character)
    if len(text) <= room:
        return text
    return f"{text[: room - 1]}…" if room >= 6 else ""


def _findings(document: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The findings as tables of texts and rows of indexes, the most severe first, within the budget."""
    rank = {s.value: -s.rank for s in Severity}
    ordered = sorted(
        document["findings"], key=lambda f: (rank[f["severity"]], f["path"], f["line"], f["code"])
    )
    texts: dict[str, int] = {}
    size = 0

    def text(value: str) -> int:
        nonlocal size
        if value not in texts:
            texts[value] = len(texts)
            size += len(value.encode()) + 3
        return texts[value]

    rows: list[list[Any]] = []
    for f in ordered:
        if size > BUDGET:
            break
        cell = [f["cell"], f["cell_line"]] if "cell" in f else 0
        parts = [f["severity"], f["confidence"], f["code"], f["path"], f["message"], f["suggestion"]]
        row = [
            *map(text, parts),
            f["line"],
            f["column"] + 1,
            [[n, text(line)] for n, line in f["frame"]],
            cell,
        ]
        size += len(json.dumps(row, separators=(",", ":")))
        rows.append(row)
    return {"texts": list(texts), "rows": rows}, len(ordered)


def _embedded(data: Mapping[str, Any]) -> str:
    """JSON inside a script element: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
