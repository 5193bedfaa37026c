"""Feasible days, each as likely as any other: how many there are, and drawing one of them.

There are some 10²⁰ of them, but they need not be listed: how many ways lead on from each place and timestep
is one table, a sum over places of suffix sums over time. With it a day is drawn visit by visit, exactly
uniformly. Counts are scaled down to machine words and rounded up; one exact coin per visit takes the rounding
out again (as in `mechanism.ngram_proposal`).
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.days.visits import Days, days_of_one_length, numbers_of, parts_of, visit_number
from elsewhere.errors import InputError
from elsewhere.files import read_arrays, write_arrays
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.tape import Tape, below, finish_rows, new_tape, ran_out
from elsewhere.world.place_world import PlaceWorld, least_steps, place_world
from elsewhere.world.world import World

_WEIGHT_BITS = 61
_MOST_LISTED = 200_000
_WORDS_TO_TRY = 100_000
_NAMES = ("sums", "scales", "cumulative")


class DayTables(NamedTuple):
    """Counts of feasible days of one length; columns are visits in order of time, then of place."""

    places: PlaceWorld
    sums: Counts
    """For each position and visit the weights of all that can follow, added up."""
    scales: Counts
    cumulative: Counts
    """For each position the weights (sums over scale, rounded up) of all visits up to this one."""


class FeasibleDays:
    """All feasible days of a world, by number of visits; tables are kept in ``cache``, a folder, if given."""

    def __init__(
        self, world: World, cache: str | Path | None = None, progress: Progress = no_progress
    ) -> None:
        self._hash = world.hash
        self._cache = None if cache is None else Path(cache)
        self._progress = progress
        self._places = place_world(world)
        self._timesteps = world.clock.timesteps
        self._tables: dict[int, DayTables] = {}

    def tables(self, length: int) -> DayTables:
        """Counts of feasible days of ``length`` visits; raises if there are none."""
        if length not in self._tables:
            longer = min((size for size in self._tables if size > length), default=None)
            self._tables[length] = self._made(length) if longer is None else self._end_of(longer, length)
        return self._tables[length]

    def draw(self, length: int, count: int, randomness: Randomness) -> Days:
        """Days that have nothing to do with anyone, each as likely as any other."""
        rows = propose_days(self.tables(length), count, randomness)
        return days_of_one_length(*parts_of(rows, self._timesteps))

    def _made(self, length: int) -> DayTables:
        kept = None if self._cache is None else self._cache / f"{self._hash}-days-{length}.npz"
        tables = None if kept is None else _read(kept, self._places, length)
        if tables is None:
            tables = count_days(self._places, length, self._progress)
            if kept is not None:
                write_arrays(kept, {name: getattr(tables, name) for name in _NAMES})
        if not is_drawable(tables):
            raise InputError("trajectory", f"whole days of {length} visits are too long to be drawn here")
        return tables

    def _end_of(self, longer: int, length: int) -> DayTables:
        """Days are counted from their end: the counts of shorter ones are the last of longer ones."""
        whole, first = self._tables[longer], longer - length
        return whole._replace(
            sums=whole.sums[first:], scales=whole.scales[first:], cumulative=whole.cumulative[first:]
        )


def _read(path: Path, places: PlaceWorld, length: int) -> DayTables | None:
    """Tables as they were kept; None for what does not look right: proposals must stay within bounds."""
    stored = read_arrays(path, _NAMES)
    if stored is None:
        return None
    sums, scales, cumulative = stored
    visits = places.is_open.size
    shapes = ((length, visits), (length,), (length, visits))
    is_sound = all(
        table.dtype == np.int64 and table.shape == shape
        for table, shape in zip((sums, scales, cumulative), shapes, strict=True)
    )
    is_sound = is_sound and bool(
        (sums >= 0).all()
        and (scales >= 1).all()
        and (cumulative[:, -1] > 0).all()
        and (np.diff(cumulative, axis=1, prepend=0) >= 0).all()
    )
    return DayTables(places, sums, scales, cumulative) if is_sound else None


def count_days(places: PlaceWorld, length: int, progress: Progress = no_progress) -> DayTables:
    """Count all feasible days of ``length`` visits."""
    count, day = places.is_open.shape
    sums = np.zeros((length, count * day), dtype=np.int64)
    cumulative = np.zeros((length, count * day), dtype=np.int64)
    scales = np.ones(length, dtype=np.int64)
    weights = np.zeros((count, day), dtype=np.int64)
    for position in range(length - 1, -1, -1):
        is_last = position == length - 1
        ways = places.is_open.astype(np.int64) if is_last else _ways_on(places, weights)
        sums[position] = ways.T.reshape(-1)
        while int((-(-ways // scales[position])).astype(np.float64).sum()) >= 1 << _WEIGHT_BITS:
            scales[position] *= 2
        weights = -(-ways // scales[position])
        cumulative[position] = np.cumsum(weights.T.reshape(-1))
        if cumulative[position, -1] == 0:
            raise InputError("world", f"no feasible day has {length} visits")
        progress(length - position, length)
    return DayTables(places, sums, scales, cumulative)


def log_count(tables: DayTables) -> float:
    """Natural logarithm of the number of feasible days."""
    return math.log(int(tables.cumulative[0, -1])) + sum(math.log(int(scale)) for scale in tables.scales)


def _ways_on(places: PlaceWorld, weights: Counts) -> Counts:
    """β(p, t) = Σ_q C(q, t + steps(p, q)), C the weights of a place from a timestep on, added up.

    Paper: section 5.1 (sss:global-solution-analysis), the set 𝒮 that is never instantiated.
    """
    count, day = weights.shape
    from_then = np.zeros((count, day + 1), dtype=np.int64)
    from_then[:, :-1] = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    ways = np.zeros_like(weights)
    pieces = np.array_split(np.arange(count), min(count, 64))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(
            pool.map(lambda rows: _add_ways(places, from_then, int(rows[0]), int(rows[-1]) + 1, ways), pieces)
        )
    return ways


@compiled
def _add_ways(places: PlaceWorld, from_then: Counts, begin: int, end: int, ways: Counts) -> None:
    day = ways.shape[1]
    for p in range(begin, end):
        total = ways[p]
        for q in range(len(ways)):
            start = 0
            while start < day:
                stop = start + 1
                while stop < day and places.profile_of_timestep[stop] == places.profile_of_timestep[start]:
                    stop += 1
                steps = np.int64(least_steps(places, p, q, start))
                for t in range(start, min(stop, day - steps)):
                    total[t] += from_then[q, t + steps]
                start = stop
        for t in range(day):
            if not places.is_open[p, t]:
                total[t] = 0


@compiled
def propose_day(tape: Tape, tables: DayTables, visits: Indices) -> None:
    """Fill ``visits`` (numbered as everywhere) with a feasible day, uniformly among all."""
    count, day = tables.places.is_open.shape
    while not ran_out(tape):
        totals = tables.cumulative[0]
        column = np.searchsorted(totals, below(tape, totals[-1]), side="right")
        visits[0] = visit_number(column % count, column // count, day)
        if _go_on(tape, tables, int(column), visits):
            return


@compiled
def _go_on(tape: Tape, tables: DayTables, here: int, visits: Indices) -> bool:
    """The rest of the day after column ``here``; False where a coin says that rounding favoured it."""
    count, day = tables.places.is_open.shape
    for i in range(1, len(visits)):
        scale = tables.scales[i - 1]
        if scale > 1:
            weight = tables.cumulative[i - 1, here] - (tables.cumulative[i - 1, here - 1] if here else 0)
            if below(tape, scale * weight) >= tables.sums[i - 1, here]:
                return False
        place, timestep = here % count, here // count
        totals = tables.cumulative[i]
        earlier = totals[(timestep + 1) * count - 1]
        # Any visit after this timestep by its weight, until one can be reached.
        while not ran_out(tape):
            after = np.searchsorted(totals, earlier + below(tape, totals[-1] - earlier), side="right")
            steps = least_steps(tables.places, place, after % count, timestep)
            if after // count - timestep >= steps:
                visits[i] = visit_number(after % count, after // count, day)
                here = after
                break
        if ran_out(tape):
            break  # what is left of the day is not drawn: whoever asked begins it again
    return True


def propose_days(tables: DayTables, count: int, randomness: Randomness) -> Indices:
    """Feasible days that have nothing to do with anyone, a row of numbered visits each."""
    length = len(tables.sums)
    days = np.zeros((count, length), dtype=np.int32)

    def work(tape: Tape, start: int, stop: int) -> tuple[int, int]:
        return _propose_rows(tape, tables, days[start:stop])

    finish_rows(work, count, words_per_proposal(length), randomness)
    return days


def words_per_proposal(length: int) -> int:
    """About how many words a day of ``length`` visits and a coin take."""
    return 16 + 4 * length


def is_drawable(tables: DayTables) -> bool:
    """Whether a day is found in good time.

    Weights are rounded up at every position. Where days have so many visits that rounded weights of hopeless
    beginnings outgrow the others, nearly every proposal would be begun again, for hours.
    """
    words = SeededRandomness(0).words(_WORDS_TO_TRY)
    found, _ = _propose_rows(new_tape(words), tables, np.zeros((1, len(tables.sums)), dtype=np.int32))
    return bool(found)


@compiled
def _propose_rows(tape: Tape, tables: DayTables, days: Indices) -> tuple[int, int]:
    for row in range(len(days)):
        before = tape.cursor[0]
        propose_day(tape, tables, days[row])
        if ran_out(tape):
            return row, before
    return len(days), tape.cursor[0]


def list_days(tables: DayTables) -> tuple[Indices, list[Fraction]]:
    """Every day that `propose_day` can give, with its chance, read off its tables in a plain way."""
    count, timesteps = tables.places.is_open.shape
    weights = np.diff(tables.cumulative, axis=1, prepend=0)
    total = int(tables.cumulative[0, -1])
    if total * math.prod(tables.scales.tolist()) > _MOST_LISTED:
        raise InputError("world", f"has more than {_MOST_LISTED:,} feasible days: too many to list")
    days: list[tuple[tuple[int, ...], Fraction]] = [
        ((column,), Fraction(int(weights[0, column]), total))
        for column in np.flatnonzero(weights[0]).tolist()
    ]
    for position in range(1, len(weights)):
        longer = []
        for columns, chance in days:
            here = columns[-1]
            following = int(tables.sums[position - 1, here])
            through = Fraction(following, int(tables.scales[position - 1]) * int(weights[position - 1, here]))
            timestep, place = divmod(here, count)
            for column in np.flatnonzero(weights[position]).tolist():
                steps = least_steps(tables.places, place, column % count, timestep)
                if column // count - timestep >= steps:
                    share = Fraction(int(weights[position, column]), following)
                    longer.append(((*columns, column), chance * through * share))
        days = longer
    through = sum((chance for _, chance in days), start=Fraction(0))
    columns_of = np.array([columns for columns, _ in days], dtype=np.int32)
    rows = numbers_of(columns_of % count, columns_of // count, timesteps)
    return rows, [chance / through for _, chance in days]
