"""Checking files with several processes; results come back in the order of the files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mindport.config import Config
from mindport.engine import Engine, Result, display_path

if TYPE_CHECKING:
    from mindport.fixes.apply import Fixed

_engines: dict[int, Engine] = {}


@dataclass(frozen=True, slots=True)
class Ways:
    """How an engine looks at files beside its configuration: inventory of sites, oracle, fixes."""

    inventory: bool = False
    deep: bool = False
    fixing: bool = False

    def engine(self, config: Config) -> Engine:
        """An engine that works this way."""
        oracle = None
        if self.deep:
            from mindport.deep import AstroidOracle

            oracle = AstroidOracle()
        return Engine(config, inventory=self.inventory, oracle=oracle, fixing=self.fixing)


def check_files(files: list[Path], config: Config, jobs: int, ways: Ways = Ways()) -> list[Result]:
    """Check files in ``jobs`` processes; neighbours stay together so that a package is parsed once."""
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs) as pool:
        work = partial(_chunk, config, ways)
        return [result for chunk in pool.map(work, _chunks(files, jobs)) for result in chunk]


def fix_files(
    engine: Engine, files: list[Path], jobs: int, ways: Ways = Ways(), *, unsafe: bool
) -> list[Fixed]:
    """Fix files in memory, in ``jobs`` processes; nothing is written, so all see the project as it is."""
    from mindport.fixes.apply import fix_file

    if jobs < 2 or len(files) < 2:
        return [fix_file(engine, file, unsafe=unsafe) for file in files]
    from concurrent.futures import ProcessPoolExecutor

    work = partial(_fix_chunk, engine.config, ways, unsafe)
    with ProcessPoolExecutor(jobs) as pool:
        return [fixed for chunk in pool.map(work, _chunks(files, jobs)) for fixed in chunk]


def _chunks(files: list[Path], jobs: int) -> list[list[Path]]:
    size = max(1, len(files) // (jobs * 4))
    return [files[i : i + size] for i in range(0, len(files), size)]


def _chunk(config: Config, ways: Ways, files: list[Path]) -> list[Result]:
    engine = _engine(config, ways)
    return [replace(engine.check_file(file, display_path(file)), drafts=()) for file in files]


def _fix_chunk(config: Config, ways: Ways, unsafe: bool, files: list[Path]) -> list[Fixed]:
    from mindport.fixes.apply import fix_file

    engine = _engine(config, ways)
    return [fix_file(engine, file, unsafe=unsafe) for file in files]


def _engine(config: Config, ways: Ways) -> Engine:
    engine = _engines.get(0)
    if engine is None:
        engine = _engines[0] = ways.engine(config)
    return engine
