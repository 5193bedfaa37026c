"""Uniform proposals from 𝒲ⁿ: public, the same for everybody, exact for any n.

A walk is drawn region by region with the backward counts as weights. Counts of long walks outgrow
machine words, so they are scaled down and rounded up; one exact coin per step takes out again what
rounding put in, and what remains is exactly uniform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices, Words
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.coin import Tape, below, ran_out
from elsewhere.world.bits import count_bits, lowest_bit
from elsewhere.world.graph import RegionGraph

Counts = NDArray[np.int64]

_WEIGHT_BITS = 61


class Proposals(NamedTuple):
    """Tables for windows of 1 .. n regions; row k − 1 is about walks of k regions."""

    words: Words
    weights: Counts
    """Number of k-walks from each region, in units of the product of ``scales`` so far, rounded up."""
    sums: Counts
    """Sum of the weights of (k − 1)-walks over each region's successors, before scaling."""
    scales: Counts
    cumulative: Counts
    """Weights added up over regions."""


def build_proposals(graph: RegionGraph, n: int) -> Proposals:
    """Tables for windows up to length n."""
    count = len(graph)
    weights = np.ones((n, count), dtype=np.int64)
    sums = np.ones((n, count), dtype=np.int64)
    scales = np.ones(n, dtype=np.int64)
    for k in range(1, n):
        # The sums of the next round, of up to |ℛ| weights each, must fit a machine word.
        sums[k] = _successor_sums(graph.words, weights[k - 1])
        most = (1 << _WEIGHT_BITS) // count
        while int((-(-sums[k] // scales[k])).astype(np.float64).sum()) >= most:
            scales[k] *= 2
        weights[k] = -(-sums[k] // scales[k])
        if not weights[k].any():
            raise InputError("world", f"no {k + 1} regions can follow each other: use a smaller n")
    return Proposals(
        words=graph.words,
        weights=weights,
        sums=sums,
        scales=scales,
        cumulative=np.cumsum(weights, axis=1),
    )


@compiled
def _successor_sums(words: Words, weights: Counts) -> Counts:
    sums = np.zeros(len(words), dtype=np.int64)
    for a in range(len(words)):
        for w in range(words.shape[1]):
            word = words[a, w]
            while word:
                sums[a] += weights[w * 64 + lowest_bit(word)]
                word &= word - np.uint64(1)
    return sums


@compiled
def propose(tape: Tape, proposals: Proposals, walk: Indices) -> None:
    """Fill ``walk`` with a uniform feasible walk of its length."""
    totals = proposals.cumulative[len(walk) - 1]
    while not ran_out(tape):
        walk[0] = np.searchsorted(totals, below(tape, totals[-1]), side="right")
        if _walk_on(tape, proposals, walk):
            return


@compiled
def _walk_on(tape: Tape, proposals: Proposals, walk: Indices) -> bool:
    """The rest of the walk; False where a coin says that rounding favoured it."""
    for step in range(1, len(walk)):
        here, left = walk[step - 1], len(walk) - step
        scale, total = proposals.scales[left], proposals.sums[left, here]
        if scale > 1 and below(tape, scale * proposals.weights[left, here]) >= total:
            return False
        row = proposals.words[here]
        if left == 1:
            walk[step] = _successor(row, below(tape, total))
        else:
            walk[step] = _weighted_successor(row, proposals.weights[left - 1], below(tape, total))
    return True


@compiled
def _successor(row: Words, rank: int) -> int:
    """The successor with ``rank`` others before it."""
    for w in range(len(row)):
        bits = count_bits(row[w])
        if rank < bits:
            word = row[w]
            for _ in range(rank):
                word &= word - np.uint64(1)
            return w * 64 + lowest_bit(word)
        rank -= bits
    return 0


@compiled
def _weighted_successor(row: Words, weights: Counts, target: int) -> int:
    """The successor at which the weights of all up to it first exceed ``target``."""
    for w in range(len(row)):
        word = row[w]
        while word:
            region = w * 64 + lowest_bit(word)
            target -= weights[region]
            if target < 0:
                return region
            word &= word - np.uint64(1)
    return 0
