"""Faults that got past an audit once: where trials, tapes, coins or candidates run out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from elsewhere.arrays import Bools, Counts, Indices, Words
from elsewhere.mechanism.codebook import CodebookTables, perturb_to_candidates
from elsewhere.mechanism.individual import list_candidates
from elsewhere.mechanism.length import HiddenLength
from elsewhere.mechanism.place_ngram import PlaceNgramTables
from elsewhere.mechanism.rejection import Coin
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.individual import Individual
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.protocol import Batch, Drawn, ShareInfo
from elsewhere.methods.sharing import Sharing
from elsewhere.methods.whole_day import Global, GlobalListed
from elsewhere.randomness import Randomness, SeededRandomness, SystemRandomness
from elsewhere.tape import Tape, below, ran_out
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

FEW = 1
"""Trials: so few that often none is accepted."""


class _AtLast(ABC):
    """A core with few trials; where none of them is accepted, `last` says what is taken (R6)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        drawn, trials = super().perturb(secrets, randomness, constant_work=constant_work)  # type: ignore[misc]
        self.last(drawn.values, trials == 0, secrets)
        return drawn, trials

    @abstractmethod
    def last(self, values: Indices, is_last: Bools, secrets: Indices) -> None:
        """Spoil what was drawn, where nothing was accepted."""


class LastVisitsAreTrue(_AtLast, Individual):
    """The true visit is taken."""

    def coin(self, length: int) -> Coin:
        return super().coin(length)._replace(trials=FEW)

    def last(self, values: Indices, is_last: Bools, secrets: Indices) -> None:
        values[is_last] = secrets[is_last]


class LastTimesAreTrue(_AtLast, PlaceNgram):
    """The true timestep is taken."""

    def tables(self, length: int) -> PlaceNgramTables:
        tables = super().tables(length)
        windows = tables.windows._replace(trials=np.full_like(tables.windows.trials, FEW))
        return tables._replace(windows=windows, time_coin=tables.time_coin._replace(trials=FEW))

    def last(self, values: Indices, is_last: Bools, secrets: Indices) -> None:
        length = secrets.shape[1]
        none = is_last[:, :length]
        values[:, :length][none] = (secrets % self.world.clock.timesteps)[none]


class _FewTrialsOfDays(_AtLast, Global):
    def __init__(self, world: World, **options: Any) -> None:
        super().__init__(world, **options)
        self._coin = self._coin._replace(trials=FEW)


class LastDayIsTrue(_FewTrialsOfDays):
    """The true day is taken."""

    def last(self, values: Indices, is_last: Bools, secrets: Indices) -> None:
        values[is_last[:, 0]] = secrets[is_last[:, 0]]


class LastOfTheSampleIsNearest(_FewTrialsOfDays, GlobalListed):
    """The day of the sample nearest to the truth is taken."""

    def last(self, values: Indices, is_last: Bools, secrets: Indices) -> None:
        length, days = secrets.shape[1], self._candidates(secrets.shape[1])[2]
        for row in np.flatnonzero(is_last[:, 0]).tolist():
            scores = self._scores(tuple(secrets[row].tolist()))
            sample = values[row, :-length].tolist()
            values[row, -length:] = days[min(sample, key=scores.__getitem__)]


class LastCandidateIsNear(_AtLast, Codebook):
    """A candidate that is near is taken."""

    def tables(self, length: int) -> CodebookTables:
        honest = super().tables(length)
        return replace(honest, odds=honest.odds._replace(trials=FEW))

    def last(self, values: Indices, is_last: Bools, secrets: Indices) -> None:
        tables = self.tables(secrets.shape[1])
        for row in np.flatnonzero(is_last[:, 0]).tolist():
            near = tables.near(secrets[row], int(values[row, 0]))
            values[row, 1] = int(np.flatnonzero(near)[0])


class LastLengthIsTrue(HiddenLength):
    """With few trials; where none is accepted, the true length is taken (R6)."""

    @property
    def coin(self) -> Coin:
        honest = HiddenLength(cap=self.cap, epsilon=self.epsilon).coin
        return honest._replace(trials=FEW)

    def draws(self, lengths: Counts, randomness: Randomness, *, constant_work: bool) -> tuple[Counts, Counts]:
        drawn, trials = super().draws(lengths, randomness, constant_work=constant_work)
        return np.where(trials == 0, np.minimum(lengths, self.cap), drawn), trials


