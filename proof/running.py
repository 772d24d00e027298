"""Run a torch model and its port on the same numbers: weights carried over by name, outputs and gradients compared."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

NAMES = {
    "weight": ("weight", "gamma", "embedding_table", "w"),
    "bias": ("bias", "beta"),
    "running_mean": ("moving_mean",),
    "running_var": ("moving_variance",),
}
"""What a Cell can call the parameters torch calls so."""
IGNORED = ("num_batches_tracked",)


def load(file: Path, name: str) -> Any:
    """Import a file as a module of its own."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def transfer(source: Any, cell: Any) -> dict[str, Any]:
    """Copy a Module's weights into a Cell; gives the Cell's parameters by torch name. Raises LookupError."""
    import mindspore as ms

    mine = dict(cell.parameters_and_names())
    found: dict[str, Any] = {}
    state = dict(source.state_dict())
    buffers = {name for name, _ in source.named_buffers()}
    tied: set[int] = set()
    for name, value in state.items():
        prefix, _, last = name.rpartition(".")
        if last in IGNORED:
            continue
        options = NAMES.get(last, (last,))
        key = next((k for o in options if (k := f"{prefix}.{o}" if prefix else o) in mine), None)
        if key is None and name not in buffers:
            key = next((k for k in mine if k.startswith(prefix) and k.endswith(f".{last}")), None)
        if key is None:
            if name in buffers or value.data_ptr() in tied:
                continue
            raise LookupError(f"{name} has no place in the port")
        parameter = mine[key]
        array = value.detach().numpy()
        if array.size != parameter.size:
            raise LookupError(f"{name} has shape {array.shape}, the port {tuple(parameter.shape)}")
        parameter.set_data(ms.Tensor(array.reshape(parameter.shape).astype(array.dtype)))
        found[name] = parameter
        tied.add(value.data_ptr())
    return found


@dataclass
class Outcome:
    """Largest differences by mode: of the outputs, and of the gradients relative to their scale."""

    forward: dict[str, float] = field(default_factory=dict)
    gradient: dict[str, float] = field(default_factory=dict)
    error: str = ""

    def passes(self, forward: float = 1e-5, gradient: float = 1e-4) -> bool:
        """Whether everything ran and stays within the tolerances."""
        ran = len(self.forward) == 2 and len(self.gradient) == 2
        return (
            not self.error
            and ran
            and all(v <= forward for v in self.forward.values())
            and all(v <= gradient for v in self.gradient.values())
        )


def first(value: Any) -> Any:
    """The tensor of an output that may be a tuple."""
    while isinstance(value, tuple | list):
        value = value[0]
    return value


def compare(
    make_torch: Callable[[], Any], make_port: Callable[[], Any], inputs: Mapping[str, Any] | list[Any]
) -> Outcome:
    """Build both, copy the weights, and compare in PyNative and in GRAPH_MODE."""
    import mindspore as ms
    import torch

    arrays = list(inputs.values()) if isinstance(inputs, Mapping) else inputs
    torch.manual_seed(1)
    net = make_torch()
    _vary(net)
    net.eval()
    expected = first(net(*[torch.from_numpy(a) for a in arrays]))
    weight = np.random.default_rng(5).standard_normal(tuple(expected.shape)).astype("f4")
    (expected * torch.from_numpy(weight)).sum().backward()
    outcome = Outcome()
    for mode, word in ((ms.PYNATIVE_MODE, "pynative"), (ms.GRAPH_MODE, "graph")):
        ms.set_context(mode=mode)
        try:
            cell = make_port()
            places = transfer(net, cell)
            cell.set_train(False)
            result = first(cell(*[ms.Tensor(a) for a in arrays]))
            scale = max(1.0, float(expected.abs().max()))
            size = np.abs(result.asnumpy() - expected.detach().numpy()).max()
            outcome.forward[word] = float(size) / scale
            gradients = _gradients(cell, arrays, weight)
            outcome.gradient[word] = max(
                _distance(gradients[places[n].name], p.grad)
                for n, p in net.named_parameters()
                if p.grad is not None and n in places
            )
        except Exception as error:
            lines = [line.strip("- ") for line in str(error).split("\n")]
            text = " ".join([line for line in lines if line][:3])
            outcome.error += f"{word}: {type(error).__name__}: {text[:300]} "
    return outcome


_NO_KERNEL = re.compile(r"Unsupported op \[(\w+)\] on CPU|The kernel (\w+) unregistered")
_MADE_WITH = ("tril", "randn")
"""Functions of ``mint`` without a kernel on CPU that constructors call: while building, those of ``ops`` stand in."""


def compiled(make_port: Callable[[], Any], arrays: list[Any]) -> dict[str, str]:
    """How far GRAPH_MODE gets with a port, its forward pass and its gradient: ``runs``, or ``no kernel for X on CPU``.

    Kernels are chosen last: whatever comes that far was parsed, and its types and shapes were inferred. Other
    errors are raised.
    """
    import mindspore as ms
    from mindspore import mint, ops

    ms.set_context(mode=ms.GRAPH_MODE)
    found: dict[str, str] = {}
    inputs = [ms.Tensor(a) for a in arrays]

    def attempt(step: str, action: Callable[[], Any]) -> None:
        try:
            action()
            found[step] = "runs"
        except Exception as error:
            match = _NO_KERNEL.search(str(error))
            if match is None:
                raise
            found[step] = f"no kernel for {match[1] or match[2]} on CPU"

    kept = {name: getattr(mint, name) for name in _MADE_WITH}
    try:
        for name in _MADE_WITH:
            setattr(mint, name, getattr(ops, name))
        cell = make_port()
    finally:
        for name, function in kept.items():
            setattr(mint, name, function)
    cell.set_train(False)
    attempt("forward", lambda: cell(*inputs))
    parameters = ms.ParameterTuple(cell.trainable_params())

    def loss(*values: Any) -> Any:
        return first_tensor(cell(*values)).sum()

    attempt("gradient", lambda: ms.value_and_grad(loss, None, weights=parameters)(*inputs))
    return found


def _vary(net: Any) -> None:
    """Statistics and scales that are not all 0 and 1, so that a wrong mapping shows."""
    import torch

    generator = torch.Generator().manual_seed(3)
    parameters = {name for name, _ in net.named_parameters()}
    with torch.no_grad():
        for name, value in net.state_dict().items():
            if name.endswith("running_mean"):
                value.copy_(torch.randn(value.shape, generator=generator) * 0.1)
            elif name.endswith("running_var"):
                value.copy_(torch.rand(value.shape, generator=generator) + 0.5)
            elif name in parameters and (value.dim() == 1 or not value.any()):
                value.add_(torch.randn(value.shape, generator=generator) * 0.1)


def _gradients(cell: Any, arrays: list[Any], weight: Any) -> dict[str, Any]:
    import mindspore as ms

    factor = ms.Tensor(weight)
    parameters = cell.trainable_params()

    def loss(*values: Any) -> Any:
        return (first_tensor(cell(*values)) * factor).sum()

    result = ms.value_and_grad(loss, None, weights=ms.ParameterTuple(parameters))(
        *[ms.Tensor(a) for a in arrays]
    )[1]
    return {p.name: g for p, g in zip(parameters, result, strict=True)}


def first_tensor(value: Any) -> Any:
    """Like `first`, for code that is compiled."""
    if isinstance(value, tuple):
        return value[0]
    return value


def _distance(mine: Any, theirs: Any) -> float:
    array = theirs.numpy().reshape(-1)
    scale = max(1.0, float(np.abs(array).max()))
    return float(np.abs(mine.asnumpy().reshape(-1) - array).max()) / scale
