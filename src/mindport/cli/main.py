"""The ``mindport`` command. Exit codes: 0 clean, 1 findings, 2 usage or internal error."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mindport import __version__
from mindport.cli.audit import audit
from mindport.cli.compare import compare
from mindport.cli.output import FORMATS, codes, configured, console, end, print_findings, stop
from mindport.cli.review import review

if TYPE_CHECKING:
    from mindport.config import Config
    from mindport.engine import Result
    from mindport.fixes.apply import Fixed


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mindport")
def cli() -> None:
    """Find what is not migration-ready when PyTorch code moves to MindSpore."""


@cli.command()
@click.argument("paths", nargs=-1)
@click.option("--output-format", type=click.Choice(FORMATS), default="text", help="How to print findings.")
@click.option("--select", multiple=True, help="Codes or prefixes to check (MSP2, MSP201), comma separated.")
@click.option("--ignore", multiple=True, help="Codes or prefixes to leave out, comma separated.")
@click.option("--exclude", multiple=True, help="Glob of files or folders to skip.")
@click.option("--min-severity", help="info, minor, major, critical or blocker.")
@click.option("--min-confidence", help="possible, inferred or certain.")
@click.option("--language", help="en or zh.")
@click.option("--api", help="Which MindSpore side suggestions prefer: nn or mint.")
@click.option("--statistics", is_flag=True, help="Print findings and effort per check.")
@click.option("--stdin-filename", help="The name of the file read from standard input (path '-').")
@click.option(
    "--config", "settings", multiple=True, metavar="KEY=VALUE", help="A setting as in pyproject.toml."
)
@click.option("--deep", is_flag=True, help="Ask astroid where the files alone cannot tell (slower).")
@click.option(
    "--sites", metavar="FILE", help="Write every framework name and method call to FILE as JSON lines."
)
@click.option("--fix", is_flag=True, help="Apply the fixes that are proven equal.")
@click.option("--unsafe-fixes", is_flag=True, help="Apply the fixes that have to be read, too (with --fix).")
@click.option("--diff", is_flag=True, help="Print what --fix would change, and write nothing.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Processes to use.")
@click.option(
    "--no-cache", is_flag=True, help="Check everything anew: neither results nor tables from earlier runs."
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def check(paths: tuple[str, ...], **options: Any) -> None:
    """Check files and folders ('-' for standard input)."""
    from mindport.catalog import CatalogError
    from mindport.config import ConfigError
    from mindport.detectors import DetectorError

    fixed: list[Fixed] = []
    problems: list[str] = []
    try:
        results, config = _run(paths or (".",), options, fixed)
        if options["diff"] or options["fix"]:
            problems += _finish_fixes(fixed, results, config, paths, options)
        if options["sites"]:
            problems += _write_sites(Path(options["sites"]), results)
        print_findings(results, config, options["output_format"], statistics=options["statistics"])
    except (ConfigError, CatalogError, DetectorError) as error:
        stop(str(error))
    if problems:
        stop("\nmindport: ".join(problems))
    end(results, exit_zero=options["exit_zero"])


def _finish_fixes(
    fixed: list[Fixed],
    results: list[Result],
    config: Config,
    paths: tuple[str, ...],
    options: dict[str, Any],
) -> list[str]:
    """Print the diff and stop, or write the fixed files and say what could not be written."""
    from mindport.cli.fixing import exit_code, print_diff, summary, write_all

    from_stdin = paths == ("-",)
    if options["diff"]:
        print_diff(fixed)
        click.echo(summary(fixed, results, config.language, written=False), err=True)
        sys.exit(exit_code(fixed, results))
    if from_stdin:
        sys.stdout.buffer.write(fixed[0].after.encode(fixed[0].encoding) if fixed else b"")
        sys.stdout.flush()
        click.echo(summary(fixed, results, config.language, written=True), err=True)
        sys.exit(2 if any(result.error for result in results) else 0)
    done, problems = write_all(fixed)
    json_output = options["output_format"] in ("json", "jsonl")
    click.echo(summary(done, results, config.language, written=True), err=json_output)
    return problems


def _run(paths: tuple[str, ...], options: dict[str, Any], fixed: list[Fixed]) -> tuple[list[Result], Config]:
    import os

    from mindport.cli.parallel import Ways
    from mindport.engine import Result
    from mindport.files import find_files
    from mindport.findings import Coverage, FileError

    if options["no_cache"]:
        os.environ["MINDPORT_NO_CACHE"] = "1"
    named = options["stdin_filename"]
    first = Path(named or ".") if paths == ("-",) else Path(paths[0])
    overrides = {
        "select": codes(options["select"]),
        "ignore": codes(options["ignore"]),
        "exclude": list(options["exclude"]) or None,
        "min-severity": options["min_severity"],
        "min-confidence": options["min_confidence"],
        "language": options["language"],
        "api": options["api"],
    }
    config = configured(first, overrides, options["settings"])
    wanted = options["fix"] or options["diff"]
    with_fixes = wanted or options["output_format"] in ("json", "jsonl")
    ways = Ways(bool(options["sites"]), options["deep"], with_fixes)
    engine = ways.engine(config)
    if paths == ("-",):
        data = sys.stdin.buffer.read()
        path = Path(named).as_posix() if named else "<stdin>"
        if wanted:
            from mindport.fixes.apply import fix_bytes

            file = Path(named) if named else None
            fixed.append(fix_bytes(engine, data, path, file, unsafe=options["unsafe_fixes"]))
            return [fixed[0].result], config
        return [engine.check_bytes(data, path, Path(named) if named else None)], config
    files: list[Path] = []
    results: list[Result] = []
    for item in find_files(paths, config.exclude, config.root):
        if isinstance(item, FileError):
            results.append(Result(item.path, error=item, coverage=Coverage(1, 1)))
        else:
            files.append(item)
    if wanted:
        from mindport.cli.parallel import fix_files

        fixed += fix_files(engine, files, options["jobs"], ways, unsafe=options["unsafe_fixes"])
        results += [item.result for item in fixed]
    else:
        from mindport.cli.running import Plan, check_files

        results += check_files(files, engine, ways, Plan(options["jobs"], not options["no_cache"]))
    return sorted(results, key=lambda result: result.path), config


def _write_sites(file: Path, results: list[Result]) -> list[str]:
    """Write the inventory; a line when that cannot be done."""
    import json

    try:
        with file.open("w", encoding="utf-8") as out:
            for result in results:
                for site in result.sites:
                    out.write(json.dumps(site, ensure_ascii=False) + "\n")
    except OSError as error:
        return [f"{file}: cannot be written: {error.strerror or error}"]
    return []


@cli.command()
@click.argument("code")
@click.option("--language", help="en or zh.")
def explain(code: str, language: str | None) -> None:
    """Print the page of a check: by code, pylint id or name."""
    from rich.markdown import Markdown

    from mindport.catalog import CatalogError, load_catalog
    from mindport.config import ConfigError
    from mindport.reports.page import check_page

    try:
        config = configured(Path.cwd(), {"language": language})
        catalog = load_catalog(examples=True)
    except (ConfigError, CatalogError) as error:
        stop(str(error))
    found = catalog.by_key.get(code.upper())
    if found is None:
        import difflib

        close = difflib.get_close_matches(code.upper(), list(catalog.by_key), 3, 0.5)
        hint = (
            f"; did you mean {', '.join(c if c.startswith('MSP') else c.lower() for c in close)}?"
            if close
            else ""
        )
        stop(f"{code}: no such check{hint} `mindport checks` lists them all")
    page = check_page(found, config.language)
    terminal = console()
    if terminal.is_terminal:
        terminal.print(Markdown(page))
    else:
        click.echo(page)


@cli.command()
@click.option("--language", help="en or zh.")
@click.option("--output-format", type=click.Choice(("text", "json")), default="text")
def checks(language: str | None, output_format: str) -> None:
    """List all checks."""
    import json

    from mindport.catalog import CatalogError, load_catalog
    from mindport.config import ConfigError
    from mindport.reports.as_json import effort_object
    from mindport.reports.words import WORDS

    try:
        config = configured(Path.cwd(), {"language": language})
        catalog = load_catalog()
    except (ConfigError, CatalogError) as error:
        stop(str(error))
    if output_format == "json":
        rows = [
            {
                "code": c.code,
                "pylint_id": c.pylint_id,
                "name": c.name,
                "family": c.family,
                "severity": c.severity.value,
                "effort_minutes": effort_object(c.effort),
                "enabled": c.enabled,
                "title": c.text(config.language).title,
            }
            for c in catalog.checks
        ]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for c in catalog.checks:
        off = "" if c.enabled else f" ({WORDS[config.language]['off']})"
        click.echo(
            f"{c.code}  {c.pylint_id}  {c.severity.value:8}  {c.name}{off}: {c.text(config.language).title}"
        )


@cli.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--format", "output_format", type=click.Choice(("text", "json")), default="text")
@click.option("--language", help="en or zh.")
@click.option("--api", help="Which MindSpore side decides the difference: nn or mint.")
def lookup(names: tuple[str, ...], output_format: str, language: str | None, api: str | None) -> None:
    """Say what to use in MindSpore for torch names: torch.cat, F.gelu, x.view."""
    import json

    from mindport.catalog import CatalogError, load_catalog
    from mindport.config import ConfigError
    from mindport.reports.lookup import lookup_lines, lookup_object

    try:
        config = configured(Path.cwd(), {"language": language, "api": api})
        catalog = load_catalog()
    except (ConfigError, CatalogError) as error:
        stop(str(error))
    answers = [lookup_object(catalog, name, config.api, config.language) for name in names]
    if output_format == "json":
        click.echo(json.dumps(answers, ensure_ascii=False, indent=1))
    else:
        for answer in answers:
            for line in lookup_lines(answer, config.language):
                click.echo(line)
    sys.exit(0 if all(answer["known"] for answer in answers) else 1)


cli.add_command(audit)
cli.add_command(compare)
cli.add_command(review)


def main() -> None:
    """Entry point; an unexpected error is one line and exit code 2, never a traceback on people."""
    import os

    try:
        cli()
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        sys.exit(1)
    except Exception as error:
        if os.environ.get("MINDPORT_DEBUG"):
            raise
        stop(
            f"internal error: {type(error).__name__}: {error}; please report it (MINDPORT_DEBUG=1 shows more)"
        )


if __name__ == "__main__":
    main()
