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

Part = str | tuple[str, str]
"""A piece of a line: plain, or with a style."""


class Printer:
    """Prints lines: styled on a terminal, as plain text (and without rich's cost) elsewhere."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._styled = console.is_terminal

    def line(self, *parts: Part) -> None:
        """Print one line."""
        if self._styled:
            self._console.print(Text.assemble(*parts), soft_wrap=True)
        else:
            text = "".join(part if isinstance(part, str) else part[0] for part in parts)
            self._console.file.write(f"{text}\n")


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
    printer = Printer(console)
    for result in run.results:
        if result.error is not None:
            printer.line(error_line(result.error, run.language))
        for finding in result.findings:
            printer.line(concise_line(finding))
    _summary(run, printer)


def print_text(run: Run, console: Console) -> None:
    """Findings with their code frames, then the summary."""
    printer = Printer(console)
    for result in run.results:
        if result.error is not None:
            printer.line((error_line(result.error, run.language), "bold red"))
        for finding in result.findings:
            _finding(result, finding, run.language, printer)
    _summary(run, printer)


def _finding(result: Result, finding: Finding, language: str, printer: Printer) -> None:
    place = f"{finding.path}:{finding.line}:{finding.column + 1}"
    kind = f"{finding.code} {finding.severity.value}"
    printer.line((place, "bold"), "  ", (kind, _STYLES[finding.severity]), "  ", finding.message)
    for parts in _frame(result, finding):
        printer.line(*parts)
    printer.line("      = ", (WORDS[language]["fix"], "green"), ": ", finding.suggestion)
    printer.line()


def _frame(result: Result, finding: Finding) -> Iterator[tuple[Part, ...]]:
    span = finding.span
    if not 1 <= span.line <= len(result.lines):
        return
    raw = result.lines[span.line - 1].replace("\f", " ")
    if len(raw) > FRAME_WIDTH and span.column > FRAME_WIDTH // 2:
        return
    code = raw.expandtabs(4)
    start = len(raw[: span.column].expandtabs(4))
    end = len(raw[: span.end_column].expandtabs(4)) if span.end_line == span.line else len(code.rstrip())
    pad, width = cell_len(code[:start]), cell_len(code[start:end])
    yield (f"{span.line:5}", "dim"), (" | ", "dim"), code[:FRAME_WIDTH]
    yield ("      | ", "dim"), " " * pad, ("^" * max(1, width), _STYLES[finding.severity])


def _summary(run: Run, printer: Printer) -> None:
    """The closing lines: how many, how much work, and what was covered."""
    words = WORDS[run.language]
    coverage = run.coverage
    total = len(run.findings)
    hit = sum(1 for result in run.results if result.findings)
    key = "clean" if not total else "one" if total == 1 else "summary"
    parts = [words[key].format(findings=total, hit=hit, files=coverage.files)]
    if run.errors:
        parts.append(words["failed"].format(failed=len(run.errors)))
    printer.line("; ".join(parts))
    if total:
        effort = run.effort()
        low, likely, high = (duration(m, run.language) for m in (effort.low, effort.likely, effort.high))
        printer.line(words["effort"].format(low=low, likely=likely, high=high))
    if coverage.sites:
        percent = f"{100 * coverage.judged / coverage.sites:.0f} %"
        line = words["coverage"].format(
            sites=coverage.sites,
            resolved=coverage.resolved,
            judged=coverage.judged,
            percent=percent,
            unknown=coverage.unknown,
        )
    else:
        line = words["nothing"]
    printer.line(line)


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
    printer = Printer(console)
    for row in rows:
        cells = [set_cell_size(cell, width) for cell, width in zip(row, widths, strict=False)]
        printer.line("  ".join([*cells, row[4]]))
