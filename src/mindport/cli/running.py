"""Checking many files: from the cache, in this process, in several, or on a cluster; results as they come.

The order of results is not that of the files: whoever prints sorts. Nothing is kept here, so memory stays flat.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from mindport.cli.parallel import Ways, engine_for
from mindport.config import Config
from mindport.engine import Engine, Result, display_path
from mindport.semantics.depends import Node, Trace
from mindport.store import Store, open_store

CHUNK_BYTES = 1_000_000
"""At most so much source goes to a process at once: the last chunk decides how long the others wait."""
CHUNK_FILES = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """How to run: processes, cache or not, a Dask scheduler's address, and whom to tell about progress."""

    jobs: int = 1
    cache: bool = True
    dask: str | None = None
    advance: Callable[[int], None] | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What every process of one run has to know; ``run`` tells runs apart that one worker serves."""

    config: Config
    ways: Ways
    traced: bool
    run: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a chunk of files gave; ``used[i]`` are the positions in ``nodes`` that ``results[i]`` depended on."""

    files: tuple[Path, ...]
    results: tuple[Result, ...]
    nodes: tuple[Node, ...] = ()
    used: tuple[tuple[int, ...], ...] = ()


def check_files(files: Sequence[Path], engine: Engine, ways: Ways, plan: Plan = Plan()) -> Iterator[Result]:
    """Check files; results come in any order, each as soon as it is there."""
    advance = plan.advance or (lambda count: None)
    gc.freeze()  # what is loaded now stays; trees of many files need few collections
    gc.set_threshold(100_000, 20, 20)
    store = open_store(engine, ways) if plan.cache and ways.cacheable else None
    try:
        missing: list[Path] = []
        for file in files:
            known = store.get(file) if store is not None else None
            if known is None:
                missing.append(file)
                continue
            advance(1)
            yield known if ways.lines else replace(known, lines=())
        task = Task(engine.config, ways, store is not None, uuid4().hex)
        for answer in _answers(missing, engine, task, plan):
            advance(len(answer.files))
            if store is not None:
                _keep(store, answer)
            yield from answer.results
    finally:
        if store is not None:
            store.close()


def _keep(store: Store, answer: Answer) -> None:
    for file, result, used in zip(answer.files, answer.results, answer.used, strict=True):
        store.put(file, result, answer.nodes, used)
    store.commit()


def _answers(files: Sequence[Path], engine: Engine, task: Task, plan: Plan) -> Iterator[Answer]:
    parts = chunks(files)
    if plan.dask is not None:
        from mindport.cli.cluster import spread

        yield from spread(plan.dask, parts, task)
    elif plan.jobs > 1 and len(files) > 1:
        from concurrent.futures import ProcessPoolExecutor, as_completed

        if len(parts) < plan.jobs * 2:
            parts = chunks(files, max(1, len(files) // (plan.jobs * 2)))
        with ProcessPoolExecutor(min(plan.jobs, len(parts))) as pool:
            yield from (
                done.result() for done in as_completed(pool.submit(work, task, part) for part in parts)
            )
    else:
        for part in parts:
            yield look_at(engine, task, part)


def chunks(files: Sequence[Path], most: int = CHUNK_FILES) -> list[tuple[Path, ...]]:
    """Neighbours stay together so that a package is parsed once; no chunk is long."""
    result: list[tuple[Path, ...]] = []
    current: list[Path] = []
    size = 0
    for file in files:
        try:
            length = file.stat().st_size
        except OSError:
            length = 0
        if current and (size + length > CHUNK_BYTES or len(current) == most):
            result.append(tuple(current))
            current, size = [], 0
        current.append(file)
        size += length
    return [*result, tuple(current)] if current else result


def work(task: Task, files: tuple[Path, ...]) -> Answer:
    """Check a chunk in a process of its own."""
    return look_at(engine_for(task.config, task.ways, task.run), task, files)


def look_at(engine: Engine, task: Task, files: tuple[Path, ...]) -> Answer:
    """Check a chunk with an engine."""
    if task.traced and engine.project.trace is None:
        engine.project.trace = Trace()
    results = []
    for file in files:
        result = engine.check_file(file, display_path(file))
        results.append(replace(result, drafts=(), lines=result.lines if task.ways.lines else ()))
    trace = engine.project.trace
    if not task.traced or trace is None:
        return Answer(files, tuple(results))
    reached = [trace.reachable(str(file)) for file in files]
    names = sorted(set().union(*reached))
    places = {name: index for index, name in enumerate(names)}
    used = tuple(tuple(places[name] for name in found) for found in reached)
    return Answer(files, tuple(results), tuple(trace.nodes(names, engine.project.package_root)), used)
