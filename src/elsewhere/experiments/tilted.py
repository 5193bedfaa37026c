"""`ngram` with Δ := 1, to reproduce the paper's numbers. NOT ε-LDP: it spends far more than ε (R16).

Weights e^(−ε' d_w / 2) are so uneven that rejection would never end, so windows are sampled forwards
from backward sums in floating point. That is fine for reproducing numbers and for nothing else.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from elsewhere.arrays import Counts, Floats, Indices, Words
from elsewhere.audit.bounds import draw_losses
from elsewhere.compiled import compiled
from elsewhere.mechanism.budget import total
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.mechanism.ngram_proposal import Ngrams, list_ngrams
from elsewhere.mechanism.rejection import SCORE_STEPS
from elsewhere.mechanism.windows import Windows
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.protocol import Drawn, MethodFacts
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness, next_weighted
from elsewhere.world.distances import RegionDistances, region_distance
from elsewhere.world.graph import lowest_bit
from elsewhere.world.world import World

TILTED = "ngram, sensitivity=1"
# There are no scores: distances are listed in units this fine.
_STEPS = 1 << 40


def tilted_ngram(world: World, *, epsilon: float | str | Fraction, n: int = 2) -> Sharing:
    """`ngram` on the terms that reproduce the paper's numbers: NOT ε-LDP, and it says so."""
    return Sharing(TiltedNgram(world, epsilon=epsilon, n=n))


class TiltedNgram(Ngram):
    """The paper's NGram with Δ := 1."""

    def tables(self, length: int) -> NgramTables:
        """What is public, marked as not clamped."""
        return replace(super().tables(length), is_clamped=False)

    def spent_on(self, length: int) -> Fraction:
        """ε of the ideal mechanism, at most: each ε' times its true sensitivity, rounded up."""
        draws = self.draws_for(length)
        largest = Fraction(math.ceil(self.world.max_distance * 1000), 1000)
        return total([replace(draw, epsilon=draw.epsilon * draw.length * largest) for draw in draws])

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """Draws of all windows, in floating point."""
        del constant_work
        length = secrets.shape[1]
        tables = self.tables(length)
        epsilons = np.array([float(draw.epsilon) for draw in tables.draws])
        values = tilted_rows(
            secrets,
            tables.windows,
            epsilons,
            tables.proposals.words,
            tables.distances,
            randomness.words_for_rows(len(secrets), 1)[:, 0],
        )
        no_trials = np.zeros((len(secrets), len(tables.draws)), dtype=np.int64)
        return Drawn(length=length, values=values), no_trials

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index), listed."""
        length, index = state
        tables = self.tables(length)
        if index == len(tables.draws):
            return None
        ngrams = list_ngrams(tables.proposals, tables.draws[index].length)
        return tilted_step(tables, index, ngrams, secret, (length, index + 1))

    def facts(self) -> MethodFacts:
        """Settings, and that there is no promise."""
        honest = super().facts()
        return replace(
            honest,
            is_ldp=False,
            promise="NOT ε-LDP",
            spent_on_five_visits=self._spent_on_five,
            options={**honest.options, "sensitivity": 1},
        )

    @cached_property
    def _spent_on_five(self) -> float:
        length = min(5, self.world.clock.timesteps)
        return float(sum(loss.spent for loss in draw_losses(self.tables(length), self.draws_for(length))))


def tilted_step(tables: NgramTables, index: int, ngrams: Ngrams, truth: Outcome, after: State) -> Step:
    """A window with Δ := 1, nothing clamped and no end of trials, listed (R16)."""
    windows = tables.windows
    start, length = int(windows.starts[index]), int(windows.lengths[index])
    window = truth[start : start + length]
    totals = [
        sum(region_distance(tables.distances, a, b) for a, b in zip(window, ngram, strict=True))
        for ngram in ngrams.outcomes
    ]
    return Step(
        outcomes=ngrams.outcomes,
        proposal=ngrams.chances,
        numerators=[int(windows.numerators[index]) * int(distance * _STEPS) for distance in totals],
        # The coin's denominator is that of ε' times 2 · 2²⁰; here distances count in finer units.
        denominator=int(windows.denominators[index]) // SCORE_STEPS * _STEPS,
        trials=None,
        states=[after] * len(ngrams.rows),
    )


@compiled
def tilted_rows(
    true_regions: Indices,
    windows: Windows,
    epsilons: Floats,
    words: Words,
    distances: RegionDistances,
    seeds: Words,
) -> Indices:
    """Draws of trajectories of one length, a row each."""
    draws = np.zeros((len(true_regions), windows.lengths.sum()), dtype=np.int32)
    for row in range(len(true_regions)):
        state = seeds[row : row + 1].copy()
        for i in range(len(windows.starts)):
            start, length, offset = windows.starts[i], windows.lengths[i], windows.offsets[i]
            _tilted_ngram(
                true_regions[row, start : start + length],
                epsilons[i],
                words,
                distances,
                state,
                draws[row, offset : offset + length],
            )
    return draws


@compiled
def _tilted_ngram(
    truth: Indices,
    epsilon: float,
    words: Words,
    distances: RegionDistances,
    state: Words,
    ngram: Indices,
) -> None:
    length, count = len(ngram), len(words)
    sums = np.empty((length, count))
    for i in range(length - 1, -1, -1):
        for a in range(count):
            weight = math.exp(-epsilon * region_distance(distances, truth[i], a) / 2)
            sums[i, a] = weight * (_successor_sum(words[a], sums[i + 1]) if i < length - 1 else 1.0)
    weights = sums[0].copy()
    for i in range(length):
        ngram[i] = next_weighted(state, weights)
        if i < length - 1:
            weights[:] = 0.0
            row = words[ngram[i]]
            for w in range(len(row)):
                word = row[w]
                while word:
                    b = w * 64 + lowest_bit(word)
                    weights[b] = sums[i + 1, b]
                    word &= word - np.uint64(1)


@compiled
def _successor_sum(row: Words, values: Floats) -> float:
    total = 0.0
    for w in range(len(row)):
        word = row[w]
        while word:
            total += values[w * 64 + lowest_bit(word)]
            word &= word - np.uint64(1)
    return total
