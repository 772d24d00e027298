"""``markdown`` of an audit: for an issue or a wiki."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mindport.catalog import Catalog
from mindport.reports.audit_words import (
    AUDIT_WORDS,
    back_test_line,
    calendar_line,
    headline,
    number,
    routes,
    task_title,
)

ROWS = 30


def markdown(document: Mapping[str, Any], catalog: Catalog, language: str) -> str:
    """The whole report."""
    return "\n".join(_parts(document, catalog, language)) + "\n"


def _parts(document: Mapping[str, Any], catalog: Catalog, language: str) -> Iterator[str]:
    words = AUDIT_WORDS[language]
    summary, coverage = document["summary"], document["coverage"]
    yield f"# {words['title']}\n"
    yield f"**{headline(document, language)}** ({words['range']}). {calendar_line(document, language)}\n"
    yield f"{back_test_line(document, language)}\n"
    labels = ("files", "files-with-work", "code-lines", "findings")
    yield from _table(
        (*(words[label] for label in labels), words["lines-touched"], words["judged"]),
        [
            (
                *(f"{summary[label.replace('-', '_')]:,}" for label in labels),
                _range(document["lines_touched"]),
                f"{coverage['judged']:,} / {coverage['sites']:,}",
            )
        ],
    )
    yield f"\n## {words['tasks']}\n"
    tasks = sorted(document["tasks"], key=lambda task: -task["person_days"]["likely"])
    yield from _table(
        ("", words["days"], words["likely"], words["count"]),
        [
            (
                task_title(t["id"], catalog, language),
                _range(t["person_days"]),
                number(t["person_days"]["likely"]),
                str(t["count"]),
            )
            for t in tasks
        ],
    )
    yield f"\n## {words['phases']}\n"
    yield from _table(
        ("", words["files"], words["days"]),
        [(words[p["phase"]], str(p["files"]), _range(p["person_days"])) for p in document["phases"]],
    )
    yield f"\n## {words['waves']}\n"
    yield from _table(
        (words["wave"], words["files"], words["lines-touched"], words["days"]),
        [
            (str(w["wave"]), str(len(w["files"])), number(w["lines_touched"]), _range(w["person_days"]))
            for w in document["waves"]
        ],
    )
    first = document["first_model"]
    if first is not None:
        yield f"\n## {words['first-model']}\n"
        yield f"`{first['model']}`: {_range(first['person_days'])} {words['days']}\n"
        yield from (f"- `{path}`" for path in first["files"][:ROWS])
    if document["blockers"]:
        yield f"\n## {words['blockers']}\n"
        yield from _table(
            ("", words["count"], words["files"], ""),
            [
                (
                    f"{b['code'] or ''} `{b['name']}`".strip(),
                    str(b["count"]),
                    str(len(b["files"])),
                    b["message"],
                )
                for b in document["blockers"][:ROWS]
            ],
        )
        yield f"\n{words['routes']}:\n"
        yield from (f"{index}. {route}" for index, route in enumerate(routes(language), 1))
    yield f"\n## {words['apis']}\n"
    yield from _table(
        (words["name"], words["count"], words["difference"], words["target"]),
        [
            (
                f"`{a['name']}`",
                str(a["count"]),
                words.get(a["difference"], a["difference"]),
                f"`{a['target']}`" if a["target"] else "-",
            )
            for a in document["apis"][:ROWS]
        ],
    )
    if document["third_party"]:
        yield f"\n## {words['third-party']}\n"
        yield from _table(
            (words["package"], words["risk"], words["files"], words["ported"]),
            [
                (f"`{p['package']}`", words[p["risk"]], str(p["files"]), p["ported"])
                for p in document["third_party"][:ROWS]
            ],
        )


def _range(days: Mapping[str, float]) -> str:
    return f"{number(days['low'])} - {number(days['high'])}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    names = list(head)
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" * len(names)
    for row in rows:
        yield "| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in row) + " |"
