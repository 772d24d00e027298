"""The comparison itself. Everything here imports torch and MindSpore."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from mindport.catalog.load import checks_directory
from mindport.compare.report import Comparison, Difference, ModeResult
from mindport.compare.spec import Arguments, Input, Place, SpecError
from mindport.compare.weights import Pairing, fits, layers, pair

DRAWS = 4096
"""How many elements a dropout layer is asked to draw."""
MARGIN = 0.06
"""Shares of zeros closer than this are the same (about 8 standard deviations of `DRAWS` fair draws)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is compared, and how exactly."""

    torch: Place
    mindspore: Place
    torch_arguments: Arguments
    mindspore_arguments: Arguments
    inputs: tuple[Input, ...]
    tolerance: float = 1e-5
    gradient_tolerance: float = 1e-4
    modes: tuple[str, ...] = ("pynative", "graph")
    seed: int = 0
    gradients: bool = True
    training: bool = True


@dataclass(slots=True)
class _Sides:
    """Both models with transferred weights."""

    torch: Any
    mindspore: Any
    pairing: Pairing
    layers: Mapping[str, str]
    table: Mapping[str, Any] = field(default_factory=dict)


def compare(settings: Settings) -> Comparison:
    """Run both sides; raises `SpecError` for what cannot be loaded."""
    import numpy as np

    try:
        import torch
    except ImportError as error:
        raise SpecError("torch is not installed; pip install 'mindport[compare]'") from error
    os.environ.setdefault("GLOG_v", "3")
    try:
        import mindspore as ms
    except ImportError as error:
        raise SpecError("mindspore is not installed; pip install 'mindport[compare]'") from error
    with _scratch():
        ms.set_seed(settings.seed)
        torch.manual_seed(settings.seed)
        random = np.random.default_rng(settings.seed)
        given = [_draw(random, item) for item in settings.inputs]
        ms.set_context(mode=ms.PYNATIVE_MODE)
        sides = _load(settings)
        results = [_mode(settings, sides, given, mode, random) for mode in settings.modes]
        ms.set_context(mode=ms.PYNATIVE_MODE)
        training = _training(settings, sides, given) if settings.training else ()
    return Comparison(
        f"{settings.torch.file.name}:{settings.torch.name}",
        f"{settings.mindspore.file.name}:{settings.mindspore.name}",
        settings.tolerance,
        len(sides.pairing.pairs),
        sides.pairing.torch_left,
        sides.pairing.mindspore_left,
        tuple(results),
        training,
    )


@contextmanager
def _scratch() -> Iterator[None]:
    """MindSpore writes into the current folder; let it be one that goes away."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _draw(random: Any, item: Input) -> Any:
    import numpy as np

    if item.is_float:
        return np.asarray(random.standard_normal(item.shape)).astype(item.dtype)
    if item.dtype == "bool":
        return np.asarray(random.integers(0, 2, item.shape)).astype(bool)
    return np.asarray(random.integers(item.low, item.high, item.shape)).astype(item.dtype)


# --- loading ----------------------------------------------------------------------------------------------


def _load(settings: Settings) -> _Sides:
    import tomli

    table = tomli.loads((checks_directory() / "compare" / "weights.toml").read_text(encoding="utf-8"))
    one = _create(settings.torch, settings.torch_arguments)
    other = _create(settings.mindspore, settings.mindspore_arguments)
    shapes = {name: tuple(value.shape) for name, value in one.state_dict().items()}
    parameters = {p.name: p for p in other.get_parameters()}
    other_shapes = {name: tuple(p.shape) for name, p in parameters.items()}
    pairing = pair(shapes, other_shapes, table["names"], table["ignored"])
    _transfer(one, parameters, pairing)
    return _Sides(one, other, pairing, layers(pairing.pairs), table)


