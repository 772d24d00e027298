"""Generated ``construct`` bodies: does mindport's verdict agree with the graph compiler of MindSpore 2.10.0?

Each program combines one to four pieces (`fragments.py`), some in other surroundings: under conditions that the
parser prunes or keeps, in loops, in methods and helpers, in methods that nobody calls. It runs in PyNative and in
GRAPH_MODE, each in a forked process: two calls with different inputs, and the gradient of the first. mindport's verdict
is whether the file gets an MSP5xx finding of severity ``blocker`` or ``critical``.

``python proof/graph_programs.py --count 1000 --seed 0``; without ``--count`` a fixed sample. Disagreements that
``graph_disagreements.toml`` explains (by the pieces of the program) are listed apart and do not fail the run.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import random
import tempfile
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import tomli
from fragments import BAD, GOOD, Piece
from running import load

from mindport.catalog import load_catalog
from mindport.config import Config
from mindport.engine import Engine
from mindport.findings import Severity

SAMPLE = 100
REQUIRED = 0.97
TIMEOUT = 60
"""Seconds one program may take in one mode."""
TOLERANCE = 1e-3
FLAT = 1e-6
"""A gradient that is smaller everywhere cannot show whether it is lost (saturated layers, constants)."""
NO_GRADIENT = "equal, no gradient to lose"
HEAD = """import collections
import contextlib
import dataclasses
import functools
import itertools
import math
import random

import mindspore as ms
import numpy as np
from mindspore import nn, ops

"""
SURROUNDINGS = ("plain",) * 6 + (
    "method", "helper", "loop", "tensor-if", "self-on", "self-off", "static-if", "uncalled", "after-return", "nested",
)  # fmt: skip


class Program:
    """One generated program: its source and the names of its pieces."""

    def __init__(self, number: int, seed: int) -> None:
        self.random = random.Random(seed * 1_000_003 + number)
        self.number = number
        self.init: list[str] = []
        self.cls: list[str] = []
        self.module: list[str] = []
        self.body: list[str] = [self.random.choice(["y = x * 2", "y = x", "y = x + 1", "y = ops.sin(x) * 3"])]
        self.names: list[str] = []
        bad = self.random.random() < 0.5
        count = self.random.randint(1, 4)
        place = self.random.randrange(count)
        for index in range(count):
            choice = BAD if bad and index == place else GOOD
            self.add(self.random.choice(choice), index)

    def add(self, piece: Piece, index: int) -> None:
        """Add a piece in surroundings of its own."""
        tag = f"{index}"
        surrounding = self.random.choice(SURROUNDINGS)
        uses_t = (
            "t" in piece.body.replace("(", " ").replace(")", " ").replace("]", " ").split()
            or "t.item" in piece.body
        )
        if "return" in piece.body and surrounding in ("loop", "tensor-if", "nested"):
            surrounding = "plain"
        if ("global" in piece.body or "nonlocal" in piece.body) and surrounding != "plain":
            surrounding = "plain"
        self.names.append(piece.name if surrounding == "plain" else f"{piece.name}@{surrounding}")
        body = piece.body.replace("_N", f"_{tag}")
        self.init += [piece.init.replace("_N", f"_{tag}")] if piece.init else []
        self.cls += [piece.cls.replace("_N", f"_{tag}")] if piece.cls else []
        self.module += [piece.module.replace("_N", f"_{tag}")] if piece.module else []
        inner = textwrap.indent(body, "    ")
        parameters = "y, t" if uses_t else "y"
        if surrounding == "plain":
            self.body.append(body)
        elif surrounding in ("method", "uncalled"):
            self.cls.append(f"def piece_{tag}(self, {parameters}):\n{inner}\n    return y")
            if surrounding == "method":
                self.body.append(f"y = self.piece_{tag}({parameters})")
        elif surrounding == "helper" and "self." not in body:
            self.module.append(f"def piece_{tag}({parameters}):\n{inner}\n    return y")
            self.body.append(f"y = piece_{tag}({parameters})")
        elif surrounding == "nested" and "self." not in body:
            self.body.append(
                f"def piece_{tag}({parameters}):\n{inner}\n    return y\n\ny = piece_{tag}({parameters})"
            )
        elif surrounding == "loop":
            self.body.append(f"for turn_{tag} in range(2):\n{inner}")
        elif surrounding == "tensor-if":
            self.body.append(f"if x.sum() > -100000:\n{inner}")
        elif surrounding in ("self-on", "self-off"):
            self.init.append(f"self.flag_{tag} = {surrounding == 'self-on'}")
            self.body.append(f"if self.flag_{tag}:\n{inner}")
        elif surrounding == "static-if":
            self.body.append(f"if x.shape[0] == 2:\n{inner}")
        elif surrounding == "after-return":
            self.cls.append(f"def piece_{tag}(self, {parameters}):\n    return y * 2\n{inner}\n    return y")
            self.body.append(f"y = self.piece_{tag}({parameters})")
        else:
            self.body.append(body)

    @property
    def source(self) -> str:
        """The module."""
        module = "\n\n\n".join(self.module)
        lines = ["super().__init__()", *self.init]
        init = "def __init__(self):\n" + textwrap.indent("\n".join(lines), "    ")
        body = "def construct(self, x, t):\n" + textwrap.indent("\n".join([*self.body, "return y"]), "    ")
        members = textwrap.indent("\n\n".join([init, *self.cls, body]), "    ")
        return f"{HEAD}\n{module}\n\n\nclass Net(nn.Cell):\n{members}\n"


def arrays(value: Any) -> list[Any]:
    """A result as a list of arrays."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in arrays(item)]
    return [value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)]


