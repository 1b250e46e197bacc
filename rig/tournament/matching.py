"""The perfect matching of least cost, found by rustworkx (Edmonds' blossom algorithm in whole numbers of 128 bits)."""

from __future__ import annotations

from collections.abc import Sequence

import rustworkx

from game.montecassino.tournament import Cost

__all__ = ["least_cost_matching"]


def least_cost_matching(size: int, costs: Sequence[Cost]) -> list[tuple[int, int]]:
    """Return the pairs of vertices whose sum of costs is least; every vertex 0 to `size` - 1 is in one pair.

    See `game.montecassino.tournament.Matcher`. Costs are whole numbers whose sum stays well below 2**127: rustworkx does
    not say where its numbers run over.
    """
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from([None] * size)
    graph.add_edges_from(costs)
    # The most pairs come first, and among those matchings the largest weight, which is the least cost.
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=_weight)
    return sorted((min(pair), max(pair)) for pair in matching)


def _weight(cost: int) -> int:
    return -cost
