"""Public days by name: what `codebook` picks from, and what stands for people in simulations."""

from __future__ import annotations

from pathlib import Path

from elsewhere.days.feasible import FeasibleDays
from elsewhere.days.prior import ANY_LENGTH, prior_days, prior_seed
from elsewhere.days.visits import Days
from elsewhere.randomness import SeededRandomness
from elsewhere.world.world import World


def candidate_days(
    world: World, label: str, count: int, *, length: int = ANY_LENGTH, cache: Path | None = None
) -> Days:
    """``count`` days of the prior, of ``length`` visits or any number; the same for everybody with the world.

    Where days of so many visits are too rare for the prior, any feasible days, each as likely.
    """
    days = prior_days(world, label, count, length=length)
    if days.lengths.all():
        return days
    seed = int(prior_seed(world, label, length)[0])
    return FeasibleDays(world, cache).draw(length, count, SeededRandomness(seed))
