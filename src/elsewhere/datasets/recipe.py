"""Days made up from public popularity and dwell times, by the paper's recipe for SafeGraph's places.

Paper: section 6.1.2 (sss:safegraph-data).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.datasets.bundle import Dataset, travel_of
from elsewhere.datasets.raw_text import Progress
from elsewhere.io.matching import Person
from elsewhere.knowledge.clock import MINUTES_PER_DAY
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Places, build_places
from elsewhere.knowledge.travel import Travel, profile_at
from elsewhere.randomness import seeded_generator
from elsewhere.trajectories import Trajectory

LENGTHS = (3, 8)
START_HOURS = (6, 22)
LONGEST_TRAVEL_MINUTES = 60
# SafeGraph's buckets of minutes; the last has no end, we give it one.
DWELL_BUCKETS = ((1, 5), (5, 10), (11, 20), (21, 60), (61, 120), (121, 240), (241, 480))
_TRIES_PER_STEP = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Habits:
    """What is known of places beside where they are: how long people stay, bucket by bucket."""

    dwell: Floats
    """Place × bucket, as counts; a row of zeros means nothing is known."""
    buckets: Sequence[tuple[int, int]] = DWELL_BUCKETS


class Recipe:
    """Makes up days: every one is feasible and open in the data set's world."""

    def __init__(self, dataset: Dataset, habits: Habits, *, seed: int) -> None:
        rows, clock = dataset.places, dataset.clock
        self._places: Places = build_places(rows, dataset.tree)
        self._clock = clock
        self._generator = seeded_generator(seed)
        self._is_open: Bools = open_table(self._places.effective_hours(dataset.tree), clock)
        self._travel: Travel = travel_of(dataset, self._places)
        # The rows of habits are in the order given, those of places in the order of ids.
        order = np.array(sorted(range(len(rows)), key=lambda row: rows[row].place_id))
        self._buckets = np.array(habits.buckets)
        dwell = np.asarray(habits.dwell, dtype=np.float64)[order]
        dwell[dwell.sum(axis=1) == 0] = dwell.sum(axis=0) + 1e-9
        self._dwell = dwell / dwell.sum(axis=1, keepdims=True)

    def days(self, people: int, progress: Progress | None) -> Iterator[Person]:
        """One day for each of so many people."""
        width = len(str(people))
        date = self._clock.date
        for number in range(1, people + 1):
            name = f"{number:0{width}d}"
            yield Person(uid=f"u{name}", tid=f"t{name}", date=date, trajectory=self._day())
            if progress is not None:
                progress(number, people)

    def _day(self) -> Trajectory:
        """Deviation: generated-day — one that would pass midnight or gets stuck is begun again."""
        length = int(self._generator.integers(LENGTHS[0], LENGTHS[1], endpoint=True))
        while True:
            visits = self._attempt(length)
            if visits is not None:
                return Trajectory((self._places.ids[place], step) for place, step in visits)

    def _attempt(self, length: int) -> list[tuple[int, int]] | None:
        minute = float(self._generator.uniform(START_HOURS[0] * 60, START_HOURS[1] * 60))
        place = self._popular(self._weights(minute))
        visits: list[tuple[int, int]] = []
        while place is not None:
            visits.append((place, self._step(minute)))
            if len(visits) == length:
                return visits
            following = self._next(place, minute)
            if following is None:
                return None
            place, minute = following
        return None

    def _next(self, place: int, minute: float) -> tuple[int, float] | None:
        """Where to next, and when: after a while here and a while under way, a popular place within reach."""
        for _ in range(_TRIES_PER_STEP):
            low, high = self._buckets[self._generator.choice(len(self._buckets), p=self._dwell[place])]
            under_way = float(self._generator.uniform(0, LONGEST_TRAVEL_MINUTES))
            arrival = minute + float(self._generator.uniform(low, high)) + under_way
            gap = self._step(arrival) - self._step(minute)
            if arrival < MINUTES_PER_DAY and gap > 0:
                weights = self._weights(arrival) * self._within(place, minute, under_way, gap)
                chosen = self._popular(weights)
                if chosen is not None:
                    return chosen, arrival
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
