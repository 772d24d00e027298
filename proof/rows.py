"""Prove the rows of ``checks/api``: samples in torch terms, rewritten by the product's own rewriter, executed in both.

Each sample of a row is executed with torch; the same expression, rewritten for the ``nn`` and the ``mint`` side, is
executed with MindSpore (PyNative, CPU), and values, shapes and (loosely) dtypes are compared. For layers torch's
weights are copied first. Rows marked ``same`` or ``rename`` without samples are called with generic inputs.

``python proof/rows.py [--write] [NAME...]``: ``--write`` stores the results in ``checks/proven.json``, which lookup
shows. Run like ``proof/examples.py``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mindport.catalog import ApiRow, Catalog, load_catalog
from mindport.catalog.load import checks_directory
from mindport.catalog.surface import signature_of
from mindport.fixes.rewrite import ExpressionRewriter, Refused

TOLERANCE = 1e-4
Values = dict[str, Any]


# --- inputs -------------------------------------------------------------------------------------------


class Inputs:
    """The helpers a row's ``setup`` uses; they give the same numbers to both frameworks."""

    def __init__(self, make: Callable[[Any], Any], integer: str) -> None:
        self.make = make
        self.integer = integer
        self.count = 0

    def _random(self, kind: str, shape: tuple[int, ...]) -> np.random.Generator:
        self.count += 1
        return np.random.default_rng(zlib.crc32(f"{kind}{shape}{self.count}".encode()))

    def randn(self, *shape: int) -> Any:
        """Normal numbers."""
        return self.make(self._random("randn", shape).standard_normal(shape).astype("f4"))

    def rand(self, *shape: int) -> Any:
        """Numbers from 0.1 to 0.9."""
        return self.make(self._random("rand", shape).uniform(0.1, 0.9, shape).astype("f4"))

    def randint(self, high: int, *shape: int) -> Any:
        """Integers from 0 to ``high - 1``."""
        return self.make(self._random("randint", shape).integers(0, high, shape).astype(self.integer))

    def arange(self, count: int) -> Any:
        """0 ... count - 1."""
        return self.make(np.arange(count).astype(self.integer))

    def tensor(self, data: Any, dtype: str = "float32") -> Any:
        """A tensor of given values."""
        return self.make(np.array(data, dtype=dtype))

    def boolean(self, *shape: int) -> Any:
        """True and False."""
        return self.make(self._random("boolean", shape).integers(0, 2, shape).astype(bool))

    def space(self, setup: str, framework: Any) -> Values:
        """The variables a ``setup`` makes, with the framework's own name."""
        names = ("randn", "rand", "randint", "arange", "tensor", "boolean")
        space: Values = {name: getattr(self, name) for name in names}
        space |= {"np": np, "numpy": np, framework.__name__: framework}
        exec(setup, space)
        return space


# --- results ------------------------------------------------------------------------------------------


def flat(value: Any) -> list[Any] | None:
    """Results as numpy arrays; None when they are not numbers."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        parts = [flat(item) for item in value]
        return None if any(p is None for p in parts) else [a for p in parts if p is not None for a in p]
    if hasattr(value, "detach"):
        value = value.detach().resolve_conj()
        if "bfloat16" in str(value.dtype):
            value = value.float()
    if "BFloat16" in str(getattr(value, "dtype", "")):
        value = value.float()
    for name in ("asnumpy", "numpy"):
        if hasattr(value, name):
            return [np.asarray(getattr(value, name)())]
    return (
        [np.asarray(value)]
        if isinstance(value, bool | int | float | complex | np.ndarray | np.generic)
        else None
    )


def difference(result: Any, expected: Any, compare: str, tolerance: float) -> tuple[str, float]:
    """What differs (empty: nothing), and the largest difference."""
    if compare == "none":
        return "", 0.0
    if compare == "type":
        return ("" if type(result).__name__ == type(expected).__name__ else "another type"), 0.0
    left, right = flat(result), flat(expected)
    if left is None or right is None:
        same = str(result).rpartition(".")[2].lower() == str(expected).rpartition(".")[2].lower()
        return ("" if same else f"gave {result!r} instead of {expected!r}")[:200], 0.0
    if len(left) != len(right):
        return f"{len(left)} results instead of {len(right)}", 0.0
    largest = 0.0
    for one, other in zip(left, right, strict=True):
        if one.shape != other.shape and not (one.size == other.size == 1):
            return f"shape {one.shape} instead of {other.shape}", 0.0
        if compare == "shape":
            continue
        a, b = one.astype("c16").reshape(-1), other.astype("c16").reshape(-1)
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True):
            return "values differ", float(np.nanmax(np.abs(a - b)))
        finite = np.isfinite(a) & np.isfinite(b)
        largest = max(largest, float(np.max(np.abs(a - b)[finite], initial=0.0)))
    return "", largest


# --- layers -------------------------------------------------------------------------------------------

WEIGHTS = (
    ("weight", ("weight", "gamma", "embedding_table")),
    ("bias", ("bias", "beta")),
    ("running_mean", ("moving_mean",)),
    ("running_var", ("moving_variance",)),
)


class Recorder:
    """Remembers the layers one sample makes, in order, so that weights can be copied across frameworks."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def watch(self, base: type) -> Callable[[], None]:
        """Record instances of a class until the returned function is called."""
        original = base.__call__
        recorder = self

        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if layer not in recorder.made:
                recorder.made.append(layer)
                recorder.before(layer)
            return original(layer, *args, **kwargs)

        base.__call__ = call  # type: ignore[method-assign]

        def stop() -> None:
            base.__call__ = original  # type: ignore[method-assign]

        return stop

    def before(self, layer: Any) -> None:
        """Called before a layer's first call."""


