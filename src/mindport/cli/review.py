"""``mindport review``: a port against its original, statically."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mindport.cli.output import FORMATS, codes, configured, end, print_findings, stop


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
    from mindport.review.run import Reviewer

    given = {
        "select": codes(options["select"]),
        "min-severity": options["min_severity"],
        "language": options["language"],
    }
    try:
        config = configured(port, given)
        results = Reviewer(config).review(port, against)
        if not results:
            stop(f"{port}: no file has an original of its name under {against}")
        print_findings(results, config, options["output_format"])
    except (ConfigError, CatalogError, DetectorError) as error:
        stop(str(error))
    end(results, exit_zero=options["exit_zero"])
