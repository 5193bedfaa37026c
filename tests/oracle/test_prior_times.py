"""Times of a prior's days against all days written out, and against the hours that they are to follow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from elsewhere.days.popular import popularity_by_timestep
from elsewhere.days.prior import world_prior
from elsewhere.days.prior_days import _draw_times, prior_days
from elsewhere.days.prior_times import _after, _times, _visits, fitted_times
from elsewhere.knowledge.places import Place
from elsewhere.world.world import World
from examples import examples
from worlds import build, place

STEPS = 7
WEIGHTS = st.lists(st.sampled_from([0.0, 0.3, 1.0, 4.0]), min_size=STEPS, max_size=STEPS).map(np.array)
GAPS = st.lists(st.sampled_from([0.1, 1.0, 3.0]), min_size=STEPS - 1, max_size=STEPS - 1).map(np.array)
LENGTHS = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=4).filter(any).map(np.array)


def _all_days(
    pull: np.ndarray, starts: np.ndarray, lengths: np.ndarray, gaps: np.ndarray
) -> dict[tuple[int, ...], float]:
    """Every day with its chance, each number of visits by itself."""
    chances: dict[tuple[int, ...], float] = {}
    for visits, share in enumerate((lengths / lengths.sum()).tolist(), start=1):
        weights = {
            day: starts[day[0]]
            * np.prod(pull[list(day)])
            * np.prod([gaps[b - a - 1] for a, b in pairwise(day)])
            for day in combinations(range(len(pull)), visits)
        }
        total = sum(weights.values())
        chances |= {day: share * weight / total for day, weight in weights.items() if total > 0}
    return chances


@examples(max_examples=60)
@given(pull=WEIGHTS, starts=WEIGHTS, lengths=LENGTHS, gaps=GAPS)
def test_visits_by_timestep_are_those_of_all_days_written_out(
    pull: np.ndarray, starts: np.ndarray, lengths: np.ndarray, gaps: np.ndarray
) -> None:
    expected = np.zeros(STEPS)
    for day, chance in _all_days(pull, starts, lengths, gaps).items():
        expected[list(day)] += chance
    found = _visits(pull, starts, lengths / lengths.sum(), _after(gaps, STEPS))
    np.testing.assert_allclose(found, expected / max(expected.sum(), 1e-300), atol=1e-12)


def test_times_are_drawn_as_often_as_they_should() -> None:
    """χ² of 60,000 days against all of them; other gaps are rejected."""
    pull, starts = np.array([1, 2, 0, 1, 1, 3, 1.0]), np.array([2, 1, 1, 1, 0, 0, 1.0])
    lengths, gaps = np.array([1, 0, 2, 1.0]), np.array([1, 3, 2, 1, 1, 0.5])
    tables = _times(pull, starts, lengths / lengths.sum(), _after(gaps, STEPS), gaps)
    state, found = np.array([11], dtype=np.uint64), Counter[tuple[int, ...]]()
    for _ in range(60_000):
        times = np.full(4, -1, dtype=np.int32)
        _draw_times(tables, 3, state, times)
        found[tuple(times[:3].tolist())] += 1
    exact = _all_days(pull, starts, np.array([0, 0, 1.0]), gaps)
    wrong = _all_days(pull, starts, np.array([0, 0, 1.0]), gaps[::-1].copy())
    assert set(found) <= {day for day, chance in exact.items() if chance > 0}
    days = [day for day in exact if 60_000 * exact[day] > 5 and 60_000 * wrong[day] > 5]
    counts = np.array([found[day] for day in days])

    def chance(of: dict[tuple[int, ...], float]) -> float:
        expected = np.array([of[day] for day in days])
        return float(chisquare(counts, expected / expected.sum() * counts.sum()).pvalue)

    assert chance(exact) > 1e-4
    assert chance(wrong) < 1e-12


@examples(max_examples=40)
@given(target=WEIGHTS.filter(lambda row: (row > 0).sum() >= 5 and row.max() <= 0.3 * row.sum()), gaps=GAPS)
def test_visits_follow_the_target_where_starts_and_gaps_allow(target: np.ndarray, gaps: np.ndarray) -> None:
    starts = (target > 0).astype(float)
    lengths = np.array([3.0, 2.0, 1.0])
    tables = fitted_times(target, starts, lengths, gaps)
    pull = tables.worth[0]
    found = _visits(pull, starts, lengths / lengths.sum(), _after(gaps / gaps.sum(), STEPS))
    assert not found[target == 0].any()
    np.testing.assert_allclose(found, target / target.sum(), atol=0.02)


def test_a_day_that_cannot_be_has_no_weight() -> None:
    tables = fitted_times(np.array([1.0, 0, 0]), np.ones(3), np.array([0.0, 1.0]), np.ones(2))
    assert tables.lengths[-1] == 0


def _rows(popularity: tuple[float, ...], hours: str) -> list[Place]:
    return [
        replace(
            place(f"p{number}", 40.7 + 0.002 * number, -74.0, hours=hours or "24/7"), popularity=popularity
        )
        for number in range(12)
    ]


def _by_hour(world: World, steps: np.ndarray) -> np.ndarray:
    counts = np.bincount(steps * world.clock.timestep_minutes // 60, minlength=24)
    return np.asarray(counts / counts.sum())


EVENING = tuple([0.2] * 7 + [1.0] * 10 + [6.0, 8.0, 5.0, 2.0, 1.0, 0.5, 0.2])


@pytest.mark.parametrize("hours", ["", "08:00-23:00"])
def test_visits_of_prior_days_follow_popularity_and_opening_hours(tmp_path: Path, hours: str) -> None:
    """No peak at 23:00 that is not there, none missing at 18:00."""
    world = build(tmp_path, _rows(EVENING, hours), {"speed_kmh": 20})
    days = prior_days(world, "hours", 20_000)
    wanted = popularity_by_timestep(world).sum(axis=0).reshape(24, -1).sum(axis=1)
    found = _by_hour(world, days.times[days.times >= 0])
    np.testing.assert_allclose(found, wanted / wanted.sum(), atol=0.006)


def test_where_popularity_has_no_hours_a_usual_day_has(tmp_path: Path) -> None:
    world = build(tmp_path, _rows((1.0,), ""), {"speed_kmh": 20})
    usual = np.array(world.settings.prior.activity_by_hour)
    days = prior_days(world, "hours", 20_000)
    np.testing.assert_allclose(_by_hour(world, days.times[days.times >= 0]), usual / usual.sum(), atol=0.006)


def test_every_number_of_visits_is_as_common_as_asked(tmp_path: Path) -> None:
    world = build(tmp_path, _rows(EVENING, ""), {"speed_kmh": 20})
    lengths = prior_days(world, "lengths", 20_000).lengths
    wanted = np.array(world.settings.prior.lengths)
    np.testing.assert_allclose(np.bincount(lengths)[1:] / 20_000, wanted / wanted.sum(), atol=0.015)
    assert len(world_prior(world).times.lengths) == len(wanted)


def test_hours_that_nearly_nobody_can_keep_do_not_overflow(tmp_path: Path) -> None:
    """Found by hypothesis: a pull that falls from round to round to the smallest number there is."""
    hours = ["24/7", "", ""]
    rows = [
        replace(place(f"p{i}", 50, 10, "bar", hours=h), popularity=(float(i == 2),), is_anywhere=True)
        for i, h in enumerate(hours)
    ]
    keys = {"speed_kmh": 0.5, "kappa": 1, "grid": 1, "merge_order": [], "category_levels": 1}
    keys |= {"circular_time": False, "timestep_minutes": 240, "interval_minutes": 240}
    world = build(tmp_path, rows, keys)
    days = prior_days(world, "small weights", 100)
    assert (days.lengths > 0).all()
