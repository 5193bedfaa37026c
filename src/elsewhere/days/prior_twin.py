"""The plain twin of the compiled generator of prior days: the same days, word for word, without a compiler.

A person's first share on a new device needs one list of candidates; making it here takes a second or two,
compiling the loop ten.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from elsewhere.arrays import Words
from elsewhere.days.nearby import farthest_chord, may_be_within
from elsewhere.days.prior import Prior
from elsewhere.knowledge.sphere import EARTH_RADIUS_KM, NEAR_CHORD_SQUARED
from elsewhere.world.place_world import PlaceWorld

_WORDS_AT_ONCE = 1 << 16
_GAMMA = 0x9E3779B97F4A7C15


def uniform_floats(seed: int) -> Iterator[float]:
    """What `randomness.next_float` gives one after the other: SplitMix64 needs only its place in the row."""
    start = 0
    while True:
        steps = np.arange(start + 1, start + _WORDS_AT_ONCE + 1, dtype=np.uint64)
        words = np.uint64(seed) + steps * np.uint64(_GAMMA)
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words ^= words >> np.uint64(31)
        yield from ((words >> np.uint64(11)).astype(np.float64) * 2.0**-53).tolist()
        start += _WORDS_AT_ONCE


class PlainPrior:
    """The prior and the places as plain numbers, and where the row of uniform numbers is."""

    def __init__(self, prior: Prior, places: PlaceWorld, seed: Words, *, guesses: int, tries: int) -> None:
        self._floats = uniform_floats(int(seed[0]))
        self._guesses, self._tries = guesses, tries
        self._prior = prior
        self._row_of = prior.row_of.tolist()
        self._totals: dict[int, list[float]] = {}
        self._lengths, self._first, self._onward, self._gaps = (
            column.tolist()
            for column in (prior.times.lengths, prior.times.first, prior.times.onward, prior.times.gaps)
        )
        self._worth = prior.times.worth
        self._later: dict[tuple[int, int], list[tuple[int, float]]] = {}
        self._points: list[list[float]] = prior.vectors.tolist()
        self._scale = -1.0 / prior.decay_km
        self._places = places
        self._profiles = places.profile_of_timestep.tolist()
        self._thresholds = places.thresholds.tolist()
        self._steps_at = places.steps_at.tolist()
        self._is_anywhere = places.is_anywhere.tolist()
        self._has_table = bool(len(places.table))

    def day(self) -> tuple[list[int], list[int]]:
        """One more day: its places and timesteps."""
        wished = 1 + self._index(self._lengths)
        for _ in range(self._tries):
            times = self._times(wished)
            chosen = [self._index(self._totals_at(times[0]))]
            for departure, arrival in pairwise(times):
                place = self._next_place(chosen[-1], departure, arrival)
                if place < 0:
                    break
                chosen.append(place)
            if len(chosen) == wished:
                break
        return chosen, times[: len(chosen)]

    def _times(self, wished: int) -> list[int]:
        times = [self._index(self._first[wished - 1])]
        for to_come in range(wished - 2, -1, -1):
            target = next(self._floats) * self._onward[to_come + 1][times[-1]]
            found = times[-1] + 1
            for later, weight in self._weights_after(times[-1], to_come):
                found = later
                target -= weight
                if target < 0:
                    break
            times.append(found)
        return times

    def _weights_after(self, before: int, to_come: int) -> list[tuple[int, float]]:
        """Later timesteps with their weights, those with any."""
        if (before, to_come) not in self._later:
            weights = [
                (before + gap, self._gaps[gap - 1] * worth)
                for gap, worth in enumerate(self._worth[to_come, before + 1 :].tolist(), start=1)
            ]
            self._later[before, to_come] = [(later, weight) for later, weight in weights if weight > 0]
        return self._later[before, to_come]

    def _next_place(self, origin: int, departure: int, arrival: int) -> int:
        gap, totals, draw = arrival - departure, self._totals_at(arrival), self._floats
        for _ in range(self._guesses):
            place = self._index(totals)
            if place == origin:
                continue
            if next(draw) < math.exp(self._scale * self._km(origin, place)) and (
                self._steps(origin, place, departure) <= gap
            ):
                return place
        return self._weighed(origin, departure, arrival)

    def _weighed(self, origin: int, departure: int, arrival: int) -> int:
        """After so many guesses: all places by popularity and nearness; −1 if none is within reach."""
        gap, weights, total = arrival - departure, [], 0.0
        farthest = farthest_chord(self._places, departure, gap)
        near = may_be_within(self._prior.nearby, self._is_anywhere[origin], origin, farthest)
        popular = self._prior.popularity[self._row_of[arrival], near]
        for place, popularity in zip(near.tolist(), popular.tolist(), strict=True):
            weight = 0.0
            if popularity > 0 and place != origin and self._steps(origin, place, departure) <= gap:
                weight = popularity * math.exp(self._scale * self._km(origin, place))
            weights.append(weight)
            total += weight
        if not total > 0:
            return -1
        target, found = next(self._floats) * total, 0
        for place, weight in zip(near.tolist(), weights, strict=True):
            if weight > 0:
                found = place
                target -= weight
                if target < 0:
                    break
        return found

    def _totals_at(self, timestep: int) -> list[float]:
        row = self._row_of[timestep]
        if row not in self._totals:
            self._totals[row] = self._prior.cumulative[row].tolist()
        return self._totals[row]

    def _index(self, totals: list[float]) -> int:
        return min(bisect_right(totals, next(self._floats) * totals[-1]), len(totals) - 1)

    def _chord(self, p: int, q: int) -> float:
        a, b = self._points[p], self._points[q]
        dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
        return dx * dx + dy * dy + dz * dz

    def _km(self, p: int, q: int) -> float:
        c = self._chord(p, q)
        if c < NEAR_CHORD_SQUARED:
            series = 1 + c * (1 / 12 + c * (1 / 90 + c * (1 / 560 + c / 3150)))
            return math.sqrt(EARTH_RADIUS_KM * EARTH_RADIUS_KM * c * series)
        angle = 2 * math.asin(min(math.sqrt(c) / 2, 1.0))
        return math.sqrt(EARTH_RADIUS_KM * EARTH_RADIUS_KM * angle * angle)

    def _steps(self, origin: int, destination: int, departure: int) -> int:
        profile = self._profiles[departure]
        if self._has_table:
            return int(self._places.table[profile, origin, destination])
        rung = 0
        if not (self._is_anywhere[origin] or self._is_anywhere[destination]):
            rung = bisect_left(self._thresholds, self._chord(origin, destination))
        return int(self._steps_at[profile][rung])
