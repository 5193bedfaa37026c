"""Uniform proposals from 𝒲ⁿ: public, the same for everybody, exact for any n.

An n-gram is drawn region by region with the backward counts as weights. Counts of long n-grams outgrow
machine words, so they are scaled down and rounded up; one exact coin per step takes out again what
rounding put in, and what remains is exactly uniform.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Counts, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.listing import Outcome
from elsewhere.tape import Tape, below, ran_out
from elsewhere.world.graph import RegionGraph, count_bits, lowest_bit

_WEIGHT_BITS = 61
_MOST_LISTED = 200_000


class Proposals(NamedTuple):
    """Tables for windows of 1 .. n regions; row k − 1 is about k-grams."""

    words: Words
    weights: Counts
    """Number of k-grams from each region, in units of the product of ``scales`` so far, rounded up."""
    sums: Counts
    """Sum of the weights of (k − 1)-grams over each region's successors, before scaling."""
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
def propose(tape: Tape, proposals: Proposals, ngram: Indices) -> None:
    """Fill ``ngram`` with a uniform feasible n-gram of its length."""
    totals = proposals.cumulative[len(ngram) - 1]
    while not ran_out(tape):
        ngram[0] = np.searchsorted(totals, below(tape, totals[-1]), side="right")
        if _go_on(tape, proposals, ngram):
            return


@compiled
def _go_on(tape: Tape, proposals: Proposals, ngram: Indices) -> bool:
    """The rest of the n-gram; False where a coin says that rounding favoured it."""
    for step in range(1, len(ngram)):
        here, left = ngram[step - 1], len(ngram) - step
        scale, total = proposals.scales[left], proposals.sums[left, here]
        if scale > 1 and below(tape, scale * proposals.weights[left, here]) >= total:
            return False
        row = proposals.words[here]
        if left == 1:
            ngram[step] = _successor(row, below(tape, total))
        else:
            ngram[step] = _weighted_successor(row, proposals.weights[left - 1], below(tape, total))
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ngrams:
    """All n-grams that `propose` can give, each with its chance."""

    rows: Indices
    outcomes: list[Outcome]
    chances: list[Fraction]


def list_ngrams(proposals: Proposals, length: int) -> Ngrams:
    """Every n-gram of ``length`` with the chance that `propose` gives it, read off its tables.

    An n-gram is begun with its weight over all weights; each step is let through by a coin and then
    chosen by weight; what a coin stops is begun again, so what is left is scaled up to 1.
    """
    level = length - 1
    total = int(proposals.cumulative[level, -1])
    weights = np.diff(proposals.cumulative[level], prepend=0).tolist()
    ngrams: list[tuple[Outcome, Fraction]] = [
        ((first,), Fraction(weight, total)) for first, weight in enumerate(weights) if weight
    ]
    for step in range(1, length):
        left = length - step
        ngrams = [
            ((*ngram, after), chance * share)
            for ngram, chance in ngrams
            for after, share in _steps_from(proposals, ngram[-1], left)
        ]
        if len(ngrams) > _MOST_LISTED:
            raise InputError("audit", f"more than {_MOST_LISTED:,} n-grams of regions are too many to list")
    through = sum((chance for _, chance in ngrams), start=Fraction(0))
    return Ngrams(
        rows=np.array([ngram for ngram, _ in ngrams], dtype=np.int32).reshape(-1, length),
        outcomes=[ngram for ngram, _ in ngrams],
        chances=[chance / through for _, chance in ngrams],
    )


def _steps_from(proposals: Proposals, here: int, left: int) -> list[tuple[int, Fraction]]:
    """Regions that can come next, each with the chance to be let through and chosen."""
    scale, total = int(proposals.scales[left]), int(proposals.sums[left, here])
    through = Fraction(1)
    if scale > 1:
        through = min(through, Fraction(total, scale * int(proposals.weights[left, here])))
    after = _successors(proposals, here)
    counts = [1 if left == 1 else int(proposals.weights[left - 1, region]) for region in after]
    return [
        (region, through * Fraction(count, total))
        for region, count in zip(after, counts, strict=True)
        if count  # a dead end: nothing long enough goes on from there
    ]


def _successors(proposals: Proposals, region: int) -> list[int]:
    found = []
    for index, whole in enumerate(proposals.words[region]):
        word = whole
        while word:
            found.append(index * 64 + int(lowest_bit(word)))
            word &= word - np.uint64(1)
    return found
