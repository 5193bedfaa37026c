"""How many people have each thing, by counting what answers point at: unbiased, with its variance."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.mechanism.answer import bucket_of
from elsewhere.survey.channels import Channel, DayChannel, SetChannel

HALVES = 2
_THREADS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerCounts:
    """Answers to one question, in two halves: one to predict with, one to see how well."""

    channel: Channel
    pointed: Counts
    """Half × thing: how many answers point at it."""
    asked: Counts
    """Half × thing: how many answers could have pointed at it."""

    @property
    def reports(self) -> int:
        """Answers in all."""
        return int(self.asked.sum(axis=0).max() if not isinstance(self.channel, DayChannel) else self._days())

    def _days(self) -> int:
        candidates = self.channel.odds.candidates
        return int(self.asked[:, ::candidates].sum())

    def __add__(self, other: AnswerCounts) -> AnswerCounts:
        """Answers to the same question from elsewhere: another file, another machine."""
        return AnswerCounts(
            channel=self.channel, pointed=self.pointed + other.pointed, asked=self.asked + other.asked
        )

    def of(self, half: int | None) -> tuple[Counts, Counts]:
        """Pointed at and asked, of one half or of all."""
        if half is None:
            return np.asarray(self.pointed.sum(axis=0)), np.asarray(self.asked.sum(axis=0))
        return self.pointed[half], self.asked[half]


def counted(channel: Channel, answers: Indices, halves: Indices) -> AnswerCounts:
    """Count answers (seed, output), each in half 0 or 1."""
    parts = [_counted_half(channel, answers[halves == half]) for half in range(HALVES)]
    pointed, asked = (np.stack([part[at] for part in parts]) for at in range(2))
    return AnswerCounts(channel=channel, pointed=pointed, asked=asked)


def _counted_half(channel: Channel, answers: Indices) -> tuple[Counts, Counts]:
    things, outputs = channel.things.count, channel.odds.candidates
    if isinstance(channel, DayChannel):
        picked = answers[:, 0].astype(np.int64) * outputs + answers[:, 1]
        shards = np.bincount(answers[:, 0], minlength=channel.seeds)
        return np.bincount(picked, minlength=things), np.repeat(shards, outputs)
    asked = np.full(things, len(answers), dtype=np.int64)
    if isinstance(channel, SetChannel) and channel.tables.is_hashed:
        with ThreadPoolExecutor(_THREADS) as pool:
            pieces = np.array_split(np.ascontiguousarray(answers), _THREADS)
            return np.sum(
                list(pool.map(lambda piece: _pointed_at(piece, things, outputs), pieces)), axis=0
            ), asked
    return np.bincount(answers[:, 1], minlength=outputs)[:things], asked


@compiled
def _pointed_at(answers: Indices, things: int, buckets: int) -> Counts:
    """For each thing, how many answers name the bucket that their seed puts it into."""
    found = np.zeros(things, dtype=np.int64)
    for row in range(len(answers)):
        seed, output = answers[row, 0], answers[row, 1]
        for thing in range(things):
            found[thing] += bucket_of(seed, thing, buckets) == output
    return found


def unbiased(channel: Channel, pointed: Counts, asked: Counts) -> Floats:
    """People per person who have each thing (and kept it): m̂ = (c/n − q) / (p − q)."""
    p, q = channel.chances()
    return np.asarray((pointed / np.maximum(asked, 1) - q) / (p - q), dtype=np.float64)


def variance(channel: Channel, shares: Floats, asked: Counts) -> Floats:
    """Variance of the unbiased estimate, if ``shares`` of the people have each thing."""
    p, q = channel.chances()
    pointed = np.clip(q + (p - q) * np.clip(shares, 0, 1), 1e-12, 1 - 1e-12)
    return np.asarray(pointed * (1 - pointed) / np.maximum(asked, 1) / (p - q) ** 2, dtype=np.float64)
