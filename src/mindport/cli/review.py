"""``mindport review``: a port against its original, statically."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("port", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--against", type=click.Path(exists=True, path_type=Path), required=True, help="The torch original."
)
@click.option("--output-format", type=click.Choice(("text", "concise", "json", "jsonl")), default="text")
@click.option("--select", multiple=True, help="Codes or prefixes, comma separated.")
@click.option("--min-severity", help="info, minor, major, critical or blocker.")
@click.option("--language", help="en or zh.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def review(port: Path, against: Path, **options: Any) -> None:
    """Say where a MindSpore port silently differs from its torch original; nothing is executed."""
    from rich.console import Console

    from mindport.config import ConfigError, apply, load_config
    from mindport.reports import as_json, as_text
    from mindport.reports.run import Run
    from mindport.review.run import Reviewer

    codes = [code.strip() for value in options["select"] for code in value.split(",") if code.strip()]
    given = {
        "select": codes or None,
        "min-severity": options["min_severity"],
        "language": options["language"],
    }
    try:
        table = {key: value for key, value in given.items() if value is not None}
        config = apply(load_config(port, ()), table, "option --")
    except ConfigError as error:
        click.echo(f"mindport: {error}", err=True)
        sys.exit(2)
    reviewer = Reviewer(config)
    results = reviewer.review(port, against)
    if not results:
        click.echo(f"mindport: {port}: no file has an original of its name under {against}", err=True)
        sys.exit(2)
    run = Run(results, reviewer.catalog, config.language)
    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    if options["output_format"] == "json":
        click.echo(as_json.to_json(run))
    elif options["output_format"] == "jsonl":
        if lines := as_json.to_json_lines(run):
            click.echo(lines)
    elif options["output_format"] == "concise":
        as_text.print_concise(run, console)
    else:
        as_text.print_text(run, console)
    if run.errors:
        sys.exit(2)
    sys.exit(1 if run.findings and not options["exit_zero"] else 0)
