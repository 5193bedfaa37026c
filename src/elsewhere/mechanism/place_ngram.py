"""`ngram-noh` and `physdist`: draws of timesteps, then of n-grams of places that fit the *perturbed* ones.

Timesteps are drawn one for each visit, then sorted and spread until they are strictly increasing, which is
post-processing. What n-grams of places are candidates follows from these times alone (R5).
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.days.smoothing import spread
from elsewhere.days.visits import VisitDistances, place_distance, time_distance, visit_parts
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.place_ngram_proposal import (
    MOST_MISSES,
    Counted,
    OpenPlaces,
    begin_window,
    new_counted,
    propose_places,
)
from elsewhere.mechanism.rejection import Coin, each_row, first_accepted, perturb_rows, score_of
from elsewhere.mechanism.windows import Windows
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, below, ran_out

_WORDS_PER_TRIAL = 24


class PlaceNgramTables(NamedTuple):
    """What the draws go by: public, the same for everybody with a day of that length."""

    opens: OpenPlaces
    distances: VisitDistances
    time_coin: Coin
    time_sensitivity: float
    windows: Windows
    """The draws of n-grams of places."""


class _Window(NamedTuple):
    """One window of places: all but the counts is public, and these are made of what was drawn."""

    opens: OpenPlaces
    distances: VisitDistances
    times: Indices
    counted: Counted
    sensitivity: float


@compiled
def _propose_time(tape: Tape, tables: PlaceNgramTables, time: Indices) -> None:
    time[0] = below(tape, tables.opens.places.is_open.shape[1])


@compiled
def _score_time(tables: PlaceNgramTables, true_visit: int, time: Indices) -> int:
    return time_score(tables, true_visit, time[0])


@compiled
def time_score(tables: PlaceNgramTables, true_visit: int, time: int) -> int:
    """⌈2²⁰ d_t / Δ⌉, clamped (R2)."""
    _, true_time = visit_parts(true_visit, tables.opens.places.is_open.shape[1])
    return score_of(time_distance(tables.distances, true_time, time), tables.time_sensitivity)


@compiled
def _propose_ngram(tape: Tape, window: _Window, ngram: Indices) -> None:
    propose_places(tape, window.opens, window.times, window.counted, ngram)


@compiled
def _score_ngram(window: _Window, true_visits: Indices, ngram: Indices) -> int:
    return ngram_score(window.opens, window.distances, true_visits, ngram, window.sensitivity)


@compiled
def ngram_score(
    opens: OpenPlaces, distances: VisitDistances, true_visits: Indices, ngram: Indices, sensitivity: float
) -> int:
    """⌈2²⁰ d_w / Δ⌉ of an n-gram of places, clamped (R2)."""
    day, total = opens.places.is_open.shape[1], 0.0
    for i in range(len(ngram)):
        true_place, _ = visit_parts(true_visits[i], day)
        total += place_distance(distances, true_place, ngram[i])
    return score_of(total, sensitivity)


draw_time = first_accepted("draw_time", _propose_time, _score_time)
draw_places = first_accepted("draw_places", _propose_ngram, _score_ngram)


@compiled
def _draw_day(
    tape: Tape,
    tables: PlaceNgramTables,
    truth: Indices,
    is_constant: bool,
    drawn: Indices,
    accepted: Counts,
) -> None:
    """Timesteps of all visits, then places of all windows."""
    windows, length = tables.windows, len(truth)
    count, day = tables.opens.places.is_open.shape
    counted = new_counted(windows.lengths.max(), count)
    time = np.empty(1, dtype=np.int32)
    for i in range(length):
        accepted[i] = draw_time(tape, tables.time_coin, tables, truth[i], is_constant, time, drawn[i : i + 1])
    times = spread(drawn[:length], day)
    for w in range(len(windows.starts)):
        start, size, offset = windows.starts[w], windows.lengths[w], length + windows.offsets[w]
        begin_window(counted)
        window = _Window(
            tables.opens, tables.distances, times[start : start + size], counted, windows.sensitivities[w]
        )
        accepted[length + w] = draw_places(
            tape,
            Coin(windows.numerators[w], windows.denominators[w], windows.trials[w]),
            window,
            truth[start : start + size],
            is_constant,
            np.empty(size, dtype=np.int32),
            drawn[offset : offset + size],
        )
        if ran_out(tape):
            return


_rows = each_row("place_ngram_rows", _draw_day)


def perturb_times_and_places(
    true_visits: Indices, tables: PlaceNgramTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Timesteps, then places of each window, a row for each row of visits, and the trial each draw took.

    Paper: section 5.9 (ss:alternative-approaches), NGramNoH and PhysDist.
    Deviation: times-first — the paper does not say how the two are put together.
    """
    length, windows = true_visits.shape[1], tables.windows
    draws = length + len(windows.starts)
    # A tape that runs out costs time, and that must not depend on the truth: constant work gets plenty.
    trials = 4 * tables.time_coin.trials if constant_work else -(-tables.time_coin.trials // 20)
    misses = 2 * MOST_MISSES * int(windows.lengths.sum()) if constant_work else 0
    return perturb_rows(
        _rows,
        tables,
        true_visits,
        width=length + int(windows.lengths.sum()),
        draws=draws,
        words=_WORDS_PER_TRIAL * trials * draws + misses,
        randomness=randomness,
        constant_work=constant_work,
    )


def time_step(
    tables: PlaceNgramTables, truth: Outcome, length: int, index: int, times: tuple[int, ...]
) -> Step:
    """The draw of timestep ``index``, listed, after the sorted ``times`` before it."""
    day = tables.opens.places.is_open.shape[1]
    after = [tuple(sorted((*times, step))) for step in range(day)]
    if index == length - 1:
        after = [tuple(spread(np.array(row, dtype=np.int32), day).tolist()) for row in after]
    return scored_step(
        [(step,) for step in range(day)],
        [Fraction(1, day)] * day,
        [time_score(tables, truth[index], step) for step in range(day)],
        tables.time_coin,
        [(length, index + 1, row) for row in after],
    )


def places_step(
    tables: PlaceNgramTables, window: int, ngrams: list[Outcome], truth: Outcome, after: State
) -> Step:
    """The draw of a window's n-gram of places, listed; every outcome leads to ``after``."""
    windows = tables.windows
    start, size = int(windows.starts[window]), int(windows.lengths[window])
    true_visits = np.array(truth[start : start + size], dtype=np.int32)
    sensitivity = float(windows.sensitivities[window])
    scores = [
        ngram_score(tables.opens, tables.distances, true_visits, np.array(ngram, dtype=np.int32), sensitivity)
        for ngram in ngrams
    ]
    chances = [Fraction(1, len(ngrams))] * len(ngrams)
    return scored_step(ngrams, chances, scores, windows.coin(window), [after] * len(ngrams))
