"""Feasible n-grams (𝒲ⁿ) as a graph of regions: a bit per pair, never a list of n-grams."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices, Steps, Words
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.travel import Travel, profile_count
from elsewhere.progress import Progress, no_progress
from elsewhere.world.reach import SetTravel, distinct_place_sets
from elsewhere.world.regions import Regions

MOST_REGIONS = 1 << 16
"""Of so many it can be known which follows which: half a gigabyte of bits."""
_WORD = 64
_DIGIT_BITS = 32


@compiled
def count_bits(word: np.uint64) -> int:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@compiled
def lowest_bit(word: np.uint64) -> int:
    """Position of the lowest set bit."""
    return count_bits((word & (~word + np.uint64(1))) - np.uint64(1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionGraph:
    """Which regions can follow which: bit b of row a says whether (r_a, r_b) is in 𝒲².

    Rows are empty where the world's settings leave it out (`no_graph`).
    """

    words: Words
    out_degrees: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.words)

    @property
    def is_known(self) -> bool:
        """Whether it was worked out which region can follow which."""
        return bool(self.words.shape[1])

    def check_known(self, what: str) -> None:
        """Raise an error unless the graph is known, which ``what`` needs."""
        if not self.is_known:
            raise InputError(
                what,
                "needs to know which region can follow which, and this world leaves it out: build it with "
                "graph = true, or use a method that needs no regions, such as codebook",
            )

    @property
    def bigrams(self) -> int:
        """|𝒲²|."""
        return int(self.out_degrees.sum())

    def has_edge(self, origin: int, destination: int) -> bool:
        word, bit = divmod(destination, _WORD)
        return bool(int(self.words[origin, word]) >> bit & 1)

    def successors(self, region_index: int) -> Indices:
        """Regions that can follow, in order."""
        row_bytes = self.words[region_index].astype("<u8").view(np.uint8)
        return np.flatnonzero(np.unpackbits(row_bytes, bitorder="little")).astype(np.int32)

    def ngram_counts(self, n: int) -> list[NDArray[Any]]:
        """Entry k − 1: for each region, how many feasible k-grams start there, as exact integers, k = 1..n.

        These are the backward counts: with them a uniform n-gram is drawn region by region.
        """
        self.check_known("counting n-grams")
        count = len(self)
        # A k-gram count is at most |ℛ|^k: that many 32-bit digits always hold it.
        width = max(1, -(-n * max(count, 2).bit_length() // _DIGIT_BITS))
        digits = np.zeros((count, width), dtype=np.uint64)
        digits[:, 0] = 1
        counts = [_integers(digits)]
        for _ in range(n - 1):
            digits = _step_back(self.words, digits)
            counts.append(_integers(digits))
        return counts

    def ngram_count(self, n: int) -> int:
        """|𝒲ⁿ|."""
        return int(sum(self.ngram_counts(n)[-1].tolist()))


def build_graph(
    regions: Regions, travel: Travel, clock: Clock, progress: Progress = no_progress
) -> RegionGraph:
    """Graph of all feasible pairs of regions.

    (r_a, r_b) is feasible if some place of r_a at some timestep of its interval reaches some place
    of r_b at some timestep of its interval. The last timestep of r_b is as good as any; of r_a, the
    first timestep of each travel profile is.

    Paper: section 5.3 (ss:hierarchical-decomposition), n-gram set formation.
    Deviation: ngram-set — 𝒲ⁿ is a graph of pairs, never instantiated, so any n costs the same memory.
    """
    everything = np.arange(len(regions), dtype=np.int32)
    words = np.zeros((len(regions), -(-len(regions) // _WORD)), dtype=np.uint64)
    filler = EdgeFiller(regions, travel, clock)
    filler.fill(words, origins=everything, destinations=everything, progress=progress)
    return RegionGraph(words=words, out_degrees=degrees_of(words))


def no_graph(regions: int) -> RegionGraph:
    """For a world that leaves it out: bits grow with the square of its regions, and few methods need them."""
    return RegionGraph(
        words=np.zeros((regions, 0), dtype=np.uint64), out_degrees=np.zeros(regions, dtype=np.int64)
    )


class EdgeFiller:
    """Sets the bits of feasible pairs; threads share the rows."""

    def __init__(self, regions: Regions, travel: Travel, clock: Clock) -> None:
        self._travel = travel
        self._sets = distinct_place_sets(regions)
        self._departures = first_departures(regions, travel, clock)
        self._lasts = regions.latest(clock.timesteps)

    def fill(
        self, words: Words, *, origins: Indices, destinations: Indices, progress: Progress = no_progress
    ) -> None:
        """Set the bits of all feasible pairs between ``origins`` and ``destinations``."""
        if not (len(origins) and len(destinations)):
            return
        set_of = self._sets.set_of_region
        wanted_sets, column_of = np.unique(set_of[destinations], return_inverse=True)
        set_travel = SetTravel(self._travel, self._sets, wanted_sets)
        columns = column_of.astype(np.int32)
        by_set = origins[np.argsort(set_of[origins], kind="stable")]
        groups = np.split(by_set, np.flatnonzero(np.diff(set_of[by_set])) + 1)

        def fill_group(group: Indices) -> int:
            steps = set_travel.steps_from(int(set_of[group[0]]))
            _fill_rows(words, group, destinations, columns, self._departures, self._lasts, steps)
            return len(group)

        done = 0
        with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for filled in pool.map(fill_group, groups):
                done += filled
                progress(done, len(origins))


def first_departures(regions: Regions, travel: Travel, clock: Clock) -> Indices:
    """For each region and travel profile, the first timestep of the region under that profile.

    A timestep beyond the day where the profile does not occur within the region's interval.
    """
    day = clock.timesteps
    hours = np.arange(day) * clock.timestep_minutes // 60
    profiles = profile_count(travel)
    departures = np.full((len(regions), profiles), 2 * day, dtype=np.int32)
    for profile in range(profiles):
        timesteps = np.append(np.flatnonzero(travel.profile_of_hour[hours] == profile), 2 * day)
        # A region that passes midnight has timesteps from the day's first on, and later ones.
        for starts, ends in ((regions.starts, regions.ends), (regions.starts * 0, regions.ends - day)):
            candidates = timesteps[np.searchsorted(timesteps, starts)]
            candidates = np.where(candidates < np.minimum(ends, day), candidates, 2 * day)
            departures[:, profile] = np.minimum(departures[:, profile], candidates)
    return departures


@compiled
def _fill_rows(
    words: Words,
    origins: Indices,
    destinations: Indices,
    column_of: Indices,
    departures: Indices,
    lasts: Indices,
    steps: Steps,
) -> None:
    for a in origins:
        for index in range(len(destinations)):
            b = destinations[index]
            for profile in range(len(steps)):
                if departures[a, profile] + steps[profile, column_of[index]] <= lasts[b]:
                    words[a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
                    break


def degrees_of(words: Words) -> NDArray[np.int64]:
    """Successors of each region: the bits of its row."""
    return np.asarray(np.bitwise_count(words).sum(axis=1, dtype=np.int64))


@compiled
def _step_back(words: Words, digits: Words) -> Words:
    """Sum of the successors' counts for every region, on 32-bit digits with carries."""
    count, width = digits.shape
    sums = np.zeros((count, width), dtype=np.uint64)
    for a in range(count):
        for w in range(words.shape[1]):
            word = words[a, w]
            for bit in range(64):
                if word & (np.uint64(1) << np.uint64(bit)):
                    b = w * 64 + bit
                    for digit in range(width):
                        sums[a, digit] += digits[b, digit]
        carry = np.uint64(0)
        for digit in range(width):
            total = sums[a, digit] + carry
            sums[a, digit] = total & np.uint64(0xFFFFFFFF)
            carry = total >> np.uint64(32)
    return sums


def _integers(digits: Words) -> NDArray[Any]:
    totals = np.zeros(len(digits), dtype=object)
    for position in range(digits.shape[1]):
        totals += digits[:, position].astype(object) << (_DIGIT_BITS * position)
    return totals
