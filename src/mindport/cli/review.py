"""``mindport review``: a port against its original, statically."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mindport.cli.output import FORMATS, codes, configured, end, print_findings, stop

SHOWN = 5
"""So many of the files without an original are named."""


@click.command()
@click.argument("port", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--against", type=click.Path(exists=True, path_type=Path), required=True, help="The torch original."
)
@click.option("--output-format", type=click.Choice(FORMATS), default="text")
@click.option("--select", multiple=True, help="Codes or prefixes, comma separated.")
@click.option("--min-severity", help="info, minor, major, critical or blocker.")
@click.option("--language", help="en or zh.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def review(port: Path, against: Path, **options: Any) -> None:
    """Say where a MindSpore port silently differs from its torch original; nothing is executed."""
    from mindport.catalog import CatalogError
    from mindport.config import ConfigError
    from mindport.detectors import DetectorError
    from mindport.engine import display_path
    from mindport.reports.words import WORDS
    from mindport.review.align import pair_files
    from mindport.review.run import Reviewer

    given = {
        "select": codes(options["select"]),
        "min-severity": options["min_severity"],
        "language": options["language"],
    }
    try:
        config = configured(port, given)
        pairs = pair_files(port, against)
        if not pairs.pairs and not pairs.errors:
            stop(f"{port}: no file has an original of its name under {against}")
        results = Reviewer(config).review(pairs)
        print_findings(results, config, options["output_format"])
        if pairs.alone:
            named = ", ".join(display_path(file) for file in pairs.alone[:SHOWN])
            more = ", ..." if len(pairs.alone) > SHOWN else ""
            words = WORDS[config.language]["alone"]
            click.echo(words.format(count=len(pairs.alone), folder=against, names=named + more), err=True)
    except (ConfigError, CatalogError, DetectorError) as error:
        stop(str(error))
    end(results, exit_zero=options["exit_zero"])
