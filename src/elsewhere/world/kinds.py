"""Kinds of place: what categories a place has, and d_c where there are several.

A place is near another if any of its categories is: a shop with a café is a shop and a café. Where one
category must stand for a place (the region of a true visit, counts by category), it is the first listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.knowledge.categories import CategoryTree, category_distances
from elsewhere.knowledge.places import Places
from elsewhere.world.parts import WorldParts
from elsewhere.world.settings import WorldSettings

Nodes = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlaceKinds:
    """The distinct lists of categories that places have."""

    of_place: Indices
    """Row of each place's kind."""
    nodes: tuple[Nodes, ...]
    """Categories of each kind as listed, cut to the levels in use, each once."""


def place_kinds(places: Places, tree: CategoryTree, levels: int) -> PlaceKinds:
    """Kinds in the order of their nodes."""
    cut = tree.ancestors_at(levels)[places.category_nodes].tolist()
    lists = [tuple(dict.fromkeys(cut[a:b])) for a, b in pairwise(places.category_offsets.tolist())]
    distinct = sorted(set(lists))
    row_of = {nodes: row for row, nodes in enumerate(distinct)}
    return PlaceKinds(
        of_place=np.array([row_of[nodes] for nodes in lists], dtype=np.int32), nodes=tuple(distinct)
    )


def category_pairs(offsets: Indices, nodes: Indices, cut: Indices) -> tuple[Indices, Indices]:
    """Each place with each of its categories, ``cut`` to the levels in use; once where two become one."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pairs = np.unique(np.stack([owners, cut[nodes]], axis=1), axis=0).astype(np.int32)
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def first_categories(world: WorldParts) -> Indices:
    """The first listed category of each place, cut to the levels in use."""
    cut = world.tree.ancestors_at(world.settings.category_levels)
    return np.asarray(cut[world.places.category_nodes[world.places.category_offsets[:-1]]])


def first_pairs(world: WorldParts) -> Indices:
    """Row of each place with its first listed category in the pairs that regions are made of."""
    regions, count = world.regions, len(world.tree.ids)
    pairs = regions.pair_places.astype(np.int64) * count + regions.pair_nodes
    wanted = np.arange(len(world.places), dtype=np.int64) * count + first_categories(world)
    return np.asarray(np.searchsorted(pairs, wanted), dtype=np.int32)


def kind_distances(
    tree: CategoryTree, settings: WorldSettings, kinds: Sequence[Nodes], others: Sequence[Nodes]
) -> Floats:
    """d_c from each of some lists of categories to each of others: the least over pairs of categories.

    Deviation: several-categories — the paper does not say how far places of several categories are.
    """
    used, rows = np.unique(np.concatenate([*kinds, *others]), return_inverse=True)
    table = category_distances(
        tree,
        used.astype(np.int32),
        weights=settings.category_weights,
        unrelated=settings.unrelated_category_distance,
    )
    first = np.cumsum([0, *map(len, kinds)])
    second = np.cumsum([0, *map(len, others)])
    nearest = np.minimum.reduceat(table[rows[: first[-1]]], first[:-1], axis=0)
    return np.asarray(np.minimum.reduceat(nearest[:, rows[first[-1] :]], second[:-1], axis=1))
