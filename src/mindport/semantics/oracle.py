"""Whom semantics asks where the files alone cannot tell, and only about names that matter.

The plain analysis never needs an oracle. With one, a second analysis may find more base classes and constants; its
findings are added to the plain ones and never take one away.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Protocol

from mindport.source.text import Source


@dataclass(frozen=True, slots=True)
class Definition:
    """A class something was inferred to be: the file and 1-based line of its ``class`` statement, and its name."""

    file: str
    line: int
    name: str


class Oracle(Protocol):
    """Answers about one expression of one file. No answer is an empty tuple, never an error."""

    def classes(self, source: Source, node: ast.AST) -> tuple[Definition, ...]:
        """The classes an expression can be."""

    def constants(self, source: Source, node: ast.AST) -> tuple[object, ...]:
        """The Python constants (numbers, texts, booleans, None) an expression can be."""
