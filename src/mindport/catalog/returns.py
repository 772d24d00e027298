"""What framework and Python callables give back: ``checks/returns.tsv`` (generated) and ``returns-python.tsv``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from mindport.catalog.load import checks_directory
from mindport.catalog.signature import read_signature
from mindport.catalog.surface import Name, surface
from mindport.semantics.library import Row

FILES = ("returns.tsv", "returns-python.tsv")


@cache
def returns() -> Mapping[str, tuple[Row, ...]]:
    """The rows by name, in the order of the files: the first that holds decides."""
    result: dict[str, list[Row]] = {}
    for name in FILES:
        for line in (checks_directory() / name).read_text(encoding="utf-8").splitlines()[1:]:
            key, given, kind, tensors = line.split("\t")
            row = Row(given, kind, tuple(tensors.split(",")) if tensors else ())
            result.setdefault(key, []).append(row)
    return {key: tuple(rows) for key, rows in result.items()}


def surface_kind(name: str) -> str:
    """The kind of a framework's name (class, function, method, attribute, ...), empty when it is not known."""
    found = _entry(name)
    return found.kind if found is not None else ""


@cache
def parameters(name: str) -> tuple[str, ...]:
    """The parameter names of a framework's callable in order."""
    found = _entry(name)
    signature = read_signature(found.signature) if found is not None else None
    return signature.names if signature is not None else ()


def _entry(name: str) -> Name | None:
    root = name.partition(".")[0]
    return surface(root).get(name) if root in ("torch", "mindspore") else None
