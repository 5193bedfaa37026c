"""Several cities added up: as their people and their noise say, and against a made-up country."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import country as countries
from elsewhere.device.personal import DayMaker, Spot
from elsewhere.errors import InputError
from elsewhere.estimates.counts import variance
from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.several import add_up

CITIES, PLACES, PEOPLE = 3, 60, 6000


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> countries.Simulated:
    return countries.simulate(CITIES, PLACES, PEOPLE, tmp_path_factory.mktemp("country"))


def test_intervals_of_cities_that_are_added_up_hold_what_is_so(simulated: countries.Simulated) -> None:
    for name, (found, so) in simulated.tables.items():
        facts = countries.compared(found, so)
        assert facts["things"] == so.height, name
        assert facts["intervals_hold"] >= 0.85, name
        assert facts["off_by"] < facts["half_length"], name


def test_they_do_not_hold_what_is_not(simulated: countries.Simulated) -> None:
    found, so = simulated.tables["tiles, by city"]
    wrong = so.with_columns(pl.col("so").reverse())
    assert countries.compared(found, wrong)["intervals_hold"] < 0.5


def test_people_who_could_not_be_in_a_cell_add_no_noise_to_it(simulated: countries.Simulated) -> None:
    tiles, whole = (
        countries.compared(*simulated.tables[f"{name}, by city"]) for name in ("tiles", "one world")
    )
    assert tiles["half_length"] < whole["half_length"]


def test_a_day_in_another_city_is_a_visit_to_its_one_place(tmp_path: Path) -> None:
    """What the simulation takes for granted is what a device does."""
    country = countries.country_of(CITIES, PLACES)
    world, _ = countries.world_of(country, [0], tmp_path / "tile")
    far = [Spot(at, *(country.centres[1] + 0.02).tolist()) for at in (60, 90)]
    assert [visit.place_id for visit in DayMaker(world).day(far).visits] == ["in-city-01"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Estimates:
    """One city alone."""
    folder = tmp_path_factory.mktemp("one")
    country = countries.country_of(1, PLACES)
    world, _ = countries.world_of(country, [0], folder / "tile")
    survey = countries.survey_of(country, world, [0], folder / "tile")
    rows = np.full((2000, 1), 60, dtype=np.int32)
    return countries.asked(survey, rows, 1)[0]


def test_people_add_up_and_variances_with_their_square(found: Estimates) -> None:
    first = found.questions[1]
    table, added = first.frame(), add_up([(found, 1000), (found, 3000)], "presence-2")
    shares = table["count"].to_numpy()
    noise = variance(first.question.channel, shares, np.full(len(shares), first.reports))
    half = 1.959964 * np.sqrt(noise * (1000**2 + 3000**2))
    np.testing.assert_allclose(added["count"], 4000 * shares)
    np.testing.assert_allclose(added["high"], np.maximum(4000 * shares + half, 0))
    np.testing.assert_allclose(added["low"], np.maximum(4000 * shares - half, 0))
    inside = np.clip(4000 * table["estimate"].to_numpy(), added["low"].to_numpy(), added["high"].to_numpy())
    np.testing.assert_allclose(added["estimate"], inside)
    assert added["reports"].to_list() == [2 * first.reports] * len(shares)


def test_estimates_print_in_one_line(found: Estimates) -> None:
    names = ", ".join(one.name for one in found.questions)
    assert repr(found) == f"<Estimates of {found.reports:,} reports: {names}>"


@pytest.mark.parametrize("people", [0, -1, math.inf, math.nan])
def test_a_city_must_have_people(found: Estimates, people: float) -> None:
    with pytest.raises(InputError, match="above 0"):
        add_up([(found, people)], "presence-1")


def test_what_cannot_be_added_up_is_refused(found: Estimates) -> None:
    with pytest.raises(InputError, match="at least one"):
        add_up([], "presence-1")
    with pytest.raises(InputError, match="here are presence-1, presence-2"):
        add_up([(found, 1)], "moves")
