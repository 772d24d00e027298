"""Write ``checks/concepts.toml`` from the installed frameworks: canonical names and named sets.

Run inside a Python that has torch 2.13.0 and mindspore 2.10.0: ``python proof/concepts.py``.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PUBLIC = {
    "torch": [
        "torch",
        "torch.nn",
        "torch.nn.functional",
        "torch.nn.init",
        "torch.nn.utils",
        "torch.nn.utils.rnn",
        "torch.nn.parallel",
        "torch.optim",
        "torch.optim.lr_scheduler",
        "torch.utils.data",
        "torch.utils.data.distributed",
        "torch.utils.checkpoint",
        "torch.autograd",
        "torch.amp",
        "torch.cuda",
        "torch.cuda.amp",
        "torch.distributed",
        "torch.distributions",
        "torch.jit",
        "torch.linalg",
        "torch.fft",
        "torch.special",
        "torch.onnx",
        "torch.hub",
    ],
    "mindspore": [
        "mindspore",
        "mindspore.nn",
        "mindspore.ops",
        "mindspore.mint",
        "mindspore.mint.nn",
        "mindspore.mint.nn.functional",
        "mindspore.mint.optim",
        "mindspore.mint.linalg",
        "mindspore.mint.special",
        "mindspore.mint.distributed",
        "mindspore.amp",
        "mindspore.train",
        "mindspore.dataset",
        "mindspore.dataset.vision",
        "mindspore.dataset.transforms",
        "mindspore.dataset.text",
        "mindspore.dataset.audio",
        "mindspore.communication",
        "mindspore.common.initializer",
        "mindspore.experimental.optim",
        "mindspore.experimental.optim.lr_scheduler",
        "mindspore.numpy",
    ],
}
OWN_HOME = [
    "torch.func",
    "torch.random",
    "torch.serialization",
    "torch.overrides",
    "torch.autograd.function",
    "torch.nn.modules.utils",
    "torch.utils.tensorboard",
    "mindspore.log",
    "mindspore.nn.probability",
]
"""Documented modules whose names stay where they are."""
SUPPORTED_EXCEPTIONS = [
    "AssertionError",
    "AttributeError",
    "BaseException",
    "EnvironmentError",
    "Exception",
    "IOError",
    "IndentationError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "MemoryError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RuntimeError",
    "RuntimeWarning",
    "StopIteration",
    "TypeError",
    "UnboundLocalError",
    "ValueError",
    "ZeroDivisionError",
]


def members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Public names of a module with their objects."""
    for name in sorted(vars(module)):
        if not name.startswith("_"):
            yield name, vars(module)[name]


def aliases(framework: str) -> tuple[dict[str, str], dict[str, str]]:
    """Module prefixes whose names have another public home, and single names where the prefix is ambiguous."""
    homes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for public in PUBLIC[framework]:
        module = importlib.import_module(public)
        exported = set(getattr(module, "__all__", ()))
        for name, thing in members(module):
            home = getattr(thing, "__module__", None)
            if not isinstance(home, str) or inspect.ismodule(thing) or not home.startswith(framework):
                continue
            if (
                home != public
                and getattr(thing, "__name__", name) == name
                and (not exported or name in exported)
            ):
                homes[(home, name)].append(public)
    prefixes: dict[str, set[str]] = defaultdict(set)
    chosen: dict[tuple[str, str], str] = {}
    for key, publics in homes.items():
        if key[0] in PUBLIC[framework] or not is_module(key[0]):  # a public home, or hidden by a function
            continue
        chosen[key] = min(publics, key=lambda p: (_rank(p), len(p)))
        prefixes[key[0]].add(chosen[key])
    short = {home: next(iter(found)) for home, found in prefixes.items() if len(found) == 1}
    single = {
        f"{home}.{name}": f"{public}.{name}" for (home, name), public in chosen.items() if home not in short
    }
    return short, single


