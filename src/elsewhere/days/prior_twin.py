"""The plain twin of the compiled generator of prior days: the same days, word for word, without a compiler.

A person's first share on a new device needs one list of candidates; making it here takes a second or two,
compiling the loop ten.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np

from elsewhere.arrays import Words
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
        self._cumulative = prior.cumulative
        self._popularity = prior.popularity
        self._totals: dict[int, list[float]] = {}
        self._starts, self._lengths, self._gaps = (
            column.tolist() for column in (prior.starts, prior.lengths, prior.gaps)
        )
        self._points: list[list[float]] = prior.vectors.tolist()
        self._scale = -1.0 / prior.decay_km
        self._places = places
        self._profiles = places.profile_of_timestep.tolist()
        self._thresholds = places.thresholds.tolist()
        self._steps_at = places.steps_at.tolist()
        self._is_anywhere = places.is_anywhere.tolist()
        self._has_table = bool(len(places.table))

    def day(self, most: int) -> tuple[list[int], list[int]]:
        """One more day: its places and timesteps."""
        wished = min(1 + self._index(self._lengths), most)
        times = [self._index(self._starts)]
        chosen = [self._index(self._totals_at(times[0]))]
        while len(chosen) < wished:
            following = self._next(chosen[-1], times[-1])
            if following is None:
                break
            chosen.append(following[0])
            times.append(following[1])
        return chosen, times

    def _next(self, origin: int, departure: int) -> tuple[int, int] | None:
        for _ in range(self._tries):
            arrival = departure + 1 + self._index(self._gaps)
            if arrival >= len(self._cumulative) or self._totals_at(arrival)[-1] <= 0:
                continue
            place = self._next_place(origin, departure, arrival)
            if place >= 0:
                return place, arrival
        return None

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
        for place, popularity in enumerate(self._popularity[:, arrival].tolist()):
            weight = 0.0
            if popularity > 0 and place != origin and self._steps(origin, place, departure) <= gap:
                weight = popularity * math.exp(self._scale * self._km(origin, place))
            weights.append(weight)
            total += weight
        if not total > 0:
            return -1
        target, found = next(self._floats) * total, 0
        for place, weight in enumerate(weights):
            if weight > 0:
                found = place
                target -= weight
                if target < 0:
                    break
        return found

    def _totals_at(self, timestep: int) -> list[float]:
        if timestep not in self._totals:
            self._totals[timestep] = self._cumulative[timestep].tolist()
        return self._totals[timestep]

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
