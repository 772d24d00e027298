"""The torch side of a comparison, run as a process: ``python -m mindport.compare.torch_side FOLDER``."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

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


def _array(tensor: Any) -> Any:
    value = tensor.detach().cpu()
    return (value.float() if value.dtype is torch.bfloat16 else value).numpy()


class TorchSide:
    """Everything that is recorded of the torch module."""

    def __init__(self, record: Record, task: dict[str, Any]) -> None:
        self.record = record
        self.task = task

    def run(self) -> None:
        """All phases in order; later ones need the first."""
        record, facts = self.record, self.record.facts
        if phase(record, "build", self.build) and phase(record, "eval", self.evaluate):
            if self.task["gradients"]:
                phase(record, "gradients", self.gradients)
            phase(record, "train", self.train)
            phase(record, "random", self.random)
        facts["framework"] = f"torch {torch.__version__}"
        record.save()

    def build(self) -> None:
        """The module, its parameters and layers."""
        torch.manual_seed(self.task["seed"])
        self.module = build(self.task)
        self.inputs = [torch.from_numpy(np.ascontiguousarray(a)) for a in draw(self.task)]
        self.record.facts["layers"] = [
            {
                "name": name,
                "class": type(layer).__name__,
                "leaf": not any(True for _ in layer.children()),
                "built": layer.training,
                "attributes": attributes_of(layer, self.task["attributes"]),
            }
            for name, layer in self.module.named_modules()
        ]
        named = [(n, p, True) for n, p in self.module.named_parameters(remove_duplicate=False)]
        named += [(n, b, False) for n, b in self.module.named_buffers()]
        order = {n: i for i, n in enumerate(self.module.state_dict())}
        self.record.facts["state"] = [
            {
                "name": name,
                "shape": list(value.shape),
                "dtype": str(value.dtype).removeprefix("torch."),
                "trainable": trainable,
                "key": self.record.keep(_array(value)),
            }
            for name, value, trainable in sorted(named, key=lambda item: order.get(item[0], len(order)))
        ]

    def _forward(self, into: list[dict[str, Any]]) -> Any:
        hooks = []

        def hook(name: str) -> Any:
            def keep(_layer: Any, _inputs: Any, output: Any) -> None:
                found = [t for _, t in leaves(output, torch.is_tensor)]
                into.append({"layer": name, "outputs": [self._entry(t) for t in found]})

            return keep

        for name, layer in self.module.named_modules():
            hooks.append(layer.register_forward_hook(hook(name)))
        try:
            with torch.no_grad():
                return self.module(*self.inputs)
        finally:
            for handle in hooks:
                handle.remove()

    def _entry(self, tensor: Any) -> dict[str, Any]:
        return {
            "key": self.record.keep(_array(tensor).copy()),
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "shape": list(tensor.shape),
        }

    def evaluate(self) -> None:
        """Forward in evaluation mode with a hook on every layer."""
        self.module.eval()
        calls: list[dict[str, Any]] = self.record.facts.setdefault("eval", [])
        output = self._forward(calls)
        self.record.facts["outputs"] = [self._entry(t) for _, t in leaves(output, torch.is_tensor)]

    def gradients(self) -> None:
        """Gradients of a weighted sum of all outputs, in evaluation mode."""
        inputs = [t.clone().requires_grad_(True) if t.is_floating_point() else t.clone() for t in self.inputs]
        total: Any = 0
        output = self.module(*inputs)
        for index, (_, tensor) in enumerate(leaves(output, torch.is_tensor)):
            if tensor.is_floating_point() and tensor.requires_grad:
                weight = torch.from_numpy(cotangent(index, tuple(tensor.shape), self.task["seed"]))
                total = total + (tensor.float() * weight).sum()
        total.backward()
        self.record.facts["gradients"] = {
            name: self.record.keep(_array(p.grad)) if p.grad is not None else None
            for name, p in self.module.named_parameters(remove_duplicate=False)
        }
        self.record.facts["input_gradients"] = [
            self.record.keep(_array(t.grad)) if t.grad is not None else None for t in inputs
        ]

    def train(self) -> None:
        """One forward in training mode: outputs, flags and running statistics; then which layers are random."""
        facts = self.record.facts
        before = {name: value.clone() for name, value in self.module.state_dict().items()}
        self.module.train()
        for entry, layer in zip(facts["layers"], self.module.modules(), strict=True):
            entry["training"] = layer.training
        torch.manual_seed(self.task["seed"])
        calls: list[dict[str, Any]] = facts.setdefault("train", [])
        self._forward(calls)
        facts["after"] = {name: self.record.keep(_array(b).copy()) for name, b in self.module.named_buffers()}
        self.module.load_state_dict(before)
        torch.manual_seed(self.task["seed"] + 1)
        again: list[dict[str, Any]] = []
        self._forward(again)
        for one, other in zip(calls, again, strict=False):
            arrays = self.record.arrays
            one["random"] = not all(
                np.array_equal(arrays[a["key"]], arrays[b["key"]], equal_nan=True)
                for a, b in zip(one["outputs"], other["outputs"], strict=True)
            )
        for entry in again:
            for item in entry["outputs"]:
                del self.record.arrays[item["key"]]
        self.module.load_state_dict(before)

    def random(self) -> None:
        """The share of ones that random layers set to zero in training."""
        shapes = {c["layer"]: c["outputs"][0]["shape"] for c in self.record.facts["eval"] if c["outputs"]}
        rates = self.record.facts.setdefault("rates", {})
        for name, layer in self.module.named_modules():
            if type(layer).__name__ in self.task["random"] and name in shapes:
                with torch.no_grad():
                    rates[name] = float((layer(torch.ones(probe_shape(shapes[name]))) == 0).float().mean())


if __name__ == "__main__":
    TorchSide(*start()).run()