def is_module(name: str) -> bool:
    """Whether people who write a dotted name reach a module: a function of that name may hide it."""
    parts = name.split(".")
    found: Any = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part, None)
        if found is None:  # not set on its parent, but it can be imported
            return True
    return inspect.ismodule(found)


def _rank(public: str) -> int:
    order = ["mindspore.nn", "mindspore.ops", "mindspore.train", "mindspore", "torch.nn", "torch"]
    return order.index(public) if public in order else len(order)


def subclasses(framework: str, base: type) -> list[str]:
    """Public names of the subclasses of a class, the class included."""
    found = set()
    for public in PUBLIC[framework]:
        for name, thing in members(importlib.import_module(public)):
            if inspect.isclass(thing) and issubclass(thing, base):
                found.add(f"{public}.{name}")
    return sorted(found)


def _table(title: str, rows: dict[str, str]) -> str:
    return f"[{title}]\n" + "".join(f'"{key}" = "{value}"\n' for key, value in sorted(rows.items()))


def _set(name: str, values: list[str]) -> str:
    return f"{name} = [\n" + "".join(f'  "{value}",\n' for value in values) + "]\n"


def main() -> None:
    """Write the file."""
    import mindspore
    import torch

    short: dict[str, str] = {}
    single: dict[str, str] = {}
    for framework in PUBLIC:
        found = aliases(framework)
        short |= found[0]
        single |= found[1]
    short |= {name: name for name in OWN_HOME}
    short |= {
        "torch.functional": "torch",
        "torch.amp.grad_scaler": "torch.amp",
        "torch.amp.autocast_mode": "torch.amp",
        "mindspore.nn.loss": "mindspore.nn",
        "mindspore.nn.layer": "mindspore.nn",
        "mindspore.nn.optim": "mindspore.nn",
        "mindspore.nn.metrics": "mindspore.train",
        "mindspore.train.callback": "mindspore.train",
        "mindspore.ops.composite": "mindspore.ops",
        "mindspore.common.api": "mindspore",
        "torch._tensor": "torch",
        "torch.nn.modules": "torch.nn",
        "mindspore.ops.operations": "mindspore.ops",
        "mindspore.ops.functional": "mindspore.ops",
        "mindspore.common.dtype": "mindspore",
        "mindspore.common.tensor": "mindspore",
        "mindspore.common.parameter": "mindspore",
        "mindspore.context": "mindspore",
    }
    single |= {
        "mindspore.common.Tensor": "mindspore.Tensor",
        "mindspore.common.Parameter": "mindspore.Parameter",
        "mindspore.common.ParameterTuple": "mindspore.ParameterTuple",
        "mindspore.common.jit": "mindspore.jit",
        "mindspore.train.Model": "mindspore.train.Model",
        "mindspore.Model": "mindspore.train.Model",
        "mindspore.nn.cell.Cell": "mindspore.nn.Cell",
    }
    text = (
        f"# Written by proof/concepts.py from torch {torch.__version__} and mindspore {mindspore.__version__};"
        " do not edit.\n\n"
    )
    text += _table("aliases", short) + "\n" + _table("names", single) + "\n[sets]\n"
    text += _set("cell", subclasses("mindspore", mindspore.nn.Cell))
    text += _set("module", subclasses("torch", torch.nn.Module))
    text += _set("primitive", subclasses("mindspore", mindspore.ops.Primitive))
    text += _set("jit", ["mindspore.jit", "mindspore.ms_function", "mindspore.common.api.jit"])
    text += _set("cell-list", ["mindspore.nn.CellList"])
    text += _set("exceptions", [f"builtins.{name}" for name in SUPPORTED_EXCEPTIONS])
    Path(__file__).resolve().parent.parent.joinpath("checks", "concepts.toml").write_text(
        text, encoding="utf-8"
    )
    print(f"{len(short)} prefixes, {len(single)} names", file=sys.stderr)


if __name__ == "__main__":
    main()
