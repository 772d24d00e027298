"""The flake8 plugin: the engine on the tree flake8 parsed. flake8 itself handles ``# noqa``."""

from __future__ import annotations

import argparse
import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from mindport import __version__
from mindport.catalog import CatalogError
from mindport.config import Config, ConfigError, apply, load_config
from mindport.detectors import DetectorError
from mindport.engine import WORDS, Engine, Honour
from mindport.source.text import from_tree

_OPTIONS = ("mindspore-version", "device", "mode", "api", "language", "min-severity", "min-confidence")


class Plugin:
    """flake8's view of mindport: one instance per file."""

    name = "mindport"
    version = __version__
    _engine: ClassVar[Engine | None] = None

    def __init__(self, tree: ast.AST, lines: list[str], filename: str = "") -> None:
        self.tree = tree
        self.lines = lines
        self.filename = filename

    @staticmethod
    def add_options(parser: Any) -> None:
        """Register the options ``--mindport-*``, also readable from flake8's configuration file."""
        for option in _OPTIONS:
            parser.add_option(
                f"--mindport-{option}",
                default="",
                parse_from_config=True,
                help=f"mindport: overrides {option} of [tool.mindport] in pyproject.toml",
            )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Read ``[tool.mindport]`` and flake8's own options once per run."""
        given = ((o, getattr(options, f"mindport_{o.replace('-', '_')}", "")) for o in _OPTIONS)
        cls._engine = _engine(tuple((key, value) for key, value in given if value))

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """The findings of one file as flake8 wants them: line, 0-based column, text."""
        engine = type(self)._engine or _engine(())
        if not isinstance(self.tree, ast.Module):
            return
        stdin = self.filename in ("", "-", "stdin")
        file = None if stdin else Path(self.filename)
        source = from_tree(self.filename, self.tree, self.lines, file)
        if not any(word in source.text for word in WORDS):
            return
        with _no_collection():
            result = engine.check_source(source, Honour(noqa=False))
        for finding in result.findings:
            text = f"{finding.code} {finding.message}; {finding.suggestion} [{finding.name}]"
            yield finding.line, finding.column, text, type(self)


THAW_EVERY = 200
"""Files after which the collector looks at everything once, so that modules no longer kept are freed."""


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold the garbage collector while one file is checked, and hide from it the modules that are kept.

    Without this the collector walks hundreds of kept trees again and again during flake8's own work, which
    costs more than the checks themselves.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        if next(_files) % THAW_EVERY == 0:
            gc.unfreeze()
            gc.collect()
        gc.freeze()


_files = count(1)


@cache
def _engine(given: tuple[tuple[str, str], ...]) -> Engine:
    from flake8.exceptions import ExecutionError

    try:
        config: Config = apply(load_config(Path.cwd()), dict(given), "--mindport")
        return Engine(config)
    except (ConfigError, CatalogError, DetectorError) as error:
        raise ExecutionError(f"mindport: {error}") from error
