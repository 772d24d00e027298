"""The MindSpore side of a comparison, run as a process: ``python -m mindport.compare.mindspore_side FOLDER``.

The folder holds the torch side's parameters as ``state.json`` and ``state.npz``; they are mapped and copied into the
Cell before anything runs. In PyNative every Cell has a forward hook; GRAPH_MODE gives outputs and gradients only.
"""

from __future__ import annotations

import json
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from mindport.compare.common import (
    Record,
    attributes_of,
    build,
    cotangent,
    draw,
    leaves,
    phase,
    probe_shape,
    start,
)
from mindport.compare.weights import Entry, match


def _array(tensor: Any) -> Any:
    return (tensor.astype(ms.float32) if tensor.dtype == ms.bfloat16 else tensor).asnumpy()


def _is_tensor(value: Any) -> bool:
    return isinstance(value, ms.Tensor)


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).lower()


class _Total(nn.Cell):  # type: ignore[misc]
    """The weighted sum of a network's outputs; unrolled over the known places of its tensors."""

    def __init__(self, net: Any, paths: tuple[Any, ...], weights: tuple[Any, ...]) -> None:
        super().__init__(auto_prefix=False)
        self.net = net
        self.paths = paths
        self.factors = weights

    def construct(self, *inputs: Any) -> Any:
        """The sum."""
        output = self.net(*inputs)
        total = 0.0
        for i in range(len(self.paths)):
            item = output
            for key in self.paths[i]:
                item = item[key]
            total = total + ops.reduce_sum(item.astype(ms.float32) * self.factors[i])
        return total


