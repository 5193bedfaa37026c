"""Proposals and draws against exact distributions, each test also rejecting a wrong ε."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.arrays import Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism import ngram_proposal
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.ngram import NgramTables, draw_ngram, perturb_regions, score
from elsewhere.mechanism.ngram_proposal import Proposals, build_proposals, propose
from elsewhere.mechanism.rejection import SCORE_STEPS, coin_of
from elsewhere.mechanism.windows import window_tables
from elsewhere.randomness import SeededRandomness, SystemRandomness
from elsewhere.tape import Tape, new_tape, ran_out
from elsewhere.world.graph import RegionGraph, degrees_of
from elsewhere.world.world import World
from examples import examples
from privacy_tools import PlainTape, even_draws, exact_draw, p_value
from worlds import build, place, world_inputs

SAMPLES = 100_000


@compiled
def _proposed(tape: Tape, proposals: Proposals, length: int, samples: int) -> Indices:
    ngrams = np.empty((samples, length), dtype=np.int32)
    for i in range(samples):
        propose(tape, proposals, ngrams[i])
    return ngrams


def _graph(edges: np.ndarray[Any, np.dtype[np.bool_]]) -> RegionGraph:
    bits = np.zeros((len(edges), -(-len(edges) // 64) * 64), dtype=np.bool_)
    bits[:, : len(edges)] = edges
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    return RegionGraph(words=words, out_degrees=degrees_of(words))


def _ngrams(edges: np.ndarray[Any, np.dtype[np.bool_]], length: int) -> list[tuple[int, ...]]:
    return [
        ngram
        for ngram in product(range(len(edges)), repeat=length)
        if all(edges[a, b] for a, b in pairwise(ngram))
    ]


@pytest.mark.parametrize("bits", [61, 9, 7])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_proposals_are_uniform_also_where_counts_are_rounded(
    monkeypatch: pytest.MonkeyPatch, bits: int, length: int
) -> None:
    monkeypatch.setattr(ngram_proposal, "_WEIGHT_BITS", bits)
    generator = np.random.default_rng(3)
    edges = generator.random((7, 7)) < np.linspace(0.1, 0.9, 7)[:, None]
    proposals = build_proposals(_graph(edges), length)
    assert bits == 61 or length < 3 or proposals.scales.max() > 1
    tape = new_tape(SeededRandomness(4).words(SAMPLES * 60))
    ngrams = _proposed(tape, proposals, length, SAMPLES)
    assert not ran_out(tape)
    everything = _ngrams(edges, length)
    counts = Counter(map(tuple, ngrams.tolist()))
    assert p_value(counts, dict.fromkeys(everything, 1 / len(everything))) > 1e-4
    if length > 1:
        skewed = {ngram: 1.0 + 0.3 * (ngram[0] % 2) for ngram in everything}
        total = sum(skewed.values())
        assert p_value(counts, {ngram: weight / total for ngram, weight in skewed.items()}) < 1e-6


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> World:
    rows = [
        place("a", 50, 10, "cafe", hours="08:00-10:00"),
        place("b", 50.02, 10.01, "boots", hours="09:00-11:00"),
        place("c", 50.05, 10.03, "wine-bar", hours="10:00-12:00"),
    ]
    return build(tmp_path_factory.mktemp("small"), rows, {"kappa": 1, "timestep_minutes": 60})


def _scores(world: World, true_ngram: Indices, ngrams: list[tuple[int, ...]]) -> list[int]:
    delta = len(true_ngram) * world.max_distance
    return [score(world.distances, true_ngram, np.array(ngram, dtype=np.int32), delta) for ngram in ngrams]


def _tables(world: World, draws: tuple[Draw, ...], n: int) -> NgramTables:
    return NgramTables(
        draws=draws,
        windows=window_tables(draws, world.max_distance),
        proposals=build_proposals(world.graph, n),
        distances=world.distances,
    )


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("constant_work", [False, True])
def test_draws_follow_the_exponential_mechanism(small: World, length: int, constant_work: bool) -> None:
    """Pr(z = w) ∝ exp(−ε' d_w / 2Δ) over 𝒲ⁿ (eq:ngram-perturbation)."""
    samples = SAMPLES if not constant_work else 20_000
    edges = np.array(
        [[small.graph.has_edge(a, b) for b in range(len(small.regions))] for a in range(len(small.regions))]
    )
    ngrams = _ngrams(edges, length)
    true_ngram = np.array(ngrams[0], dtype=np.int32)
    epsilon = Fraction(4)
    draws = (Draw(start=0, length=length, epsilon=epsilon),)
    found, _ = perturb_regions(
        np.tile(true_ngram, (samples, 1)),
        _tables(small, draws, length),
        SeededRandomness(5),
        constant_work=constant_work,
    )
    counts = Counter(map(tuple, found.tolist()))
    scores = _scores(small, true_ngram, ngrams)
    base = [1 / len(ngrams)] * len(ngrams)
    right = exact_draw(scores, base, epsilon, coin_of(epsilon).trials)
    wrong = exact_draw(scores, base, epsilon * Fraction(13, 10), coin_of(epsilon).trials)
    assert p_value(counts, dict(zip(ngrams, right, strict=True))) > 1e-4
    assert p_value(counts, dict(zip(ngrams, wrong, strict=True))) < 1e-4


def _plain_draw(
    twin: PlainTape, world: World, true_ngram: Indices, epsilon: Fraction, edges: Any, *, is_constant: bool
) -> list[int]:
    """One draw of a bigram again: Python integers, lists, and the formulas as they stand."""
    degrees = edges.sum(axis=1).tolist()
    coin = coin_of(epsilon)

    def propose_bigram() -> list[int]:
        target = twin.below(sum(degrees))
        a = 0
        while target >= degrees[a]:
            target -= degrees[a]
            a += 1
        return [a, int(np.flatnonzero(edges[a])[twin.below(degrees[a])])]

    accepted = None
    for _ in range(coin.trials):
        candidate = propose_bigram()
        distance = sum(
            float(world.distances.combined(x, y)) for x, y in zip(true_ngram, candidate, strict=True)
        )
        far = min(SCORE_STEPS, math.ceil(distance / (2 * world.max_distance) * SCORE_STEPS))
        if twin.accepts_exp(epsilon * far / (2 * SCORE_STEPS), coin.denominator):
            accepted = accepted or candidate
            if not is_constant:
                return accepted
    last = propose_bigram()
    return accepted or last


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("true_ngram", [[0, 1], [3, 2]])
def test_the_compiled_draw_and_its_twin_agree_word_for_word(
    small: World, true_ngram: list[int], is_constant: bool
) -> None:
    """T6 too: with constant work the twin makes all N trials, whatever is true, and uses the same words."""
    edges = np.array(
        [[small.graph.has_edge(a, b) for b in range(len(small.regions))] for a in range(len(small.regions))]
    )
    proposals = build_proposals(small.graph, 2)
    epsilon = Fraction(5, 3)
    coin = coin_of(epsilon)
    truth = np.array(true_ngram, dtype=np.int32)
    for seed in range(60 if is_constant else 300):
        words = SeededRandomness(seed).words(6000)
        tape, twin = new_tape(words), PlainTape(words)
        candidate, drawn = np.empty(2, dtype=np.int32), np.empty(2, dtype=np.int32)
        tables = (proposals, small.distances, 2 * small.max_distance)
        draw_ngram(tape, coin, tables, truth, is_constant, candidate, drawn)
        assert drawn.tolist() == _plain_draw(twin, small, truth, epsilon, edges, is_constant=is_constant)
        assert tape.cursor[0] == twin.used


def test_a_tape_that_runs_out_changes_nothing(small: World) -> None:
    """Short tapes, made longer again and again, give what one long tape gives."""
    tables = _tables(small, even_draws(Fraction(3), 3, 2), 2)
    true_regions = np.tile(np.array([0, 1, 2], dtype=np.int32), (50, 1))

    class Pieces(SeededRandomness):
        """The same words, handed out a few at a time."""

        def words(self, _count: int) -> Any:
            return super().words(7)

    whole, _ = perturb_regions(true_regions, tables, SeededRandomness(6), constant_work=False)
    pieces, _ = perturb_regions(true_regions, tables, Pieces(6), constant_work=False)
    np.testing.assert_array_equal(whole, pieces)


@given(world_inputs(most=5), st.data())
@examples(max_examples=60)
def test_scores_stay_within_bounds_whatever_the_numbers(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    """T5: NaN, ±inf, 1e308, denormals in distances: a score is still in [0, 2²⁰] (R2)."""
    world = build(tmp_path, *inputs)
    count = len(world.regions)
    hostile = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -1.0, 0.0])
    vectors = world.distances.vectors.copy()
    hours = world.distances.mid_hours.copy()
    table = world.distances.category_table.copy()
    vectors[data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, 2))] = data.draw(hostile)
    hours[data.draw(st.integers(0, count - 1))] = data.draw(hostile)
    table[data.draw(st.integers(0, len(table) - 1)), :] = data.draw(hostile)
    distances = world.distances._replace(vectors=vectors, mid_hours=hours, category_table=table)
    for delta in (world.max_distance, math.nan, math.inf, 0.0, -1.0, 5e-324):
        for a, b in product(range(min(count, 4)), repeat=2):
            value = score(
                distances, np.array([a], dtype=np.int32), np.array([b], dtype=np.int32), float(delta)
            )
            assert 0 <= value <= SCORE_STEPS


def test_too_large_an_epsilon_for_one_draw_is_refused() -> None:
    with pytest.raises(InputError, match="takes too long"):
        coin_of(Fraction(17))


def test_system_randomness_differs_every_time() -> None:
    first, second = SystemRandomness().words(64), SystemRandomness().words(64)
    assert (first != second).any()
    assert SystemRandomness().label != SeededRandomness(1).label


def test_seeded_streams_never_coincide() -> None:
    streams = [SeededRandomness(5), SeededRandomness(5).stream(0), SeededRandomness(5).stream(0).stream(0)]
    streams += [SeededRandomness(2**32).stream(1), SeededRandomness(0).stream(1).stream(1)]
    first = [tuple(stream.words(4).tolist()) for stream in streams]
    assert len(set(first)) == len(first)
