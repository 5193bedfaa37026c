"""True and shared trajectories side by side, as columns: what every measure starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Floats, Indices
from elsewhere.days.alignment import align_days
from elsewhere.days.visits import visit_distances, visit_errors
from elsewhere.errors import InputError
from elsewhere.trajectories import Visit
from elsewhere.world.world import World

DIMENSIONS = ("space_km", "time_hours", "category", "combined")


class AnyDay(Protocol):
    """A trajectory, true or shared."""

    @property
    def visits(self) -> tuple[Visit, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class VisitColumns:
    """Visits of many days, one after the other."""

    owners: NDArray[np.int64]
    """Which day each visit belongs to."""
    places: Indices
    times: Indices
    lengths: NDArray[np.int64]
    """How many visits each day has."""

    @property
    def days(self) -> int:
        return len(self.lengths)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each day begins, and where the last ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)])


def columns_of(world: World, days: Sequence[AnyDay], what: str) -> VisitColumns:
    """Days as columns; places that the world does not have are refused, times after the day are its last."""
    lengths = np.array([len(day.visits) for day in days], dtype=np.int64)
    if not len(days) or not lengths.all():
        raise InputError(what, "has no trajectory, or one without a visit")
    index = world.place_index
    try:
        places = np.array([index[visit.place_id] for day in days for visit in day.visits], dtype=np.int32)
    except KeyError:
        raise InputError(
            what, "names a place that this world does not have: is it of another world?"
        ) from None
    times = np.array([visit.timestep for day in days for visit in day.visits], dtype=np.int32)
    owners = np.repeat(np.arange(len(days)), lengths)
    return VisitColumns(
        owners=owners, places=places, times=np.minimum(times, world.clock.timesteps - 1), lengths=lengths
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Pairs:
    """True visits beside shared ones."""

    world: World
    real: VisitColumns
    shared: VisitColumns
    first: NDArray[np.int64]
    """True visits that have a partner, and in ``second`` those partners (`days.alignment`)."""
    second: NDArray[np.int64]

    @property
    def owners(self) -> NDArray[np.int64]:
        """The day of each pair of visits."""
        return self.real.owners[self.first]

    @property
    def left_over(self) -> NDArray[np.int64]:
        """How many visits of each day, true or shared, have no partner."""
        return np.asarray(np.abs(self.real.lengths - self.shared.lengths))

    def distances(self) -> dict[str, Floats]:
        """d_s, d_t, d_c and d of each pair of visits.

        Paper: section 5.10 (ss:distance-function).
        """
        return visit_errors(
            visit_distances(self.world), self.real.places[self.first], self.real.times[self.first],
            self.shared.places[self.second], self.shared.times[self.second],
        )  # fmt: skip


def paired(world: World, real: Sequence[AnyDay], shared: Sequence[AnyDay]) -> Pairs:
    """True and shared days in the same order, their visits matched."""
    if len(real) != len(shared):
        raise InputError(
            "evaluate", f"{len(real):,} true trajectories and {len(shared):,} shared ones: must be as many"
        )
    mine = columns_of(world, real, "true trajectories")
    theirs = columns_of(world, shared, "shared trajectories")
    first = second = np.arange(len(mine.places))
    if not np.array_equal(mine.lengths, theirs.lengths):
        first, second = align_days(
            visit_distances(world), mine.places, mine.times, mine.offsets,
            theirs.places, theirs.times, theirs.offsets,
        )  # fmt: skip
    return Pairs(world=world, real=mine, shared=theirs, first=first, second=second)


def sum_per_day(owners: NDArray[np.int64], values: Floats, days: int) -> Floats:
    """Sum of the visits' values for each day."""
    return np.asarray(np.bincount(owners, weights=values, minlength=days))
