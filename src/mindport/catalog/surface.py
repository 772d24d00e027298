"""What a framework version has: names, kinds, signatures and platforms, read from ``checks/surface``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mindport.catalog.load import checks_directory


@dataclass(frozen=True, slots=True)
class Name:
    """One public name. ``platforms`` are the letters A, G, C of its docstring ("-": it does not say).

    ``versions`` are the versions of the table that have it.
    """

    name: str
    kind: str
    signature: str
    platforms: str
    versions: frozenset[str]


@cache
def surface(framework: str) -> Mapping[str, Name]:
    """All names of ``mindspore`` (2.7.0 ... 2.10.0) or ``torch`` (2.13.0)."""
    file = checks_directory() / "surface" / f"{framework}.tsv"
    lines = file.read_text(encoding="utf-8").splitlines()
    everything = frozenset(lines[0].removeprefix(f"# {framework}").split())
    result = {}
    for line in lines[1:]:
        name, kind, signature, platforms, *rest = line.split("\t")
        some = rest[0] if rest else "*"
        versions = everything if some == "*" else frozenset(some.split(","))
        result[name] = Name(name, kind, signature, platforms, versions)
    return result


def signature_of(name: str) -> str:
    """The signature of a MindSpore name, empty when it is not known."""
    found = surface("mindspore").get(name)
    return "" if found is None or found.signature == "-" else found.signature
