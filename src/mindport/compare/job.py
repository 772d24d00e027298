"""What to compare: two files, constructor arguments, inputs, tolerances; read from the command line's words."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tomli

from mindport.catalog.load import checks_directory

MODES = ("pynative", "graph")


class JobError(Exception):
    """A wrong argument, said in one line."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input tensor. Integers lie in [``low``, ``high``), floats are drawn from the standard normal."""

    shape: tuple[int, ...]
    dtype: str
    low: int = 0
    high: int = 2


@dataclass(frozen=True, slots=True)
class Side:
    """One module: the file, the class or factory in it, and what it is built with."""

    file: str
    name: str
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One comparison. Tolerances are relative to the largest value of a layer's output, absolute below 1."""

    original: Side
    port: Side
    inputs: tuple[Input, ...]
    tolerance: float = 1e-5
    grad_tolerance: float = 1e-4
    modes: tuple[str, ...] = MODES
    seed: int = 0
    as_built: bool = False
    gradients: bool = True


_INPUT = re.compile(r"(?P<shape>[\d,\s]*)(:(?P<dtype>[a-z]+\d*))?(:(?P<low>-?\d+)\.\.(?P<high>-?\d+))?")
_DTYPE = re.compile(r"(float|int|uint)(8|16|32|64)|bool")


def read_input(text: str) -> Input:
    """``1,3,32,32:float32`` or ``2,16:int64:0..100``; the dtype is float32 unless given."""
    match = _INPUT.fullmatch(text.strip())
    if match is None:
        raise JobError(f"{text}: an input is SHAPE[:DTYPE[:LOW..HIGH]], such as 2,16:int64:0..100")
    dtype = match["dtype"] or "float32"
    if not _DTYPE.fullmatch(dtype):
        raise JobError(f"{text}: unknown dtype {dtype}")
    shape = tuple(int(part) for part in match["shape"].split(",") if part.strip())
    low, high = int(match["low"] or 0), int(match["high"] or 2)
    if low >= high:
        raise JobError(f"{text}: the range is empty")
    return Input(shape, dtype, low, high)


def read_side(text: str, args: str | None, kwargs: str | None) -> Side:
    """``file.py:Class`` with Python literals for its arguments."""
    file, _, name = text.rpartition(":")
    if not file or not name.replace(".", "_").isidentifier():
        raise JobError(f"{text}: write FILE.py:Class")
    if not Path(file).is_file():
        raise JobError(f"{file}: no such file")
    positional = _literal(args or "()", "arguments")
    if not isinstance(positional, tuple | list):
        positional = (positional,)
    named = _literal(kwargs or "{}", "keyword arguments")
    if not isinstance(named, dict):
        raise JobError(f"{kwargs}: keyword arguments are a dict")
    return Side(str(Path(file).resolve()), name, tuple(positional), named)


def _literal(text: str, what: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise JobError(f"{text}: {what} must be Python literals") from error


def table() -> Mapping[str, Any]:
    """``checks/compare/weights.toml``."""
    file = checks_directory() / "compare" / "weights.toml"
    return tomli.loads(file.read_text(encoding="utf-8"))


def side_task(job: Job, side: Side, mode: str) -> dict[str, Any]:
    """What one side's process needs to know, as JSON can carry it; arguments as source of literals."""
    facts = table()
    return {
        "file": side.file,
        "name": side.name,
        "args": repr(side.args),
        "kwargs": repr(dict(side.kwargs or {})),
        "inputs": [asdict(item) for item in job.inputs],
        "mode": mode,
        "seed": job.seed,
        "gradients": job.gradients,
        "random": facts["random"],
        "attributes": sorted({*facts["attributes"], *_flat(facts["attributes"].values())}),
    }


def _flat(lists: Any) -> list[str]:
    return [item for part in lists for item in part]


def write_task(task: Mapping[str, Any], folder: Path) -> None:
    """Leave a task where the side's process looks for it."""
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")


def names_of(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of a record's entries."""
    return [str(item["name"]) for item in items]
