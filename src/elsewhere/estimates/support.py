"""The public days that a population is made of: those of the prior, and broader ones.

What the prior thinks impossible could never be found among its own days. So a quarter of the support are days
of a prior that knows opening hours and travel, and little else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.days.prior_days import broad_days, prior_days
from elsewhere.days.visits import Days, joined_days
from elsewhere.errors import InputError
from elsewhere.survey.things import Things
from elsewhere.world.world import World

PRIOR_DAYS = 24_576
BROAD_DAYS = 8_192
_BROAD_IN_NEXT = 1 / 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Support:
    """Days that may have a weight in a population."""

    world: World
    days: Days
    is_prior: Bools
    """Which are days of the prior itself."""
    broad_share: float | None = None
    """How much of the start are broad days; None: as many as there are of them."""

    @property
    def count(self) -> int:
        return len(self.days.lengths)

    @property
    def prior(self) -> Floats:
        """What is believed before anybody answers."""
        return np.asarray(self.is_prior / self.is_prior.sum())

    @property
    def start(self) -> Floats:
        """Where a tilt starts: all days alike, so that broad ones can be found.

        What an earlier round found has seen them already: they weigh little then.
        """
        if self.broad_share is None:
            return np.full(self.count, 1 / self.count)
        broad = ~self.is_prior / max((~self.is_prior).sum(), 1)
        return np.asarray((1 - self.broad_share) * self.prior + self.broad_share * broad)


def support_of(
    world: World, believed: Days | None = None, *, days: int = PRIOR_DAYS, broad: int = BROAD_DAYS
) -> Support:
    """The support of a world: the same for everybody. ``believed`` days take the place of the prior's."""
    likely = prior_days(world, "population", days) if believed is None else believed
    places, times, lengths = joined_days(likely, broad_days(world, "population", broad))
    is_prior = np.arange(len(lengths)) < len(likely.lengths)
    found = lengths > 0
    if not found[is_prior].any():
        raise InputError("world", "its prior has no day: is nothing ever open?")
    return Support(
        world=world,
        days=Days(places[found], times[found], lengths[found]),
        is_prior=is_prior[found],
        broad_share=None if believed is None else _BROAD_IN_NEXT,
    )


def incidence(things: Indices, count: int, kept: int | None = None) -> sp.csr_array:
    """Days × things. With ``kept``, a day with more things tells of each with a chance of k/|x|."""
    found = (things >= 0).sum(axis=1)
    weights = np.ones(len(things)) if kept is None else np.minimum(1.0, kept / np.maximum(found, 1))
    rows = np.repeat(np.arange(len(things)), found)
    return sp.csr_array((weights[rows], (rows, things[things >= 0])), shape=(len(things), count))


def features(asked: list[tuple[Things, Indices]]) -> sp.csr_array:
    """Days × features: the things of each question, and all that is coarser; each column once.

    Coarse levels may move more: what many people share is told well by few answers.
    """
    parts = []
    for things, found in asked:
        parts.append(incidence(found, things.count))
        # How many things a day has: answers tell it, and what is left out of long days depends on it.
        numbers = (found >= 0).sum(axis=1).astype(np.int32)
        parts.append(incidence(numbers[:, None], int(numbers.max()) + 1))
        for groups in things.coarser():
            padded = np.append(groups, np.int32(-1))
            merged = incidence(padded[np.where(found >= 0, found, len(groups))], int(groups.max()) + 1)
            merged.data = np.minimum(merged.data, 1.0)
            parts.append(_once(merged))
    scaled = [part * (_COARSE if part.shape[1] <= _FEW else 1.0) for part in parts]
    together = sp.csc_array(sp.hstack(scaled))
    return sp.csr_array(together[:, _distinct_columns(together)])


_FEW, _COARSE = 64, 3.0


def _once(matrix: sp.csr_array) -> sp.csr_array:
    """A day has a coarse thing or not, however many fine ones it has of it."""
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def _distinct_columns(matrix: sp.csc_array) -> Indices:
    """The first of all columns that are the same; none that is empty."""
    marks = np.cos(np.arange(1, matrix.shape[0] + 1) * 12.9898) * 43758.5453
    sums = np.round(marks @ matrix, 4)
    filled = np.diff(matrix.indptr) > 0
    _, first = np.unique(np.where(filled, sums, np.nan), return_index=True, equal_nan=True)
    return np.asarray([column for column in np.sort(first) if filled[column]], dtype=np.int64)