class Copier(Recorder):
    """Copies the weights of torch's layers, in order, into the Cells of the other side."""

    def __init__(self, sources: list[Any], train: bool) -> None:
        super().__init__()
        self.sources = list(sources)
        self.train = train

    def before(self, layer: Any) -> None:
        """Copy into a Cell before its first call."""
        import mindspore as ms

        if self.train:
            layer.set_train()
        if len(self.made) > len(self.sources):
            return
        source = self.sources[len(self.made) - 1]
        state = {name: value.detach().numpy() for name, value in source.state_dict().items()}
        for name, parameter in layer.parameters_and_names():
            prefix, _, last = name.rpartition(".")
            for torch_name, mine in WEIGHTS:
                if last in mine:
                    full = f"{prefix}.{torch_name}" if prefix else torch_name
                    found = state.get(full, state.get(torch_name))
                    if found is not None and found.size == parameter.size:
                        parameter.set_data(ms.Tensor(found.reshape(parameter.shape).astype("f4")))
                    break
            else:
                same = state.get(name, state.get(last))
                if same is not None and same.size == parameter.size:
                    parameter.set_data(ms.Tensor(same.reshape(parameter.shape).astype("f4")))


# --- samples ------------------------------------------------------------------------------------------


def run_sample(row: ApiRow, sample: Any, setup: str, side: str, catalog: Catalog) -> tuple[str, float, str]:
    """Verdict (``equal``, ``refused: ...``, ``no kernel: ...``, ``differs: ...``), difference, rewritten code."""
    import mindspore as ms
    import torch

    options = sample if isinstance(sample, dict) else {"code": sample}
    code, setup = options["code"], options.get("setup", setup)
    train = bool(options.get("train"))
    try:
        rewritten = ExpressionRewriter(catalog.api, signature_of, side).rewrite(code)
    except Refused as refused:
        return f"refused: {refused}", 0.0, ""
    torch.manual_seed(0)
    ms.set_seed(0)
    recorder = Recorder()
    recorder.before = lambda layer: layer.train(train)  # type: ignore[method-assign]
    stop = recorder.watch(torch.nn.Module)
    try:
        inputs = Inputs(lambda a: torch.from_numpy(np.array(a)), "i8")
        expected = eval(code, inputs.space(setup, torch))
    except Exception as error:
        return f"torch fails: {type(error).__name__}: {error}"[:200], 0.0, rewritten
    finally:
        stop()
    copier = Copier(recorder.made, train)
    stop = copier.watch(ms.nn.Cell)
    try:
        space = Inputs(lambda a: ms.Tensor(np.array(a)), "i4").space(
            setup.replace("torch.", "mindspore."), ms
        )
        result = eval(rewritten, space)
        compare = str(options.get("compare", "values"))
        what, size = difference(result, expected, compare, float(options.get("atol", TOLERANCE)))
    except Exception as error:
        text = f"{type(error).__name__}: {error}".split("\n")[0][:160]
        return f"raises: {text}", 0.0, rewritten
    finally:
        stop()
    return (f"differs: {what}" if what else "equal"), size, rewritten


# --- generic calls for rows without samples ------------------------------------------------------------


