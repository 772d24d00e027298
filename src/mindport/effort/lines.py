"""Lines a port touches, from the line counts of a file: a power law with a spread measured on real ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import expm1, log1p
from typing import Any

import tomli

from mindport.catalog.load import checks_directory
from mindport.effort.features import Features


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines touched: the 20th, 50th and 80th percentile; added, changed and deleted lines all count."""

    low: float
    likely: float
    high: float

    def __add__(self, other: Lines) -> Lines:
        return Lines(self.low + other.low, self.likely + other.likely, self.high + other.high)


NONE = Lines(0.0, 0.0, 0.0)


@cache
def load_model() -> Mapping[str, Any]:
    """``checks/effort/model.toml``: coefficients, spread, word lists, version and back-test."""
    file = checks_directory() / "effort" / "model.toml"
    return tomli.loads(file.read_text(encoding="utf-8"))


def predict(counted: Features, model: Mapping[str, Any], *, small: bool) -> Lines:
    """The lines a port of one file touches.

    ``small``: the file belongs to a small project (below the model's ``small_below`` code lines), which people
    rewrite more freely than a large library. A file without any use of the framework is not touched.
    """
    if not counted.names and not counted.methods and not counted.modules and not counted.texts:
        return NONE
    table = model["lines"]
    value = float(table["constant"]) + (float(table["small"]) if small else 0.0)
    for name, count in counted.numbers().items():
        value += float(table["powers"].get(name, 0.0)) * log1p(count)
    likely = max(0.0, expm1(value))
    spread = table["spread"]
    low, high = (max(0.0, expm1(value + float(spread[side]))) for side in ("low", "high"))
    return Lines(min(low, likely), likely, min(high, max(likely, 3.0 * counted.code)))
