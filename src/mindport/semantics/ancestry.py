"""The external base classes of a class, gathered through the project."""

from __future__ import annotations

from collections.abc import Mapping

from mindport.findings import Confidence


class Ancestry:
    """External base classes by canonical name; ``complete`` when every base could be resolved."""

    __slots__ = ("complete", "names")

    def __init__(self, names: Mapping[str, Confidence], complete: bool) -> None:
        self.names = names
        self.complete = complete

    def any_of(self, wanted: frozenset[str]) -> Confidence | None:
        """How sure it is that one of ``wanted`` is a base class; None when it is not."""
        found = [confidence for name, confidence in self.names.items() if name in wanted]
        return max(found, key=lambda c: c.rank) if found else None


def add_name(names: dict[str, Confidence], name: str, confidence: Confidence) -> None:
    """Add a base class, as sure as the surest way it was found."""
    known = names.get(name)
    if known is None or known.rank < confidence.rank:
        names[name] = confidence
