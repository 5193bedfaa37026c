"""At which hours visits are: the shape of a day, which a single false peak would spoil."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.days.prior_days import prior_days
from elsewhere.evaluate.pairs import AnyDay
from elsewhere.world.world import World

_PRIOR_DAYS = 8192


def hours_of_days(world: World, days: Sequence[AnyDay]) -> list[float]:
    """Share of visits that begin in each hour of the day."""
    times = [visit.timestep for day in days for visit in day.visits]
    return _shares(world, np.array(times, dtype=np.int32))


def hours_of_prior(world: World) -> list[float]:
    """The same, for days of the world's public prior."""
    times = prior_days(world, "hours", _PRIOR_DAYS).times
    return _shares(world, times[times >= 0])


def _shares(world: World, times: Indices) -> list[float]:
    known = np.minimum(times, world.clock.timesteps - 1)
    counts = np.bincount(known.astype(np.int64) * world.clock.timestep_minutes // 60, minlength=24)
    total = max(int(counts.sum()), 1)
    return [count / total for count in counts.tolist()]
