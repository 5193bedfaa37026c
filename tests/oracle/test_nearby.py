"""Who is near a place against a look at all places, and days of the prior made either way."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from elsewhere.days.nearby import Nearby, farthest_chord, may_be_within, nearby_places
from elsewhere.days.prior import Prior, broad_prior, prior_seed, world_prior
from elsewhere.days.prior_days import plain_likely_days
from elsewhere.knowledge.sphere import chords_squared, unit_vectors
from elsewhere.world.place_world import least_steps, place_world
from elsewhere.world.world import World
from worlds import TREE, build, place

CENTRES = {"city": (60.2, 25.0), "date line": (-17.0, 180.0), "pole": (89.9, 0.0), "Greenwich": (51.5, 0.0)}


def _around(centre: tuple[float, float], count: int, spread: float = 0.2) -> np.ndarray:
    generator = np.random.default_rng(5)
    shifts = generator.normal(0, spread, size=(count, 2))
    latitudes = np.clip(centre[0] + shifts[:, 0], -90, 90)
    return np.stack([latitudes, (centre[1] + shifts[:, 1] + 180) % 360 - 180], axis=1)


def _near_all(nearby: Nearby, vectors: np.ndarray, is_anywhere: np.ndarray, chord: float) -> None:
    for origin in range(0, len(vectors), 7):
        near = may_be_within(nearby, bool(is_anywhere[origin]), origin, chord)
        so = (chords_squared(vectors[origin], vectors) <= chord) | is_anywhere | is_anywhere[origin]
        assert np.array_equal(near, np.unique(near))
        assert not set(np.flatnonzero(so).tolist()) - set(near.tolist())


@pytest.mark.parametrize("centre", CENTRES.values(), ids=list(CENTRES))
@pytest.mark.parametrize("count", [1, 2, 15, 16, 700])
def test_nobody_who_is_near_is_left_out(centre: tuple[float, float], count: int) -> None:
    where = _around(centre, count)
    vectors = unit_vectors(where[:, 0], where[:, 1])
    for is_anywhere in (np.zeros(count, dtype=np.bool_), np.arange(count) % 9 == 0):
        nearby = nearby_places(vectors, is_anywhere)
        for km in (0.0, 1.0, 20.0, 20_000.0, math.inf):
            _near_all(nearby, vectors, is_anywhere, min((km / 6371) ** 2, 4.0) if km < math.inf else km)


def test_few_are_looked_at_where_few_are_near() -> None:
    where = _around(CENTRES["city"], 20_000)
    vectors = unit_vectors(where[:, 0], where[:, 1])
    nearby = nearby_places(vectors, np.zeros(len(vectors), dtype=np.bool_))
    assert len(may_be_within(nearby, False, 0, (1.0 / 6371) ** 2)) < 500


def test_places_on_one_spot_are_in_one_cell() -> None:
    vectors = np.repeat(unit_vectors(np.array([50.0]), np.array([10.0])), 500, axis=0)
    nearby = nearby_places(vectors, np.zeros(500, dtype=np.bool_))
    assert len(may_be_within(nearby, False, 3, 0.0)) == 500


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two cities a day apart, where guesses nearly always fail; other hours have other speeds."""
    spots = np.vstack([_around((60.2, 25.0), 150, 0.03), _around((63.1, 21.6), 150, 0.03)])
    hours = ("", "24/7", "08:00-12:30", "Mo-Fr 16:00-26:00")
    rows = [
        place(f"p{at:03d}", float(lat), float(lng), TREE.ids[at % 8], hours=hours[at % 4])
        for at, (lat, lng) in enumerate(spots)
    ]
    speeds = [3.0] * 12 + [9.0] * 12
    return build(tmp_path_factory.mktemp("country"), rows, {"kappa": 2, "speed_kmh": speeds})


def test_the_farthest_chord_is_what_travel_allows(country: World) -> None:
    places, vectors = place_world(country), country.places.vectors
    for departure in (0, 71, 72, 143):
        for gap in (1, 2, 5, 17, 140):
            limit = farthest_chord(places, departure, gap)
            for origin in (0, 140, 299):
                chords = chords_squared(vectors[origin], vectors)
                steps = [least_steps(places, origin, other, departure) for other in range(len(vectors))]
                assert np.array_equal(np.array(steps) <= gap, chords <= limit)


@pytest.mark.parametrize("made", [world_prior, broad_prior])
def test_days_are_those_of_a_look_at_all_places(country: World, made: Callable[[World], Prior]) -> None:
    """Bit for bit: a place out of reach weighs nothing, so leaving it out changes no sum."""
    prior, places, seed = made(country), place_world(country), prior_seed(country, "oracle", 0)
    everywhere = prior._replace(nearby=prior.nearby._replace(side=math.inf))
    found = [plain_likely_days(one, places, 150, 1, seed) for one in (prior, everywhere)]
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("is_broad", [False, True])
def test_rows_of_a_prior_are_those_of_every_timestep(country: World, is_broad: bool) -> None:
    prior, popularity = (broad_prior if is_broad else world_prior)(country), country.places.popularity
    hours = np.arange(country.clock.timesteps) // 6
    known = np.ones_like(popularity) if is_broad else popularity + 1e-3 * popularity.mean()
    weights = known[:, hours] * country.is_open
    assert len(prior.popularity) < country.clock.timesteps
    np.testing.assert_array_equal(prior.popularity[prior.row_of], weights.T)
    np.testing.assert_array_equal(prior.cumulative[prior.row_of], np.cumsum(weights, axis=0).T)
