"""What people write on the command line: ``file.py:Class``, Python literals, and input shapes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class SpecError(Exception):
    """Something on the command line that cannot be used: what, where, what to write instead."""


@dataclass(frozen=True, slots=True)
class Place:
    """A class in a file."""

    file: Path
    name: str


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its shape, dtype name, and for integers the half-open range the values come from."""

    shape: tuple[int, ...]
    dtype: str
    low: int = 0
    high: int = 0

    @property
    def is_float(self) -> bool:
        """Whether gradients flow into it."""
        return self.dtype.startswith("float")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Constructor arguments, as Python literals."""

    positional: tuple[Any, ...] = ()
    keywords: tuple[tuple[str, Any], ...] = ()


def read_place(text: str) -> Place:
    """``model.py:Net``; raises `SpecError`."""
    path, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier() or not path:
        raise SpecError(f"{text}: write FILE.py:Class")
    file = Path(path)
    if not file.is_file():
        raise SpecError(f"{path}: no such file")
    return Place(file, name)


_INPUT = re.compile(
    r"(?P<shape>\d+(?:\s*,\s*\d+)*)?(?::(?P<dtype>[a-z]+\d*)(?::(?P<low>-?\d+)\.\.(?P<high>-?\d+))?)?"
)


def read_input(text: str) -> Input:
    """``1,3,32,32:float32`` or ``2,16:int64:0..100``; raises `SpecError`."""
    found = _INPUT.fullmatch(text.strip())
    if found is None or not text.strip():
        raise SpecError(f"{text}: write SHAPE:DTYPE, for example 1,3,32,32:float32 or 2,16:int64:0..100")
    shape = tuple(int(part) for part in found["shape"].split(",")) if found["shape"] else ()
    dtype = found["dtype"] or "float32"
    if dtype not in DTYPES:
        raise SpecError(f"{text}: unknown dtype {dtype}; known are {', '.join(DTYPES)}")
    low, high = int(found["low"] or 0), int(found["high"] or 2)
    if low >= high:
        raise SpecError(f"{text}: the range {low}..{high} is empty; the end is not part of it")
    return Input(shape, dtype, low, high)


DTYPES = ("float32", "float16", "float64", "int32", "int64", "bool")


def read_arguments(positional: str, keywords: str) -> Arguments:
    """Constructor arguments from the texts of a tuple and a dict; raises `SpecError`."""
    values = _literal(positional or "()", "arguments", "(3, 10)")
    given = _literal(keywords or "{}", "keyword arguments", "{'depth': 2}")
    if not isinstance(values, tuple | list):
        values = (values,)
    if not isinstance(given, dict) or not all(isinstance(key, str) for key in given):
        raise SpecError(f"{keywords}: keyword arguments are a dict such as {{'depth': 2}}")
    return Arguments(tuple(values), tuple(given.items()))


def _literal(text: str, what: str, example: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise SpecError(f"{text}: {what} must be a Python literal such as {example}") from error
