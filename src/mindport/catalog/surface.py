"""What a framework version has: names, kinds, signatures and platforms, read from ``checks/surface``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from mindport.catalog.load import checks_directory
from mindport.frozen import frozen


@frozen
class Name:
    """One public name. ``platforms`` are the letters A, G, C of its docstring ("-": it does not say).

    ``versions`` are the versions of the table that have it.
    """

    name: str
    kind: str
    signature: str
    platforms: str
    versions: frozenset[str]


class Surface(Mapping[str, Name]):
    """All names of a framework; each line of the table is read when its name is asked for."""

    def __init__(self, framework: str, text: str) -> None:
        first, *lines = text.splitlines()
        self.versions = frozenset(first.removeprefix(f"# {framework}").split())
        self._lines = {line[: line.index("\t")]: line for line in lines}
        self._names: dict[str, Name] = {}

    def __getitem__(self, name: str) -> Name:
        known = self._names.get(name)
        if known is None:
            _, kind, signature, platforms, *rest = self._lines[name].split("\t")
            some = rest[0] if rest else "*"
            versions = self.versions if some == "*" else frozenset(some.split(","))
            known = self._names[name] = Name(name, kind, signature, platforms, versions)
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


@cache
def surface(framework: str) -> Surface:
    """All names of ``mindspore`` (2.7.0 ... 2.10.0) or ``torch`` (2.13.0)."""
    file = checks_directory() / "surface" / f"{framework}.tsv"
    return Surface(framework, file.read_text(encoding="utf-8"))


def signature_of(name: str) -> str:
    """The signature of a MindSpore name, empty when it is not known."""
    found = surface("mindspore").get(name)
    return "" if found is None or found.signature == "-" else found.signature


def newest(framework: str) -> str:
    """The newest version of a framework's table."""
    return max(surface(framework).versions, key=_order, default="")


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


@cache
def full_version(framework: str, wanted: str) -> str:
    """The newest version of the table that a short one means (``2.10`` -> ``2.10.0``)."""
    fitting = [v for v in surface(framework).versions if v == wanted or v.startswith(f"{wanted}.")]
    return max(fitting, key=_order) if fitting else newest(framework)


def missing_part(framework: str, name: str, version: str) -> str | None:
    """The shortest prefix of a name that a version does not have; None when the name exists or cannot be judged.

    A package lists all its names, so a name it lacks is missing. What lies below a class, a function or a module
    whose names are not listed cannot be judged; neither can private names.
    """
    names = surface(framework)
    parts = name.split(".")
    for end in range(2, len(parts) + 1):
        if parts[end - 1].startswith("_"):
            return None
        prefix = ".".join(parts[:end])
        found = names.get(prefix)
        if found is None or version not in found.versions:
            return prefix
        if found.kind != "package":
            return None
    return None


def same_last_name(framework: str, name: str, version: str) -> list[str]:
    """Public names of a version that end like a missing one, the shortest first."""
    last = name.rpartition(".")[2]
    found = [n for n, entry in _by_last(framework).get(last, ()) if version in entry.versions]
    return sorted(found, key=lambda n: (n.count("."), len(n), n))


@cache
def _by_last(framework: str) -> dict[str, list[tuple[str, Name]]]:
    result: dict[str, list[tuple[str, Name]]] = {}
    for name, entry in surface(framework).items():
        if entry.kind not in ("method", "package", "opaque"):
            result.setdefault(name.rpartition(".")[2], []).append((name, entry))
    return result
