"""Looking at many files: from the cache, in this process, in several, or on a cluster; results as they come.

The order of results is not that of the files: whoever prints sorts. Nothing is kept here, so memory stays flat.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from mindport.cli.parallel import Ways, engine_for
from mindport.codec import decode, encode
from mindport.collector import held
from mindport.config import Config
from mindport.engine import Engine, Result, display_path
from mindport.findings import Finding
from mindport.semantics.depends import Node, Trace
from mindport.source import text as source_text
from mindport.source.text import SourceError
from mindport.store import Store, open_store

T = TypeVar("T")

CHUNK_BYTES = 1_000_000
"""At most so much source goes to a process at once: the last chunk decides how long the others wait."""
CHUNK_FILES = 64
FRAME = 3
"""Lines before and after a finding that stay for its code frame."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to run: processes, cache or not, a Dask scheduler's address, and whom to tell about progress."""

    jobs: int = 1
    cache: bool = True
    dask: str | None = None
    advance: Callable[[int], None] | None = None


@dataclass(frozen=True, slots=True)
class Product(Generic[T]):
    """What a run makes of each file. The functions stand at the top of a module, so that processes can share them.

    ``look`` analyses a file; ``encode`` gives a JSON value for the cache, or None where nothing is worth keeping;
    ``decode`` turns that value back.
    """

    name: str
    look: Callable[[Engine, Path], T]
    encode: Callable[[T], Any]
    decode: Callable[[Any, Path], T]


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """What every process of one run has to know; ``run`` tells runs apart that one worker serves."""

    product: Product[T]
    config: Config
    ways: Ways
    traced: bool
    run: str


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a chunk of files gave; ``used[i]`` are the positions in ``nodes`` that ``made[i]`` depended on."""

    files: tuple[Path, ...]
    made: tuple[T, ...]
    nodes: tuple[Node, ...] = ()
    used: tuple[tuple[int, ...], ...] = ()


def look_at_files(
    product: Product[T], files: Sequence[Path], engine: Engine, ways: Ways, plan: Plan = Plan()
) -> Iterator[T]:
    """Look at files; what is made of them comes in any order, each as soon as it is there."""
    advance = plan.advance or (lambda count: None)
    store = open_store(engine, ways, product.name) if plan.cache and ways.cacheable else None
    try:
        missing: list[Path] = []
        for file in files:
            known = _known(store, product, file) if store is not None else None
            if known is None:
                missing.append(file)
                continue
            advance(1)
            yield known
        task = Task(product, engine.config, ways, store is not None, os.urandom(16).hex())
        for answer in _answers(missing, engine, task, plan):
            if store is not None:
                _keep(store, product, answer)
            advance(len(answer.files))
            yield from answer.made
    finally:
        if store is not None:
            store.close()


def _known(store: Store, product: Product[T], file: Path) -> T | None:
    value = store.get(file)
    if value is None:
        return None
    try:
        return product.decode(value, file)
    except (ValueError, KeyError, TypeError, SourceError):
        return None


def _keep(store: Store, product: Product[T], answer: Answer[T]) -> None:
    for file, made, used in zip(answer.files, answer.made, answer.used, strict=True):
        value = product.encode(made)
        if value is not None:
            store.put(file, value, answer.nodes, used)
    store.commit()


def _answers(files: Sequence[Path], engine: Engine, task: Task[T], plan: Plan) -> Iterator[Answer[T]]:
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
        length = _size(file)
        if current and (size + length > CHUNK_BYTES or len(current) == most):
            result.append(tuple(current))
            current, size = [], 0
        current.append(file)
        size += length
    return [*result, tuple(current)] if current else result


def _size(file: Path) -> int:
    """Bytes; 0 for a file that cannot be asked: whoever reads it says why."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def work(task: Task[T], files: tuple[Path, ...]) -> Answer[T]:
    """Look at a chunk in a process of its own."""
    return look_at(engine_for(task.config, task.ways, task.run), task, files)


def look_at(engine: Engine, task: Task[T], files: tuple[Path, ...]) -> Answer[T]:
    """Look at a chunk with an engine."""
    if task.traced and engine.project.trace is None:
        engine.project.trace = Trace()
    made = []
    with held() as looked_at:
        for file in files:
            made.append(task.product.look(engine, file))
            looked_at(_size(file))
    trace = engine.project.trace
    if not task.traced or trace is None:
        return Answer(files, tuple(made))
    return Answer(files, tuple(made), *trace.needed(files, engine.project.package_root))


# --- what `check` makes of a file ---------------------------------------------------------------------------


def _check(engine: Engine, file: Path) -> Result:
    result = engine.check_file(file, display_path(file))
    return replace(result, drafts=(), lines=_needed(result.lines, result.findings))


def _needed(lines: Sequence[str], findings: Sequence[Finding]) -> tuple[str, ...]:
    """The lines of code frames; the others are empty, so that reports of many files stay small."""
    if not findings:
        return ()
    wanted = {
        number
        for finding in findings
        for number in range(finding.line - FRAME, finding.span.end_line + FRAME + 1)
    }
    return tuple(line if number in wanted else "" for number, line in enumerate(lines, 1))


def _encode(result: Result) -> Any:
    return encode(result) if result.stage is not None and result.error is None else None


def _decode(value: Any, file: Path) -> Result:
    if not value["findings"]:
        return decode(value)
    text = source_text.decode(source_text.read_bytes(file))
    result = decode(value)
    return replace(
        result, lines=_needed(source_text.split_lines(text.removeprefix("\ufeff")), result.findings)
    )


CHECK = Product("check", _check, _encode, _decode)


def check_files(files: Sequence[Path], engine: Engine, ways: Ways, plan: Plan = Plan()) -> Iterator[Result]:
    """The results of files, in any order."""
    return look_at_files(CHECK, files, engine, ways, plan)