def _create(place: Place, arguments: Arguments) -> Any:
    folder = str(place.file.resolve().parent)
    name = f"_mindport_{place.file.stem}_{abs(hash(place.file.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, place.file.resolve())
    if spec is None or spec.loader is None:
        raise SpecError(f"{place.file}: cannot be imported as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SpecError(f"{place.file}: cannot be imported: {_short(error)}") from error
    finally:
        sys.path.remove(folder)
    cls = getattr(module, place.name, None)
    if cls is None:
        raise SpecError(f"{place.file}: has no {place.name}")
    try:
        return cls(*arguments.positional, **dict(arguments.keywords))
    except Exception as error:
        raise SpecError(f"{place.file}: {place.name} cannot be created: {_short(error)}") from error


def _transfer(one: Any, parameters: Mapping[str, Any], pairing: Pairing) -> None:
    import mindspore as ms

    state = one.state_dict()
    for name, other in pairing.pairs.items():
        value = state[name].detach().numpy()
        parameter = parameters[other]
        parameter.set_data(ms.Tensor(value.reshape(parameter.shape), parameter.dtype))


def _short(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and set(line.strip()) != {"-"}]
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


# --- values -----------------------------------------------------------------------------------------------


def _arrays(value: Any) -> list[Any]:
    """The Tensors of an output, flattened: tuples, lists, dicts and objects with fields in order."""
    if hasattr(value, "detach"):
        return [value.detach().numpy()]
    if hasattr(value, "asnumpy"):
        return [value.asnumpy()]
    if isinstance(value, Mapping):
        return [a for part in value.values() for a in _arrays(part)]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [a for part in value for a in _arrays(part)]
    if hasattr(value, "__dict__"):
        return [a for part in vars(value).values() for a in _arrays(part)]
    return []


def difference(
    name: str, one: Sequence[Any], other: Sequence[Any], tolerance: float, kind: str
) -> Difference:
    """Compare lists of arrays; gradients and large values are measured against their own size."""
    import numpy as np

    worst = worst_relative = 0.0
    ok = True
    for left, right in zip(one, other, strict=False):
        if not fits(left.shape, right.shape):
            detail: dict[str, object] = {"torch": list(left.shape), "mindspore": list(right.shape)}
            return Difference(name, float("inf"), float("inf"), False, "shape", detail)
        if left.dtype != right.dtype and kind == "output":
            detail = {"torch": str(left.dtype), "mindspore": str(right.dtype)}
            return Difference(name, 0.0, 0.0, False, "dtype", detail)
        a = np.asarray(left, dtype=np.float64).ravel()
        b = np.asarray(right, dtype=np.float64).ravel()
        if a.size == 0:
            continue
        same = np.isnan(a) & np.isnan(b) | (a == b)
        gap = np.where(same, 0.0, np.abs(a - b))
        scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0.0)))
        largest = float(gap.max()) if not np.isnan(gap).any() else float("inf")
        worst = max(worst, largest)
        worst_relative = max(worst_relative, largest / scale)
        ok = ok and largest <= tolerance * scale
    return Difference(name, worst, worst_relative, ok and len(one) == len(other), kind)


# --- running ----------------------------------------------------------------------------------------------


def _mode(settings: Settings, sides: _Sides, given: list[Any], mode: str, random: Any) -> ModeResult:
    import mindspore as ms
    import torch

    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    one, other = sides.torch.eval(), sides.mindspore
    other.set_train(False)
    steps: list[tuple[str, Any]] = []
    port_steps: dict[str, list[Any]] = {}
    hooks: list[Any] = []
    if mode == "pynative":
        hooks = _watch(sides, steps, port_steps)
    try:
        with torch.no_grad():
            expected = one(*[torch.from_numpy(v.copy()) for v in given])
        try:
            result = other(*[ms.Tensor(v) for v in given])
            outputs = _arrays(result)
        except Exception as error:
            return ModeResult(mode, error=_short(error))
    finally:
        for hook in hooks:
            hook.remove()
    out = difference(settings.mindspore.name, _arrays(expected), outputs, settings.tolerance, "output")
    compared = tuple(_layers(settings, sides, steps, port_steps))
    gradients: tuple[Difference, ...] = ()
    if settings.gradients and out.ok:
        try:
            gradients = tuple(_gradients(settings, sides, given, random))
        except Exception as error:
            return ModeResult(mode, out, (), compared, error=_short(error))
    return ModeResult(mode, out, gradients, compared)