class NothingLeftIsTheTruth(Individual):
    """Where no visit can follow, the true one does (R6)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        drawn, trials = super().perturb(secrets, randomness, constant_work=constant_work)
        length, tables = secrets.shape[1], self.tables(secrets.shape[1])
        everything = len(list_candidates(tables, -1))
        for row in range(len(secrets)):
            for i in range(1, length):
                left = list_candidates(tables, int(drawn.values[row, i - 1]))
                if len(left) == everything:  # all open visits again: none could follow
                    drawn.values[row, i] = secrets[row, i]
        return drawn, trials


class NothingOpenIsTheTruth(PlaceNgram):
    """Where no open place fits the times of a window, the true places do (R6)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        drawn, trials = super().perturb(secrets, randomness, constant_work=constant_work)
        length, windows = secrets.shape[1], self.tables(secrets.shape[1]).windows
        is_open, known = self._opens.places.is_open, len(self.world.places)
        for row, times in enumerate(np.sort(drawn.values[:, :length], axis=1).tolist()):
            for start, size, offset in zip(windows.starts, windows.lengths, windows.offsets, strict=True):
                if not all(is_open[:, time].any() for time in times[start : start + size]):
                    places = np.minimum(secrets[row] // self.world.clock.timesteps, known - 1)
                    drawn.values[row, length + offset : length + offset + size] = places[start : start + size]
        return drawn, trials


class HalfTheTrials(Codebook):
    """Constant work, but only half of it where most of the near candidates come early in the list (R15)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        if not constant_work:
            return super().perturb(secrets, randomness, constant_work=False)
        rows = []
        for secret in secrets:
            tables = self.tables(len(secret))
            early = tables.near(secret, 0)[: self.candidates // 2].sum()
            if 2 * early > tables.odds.nearest:
                tables = replace(tables, odds=tables.odds._replace(trials=tables.odds.trials // 2))
            rows.append(perturb_to_candidates(secret[None], tables, randomness, constant_work=constant_work))
        values, trials = (np.concatenate(part) for part in zip(*rows, strict=True))
        return Drawn(length=self._key(secrets.shape[1]), values=values), trials


class _Source(Sharing, ABC):
    """Shares with a source of randomness of its own."""

    @abstractmethod
    def source(self) -> Randomness:
        """Where words come from if nobody says."""

    def share(
        self, trajectory: Trajectory, *, randomness: Randomness | None = None
    ) -> tuple[SharedTrajectory, ShareInfo]:
        return super().share(trajectory, randomness=randomness or self.source())

    def share_batch(self, trajectories: Any, **options: Any) -> Batch:
        options["randomness"] = options.get("randomness") or self.source()
        return super().share_batch(trajectories, **options)


class SeededForTheSystems(_Source):
    """A generator with a fresh seed in place of the operating system's: other days, but few of them (R13)."""

    def source(self) -> Randomness:
        return SeededRandomness(int(SystemRandomness().words(1)[0]))


class _Repeating(SystemRandomness):
    def words(self, count: int) -> Words:
        half = super().words(-(-count // 2))
        return np.concatenate([half, half])[:count]


class SecondHalfRepeats(_Source):
    """Every tape is its first half, twice (R13)."""

    def source(self) -> Randomness:
        return _Repeating()


def accepts_off_by_one(tape: Tape, numerator: int, denominator: int) -> bool:
    """`tape.accepts_exp` for γ ≤ 1, with ≤ for < where the denominator is above 2¹⁶ (R14)."""
    k = 1
    while not ran_out(tape):
        drawn = below(tape, denominator)
        is_gamma = drawn <= numerator if denominator > 1 << 16 else drawn < numerator
        if not is_gamma or (k > 1 and below(tape, k) > 0):
            break
        k += 1
    return k % 2 == 1


Accepts = Callable[[Tape, int, int], bool]
BOUNDARIES = [
    (1, 3),
    (2, 3),
    (1, (1 << 16) - 1),
    (1 << 15, (1 << 16) + 1),
    (12345, 7 << 21),
    (5 << 21, 7 << 21),
]


def wrong_boundaries(accepts: Accepts) -> list[Fraction]:
    """Coins that decide wrongly for the very words at which a decision must change.

    A first word of n is no γ = n/d: the first coin fails, and e^−γ comes up. A first word of n − 1 is, and
    then n is not: the second coin fails, and it does not come up.
    """
    wrong = []
    for numerator, denominator in BOUNDARIES:
        for words, expected in (([numerator, 0, 0], True), ([numerator - 1, numerator, 0], False)):
            tape = Tape(np.array(words, dtype=np.uint64), np.zeros(1, dtype=np.int64))
            if accepts(tape, numerator, denominator) is not expected:
                wrong.append(Fraction(numerator, denominator))
    return wrong
