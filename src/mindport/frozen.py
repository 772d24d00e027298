"""Values made by the hundred thousand: frozen dataclasses for mypy, plain ones with slots when they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object):
        """Only type checkers read it."""
        return lambda decorator: decorator


T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def frozen(cls: type[T]) -> type[T]:
    """A dataclass with slots, equal and hashed by its fields, that nobody may change.

    mypy watches over that last point, not Python: an instance is made in a quarter of the time.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
