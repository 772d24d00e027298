"""What the audit keeps of one file beside its findings: names used, modules and packages imported."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from mindport.detectors.base import FileView
from mindport.findings import Confidence
from mindport.semantics.module import Module

Request = tuple[int, str, str]
"""Dots before the name, the module, and the name taken from it (empty for a plain ``import``)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Counts of one file.

    ``apis``: framework names used for sure and how often; ``maybe``: the same for uses known by spelling only;
    ``imports``: what its import statements ask for; ``modules``: Modules it defines.
    """

    apis: tuple[tuple[str, int], ...] = ()
    maybe: tuple[tuple[str, int], ...] = ()
    imports: tuple[Request, ...] = ()
    modules: int = 0


def facts(view: FileView) -> Facts:
    """Collect the facts of one analysed file."""
    sure: Counter[str] = Counter()
    maybe: Counter[str] = Counter()
    seen: set[tuple[int, int, int, int, str]] = set()
    for use in view.uses:
        node = use.node
        key = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0, use.name)
        if key in seen:
            continue
        seen.add(key)
        (maybe if use.candidate.confidence is Confidence.POSSIBLE else sure)[use.name] += 1
    bases = view.catalog.sets["module"]
    modules = sum(1 for node, _ in view.module.classes if view.module.ancestry(node).any_of(bases))
    return Facts(
        tuple(sorted(sure.items())),
        tuple(sorted(maybe.items())),
        tuple(sorted(set(requests(view.module)))),
        modules,
    )


def requests(module: Module) -> Iterator[Request]:
    """What the import statements of a module ask for, in functions and under conditions as well."""
    nodes = module.scopes.nodes
    for node, _ in nodes.get(ast.Import, ()):
        assert isinstance(node, ast.Import)
        yield from ((0, alias.name, "") for alias in node.names)
    for node, _ in nodes.get(ast.ImportFrom, ()):
        assert isinstance(node, ast.ImportFrom)
        yield from ((node.level, node.module or "", alias.name) for alias in node.names)
