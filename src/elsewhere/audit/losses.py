"""How much a share tells of one day against another: the privacy loss of real draws, one by one.

The loss of an output y when x is true and x' might be is ln Pr(y | x) − ln Pr(y | x'). ε bounds it for
every pair and output; what it usually is shows only in a sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.audit.bounds import factor_of, window_loss
from elsewhere.audit.made_up import made_up_days
from elsewhere.compiled import compiled
from elsewhere.mechanism.length import stretched
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness
from elsewhere.world.distances import RegionDistances, region_distance
from elsewhere.world.graph import lowest_bit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Losses:
    """Losses of shares: between made-up days, and between the two days that are easiest to tell apart."""

    ordinary: Floats
    hardest: Floats


PAIRS = 12


def sampled_losses(
    method: Sharing,
    length: int,
    randomness: Randomness,
    *,
    samples: int = 500,
    tick: Callable[[], None] = lambda: None,
) -> Losses | None:
    """Losses of real draws; None for methods whose chances are only known where all can be listed.

    Days have ``length`` visits; where the length is hidden, any number of them.
    """
    tables = method.core.tables(length)
    if not isinstance(tables, NgramTables):
        return None
    cap = length if method.hidden is None else method.hidden.cap
    lengths = [length] * 2 * PAIRS if method.hidden is None else [1 + k * 5 % cap for k in range(2 * PAIRS)]
    days = [method.core.secret(made_up_days(method.world, n, k + 1)[k]) for k, n in enumerate(lengths)]
    ordinary = []
    for first, second in zip(days[::2], days[1::2], strict=True):
        ordinary.append(_losses(method, first, second, samples, randomness))
        tick()
    draw = tables.draws[0]
    worst = window_loss(tables, draw.length, draw.epsilon)
    one, other = worst.first or days[0], worst.second or days[1]
    # The same region all day; where the length is hidden, the shortest day against the longest.
    hardest = one[:1] * (1 if method.hidden is not None else length), other[:1] * cap
    found = _losses(method, *hardest, PAIRS * samples, randomness)
    tick()
    return Losses(ordinary=np.concatenate(ordinary), hardest=found)


def _losses(
    method: Sharing, first: tuple[int, ...], second: tuple[int, ...], samples: int, randomness: Randomness
) -> Floats:
    """Loss of each of ``samples`` draws when the first day is true and the second might be."""
    if method.hidden is None:
        return _window_losses(method, first, second, samples, randomness)
    hidden, parts = method.hidden, []
    drawn, _ = hidden.draws(np.full(samples, len(first)), randomness, constant_work=False)
    for length, times in zip(*np.unique(drawn, return_counts=True), strict=True):
        rows = [stretched(np.array(day, dtype=np.int32), int(length)).tolist() for day in (first, second)]
        losses = _window_losses(method, tuple(rows[0]), tuple(rows[1]), int(times), randomness)
        is_first, is_second = (min(len(day), hidden.cap) == length for day in (first, second))
        parts.append(losses + float(hidden.epsilon) * (int(is_first) - int(is_second)))
    return np.concatenate(parts)


def _window_losses(
    method: Sharing, first: tuple[int, ...], second: tuple[int, ...], samples: int, randomness: Randomness
) -> Floats:
    """The same for days of one length, without what the length tells."""
    tables = method.core.tables(len(first))
    if not isinstance(tables, NgramTables):
        raise TypeError("only n-grams of regions have such losses")
    ours, theirs = np.array(first, dtype=np.int32), np.array(second, dtype=np.int32)
    drawn, _ = method.core.perturb(np.tile(ours, (samples, 1)), randomness, constant_work=False)
    windows, total = tables.windows, np.zeros(samples)
    for index, draw in enumerate(tables.draws):
        factor = factor_of(tables, draw.length, draw.epsilon)
        window = slice(draw.start, draw.start + draw.length)
        offset = int(windows.offsets[index])
        outputs = drawn.values[:, offset : offset + draw.length]
        for sign, truth in ((1, ours[window]), (-1, theirs[window])):
            far = tables.distances.combined(truth[None, :], outputs).sum(axis=1)
            total += sign * (-factor * far - log_mass(tables, truth, factor))
    return np.asarray(total)


def log_mass(tables: NgramTables, ngram: Indices, factor: float) -> float:
    """Ln Z: sum of the weights e^(−c d) over all feasible windows, for one input."""
    return float(np.log(_mass(tables.distances, tables.proposals.words, ngram, factor)))


@compiled
def _mass(distances: RegionDistances, words: Words, ngram: Indices, factor: float) -> float:
    count = len(words)
    sums = np.ones(count)
    for position in range(len(ngram)):
        if position:
            sums = _pushed(words, sums)
        for region in range(count):
            sums[region] *= np.exp(-factor * region_distance(distances, ngram[position], region))
    return float(sums.sum())


@compiled
def _pushed(words: Words, sums: Floats) -> Floats:
    """Each region's sum handed to all that can follow it."""
    after = np.zeros(len(words))
    for a in range(len(words)):
        for w in range(words.shape[1]):
            word = words[a, w]
            while word:
                after[w * 64 + lowest_bit(word)] += sums[a]
                word &= word - np.uint64(1)
    return after
