"""Run the claims of ``checks/*.toml`` on real MindSpore and torch.

Each example with a ``proof`` is executed in a process of its own, once per mode: a bad one must raise the error
it names or differ from torch, a good one must run and equal torch to 1e-5. An example that is not executed says
why. Run inside Python 3.11 with mindspore 2.10.0, torch 2.13.0 and numpy < 2: ``python proof/examples.py [CODE]``.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import textwrap
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from running import load

from mindport.catalog import Check, Example, load_catalog
from mindport.catalog.model import ExampleKind

TOLERANCE = 1e-5
TIMEOUT = 120
"""Seconds one example may take before it counts as failed."""


def write(example: Example, folder: Path, name: str) -> Path:
    """The example with its ``run`` code as a module; GRAPH_MODE compiles only code that lies in a file."""
    assert example.proof is not None
    body = textwrap.indent(example.proof.run.strip(), "    ")
    file = folder / f"{name}.py"
    file.write_text(f"{example.code}\n\ndef run_proof():\n{body}\n    return result\n", encoding="utf-8")
    return file


def arrays(value: Any) -> list[Any]:
    """A result as a list of numpy arrays."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays(item)]
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "asnumpy"):
        return [value.asnumpy()]
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [np.asarray(value)]


def equal(result: Any, expected: Any) -> str:
    """Empty when equal, else what differs."""
    left, right = arrays(result), arrays(expected)
    if len(left) != len(right):
        return f"{len(left)} results instead of {len(right)}"
    for one, other in zip(left, right, strict=True):
        if one.shape != other.shape:
            return f"shape {one.shape} instead of {other.shape}"
        if not np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
            return f"max difference {np.max(np.abs(one.astype('f8') - other.astype('f8'))):.3g}"
    return ""


def execute(file: Path, mode: str) -> Any:
    """Run the module's ``run_proof`` in a MindSpore mode."""
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(0)
    module = load(file, file.stem)
    result = module.run_proof()
    arrays(result)
    return result


def judge(example: Example, file: Path, mode: str) -> str:
    """Empty when the claim holds, else why it does not."""
    proof = example.proof
    assert proof is not None
    must_fail = example.kind is ExampleKind.BAD and not proof.torch
    try:
        result = execute(file, mode)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if must_fail and proof.fails in text:
            return ""
        return f"raised {text.strip()[:300]}" + (f" (expected: {proof.fails})" if must_fail else "")
    if must_fail:
        return f"did not raise, gave {str(result)[:200]}"
    if not proof.torch:
        return ""
    import torch

    space: dict[str, Any] = {"torch": torch, "np": np}
    exec(proof.torch, space)
    difference = equal(result, space["expected"])
    if proof.differs:
        return "" if difference else "is equal to torch although it should differ"
    return difference


def _child(queue: Any, example: Example, file: Path, mode: str) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # MindSpore logs to stderr
        queue.put(judge(example, file, mode))
    except BaseException:
        queue.put("proof itself failed: " + traceback.format_exc()[-500:])


def prove(example: Example, file: Path, mode: str) -> str:
    """Judge in a forked process, so that one example cannot disturb another."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=_child, args=(queue, example, file, mode))
    process.start()
    process.join(TIMEOUT)
    if process.is_alive():
        process.kill()
        return f"took longer than {TIMEOUT} s"
    if queue.empty():
        return f"died with exit code {process.exitcode}"
    return str(queue.get())


def main() -> int:
    """Prove all examples, or those of the checks named on the command line."""
    import mindspore  # noqa: F401  (imported once, before forking)
    import torch  # noqa: F401

    wanted = set(sys.argv[1:])
    checks: list[Check] = [c for c in load_catalog(examples=True).checks if not wanted or c.code in wanted]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for check in checks:
            for index, example in enumerate(check.examples):
                proof = example.proof
                label = f"{check.code} {example.kind.value} {index}"
                if proof is None or proof.unproven:
                    counts["unproven"] += 1
                    print(f"{label}: not executed: {proof.unproven if proof else 'NO REASON GIVEN'}")
                    counts["failed"] += proof is None
                    continue
                file = write(example, Path(name), f"proof_{check.code.lower()}_{index}")
                for mode in proof.modes:
                    reason = prove(example, file, mode)
                    counts["failed" if reason else "passed"] += 1
                    print(f"{label} {mode}: {reason or 'proven'}", flush=True)
    print(f"unproven (with a reason): {counts['unproven']}")
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
