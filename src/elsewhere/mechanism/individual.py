"""`ind-reach`, `ind-noreach`: draws of single visits, a place and a timestep at once.

Candidates are all visits to open places, or, where reachability counts, those that can follow the
previous *perturbed* visit and leave room for the visits still to come. Both are public: nothing that
is true goes into them (R5). Where none is left, all open visits are candidates again (R6).
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
    """What draws of single visits go by: public, the same for everybody with a day of that length."""

    places: PlaceWorld
    distances: VisitDistances
    later: NDArray[np.int16]
    """For k visits still to come, place and timestep: timesteps from there on that leave room for k more."""
    by_time: Indices
    """All visits that leave room for k more, in order of time, for k = 0, 1, ... after each other."""
    starts: Counts
    """For each k and timestep, where the visits from that timestep on begin in ``by_time``."""
    sensitivity: float
    uses_reach: bool


def build_rooms(places: PlaceWorld, length: int) -> NDArray[np.int16]:
    """Counts of the timesteps of each place at which a visit leaves room for 0 .. length − 1 more.

    A place leaves room until its slack: the latest departure from which some place can be reached
    while that one still leaves room for one visit less.
    """
    count, day = places.is_open.shape
    later = np.zeros((length, count, day + 1), dtype=np.int16)
    later[0, :, :-1] = _from_the_end(places.is_open)
    for k in range(1, length):
        lasts = (later[k - 1] > 0).sum(axis=1) - 1
        slack = _slack(places, lasts, np.argsort(-lasts, kind="stable"))
        has_room = places.is_open & (np.arange(day) <= slack[places.profile_of_timestep].T)
        later[k, :, :-1] = _from_the_end(has_room)
    return later


def order_by_time(later: NDArray[np.int16]) -> tuple[Indices, Counts]:
    """The visits that leave room, in order of time, and where each timestep begins."""
    levels, _, columns = later.shape
    day = columns - 1
    visits, starts = [], np.zeros((levels, columns), dtype=np.int64)
    done = 0
    for level in range(levels):
        times, places = np.nonzero((np.diff(later[level].astype(np.int64), axis=1) < 0).T)
        visits.append(numbers_of(places.astype(np.int32), times.astype(np.int32), day))
        starts[level] = done + np.searchsorted(times, np.arange(columns))
        done += len(times)
    return np.concatenate(visits), starts


def _from_the_end(flags: Bools) -> NDArray[np.int64]:
    return np.asarray(np.cumsum(flags[:, ::-1], axis=1)[:, ::-1])


@compiled
def _slack(places: PlaceWorld, lasts: Counts, order: Counts) -> Counts:
    """For each profile and place the latest departure that still gets somewhere in time; −1 for never."""
    profiles = places.profile_of_timestep.max() + 1
    slack = np.full((profiles, len(lasts)), -1, dtype=np.int64)
    for departure in range(len(places.profile_of_timestep)):
        profile = places.profile_of_timestep[departure]
        if departure and profile in places.profile_of_timestep[:departure]:
            continue
        for p in range(len(lasts)):
            for q in order:
                # In order of their last chance: whoever comes later can be no better.
                if lasts[q] - 1 <= slack[profile, p]:
                    break
                slack[profile, p] = max(
                    slack[profile, p], lasts[q] - np.int64(least_steps(places, p, q, departure))
                )
    return slack


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
    level: int


@compiled
def _propose_visit(tape: Tape, after: _After, visit: Indices) -> None:
    visit[0] = _propose(tape, after.tables, after.scan, after.previous, after.level)


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
        level = length - 1 - i if public.uses_reach else 0
        scan.is_made[0] = 0
        if not _has_candidates(public, scan, previous, level):
            previous, level = -1, 0
        after = _After(public, scan, previous, level)
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
def _has_candidates(tables: VisitTables, scan: Scan, previous: int, level: int) -> bool:
    """Whether any visit can follow ``previous`` (−1: nothing came before) and leave room."""
    day = tables.places.is_open.shape[1]
    if previous < 0:
        return bool(tables.starts[level, day] > tables.starts[level, 0])
    place, timestep = visit_parts(previous, day)
    if tables.later[level + 1, place, timestep] > tables.later[level + 1, place, timestep + 1]:
        return True  # it was chosen because it leaves room for one more
    return _count_candidates(tables, scan, previous, level) > 0


@compiled
def _count_candidates(tables: VisitTables, scan: Scan, previous: int, level: int) -> int:
    """Fill in the earliest candidate timestep and the cumulative number of candidates of each place."""
    later, day = tables.later[level], tables.places.is_open.shape[1]
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
def _propose(tape: Tape, tables: VisitTables, scan: Scan, previous: int, level: int) -> int:
    """A candidate, uniformly among all: guessed among all later ones, or counted if that takes too long."""
    day = tables.places.is_open.shape[1]
    last = tables.starts[level, day]
    if previous < 0:
        first = tables.starts[level, 0]
        return int(tables.by_time[first + below(tape, last - first)])
    place, timestep = visit_parts(previous, day)
    first = tables.starts[level, timestep + 1]
    for _ in range(_GUESSES):
        visit = tables.by_time[first + below(tape, last - first)]
        there, arrival = visit_parts(visit, day)
        if arrival - timestep >= least_steps(tables.places, place, there, timestep):
            return int(visit)
    if not scan.is_made[0]:
        _count_candidates(tables, scan, previous, level)
    return _pick_counted(tape, tables.later[level], scan)


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


def list_candidates(tables: VisitTables, previous: int, to_come: int) -> Indices:
    """All candidates after a perturbed visit (−1: the first), in a plain way, for the audit."""
    count, day = tables.places.is_open.shape
    has_room = np.diff(tables.later.astype(np.int64), axis=2) < 0
    steps = np.zeros(count, dtype=np.int64)
    if tables.uses_reach and previous >= 0:
        place, timestep = divmod(previous, day)
        steps = np.array([timestep + least_steps(tables.places, place, p, timestep) for p in range(count)])
    is_late_enough = np.arange(day)[None, :] >= steps[:, None]
    is_candidate = has_room[to_come if tables.uses_reach else 0] & is_late_enough
    if not is_candidate.any():
        is_candidate = has_room[0]
    return np.flatnonzero(is_candidate).astype(np.int32)
