"""``mindport audit``: how much work, where, in what order, with what risk."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mindport.cli.output import configured, stop

if TYPE_CHECKING:
    from mindport.catalog import Catalog
    from mindport.config import Config
    from mindport.effort.record import Record

FORMATS = ("text", "json", "html", "markdown", "csv")
SUFFIXES = (".py", ".ipynb")
LONG = 40
"""A progress bar is shown above this many files."""


def _shard(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """``2/5``: the second of five parts."""
    if value is None:
        return None
    index, slash, count = value.partition("/")
    if not slash or not index.isdigit() or not count.isdigit() or not 1 <= int(index) <= int(count):
        raise click.BadParameter("write I/N with 1 <= I <= N, for example 2/5")
    return int(index), int(count)


@click.command(context_settings={"ignore_unknown_options": False})
@click.argument("paths", nargs=-1)
@click.option("--output-format", type=click.Choice(FORMATS), default="text", help="What to write.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it (standard output without).")
@click.option("--language", help="en or zh.")
@click.option("--api", help="Which MindSpore side decides differences: nn or mint.")
@click.option("--exclude", multiple=True, help="Glob of files or folders to skip.")
@click.option(
    "--config", "settings", multiple=True, metavar="KEY=VALUE", help="A setting as in pyproject.toml."
)
@click.option("--people", type=click.IntRange(1), default=1, help="How many people port at the same time.")
@click.option("--compare", "old", metavar="OLD.json", help="Burn-down against an earlier JSON report.")
@click.option("--history", metavar="FILE", help="Append this audit to FILE (JSON lines) and print the trend.")
@click.option(
    "--fail-over", type=float, metavar="DAYS", help="Exit with 1 above this many likely person-days."
)
@click.option("--calibrate", metavar="RECORDS", help="Refit the model from RECORDS (JSON lines); print it.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Processes to use.")
@click.option("--dask", metavar="ADDRESS", help="Spread the files over a Dask cluster (extra [cluster]).")
@click.option(
    "--shard", callback=_shard, metavar="I/N", help="Audit part I of N; write it with -o, then merge."
)
@click.option("--no-cache", is_flag=True, help="Analyse every file anew.")
def audit(paths: tuple[str, ...], **options: Any) -> None:
    """Audit files and folders; `audit merge FILES` puts shards together."""
    from mindport.catalog import CatalogError, load_catalog
    from mindport.config import ConfigError
    from mindport.detectors import DetectorError

    try:
        if options["calibrate"]:
            from mindport.cli.calibrating import calibrate

            click.echo(calibrate(Path(options["calibrate"])), nl=False)
            return
        merging = paths[:1] == ("merge",) and not Path("merge").exists()
        config = _config(Path(paths[0]) if paths and not merging else Path("."), options)
        catalog = load_catalog()
        records = _merged(paths[1:]) if merging else _collected(paths or (".",), config, options)
        if options["shard"] is not None:
            _write_shard(records, options)
            return
        _finish(records, catalog, config, options)
    except (ConfigError, CatalogError, DetectorError) as error:
        stop(str(error))


def _config(start: Path, options: dict[str, Any]) -> Config:
    from mindport.config import apply

    given = {key: options[key] for key in ("language", "api")}
    config = configured(start, {**given, "exclude": list(options["exclude"]) or None}, options["settings"])
    # Possible findings only widen the range; the audit needs them whatever `check` shows.
    return apply(config, {"min-confidence": "possible"}, "audit")


def _collected(paths: tuple[str, ...], config: Config, options: dict[str, Any]) -> list[Record]:
    """Find the files, and analyse those of this shard."""
    from mindport.cli.parallel import Ways
    from mindport.cli.running import Plan, Product, look_at_files
    from mindport.effort.collect import collect, keep, kept
    from mindport.effort.record import Record
    from mindport.files import find_files
    from mindport.findings import Coverage, FileError

    product = Product("audit", collect, keep, kept)
    files: list[Path] = []
    failed: list[Record] = []
    for item in find_files(paths, config.exclude, config.root, SUFFIXES):
        if isinstance(item, FileError):
            failed.append(Record(item.path, item.path, error=item, coverage=Coverage(1, 1)))
        else:
            files.append(item)
    if options["shard"] is not None:
        index, count = options["shard"]
        files = files[index - 1 :: count]
        failed = failed if index == 1 else []
    ways = Ways(measuring=True)
    engine = ways.engine(config)
    with progress(len(files)) as advance:
        plan = Plan(options["jobs"], not options["no_cache"], options["dask"], advance)
        return [*failed, *look_at_files(product, files, engine, ways, plan)]


@contextmanager
def progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar on standard error when somebody watches and it takes long."""
    if total <= LONG or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("mindport audit", total=total)
        yield lambda count: bar.advance(task, count)


