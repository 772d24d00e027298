"""Print the ratios the project promises, measured in one run on torchvision's wheel.

``python proof/benchmark.py FOLDER``: FOLDER as for ``proof/corpus.py``. Figures are processor time, user and
system, of one process, the median of five runs; runs that are compared take turns, so that a machine that is busy
for a while slows all of them.
Nothing here fails: figures of a busy machine are no test.
"""

from __future__ import annotations

import ast
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from corpus import unpack

from mindport.catalog.load import cache_folder

RUNS = 5


def used() -> float:
    """Processor seconds of this process and of those it started and that ended."""
    return sum(os.times()[:4])


def medians(*actions: Callable[[], object]) -> list[float]:
    """Seconds of each action, median of the runs, in turns."""
    taken: list[list[float]] = [[] for _ in actions]
    for _ in range(RUNS):
        for action, times in zip(actions, taken, strict=True):
            start = used()
            action()
            times.append(used() - start)
    return [statistics.median(times) for times in taken]


def process(*arguments: str) -> Callable[[], object]:
    """A whole Python process."""
    return lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=False)


def cold(action: Callable[[], object]) -> Callable[[], object]:
    """The same without results of earlier runs; the parsed tables stay cached, as after an installation."""

    def run() -> object:
        folder = cache_folder()
        for file in folder.glob("results.db*") if folder is not None else ():
            file.unlink()
        return action()

    return run


def main() -> int:
    """Measure and print, in a cache folder of its own."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["MINDPORT_CACHE_DIR"] = cache
        return measure()


def measure() -> int:
    """The figures: cold, and again with what the result cache kept."""
    folder = unpack("torchvision==0.20.1", Path(sys.argv[1]))
    if folder is None:
        return 0
    sources = [file.read_bytes() for file in sorted(folder.rglob("*.py"))]
    command = process("-m", "mindport", "check", "-j", "1", "--exit-zero", str(folder))
    command()
    parse, check, again = medians(lambda: [ast.parse(source) for source in sources], cold(command), command)
    with tempfile.TemporaryDirectory() as empty:
        started, nothing = medians(process("-m", "mindport", "check", empty), process("-c", "pass"))
    start = started - nothing
    flake = ("-m", "flake8", "--isolated", "-j", "1", str(folder))
    plugin = process(*flake)
    plugin()
    alone, first, later = medians(process("-c", WITHOUT, *flake[2:]), cold(plugin), plugin)
    print(f"ast.parse of {len(sources)} files: {parse:.2f} s")
    print(f"mindport check -j 1, whole process: {check:.2f} s = {check / parse:.2f} x ast.parse (promise: 6)")
    print(f"  again, nothing changed: {again:.2f} s = {again / parse:.2f} x ast.parse")
    print(f"start-up beyond an empty Python: {1000 * start:.0f} ms (promise: 150)")
    print(f"flake8 alone: {alone:.2f} s; with the plugin, first run: {first:.2f} s = {first / alone:.3f} x")
    print(f"  again, nothing changed: {later:.2f} s = {later / alone:.3f} x flake8 alone (promise: 1.25)")
    return 0


WITHOUT = """
import importlib.metadata as m
plain = m.distributions
m.distributions = lambda *a, **k: (d for d in plain(*a, **k) if (d.metadata['Name'] or '').lower() != 'mindport')
from flake8.main.cli import main
raise SystemExit(main())
"""
"""flake8 as it runs when mindport is not installed."""


if __name__ == "__main__":
    raise SystemExit(main())
