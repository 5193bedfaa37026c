"""What is estimated of each thing a question asks about, with intervals that cover whatever is true.

A prediction is moved toward the unbiased estimate, as far as predictions turn out to be off. How far that is
can be seen honestly: each half of the answers is predicted from the other half alone, and compared. The
intervals are made of these two comparisons, so that no answer is used twice (`estimate.robust`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.estimates.counts import HALVES, unbiased, variance
from elsewhere.estimates.robust import half_lengths
from elsewhere.estimates.tilt import Evidence, Fit

_BINS = 6
_LEAST_IN_BIN = 8
_AT_MOST = 2.0
_BY_CHANCE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EstimateTable:
    """People per person who have each thing of a question."""

    count: Floats
    """Unbiased: of people who have the thing and whose answer could tell it."""
    estimate: Floats
    low: Floats
    high: Floats
    reports: int

    def holds(self, truth: Floats) -> Bools:
        """Whether each interval has in it what is true, where that is known."""
        return np.asarray((self.low <= truth) & (truth <= self.high))


def table_of(evidence: Evidence, fit: Fit, number: int) -> EstimateTable:
    """The table of question ``number``."""
    one, told = evidence.counts[number], evidence.told[number]
    channel = one.channel
    pointed, asked = one.of(None)
    counts = unbiased(channel, pointed, asked)
    predicted = told @ fit.weights
    bins = bins_by_size(predicted)
    sure, centres, halves = _off_by_halves(evidence, fit, number, bins)
    noise = variance(channel, predicted, asked)
    moved = predicted + sure / (sure + noise) * (counts - predicted)
    likely, most = _left_out(evidence, fit, number)
    low = np.clip(centres - halves, 0.0, 1.0)
    high = np.clip((centres + halves) * most, 0.0, 1.0)
    return EstimateTable(
        count=counts,
        estimate=np.clip(moved * likely, low, high),
        low=low,
        high=high,
        reports=one.reports,
    )


def bins_by_size(predicted: Floats) -> Indices:
    """Things of like size together: large ones are off by more than small ones."""
    bins = min(_BINS, max(1, len(predicted) // _LEAST_IN_BIN))
    edges = np.quantile(predicted, np.linspace(0, 1, bins + 1))
    return np.clip(np.searchsorted(edges, predicted, side="right") - 1, 0, bins - 1).astype(np.int32)


def _off_by_halves(evidence: Evidence, fit: Fit, number: int, bins: Indices) -> tuple[Floats, Floats, Floats]:
    """Mean square by which predictions are surely off; centre and half-length of the intervals.

    Intervals take the mean square of Armstrong, Kolesár and Plagborg-Møller: never below what could be
    mistaken for nothing with so few things. Estimates leave the prediction only for what is more than chance
    makes of all bins in one survey of twenty: where answers say little, the population stands.
    """
    one, told = evidence.counts[number], evidence.told[number]
    predicted = [told @ fit.halves[1 - half] for half in range(HALVES)]
    found = [unbiased(one.channel, *one.of(half)) for half in range(HALVES)]
    noise = [variance(one.channel, predicted[half], one.of(half)[1]) for half in range(HALVES)]
    squares, sure = np.zeros(len(bins)), np.zeros(len(bins))
    filled = np.unique(bins)
    for number_of_bin in filled:
        inside = bins == number_of_bin
        spread = np.concatenate([noise[half][inside] for half in range(HALVES)])
        off = np.concatenate([(found[half] - predicted[half])[inside] ** 2 for half in range(HALVES)])
        least = 2 * (spread**2).sum() / (len(spread) * spread.sum())
        squares[inside] = max(float((off - spread).mean()), float(least))
        by_chance = chi2.ppf(1 - _BY_CHANCE / len(filled), len(spread)) / len(spread)
        sure[inside] = max(float(off.mean() - by_chance * spread.mean()), 0.0)
    centres, halves = np.zeros(len(bins)), np.zeros(len(bins))
    for half in range(HALVES):
        weights = squares / (squares + noise[half])
        centres += (predicted[half] + weights * (found[half] - predicted[half])) / HALVES
        halves += half_lengths(weights, noise[half], squares) / HALVES
    return sure, centres, halves


def _left_out(evidence: Evidence, fit: Fit, number: int) -> tuple[Floats, Floats]:
    """By what to multiply for what long days could not tell: most likely, and at most.

    Of a day with more than k things only k are kept. How many days are so long, answers hardly tell: at least
    nothing was left out, and at most twice as much as the population, the prior, or the whole support says.
    That is an assumption, and the only one: where people's days are longer still, give a larger k.
    """
    whole, told = evidence.whole[number], evidence.told[number]

    def ratio(weights: Floats) -> Floats:
        kept = told @ weights
        return np.asarray(np.where(kept > 1e-12, (whole @ weights) / np.maximum(kept, 1e-12), 1.0))

    likely = ratio(fit.weights)
    believed = [ratio(weights) for weights in (evidence.support.prior, evidence.support.start)]
    largest = np.maximum(likely, np.maximum(*believed))
    return likely, 1 + _AT_MOST * (largest - 1)
