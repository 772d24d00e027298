"""What stands behind a row: what executing it showed, and what porters of public projects chose."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mindport.catalog.load import checks_directory


@dataclass(frozen=True, slots=True)
class Choices:
    """What porters wrote instead of a torch name, with counts: in 2025 (mint era) and in 2021 to 2024."""

    mint: tuple[tuple[str, int], ...] = ()
    nn: tuple[tuple[str, int], ...] = ()


@cache
def porters() -> Mapping[str, Choices]:
    """Choices by torch name, most frequent first; counted in public ports."""
    result = {}
    for line in (checks_directory() / "porters.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, mint, nn = line.split("\t")
            result[name] = Choices(_pairs(mint), _pairs(nn))
    return result


def _pairs(text: str) -> tuple[tuple[str, int], ...]:
    if text == "-":
        return ()
    return tuple((name, int(count)) for name, _, count in (item.rpartition(":") for item in text.split()))


@cache
def proven() -> Mapping[str, Any]:
    """``versions`` the rows were executed on, and ``rows``: torch name -> side -> largest difference."""
    data: dict[str, Any] = json.loads((checks_directory() / "proven.json").read_text(encoding="utf-8"))
    return data
