"""What both sides' processes share: loading the module, drawing inputs, flattening outputs, leaving the record."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

PROBE_ROWS = 4000
"""Rows of ones a random layer is measured on: 4000 independent draws put the rate within 0.03."""


class Record:
    """What one side did: facts as JSON, arrays beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.facts: dict[str, Any] = {"errors": {}}
        self.arrays: dict[str, Any] = {}

    def keep(self, array: Any) -> str:
        """Store an array and return its key."""
        key = f"a{len(self.arrays)}"
        self.arrays[key] = array
        return key

    def save(self) -> None:
        """Write both files."""
        np.savez(self.folder / "arrays.npz", **self.arrays)
        (self.folder / "record.json").write_text(json.dumps(self.facts), encoding="utf-8")


def phase(record: Record, name: str, run: Callable[[], None]) -> bool:
    """Run one phase; an error becomes part of the record. Whether it worked."""
    try:
        run()
    except Exception as error:
        text = next((line for line in str(error).splitlines() if line.strip()), "")
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        record.facts["errors"][name] = f"{type(error).__name__}: {text.strip()}{place}"
        return False
    return True


def build(task: Mapping[str, Any]) -> Any:
    """Import the file under a name of its own and call the class or factory in it."""
    file = Path(task["file"])
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    target: Any = module
    for part in task["name"].split("."):
        target = getattr(target, part)
    return target(*ast.literal_eval(task["args"]), **ast.literal_eval(task["kwargs"]))


def draw(task: Mapping[str, Any]) -> list[Any]:
    """The inputs, the same numbers on both sides."""
    generator = np.random.RandomState(task["seed"])
    result = []
    for item in task["inputs"]:
        shape, dtype = tuple(item["shape"]), item["dtype"]
        if dtype.startswith("float"):
            result.append(generator.standard_normal(shape).astype(dtype))
        else:
            result.append(generator.randint(item["low"], item["high"], shape).astype(dtype))
    return result


def cotangent(index: int, shape: tuple[int, ...], seed: int) -> Any:
    """What an output is weighted with before gradients are taken."""
    return np.random.RandomState(seed + 7919 * (index + 1)).standard_normal(shape).astype("float32")


def leaves(value: Any, is_tensor: Callable[[Any], bool], path: tuple[Any, ...] = ()) -> Iterator[Any]:
    """(path, tensor) for every tensor in a nested output, in order."""
    if is_tensor(value):
        yield path, value
    elif isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], is_tensor, (*path, key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from leaves(item, is_tensor, (*path, index))


def probe_shape(shape: list[int]) -> tuple[int, ...]:
    """The shape of ones a random layer is measured on."""
    return (PROBE_ROWS, *(min(size, 2) for size in shape[1:])) if len(shape) > 1 else (10 * PROBE_ROWS,)


def attributes_of(layer: Any, wanted: list[str]) -> dict[str, float]:
    """The numbers among a layer's attributes."""
    result = {}
    for name in wanted:
        value = getattr(layer, name, None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            result[name] = float(value)
    return result


def start() -> tuple[Record, dict[str, Any]]:
    """The record and the task of this process: the folder is its only argument."""
    folder = Path(sys.argv[1])
    return Record(folder), json.loads((folder / "task.json").read_text(encoding="utf-8"))
