"""How far one can get: the least number of timesteps from one place to another.

Every question of reachability (θ in the paper) comes down to ``steps``: a visit to b at timestep t_b
can follow one to a at t_a if t_b − t_a is at least the steps from a to b when leaving at t_a. The
answer may depend on the hour of departure; hours with the same answer share a *profile*.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elsewhere.arrays import Bools, Floats, Indices, Steps
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import chord_squared_of_km, chords_squared

Profiles = NDArray[np.uint8]

MILLISECONDS_PER_MINUTE = 60_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StraightLine:
    """Great-circle travel at a speed, constant or by hour of departure.

    A pair of places falls on a *rung*: the first of the rising ``thresholds`` (squared chords) that is
    not below its squared chord. ``steps_at[profile, rung]`` is the answer. Rungs, not kilometres, are
    compared everywhere, so places and regions can never disagree by a rounding error.
    """

    profile_of_hour: Profiles
    thresholds: Floats
    steps_at: Steps
    vectors: Floats
    is_anywhere: Bools

    def steps(self, origins: ArrayLike, destinations: ArrayLike, profile: int) -> Steps:
        """Least timesteps between places, broadcast over indices."""
        a, b = np.asarray(origins), np.asarray(destinations)
        rungs = np.searchsorted(self.thresholds, chords_squared(self.vectors[a], self.vectors[b]))
        rungs = np.where(self.is_anywhere[a] | self.is_anywhere[b], 0, rungs)
        return np.asarray(self.steps_at[profile, rungs])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepTable:
    """Travel known for every pair of places: a matrix, a road network, a timetable; may be asymmetric."""

    profile_of_hour: Profiles
    table: Steps
    """profile × origin × destination."""

    def steps(self, origins: ArrayLike, destinations: ArrayLike, profile: int) -> Steps:
        """Least timesteps between places, broadcast over indices."""
        return np.asarray(self.table[profile, np.asarray(origins), np.asarray(destinations)])


Travel = StraightLine | StepTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RoadNetwork:
    """Directed edges between nodes on the globe; a street both ways is two edges."""

    node_vectors: Floats
    origins: Indices
    destinations: Indices
    lengths_km: Floats
    speeds_kmh: Floats
    """An edge's own speed, or nan where the general one holds."""


def profile_count(travel: Travel) -> int:
    return len(travel.steps_at) if isinstance(travel, StraightLine) else len(travel.table)


def profile_at(travel: Travel, clock: Clock, timestep: int) -> int:
    """Which profile rules for those who leave at ``timestep``."""
    return int(travel.profile_of_hour[clock.hour_of(timestep)])


def is_reachable(
    travel: Travel, clock: Clock, *, origin: int, departure: int, destination: int, arrival: int
) -> bool:
    """Whether a visit to ``destination`` at ``arrival`` can follow one to ``origin`` at ``departure``.

    Paper: def:reachabilty.
    """
    least = travel.steps(origin, destination, profile_at(travel, clock, departure))
    return arrival - departure >= int(least)


def hourly_profiles(values: float | Sequence[float]) -> tuple[list[float], Profiles]:
    """Distinct values and, for each hour, which of them holds."""
    by_hour = np.broadcast_to(np.asarray(values, dtype=np.float64), (24,))
    distinct, profile_of_hour = np.unique(by_hour, return_inverse=True)
    return distinct.tolist(), profile_of_hour.astype(np.uint8)


def straight_line(places: Places, clock: Clock, speed_kmh: float | Sequence[float]) -> StraightLine:
    """Travel at ``speed_kmh``: one number, or one for each hour of departure; may be infinite."""
    speeds, profile_of_hour = hourly_profiles(speed_kmh)
    ladders = [_ladder(speed, clock) for speed in speeds]
    thresholds = np.unique(np.concatenate(ladders))
    rungs = np.append(thresholds, np.nan)  # past the last rung: nan sorts above everything, so |T| steps
    steps_at = np.stack([np.searchsorted(ladder, rungs) + 1 for ladder in ladders])
    return StraightLine(
        profile_of_hour=profile_of_hour,
        thresholds=thresholds,
        steps_at=np.minimum(steps_at, clock.timesteps).astype(np.uint16),
        vectors=places.vectors,
        is_anywhere=places.is_anywhere,
    )


def _ladder(speed_kmh: float, clock: Clock) -> Floats:
    """Squared chord that can be covered in 1, 2, ... timesteps of a day."""
    km_per_step = speed_kmh * clock.timestep_minutes / 60
    return np.array([chord_squared_of_km(km_per_step * k) for k in range(1, clock.timesteps)])


class MeanHours:
    """Keeps travel times as they pass by: the mean over there and back, and over the hours of the day."""

    def __init__(self) -> None:
        self._total: Floats | None = None

    def add(self, milliseconds: Floats, share: float) -> None:
        """Travel times that hold for a ``share`` of the day."""
        if share:
            part = (milliseconds + milliseconds.T) * share
            self._total = part if self._total is None else self._total + part

    def table(self) -> Floats:
        """Hours between places; infinite where there is no way in some hour, or no way back."""
        assert self._total is not None  # noqa: S101 - every hour has its times
        hours = self._total / (2 * 60 * MILLISECONDS_PER_MINUTE)
        np.fill_diagonal(hours, 0)
        return hours


def step_table(
    milliseconds: Iterable[Floats],
    profile_of_hour: Profiles,
    clock: Clock,
    is_anywhere: Bools,
    mean: MeanHours | None = None,
) -> StepTable:
    """Travel from whole milliseconds, an origin × destination matrix per profile, infinite for no way.

    They are added to ``mean``, if there is one.
    """
    step = clock.timestep_minutes * MILLISECONDS_PER_MINUTE
    tables = []
    for profile, times in enumerate(milliseconds):
        if mean is not None:
            mean.add(times, int(np.count_nonzero(profile_of_hour == profile)) / 24)
        steps = np.clip(np.ceil(times / step), 1, clock.timesteps).astype(np.uint16)
        steps[is_anywhere, :] = 1
        steps[:, is_anywhere] = 1
        np.fill_diagonal(steps, 1)
        tables.append(steps)
    return StepTable(profile_of_hour=profile_of_hour, table=np.stack(tables))
