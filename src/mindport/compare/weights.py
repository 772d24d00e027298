"""Which parameter of the port is which parameter of the torch module: by name, then by order and shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Torch name -> MindSpore name, and what has no partner on either side."""

    pairs: Mapping[str, str]
    torch_left: tuple[str, ...]
    mindspore_left: tuple[str, ...]


def pair(
    torch_shapes: Mapping[str, Shape],
    mindspore_shapes: Mapping[str, Shape],
    names: Mapping[str, Sequence[str]],
    ignored: Mapping[str, Sequence[str]],
) -> Pairing:
    """Pair parameters and buffers, given in the order of definition.

    The same path with a translated last part comes first. What is left is paired in order, part by part, where
    the shapes agree and the last parts can mean the same.
    """
    left = {n: s for n, s in torch_shapes.items() if _last(n) not in ignored.get("torch", ())}
    free = {n: s for n, s in mindspore_shapes.items() if _last(n) not in ignored.get("mindspore", ())}
    pairs: dict[str, str] = {}
    for name, shape in left.items():
        prefix = name.rpartition(".")[0]
        for last in names.get(_last(name), (_last(name),)):
            other = f"{prefix}.{last}" if prefix else last
            if other in free and fits(shape, free[other]):
                pairs[name] = other
                del free[other]
                break
    rest = [name for name in left if name not in pairs]
    for name in list(rest):
        for other, shape in free.items():
            roles = names.get(_last(name), (_last(name),))
            if _last(other) in roles and fits(left[name], shape):
                pairs[name] = other
                del free[other]
                rest.remove(name)
                break
    return Pairing(pairs, tuple(rest), tuple(free))


def fits(one: Shape, other: Shape) -> bool:
    """Whether two shapes hold the same values: equal but for axes of length one (one-dimensional convolutions)."""
    return prod(one) == prod(other) and [n for n in one if n != 1] == [n for n in other if n != 1]


def layers(pairs: Mapping[str, str]) -> dict[str, str]:
    """Torch layer name -> MindSpore layer name, as far as paired parameters tell."""
    result: dict[str, str] = {}
    for one, other in pairs.items():
        one_path, other_path = one.split(".")[:-1], other.split(".")[:-1]
        while one_path and other_path:
            result.setdefault(".".join(one_path), ".".join(other_path))
            one_path.pop()
            other_path.pop()
    return result


def _last(name: str) -> str:
    return name.rpartition(".")[2]
