"""Execute rows of ``checks/api`` marked ``same`` or ``rename`` on the ``nn`` side with generic inputs, both frameworks.

A row counts as proven when at least one generic call works in torch and gives the same values in MindSpore
(PyNative, CPU); it fails when a call works in both and the values differ. Rows no generic call fits are listed as
not executed. Run like ``proof/examples.py``.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import numpy as np

from mindport.catalog import ApiRow, load_catalog

TOLERANCE = 1e-4


def find(name: str) -> Any:
    """The object behind a dotted name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise LookupError(name)


def inputs() -> list[tuple[Any, ...]]:
    """Argument lists that fit many functions, as numpy arrays and plain values."""
    random = np.random.default_rng(7)
    x = random.uniform(0.1, 0.9, (3, 3)).astype("f4")
    y = random.uniform(0.1, 0.9, (3, 3)).astype("f4")
    image = random.uniform(0.1, 0.9, (2, 3, 4, 4)).astype("f4")
    flags = np.array([[True, False, True], [False, True, True], [True, True, False]])
    return [
        (x,),
        (x, y),
        (x, 1),
        (x, y, 0.5),
        (x, 0, 1),
        ([x, y],),
        ([x, y], 1),
        (image,),
        (image, 2),
        (flags,),
        (flags, flags),
        (x, flags, 0.5),
        (flags, x, y),
        ((2, 3),),
        (5,),
        (np.stack([x, y]), np.stack([y, x])),
    ]


def convert(values: Any, make: Any) -> Any:
    """Arrays to tensors of one framework."""
    if isinstance(values, np.ndarray):
        return make(values)
    if isinstance(values, list):
        return [convert(value, make) for value in values]
    return values


def flat(value: Any) -> list[Any] | None:
    """Results as numpy arrays; None when they are not numbers."""
    if isinstance(value, list | tuple):
        parts = [flat(item) for item in value]
        return None if any(p is None for p in parts) else [a for p in parts if p is not None for a in p]
    for name in ("asnumpy", "numpy"):
        if hasattr(value, name):
            return [np.asarray(getattr(value, name)())]
    return [np.asarray(value)] if isinstance(value, bool | int | float) else None


def call(row: ApiRow, target: str, values: tuple[Any, ...], make: Any, torch_side: bool) -> list[Any] | None:
    """Call one side; None when it cannot be called this way."""
    arguments = [convert(value, make) for value in values]
    try:
        if row.kind == "method":
            name = row.name if torch_side else target
            last = name.rpartition(".")[2]
            if ".Tensor." in name:
                return flat(getattr(arguments[0], last)(*arguments[1:]))
        function = find(row.name if torch_side else target)
        if row.kind == "class":
            return flat(function()(*arguments))
        return flat(function(*arguments))
    except Exception:
        return None


def same(left: list[Any], right: list[Any]) -> bool:
    """Whether all values and shapes agree; dtypes may differ in width only."""
    return len(left) == len(right) and all(
        a.shape == b.shape
        and np.allclose(a.astype("c16"), b.astype("c16"), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
        for a, b in zip(left, right, strict=True)
    )


def main() -> int:
    """Print one line per row and the totals."""
    import mindspore as ms
    import torch

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    catalog = load_catalog()
    proven: list[str] = []
    differ: list[tuple[str, list[Any]]] = []
    skipped: list[str] = []
    for name in catalog.api_names:
        row = catalog.api(name)
        if (
            row is None
            or row.nn is None
            or row.nn.difference.value not in ("same", "rename")
            or not row.nn.name
        ):
            continue
        if row.kind not in ("function", "method", "class"):
            continue
        ran = False
        for values in inputs():
            expected = call(row, row.nn.name, values, lambda a: torch.from_numpy(a.copy()), True)
            if expected is None or not expected:
                continue
            result = call(row, row.nn.name, values, lambda a: ms.Tensor(a.copy()), False)
            if result is None:
                continue
            ran = True
            if not same(expected, result):
                differ.append((name, [np.shape(v) for v in values]))
                break
        else:
            (proven if ran else skipped).append(name)
    for name in proven:
        print(f"{name}: equal")
    print(f"not executed, no generic call fits: {', '.join(skipped)}")
    for name, shapes in differ:
        print(f"{name}: DIFFERS for {shapes}")
    print(f"{len(proven)} passed, {len(differ)} failed")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
