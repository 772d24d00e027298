"""The flake8 plugin: the engine on the tree flake8 parsed. flake8 itself handles ``# noqa``."""

from __future__ import annotations

import argparse
import ast
import atexit
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mindport import __version__
from mindport.catalog import CatalogError
from mindport.config import Config, ConfigError, apply, load_config
from mindport.detectors import DetectorError
from mindport.engine import WORDS, Engine, Honour
from mindport.source.text import Source, SourceError, decode, from_tree, read_bytes

if TYPE_CHECKING:
    from mindport.store import Store

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
        for line, column, text in self._found(engine, source):
            yield line, column, text, type(self)

    def _found(self, engine: Engine, source: Source) -> list[tuple[int, int, str]]:
        """What is reported: kept from an earlier run as long as nothing it depended on changed."""
        data = _on_disk(source)
        store = _store(engine) if data is not None else None
        known = store.get(source.file) if store is not None and source.file is not None else None
        if known is not None:
            return [(line, column, text) for line, column, text in known]
        if store is not None and data is not None and engine.project.trace is not None:
            engine.project.trace.read(os.path.realpath(str(source.file)), data)
        with _no_collection():
            result = engine.check_source(source, Honour(noqa=False))
        found = [
            (f.line, f.column, f"{f.code} {f.message}; {f.suggestion} [{f.name}]") for f in result.findings
        ]
        trace = engine.project.trace
        if store is not None and source.file is not None and trace is not None and result.error is None:
            names = sorted(trace.reachable(str(source.file)))
            nodes = tuple(trace.nodes(names, engine.project.package_root))
            store.put(source.file, found, nodes, range(len(nodes)))
            store.commit()
        return found


@cache
def _store(engine: Engine) -> Store | None:
    """The result cache of this process; ``MINDPORT_NO_CACHE`` turns it off."""
    from mindport.semantics.depends import Trace
    from mindport.store import open_store

    store = open_store(engine, "flake8")
    if store is not None:
        engine.project.trace = Trace()
        atexit.register(store.close)
    return store


def _on_disk(source: Source) -> bytes | None:
    """The bytes of the file, when they are what flake8 read; an editor may hand over something else."""
    if source.file is None:
        return None
    try:
        data = read_bytes(source.file)
        same = decode(data).removeprefix("\ufeff") == source.text.removeprefix("\ufeff")
    except SourceError:
        return None
    return data if same else None


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
