"""Draws with Δ := 1, to reproduce the paper's numbers. NOT ε-LDP: it spends far more than ε (R16).

Weights e^(−ε' d_w / 2) are so uneven that rejection would never end, so windows are sampled forwards
from backward sums in floating point. That is fine for reproducing numbers and for nothing else.
"""

from __future__ import annotations

import math

import numpy as np

from elsewhere.arrays import Floats, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.mechanism.perturb import Plan
from elsewhere.randomness import next_weighted
from elsewhere.world.bits import lowest_bit
from elsewhere.world.distances import RegionDistances, region_distance


@compiled
def tilted_rows(
    true_regions: Indices,
    plan: Plan,
    epsilons: Floats,
    words: Words,
    distances: RegionDistances,
    seeds: Words,
) -> Indices:
    """Draws of trajectories of one length, a row each."""
    draws = np.zeros((len(true_regions), plan.lengths.sum()), dtype=np.int32)
    for row in range(len(true_regions)):
        state = seeds[row : row + 1].copy()
        for i in range(len(plan.starts)):
            start, length, offset = plan.starts[i], plan.lengths[i], plan.offsets[i]
            _tilted_walk(
                true_regions[row, start : start + length],
                epsilons[i],
                words,
                distances,
                state,
                draws[row, offset : offset + length],
            )
    return draws


@compiled
def _tilted_walk(
    true_walk: Indices,
    epsilon: float,
    words: Words,
    distances: RegionDistances,
    state: Words,
    walk: Indices,
) -> None:
    length, count = len(walk), len(words)
    sums = np.empty((length, count))
    for i in range(length - 1, -1, -1):
        for a in range(count):
            weight = math.exp(-epsilon * region_distance(distances, true_walk[i], a) / 2)
            sums[i, a] = weight * (_successor_sum(words[a], sums[i + 1]) if i < length - 1 else 1.0)
    weights = sums[0].copy()
    for i in range(length):
        walk[i] = next_weighted(state, weights)
        if i < length - 1:
            weights[:] = 0.0
            row = words[walk[i]]
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
