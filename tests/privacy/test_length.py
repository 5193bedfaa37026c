"""R7: the hidden length. Its draw is exact, its share of ε is counted, and any day fits any length."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from detectors import exact_loss
from elsewhere.audit.channel import chances
from elsewhere.mechanism.length import HiddenLength, split_off_length, stretched
from elsewhere.mechanism.rejection import Coin
from elsewhere.randomness import SeededRandomness
from privacy_tools import p_value
from tiny_worlds import tiny_world


@pytest.mark.parametrize("constant_work", [False, True])
@pytest.mark.parametrize("true_length", [1, 4, 9])
def test_lengths_are_drawn_by_randomised_response(true_length: int, constant_work: bool) -> None:
    """The true one (the cap, if it is longer) is e^ε times as likely as each other; a wrong ε is rejected."""
    hidden = HiddenLength(cap=5, epsilon=Fraction(3, 2))
    samples = 60_000 if not constant_work else 10_000
    drawn, trials = hidden.draws(
        np.full(samples, true_length), SeededRandomness(true_length), constant_work=constant_work
    )
    counts = Counter(drawn.tolist())
    assert trials.min() >= 1

    def expected(epsilon: float) -> dict[int, float]:
        weights = {n: math.exp(epsilon) if n == min(true_length, 5) else 1.0 for n in range(1, 6)}
        return {n: weight / sum(weights.values()) for n, weight in weights.items()}

    assert p_value(counts, expected(1.5)) > 1e-4
    assert p_value(counts, expected(1.5 * 1.3)) < 1e-6


class _OneTrial(HiddenLength):
    """The real draw with so few trials that the fallback shows."""

    @property
    def coin(self) -> Coin:
        return super().coin._replace(trials=1)


def test_the_fallback_is_one_more_proposal() -> None:
    hidden = _OneTrial(cap=5, epsilon=Fraction(4))
    drawn, trials = hidden.draws(np.full(40_000, 2), SeededRandomness(1), constant_work=False)
    assert (trials == 0).mean() > 0.5
    expected = dict(zip(range(1, 6), map(float, chances(hidden.step(2))), strict=True))
    assert p_value(Counter(drawn.tolist()), expected) > 1e-4
    many = dict(
        zip(range(1, 6), map(float, chances(HiddenLength(cap=5, epsilon=Fraction(4)).step(2))), strict=True)
    )
    assert p_value(Counter(drawn.tolist()), many) < 1e-6


def test_the_draw_of_the_length_spends_all_of_its_share(tmp_path: Path) -> None:
    """Unlike the exponential mechanism, which spends about half: the audit's max is at least the share."""
    method = ew.method("ngram", tiny_world(tmp_path, 3), epsilon=2, hide_length=3, length_share="9/10")
    assert 1.8 <= float(exact_loss(method).epsilon) <= 2


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 12))
def test_a_day_is_stretched_or_merged_in_order(visits: list[int], length: int) -> None:
    row = np.array(visits, dtype=np.int32)
    made = stretched(row, length).tolist()
    assert len(made) == length
    positions = stretched(np.arange(len(visits), dtype=np.int32), length).tolist()
    assert positions == sorted(positions)
    counts = Counter(positions)
    if length >= len(visits):
        assert len(counts) == len(visits)
        assert max(counts.values()) - min(counts.values()) <= 1
    else:
        assert max(counts.values()) == 1
    assert made == [visits[p] for p in positions]


@pytest.mark.parametrize("epsilon", [Fraction(5), Fraction(1, 3), Fraction(7, 999_983)])
def test_shares_never_add_up_to_more_than_epsilon(epsilon: Fraction) -> None:
    hidden, left = split_off_length(epsilon, 8, Fraction(1, 7))
    assert epsilon - Fraction(2, 1_000_000) <= hidden.epsilon + left <= epsilon


def test_shared_days_have_any_length_up_to_the_cap(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4)
    method = ew.method("ngram", world, epsilon=5, hide_length=4)
    day = ew.Trajectory([("p0", 0), ("p1", 2)])
    shared = method.share_many([day] * 600, workers=2, randomness=SeededRandomness(1))
    lengths = Counter(map(len, shared))
    assert set(lengths) == {1, 2, 3, 4}
    assert lengths[2] == max(lengths.values())
    one, info = method.share(day)
    windows = len(one) + min(2, len(one)) - 1
    assert len(info.draws) == len(info.trials) == 1 + windows
    assert info.epsilon == method.spent_on(1) == method.spent_on(4) == 5
    assert sum((draw.epsilon for draw in info.draws), start=Fraction(0)) == 5
    facts = method.facts().as_json()
    assert (facts["epsilon"], facts["length_epsilon"], facts["hide_length"]) == ("5", "1", 4)
    assert facts["length_is_public"] is False
    again = method.share_many([day] * 600, workers=1, randomness=SeededRandomness(1))
    assert again == shared


def test_a_day_longer_than_the_cap_or_the_clock_is_no_error(tmp_path: Path) -> None:
    """No error may depend on what is private, and here the length is."""
    world = tiny_world(tmp_path, 4)
    method = ew.method("ngram", world, epsilon=5, hide_length=2)
    day = ew.Trajectory([("p0", step) for step in range(world.clock.timesteps + 3)])
    assert len(method.share(day)[0]) <= 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 5, "hide_length": 1}, "at least 2"),
        ({"epsilon": 5, "hide_length": 3, "length_share": 1}, "below 1"),
        ({"epsilon": 5, "hide_length": 3, "length_share": "some"}, "length_share"),
        ({"epsilon_per_draw": 1, "hide_length": 3}, "needs epsilon"),
        ({"epsilon": 5, "hide_length": 99}, "timesteps"),
    ],
)
def test_bad_options_are_refused(tmp_path: Path, options: dict[str, object], said: str) -> None:
    with pytest.raises(ew.InputError, match=said):
        ew.method("ngram", tiny_world(tmp_path, 4), **options).prepare(1)  # type: ignore[arg-type]
