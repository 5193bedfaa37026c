"""Draws of timesteps, then of n-grams of places that fit the *perturbed* timesteps.

Timesteps are drawn one for each visit, then sorted and spread until they are strictly increasing, which
is post-processing. What n-grams of places are candidates follows from these times alone (R5).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.compiled import compiled
from elsewhere.mechanism.coin import Tape, accepts_exp, below, ran_out
from elsewhere.mechanism.draw import Coin, score_of
from elsewhere.mechanism.perturb import Plan
from elsewhere.mechanism.place_proposal import (
    MOST_MISSES,
    Counted,
    OpenPlaces,
    begin_window,
    new_counted,
    propose_places,
)
from elsewhere.mechanism.rows import finish_rows
from elsewhere.randomness import Randomness
from elsewhere.world.visits import VisitDistances, place_distance_squared, time_distance

Counts = NDArray[np.int64]

_WORDS_PER_TRIAL = 24


class WalkTables(NamedTuple):
    """What the draws go by: public, the same for everybody with a day of that length."""

    opens: OpenPlaces
    distances: VisitDistances
    time_coin: Coin
    time_sensitivity: float
    plan: Plan
    """The draws of n-grams of places."""


def perturb_walks(
    true_visits: Indices, tables: WalkTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Timesteps, then places of each window, a row for each row of visits, and the trial each draw took.

    Visits are numbers: place · |T| + timestep.

    Paper: section 5.9 (ss:alternative-approaches), NGramNoH and PhysDist.
    Deviation: times-first — the paper does not say how the two are put together.
    """
    count, length = true_visits.shape
    plan = tables.plan
    drawn = np.zeros((count, length + int(plan.lengths.sum())), dtype=np.int32)
    accepted = np.zeros((count, length + len(plan.starts)), dtype=np.int64)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        rows = true_visits[done:], constant_work, drawn[done:], accepted[done:]
        return _perturb_rows(tape, tables, *rows)

    # A tape that runs out costs time, and that must not depend on the truth: constant work gets plenty.
    trials = 4 * tables.time_coin.trials if constant_work else -(-tables.time_coin.trials // 20)
    misses = 2 * MOST_MISSES * int(plan.lengths.sum()) if constant_work else 0
    finish_rows(work, count, _WORDS_PER_TRIAL * trials * accepted.shape[1] + misses, randomness)
    return drawn, accepted


@compiled
def _perturb_rows(
    tape: Tape,
    tables: WalkTables,
    true_visits: Indices,
    is_constant: bool,
    drawn: Indices,
    accepted: Counts,
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    plan, length = tables.plan, true_visits.shape[1]
    count, day = tables.opens.places.is_open.shape
    counted = new_counted(plan.lengths.max(), count)
    for row in range(len(true_visits)):
        before = tape.cursor[0]
        for i in range(length):
            accepted[row, i] = _draw_time(
                tape, tables, true_visits[row, i], is_constant, drawn[row, i : i + 1]
            )
        times = spread(drawn[row, :length], day)
        for w in range(len(plan.starts)):
            start, size, offset = plan.starts[w], plan.lengths[w], length + plan.offsets[w]
            accepted[row, length + w] = _draw_walk(
                tape,
                tables,
                counted,
                w,
                times[start : start + size],
                true_visits[row, start : start + size],
                is_constant,
                drawn[row, offset : offset + size],
            )
            if ran_out(tape):
                return row, before
    return len(true_visits), tape.cursor[0]


@compiled
def _draw_time(tape: Tape, tables: WalkTables, true_visit: int, is_constant: bool, drawn: Indices) -> int:
    """First accepted of the proposed timesteps, else one more; returns the trial, 0 if none was accepted."""
    day, coin = tables.opens.places.is_open.shape[1], tables.time_coin
    accepted = 0
    for trial in range(coin.trials):
        time = below(tape, day)
        far = time_score(tables, true_visit, time)
        if accepts_exp(tape, coin.numerator * far, coin.denominator) and not accepted:
            accepted = trial + 1
            drawn[0] = time
            if not is_constant:
                return accepted
    time = below(tape, day)
    if not accepted:
        drawn[0] = time
    return accepted


@compiled
def time_score(tables: WalkTables, true_visit: int, time: int) -> int:
    """⌈2²⁰ d_t / Δ⌉, clamped (R2)."""
    far = time_distance(tables.distances, true_visit % tables.opens.places.is_open.shape[1], time)
    return score_of(far, tables.time_sensitivity)


@compiled
def spread(drawn: Indices, day: int) -> Indices:
    """Drawn timesteps sorted, then shifted by the least total that makes them strictly increasing."""
    times = np.sort(drawn)
    length = len(times)
    shifts = np.full((length, day), np.inf)
    froms = np.zeros((length, day), dtype=np.int32)
    for i in range(length):
        best, origin = (0.0, 0) if i == 0 else (np.inf, 0)
        for t in range(day):
            shifts[i, t] = best + abs(t - times[i])
            froms[i, t] = origin
            if i > 0 and shifts[i - 1, t] < best:
                best, origin = shifts[i - 1, t], t
    last = np.argmin(shifts[length - 1])
    for i in range(length - 1, -1, -1):
        times[i] = last
        last = froms[i, last]
    return times


@compiled
def _draw_walk(
    tape: Tape,
    tables: WalkTables,
    counted: Counted,
    window: int,
    times: Indices,
    true_visits: Indices,
    is_constant: bool,
    drawn: Indices,
) -> int:
    """First accepted of the proposed n-grams, else one more; returns the trial, 0 if none was accepted."""
    plan = tables.plan
    sensitivity = plan.sensitivities[window]
    begin_window(counted)
    walk = np.empty_like(drawn)
    accepted = 0
    for trial in range(plan.trials[window]):
        propose_places(tape, tables.opens, times, counted, walk)
        far = walk_score(tables, true_visits, walk, sensitivity)
        if accepts_exp(tape, plan.numerators[window] * far, plan.denominators[window]) and not accepted:
            accepted = trial + 1
            drawn[:] = walk
            if not is_constant:
                return accepted
    propose_places(tape, tables.opens, times, counted, walk)
    if not accepted:
        drawn[:] = walk
    return accepted


@compiled
def walk_score(tables: WalkTables, true_visits: Indices, walk: Indices, sensitivity: float) -> int:
    """⌈2²⁰ d_w / Δ⌉ of an n-gram of places, clamped (R2)."""
    day, total = tables.opens.places.is_open.shape[1], 0.0
    for i in range(len(walk)):
        total += math.sqrt(place_distance_squared(tables.distances, true_visits[i] // day, walk[i]))
    return score_of(total, sensitivity)
