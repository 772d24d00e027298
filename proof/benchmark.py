"""Print the ratios the project promises, measured in one run on torchvision's wheel.

``python proof/benchmark.py FOLDER``: FOLDER as for ``proof/corpus.py``. Each figure is the median of three runs.
Nothing here fails: figures of a busy machine are no test.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpus import unpack

RUNS = 3


def median(action: Callable[[], object]) -> float:
    """Seconds, median of the runs."""
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def process(*arguments: str) -> Callable[[], object]:
    """A whole Python process."""
    return lambda: subprocess.run([sys.executable, *arguments], capture_output=True, check=False)


def main() -> int:
    """Measure and print."""
    folder = unpack("torchvision==0.20.1", Path(sys.argv[1]))
    if folder is None:
        return 0
    sources = [file.read_bytes() for file in sorted(folder.rglob("*.py"))]
    parse = median(lambda: [ast.parse(source) for source in sources])
    check = median(process("-m", "mindport", "check", "-j", "1", "--exit-zero", str(folder)))
    with tempfile.TemporaryDirectory() as empty:
        start = median(process("-m", "mindport", "check", empty)) - median(process("-c", "pass"))
    flake = ("-m", "flake8", "--isolated", "-j", "1", str(folder))
    with_plugin = median(process(*flake))
    alone = median(process("-c", WITHOUT, *flake[2:]))
    print(f"ast.parse of {len(sources)} files: {parse:.2f} s")
    print(f"mindport check -j 1, whole process: {check:.2f} s = {check / parse:.2f} x ast.parse (promise: 6)")
    print(f"start-up beyond an empty Python: {1000 * start:.0f} ms (promise: 150)")
    print(
        f"flake8 with the plugin: {with_plugin:.2f} s = {with_plugin / alone:.3f} x flake8 alone (promise: 1.25)"
    )
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
