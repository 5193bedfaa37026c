"""A person's day: visits in a row. Private until a method has made something else of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, starmap
from numbers import Integral
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices

_LAST_TIMESTEP = (1 << 31) - 1


class Visit(NamedTuple):
    """A place and a timestep, (p_i, t_i); at 10 minutes each, timestep 63 is 10:30.

    Examples
    --------
    >>> ew.Visit("a", 63).timestep
    63
    """

    place_id: str
    timestep: int


class _Visits:
    """Visits in a row; equal only to the same visits of the same kind."""

    __slots__ = ("_visits",)

    _visits: tuple[Visit, ...]

    @property
    def visits(self) -> tuple[Visit, ...]:
        return self._visits

    def __len__(self) -> int:
        return len(self._visits)

    def __iter__(self) -> Iterator[Visit]:
        return iter(self._visits)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._visits == getattr(other, "_visits", None)

    def __hash__(self) -> int:
        return hash(self._visits)


class Trajectory(_Visits):
    """Visits with strictly increasing timesteps within one day (τ). PRIVATE: its repr shows only |τ|.

    Parameters
    ----------
    visits
        `Visit` records, or pairs of a place id and a timestep.

    Raises
    ------
    ValueError
        If there is no visit, or timesteps do not rise. No message quotes a visit.

    Examples
    --------
    >>> ew.Trajectory([("a", 63), ("b", 75)])
    <private Trajectory of 2 visits>
    """

    __slots__ = ()

    def __init__(self, visits: Iterable[Visit | tuple[str, int]]) -> None:
        given = [Visit(*visit) for visit in visits]
        # No message may quote private visits (R10).
        if not all(isinstance(visit.timestep, Integral) for visit in given):
            raise ValueError("timesteps of a trajectory must be whole numbers")
        self._visits = tuple(Visit(str(visit.place_id), int(visit.timestep)) for visit in given)
        steps = [visit.timestep for visit in self._visits]
        if not steps:
            raise ValueError("a trajectory needs at least one visit")
        if steps[0] < 0 or any(later <= earlier for earlier, later in pairwise(steps)):
            raise ValueError("timesteps of a trajectory must be 0 or more and strictly increase")

    def __repr__(self) -> str:
        return f"<private Trajectory of {len(self)} visits>"


class SharedTrajectory(_Visits):
    """What a method made of a trajectory (τ̂): the only thing that leaves a device. Only methods make one.

    Examples
    --------
    >>> shared, _ = ew.method("ngram", world, epsilon=5).share(day)
    >>> shared.visits[0].place_id in world.places.ids
    True
    """

    __slots__ = ()

    def __init__(self, visits: Iterable[Visit | tuple[str, int]]) -> None:
        self._visits = tuple(starmap(Visit, visits))

    def __repr__(self) -> str:
        visits = ", ".join(f"{visit.place_id}@{visit.timestep}" for visit in self._visits)
        return f"<SharedTrajectory {visits}>"


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Many people's days in columns, visit after visit, for files and clusters. PRIVATE, as each of them is.

    Places are rows of a world's places; one past the last for a place that nobody knows.
    """

    places: Indices
    times: Indices
    starts: Counts
    """Where each day begins, and at the end how many visits there are."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"<private Trajectories of {len(self)} days>"

    @property
    def lengths(self) -> Counts:
        """The number of visits of each day."""
        return np.diff(self.starts)

    @property
    def owners(self) -> Counts:
        """The number of the day that each visit is of."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def some(self, rows: Counts) -> Trajectories:
        """Some of the days, in the order of ``rows``."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        at = np.arange(starts[-1]) + np.repeat(self.starts[:-1][rows] - starts[:-1], lengths)
        return Trajectories(self.places[at], self.times[at], starts)


def joined_trajectories(parts: Sequence[Trajectories]) -> Trajectories:
    """Days of several columns, in order."""
    lengths = np.concatenate([part.lengths for part in parts])
    return Trajectories(
        places=np.concatenate([part.places for part in parts]),
        times=np.concatenate([part.times for part in parts]),
        starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def in_columns(trajectories: Sequence[Trajectory], row_of: Mapping[str, int]) -> Trajectories:
    """Days in columns, by the row of each place of a world."""
    unknown = len(row_of)
    visits = chain.from_iterable(trajectory.visits for trajectory in trajectories)
    ids, timesteps = tuple(zip(*visits, strict=True)) or ((), ())
    lengths = [0, *map(len, trajectories)]
    if max(timesteps, default=0) > _LAST_TIMESTEP:
        # No day has a timestep that large; what is cut here counts as the last of the day anyway.
        timesteps = tuple(min(timestep, _LAST_TIMESTEP) for timestep in timesteps)
    return Trajectories(
        places=np.array([row_of.get(place_id, unknown) for place_id in ids], dtype=np.int32),
        times=np.array(timesteps, dtype=np.int32),
        starts=np.cumsum(lengths, dtype=np.int64),
    )
