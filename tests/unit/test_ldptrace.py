"""The baseline like LDPTrace: counts against bits told one by one, walks against the chain they come from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from elsewhere.arrays import Counts, Floats
from elsewhere.estimates.tables import EstimateTable
from elsewhere.evaluate.density import jensen_shannon
from elsewhere.experiments.closeness import closeness, cover
from elsewhere.experiments.ldptrace import WalkModel, next_to, told_counts, told_model, walks_of
from elsewhere.randomness import Generator, seeded_generator


def _told_bit_by_bit(true: Counts, tellings: int, epsilon: float, generator: Generator) -> Floats:
    """The slow, obvious way: a vector for each telling, each bit by itself, then each bit counted."""
    other = 1 / (math.exp(epsilon) + 1)
    found = np.zeros(len(true))
    holders = [bit for bit, count in enumerate(true.tolist()) for _ in range(count)]
    for telling in range(tellings):
        mine = holders[telling] if telling < len(holders) else None
        for bit in range(len(true)):
            chance = 0.5 if bit == mine else other
            found[bit] += generator.random() < chance
    return np.asarray((found - tellings * other) / (0.5 - other))


def test_counts_are_unbiased_and_vary_as_bits_told_one_by_one() -> None:
    true, tellings, epsilon, rounds = np.array([30, 8, 0]), 45, 1.0, 400
    slow, fast = (
        np.stack([told(true, tellings, epsilon, seeded_generator(seed)) for seed in range(rounds)])
        for told in (_told_bit_by_bit, told_counts)
    )
    sure = 4 * slow.std(axis=0) / math.sqrt(rounds)
    assert (np.abs(fast.mean(axis=0) - true) < sure).all()
    assert (np.abs(slow.mean(axis=0) - true) < sure).all()
    assert fast.std(axis=0) == pytest.approx(slow.std(axis=0), rel=0.2)
    wrong = np.stack(
        [told_counts(true + 6, tellings + 18, epsilon, seeded_generator(seed)) for seed in range(rounds)]
    )
    assert (np.abs(wrong.mean(axis=0) - true) > sure).all()


def _chain() -> WalkModel:
    moves = np.array([[0.2, 0.8, 0.0, 0.0], [0.0, 0.1, 0.9, 0.0], [0.5, 0.0, 0.5, 0.0]])
    return WalkModel(lengths=np.array([0.25, 0.0, 0.75]), starts=np.array([0.6, 0.4, 0.0]), moves=moves)


def test_walks_follow_their_chain() -> None:
    model, count = _chain(), 20_000
    walks = walks_of(model, count, seeded_generator(1))
    lengths = (walks >= 0).sum(axis=1)
    assert np.bincount(lengths, minlength=4)[1:] / count == pytest.approx(model.lengths, abs=0.02)
    assert np.bincount(walks[:, 0], minlength=3) / count == pytest.approx(model.starts, abs=0.02)
    for cell in range(3):
        after = walks[:, 1][(walks[:, 0] == cell) & (lengths == 3)]
        if len(after):
            found = np.bincount(after, minlength=3) / len(after)
            assert found == pytest.approx(model.moves[cell, :3], abs=0.03)
            assert found != pytest.approx(model.moves[(cell + 1) % 3, :3], abs=0.03)


def test_a_walk_may_end_before_its_length() -> None:
    moves = np.array([[0.5, 0.5]])
    model = WalkModel(lengths=np.array([0.0, 1.0]), starts=np.array([1.0]), moves=moves)
    walks = walks_of(model, 20_000, seeded_generator(2))
    # The first step counts 0.3 of the chance to end.
    assert (walks[:, 1] < 0).mean() == pytest.approx(0.3 / 1.3, abs=0.02)


def test_with_a_large_epsilon_the_model_is_what_people_do() -> None:
    walks = walks_of(_chain(), 20_000, seeded_generator(3))
    reachable = np.ones((3, 3), dtype=np.bool_)
    model = told_model(walks, reachable, 3, 200.0, seeded_generator(4))
    assert model.lengths == pytest.approx(_chain().lengths, abs=0.03)
    assert model.starts == pytest.approx(_chain().starts, abs=0.03)
    going = model.moves[:, :3] / model.moves[:, :3].sum(axis=1, keepdims=True)
    assert going == pytest.approx(_chain().moves[:, :3], abs=0.05)
    reachable[0, 1] = False
    assert told_model(walks, reachable, 3, 200.0, seeded_generator(4)).moves[0, 1] == 0


def test_cells_that_touch() -> None:
    boxes = {"south": [0, 0, 1, 2], "north": [1, 1, 2, 3], "west": [0, 1, 0, 0], "east": [1, 2, 1, 1]}
    touching = next_to({name: [float(value) for value in values] for name, values in boxes.items()})
    assert touching.tolist() == [
        [True, True, True, False],
        [True, True, True, False],
        [True, True, True, True],
        [False, False, True, True],
    ]


def test_closeness_of_what_is_known() -> None:
    truth = np.linspace(0.001, 0.2, 50)
    same = closeness(truth, truth)
    assert same == {"js": 0.0, "l1": 0.0, "top20": 0.0, "f1": 1.0, "f1_many": 1.0}
    double = closeness(2 * truth, truth)
    assert (double["js"], double["top20"], double["f1"]) == pytest.approx((0.0, 1.0, 1.0))
    assert double["f1_many"] < 1
    turned = closeness(truth[::-1], truth)
    assert (turned["f1"], turned["js"] > 0.1, turned["l1"] > 0.5) == (0.0, True, True)
    nobody = np.append(np.zeros(45), truth[-5:])
    assert closeness(nobody + 0.1 * truth[-1], nobody)["top20"] == pytest.approx((0.02 / truth[-5:]).mean())
    assert jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == pytest.approx(1.0)


def test_cover_counts_what_holds_the_truth() -> None:
    truth = np.linspace(0.0, 0.5, 50)
    low = np.where(np.arange(50) < 10, 0.9, 0.0)
    table = EstimateTable(count=truth, estimate=truth, low=low, high=np.ones(50), reports=1)
    found = cover(table, truth)
    assert (found["cover"], found["cover_busy"]) == (0.8, 1.0)
