"""Public days by name: what `codebook` picks from, and what stands for people in simulations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from elsewhere.days.feasible import FeasibleDays
from elsewhere.days.prior import ANY_LENGTH, prior_seed
from elsewhere.days.prior_days import prior_days
from elsewhere.days.visits import Days
from elsewhere.files import read_arrays, write_arrays
from elsewhere.randomness import SeededRandomness
from elsewhere.world.world import World


def candidate_days(
    world: World, label: str, count: int, *, length: int = ANY_LENGTH, cache: Path | None = None
) -> Days:
    """``count`` days of the prior, of ``length`` visits or any number; the same for everybody with the world.

    Where days of so many visits are too rare for the prior, any feasible days, each as likely. They are kept
    in ``cache``, a folder, if one is given.
    """
    seed = prior_seed(world, label, length)
    kept = None if cache is None else cache / f"days-{int(seed[0]):016x}-{count}.npz"
    days = None if kept is None else _read(kept, world, count)
    if days is None:
        days = prior_days(world, label, count, length=length)
        if not days.lengths.all():
            days = FeasibleDays(world, cache).draw(length, count, SeededRandomness(int(seed[0])))
        if kept is not None:
            write_arrays(kept, days._asdict())
    return days


def _read(path: Path, world: World, count: int) -> Days | None:
    """Days as they were kept; None for what does not look right."""
    stored = read_arrays(path, Days._fields)
    return None if stored is None else checked_days(Days(*stored), world, count)


def checked_days(days: Days, world: World, count: int) -> Days | None:
    """Days from a file that anybody may have written; None for what does not look right."""
    places, times, lengths = days
    if not (
        places.shape == times.shape and places.ndim == 2 and lengths.shape == (count,) == places.shape[:1]
    ):
        return None
    is_sound = (
        all(column.dtype == np.int32 for column in days)
        and bool((lengths >= 1).all() and (lengths <= places.shape[1]).all())
        and bool((places >= -1).all() and (places < len(world.places)).all())
        and bool((times >= -1).all() and (times < world.clock.timesteps).all())
        and bool(((places >= 0) == (np.arange(places.shape[1]) < lengths[:, None])).all())
        and bool(((times >= 0) == (places >= 0)).all())
    )
    return days if is_sound else None
