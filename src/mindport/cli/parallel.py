"""Checking files with several processes; results come back in the order of the files."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from mindport.config import Config
from mindport.engine import Engine, Result, display_path

_engines: dict[int, Engine] = {}


def check_files(files: list[Path], config: Config, jobs: int, *, inventory: bool = False) -> list[Result]:
    """Check files in ``jobs`` processes; neighbours stay together so that a package is parsed once."""
    size = max(1, len(files) // (jobs * 4))
    chunks = [files[i : i + size] for i in range(0, len(files), size)]
    with ProcessPoolExecutor(jobs) as pool:
        return [result for chunk in pool.map(partial(_chunk, config, inventory), chunks) for result in chunk]


def _chunk(config: Config, inventory: bool, files: list[Path]) -> list[Result]:
    engine = _engines.get(0)
    if engine is None:
        engine = _engines[0] = Engine(config, inventory=inventory)
    return [engine.check_file(file, display_path(file)) for file in files]
