"""How many people have each thing, by counting what answers point at: unbiased, with its variance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.mechanism.answer import AnswerTables, bucket_of, chances

HALVES = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCounts:
    """Answers to one question, in two halves: one to predict with, one to see how well."""

    tables: AnswerTables
    pointed: Counts
    """Half × thing: how many answers point at it."""
    reports: Counts
    """Answers in each half."""

    def both(self) -> tuple[Counts, int]:
        """The two halves together."""
        return np.asarray(self.pointed.sum(axis=0)), int(self.reports.sum())


def counted(tables: AnswerTables, answers: Indices, halves: Indices) -> AnswerCounts:
    """Count answers (seed, output), each in half 0 or 1."""
    pointed = np.zeros((HALVES, tables.things), dtype=np.int64)
    reports = np.bincount(halves, minlength=HALVES).astype(np.int64)
    for half in range(HALVES):
        mine = answers[halves == half]
        if tables.is_hashed:
            pointed[half] = _pointed_at(mine, tables.things, tables.odds.candidates)
        else:
            pointed[half] = np.bincount(mine[:, 1], minlength=tables.odds.candidates)[: tables.things]
    return AnswerCounts(tables=tables, pointed=pointed, reports=reports)


@compiled
def _pointed_at(answers: Indices, things: int, buckets: int) -> Counts:
    """For each thing, how many answers name the bucket that their seed puts it into."""
    found = np.zeros(things, dtype=np.int64)
    for row in range(len(answers)):
        seed, output = answers[row, 0], answers[row, 1]
        for thing in range(things):
            found[thing] += bucket_of(seed, thing, buckets) == output
    return found


def unbiased(tables: AnswerTables, pointed: Counts, reports: int) -> Floats:
    """People per person who have each thing (and kept it): m̂ = (c/n − q) / (p − q)."""
    p, q = chances(tables)
    return np.asarray((pointed / max(reports, 1) - q) / (p - q), dtype=np.float64)


def variance(tables: AnswerTables, shares: Floats, reports: int) -> Floats:
    """Variance of the unbiased estimate, if ``shares`` of the people have each thing."""
    p, q = chances(tables)
    pointed = np.clip(q + (p - q) * np.clip(shares, 0, 1), 1e-12, 1)
    return np.asarray(pointed * (1 - pointed) / max(reports, 1) / (p - q) ** 2, dtype=np.float64)
