"""The flake8 plugin: the engine on the tree flake8 parsed. flake8 itself handles ``# noqa``."""

from __future__ import annotations

import argparse
import ast
import atexit
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mindport import __version__
from mindport.catalog import CatalogError
from mindport.collector import held
from mindport.config import Config, ConfigError, apply, load_config
from mindport.detectors import DetectorError
from mindport.engine import WORDS, Engine, Honour, Result
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
        file, data = source.file, _on_disk(source)
        store = _store(engine) if data is not None else None
        trace = engine.project.trace
        if file is None or data is None or store is None or trace is None:
            return _texts(_check(engine, source))
        known = store.get(file, data)
        if known is not None:
            return [(line, column, text) for line, column, text in known]
        trace.read(trace.real(str(file)), data)
        result = _check(engine, source)
        found = _texts(result)
        if result.error is None:
            nodes, used = trace.needed([file], engine.project.package_root)
            store.put(file, found, nodes, used[0])
            store.commit()
        return found


def _check(engine: Engine, source: Source) -> Result:
    with held() as looked_at:
        result = engine.check_source(source, Honour(noqa=False))
        looked_at(len(source.text))
    return result


def _texts(result: Result) -> list[tuple[int, int, str]]:
    return [(f.line, f.column, f"{f.code} {f.message}; {f.suggestion} [{f.name}]") for f in result.findings]


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


@cache
def _engine(given: tuple[tuple[str, str], ...]) -> Engine:
    from flake8.exceptions import ExecutionError

    try:
        config: Config = apply(load_config(Path.cwd()), dict(given), "--mindport")
        return Engine(config, counting=False)
    except (ConfigError, CatalogError, DetectorError) as error:
        raise ExecutionError(f"mindport: {error}") from error
