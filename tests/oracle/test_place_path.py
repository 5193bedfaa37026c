"""Places and times: uniform among all feasible ones, and shifted no more than needed where there are none."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.days.smoothing import is_feasible, smooth_times
from elsewhere.knowledge.travel import is_reachable
from elsewhere.randomness import SeededRandomness
from elsewhere.reconstruct.place_path import (
    COUNTED,
    TRIED,
    place_path,
    place_paths,
    sample_anything,
    sample_by_counting,
)
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World
from examples import examples
from privacy_tools import p_value
from worlds import build, place, world_inputs

Sequence_ = tuple[tuple[int, int], ...]
SAMPLES = 40_000


def _feasible(world: World, path: tuple[int, ...]) -> list[Sequence_]:
    """Every feasible (place, timestep) sequence inside a chain of regions, by trying all."""
    cells = [
        [
            (int(p), t)
            for p in world.regions.places_of(region)
            for t in world.regions.timesteps_of(region, world.clock.timesteps).tolist()
            if world.is_open[p, t]
        ]
        for region in path
    ]
    return [sequence for sequence in product(*cells) if _is_feasible(world, sequence)]


def _is_feasible(world: World, sequence: Sequence_) -> bool:
    return all(
        is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
        for (p, t), (q, u) in pairwise(sequence)
    )


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    rows = [place(f"p{i}", 50 + 0.03 * i, 10 + 0.02 * (i % 2), hours="08:00-12:00") for i in range(3)]
    rows += [
        place("q", 50.03, 10, "boots", hours="09:30-11:00"),
        place("r", 50.1, 10, "boots", hours="10:00-13:00"),
    ]
    keys = {"kappa": 2, "timestep_minutes": 30, "grid": 1, "speed_kmh": [4.0] * 10 + [8.0] * 14}
    return build(tmp_path_factory.mktemp("town"), rows, keys)


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Bars that are open over midnight, merged into regions that pass it."""
    rows = [place(f"p{i}", 50 + 0.03 * i, 10, "bar", hours="22:00-02:00") for i in range(2)]
    rows += [place("q", 50.03, 10, "boots", hours="00:00-03:00,21:00-24:00")]
    keys = {"kappa": 3, "timestep_minutes": 60, "grid": 1, "speed_kmh": 4, "merge_order": ["time"]}
    world = build(tmp_path_factory.mktemp("night"), rows, keys)
    assert np.all(world.regions.ends > world.clock.timesteps)
    return world


