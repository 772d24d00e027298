"""Python's garbage collector while many files are analysed.

Left alone it walks hundreds of kept trees again and again, which costs more than the checks themselves. Modules
refer to each other in circles, so never collecting would let them pile up to gigabytes.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

COLLECT_CHARACTERS = 2_500_000
"""So much source is looked at between two collections."""

_looked = [0]


@contextmanager
def held() -> Iterator[Callable[[int], None]]:
    """Hold the collector; what is alive at the end is hidden from it until the next collection.

    Gives a function to call with the size of each source that was analysed. Where a host switched the collector
    off, nothing is done.
    """
    if not gc.isenabled():
        yield lambda size: None
        return
    gc.disable()
    try:
        yield _looked_at
    finally:
        gc.freeze()
        gc.enable()


def _looked_at(size: int) -> None:
    _looked[0] += size
    if _looked[0] > COLLECT_CHARACTERS:
        _looked[0] = 0
        gc.unfreeze()
        gc.collect()  # what nobody needs any more
        gc.freeze()
