"""Uniform proposals of n-grams of places at given timesteps: public, the same for everybody.

Candidates are open at their timesteps, and each can be reached from the one before in the gap between
them. Any open places are guessed until they fit; after so many misses in a window, what leads on from
each place is counted. Without any such n-gram closed places are candidates too.
"""

from __future__ import annotations

from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.tape import Tape, below
from elsewhere.world.place_world import PlaceWorld, least_steps

MOST_MISSES = 200
_MOST_BITS = 62
_MOST_LISTED = 200_000


class OpenPlaces(NamedTuple):
    """Places by timestep."""

    places: PlaceWorld
    members: Indices
    """Places open at each timestep, one timestep after the other, and all places at the end."""
    starts: Counts
    """Where each timestep begins in ``members``."""


def open_places(places: PlaceWorld) -> OpenPlaces:
    count, day = places.is_open.shape
    times, members = np.nonzero(places.is_open.T)
    starts = np.append(np.searchsorted(times, np.arange(day + 1)), len(times) + count)
    everywhere = np.append(members, np.arange(count)).astype(np.int32)
    return OpenPlaces(places, everywhere, starts.astype(np.int64))


def check_countable(count: int, n: int) -> None:
    """Counts of n-grams of places must fit a machine word."""
    if n > 1 and count**n >= 1 << _MOST_BITS:
        most = max(size for size in range(1, n) if size == 1 or count**size < 1 << _MOST_BITS)
        raise InputError("n", f"found {n}, must be at most {most} for n-grams of {count:,} places")


class Counted(NamedTuple):
    """For the n-grams of one window, how many lead on from each place; counted only where needed."""

    ways: Counts
    """Position × place."""
    total: Counts
    """All n-grams; below 0: not counted."""
    with_closed: Counts
    """1 where closed places are candidates."""
    misses: Counts
    """Guesses so far that did not fit."""


@compiled
def new_counted(most: int, places: int) -> Counted:
    """Room for windows of up to ``most`` places."""
    return Counted(
        np.zeros((most, places), dtype=np.int64),
        np.full(1, -1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@compiled
def begin_window(counted: Counted) -> None:
    """Forget what was counted for another window."""
    counted.total[0] = -1
    counted.with_closed[0] = 0
    counted.misses[0] = 0


@compiled
def propose_places(tape: Tape, opens: OpenPlaces, times: Indices, counted: Counted, ngram: Indices) -> None:
    """Fill ``ngram`` with a candidate for ``times``, uniformly among all."""
    if counted.total[0] < 0:
        while counted.misses[0] < MOST_MISSES:
            if _guess(tape, opens, times, ngram):
                return
            counted.misses[0] += 1
        _count(opens, times, counted)
        if counted.total[0] == 0:
            counted.with_closed[0] = 1
            _count(opens, times, counted)
    _pick_counted(tape, opens, times, counted, ngram)


@compiled
def _candidates(opens: OpenPlaces, time: int, with_closed: int) -> Indices:
    group = len(opens.starts) - 2 if with_closed else time
    return opens.members[opens.starts[group] : opens.starts[group + 1]]


@compiled
def _guess(tape: Tape, opens: OpenPlaces, times: Indices, ngram: Indices) -> bool:
    """Any open places; False if they do not follow each other."""
    for i in range(len(times)):
        some = _candidates(opens, times[i], 0)
        if not len(some):
            return False
        ngram[i] = some[below(tape, len(some))]
        if i and least_steps(opens.places, ngram[i - 1], ngram[i], times[i - 1]) > times[i] - times[i - 1]:
            return False
    return True


@compiled
def _count(opens: OpenPlaces, times: Indices, counted: Counted) -> None:
    ways, with_closed = counted.ways, counted.with_closed[0]
    last = len(times) - 1
    ways[: last + 1] = 0
    for place in _candidates(opens, times[last], with_closed):
        ways[last, place] = 1
    for i in range(last - 1, -1, -1):
        gap = times[i + 1] - times[i]
        following = _candidates(opens, times[i + 1], with_closed)
        for place in _candidates(opens, times[i], with_closed):
            for after in following:
                if least_steps(opens.places, place, after, times[i]) <= gap:
                    ways[i, place] += ways[i + 1, after]
    counted.total[0] = ways[0].sum()


@compiled
def _pick_counted(tape: Tape, opens: OpenPlaces, times: Indices, counted: Counted, ngram: Indices) -> None:
    """A candidate by its rank: the first place with as many n-grams up to it, then what follows."""
    rank = below(tape, counted.total[0])
    for i in range(len(times)):
        for place in _candidates(opens, times[i], counted.with_closed[0]):
            if i and least_steps(opens.places, ngram[i - 1], place, times[i - 1]) > times[i] - times[i - 1]:
                continue
            if rank < counted.ways[i, place]:
                ngram[i] = place
                break
            rank -= counted.ways[i, place]


def list_places(opens: OpenPlaces, times: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All candidates for ``times``, in a plain way, for the audit."""
    is_open = opens.places.is_open
    everywhere = range(len(is_open))
    if len(everywhere) ** len(times) > _MOST_LISTED:
        raise InputError("audit", f"more than {_MOST_LISTED:,} n-grams of places are too many to list")
    ngrams = [
        ngram
        for ngram in product(everywhere, repeat=len(times))
        if all(
            least_steps(opens.places, p, q, t) <= u - t
            for (p, q), (t, u) in zip(pairwise(ngram), pairwise(times), strict=True)
        )
    ]
    return [w for w in ngrams if all(is_open[p, t] for p, t in zip(w, times, strict=True))] or ngrams
