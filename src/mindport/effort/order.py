"""In which order files are ported: leaves of the import graph first, files that import each other together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx


@dataclass(frozen=True, slots=True)
class Order:
    """``wave`` per file that has work, from 1; ``groups``: files that import each other, with work."""

    wave: Mapping[str, int]
    groups: Sequence[tuple[str, ...]]


def graph_of(imports: Mapping[str, Iterable[str]]) -> nx.DiGraph[str]:
    """An edge from each file to each file it imports; files outside the mapping are left out."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(imports)
    graph.add_edges_from(
        (file, other) for file, found in imports.items() for other in found if other in imports
    )
    return graph


def order(imports: Mapping[str, Iterable[str]], work: Iterable[str]) -> Order:
    """Waves of the files with work: all that a file needs is in an earlier wave, or in its own group."""
    wanted = set(work)
    whole = nx.condensation(graph_of(imports))
    members: dict[int, list[str]] = {
        node: sorted(m for m in data["members"] if m in wanted) for node, data in whole.nodes(data=True)
    }
    level: dict[int, int] = {}
    for node in reversed(list(nx.topological_sort(whole))):
        below = max((level[other] for other in whole.successors(node)), default=0)
        level[node] = below + bool(members[node])
    wave = {file: level[node] for node, files in members.items() for file in files}
    groups = sorted(
        (tuple(files) for files in members.values() if len(files) > 1), key=lambda g: (-len(g), g)
    )
    return Order(wave, groups)


def needed(imports: Mapping[str, Iterable[str]], file: str) -> set[str]:
    """A file and everything it imports, directly or not."""
    graph = graph_of(imports)
    return {file, *nx.descendants(graph, file)} if file in graph else {file}


def cheapest(
    imports: Mapping[str, Iterable[str]], cost: Mapping[str, float], candidates: Iterable[str]
) -> tuple[str, list[str]] | None:
    """Of the candidates the one whose file and imports cost least, and the files with work it needs."""
    whole = nx.condensation(graph_of(imports))
    mapping: Mapping[str, int] = whole.graph["mapping"]
    best: tuple[float, str, set[int]] | None = None
    cost_of = {node: sum(cost.get(m, 0.0) for m in data["members"]) for node, data in whole.nodes(data=True)}
    reach: dict[int, tuple[float, set[int]]] = {}
    for file in sorted(candidates):
        node = mapping[file]
        if node not in reach:
            nodes = {node, *nx.descendants(whole, node)}
            reach[node] = sum(cost_of[n] for n in nodes), nodes
        total, nodes = reach[node]
        if best is None or total < best[0]:
            best = total, file, nodes
    if best is None:
        return None
    needs = sorted(m for n in best[2] for m in whole.nodes[n]["members"] if cost.get(m, 0.0) > 0)
    return best[1], needs


def calendar(waves: Sequence[Sequence[float]], people: int) -> float:
    """Days until all waves are done by ``people``: in each wave the longest file first to whoever is free."""
    total = 0.0
    for costs in waves:
        free = [0.0] * max(1, people)
        for cost in sorted(costs, reverse=True):
            index = free.index(min(free))
            free[index] += cost
        total += max(free)
    return total
