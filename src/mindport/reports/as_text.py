"""``text``: message, code frame and suggestion for people; ``concise``: one line per finding."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from mindport.engine import Result
from mindport.findings import FileError, Finding, Severity
from mindport.reports.run import Run
from mindport.reports.words import WORDS, duration

_STYLES = {
    Severity.BLOCKER: "bold red",
    Severity.CRITICAL: "bold magenta",
    Severity.MAJOR: "yellow",
    Severity.MINOR: "cyan",
    Severity.INFO: "dim",
}
FRAME_WIDTH = 160


def error_line(error: FileError, language: str) -> str:
    """One line for a file that could not be checked: what, where."""
    place = error.path + (f":{error.line}:{error.column + 1}" if error.line else "")
    return f"{place}: {WORDS[language]['error']}: {error.reason}"


def concise_line(finding: Finding) -> str:
    """``path:line:column: CODE message; suggestion`` with a 1-based column, as compilers print."""
    return (
        f"{finding.path}:{finding.line}:{finding.column + 1}: {finding.code} "
        f"[{finding.severity.value}] {finding.message}; {finding.suggestion}"
    )


def print_concise(run: Run, console: Console) -> None:
    """One line per finding and per failed file, then the summary."""
    for result in run.results:
        if result.error is not None:
            console.print(Text(error_line(result.error, run.language)), soft_wrap=True)
        for finding in result.findings:
            console.print(Text(concise_line(finding)), soft_wrap=True)
    print_summary(run, console)


def print_text(run: Run, console: Console) -> None:
    """Findings with their code frames, then the summary."""
    for result in run.results:
        if result.error is not None:
            console.print(Text(error_line(result.error, run.language), style="bold red"), soft_wrap=True)
        for finding in result.findings:
            _print_finding(result, finding, run.language, console)
    print_summary(run, console)


def _print_finding(result: Result, finding: Finding, language: str, console: Console) -> None:
    place = f"{finding.path}:{finding.line}:{finding.column + 1}"
    style = _STYLES[finding.severity]
    head = Text.assemble(
        (place, "bold"),
        "  ",
        (f"{finding.code} {finding.severity.value}", style),
        "  ",
        finding.message,
    )
    console.print(head, soft_wrap=True)
    for line in _frame(result, finding):
        console.print(line, soft_wrap=True)
    console.print(
        Text.assemble("      = ", (WORDS[language]["fix"], "green"), ": ", finding.suggestion), soft_wrap=True
    )
    console.print()


def _frame(result: Result, finding: Finding) -> Iterator[Text]:
    span = finding.span
    if not 1 <= span.line <= len(result.lines):
        return
    raw = result.lines[span.line - 1].replace("\f", " ")
    if len(raw) > FRAME_WIDTH and span.column > FRAME_WIDTH // 2:
        return
    code = raw.expandtabs(4)
    start = len(raw[: span.column].expandtabs(4))
    end = len(raw[: span.end_column].expandtabs(4)) if span.end_line == span.line else len(code.rstrip())
    number = f"{span.line:5}"
    yield Text.assemble((number, "dim"), (" | ", "dim"), code[:FRAME_WIDTH])
    width = Text(code[start:end]).cell_len
    pad = Text(code[:start]).cell_len
    yield Text.assemble(("      | ", "dim"), " " * pad, ("^" * max(1, width), _STYLES[finding.severity]))


def print_summary(run: Run, console: Console) -> None:
    """The closing lines: how many, how much work, and what was covered."""
    words = WORDS[run.language]
    coverage = run.coverage
    total = len(run.findings)
    hit = sum(1 for result in run.results if result.findings)
    key = "clean" if not total else "one" if total == 1 else "summary"
    parts = [words[key].format(findings=total, hit=hit, files=coverage.files)]
    if run.errors:
        parts.append(words["failed"].format(failed=len(run.errors)))
    console.print(Text("; ".join(parts)), soft_wrap=True)
    if total:
        effort = run.effort()
        low, likely, high = (duration(m, run.language) for m in (effort.low, effort.likely, effort.high))
        console.print(Text(words["effort"].format(low=low, likely=likely, high=high)), soft_wrap=True)
    if coverage.sites:
        percent = f"{100 * coverage.judged / coverage.sites:.0f} %"
        line = words["coverage"].format(
            sites=coverage.sites, judged=coverage.judged, percent=percent, unknown=coverage.unknown
        )
    else:
        line = words["nothing"]
    console.print(Text(line), soft_wrap=True)


def print_statistics(run: Run, console: Console) -> None:
    """A table of findings and likely effort per check, most first."""
    words = WORDS[run.language]
    counts = Counter(finding.code for finding in run.findings)
    minutes: dict[str, float] = defaultdict(float)
    for finding in run.findings:
        minutes[finding.code] += finding.effort.likely
    rows = [tuple(words[key] for key in ("count", "code", "severity", "minutes", "name"))]
    for code, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        check = run.catalog.by_code[code]
        likely = duration(minutes[code], run.language)
        title = f"{check.name}: {check.text(run.language).title}"
        rows.append((str(count), code, check.severity.value, likely, title))
    widths = [max(cell_len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [set_cell_size(cell, width) for cell, width in zip(row, widths, strict=False)]
        console.print(Text("  ".join([*cells, row[4]])), soft_wrap=True)
