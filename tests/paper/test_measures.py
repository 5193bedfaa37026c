"""The paper's measures (section 6.3), each against numbers worked out by hand and a slow plain version."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

import elsewhere as ew
from elsewhere.days.alignment import align
from elsewhere.days.hotspots import THRESHOLDS, find_hotspots
from elsewhere.days.visits import visit_distance, visit_distances
from elsewhere.evaluate import intervals
from elsewhere.evaluate.density import density_estimates, jensen_shannon
from elsewhere.evaluate.error import day_errors, mean_errors
from elsewhere.evaluate.hotspots import (
    MEASURES,
    compare_hotspots,
    groupings,
    hotspot_estimates,
    unique_visitors,
    visitor_counts,
)
from elsewhere.evaluate.intervals import RESAMPLES, Estimate, estimates, mean_estimate
from elsewhere.evaluate.pairs import columns_of, paired
from elsewhere.evaluate.ranges import day_preservation, deltas_of
from elsewhere.evaluate.summary import null_summaries, summarise
from elsewhere.knowledge.travel import is_reachable
from elsewhere.randomness import seeded_generator
from elsewhere.world.world import World
from examples import examples
from worlds import build, place

# One degree of latitude in km.
DEGREE = 6371.0088 * math.pi / 180


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    rows = [
        place("a", 50.00, 10.0, "cafe", hours="24/7"),
        place("b", 50.01, 10.0, "bar", hours="24/7"),
        place("c", 50.02, 10.0, "shoes", hours="24/7"),
        place("d", 50.03, 10.03, "wine-bar", hours="24/7"),
    ]
    return build(tmp_path_factory.mktemp("town"), rows, {"kappa": 1, "speed_kmh": 8})


def day(*visits: tuple[str, int]) -> ew.Trajectory:
    return ew.Trajectory(visits)


def test_normalised_error_by_hand(town: World) -> None:
    """Mean over visits, then over trajectories: 'We normalize the distance values by |τ|'."""
    real = [day(("a", 60), ("b", 66)), day(("a", 0))]
    shared = [day(("b", 66), ("b", 66 + 12)), day(("a", 143))]
    errors = day_errors(paired(town, real, shared))
    assert errors["space_km"].tolist() == pytest.approx([0.01 * DEGREE / 2, 0])
    assert errors["time_hours"].tolist() == pytest.approx([1.5, 12])  # 1 h and 2 h; capped at 12 h
    assert errors["category"].tolist() == [3.5 / 2, 0]  # café and bar are both children of food
    combined = mean_errors(town, real, shared)["combined"]
    first = (math.hypot(0.01 * DEGREE, 1, 2 * errors["category"][0]) + 2) / 2
    assert combined == pytest.approx((first + 12) / 2)


def test_range_queries_by_hand(town: World) -> None:
    """PR_χ = mean over τ of the share of visits within δ, in per cent; ≤ δ counts."""
    real = [day(("a", 60), ("b", 66)), day(("a", 0))]
    shared = [day(("a", 60), ("c", 72)), day(("a", 12))]
    deltas = {"space_km": [0.0, 0.01 * DEGREE, 2.0], "time_hours": [0.0, 1.0, 1.9, 2.0]}
    found = day_preservation(paired(town, real, shared), deltas)
    assert found["space_km"].mean(axis=0).tolist() == pytest.approx([75, 100, 100])
    assert found["time_hours"].mean(axis=0).tolist() == pytest.approx([25, 50, 50, 100])


def test_deltas_of_categories_are_where_the_world_steps(town: World, tmp_path: Path) -> None:
    """There is an evident step at δ_c = 3.5: the grid has every value that d_c takes in a world."""
    assert {0, 3.5, 5.25, 10} < set(deltas_of(town)["category"])
    rows = [place("a", 50, 10, "wine-bar"), place("b", 50, 10, "beer-bar")]
    other = build(tmp_path, rows, {"kappa": 1, "category_weights": [2.0, 0.6]})
    assert 1.2 in deltas_of(other)["category"]
    found = day_preservation(paired(other, [day(("a", 60))], [day(("b", 60))]))["category"][0]
    steps = deltas_of(other)["category"]
    assert found.tolist() == [100 * (delta >= 1.2) for delta in steps]


def test_hotspots_by_hand() -> None:
    """H = {t_s, t_e, p, c}: maximal intervals with more than η visitors, c the most of them."""
    counts = np.zeros((2, 24), dtype=np.int64)
    counts[0, 8:11] = [21, 30, 21]
    counts[0, 17:19] = [25, 20]
    counts[1, 23] = 99
    assert find_hotspots(counts, 20).tolist() == [[0, 8, 11, 30], [0, 17, 18, 25], [1, 23, 24, 99]]


def test_hotspot_distances_by_hand() -> None:
    """AHD = mean over ĥ of min over h of |t_s − t̂_s| + |t_e − t̂_e|; those without a real one are excluded."""
    score = scored(
        [[0, 8, 11, 30], [0, 17, 18, 25], [1, 3, 4, 40]], [[0, 9, 11, 20], [0, 18, 20, 50], [2, 0, 5, 100]]
    )
    assert score["ahd_hours"] == pytest.approx((1 + 3) / 2)
    assert score["acd"] == pytest.approx((10 + 25) / 2)
    assert (score["real"], score["shared"], score["excluded"]) == (3, 3, 1)
    assert score["precision"] == pytest.approx(1 / 3)  # 18–20 does not overlap 17–18
    assert score["recall"] == pytest.approx(1 / 3)
    assert score["f1"] == pytest.approx(1 / 3)


def scored(real: list[list[int]], shared: list[list[int]]) -> dict[str, float | None]:
    rows = [np.array(spots, dtype=np.int64).reshape(-1, 4) for spots in (real, shared)]
    found = compare_hotspots(*rows).tolist()
    return {name: None if math.isnan(value) else value for name, value in zip(MEASURES, found, strict=True)}


def test_without_hotspots_nothing_is_made_up() -> None:
    nothing = scored([], [])
    assert [nothing[name] for name in ("ahd_hours", "acd", "precision", "recall", "f1")] == [None] * 5
    lost = scored([[0, 1, 2, 30]], [])
    assert (lost["ahd_hours"], lost["recall"], lost["f1"]) == (None, 0.0, 0.0)
    invented = scored([], [[0, 1, 2, 30]])
    assert (invented["ahd_hours"], invented["excluded"], invented["precision"]) == (None, 1, 0.0)


_SPOTS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 4), st.integers(1, 99)), max_size=6
).map(lambda spots: [[where, start, start + hours, peak] for where, start, hours, peak in sorted(spots)])


@given(real=_SPOTS, shared=_SPOTS)
def test_hotspots_against_plain_loops(real: list[list[int]], shared: list[list[int]]) -> None:
    """eq:hotspots as it stands: for each ĥ the h at the same place with the least distance."""
    distances, differences, hits = [], [], 0
    for where, start, end, peak in shared:
        options = [spot for spot in real if spot[0] == where]
        if options:
            near = min(options, key=lambda spot: abs(spot[1] - start) + abs(spot[2] - end))
            distances.append(abs(near[1] - start) + abs(near[2] - end))
            differences.append(abs(near[3] - peak))
            hits += any(spot[1] < end and start < spot[2] for spot in options)
    score = scored(real, shared)
    assert score["excluded"] == len(shared) - len(distances)
    assert score["ahd_hours"] == (pytest.approx(np.mean(distances)) if distances else None)
    assert score["acd"] == (pytest.approx(np.mean(differences)) if distances else None)
    assert score["precision"] == (pytest.approx(hits / len(shared)) if shared else None)


def test_people_are_counted_once_an_hour(town: World) -> None:
    days = [day(("a", 60), ("b", 61), ("a", 62)), day(("a", 60), ("a", 67))]
    visitors = unique_visitors(town, columns_of(town, days, "days"), groupings(town)["place"])
    counts = visitor_counts(visitors, np.ones(2))
    assert visitor_counts(visitors, np.array([0.0, 3]))[0, 10] == 3
    assert counts[0, 10] == 2
    assert counts[0, 11] == 1
    assert counts[1, 10] == 1
    assert counts.sum() == 4


def test_the_papers_thresholds() -> None:
    """η = {20, 20, 50} for places and grids, {50, 30, 20} for levels 1, 2, 3."""
    assert list(THRESHOLDS.values()) == [20, 20, 50, 50, 30, 20]


@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4), st.lists(st.integers(0, 9), min_size=4, max_size=4)
)
def test_jensen_shannon_is_scipys(first: list[int], second: list[int]) -> None:
    p, q = np.array(first, dtype=float), np.array(second, dtype=float)
    if p.any() and q.any():
        assert jensen_shannon(p, q) == pytest.approx(float(jensenshannon(p, q, base=2)) ** 2, abs=1e-9)


def test_jensen_shannon_of_nothing_in_common() -> None:
    assert jensen_shannon(np.array([1.0, 0]), np.array([0, 5.0])) == pytest.approx(1)
    assert jensen_shannon(np.array([1.0, 2]), np.array([2.0, 4])) == 0


_STEPS = st.lists(st.integers(0, 143), min_size=1, max_size=4, unique=True).map(sorted)


@st.composite
def _both(draw: st.DrawFn) -> tuple[list[ew.Trajectory], list[ew.Trajectory]]:
    real: list[ew.Trajectory] = []
    shared: list[ew.Trajectory] = []
    for _ in range(draw(st.integers(1, 5))):
        steps = draw(_STEPS)
        others = sorted(draw(st.permutations(range(144)))[: len(steps)])
        for side, times in ((real, steps), (shared, others)):
            side.append(ew.Trajectory((draw(st.sampled_from("abcd")), t) for t in times))
    return real, shared


@given(both=_both())
@examples(max_examples=60)
def test_everything_against_plain_loops(
    town: World, both: tuple[list[ew.Trajectory], list[ew.Trajectory]]
) -> None:
    real, shared = both
    pairs = paired(town, real, shared)
    index = town.place_index
    km = [
        np.mean([
            math.dist((0,), (DEGREE * _central_angle(town, index[a.place_id], index[b.place_id]),))
            for a, b in zip(mine, theirs, strict=True)
        ])
        for mine, theirs in zip(real, shared, strict=True)
    ]  # fmt: skip
    assert day_errors(pairs)["space_km"] == pytest.approx(km, abs=1e-6)
    within = np.mean([
        np.mean([abs(a.timestep - b.timestep) <= 12 for a, b in zip(mine, theirs, strict=True)])
        for mine, theirs in zip(real, shared, strict=True)
    ])  # fmt: skip
    found = day_preservation(pairs, {"time_hours": [2.0]})["time_hours"]
    assert found.mean() == pytest.approx(100 * within)
    summary = summarise(town, real, shared)
    feasible = [_plain_feasible(town, one) for one in shared]
    assert summary.feasible_percent.value == pytest.approx(100 * np.mean(feasible))
    assert summary.open_percent.value == pytest.approx(100)
    _check_counts(town, real)


def _central_angle(town: World, p: int, q: int) -> float:
    """In degrees, by the plain formula."""
    lat = np.radians(town.places.latitudes[[p, q]])
    lng = np.radians(town.places.longitudes[[p, q]])
    chord = math.sin((lat[1] - lat[0]) / 2) ** 2
    chord += math.cos(lat[0]) * math.cos(lat[1]) * math.sin((lng[1] - lng[0]) / 2) ** 2
    return math.degrees(2 * math.asin(math.sqrt(chord)))


def _plain_feasible(town: World, one: ew.Trajectory) -> bool:
    index = town.place_index
    return all(
        is_reachable(
            town.travel, town.clock, origin=index[a.place_id], departure=a.timestep,
            destination=index[b.place_id], arrival=b.timestep,
        )
        for a, b in pairwise(one)
    )  # fmt: skip


def _check_counts(town: World, days: list[ew.Trajectory]) -> None:
    for name, group_of in groupings(town).items():
        visitors = unique_visitors(town, columns_of(town, days, "days"), group_of)
        counts = visitor_counts(visitors, np.ones(len(days)))
        for group in range(len(counts)):
            for hour in range(24):
                people = {
                    number
                    for number, one in enumerate(days)
                    for visit in one
                    if group_of[town.place_index[visit.place_id]] == group and visit.timestep // 6 == hour
                }
                assert counts[group, hour] == len(people), name


def test_the_same_days_lose_nothing(town: World) -> None:
    days = [day(("a", 60), ("b", 66), ("d", 90)), day(("c", 3))] * 60
    summary = summarise(town, days, days)
    assert all(estimate.value == 0 for estimate in summary.errors.values())
    assert all(one.value == pytest.approx(100) for values in summary.ranges.values() for one in values)
    hot = {name: one.value for name, one in summary.hotspots["all"].items() if one}
    assert (hot["ahd_hours"], hot["f1"]) == (0, 1)
    assert all(one and one.value == 0 for one in density_estimates(paired(town, days, days)).values())
    assert set(hotspot_estimates(paired(town, days, days))) == {*THRESHOLDS, "all"}


def test_intervals_hold_the_mean_about_as_often_as_they_say() -> None:
    generator = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        estimate = mean_estimate(generator.exponential(size=80), seed=int(generator.integers(1 << 30)))
        hits += estimate.low <= 1 <= estimate.high
    assert 175 <= hits <= 200
    found = estimates(lambda w: np.array([w @ np.arange(10) / 10, math.nan]), 10)
    assert found[0] is not None
    assert found[1] is None
    assert found[0].low < found[0].value == 4.5 < found[0].high


def test_intervals_are_those_of_plain_resampling(town: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each resample measured by itself, with days repeated in lists, gives the same percentiles."""
    generator = np.random.default_rng(5)
    days = [
        day(*zip(generator.choice(list("abcd"), 3), (60, 70, int(k)), strict=True)) for k in range(80, 130)
    ]
    shared = [day(*zip(generator.choice(list("abcd"), 3), (61, 72, 90), strict=True)) for _ in days]
    thresholds = dict.fromkeys(THRESHOLDS, 3)
    pairs = paired(town, days, shared)
    found = hotspot_estimates(pairs, thresholds)["all"]["acd"], density_estimates(pairs)["flows"]
    picks = seeded_generator(0)
    acd, flows = [], []
    monkeypatch.setattr(intervals, "RESAMPLES", 1)  # of a resample only its value counts
    for _ in range(RESAMPLES):
        drawn = picks.integers(len(days), size=len(days)).tolist()
        again = paired(town, [days[k] for k in drawn], [shared[k] for k in drawn])
        acd.append(_value(hotspot_estimates(again, thresholds)["all"]["acd"]))
        flows.append(_value(density_estimates(again)["flows"]))
    for estimate, values in zip(found, (acd, flows), strict=True):
        assert estimate is not None
        low, high = np.percentile(values, [2.5, 97.5]) - (np.mean(values) - estimate.value)
        assert estimate.low == pytest.approx(max(low, min(values)))
        assert estimate.high == pytest.approx(min(high, max(values)))
        assert estimate.low <= estimate.value <= estimate.high


