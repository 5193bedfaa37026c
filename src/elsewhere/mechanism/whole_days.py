"""Uniform proposals of whole feasible days, and one draw of the exponential mechanism over them.

The paper calls this infeasible, as there are some 10²⁰ candidates. But they need not be listed: how
many ways lead on from each place and timestep is one table, a sum over places of suffix sums over
time. With it a day is drawn visit by visit, exactly uniformly. Counts are scaled down to machine words
and rounded up; one exact coin per visit takes the rounding out again (as in `proposal`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.coin import Tape, accepts_exp, below, new_tape, ran_out
from elsewhere.mechanism.draw import Coin, score_of
from elsewhere.mechanism.rows import finish_rows
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.world.visits import PlaceWorld, VisitDistances, least_steps, visit_distance

Counts = NDArray[np.int64]

_WEIGHT_BITS = 61
_WORDS_PER_TRIAL = 16
_WORDS_PER_VISIT = 4
_MOST_LISTED = 200_000
_WORDS_TO_TRY = 100_000


class DayTables(NamedTuple):
    """Counts of feasible days of one length; visits are ordered by timestep, then by place."""

    places: PlaceWorld
    distances: VisitDistances
    sums: Counts
    """For each position and visit the weights of all that can follow, added up."""
    scales: Counts
    cumulative: Counts
    """For each position the weights (sums over scale, rounded up) of all visits up to this one."""
    sensitivity: float


def count_days(
    places: PlaceWorld, length: int, progress: Callable[[int, int], None] | None = None
) -> tuple[Counts, Counts, Counts]:
    """Sums, scales and cumulative weights of all feasible days of ``length`` visits."""
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
        if progress is not None:
            progress(length - position, length)
    return sums, scales, cumulative


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
    """Fill ``visits`` (timestep · |𝒫| + place) with a feasible day, uniformly among all."""
    while not ran_out(tape):
        totals = tables.cumulative[0]
        visits[0] = np.searchsorted(totals, below(tape, totals[-1]), side="right")
        if _go_on(tape, tables, visits):
            return


@compiled
def _go_on(tape: Tape, tables: DayTables, visits: Indices) -> bool:
    """The rest of the day; False where a coin says that rounding favoured it."""
    count = len(tables.places.is_open)
    for i in range(1, len(visits)):
        here = visits[i - 1]
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
            visit = np.searchsorted(totals, earlier + below(tape, totals[-1] - earlier), side="right")
            steps = least_steps(tables.places, place, visit % count, timestep)
            if visit // count - timestep >= steps:
                visits[i] = visit
                break
        if ran_out(tape):
            break  # what is left of the day is not drawn: whoever asked begins it again
    return True


def propose_days(tables: DayTables, count: int, randomness: Randomness) -> Indices:
    """Feasible days that have nothing to do with anyone, a row each."""
    days = np.zeros((count, len(tables.sums)), dtype=np.int32)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        return _propose_rows(tape, tables, days[done:])

    finish_rows(work, count, _WORDS_PER_TRIAL + _WORDS_PER_VISIT * days.shape[1], randomness)
    return days


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


@compiled
def day_score(tables: DayTables, true_visits: Indices, visits: Indices) -> int:
    """Σ d between two days over |τ| times the largest d, in steps of 2⁻²⁰, clamped (R2).

    True visits are numbered by place, then timestep: some are to a place nobody knows.
    """
    count, day = tables.places.is_open.shape
    total = 0.0
    for i in range(len(visits)):
        total += visit_distance(
            tables.distances,
            true_visits[i] // day,
            true_visits[i] % day,
            visits[i] % count,
            visits[i] // count,
        )
    return score_of(total, len(visits) * tables.sensitivity)


@compiled
def day_scores(tables: DayTables, true_visits: Indices, days: Indices) -> Counts:
    """Score of each of some days, a row each."""
    scores = np.empty(len(days), dtype=np.int64)
    for row in range(len(days)):
        scores[row] = day_score(tables, true_visits, days[row])
    return scores


def perturb_days(
    true_visits: Indices, tables: DayTables, coin: Coin, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """One draw for each row of true visits, and the trial it took.

    Paper: section 5.1 (eq:global-mechanism).
    Deviation: global-by-rejection — the paper calls the global solution infeasible.
    """
    drawn = np.zeros_like(true_visits)
    accepted = np.zeros((len(true_visits), 1), dtype=np.int64)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        rows = true_visits[done:], constant_work, drawn[done:], accepted[done:]
        return _perturb_rows(tape, tables, coin, *rows)

    per_trial = _WORDS_PER_TRIAL + _WORDS_PER_VISIT * true_visits.shape[1]
    trials = coin.trials if constant_work else -(-coin.trials // 20)
    finish_rows(work, len(true_visits), per_trial * trials, randomness)
    return drawn, accepted


@compiled
def _perturb_rows(
    tape: Tape,
    tables: DayTables,
    coin: Coin,
    true_visits: Indices,
    is_constant: bool,
    drawn: Indices,
    accepted: Counts,
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    for row in range(len(true_visits)):
        before = tape.cursor[0]
        accepted[row, 0] = _draw_day(tape, tables, coin, true_visits[row], is_constant, drawn[row])
        if ran_out(tape):
            return row, before
    return len(true_visits), tape.cursor[0]


@compiled
def _draw_day(
    tape: Tape, tables: DayTables, coin: Coin, true_visits: Indices, is_constant: bool, drawn: Indices
) -> int:
    """First accepted of the proposed days, else one more; returns the trial, 0 if none was accepted."""
    accepted = 0
    visits = np.empty_like(drawn)
    for trial in range(coin.trials):
        propose_day(tape, tables, visits)
        if ran_out(tape):
            return 0
        far = day_score(tables, true_visits, visits)
        if accepts_exp(tape, coin.numerator * far, coin.denominator) and not accepted:
            accepted = trial + 1
            drawn[:] = visits
            if not is_constant:
                return accepted
    propose_day(tape, tables, visits)
    if not accepted:
        drawn[:] = visits
    return accepted


def list_days(tables: DayTables) -> tuple[Indices, list[Fraction]]:
    """Every day that `propose_day` can give, with its chance, read off its tables in a plain way."""
    count = len(tables.places.is_open)
    weights = np.diff(tables.cumulative, axis=1, prepend=0)
    total = int(tables.cumulative[0, -1])
    if total * math.prod(tables.scales.tolist()) > _MOST_LISTED:
        raise InputError("world", f"has more than {_MOST_LISTED:,} feasible days: too many to list")
    days: list[tuple[tuple[int, ...], Fraction]] = [
        ((visit,), Fraction(int(weights[0, visit]), total)) for visit in np.flatnonzero(weights[0]).tolist()
    ]
    for position in range(1, len(weights)):
        longer = []
        for walk, chance in days:
            here = walk[-1]
            following = int(tables.sums[position - 1, here])
            through = Fraction(following, int(tables.scales[position - 1]) * int(weights[position - 1, here]))
            timestep, place = divmod(here, count)
            for visit in np.flatnonzero(weights[position]).tolist():
                steps = least_steps(tables.places, place, visit % count, timestep)
                if visit // count - timestep >= steps:
                    share = Fraction(int(weights[position, visit]), following)
                    longer.append(((*walk, visit), chance * through * share))
        days = longer
    through = sum((chance for _, chance in days), start=Fraction(0))
    rows = np.array([walk for walk, _ in days], dtype=np.int32)
    return rows, [chance / through for _, chance in days]
