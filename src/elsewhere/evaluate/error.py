"""How far shared visits are from true ones, and how far a stranger's would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Floats
from elsewhere.errors import InputError
from elsewhere.knowledge.categories import category_distances
from elsewhere.knowledge.sphere import chords_squared, great_circle_km
from elsewhere.randomness import seeded_generator
from elsewhere.trajectories import Visit
from elsewhere.world.world import World


class _Visits(Protocol):
    @property
    def visits(self) -> tuple[Visit, ...]: ...


def mean_errors(world: World, real: Sequence[_Visits], shared: Sequence[_Visits]) -> dict[str, float]:
    """Normalised error per dimension: mean over a trajectory's visits, then over trajectories.

    Paper: section 6.3 (ss:utility), "normalized error".
    """
    pairs = [
        (a, b)
        for mine, theirs in zip(real, shared, strict=True)
        for a, b in zip(mine.visits, theirs.visits, strict=True)
    ]
    if not pairs:
        raise InputError("evaluate", "there is no trajectory to compare")
    share = np.repeat([1 / len(trajectory.visits) for trajectory in real], [len(t.visits) for t in real])
    share /= len(real)
    first = np.array([world.place_index[a.place_id] for a, _ in pairs])
    second = np.array([world.place_index[b.place_id] for _, b in pairs])
    vectors = world.places.vectors
    steps = np.abs(np.array([a.timestep - b.timestep for a, b in pairs]))
    hours = np.minimum(steps * world.clock.timestep_minutes / 60, world.distances.time_cap_hours)
    return {
        "space_km": float(great_circle_km(chords_squared(vectors[first], vectors[second])) @ share),
        "time_hours": float(hours @ share),
        "category": float(_category_errors(world, first, second) @ share),
    }


def null_errors(
    world: World, real: Sequence[_Visits], shared: Sequence[_Visits], seed: int = 0
) -> dict[str, float]:
    """The same errors against what somebody else shared, as long a day: what no information looks like."""
    generator = seeded_generator(seed)
    by_length: dict[int, list[int]] = {}
    for number, trajectory in enumerate(real):
        by_length.setdefault(len(trajectory.visits), []).append(number)
    others = np.arange(len(real))
    for numbers in by_length.values():
        others[numbers] = np.roll(generator.permutation(numbers), 1) if len(numbers) > 1 else numbers
    return mean_errors(world, real, [shared[other] for other in others.tolist()])


def _category_errors(world: World, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """d_c between the first categories of two places, cut to the levels in use."""
    settings = world.settings
    cut = world.tree.ancestors_at(settings["category_levels"])
    nodes = cut[world.places.category_nodes[world.places.category_offsets[:-1]]]
    used, kinds = np.unique(nodes, return_inverse=True)
    table = category_distances(
        world.tree,
        used,
        weights=settings["category_weights"],
        unrelated=settings["unrelated_category_distance"],
    )
    return np.asarray(table[kinds[first], kinds[second]])
