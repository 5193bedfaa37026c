"""How far shared visits are from true ones, and how far a stranger's would be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.days.alignment import UNMATCHED
from elsewhere.evaluate.pairs import DIMENSIONS, AnyDay, Pairs, paired, sum_per_day
from elsewhere.randomness import seeded_generator
from elsewhere.world.world import World


def day_errors(pairs: Pairs) -> dict[str, Floats]:
    """Normalised error of each day in each dimension: the mean over its visits.

    Where lengths differ, over visits that have a partner; in d, a visit without one counts `UNMATCHED`.

    Paper: section 6.3 (ss:utility), "normalized error".
    Deviation: unequal-lengths — the paper's outputs are as long as its inputs.
    """
    found, days = pairs.distances(), pairs.real.days
    matched = np.minimum(pairs.real.lengths, pairs.shared.lengths)
    sums = {dimension: sum_per_day(pairs.owners, found[dimension], days) for dimension in DIMENSIONS}
    errors = {dimension: values / matched for dimension, values in sums.items()}
    left_over = pairs.left_over
    errors["combined"] = (sums["combined"] + UNMATCHED * left_over) / (matched + left_over)
    return errors


def mean_errors(world: World, real: Sequence[AnyDay], shared: Sequence[AnyDay]) -> dict[str, float]:
    """Normalised error per dimension: mean over a trajectory's visits, then over trajectories."""
    errors = day_errors(paired(world, real, shared))
    return {dimension: float(values.mean()) for dimension, values in errors.items()}


def null_errors(
    world: World, real: Sequence[AnyDay], shared: Sequence[AnyDay], seed: int = 0
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