def _write_shard(records: list[Record], options: dict[str, Any]) -> None:
    import json

    from mindport import __version__
    from mindport.effort.record import SHARD, to_object

    index, count = options["shard"]
    data = {"schema": SHARD, "version": __version__, "shard": [index, count]}
    data["records"] = [to_object(record) for record in records]
    _write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", options["output"])


def _merged(files: tuple[str, ...]) -> list[Record]:
    """The records of shards; parts that are missing or given twice are an error, not a smaller estimate."""
    import json

    from mindport.effort.record import SHARD, from_object

    records: list[Record] = []
    seen: dict[int, str] = {}
    counts: set[int] = set()
    if not files:
        stop("audit merge: name the files that `audit --shard I/N -o FILE` wrote")
    for name in files:
        try:
            data = json.loads(Path(name).read_text(encoding="utf-8"))
            if data["schema"] != SHARD:
                stop(f"{name}: is no shard; write one with `mindport audit --shard I/N -o FILE`")
            index, count = data["shard"]
            records += [from_object(item) for item in data["records"]]
        except OSError as error:
            stop(f"{name}: cannot be read: {error.strerror}")
        except (ValueError, KeyError, TypeError) as error:
            stop(f"{name}: is no shard: {error}")
        if index in seen:
            stop(f"{name}: part {index}/{count} was already given by {seen[index]}")
        seen[index] = name
        counts.add(count)
    if len(counts) > 1:
        stop(f"the shards are parts of different wholes: {', '.join(map(str, sorted(counts)))}")
    missing = sorted(set(range(1, max(counts) + 1)) - set(seen))
    if missing:
        stop(f"parts missing: {', '.join(f'{i}/{max(counts)}' for i in missing)}")
    return records


def _finish(records: list[Record], catalog: Catalog, config: Config, options: dict[str, Any]) -> None:
    """Build the document, write the report, compare, and decide on the exit code."""
    import json

    from mindport.effort.audit import build
    from mindport.reports.audit_json import document

    data = document(build(records, catalog, config, options["people"]))
    lines = _progress(data, config.language, options)
    kind = options["output_format"]
    if kind == "json":
        # Indented while people may read it; the encoder for large ones is many times faster without.
        indent = 1 if len(data["findings"]) < 2_000 else None
        text = json.dumps(data, ensure_ascii=False, indent=indent) + "\n"
    elif kind == "csv":
        from mindport.reports.audit_csv import to_csv

        text = to_csv(data)
    elif kind == "markdown":
        from mindport.reports.audit_markdown import markdown

        text = markdown(data, catalog, config.language)
        text += "".join(f"{line}\n" for line in ("", *lines) if lines)
    elif kind == "html":
        from mindport.reports.audit_html import html

        text = html(data, catalog, config.language)
    else:
        from mindport.reports.audit_text import text_lines

        text = "".join(f"{line}\n" for line in (*text_lines(data, catalog, config.language), *lines))
    _write(text, options["output"])
    if kind in ("json", "csv", "html"):
        for line in lines:
            click.echo(line, err=True)
    for error in data["errors"]:
        place = error["path"] + (f":{error['line']}" if error["line"] else "")
        click.echo(f"{place}: {error['reason']}", err=True)
    if data["errors"]:
        sys.exit(2)
    limit = options["fail_over"]
    sys.exit(1 if limit is not None and data["person_days"]["likely"] > limit else 0)


def _progress(data: dict[str, Any], language: str, options: dict[str, Any]) -> list[str]:
    """The burn-down against an earlier report and the trend of a history file."""
    from mindport.effort.progress import HistoryError, append_history, compared, load_report
    from mindport.reports.audit_progress import compared_lines, trend_lines

    lines: list[str] = []
    try:
        if options["old"]:
            change = compared(load_report(Path(options["old"])), data)
            data["compared"] = change
            lines += compared_lines(change, options["old"], language)
        if options["history"]:
            lines += trend_lines(append_history(Path(options["history"]), data), language)
    except HistoryError as error:
        stop(str(error))
    return lines


def _write(text: str, output: str | None) -> None:
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        stop(f"{output}: cannot be written: {error.strerror}")
