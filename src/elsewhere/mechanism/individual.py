"""`ind-reach`, `ind-noreach`: draws of single visits, a place and a timestep at once.

Candidates are all visits to open places, or, where reachability counts, those that can follow the
previous *perturbed* visit. Both are public: nothing that is true goes into them (R5). Where none is left,
all open visits are candidates again (R6).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools, Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.days.visits import VisitDistances, numbers_of, visit_distance, visit_number, visit_parts
from elsewhere.mechanism.rejection import Coin, each_row, first_accepted, perturb_rows, score_of
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, below, ran_out
from elsewhere.world.place_world import PlaceWorld, least_steps

_WORDS_PER_TRIAL = 14
_GUESSES = 48


class VisitTables(NamedTuple):
    """What draws of single visits go by: public, the same for everybody."""

    places: PlaceWorld
    distances: VisitDistances
    later: NDArray[np.int16]
    """For each place and timestep: how many timesteps from there on the place is open."""
    by_time: Indices
    """All open visits in order of time."""
    starts: Counts
    """For each timestep, where the visits from that timestep on begin in ``by_time``."""
    sensitivity: float
    uses_reach: bool
    """Candidates can follow the visit that was drawn before."""


def open_later(is_open: Bools) -> NDArray[np.int16]:
    """For each place and timestep how many timesteps from there on are open; 0 at the end of the day."""
    later = np.zeros((is_open.shape[0], is_open.shape[1] + 1), dtype=np.int16)
    later[:, :-1] = np.cumsum(is_open[:, ::-1], axis=1)[:, ::-1]
    return later


def order_by_time(later: NDArray[np.int16]) -> tuple[Indices, Counts]:
    """The open visits in order of time, and where each timestep begins."""
    columns = later.shape[1]
    times, places = np.nonzero((np.diff(later.astype(np.int64), axis=1) < 0).T)
    visits = numbers_of(places.astype(np.int32), times.astype(np.int32), columns - 1)
    return visits, np.searchsorted(times, np.arange(columns))


class Scan(NamedTuple):
    """Candidates after one visit, counted place by place; made only where guessing does not find one."""

    earliest: Counts
    cumulative: Counts
    is_made: Counts


class _After(NamedTuple):
    """One draw: what comes before it was perturbed, so all of this may be known."""

    tables: VisitTables
    scan: Scan
    previous: int


@compiled
def _propose_visit(tape: Tape, after: _After, visit: Indices) -> None:
    visit[0] = _propose(tape, after.tables, after.scan, after.previous)


@compiled
def _score_visit(after: _After, true_visit: int, visit: Indices) -> int:
    return visit_score(after.tables, true_visit, visit[0])


draw_visit = first_accepted("draw_visit", _propose_visit, _score_visit)


@compiled
def _draw_day(
    tape: Tape,
    tables: tuple[VisitTables, Coin],
    truth: Indices,
    is_constant: bool,
    drawn: Indices,
    accepted: Counts,
) -> None:
    """Visits one after the other."""
    public, coin = tables
    length = len(truth)
    counted = len(public.places.is_open) if public.uses_reach else 0
    scan = Scan(
        np.zeros(counted, dtype=np.int64), np.zeros(counted, dtype=np.int64), np.zeros(1, dtype=np.int64)
    )
    visit = np.empty(1, dtype=np.int32)
    for i in range(length):
        previous = int(drawn[i - 1]) if i and public.uses_reach else -1
        scan.is_made[0] = 0
        if previous >= 0 and not _has_candidates(public, scan, previous):
            previous = -1
        after = _After(public, scan, previous)
        accepted[i] = draw_visit(tape, coin, after, truth[i], is_constant, visit, drawn[i : i + 1])
        if ran_out(tape):
            return


_rows = each_row("individual_rows", _draw_day)


def perturb_visits(
    true_visits: Indices, tables: VisitTables, coin: Coin, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Perturbed visits of days of one length, a row each, and the trial each took.

    Paper: section 5.9 (ss:alternative-approaches), IndReach and IndNoReach.
    """
    length = true_visits.shape[1]
    trials = coin.trials if constant_work else -(-coin.trials // 20)
    return perturb_rows(
        _rows,
        (tables, coin),
        true_visits,
        width=length,
        draws=length,
        words=_WORDS_PER_TRIAL * trials * length,
        randomness=randomness,
        constant_work=constant_work,
    )


@compiled
def _has_candidates(tables: VisitTables, scan: Scan, previous: int) -> bool:
    """Whether any visit can follow ``previous``."""
    day = tables.places.is_open.shape[1]
    place, timestep = visit_parts(previous, day)
    stay = min(day, timestep + np.int64(least_steps(tables.places, place, place, timestep)))
    if tables.later[place, stay]:
        return True  # to stay is enough, and soon looked up
    return _count_candidates(tables, scan, previous) > 0


@compiled
def _count_candidates(tables: VisitTables, scan: Scan, previous: int) -> int:
    """Fill in the earliest candidate timestep and the cumulative number of candidates of each place."""
    later, day = tables.later, tables.places.is_open.shape[1]
    place, timestep = visit_parts(previous, day)
    total = np.int64(0)
    for p in range(len(later)):
        earliest = min(day, timestep + np.int64(least_steps(tables.places, place, p, timestep)))
        total += later[p, earliest]
        scan.earliest[p] = earliest
        scan.cumulative[p] = total
    scan.is_made[0] = 1
    return int(total)


@compiled
def _propose(tape: Tape, tables: VisitTables, scan: Scan, previous: int) -> int:
    """A candidate, uniformly among all: guessed among all later ones, or counted if that takes too long.

    With nothing before it (``previous`` is −1) that is any open visit.
    """
    day = tables.places.is_open.shape[1]
    last = tables.starts[day]
    if previous < 0:
        return int(tables.by_time[below(tape, len(tables.by_time))])
    place, timestep = visit_parts(previous, day)
    first = tables.starts[timestep + 1]
    for _ in range(_GUESSES):
        visit = tables.by_time[first + below(tape, last - first)]
        there, arrival = visit_parts(visit, day)
        if arrival - timestep >= least_steps(tables.places, place, there, timestep):
            return int(visit)
    if not scan.is_made[0]:
        _count_candidates(tables, scan, previous)
    return _pick_counted(tape, tables.later, scan)


@compiled
def _pick_counted(tape: Tape, later: NDArray[np.int16], scan: Scan) -> int:
    """A candidate, uniformly among those counted."""
    rank = below(tape, scan.cumulative[-1])
    place = np.searchsorted(scan.cumulative, rank, side="right")
    # As many candidates of the place are at or after the one we want.
    left = scan.cumulative[place] - rank
    low, high = scan.earliest[place], later.shape[1] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if later[place, middle] >= left:
            low = middle
        else:
            high = middle - 1
    return int(visit_number(int(place), low, later.shape[1] - 1))


@compiled
def visit_score(tables: VisitTables, true_visit: int, visit: int) -> int:
    """⌈2²⁰ d / Δ⌉ between two visits, clamped (R2)."""
    day = tables.places.is_open.shape[1]
    true_place, true_time = visit_parts(true_visit, day)
    place, time = visit_parts(visit, day)
    far = visit_distance(tables.distances, true_place, true_time, place, time)
    return score_of(far, tables.sensitivity)


@compiled
def visit_scores(tables: VisitTables, true_visit: int, visits: Indices) -> Counts:
    """Score of each of some visits."""
    scores = np.empty(len(visits), dtype=np.int64)
    for i in range(len(visits)):
        scores[i] = visit_score(tables, true_visit, visits[i])
    return scores


def list_candidates(tables: VisitTables, previous: int) -> Indices:
    """All candidates after a perturbed visit (−1: the first), in a plain way, for the audit.

    Deviation: dead-end — where nothing can be reached any more, all open visits are candidates again, and
    times are shifted afterwards.
    """
    is_open = np.diff(tables.later.astype(np.int64), axis=1) < 0
    count, day = is_open.shape
    steps = np.zeros(count, dtype=np.int64)
    if tables.uses_reach and previous >= 0:
        place, timestep = divmod(previous, day)
        steps = np.array([timestep + least_steps(tables.places, place, p, timestep) for p in range(count)])
    is_candidate = is_open & (np.arange(day)[None, :] >= steps[:, None])
    if not is_candidate.any():
        is_candidate = is_open
    return np.flatnonzero(is_candidate).astype(np.int32)
