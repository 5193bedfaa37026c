"""The typical day of a world: of some days of the public prior the one that is nearest to the others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.days.alignment import UNMATCHED
from elsewhere.days.comparison import day_columns, day_costs
from elsewhere.days.prior_days import prior_days
from elsewhere.days.visits import Days, visit_distances
from elsewhere.world.world import World

PRETEND = 256
"""Days drawn from the prior that stand for what people might have done."""


def typical_day(world: World) -> Days:
    """One day with the least mean error to what people might have done, of whatever number of visits."""
    options = prior_days(world, "typical", 2 * PRETEND)
    pretend = prior_days(world, "pretend", PRETEND)
    total = np.zeros(len(options.lengths))
    for _, errors in errors_of_pretend_days(world, pretend, options, UNMATCHED):
        total += errors
    best = int(np.argmin(total))
    length = int(options.lengths[best])
    return Days(
        options.places[best : best + 1, :length],
        options.times[best : best + 1, :length],
        options.lengths[best : best + 1],
    )


def errors_of_pretend_days(
    world: World, pretend: Days, candidates: Days, unmatched: float
) -> Iterator[tuple[Floats, Floats]]:
    """For each pretend day its distance to each candidate, and that as the error d of a visit."""
    distances, columns = visit_distances(world), day_columns(candidates)
    for row in range(len(pretend.lengths)):
        length = int(pretend.lengths[row])
        places, times = pretend.places[row, :length], pretend.times[row, :length]
        costs = day_costs(columns, distances, unmatched, places, times)
        yield costs, costs / np.maximum(candidates.lengths, length)
