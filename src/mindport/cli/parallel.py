"""Checking files with several processes; results come back in the order of the files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mindport.config import Config
from mindport.engine import Engine, Result, display_path

_engines: dict[int, Engine] = {}


@dataclass(frozen=True, slots=True)
class Ways:
    """How an engine looks at files beside its configuration: with the inventory of sites, with the oracle."""

    inventory: bool = False
    deep: bool = False

    def engine(self, config: Config) -> Engine:
        """An engine that works this way."""
        oracle = None
        if self.deep:
            from mindport.deep import AstroidOracle

            oracle = AstroidOracle()
        return Engine(config, inventory=self.inventory, oracle=oracle)


def check_files(files: list[Path], config: Config, jobs: int, ways: Ways = Ways()) -> list[Result]:
    """Check files in ``jobs`` processes; neighbours stay together so that a package is parsed once."""
    from concurrent.futures import ProcessPoolExecutor

    size = max(1, len(files) // (jobs * 4))
    chunks = [files[i : i + size] for i in range(0, len(files), size)]
    with ProcessPoolExecutor(jobs) as pool:
        return [result for chunk in pool.map(partial(_chunk, config, ways), chunks) for result in chunk]


def _chunk(config: Config, ways: Ways, files: list[Path]) -> list[Result]:
    engine = _engines.get(0)
    if engine is None:
        engine = _engines[0] = ways.engine(config)
    return [engine.check_file(file, display_path(file)) for file in files]