def execute(file: Path, graph: bool) -> dict[str, Any]:
    """The outputs of two calls and the gradient of the first; ``error`` where one raises."""
    import mindspore as ms

    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    module = load(file, file.stem)
    x = ms.Tensor(np.array([[1, -2, 3], [4, 5, -6]], np.float32))
    result: dict[str, Any] = {}
    step = "forward"
    try:
        net = module.Net()
        for call, (a, t) in enumerate(((x, 1), (-x, 2))):
            step = f"call {call + 1}"
            random.seed(call)
            np.random.seed(call)
            result[step] = arrays(net(a, ms.Tensor(t, ms.int32)))
        step = "gradient"
        random.seed(0)
        np.random.seed(0)
        result[step] = arrays(ms.grad(module.Net())(x, ms.Tensor(1, ms.int32)))
    except Exception as error:
        result["error"] = (
            step,
            f"{type(error).__name__}: {str(error).strip().splitlines()[0][:150] if str(error).strip() else ''}",
        )
    return result


def _child(connection: Any, file: Path, graph: bool) -> None:
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        connection.send(execute(file, graph))
    except BaseException as error:
        connection.send({"error": ("run", repr(error)[:150])})
    connection.close()
    os._exit(0)


def run(file: Path, graph: bool) -> dict[str, Any]:
    """Execute in a forked process with a time limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sender, file, graph))
    process.start()
    sender.close()
    result: dict[str, Any] = {"error": ("time", f"longer than {TIMEOUT} s")}
    if receiver.poll(TIMEOUT):
        try:
            result = receiver.recv()
        except EOFError:
            result = {"error": ("crash", "the process died")}
    process.join(5)
    if process.is_alive():
        process.kill()
        process.join()
    return result


def equal(one: list[Any], other: list[Any]) -> bool:
    """Whether two results are equal in number, shape, kind of dtype and value."""
    return len(one) == len(other) and all(
        a.shape == b.shape
        and a.dtype.kind == b.dtype.kind
        and np.allclose(a, b, TOLERANCE, TOLERANCE, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def verdict(eager: dict[str, Any], graph: dict[str, Any]) -> str:
    """What GRAPH_MODE makes of a program; empty when PyNative gives no reference."""
    if "error" in eager:
        return ""
    if "error" in graph:
        step, text = graph["error"]
        return f"blocked ({step}): {text}"
    for step, what in (("call 1", "different value"), ("call 2", "different on the second call")):
        if not equal(eager[step], graph[step]):
            return what
    if all(not np.any(array) for array in graph["gradient"]):
        if any(np.any(array) for array in eager["gradient"]):
            return "zero gradient"
    if not equal(eager["gradient"], graph["gradient"]):
        return "different gradient"
    flat = all(np.abs(array).max(initial=0.0) < FLAT for array in eager["gradient"])
    return NO_GRADIENT if flat else "equal"


@cache
def of_gradients() -> frozenset[str]:
    """The checks of gradients that are silently zero."""
    return frozenset(
        check.code
        for check in load_catalog().checks
        for detection in check.detections
        if any(str(event).startswith("cut-") for event in detection.parameters.get("events", ()))
    )


def judge(number: int, seed: int, folder: Path) -> tuple[int, list[str], str, list[str], str]:
    """One program: number, pieces, the compiler's verdict, mindport's codes, source."""
    program = Program(number, seed)
    file = folder / f"program_{seed}_{number}.py"
    file.write_text(program.source, encoding="utf-8")
    eager = run(file, graph=False)
    found = verdict(eager, run(file, graph=True) if "error" not in eager else {})
    checked = Engine(Config(select=("MSP5",), device="cpu")).check_file(file)
    if checked.error is not None:
        found = f"not analysed: {checked.error.reason}"
    severe = (Severity.BLOCKER, Severity.CRITICAL)
    codes = sorted({f.code for f in checked.findings if f.severity in severe})
    if found == NO_GRADIENT:
        codes = [code for code in codes if code not in of_gradients()]
    return number, program.names, found, codes, program.source


def explained(names: Sequence[str], verdict: str, known: list[dict[str, Any]]) -> str:
    """The reason a disagreement is listed with, empty when it is not."""
    bare = {name.partition("@")[0] for name in names}
    for entry in known:
        if bare.issuperset(entry["pieces"]) and verdict.startswith(entry["verdict"]):
            return str(entry["reason"])
    return ""


def main() -> int:
    """Generate, run, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=SAMPLE)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", type=Path, help="folder for the programs that disagree")
    options = parser.parse_args()
    import mindspore  # noqa: F401  (imported once, before forking)

    listed = Path(__file__).with_name("graph_disagreements.toml")
    known = tomli.loads(listed.read_text(encoding="utf-8"))["disagreement"] if listed.exists() else []
    counts: Counter[str] = Counter()
    table: Counter[tuple[str, bool]] = Counter()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = Path(name)
        jobs = [pool.submit(judge, n, options.seed, folder) for n in range(options.count)]
        for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
            if done % 100 == 0:
                print(f"{done} programs: {dict(counts)}", flush=True)
            number, names, found, codes, source = job.result()
            if not found:
                counts["discarded: PyNative itself raises"] += 1
                continue
            table[found.partition(":")[0], bool(codes)] += 1
            if (not found.startswith("equal")) is bool(codes):
                counts["agree"] += 1
                continue
            reason = explained(names, found, known)
            counts["listed" if reason else "disagree"] += 1
            print(
                f"program {number}: {' + '.join(names)}: {found}; mindport: {codes or 'nothing'}; {reason or 'NOT LISTED'}",
                flush=True,
            )
            if options.keep is not None and not reason:
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"program_{options.seed}_{number}.py").write_text(source, encoding="utf-8")
    for (what, flagged), count in sorted(table.items()):
        print(f"{what}: {'flagged' if flagged else 'quiet'}: {count}")
    judged = counts["agree"] + counts["listed"] + counts["disagree"]
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    share = counts["agree"] / judged if judged else 0.0
    print(
        f"agreement: {counts['agree']} of {judged} = {share:.1%} (at least {REQUIRED:.0%} before listed ones)"
    )
    return 0 if share >= REQUIRED and not counts["disagree"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
