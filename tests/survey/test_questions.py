"""What each kind of question asks about, against plain words; and what may not be asked."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.days.prior_days import prior_days
from elsewhere.days.visits import Days
from elsewhere.survey.questions.registry import QUESTIONS, question_of
from elsewhere.survey.things import Things
from elsewhere.world.world import World
from made_surveys import six_places, survey_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return six_places(tmp_path_factory.mktemp("world"))


def _days(*days: list[tuple[int, int]]) -> Days:
    width = max(map(len, days))
    rows = [[*day, *[(-1, -1)] * (width - len(day))] for day in days]
    table = np.array(rows, dtype=np.int32)
    return Days(table[:, :, 0], table[:, :, 1], np.array([len(day) for day in days], dtype=np.int32))


def _named(things: Things, rows: Any) -> list[set[tuple[Any, ...]]]:
    columns = list(zip(*things.columns().values(), strict=True))
    return [{columns[thing] for thing in row if thing >= 0} for row in rows.tolist()]


def _things(world: World, kind: str, **options: Any) -> Things:
    return survey_of(world, (kind, "1", options)).questions[0].things


def test_presence_is_a_cell_and_an_hour(world: World) -> None:
    """p0 lies south-west, p5 north-east; timesteps are ten minutes."""
    things = _things(world, "presence", grid=2)
    found = _named(things, things.of(_days([(0, 54), (0, 55), (5, 120)], [(6, 60)])))
    assert {(round(row[0], 3), round(row[1], 3), row[-1]) for row in found[0]} == {
        (50.0, 10.0, 9), (50.01, 10.01, 20),
    }  # fmt: skip
    assert found[1] == set()  # a place nobody knows is in no cell


def test_until_next_counts_people_where_they_are(world: World) -> None:
    things = _things(world, "presence", grid=1, until_next=True)
    found = _named(things, things.of(_days([(0, 54), (5, 72), (2, 74)])))
    assert {row[-1] for row in found[0]} == {9, 10, 11, 12}
    arrivals = _things(world, "presence", grid=1)
    assert {row[-1] for row in _named(arrivals, arrivals.of(_days([(0, 54), (5, 72)])))[0]} == {9, 12}


def test_moves_visits_trips_kinds_and_places(world: World) -> None:
    day = _days([(0, 54), (5, 72), (0, 90)])
    moves = _things(world, "moves", grid=2)
    assert len(_named(moves, moves.of(day))[0]) == 2
    visits = _things(world, "visits", most=2)
    assert _named(visits, visits.of(day)) == [{(2,)}]
    trips = _things(world, "trips", edges_km=[1, 2, 9])
    assert _named(trips, trips.of(day)) == [{(2.0, 9.0)}]
    kinds = _things(world, "kinds", hours=24)
    assert {row[0] for row in _named(kinds, kinds.of(day))[0]} == {"Food"}
    places = _things(world, "places")
    assert {row[0] for row in _named(places, places.of(day))[0]} == {"p0", "p5"}


def test_boxes_share_out_the_city_and_the_day(world: World) -> None:
    """Every cell and hour is in exactly one box, and none has far more people than others."""
    things = _things(world, "presence", boxes=40)
    assert 40 <= things.count <= 110
    days = prior_days(world, "test", 2000)
    found = things.of(days)
    one_visit = _days(*[[(place, hour * 6)] for place in range(6) for hour in range(24)])
    assert ((things.of(one_visit) >= 0).sum(axis=1) == 1).all()
    busiest = np.bincount(found[found >= 0], minlength=things.count).max()
    grid = _things(world, "presence", grid=1, hours=24)
    assert busiest < 0.5 * np.bincount(grid.of(days).ravel()[grid.of(days).ravel() >= 0]).max()
    for groups in things.coarser():
        assert groups.shape == (things.count,)


def test_areas_are_named_as_in_their_file(world: World, tmp_path: Path) -> None:
    def square(name: str, west: float, east: float) -> dict[str, Any]:
        ring = [[west, 49], [east, 49], [east, 51], [west, 51], [west, 49]]
        return {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {"type": "Polygon", "coordinates": [ring]},
        }

    areas = {"type": "FeatureCollection", "features": [square("West", 9, 10.01), square("East", 10.01, 11)]}
    (tmp_path / "areas.geojson").write_text(json.dumps(areas))
    survey = survey_of(world, ("presence", "1", {"polygons": "areas.geojson", "hours": 24}), folder=tmp_path)
    things = survey.questions[0].things
    assert things.columns()["area"] == ["East", "West"]
    assert [{row[0] for row in day} for day in _named(things, things.of(_days([(0, 60)], [(5, 60)])))] == [
        {"West"},
        {"East"},
    ]


def test_hardly_anything_of_the_priors_days_is_left_out(world: World) -> None:
    for kind in ("presence", "moves", "kinds", "visits", "trips", "places"):
        channel = survey_of(world, (kind, "1", {})).questions[0].channel
        numbers = (channel.things.of(prior_days(world, "other days", 3000)) >= 0).sum(axis=1)
        assert np.maximum(numbers - channel.kept, 0).sum() <= 0.07 * numbers.sum()


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("prezence", {}, "must be one of presence, kinds, moves, visits, trips, places, day"),
        (None, {}, "must be one of"),
        ("presence", {"gird": 4}, "'presence', allowed are"),
        ("presence", {"grid": 0}, "must be a whole number, 1 to 64"),
        ("presence", {"grid": 4.0}, "must be a whole number"),
        ("presence", {"grid": True}, "must be a whole number"),
        ("presence", {"grid": 4, "h3": 8}, "give one of them"),
        ("presence", {"grid": 4, "boxes": 80}, "give one of them"),
        ("presence", {"h3": 16}, "0 to 15"),
        ("presence", {"hours": 5}, "1, 2, 3, 4, 6, 8, 12 or 24"),
        ("presence", {"until_next": 1}, "true or false"),
        ("presence", {"k": 0}, "must be a whole number"),
        ("kinds", {"level": 0}, "must be a whole number"),
        ("visits", {"most": 1}, "must be a whole number"),
        ("trips", {"edges_km": [2, 1]}, "must go up"),
        ("trips", {"edges_km": []}, "lengths above 0"),
        ("trips", {"edges_km": "1"}, "lengths above 0"),
        ("day", {"k": 1024}, "must be a whole number"),
        ("day", {"shards": 0}, "must be a whole number"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_can(
    kind: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ew.InputError, match="question") as caught:
        question_of(kind, options)
    assert words in str(caught.value)


def test_what_a_world_does_not_have_cannot_be_asked(world: World, tmp_path: Path) -> None:
    with pytest.raises(ew.InputError, match="a level of the category tree"):
        survey_of(world, ("kinds", "1", {"level": 9}))
    with pytest.raises(ew.InputError, match="no such file"):
        survey_of(world, ("presence", "1", {"polygons": "none.geojson"}), folder=tmp_path)
    with pytest.raises(ew.InputError, match="k: found 60"):
        survey_of(world, ("visits", "1", {"k": 60}))


def test_shares_and_epsilon_must_fit_together(world: World) -> None:
    with pytest.raises(ew.InputError, match=r"adds up to 0\.9"):
        survey_of(world, ("visits", "0.4", {}), ("moves", "0.5", {}))
    with pytest.raises(ew.InputError, match="0 questions"):
        survey_of(world)
    with pytest.raises(ew.InputError, match="above 0"):
        survey_of(world, ("visits", "0", {}), ("moves", "1", {}))
    with pytest.raises(ew.InputError, match="65,536 parts"):
        survey_of(world, ("visits", str(Fraction(1, 65537)), {}), ("moves", str(Fraction(65536, 65537)), {}))


def test_every_kind_says_what_it_tells() -> None:
    assert all(record.what and record.kind == name for name, record in QUESTIONS.items())
    assert question_of("presence", {"grid": 4}).in_words() == "presence (grid 4)"
    assert question_of("visits", {}).in_words() == "visits"
