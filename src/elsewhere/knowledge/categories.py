"""The category tree and the distance d_c on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Floats, Indices

DEFAULT_EDGE_WEIGHTS = (1.75, 1.75, 0.75)
"""Siblings of level 2 or 3 are 3.5 apart. What is deeper adds up to less than the 1.5 left below 10."""
DEFAULT_UNRELATED = 10.0
ALWAYS_OPEN = "24/7"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryTree:
    """Categories of any depth; level 1 is a root. Nodes are in the order of their ids."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    hours: tuple[str, ...]
    """Default opening hours as given; blank inherits from the parent."""
    parents: Indices
    """Node of the parent, -1 for a root."""
    lineage: Indices
    """Row per node: its ancestor at level 1, 2, ...; itself at its own level, -1 below."""

    @property
    def levels(self) -> Indices:
        """Level of each node, 1 for a root."""
        return np.asarray(np.count_nonzero(self.lineage >= 0, axis=1), dtype=np.int32)

    def ancestors_at(self, level: int) -> Indices:
        """Each node's ancestor at ``level``, or itself where it is not that deep."""
        column = np.minimum(self.levels, level) - 1
        return np.asarray(self.lineage[np.arange(len(self.ids)), column])

    def default_hours(self, node: int) -> str:
        """Opening hours of the nearest ancestor that states any, else always open."""
        while node >= 0:
            if self.hours[node]:
                return self.hours[node]
            node = int(self.parents[node])
        return ALWAYS_OPEN


def build_tree(
    ids: Sequence[str], names: Sequence[str], parent_ids: Sequence[str], hours: Sequence[str]
) -> CategoryTree:
    """Tree from columns whose parents exist and have no cycle (`io.tables` sees to that)."""
    order = sorted(range(len(ids)), key=ids.__getitem__)
    node_of = {ids[row]: node for node, row in enumerate(order)}
    parents = np.array([node_of.get(parent_ids[row], -1) for row in order], dtype=np.int32)
    paths = [_path_from_root(node, parents) for node in range(len(order))]
    lineage = np.full((len(order), max(map(len, paths), default=1)), -1, dtype=np.int32)
    for node, path in enumerate(paths):
        lineage[node, : len(path)] = path
    return CategoryTree(
        ids=tuple(ids[row] for row in order),
        names=tuple(names[row] for row in order),
        hours=tuple(hours[row] for row in order),
        parents=parents,
        lineage=lineage,
    )


def _path_from_root(node: int, parents: Indices) -> list[int]:
    path = []
    while node >= 0:
        path.append(node)
        node = int(parents[node])
    return path[::-1]


def edge_weights(levels: int, given: Sequence[float] = DEFAULT_EDGE_WEIGHTS) -> list[float]:
    """Length of the edges from level 1 to 2, 2 to 3, ...; past those given, each half the one before.

    Halving keeps any two related categories nearer than unrelated ones, however deep the tree.
    """
    weights = list(given[: max(levels - 1, 0)])
    while len(weights) < levels - 1:
        weights.append(weights[-1] / 2 if weights else 1.0)
    return weights


def category_distances(
    tree: CategoryTree,
    nodes: Indices,
    *,
    weights: Sequence[float] = DEFAULT_EDGE_WEIGHTS,
    unrelated: float = DEFAULT_UNRELATED,
) -> Floats:
    """d_c between all pairs of ``nodes``: the way over the tree, or ``unrelated`` between trees.

    Paper: section 5.10 (sss:cat-distance, fig:category-distances).
    Deviation: category-distance — the figure's values are not in the paper's text; a tree metric
    with edges of 1.75 keeps its step at 3.5 and its 10 for unrelated categories.
    """
    lineage = tree.lineage[nodes]
    depth_length = np.concatenate([[0.0], np.cumsum(edge_weights(lineage.shape[1], weights))])
    depths = depth_length[tree.levels[nodes] - 1]
    shared = np.zeros((len(nodes), len(nodes)), dtype=np.int32)
    for column in lineage.T:
        shared += (column[:, None] == column[None, :]) & (column[:, None] >= 0)
    through = depth_length[np.maximum(shared - 1, 0)]
    distances = depths[:, None] + depths[None, :] - 2 * through
    return np.where(shared == 0, unrelated, distances)
