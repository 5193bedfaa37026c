"""Days of made-up people, by the paper's two recipes: from popularity and dwell times, and on a campus."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices, Steps
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.travel import Travel, profile_at
from elsewhere.randomness import seeded_generator

Visits = list[tuple[int, int]]
"""A made-up day: places and timesteps."""

LENGTHS = (3, 8)
START_HOURS = (6, 22)
LONGEST_TRAVEL_MINUTES = 60
# SafeGraph's buckets of minutes; the last has no end, we give it one.
DWELL_BUCKETS = ((1, 5), (5, 10), (11, 20), (21, 60), (61, 120), (121, 240), (241, 480))
_TRIES_PER_STEP = 8
# Stays that are drawn before a day is begun again: most are found at once.
_STAYS_AT_FIRST, _STAYS_AT_MOST = 4, 400
_TRIES_PER_START = 50
_LONGEST_GAP_MINUTES = 120


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Habits:
    """What is known of places beside where they are: how long people stay, bucket by bucket."""

    dwell: Floats
    """Place × bucket, as counts; a row of zeros means nothing is known."""
    buckets: Sequence[tuple[int, int]] = DWELL_BUCKETS


class PopularityRecipe:
    """Days made up from popularity and dwell times: every one is feasible and open.

    Paper: section 6.1.2 (sss:safegraph-data).
    """

    def __init__(
        self, places: Places, is_open: Bools, travel: Travel, clock: Clock, habits: Habits, *, seed: int
    ) -> None:
        self._places = places
        self._is_open = is_open
        self._travel = travel
        self._clock = clock
        self._generator = seeded_generator(seed)
        self._buckets = np.array(habits.buckets)
        dwell = np.array(habits.dwell, dtype=np.float64)
        dwell[dwell.sum(axis=1) == 0] = dwell.sum(axis=0) + 1e-9
        self._dwell_ends = np.cumsum(dwell / dwell.sum(axis=1, keepdims=True), axis=1)

    def day(self) -> Visits:
        """One more day.

        Deviation: generated-day — a stay that would pass midnight is drawn again; a day that gets stuck is
        begun again at the same time.
        """
        length = int(self._generator.integers(LENGTHS[0], LENGTHS[1], endpoint=True))
        while True:
            start = float(self._generator.uniform(START_HOURS[0] * 60, START_HOURS[1] * 60))
            for _ in range(_TRIES_PER_START):
                visits = self._attempt(length, start)
                if visits is not None:
                    return visits

    def _attempt(self, length: int, minute: float) -> Visits | None:
        place = self._popular(self._weights(minute))
        visits: Visits = []
        while place is not None:
            visits.append((place, self._step(minute)))
            if len(visits) == length:
                return visits
            following = self._next(place, minute, length - len(visits) - 1)
            if following is None:
                return None
            place, minute = following
        return None

    def _next(self, place: int, minute: float, to_come: int) -> tuple[int, float] | None:
        """Where to next, and when: after a while here and a while under way, a popular place within reach."""
        for _ in range(_TRIES_PER_STEP):
            left = self._left(place, minute, to_come)
            if left is None:
                return None
            arrival, under_way = left
            gap = self._step(arrival) - self._step(minute)
            chosen = self._popular(self._weights(arrival) * self._within(place, minute, under_way, gap))
            if chosen is not None:
                return chosen, arrival
        return None

    def _left(self, place: int, minute: float, to_come: int) -> tuple[float, float] | None:
        """When the next visit begins and how long the way was: in time for those that are to come after it.

        Redrawing one stay, not the whole day, keeps late starts: else days of many visits start early.
        """
        first = self._step(minute) + 1
        last = self._clock.timesteps - 1 - to_come
        for count in (_STAYS_AT_FIRST, _STAYS_AT_MOST) if first <= last else ():
            buckets = np.searchsorted(self._dwell_ends[place], self._generator.random(count), side="right")
            low, high = self._buckets[np.minimum(buckets, len(self._buckets) - 1)].T
            under_way = self._generator.uniform(0, LONGEST_TRAVEL_MINUTES, size=count)
            arrivals = minute + self._generator.uniform(low, high) + under_way
            steps = arrivals // self._clock.timestep_minutes
            in_time = np.flatnonzero((first <= steps) & (steps <= last))
            if len(in_time):
                return float(arrivals[in_time[0]]), float(under_way[in_time[0]])
        return None

    def _within(self, place: int, time: float, under_way: float, gap: int) -> Bools:
        """Places that can be reached in so many minutes, and in so many timesteps, other than this one."""
        everything: Indices = np.arange(len(self._places), dtype=np.int32)
        most = min(gap, math.ceil(under_way / self._clock.timestep_minutes))
        profile = profile_at(self._travel, self._clock, self._step(time))
        is_within = self._travel.steps(place, everything, profile) <= most
        is_within[place] = False
        return np.asarray(is_within)

    def _weights(self, minute: float) -> Floats:
        """Popularity at that hour of what is open then."""
        return np.asarray(
            self._places.popularity[:, int(minute // 60)] * self._is_open[:, self._step(minute)]
        )

    def _popular(self, weights: Floats) -> int | None:
        total = float(weights.sum())
        if total <= 0:
            return None
        target = self._generator.random() * total
        return min(int(np.searchsorted(np.cumsum(weights), target, side="right")), len(weights) - 1)

    def _step(self, minute: float) -> int:
        return int(minute // self._clock.timestep_minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """People who are all at one of some places at a time of the day."""

    people: int
    place_ids: tuple[str, ...]
    from_hour: int
    to_hour: int


def _ways_to_fit(longest: int, room: int) -> Floats:
    """Number of gaps × room: in how many ways so many gaps of 1 to ``longest`` fit into it."""
    ways = np.ones((LENGTHS[1], room + 1))
    for count in range(1, LENGTHS[1]):
        for most in range(room + 1):
            ways[count, most] = ways[count - 1, max(0, most - longest) : most].sum()
    return ways


class CampusRecipe:
    """Days on a campus: at most two hours apart, some of them around an event.

    Paper: section 6.1.3 (sss:synthetic-data-campus).
    Deviation: campus-day — gaps are drawn among those that end before midnight; a day that finds no open
    place within reach is begun again at the same time; the next place is never the one before.
    """

    def __init__(self, places: Places, is_open: Bools, travel: Travel, clock: Clock, *, seed: int) -> None:
        self.generator = seeded_generator(seed)
        self._clock = clock
        self._is_open = is_open
        everywhere = np.arange(len(places))
        self._steps: Steps = travel.steps(everywhere[:, None], everywhere[None, :], 0)
        self._category = places.category_nodes[places.category_offsets[:-1]]
        self._row_of = {place_id: row for row, place_id in enumerate(places.ids)}
        self._hour = 60 // clock.timestep_minutes
        self._ways = _ways_to_fit(_LONGEST_GAP_MINUTES // clock.timestep_minutes, clock.timesteps)

    def day(self, event: Event | None) -> Visits:
        """One more day, around an event if one is given."""
        length = int(self.generator.integers(LENGTHS[0], LENGTHS[1], endpoint=True))
        hours = START_HOURS if event is None else (event.from_hour, event.to_hour)
        while True:
            anchor = 0 if event is None else int(self.generator.integers(length))
            time = int(self.generator.integers(hours[0] * self._hour, hours[1] * self._hour))
            for _ in range(_TRIES_PER_START):
                visits = self._attempt(length, event, anchor, time)
                if visits is not None:
                    return visits

    def _attempt(self, length: int, event: Event | None, anchor: int, time: int) -> Visits | None:
        """A day whose visit number ``anchor`` is at ``time``."""
        before = self._gaps(anchor, time - START_HOURS[0] * self._hour)
        after = self._gaps(length - 1 - anchor, self._clock.timesteps - 1 - time)
        if before is None or after is None:
            return None
        times = [*(time - np.cumsum(before))[::-1].tolist(), time, *(time + np.cumsum(after)).tolist()]
        place = self._first_place(time) if event is None else self._event_place(event)
        if not self._is_open[place, time]:
            return None
        return self._spread(place, anchor, times)

    def _gaps(self, count: int, room: int) -> list[int] | None:
        """So many gaps, uniform among all that fit into ``room`` timesteps; None if none do."""
        gaps: list[int] = []
        for left in range(count, 0, -1):
            weights = [
                self._ways[left - 1, room - gap] if gap <= room else 0.0
                for gap in range(1, _LONGEST_GAP_MINUTES // self._clock.timestep_minutes + 1)
            ]
            if not sum(weights):
                return None
            gaps.append(1 + int(self.generator.choice(len(weights), p=np.array(weights) / sum(weights))))
            room -= gaps[-1]
        return gaps

    def _spread(self, place: int, anchor: int, times: list[int]) -> Visits | None:
        """Places before and after the anchor, each open and within reach of its neighbour."""
        chosen = {anchor: place}
        for i in [*range(anchor + 1, len(times)), *range(anchor - 1, -1, -1)]:
            neighbour = i - 1 if i > anchor else i + 1
            gap = abs(times[i] - times[neighbour])
            # Straight lines are symmetric, so one row of steps serves both directions.
            options = (self._steps[chosen[neighbour]] <= gap) & self._is_open[:, times[i]]
            options[chosen[neighbour]] = False
            candidates = np.flatnonzero(options)
            if not len(candidates):
                return None
            chosen[i] = int(self.generator.choice(candidates))
        return [(chosen[i], time) for i, time in enumerate(times)]

    def _first_place(self, time: int) -> int:
        """A category at random among those with an open building, then one of its open buildings."""
        open_places = np.flatnonzero(self._is_open[:, time])
        category = self.generator.choice(np.unique(self._category[open_places]))
        return int(self.generator.choice(open_places[self._category[open_places] == category]))

    def _event_place(self, event: Event) -> int:
        return self._row_of[event.place_ids[int(self.generator.integers(len(event.place_ids)))]]
