"""How an engine is made for a run, and fixing files with several processes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mindport.config import Config
from mindport.engine import Engine

if TYPE_CHECKING:
    from mindport.fixes.apply import Fixed

_engines: dict[str, Engine] = {}


@dataclass(frozen=True, slots=True)
class Ways:
    """How an engine looks at files beside its configuration: inventory of sites, oracle, fixes, counts."""

    inventory: bool = False
    deep: bool = False
    fixing: bool = False
    measuring: bool = False

    @property
    def cacheable(self) -> bool:
        """Whether results may come from the cache: not the inventory, nor what an oracle saw beyond the files."""
        return not self.inventory and not self.deep

    def engine(self, config: Config) -> Engine:
        """An engine that works this way."""
        oracle = None
        if self.deep:
            from mindport.deep import AstroidOracle

            oracle = AstroidOracle()
        return Engine(
            config, inventory=self.inventory, oracle=oracle, fixing=self.fixing, measuring=self.measuring
        )


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


def _fix_chunk(config: Config, ways: Ways, unsafe: bool, files: list[Path]) -> list[Fixed]:
    from mindport.fixes.apply import fix_file

    engine = engine_for(config, ways)
    return [fix_file(engine, file, unsafe=unsafe) for file in files]


def engine_for(config: Config, ways: Ways, run: str = "") -> Engine:
    """The engine of this process for a run; made once. A later run sees the project anew."""
    key = repr((config, ways, run))
    engine = _engines.get(key)
    if engine is None:
        _engines.clear()
        engine = _engines[key] = ways.engine(config)
    return engine
