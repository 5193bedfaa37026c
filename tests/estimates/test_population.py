"""What a population says, against a loop over its days; and people drawn from it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.days.hotspots import THRESHOLDS
from elsewhere.days.visits import Days, shared_days
from elsewhere.estimates.population import Population, population_of
from elsewhere.estimates.population_frames import (
    ETA_PEOPLE,
    MOST_FLOWS,
    people_frame,
    population_frame,
    population_frames,
)
from elsewhere.estimates.support import support_of
from elsewhere.evaluate.hotspots import groupings
from elsewhere.evaluate.summary import summarise
from elsewhere.randomness import seeded_generator
from elsewhere.world.world import World
from made_surveys import KINDS
from worlds import build, place

LEVELS = {f"category level {level}" for level in (1, 2, 3)}


@pytest.fixture(scope="module")
def population(tmp_path_factory: pytest.TempPathFactory) -> Population:
    """Two hundred days, some of them far more likely than others, on a town of nine places."""
    spots = [(0, 0), (0, 31), (3, 12), (11, 4), (13, 22), (17, 40), (22, 9), (29, 33), (31, 17)]
    rows = [
        place(f"p{i}", 50 + lat / 1000, 10 + lng / 1000, KINDS[i % 3], hours="06:00-24:00")
        for i, (lat, lng) in enumerate(spots)
    ]
    world = build(tmp_path_factory.mktemp("world"), rows, {"kappa": 1})
    days = support_of(world, days=150, broad=50)
    weights = seeded_generator(4).exponential(size=len(days.days.lengths)) ** 3
    return population_of(world, days.days, weights / weights.sum())


@pytest.fixture(scope="module")
def frames(population: Population) -> dict[str, pl.DataFrame]:
    return population_frames(population)


def _days(population: Population) -> list[tuple[list[tuple[int, int]], float]]:
    """Place and hour of each visit of each day, and the day's weight."""
    minutes = population.world.clock.timestep_minutes
    return [
        ([(place, time * minutes // 60) for place, time in zip(*day, strict=True)], float(weight))
        for day, weight in zip(population.days.rows(), population.weights, strict=True)
    ]


def _cell(world: World, row: dict[str, Any], prefix: str = "") -> set[int]:
    """Places inside a row's box; corners are rounded, and no place is near an inner border."""
    south, west, north, east = (row[f"{prefix}{side}"] for side in ("south", "west", "north", "east"))
    return {
        place
        for place, (lat, lng) in enumerate(zip(world.places.latitudes, world.places.longitudes, strict=True))
        if south - 1e-6 < lat < north + 1e-6 and west - 1e-6 < lng < east + 1e-6
    }


def _share(population: Population, places: set[int], hour: int) -> float:
    return sum(
        weight
        for visits, weight in _days(population)
        if any(place in places and when == hour for place, when in visits)
    )


def _places(world: World, row: dict[str, Any]) -> set[int]:
    """Places of the cell or the category of a hotspot."""
    if row["granularity"] not in LEVELS:
        return _cell(world, row)
    nodes = groupings(world)[row["granularity"]]
    return {number for number, node in enumerate(nodes) if world.tree.names[node] == row["category"]}


def test_hotspots_are_stretches_with_many_people(
    population: Population, frames: dict[str, pl.DataFrame]
) -> None:
    frame = frames["hotspots"]
    assert {"4 × 4 grid", "2 × 2 grid", "category level 1"} <= set(frame["granularity"])
    assert frame["peak_share"].is_sorted(descending=True)
    for row in frame.iter_rows(named=True):
        least, places = THRESHOLDS[row["granularity"]] / ETA_PEOPLE, _places(population.world, row)
        inside = {hour: _share(population, places, hour) for hour in range(row["start"], row["end"])}
        assert min(inside.values()) > least - 1e-6
        assert row["peak_share"] == pytest.approx(max(inside.values()), abs=1e-8)
        assert inside[row["peak_hour"]] == pytest.approx(row["peak_share"], abs=1e-8)
        for outside in (row["start"] - 1, row["end"]):
            assert not 0 <= outside < 24 or _share(population, places, outside) <= least + 1e-6


def test_no_hotspot_of_a_category_is_missed(frames: dict[str, pl.DataFrame]) -> None:
    found = {
        (row["category"], hour)
        for row in frames["hotspots"].filter(granularity="category level 1").iter_rows(named=True)
        for hour in range(row["start"], row["end"])
    }
    kinds = frames["kinds"].filter(pl.col("share") > 0.05)
    assert found == set(kinds.select("category", "hour").iter_rows())


def test_flows_kinds_trips_and_visits_are_those_of_a_loop_over_days(
    population: Population, frames: dict[str, pl.DataFrame]
) -> None:
    world, days = population.world, _days(population)
    for row in frames["flows"].iter_rows(named=True):
        before, after = _cell(world, row, "from_"), _cell(world, row, "to_")
        share = sum(
            weight
            for visits, weight in days
            if any(a[0] in before and b[0] in after for a, b in pairwise(visits))
        )
        assert row["share"] == pytest.approx(share, abs=1e-8)
    assert frames["flows"]["share"].is_sorted(descending=True)
    assert 0 < frames["flows"].height <= MOST_FLOWS
    for row in frames["kinds"].iter_rows(named=True):
        places = _places(world, {**row, "granularity": "category level 1"})
        assert row["share"] == pytest.approx(_share(population, places, row["hour"]), abs=1e-8)
    lengths: Counter[int] = Counter()
    for visits, weight in days:
        lengths[min(len(visits), 8)] += weight  # type: ignore[assignment]
    assert frames["visits"]["share"].to_list() == pytest.approx([lengths[n] for n in range(1, 9)], abs=1e-8)
    vectors = world.places.vectors
    for row in frames["trips"].iter_rows(named=True):
        share = 0.0
        for visits, weight in days:
            km = [
                2 * 6371.0088 * np.arcsin(np.linalg.norm(vectors[a[0]] - vectors[b[0]]) / 2)
                for a, b in pairwise(visits)
            ]
            share += weight * any(row["from_km"] <= one < row["to_km"] for one in km)
        assert row["share"] == pytest.approx(share, abs=1e-8)


def test_people_are_drawn_as_often_as_days_weigh(population: Population) -> None:
    names = [tuple(day.visits) for day in shared_days(population.world, population.days)]
    expected: dict[Any, float] = {}
    for name, weight in zip(names, population.weights, strict=True):
        expected[name] = expected.get(name, 0.0) + float(weight)
    drawn = Counter(tuple(day.visits) for day in population.draw(5000, seeded_generator(1)))
    assert sum(drawn.values()) == 5000
    # Days that are there twice may each be off by one.
    assert all(abs(drawn[name] - 5000 * share) < names.count(name) + 1e-6 for name, share in expected.items())
    assert population.draw(50, seeded_generator(1)) == population.draw(50, seeded_generator(1))
    assert population.draw(50, seeded_generator(1)) != population.draw(50, seeded_generator(2))


@examples(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.floats(1e-6, 1), min_size=1, max_size=20),
    count=st.integers(1, 300),
    seed=st.integers(0, 99),
)
def test_resampling_is_systematic(
    population: Population, weights: list[float], count: int, seed: int
) -> None:
    shares = np.array(weights) / sum(weights)
    days = Days(*(column[: len(weights)] for column in population.days))
    marked = days._replace(lengths=np.arange(len(weights), dtype=np.int32))
    some = Population(world=population.world, days=marked, weights=shares)
    times = np.bincount(some.resampled(count, seeded_generator(seed)).days.lengths, minlength=len(weights))
    assert times.sum() == count
    assert (np.abs(times - count * shares) < 1 + 1e-6).all()


@pytest.mark.parametrize("count", [0, -3, 2.5, True, "many"])
def test_so_many_people_cannot_be_drawn(population: Population, count: Any) -> None:
    with pytest.raises(ew.InputError, match="whole number, 1 or more"):
        population.draw(count, seeded_generator(1))


def test_drawn_people_are_ordinary_days(population: Population, tmp_path: Path) -> None:
    """Measures take them as they are, and a file of them is read like any other."""
    people = population.draw(200, seeded_generator(1))
    assert summarise(population.world, people, people).errors["combined"].value == 0
    some = population.resampled(200, seeded_generator(1))
    people_frame(some).write_parquet(tmp_path / "people.parquet")
    read = ew.read_trajectories(tmp_path / "people.parquet", world=population.world)
    assert [day.visits for day in read] == [day.visits for day in people]
    assert population_frame(some).drop("weight").equals(people_frame(some))