def test_samples_are_uniform_past_midnight_too(night: World) -> None:
    """A region from 22:00 to 02:00 has the first and the last hours of one day."""
    places, everything = place_world(night), _feasible(night, (0, 1))
    assert {t for sequence in everything for _, t in sequence} == {0, 1, 2, 21, 22, 23}
    chosen, times = np.empty(2, dtype=np.int32), np.empty(2, dtype=np.int32)
    regions, state = np.array([0, 1], dtype=np.int32), SeededRandomness(3).words(1)
    for sample in (sample_by_counting, _sample_as_the_paper):
        counts: Counter[Sequence_] = Counter()
        for _ in range(SAMPLES // 4):
            sample(regions, places, state, chosen, times)
            counts[tuple(zip(chosen.tolist(), times.tolist(), strict=True))] += 1
        assert p_value(counts, dict.fromkeys(everything, 1 / len(everything))) > 1e-4


def _paths(world: World, length: int) -> list[tuple[int, ...]]:
    found = [
        path
        for path in product(range(len(world.regions)), repeat=length)
        if 20 < len(_feasible(world, path)) < 1500
    ]
    return found[:: max(1, len(found) // 3)][:3]


@pytest.mark.parametrize("sampler", ["paper", "counting", "both"])
@pytest.mark.parametrize("length", [2, 3])
def test_samples_are_uniform_over_feasible_sequences(town: World, length: int, sampler: str) -> None:
    """The paper's sampler and exact counting give the same distribution: uniform (ss:poi-reconstruct)."""
    places = place_world(town)
    paths = _paths(town, length)
    assert paths
    for number, path in enumerate(paths):
        everything = _feasible(town, path)
        regions = np.array(path, dtype=np.int32)
        chosen, times = np.empty(length, dtype=np.int32), np.empty(length, dtype=np.int32)
        state = SeededRandomness(7, number).words(1)
        counts: Counter[Sequence_] = Counter()
        for _ in range(SAMPLES):
            if sampler == "paper":
                _sample_as_the_paper(regions, places, state, chosen, times)
            elif sampler == "counting":
                assert sample_by_counting(regions, places, state, chosen, times)
            else:
                assert place_path(regions, places, state, chosen, times) in {TRIED, COUNTED}
            counts[tuple(zip(chosen.tolist(), times.tolist(), strict=True))] += 1
        assert p_value(counts, dict.fromkeys(everything, 1 / len(everything))) > 1e-4
        skewed = {sequence: 1.0 + 0.3 * (sequence[0][1] % 2) for sequence in everything}
        if len({sequence[0][1] % 2 for sequence in everything}) == 2:
            total = sum(skewed.values())
            assert p_value(counts, {key: value / total for key, value in skewed.items()}) < 1e-6


def _sample_as_the_paper(
    path: Any, places: Any, state: Any, chosen: Any, times: Any, gamma: int = 50_000
) -> None:
    """We generate an individual trajectory at random and check that it satisfies reachability."""
    for _ in range(gamma):
        sample_anything(path, places, state, chosen, times)
        if is_feasible(places, chosen, times):
            return
    raise AssertionError("the threshold of the paper was reached")


@given(world_inputs(most=4), st.data())
@examples(max_examples=80)
def test_counting_knows_when_there_is_none(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    rows, keys = inputs
    world = build(tmp_path, rows, keys | {"timestep_minutes": 240, "interval_minutes": 480})
    length = data.draw(st.integers(1, 3))
    path = tuple(
        data.draw(st.lists(st.integers(0, len(world.regions) - 1), min_size=length, max_size=length))
    )
    chosen, times = np.empty(length, dtype=np.int32), np.empty(length, dtype=np.int32)
    state = SeededRandomness(data.draw(st.integers(0, 1000))).words(1)
    found = sample_by_counting(np.array(path, dtype=np.int32), place_world(world), state, chosen, times)
    everything = _feasible(world, path)
    assert found == bool(everything)
    if found:
        assert tuple(zip(chosen.tolist(), times.tolist(), strict=True)) in everything


@given(world_inputs(most=4), st.data())
@examples(max_examples=80)
def test_times_are_shifted_by_the_least_total(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    rows, keys = inputs
    world = build(tmp_path, rows, keys | {"timestep_minutes": 180, "interval_minutes": 360})
    length, day = data.draw(st.integers(1, 3)), world.clock.timesteps
    must_be_open = data.draw(st.booleans())
    chosen = np.array(
        data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=length, max_size=length)), dtype=np.int32
    )
    given_times = data.draw(st.lists(st.integers(0, day - 1), min_size=length, max_size=length))
    times = np.array(given_times, dtype=np.int32)
    found = smooth_times(place_world(world), chosen, times, must_be_open)
    shifts = [
        sum(abs(a - b) for a, b in zip(option, given_times, strict=True))
        for option in product(range(day), repeat=length)
        if _is_feasible(world, tuple(zip(chosen.tolist(), option, strict=True)))
        if not must_be_open or all(world.is_open[p, t] for p, t in zip(chosen, option, strict=True))
    ]
    assert found == bool(shifts)
    if found:
        assert _is_feasible(world, tuple(zip(chosen.tolist(), times.tolist(), strict=True)))
        assert sum(abs(a - b) for a, b in zip(times.tolist(), given_times, strict=True)) == min(shifts)


def test_smoothing_example(tmp_path: Path) -> None:
    """Either τ(1) occurs between 8 and 9pm, or τ(3) occurs between 10 and 11pm (ss:poi-reconstruct)."""
    rows = [
        place("restaurant", 50, 10, "cafe", hours="18:00-24:00"),
        place("downtown-bar", 50, 10, "bar", hours="18:00-24:00"),
        place("suburban-bar", 50.0655, 10, "bar", hours="18:00-24:00"),  # 7.3 km, 55 minutes at 8 km/h
    ]
    world = build(tmp_path, rows, {"kappa": 1, "grid": 2})
    ids = {place_id: row for row, place_id in enumerate(world.places.ids)}
    chosen = np.array([ids["restaurant"], ids["downtown-bar"], ids["suburban-bar"]], dtype=np.int32)
    nine = world.clock.timestep_at("21:00")
    times = np.array([nine + 1, nine + 3, nine + 5], dtype=np.int32)
    assert smooth_times(place_world(world), chosen, times, True)
    assert times[2] - times[1] >= 6
    assert times[0] < nine or times[2] >= nine + 6


def test_rows_are_sampled_by_their_own_seeds(town: World) -> None:
    """T7 for this stage: the same chain and the same seed give the same places, whatever stands beside."""
    path = _paths(town, 2)[0]
    paths = np.tile(np.array(path, dtype=np.int32), (3, 1))
    seeds = SeededRandomness(9).words(3)
    together = place_paths(paths, place_world(town), seeds)
    alone = place_paths(paths[1:2], place_world(town), seeds[1:2])
    np.testing.assert_array_equal(together[0][1], alone[0][0])
    np.testing.assert_array_equal(together[1][1], alone[1][0])
