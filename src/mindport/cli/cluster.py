"""Checking chunks of files on a Dask cluster that is already there (extra ``[cluster]``).

Workers need mindport and the same files under the same paths. Dask runs the work of a worker that dies again
on another one, so nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from mindport.cli.running import Answer, Task, work
from mindport.config import ConfigError

T = TypeVar("T")


def spread(
    address: str, parts: Sequence[tuple[Path, ...]], task: Task[T], timeout: float = 20
) -> Iterator[Answer[T]]:
    """The answers for the chunks, as the cluster finishes them."""
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise ConfigError("--dask needs the extra: pip install 'mindport[cluster]'") from error
    try:
        client = Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise ConfigError(f"--dask {address}: no scheduler answers there: {error}") from error
    with client:
        absolute = [tuple(file.absolute() for file in part) for part in parts]
        futures = [client.submit(_work, task, part, str(Path.cwd()), pure=False) for part in absolute]
        plain = dict(zip((f.key for f in futures), parts, strict=True))
        for future, answer in as_completed(futures, with_results=True):
            future.release()
            yield Answer(plain[future.key], answer.made, answer.nodes, answer.used)


def _work(task: Task[T], files: tuple[Path, ...], folder: str) -> Answer[T]:
    """Check a chunk on a worker, which shows paths as the one who asked sees them."""
    import os

    os.chdir(folder)
    return work(task, files)
