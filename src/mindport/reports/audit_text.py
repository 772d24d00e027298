"""``text`` of an audit: the headline, bars, waves, blockers and names, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.cells import cell_len

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

BAR = 24
NAMES = 15
FILES = 10
WAVES = 12
PATHS = 6


def text_lines(document: Mapping[str, Any], catalog: Catalog, language: str) -> Iterator[str]:
    """The lines of the report."""
    words = AUDIT_WORDS[language]
    summary, coverage = document["summary"], document["coverage"]
    yield f"{words['title']}: {headline(document, language)}"
    yield f"  {calendar_line(document, language)}"
    lines = document["lines_touched"]
    yield (
        f"  {summary['files_with_work']:,} / {summary['files']:,} {words['files-with-work']}, "
        f"{summary['code_lines']:,} {words['code-lines']}, "
        f"{number(lines['likely'])} {words['lines-touched']} ({number(lines['low'])} - {number(lines['high'])})"
    )
    yield (
        f"  {words['coverage']}: {coverage['sites']:,} {words['seen']}, {coverage['resolved']:,} {words['resolved']}, "
        f"{coverage['judged']:,} {words['judged']}, {coverage['unknown']:,} {words['unknown']}"
    )
    yield f"  {back_test_line(document, language)}"
    yield from _bars(words["severity"], document["summary"]["by_severity"], {})
    yield from _bars(words["family"], document["summary"]["by_family"], {})
    tasks = sorted(document["tasks"], key=lambda task: -task["person_days"]["likely"])
    titles = {task["id"]: task_title(task["id"], catalog, language) for task in tasks}
    yield from _bars(
        f"{words['tasks']} ({words['days']})",
        {t["id"]: t["person_days"]["likely"] for t in tasks[:14]},
        titles,
    )
    yield from _bars(
        words["drivers"], {d["id"]: 100 * d["share"] for d in document["drivers"]}, titles, unit=" %"
    )
    yield from _order(document, words)
    yield from _blockers(document, words, language)
    yield from _tables(document, words)


def _bars(
    title: str, values: Mapping[str, float], titles: Mapping[str, str], unit: str = ""
) -> Iterator[str]:
    found = {key: value for key, value in values.items() if value}
    if not found:
        return
    yield ""
    yield title
    names = {key: titles.get(key, key) for key in found}
    width = min(64, max(cell_len(name) for name in names.values()))
    most = max(found.values())
    for key, value in found.items():
        bar = "█" * max(1, round(BAR * value / most))
        padding = " " * max(0, width - cell_len(names[key]))
        yield f"  {names[key]}{padding}  {bar} {number(value)}{unit}"


def _order(document: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    days = words["days"]
    yield ""
    yield words["phases"]
    for phase in document["phases"]:
        yield f"  {words[phase['phase']]}: {phase['files']} {words['files']}, {_range(phase['person_days'])} {days}"
    yield ""
    yield words["waves"]
    waves = document["waves"]
    for wave in waves[:WAVES]:
        shown = ", ".join(wave["files"][:2]) + (", ..." if len(wave["files"]) > 2 else "")
        yield (
            f"  {words['wave']} {wave['wave']}: {len(wave['files'])} {words['files']}, "
            f"{_range(wave['person_days'])} {days}: {shown}"
        )
    if len(waves) > WAVES:
        yield f"  ... {len(waves)}"
    first = document["first_model"]
    if first is not None:
        yield ""
        yield f"{words['first-model']}: {first['model']} ({len(first['files'])} {words['files']}, {_range(first['person_days'])} {days})"
        for path in first["files"][:PATHS]:
            yield f"  {path}"
        if len(first["files"]) > PATHS:
            yield f"  ... {len(first['files'])}"


def _range(days: Mapping[str, float]) -> str:
    return f"{number(days['low'])} - {number(days['high'])}"


def _blockers(document: Mapping[str, Any], words: Mapping[str, str], language: str) -> Iterator[str]:
    if not document["blockers"]:
        return
    yield ""
    yield words["blockers"]
    for item in document["blockers"][:FILES]:
        code = f"{item['code']} " if item["code"] else ""
        yield f"  {code}{item['name']}: {item['count']} x, {len(item['files'])} {words['files']}, {item['files'][0]}"
    yield f"  {words['routes']}:"
    for index, route in enumerate(routes(language), 1):
        yield f"    {index}. {route}"


def _tables(document: Mapping[str, Any], words: Mapping[str, str]) -> Iterator[str]:
    if document["apis"]:
        yield ""
        yield words["apis"]
        for api in document["apis"][:NAMES]:
            target = (api["target"] or "-").split("\n")[0]
            yield f"  {api['count']:>6}  {api['name']} -> {target} ({words.get(api['difference'], api['difference'])})"
    if document["third_party"]:
        yield ""
        yield words["third-party"]
        for item in document["third_party"][:NAMES]:
            ported = f": {item['ported']}" if item["ported"] else ""
            yield f"  {item['package']} ({words['risk']}: {words[item['risk']]}, {item['files']} {words['files']}){ported}"
    files = sorted(document["files"], key=lambda f: (-f["person_days"]["likely"], f["path"]))[:FILES]
    if files and files[0]["person_days"]["likely"] > 0:
        yield ""
        yield f"{words['map']} ({words['days']})"
        for file in files:
            yield f"  {_range(file['person_days'])}  {file['path']} ({number(file['lines_touched']['likely'])} {words['lines-touched']})"
