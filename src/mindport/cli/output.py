"""What the commands share: how they read settings, print findings, and end."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console

    from mindport.config import Config
    from mindport.engine import Result

FORMATS = ("text", "concise", "json", "jsonl")


def stop(message: str) -> NoReturn:
    """One line about what is wrong, and exit code 2."""
    click.echo(f"mindport: {message}", err=True)
    sys.exit(2)


def console(file: Any = None) -> Console:
    """A console that prints texts as they are."""
    from rich.console import Console

    return Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)


def configured(start: Path, overrides: Mapping[str, Any], settings: tuple[str, ...] = ()) -> Config:
    """The settings that hold at a place, options first; options that were not given are None or empty.

    Raises ConfigError, also for a code nobody knows: a typo would silently check nothing.
    """
    from mindport.catalog import load_catalog
    from mindport.config import ConfigError, apply, load_config
    from mindport.engine import matches_code

    table = {key: value for key, value in overrides.items() if value not in (None, ())}
    config = apply(load_config(start, settings), table, "option --")
    known = [check.code for check in load_catalog().checks] if config.select or config.ignore else []
    for code in (*config.select, *config.ignore):
        if not any(matches_code(one, (code,)) for one in known):
            raise ConfigError(f"{code}: no such check; `mindport checks` lists them all")
    return config


def codes(values: tuple[str, ...]) -> list[str] | None:
    """Codes of an option that may be repeated and hold several, comma separated."""
    found = [code.strip() for value in values for code in value.split(",") if code.strip()]
    return found or None


def print_findings(
    results: Sequence[Result], config: Config, output_format: str, *, statistics: bool = False
) -> None:
    """Print results in one of `FORMATS`; JSON goes to standard output alone."""
    from mindport.catalog import load_catalog
    from mindport.reports import as_json, as_text
    from mindport.reports.run import Run

    run = Run(results, load_catalog(), config.language)
    as_data = output_format in ("json", "jsonl")
    if output_format == "json":
        click.echo(as_json.to_json(run))
    elif output_format == "jsonl":
        if text := as_json.to_json_lines(run):
            click.echo(text)
    elif output_format == "concise":
        as_text.print_concise(run, console())
    else:
        as_text.print_text(run, console())
    if statistics:
        as_text.print_statistics(run, console(sys.stderr if as_data else sys.stdout))
    if as_data:
        for error in run.errors:
            click.echo(as_text.error_line(error, config.language), err=True)


def end(results: Sequence[Result], *, exit_zero: bool) -> NoReturn:
    """Exit with 2 when a file could not be read, 1 when there are findings, else 0."""
    if any(result.error for result in results):
        sys.exit(2)
    sys.exit(1 if any(result.findings for result in results) and not exit_zero else 0)
