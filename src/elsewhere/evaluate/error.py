"""How far shared visits are from true ones, and how far a stranger's would be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from elsewhere.errors import InputError
from elsewhere.knowledge.sphere import chords_squared, great_circle_km
from elsewhere.randomness import seeded_generator
from elsewhere.trajectories import Visit
from elsewhere.world.visits import visit_distances
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
    vectors, distances = world.places.vectors, visit_distances(world)
    steps = np.abs(np.array([a.timestep - b.timestep for a, b in pairs]))
    hours = np.minimum(steps * world.clock.timestep_minutes / 60, world.distances.time_cap_hours)
    return {
        "space_km": float(great_circle_km(chords_squared(vectors[first], vectors[second])) @ share),
        "time_hours": float(hours @ share),
        "category": float(distances.category_table[distances.kinds[first], distances.kinds[second]] @ share),
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
