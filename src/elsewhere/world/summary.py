"""What there is to say about a world, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import interval_level_names
from elsewhere.world.regions import space_level_names
from elsewhere.world.world import World


def summarise(world: World, longest_ngram: int = 3) -> dict[str, Any]:
    """Counts, sizes, merging and n-grams of a world, ready for JSON."""
    counts = np.diff(world.regions.place_offsets)
    return {
        "hash": world.hash,
        "settings": world.settings.plain(),
        "places": len(world.places),
        "places_closed_all_day": int((~world.is_open.any(axis=1)).sum()),
        "categories": len(world.tree.ids),
        "regions": len(world.regions),
        "regions_before_merging": world.merge_report.finest,
        "regions_below_kappa": world.merge_report.below_kappa,
        "places_per_region": {
            "least": int(counts.min()),
            "median": float(np.median(counts)),
            "most": int(counts.max()),
        },
        "merging": [asdict(step) for step in world.merge_report.steps],
        "levels": level_counts(world),
        "ngrams": ngram_facts(world, longest_ngram) if world.graph.is_known else [],
        "max_distance": world.max_distance,
        "possible_days_of_five_visits": possible_trajectories(len(world.places), world.clock.timesteps, 5),
    }


def ngram_facts(world: World, longest: int) -> list[dict[str, Any]]:
    """How many n-grams are feasible, and what removes the others."""
    regions = len(world.regions)
    counts, in_order = world.graph.ngram_counts(longest), _in_order_counts(world, longest)
    facts = []
    for n in range(1, longest + 1):
        feasible = int(sum(counts[n - 1].tolist()))
        facts.append(
            {
                "n": n,
                "feasible": feasible,
                "removed": 1 - feasible / regions**n,
                "removed_by_time": 1 - in_order[n - 1] / regions**n,
                "removed_by_travel": (in_order[n - 1] - feasible) / regions**n,
            }
        )
    return facts


def _in_order_counts(world: World, longest: int) -> list[int]:
    """How many n-grams time alone would allow, n = 1 .. longest: travel takes a single timestep."""
    day = world.clock.timesteps
    starts, lasts = world.regions.earliest(day), world.regions.latest(day)
    by_last = np.argsort(lasts, kind="stable")
    # For each region, where those begin that end after it starts.
    firsts = np.searchsorted(lasts[by_last], starts, side="right")
    counts = [1] * len(starts)
    totals = [len(starts)]
    for _ in range(longest - 1):
        later = [0]
        for region in by_last[::-1].tolist():
            later.append(later[-1] + counts[region])
        counts = [later[len(counts) - first] for first in firsts.tolist()]
        totals.append(sum(counts))
    return totals


def possible_trajectories(places: int, timesteps: int, length: int, reachable: Fraction = Fraction(1)) -> int:
    """How many days of ``length`` visits there can be, if ``reachable`` is the share of places within reach.

    Paper: section 5.1 (sss:global-solution-analysis), |𝒮|.
    """
    return int(Fraction(places) ** length * comb(timesteps, length) * reachable ** (length - 1))


def level_counts(world: World) -> list[dict[str, Any]]:
    """How many regions ended at each combination of space, time and category level."""
    category_levels = world.tree.levels[world.regions.nodes]
    space_names, time_names = space_level_names(world.space_labels), interval_level_names(world.clock)
    columns = np.stack([world.regions.space_levels, world.regions.time_levels, category_levels], axis=1)
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    return [
        {
            "space": space_names[space],
            "time": time_names[time],
            "category": f"level {category}",
            "regions": int(count),
        }
        for (space, time, category), count in zip(distinct.tolist(), counts.tolist(), strict=True)
    ]


def place_changes(old: World, new: World) -> dict[str, int]:
    """How many places an update has added, removed and changed."""
    before, after = (
        {place_id: world.places.row(row, world.tree) for place_id, row in world.place_index.items()}
        for world in (old, new)
    )
    return _changes(before, after)


def category_changes(old: World, new: World) -> dict[str, int]:
    """How many categories an update has added, removed and changed: their names, parents or hours."""
    before, after = (_categories(world.tree) for world in (old, new))
    return _changes(before, after)


def _categories(tree: CategoryTree) -> dict[str, tuple[str, str, str]]:
    parents = [tree.ids[parent] if parent >= 0 else "" for parent in tree.parents.tolist()]
    return dict(zip(tree.ids, zip(tree.names, parents, tree.hours, strict=True), strict=True))


def _changes(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, int]:
    return {
        "new": len(after.keys() - before.keys()),
        "removed": len(before.keys() - after.keys()),
        "changed": sum(after[i] != before[i] for i in after.keys() & before.keys()),
    }
