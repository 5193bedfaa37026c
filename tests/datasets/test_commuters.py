"""Cities of commuters: when their people are about, and where."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.commuters import COMMUTER_CITIES, ERRANDS, Commuters, CommuterVenues
from elsewhere.datasets.popularity import is_held_out
from elsewhere.device.matching import Person
from elsewhere.knowledge.clock import Clock
from elsewhere.randomness import seeded_generator
from elsewhere.world.settings import HELD_OUT

CLOCK = Clock(timezone="UTC")


def _hours(people: list[Person]) -> np.ndarray:
    steps = np.array([visit.timestep for person in people for visit in person.trajectory])
    counts = np.bincount(steps * CLOCK.timestep_minutes // 60, minlength=24)
    return np.asarray(counts / counts.sum())


def _city(name: str, folder: Path) -> tuple[Dataset, list[Person]]:
    dataset = COMMUTER_CITIES[name].make(folder, limit=300, people=900)
    return dataset, list(dataset.days)


@pytest.mark.parametrize("name", COMMUTER_CITIES)
def test_commuters_are_about_at_eight_and_in_the_evening(name: str, tmp_path: Path) -> None:
    dataset, people = _city(name, tmp_path)
    known = {place.place_id for place in dataset.places}
    hours = _hours(people)
    assert int(hours.argmax()) == 8
    assert 12 + int(hours[12:].argmax()) in (18, 19)
    assert hours[:5].sum() == 0
    for person in people:
        assert {visit.place_id for visit in person.trajectory} <= known
        assert len(person.trajectory) >= 3
        assert all(a.timestep < b.timestep for a, b in pairwise(person.trajectory))
    assert len(people) > 500


def test_the_city_like_tokyo_is_a_file_of_checkins_with_people_held_out(tmp_path: Path) -> None:
    dataset, people = _city("tokyo-like", tmp_path)
    checkins = pl.read_csv(tmp_path / "checkins.csv")
    assert checkins.columns == ["user", "venue", "category", "lat", "lng", "time"]
    stations = checkins.filter(category="Train Station")
    assert 0.3 < stations.height / checkins.height < 0.6
    assert stations["venue"].n_unique() > 20
    assert dataset.settings["popularity_from"] == HELD_OUT
    assert not any(is_held_out(person.uid) for person in people)


def test_the_same_seed_gives_the_same_days(tmp_path: Path) -> None:
    first, again = (_city("helsinki", tmp_path)[1] for _ in range(2))
    assert [one.trajectory for one in first] == [one.trajectory for one in again]


def test_errands_without_a_place_are_left_out() -> None:
    kinds = ["station", "food", "", "station"]
    spots = np.array([50.0, 50.01, 50.02, 50.03])
    venues = CommuterVenues(kinds=kinds, latitudes=spots, longitudes=spots / 5, weights=np.ones(4))
    commuters = Commuters(venues, CLOCK, seeded_generator(1))
    days = [commuters.day() for _ in range(200)]
    assert {row for day in days for row, _ in day} == {0, 1, 3}
    assert {kind for kind, *_ in ERRANDS} == {"station", "work", "food", "shop", "night"}
    assert all(300 <= minute < 1440 for day in days for _, minute in day)
