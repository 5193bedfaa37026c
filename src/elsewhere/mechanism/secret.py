"""What the draws see of a trajectory: a number for each visit, by rules that never fail.

A trajectory enters the mechanism here and nowhere else. Whatever is done to a person's own data before the
draw costs nothing. But no rule may raise an error that depends on it (R10): every place and every time has a
number, known or not.
"""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.compiled import compiled
from elsewhere.days.visits import check_numbers
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.mechanism.listing import Outcome
from elsewhere.trajectories import Trajectory
from elsewhere.world.distances import RegionDistances, capped_hours
from elsewhere.world.world import World


class Nothing:
    """Nothing of each visit: for methods that ignore the person."""

    def __call__(self, trajectory: Trajectory) -> Outcome:
        return (0,) * len(trajectory)


class NumberedVisits:
    """Each visit as a number (`days.visits`); unknown places come after the last, late times are the last."""

    def __init__(self, world: World) -> None:
        check_numbers(world)
        self._rows = world.place_index
        self._unknown = len(world.places)
        self._timesteps = world.clock.timesteps

    def __call__(self, trajectory: Trajectory) -> Outcome:
        unknown, day = self._unknown, self._timesteps
        return tuple(
            self._rows.get(place_id, unknown) * day + min(timestep, day - 1)
            for place_id, timestep in trajectory.visits
        )


class RegionOfEachVisit:
    """The region of each visit.

    An open place has its region. For a closed one, or a timestep outside the day, it is the region
    nearest by d; for a place nobody knows, the one nearest in time.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        regions = world.regions
        # Pairs are in the order of places: the first pair of each place is its first category in the tree.
        firsts = np.searchsorted(regions.pair_places, np.arange(len(world.places)))
        self._region_of: list[list[int]] = regions.region_of[firsts].tolist()
        self._rows = world.place_index
        self._last_step = world.clock.timesteps - 1
        self._per_interval = world.clock.timesteps_per_interval
        self._nodes = regions.pair_nodes[firsts]
        self._no_categories = np.zeros(len(world.distances.category_table))
        self._kinds = {
            int(node): int(kind) for node, kind in zip(regions.nodes, world.distances.kinds, strict=True)
        }

    def __call__(self, trajectory: Trajectory) -> Outcome:
        last, per_interval = self._last_step, self._per_interval
        found = []
        for place_id, timestep in trajectory.visits:
            place = self._rows.get(place_id, -1)
            step = min(last, timestep)
            region = self._region_of[place][step // per_interval] if place >= 0 else -1
            found.append(region if region >= 0 else self._nearest(place, step))
        return tuple(found)

    def _nearest(self, place: int, timestep: int) -> int:
        """Region nearest by d to a place that is closed or unknown (-1); ties go to the first."""
        world = self._world
        hour = (timestep + 0.5) * world.clock.timestep_minutes / 60
        if place < 0:
            return int(_nearest_region(world.distances, world.regions.vectors[:0], self._no_categories, hour))
        row = world.places.vectors[place : place + 1]
        return int(_nearest_region(world.distances, row, self._categories_from(place), hour))

    def _categories_from(self, place: int) -> Floats:
        """d_c from a place's category, or the nearest ancestor that regions have, to each kind of region."""
        world = self._world
        lineage = world.tree.lineage[self._nodes[place]]
        for node in lineage[lineage >= 0][::-1].tolist():
            if node in self._kinds:
                return np.asarray(world.distances.category_table[self._kinds[node]])
        return self._no_categories


@compiled
def _nearest_region(distances: RegionDistances, point: Floats, categories: Floats, hour: float) -> int:
    """Region with the least d to a point (none: time alone counts) at an hour."""
    best, least = 0, np.inf
    for region in range(len(distances.kinds)):
        gap = capped_hours(
            abs(distances.mid_hours[region] - hour), distances.time_cap_hours, distances.is_circular
        )
        square = gap * gap
        if len(point):
            category = categories[distances.kinds[region]]
            square += category * category
            square += great_circle_km_squared(chord_squared(point, 0, distances.vectors, region))
        if square < least:
            best, least = region, square
    return best
