"""``check --fix`` and ``check --diff``: what people see of it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import click

from mindport.engine import Result
from mindport.fixes.apply import Fixed, write
from mindport.reports.words import WORDS


def print_diff(fixed: Sequence[Fixed]) -> None:
    """A unified diff of everything that would change."""
    for item in fixed:
        if item.changed:
            for line in diff_lines(item):
                click.echo(line)


def diff_lines(fixed: Fixed) -> Iterator[str]:
    """The unified diff of one file, without line ends."""
    before, after = fixed.before.splitlines(), fixed.after.splitlines()
    yield from difflib.unified_diff(before, after, fixed.path, fixed.path, lineterm="")


def write_all(fixed: Sequence[Fixed]) -> tuple[list[Fixed], list[str]]:
    """Write what changed: what was written (or had nothing to change), and a line for each file that could not be."""
    done: list[Fixed] = []
    problems: list[str] = []
    for item in fixed:
        try:
            if item.changed:
                write(item)
            done.append(item)
        except OSError as error:
            problems.append(f"{item.path}: cannot be written: {error.strerror or error}")
    return done, problems


def summary(fixed: Sequence[Fixed], results: Sequence[Result], language: str, *, written: bool) -> str:
    """How much was (or would be) fixed and what is left."""
    words = WORDS[language]
    count = sum(item.count for item in fixed)
    files = sum(item.changed for item in fixed)
    left = sum(len(result.findings) for result in results)
    return words["fixed" if written else "would fix"].format(count=count, files=files, left=left)


def exit_code(fixed: Sequence[Fixed], results: Sequence[Result]) -> int:
    """0: nothing would change, 1: something would, 2: a file could not be read."""
    if any(result.error for result in results):
        return 2
    return 1 if any(item.changed for item in fixed) else 0
