"""Days at open places, at random: nobody's, so they may be shown. They need not be feasible."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.days.visits import Days, days_of_one_length
from elsewhere.randomness import seeded_generator
from elsewhere.world.world import World


def open_days(world: World, length: int, count: int) -> Days:
    """``count`` days of ``length`` visits at any places that are open then; always the same ones."""
    generator = seeded_generator(1)
    places, times = (np.empty((count, length), dtype=np.int32) for _ in range(2))
    for row in range(count):
        times[row] = np.sort(generator.choice(world.clock.timesteps, size=length, replace=False))
        places[row] = [generator.choice(_open_places(world, step)) for step in times[row].tolist()]
    return days_of_one_length(places, times)


def _open_places(world: World, timestep: int) -> Indices:
    found = np.flatnonzero(world.is_open[:, timestep]).astype(np.int32)
    return found if len(found) else np.arange(len(world.places), dtype=np.int32)