def _watch(sides: _Sides, steps: list[tuple[str, Any]], port_steps: dict[str, list[Any]]) -> list[Any]:
    hooks = []

    def torch_hook(name: str) -> Callable[..., None]:
        return lambda module, inputs, output: steps.append((name, _arrays(output)))

    def port_hook(name: str) -> Callable[..., None]:
        return lambda cell, inputs, output: port_steps.setdefault(name, []).append(_arrays(output))

    for name, module in sides.torch.named_modules():
        if name:
            hooks.append(module.register_forward_hook(torch_hook(name)))
    for name, cell in sides.mindspore.cells_and_names():
        if name:
            hooks.append(cell.register_forward_hook(port_hook(name)))
    return hooks


def _layers(
    settings: Settings, sides: _Sides, steps: list[tuple[str, Any]], port_steps: dict[str, list[Any]]
) -> Iterator[Difference]:
    turn: dict[str, int] = {}
    for name, output in steps:
        other = sides.layers.get(name, name)
        index = turn.get(name, 0)
        turn[name] = index + 1
        found = port_steps.get(other, [])
        if index < len(found):
            yield difference(name, output, found[index], settings.tolerance, "output")


def _gradients(settings: Settings, sides: _Sides, given: list[Any], random: Any) -> Iterator[Difference]:
    import mindspore as ms
    import numpy as np
    import torch

    one, other = sides.torch.eval(), sides.mindspore
    tensors = [torch.from_numpy(v.copy()) for v in given]
    floats = [i for i, item in enumerate(settings.inputs) if item.is_float]
    for index in floats:
        tensors[index].requires_grad_(True)
    one.zero_grad()
    expected_output = one(*tensors)
    outputs = [t for t in _tensors(expected_output) if t.requires_grad]
    if not outputs:
        return
    factors = [np.asarray(random.standard_normal(tuple(t.shape))).astype("float32") for t in outputs]
    loss = sum((t * torch.from_numpy(f).to(t.dtype)).sum() for t, f in zip(outputs, factors, strict=True))
    loss.backward()
    expected = {name: p.grad for name, p in one.named_parameters() if p.grad is not None}

    weights = [p for p in other.get_parameters() if p.requires_grad]
    forward = _weighted(other, [ms.Tensor(f) for f in factors], not hasattr(expected_output, "detach"))
    wanted = tuple(floats) if floats else None
    step = ms.value_and_grad(forward, wanted, weights if weights else None)
    _, found = step(*[ms.Tensor(v) for v in given])
    inputs, parameters = (
        found if wanted is not None and weights else (found, ()) if weights == [] else ((), found)
    )
    if wanted is not None and not isinstance(inputs, tuple):
        inputs = (inputs,)
    by_name = {p.name: g for p, g in zip(weights, parameters, strict=True)}
    for name, gradient in expected.items():
        partner = sides.pairing.pairs.get(name)
        if partner in by_name:
            pair_of = ([gradient.numpy()], [by_name[partner].asnumpy()])
            yield difference(name, *pair_of, settings.gradient_tolerance, "gradient")
    for index, gradient in zip(floats, inputs, strict=False):
        gap = ([_grad(tensors[index])], [gradient.asnumpy()])
        yield difference(f"input {index}", *gap, settings.gradient_tolerance, "gradient")


def _weighted(cell: Any, factors: list[Any], nested: bool) -> Callable[..., Any]:
    """The sum of all outputs, each times a fixed factor; plain enough for GRAPH_MODE to compile."""
    if len(factors) == 1:
        factor = factors[0]

        def single(*values: Any) -> Any:
            return (cell(*values) * factor).sum()

        def first(*values: Any) -> Any:
            return (cell(*values)[0] * factor).sum()

        return first if nested else single

    def several(*values: Any) -> Any:
        outputs = cell(*values)
        total = 0.0
        for index, factor in enumerate(factors):
            total = total + (outputs[index] * factor).sum()
        return total

    return several


