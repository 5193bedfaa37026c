"""What the draws see of a trajectory: a number for each visit, by rules that never fail.

A trajectory enters the mechanism here and nowhere else. Whatever is done to a person's own data before the
draw costs nothing. But no rule may raise an error that depends on it (R10): every place and every time has a
number, known or not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.days.visits import VisitDistances, check_numbers, numbers_of, visit_distances
from elsewhere.mechanism.length import stretched_places
from elsewhere.mechanism.listing import Outcome
from elsewhere.trajectories import Trajectories, Trajectory, Visit
from elsewhere.world.distances import RegionDistances, capped_hours
from elsewhere.world.ground import km_squared_between
from elsewhere.world.kinds import first_pairs, kind_distances, place_kinds
from elsewhere.world.measure import put_together
from elsewhere.world.world import World


class Secret(ABC):
    """A rule from a trajectory to numbers; with ``constant_work`` it does as much for every visit."""

    def __call__(
        self, trajectory: Trajectory, length: int | None = None, *, constant_work: bool = False
    ) -> Outcome:
        """A number for each visit, or for each of ``length``: repeated evenly, or one of every few kept.

        Visits are chosen before any is looked up, so that the work goes by ``length`` alone.
        """
        visits = trajectory.visits
        if length is not None and length != len(visits):
            visits = tuple(visits[place] for place in stretched_places(len(visits), length).tolist())
        return self.of(visits, constant_work=constant_work)

    @abstractmethod
    def of(self, visits: Sequence[Visit], *, constant_work: bool = False) -> Outcome:
        """A number for each visit."""

    def rows(self, days: Trajectories, length: int) -> Indices:
        """The same of many days at once, a row each, brought to ``length`` visits."""
        counts = days.lengths[:, None]
        at = days.starts[:-1, None] + (2 * np.arange(length, dtype=np.int64) + 1) * counts // (2 * length)
        return self.of_columns(days.places[at], days.times[at])

    def padded(self, days: Trajectories) -> Indices:
        """The same of many days as they are, rows of fewer visits filled up with −1."""
        rows = np.full((len(days), max(2, days.lengths.max(initial=0))), -1, dtype=np.int32)
        rows[np.arange(rows.shape[1]) < days.lengths[:, None]] = self.of_columns(days.places, days.times)
        return rows

    @abstractmethod
    def of_columns(self, places: Indices, times: Indices) -> Indices:
        """The plain twin of `of`, for arrays: no constant work, which is for devices."""


class Nothing(Secret):
    """Nothing of each visit: for methods that ignore the person."""

    def of(self, visits: Sequence[Visit], *, constant_work: bool = False) -> Outcome:
        """Zeros."""
        del constant_work
        return (0,) * len(visits)

    def of_columns(self, places: Indices, times: Indices) -> Indices:
        """Zeros."""
        del times
        return np.zeros_like(places)


class NumberedVisits(Secret):
    """Each visit as a number (`days.visits`); unknown places come after the last, late times are the last."""

    def __init__(self, world: World) -> None:
        check_numbers(world)
        self._rows = world.place_index
        self._unknown = len(world.places)
        self._timesteps = world.clock.timesteps

    def of(self, visits: Sequence[Visit], *, constant_work: bool = False) -> Outcome:
        """Place · |T| + timestep."""
        del constant_work  # every visit takes one look-up
        unknown, day = self._unknown, self._timesteps
        return tuple(
            self._rows.get(place_id, unknown) * day + min(timestep, day - 1) for place_id, timestep in visits
        )

    def of_columns(self, places: Indices, times: Indices) -> Indices:
        """Place · |T| + timestep."""
        return numbers_of(places, np.minimum(times, self._timesteps - 1), self._timesteps)


class RegionOfEachVisit(Secret):
    """The region of each visit.

    An open place has its region: that of its first listed category. For a closed one, or a timestep outside
    the day, it is the region nearest by d; for a place nobody knows, the one nearest in time.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        regions = world.regions
        table = regions.region_of[first_pairs(world)].astype(np.int32)
        self._region_of: list[list[int]] = table.tolist()
        # One more row, for a place nobody knows.
        self._table = np.vstack([table, np.full((1, table.shape[1]), -1, dtype=np.int32)])
        self._rows = world.place_index
        self._last_step = world.clock.timesteps - 1
        self._per_interval = world.clock.timesteps_per_interval
        self._places = visit_distances(world)
        kinds = place_kinds(world.places, world.tree, world.settings.category_levels)
        used = [(node,) for node in np.unique(regions.nodes).tolist()]  # in the order of regions' kinds
        self._kinds = kinds.of_place
        self._categories = kind_distances(world.tree, world.settings, kinds.nodes, used)

    def of(self, visits: Sequence[Visit], *, constant_work: bool = False) -> Outcome:
        """The region of each visit."""
        last, per_interval = self._last_step, self._per_interval
        found = []
        for place_id, timestep in visits:
            place = self._rows.get(place_id, -1)
            step = min(last, timestep)
            region = self._region_of[place][step // per_interval] if place >= 0 else -1
            # Looking for the nearest takes time: on a device, also for those who need it not (R15).
            nearest = self._nearest(place, step) if constant_work or region < 0 else region
            found.append(region if region >= 0 else nearest)
        return tuple(found)

    def of_columns(self, places: Indices, times: Indices) -> Indices:
        """The region of each visit; the nearest is looked for where there is none."""
        steps = np.minimum(times, self._last_step)
        found = np.asarray(self._table[places, steps // self._per_interval], dtype=np.int32)
        for at in zip(*np.nonzero(found < 0), strict=True):
            place = int(places[at])
            found[at] = self._nearest(place if place < len(self._rows) else -1, int(steps[at]))
        return found

    def _nearest(self, place: int, timestep: int) -> int:
        """Region nearest by d to a place that is closed or unknown (-1); ties go to the first."""
        world = self._world
        hour = (timestep + 0.5) * world.clock.timestep_minutes / 60
        somewhere = max(place, 0)  # of a place nobody knows, time alone counts; the work is the same
        categories = self._categories[self._kinds[somewhere]]
        return int(
            _nearest_region(world.distances, self._places, somewhere, categories, hour, float(place >= 0))
        )


@compiled
def _nearest_region(
    distances: RegionDistances,
    places: VisitDistances,
    place: int,
    categories: Floats,
    hour: float,
    weight: float,
) -> int:
    """Region with the least d to a place at an hour; with a ``weight`` of 0 its time alone counts."""
    best, least = 0, np.inf
    for region in range(len(distances.kinds)):
        gap = capped_hours(
            abs(distances.mid_hours[region] - hour), distances.time_cap_hours, distances.turns[region]
        )
        square = km_squared_between(places, place, distances, region)
        category = categories[distances.kinds[region]]
        far = put_together(distances.measure, weight * square, gap, weight * category)
        if far < least:
            best, least = region, far
    return best