def _value(estimate: Estimate | None) -> float:
    return math.nan if estimate is None else estimate.value


def test_days_of_other_lengths_are_matched_in_order(town: World) -> None:
    """The shorter day's visits all have partners such that Σ d is least; one left over counts 10 in d."""
    real = [day(("a", 60), ("b", 66), ("c", 80)), day(("a", 3))]
    shared = [day(("a", 60), ("c", 79)), day(("d", 1), ("a", 9))]
    pairs = paired(town, real, shared)
    assert pairs.first.tolist() == [0, 2, 3]
    assert pairs.second.tolist() == [0, 1, 3]
    errors = day_errors(pairs)
    assert errors["time_hours"].tolist() == pytest.approx([1 / 12, 1])
    assert errors["space_km"].tolist() == pytest.approx([0, 0])
    assert errors["combined"].tolist() == pytest.approx([(1 / 6 + 10) / 3, (1 + 10) / 2])
    found = day_preservation(pairs, {"space_km": [1.0]})["space_km"][:, 0]
    assert found.tolist() == pytest.approx([200 / 3, 100])
    summary = summarise(town, real, shared)
    assert summary.unmatched_percent.value == pytest.approx((100 / 3 + 50) / 2)


@given(data=st.data())
@examples(max_examples=80)
def test_alignment_against_all_ways_to_match(town: World, data: st.DataObject) -> None:
    visits = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 143)), min_size=1, max_size=6)
    sides = [data.draw(visits), data.draw(visits)]
    short, long = sorted(sides, key=len)
    distances = visit_distances(town)
    ways = [
        sum(visit_distance(distances, *mine, *long[k]) for mine, k in zip(short, picks, strict=True))
        for picks in combinations(range(len(long)), len(short))
    ]
    arrays = [np.array(side, dtype=np.int32).T.copy() for side in sides]
    first, second = align(distances, *arrays[0], *arrays[1])
    total = sum(
        visit_distance(distances, *sides[0][i], *sides[1][j]) for i, j in zip(first, second, strict=True)
    )
    assert len(first) == len(short)
    assert np.all(np.diff(first) > 0)
    assert np.all(np.diff(second) > 0)
    assert total == pytest.approx(min(ways))


def test_nulls_are_measured_the_same_way(town: World) -> None:
    days = [day(("a", 60), ("b", 66)), day(("c", 3), ("d", 100))] * 10
    nulls = null_summaries(town, days)
    assert set(nulls) == {"uniform", "popular", "constant", "typical"}
    assert all(null.feasible_percent.value == 100 for null in nulls.values())
    assert null_summaries(town, days) == nulls


@pytest.mark.parametrize(
    ("real", "shared", "said"),
    [
        ([day(("a", 1))], [], "1 true trajectories and 0 shared ones"),
        (
            [day(("a", 1))],
            [day(("x", 1))],
            "shared trajectories: names a place that this world does not have",
        ),
        ([], [], "has no trajectory"),
    ],
)
def test_bad_input_is_told(town: World, real: Any, shared: Any, said: str) -> None:
    with pytest.raises(ew.InputError, match=said):
        summarise(town, real, shared)


def test_twenty_thousand_days_take_seconds(town: World) -> None:
    """Not timed: it would take minutes if anything looped over visits in Python beyond reading them."""
    days = [day(("a", 60), ("b", 66), ("d", 90))] * 20_000
    assert summarise(town, days, days).days == 20_000