class MindSporeSide:
    """Everything that is recorded of the port."""

    def __init__(self, record: Record, task: dict[str, Any]) -> None:
        self.record = record
        self.task = task
        self.graph = task["mode"] == "graph"

    def run(self) -> None:
        """All phases in order; later ones need the first."""
        record = self.record
        ms.set_context(mode=ms.GRAPH_MODE if self.graph else ms.PYNATIVE_MODE)
        if phase(record, "build", self.build) and phase(record, "weights", self.load):
            if phase(record, "eval", self.evaluate) and self.task["gradients"]:
                phase(record, "gradients", self.gradients)
            if not self.graph:
                phase(record, "train", self.train)
                phase(record, "random", self.random)
        record.facts["framework"] = f"mindspore {ms.__version__}"
        record.save()

    def build(self) -> None:
        """The Cell, its parameters and layers."""
        ms.set_seed(self.task["seed"])
        self.net = build(self.task)
        self.inputs = [ms.Tensor(np.ascontiguousarray(a)) for a in draw(self.task)]
        self.parameters = dict(self.net.parameters_and_names())
        self.cells = dict(self.net.cells_and_names())
        self.record.facts["layers"] = [
            {
                "name": name,
                "class": type(cell).__name__,
                "leaf": not any(True for _ in cell.cells()),
                "built": bool(cell.training),
                "attributes": attributes_of(cell, self.task["attributes"]),
            }
            for name, cell in self.cells.items()
        ]
        self.record.facts["state"] = [
            {"name": n, "shape": list(p.shape), "dtype": _dtype(p), "trainable": bool(p.requires_grad)}
            for n, p in self.parameters.items()
        ]

    def load(self) -> None:
        """Map the torch parameters and copy them in, as far as sizes agree."""
        facts = json.loads((self.record.folder / "state.json").read_text(encoding="utf-8"))
        arrays = np.load(self.record.folder / "state.npz")
        theirs = [Entry(e["name"], tuple(e["shape"])) for e in facts["state"]]
        ours = [Entry(e["name"], tuple(e["shape"])) for e in self.record.facts["state"]]
        found = match(theirs, ours, facts["names"])
        keys = {e["name"]: e["key"] for e in facts["state"]}
        for torch_name, name in found.items():
            parameter = self.parameters[name]
            value = arrays[keys[torch_name]].reshape(parameter.shape)
            parameter.set_data(ms.Tensor(value).astype(parameter.dtype))
        self.record.facts["mapped"] = found

    def _entry(self, tensor: Any) -> dict[str, Any]:
        return {
            "key": self.record.keep(np.array(_array(tensor))),
            "dtype": _dtype(tensor),
            "shape": list(tensor.shape),
        }

    def _forward(self, into: list[dict[str, Any]]) -> Any:
        if self.graph:
            return self.net(*self.inputs)
        hooks = []

        def hook(name: str) -> Any:
            def keep(_cell: Any, _inputs: Any, output: Any) -> None:
                found = [t for _, t in leaves(output, _is_tensor)]
                into.append({"layer": name, "outputs": [self._entry(t) for t in found]})

            return keep

        for name, cell in self.cells.items():
            hooks.append(cell.register_forward_hook(hook(name)))
        try:
            return self.net(*self.inputs)
        finally:
            for handle in hooks:
                handle.remove()

    def evaluate(self) -> None:
        """Forward in evaluation mode."""
        self.net.set_train(False)
        calls: list[dict[str, Any]] = self.record.facts.setdefault("eval", [])
        output = self._forward(calls)
        self.found = list(leaves(output, _is_tensor))
        self.record.facts["outputs"] = [self._entry(t) for _, t in self.found]

    def gradients(self) -> None:
        """Gradients of the same weighted sum as on the torch side."""
        paths, factors = [], []
        for index, (path, tensor) in enumerate(self.found):
            if _dtype(tensor).startswith(("float", "bfloat")):
                paths.append(path)
                factors.append(ms.Tensor(cotangent(index, tuple(tensor.shape), self.task["seed"])))
        total = _Total(self.net, tuple(paths), tuple(factors)).set_train(False)
        weights = [p for p in self.parameters.values() if p.requires_grad]
        places = tuple(i for i, t in enumerate(self.inputs) if _dtype(t).startswith("float"))
        if not weights and not places:
            return
        of_inputs: Any = ()
        of_weights: Any = ()
        if weights and places:
            of_inputs, of_weights = ops.grad(total, places, ms.ParameterTuple(weights))(*self.inputs)
        elif weights:
            of_weights = ops.grad(total, None, ms.ParameterTuple(weights))(*self.inputs)
        else:
            of_inputs = ops.grad(total, places)(*self.inputs)
        of_inputs = of_inputs if isinstance(of_inputs, tuple) else (of_inputs,)
        names = {id(p): n for n, p in self.parameters.items()}
        self.record.facts["gradients"] = {
            names[id(p)]: self.record.keep(np.array(_array(g)))
            for p, g in zip(weights, of_weights, strict=True)
        }
        grads: list[str | None] = [None] * len(self.inputs)
        for place, gradient in zip(places, of_inputs, strict=False):
            grads[place] = self.record.keep(np.array(_array(gradient)))
        self.record.facts["input_gradients"] = grads

    def train(self) -> None:
        """One forward in training mode: outputs, flags and running statistics."""
        facts = self.record.facts
        self.net.set_train()
        for entry, cell in zip(facts["layers"], self.cells.values(), strict=True):
            entry["training"] = bool(cell.training)
        calls: list[dict[str, Any]] = facts.setdefault("train", [])
        self._forward(calls)
        facts["after"] = {
            n: self.record.keep(np.array(_array(p)))
            for n, p in self.parameters.items()
            if not p.requires_grad
        }

    def random(self) -> None:
        """The share of ones that random layers set to zero in training."""
        shapes = {c["layer"]: c["outputs"][0]["shape"] for c in self.record.facts["eval"] if c["outputs"]}
        rates = self.record.facts.setdefault("rates", {})
        for name, cell in self.cells.items():
            if type(cell).__name__ in self.task["random"] and name in shapes:
                cell.set_train()
                output = cell(ops.ones(probe_shape(shapes[name]), ms.float32))
                rates[name] = float((_array(output) == 0).mean())


if __name__ == "__main__":
    MindSporeSide(*start()).run()