def generic_inputs() -> list[tuple[Any, ...]]:
    """Argument lists that fit many functions, as numpy arrays and plain values."""
    random = np.random.default_rng(7)
    x, y = (random.uniform(0.1, 0.9, (3, 3)).astype("f4") for _ in range(2))
    image = random.uniform(0.1, 0.9, (2, 3, 4, 4)).astype("f4")
    flags = np.array([[True, False, True], [False, True, True], [True, True, False]])
    return [(x,), (x, y), (x, 1), (x, y, 0.5), (x, 0, 1), ([x, y],), ([x, y], 1), (image,), (image, 2), (flags,),
            (flags, flags), (x, flags, 0.5), (flags, x, y), ((2, 3),), (5,), (np.stack([x, y]), np.stack([y, x]))]  # fmt: skip


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


def generic_call(
    row: ApiRow, name: str, values: tuple[Any, ...], make: Callable[[Any], Any]
) -> list[Any] | None:
    """Call one side; None when it cannot be called this way."""

    def convert(value: Any) -> Any:
        if isinstance(value, list):
            return [convert(item) for item in value]
        return make(value) if isinstance(value, np.ndarray) else value

    arguments = [convert(value) for value in values]
    try:
        if ".Tensor." in name:
            return flat(getattr(arguments[0], name.rpartition(".")[2])(*arguments[1:]))
        function = find(name)
        return flat((function() if row.kind == "class" else function)(*arguments))
    except Exception:
        return None


def run_generic(row: ApiRow, name: str) -> tuple[str, float]:
    """``equal``, ``differs: ...`` or ``no generic call fits``."""
    import mindspore as ms
    import torch

    ran, largest = False, 0.0
    for values in generic_inputs():
        expected = generic_call(row, row.name, values, lambda a: torch.from_numpy(a.copy()))
        result = generic_call(row, name, values, lambda a: ms.Tensor(a.copy())) if expected else None
        if not expected or result is None:
            continue
        ran = True
        what, size = difference(result, expected, "values", TOLERANCE)
        if what:
            return f"differs: {what} for {[np.shape(v) for v in values]}", size
        largest = max(largest, size)
    return ("equal" if ran else "no generic call fits"), largest


# --- all ----------------------------------------------------------------------------------------------


def prove(row: ApiRow, raw: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
    """The results of one row by side: verdicts, largest difference."""
    found: dict[str, Any] = {}
    for side, target in (("nn", row.nn), ("mint", row.mint)):
        if target is None or (side == "mint" and target is row.nn):
            continue
        samples = raw.get("samples", [])
        verdicts: list[tuple[str, float, str]] = []
        if samples:
            verdicts = [run_sample(row, s, raw.get("setup", ""), side, catalog) for s in samples]
        elif target.name and target.difference.value in ("same", "rename") and row.kind in _CALLABLE:
            verdict, size = run_generic(row, target.name)
            verdicts = [(verdict, size, target.name)]
        if verdicts:
            found[side] = verdicts
    return found


_CALLABLE = ("function", "method", "class")


def main() -> int:
    """Print one line per row and side that is not proven, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    import mindspore as ms
    import mindspore.scipy
    import torch

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    catalog = load_catalog(examples=True)
    counts: Counter[str] = Counter()
    proven: dict[str, dict[str, float]] = {}
    for name in options.names or catalog.api_names:
        row, raw = catalog.api(name), catalog.raw_apis[name]
        assert row is not None
        for side, verdicts in prove(row, raw, catalog).items():
            target = row.nn if side == "nn" else row.mint
            assert target is not None
            equal = [v for v in verdicts if v[0] == "equal"]
            differs = [v for v in verdicts if v[0].startswith("differs")]
            may = target.difference.value in ("behaviour", "rewrite", "missing") or bool(target.unproven)
            if equal and not differs:
                counts["proven"] += 1
                print(f"proven {name} [{side}] largest difference {max(v[1] for v in equal):.1e}")
                proven.setdefault(name, {})[side] = float(f"{max(v[1] for v in equal):.1e}")
            elif differs and not may:
                counts["failed"] += 1
            else:
                counts["not executed"] += 1
            for verdict, size, code in verdicts:
                if verdict != "equal":
                    mark = "FAILED" if verdict.startswith("differs") and not may else "note"
                    print(f"{mark} {name} [{side}] {verdict} ({size:.2g}) {code[:120]}")
    rows = len(proven)
    versions = {"mindspore": ms.__version__, "torch": torch.__version__.partition("+")[0]}
    if options.write:
        file = Path(checks_directory()) / "proven.json"
        text = json.dumps({"versions": versions, "rows": proven}, indent=0, sort_keys=True)
        file.write_text(text + "\n", encoding="utf-8")
    print(f"rows proven on at least one side: {rows}; sides not executed: {counts['not executed']}")
    print(f"{counts['proven']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] or not counts["proven"] else 0


if __name__ == "__main__":
    sys.exit(main())