def _grad(tensor: Any) -> Any:
    import torch

    return (tensor.grad if tensor.grad is not None else torch.zeros_like(tensor)).numpy()


def _tensors(value: Any) -> list[Any]:
    if hasattr(value, "detach"):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [t for part in value for t in _tensors(part)]
    return []


# --- what only training shows -----------------------------------------------------------------------------


def _training(settings: Settings, sides: _Sides, given: list[Any]) -> tuple[Difference, ...]:

    one, other = sides.torch.train(), sides.mindspore
    other.set_train(True)
    flag = bool(one.training) == bool(other.training)
    found = [Difference(settings.mindspore.name, 0.0, 0.0, flag, "training")]
    dropouts = frozenset(sides.table["training"]["dropout"])
    still: list[Callable[[], object]] = []
    for name, module, cell in _partners(sides):
        found.append(Difference(name, 0.0, 0.0, bool(module.training) == bool(cell.training), "training"))
        if type(module).__name__ in dropouts and type(cell).__name__ in dropouts:
            found.append(_zeros(name, module, cell))
        if type(module).__name__ in dropouts:
            still.append(module.eval)
            still.append(partial(cell.set_train, False))
    if all(part.ok for part in found):
        for action in still:  # one training step, without what is drawn at random
            action()
        found += _step(settings, sides, given)
    one.eval()
    other.set_train(False)
    return tuple(found)


def _partners(sides: _Sides) -> Iterator[tuple[str, Any, Any]]:
    cells = {name: cell for name, cell in sides.mindspore.cells_and_names() if name}
    for name, module in sides.torch.named_modules():
        cell = cells.get(sides.layers.get(name, name)) if name else None
        if cell is not None:
            yield name, module, cell


def _step(settings: Settings, sides: _Sides, given: list[Any]) -> Iterator[Difference]:
    """The layers of one forward pass in training, and the buffers it leaves behind."""
    import mindspore as ms
    import torch

    one, other = sides.torch, sides.mindspore
    buffers = frozenset(sides.table["training"]["buffers"])
    watched = {n: p for n, p in sides.pairing.pairs.items() if n.rpartition(".")[2] in buffers}
    before = {n: one.state_dict()[n].clone() for n in watched}
    parameters = {p.name: p for p in other.get_parameters()}
    steps: list[tuple[str, Any]] = []
    port_steps: dict[str, list[Any]] = {}
    hooks = _watch(sides, steps, port_steps)
    try:
        with torch.no_grad():
            one(*[torch.from_numpy(v.copy()) for v in given])
        other(*[ms.Tensor(v) for v in given])
    except Exception:
        return  # the modes say why it does not run
    finally:
        for hook in hooks:
            hook.remove()
    margin = settings.gradient_tolerance
    for part in _layers(settings, sides, steps, port_steps):
        yield replace(
            part, ok=part.ok or part.max_rel <= margin, kind="step" if part.kind == "output" else part.kind
        )
    state = one.state_dict()
    for name, partner in watched.items():
        values = ([state[name].numpy().copy()], [parameters[partner].asnumpy()])
        yield difference(name.rpartition(".")[0], *values, margin, "buffer")
        with torch.no_grad():
            state[name].copy_(before[name])
        parameters[partner].set_data(ms.Tensor(before[name].numpy()))


def _zeros(name: str, module: Any, cell: Any) -> Difference:
    import mindspore as ms
    import numpy as np
    import torch

    rank = {"Dropout1d": (64, 64, 1), "Dropout2d": (64, 64, 1, 1), "Dropout3d": (64, 64, 1, 1, 1)}
    ones = np.ones(rank.get(type(module).__name__, (DRAWS,)), dtype=np.float32)
    one = float((module(torch.from_numpy(ones)) == 0).float().mean())
    other = float((cell(ms.Tensor(ones)).asnumpy() == 0).mean())
    detail: dict[str, object] = {"torch": one, "mindspore": other}
    return Difference(name, abs(one - other), 0.0, abs(one - other) <= MARGIN, "dropout", detail)
