"""A made-up country of many cities: asked as one world, and by tiles that are added up.

People have a home city, which is public, and days, which are not: most in their own city, some in another.
One survey asks all of them on one world. Or each city asks its own people on its own world, where every other
city is a single place. Both are held against what is so.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import elsewhere as ew
from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.days.prior_days import prior_days
from elsewhere.days.visits import Days
from elsewhere.device.simulate import answered
from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.several import add_up
from elsewhere.mechanism.answer import things_of_secrets
from elsewhere.randomness import Generator, SeededRandomness, seeded_generator
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.questions.presence import Presence
from elsewhere.survey.survey import Survey, Terms, make_survey
from elsewhere.world.world import World

EPSILON = 5
_AWAY = 0.1
"""Of people who are in another city on the day."""
_KM_APART, _DEGREE_KM = 150, 111.2
_SPREAD = 0.03
_HALF = 0.15
_SIDE = 4
_MOST_VISITS = 8
_POOL = 4000
_HOURS = {"food": "07:00-23:00", "shop": "09:00-21:00", "office": "07:00-19:00", "home": "24/7"}
_SETTINGS = """places = "places.csv"
categories = "categories.csv"
speed_kmh = 30
graph = false
"""


class Country(NamedTuple):
    """Where its cities are, and how many people each has, as a share of all."""

    centres: Floats
    shares: Floats
    places: int
    """Of each city."""

    @property
    def names(self) -> list[str]:
        return [f"city-{number:02d}" for number in range(len(self.centres))]


class People(NamedTuple):
    """Where each lives, where each is today, and which of the days that are had there."""

    homes: Counts
    today: Counts
    days: Counts


def country_of(cities: int, places: int) -> Country:
    """Cities on a grid, the second half as large as the first, and so on."""
    side = int(np.ceil(np.sqrt(cities)))
    steps = np.stack(np.divmod(np.arange(cities), side), axis=1) * (_KM_APART / _DEGREE_KM)
    sizes = 1 / np.arange(1, cities + 1)
    return Country(centres=np.array([48.0, 8.0]) + steps, shares=sizes / sizes.sum(), places=places)


def place_rows(country: Country, city: int) -> list[tuple[str, float, float, str, float]]:
    """Places of a city: around its centre, a few of them popular."""
    generator = seeded_generator(city)
    where = country.centres[city] + generator.normal(0, _SPREAD, size=(country.places, 2)).clip(-0.12, 0.12)
    kinds = generator.choice(list(_HOURS), size=country.places)
    popularity = generator.pareto(1.2, country.places) + 0.1
    return [
        (f"{country.names[city]}-{at:05d}", float(lat), float(lng), str(kind), float(popular))
        for at, ((lat, lng), kind, popular) in enumerate(zip(where, kinds, popularity, strict=True))
    ]


def world_of(country: Country, cities: Sequence[int], folder: Path) -> tuple[World, dict[str, float]]:
    """A world of some cities; each of the others is one place, as popular as people are away."""
    folder.mkdir(parents=True)
    rows = [row for city in cities for row in place_rows(country, city)]
    others = [city for city in range(len(country.centres)) if city not in cities]
    total = sum(row[4] for row in rows) * _AWAY / max(country.shares[others].sum(), 1e-9)
    rows += [
        (f"in-{country.names[city]}", *country.centres[city].tolist(), "away", total * country.shares[city])
        for city in others
    ]
    kinds = [(kind, kind, "", hours) for kind, hours in [*_HOURS.items(), ("away", "24/7")]]
    for name, header, content in (
        ("places", ("place_id", "lat", "lng", "category", "popularity"), rows),
        ("categories", ("category_id", "name", "parent_id", "hours"), kinds),
    ):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *content])
    (folder / "world.toml").write_text(_SETTINGS)
    started = time.process_time()
    world = ew.build_world(folder / "world.toml")
    built = time.process_time() - started
    world.save(folder / "c.world")
    return world, {"build_s": built, "file_mb": (folder / "c.world").stat().st_size / 1e6}


def _square(name: str, south: float, west: float, size: float) -> dict[str, Any]:
    north, east = south + size, west + size
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {
        "type": "Feature",
        "properties": {"name": name},
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def write_areas(country: Country, cut: Sequence[int], path: Path) -> Path:
    """A square for each city; those of ``cut`` in cells of their own."""
    features = []
    for city, name in enumerate(country.names):
        south, west = (country.centres[city] - _HALF).tolist()
        if city not in cut:
            features.append(_square(name, south, west, 2 * _HALF))
            continue
        size = 2 * _HALF / _SIDE
        for row, column in np.ndindex(_SIDE, _SIDE):
            features.append(_square(f"{name} {row}.{column}", south + row * size, west + column * size, size))
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def survey_of(country: Country, world: World, cities: Sequence[int], folder: Path) -> Survey:
    """Half of the people are asked for the city they were in, half for the cell and the part of the day."""
    write_areas(country, (), folder / "cities.geojson")
    write_areas(country, cities, folder / "cells.geojson")
    asked = [
        (Presence(polygons="cities.geojson", hours=24, k=1), Fraction(1, 2)),
        (Presence(polygons="cells.geojson", hours=4, k=_MOST_VISITS), Fraction(1, 2)),
    ]
    return make_survey(world, Terms(epsilon=Fraction(EPSILON)), asked, folder=folder)


def days_had(world: World, generator: Generator) -> Days:
    """Days that people have in a city, some places likelier than the public thinks."""
    days = prior_days(world, "people", _POOL)
    is_away = np.array([place_id.startswith("in-") for place_id in world.places.ids])
    at_home = np.flatnonzero((~is_away[days.places] | (days.places < 0)).all(axis=1) & (days.lengths > 0))
    liked = np.exp(0.5 * generator.standard_normal(len(world.places)))[days.places[at_home, 0]]
    chosen = generator.choice(at_home, size=_POOL, p=liked / liked.sum())
    return Days(*(np.asarray(column[chosen]) for column in days))


def people_of(country: Country, count: int, generator: Generator) -> People:
    """Most in their own city; the others in one that is as likely as it is large."""
    cities = len(country.centres)
    homes = generator.choice(cities, size=count, p=country.shares)
    elsewhere = generator.choice(cities, size=count, p=country.shares)
    is_away = generator.random(count) < _AWAY
    return People(homes, np.where(is_away, elsewhere, homes), generator.integers(_POOL, size=count))


def rows_of(world: World, tiles: Sequence[World], had: Sequence[Days], people: People) -> Indices:
    """Visits as a device numbers them on ``world``: of a city it does not have, one visit to its place."""
    timesteps, index = world.clock.timesteps, world.place_index
    rows = np.full((len(people.homes), _MOST_VISITS), -1, dtype=np.int32)
    for city, (tile, days) in enumerate(zip(tiles, had, strict=True)):
        mine = np.flatnonzero(people.today == city)
        number = np.array([index.get(place_id, -1) for place_id in tile.places.ids])
        chosen = people.days[mine]
        places, times = days.places[chosen], days.times[chosen]
        if f"in-city-{city:02d}" in index:
            rows[mine, 0] = index[f"in-city-{city:02d}"] * timesteps + times[:, 0]
        else:
            found = np.where(places >= 0, number[places] * timesteps + times, -1)
            rows[mine, : found.shape[1]] = found
    return rows


def asked(survey: Survey, rows: Indices, seed: int) -> tuple[Estimates, float]:
    """Answers of all of them, and what is estimated from these."""
    dates = np.full(len(rows), 20_000, dtype=np.int64)
    reports = answered(Answering(survey), survey_hash(survey), dates, rows, SeededRandomness(seed))
    started = time.process_time()
    found = ew.estimate(survey, reports)
    return found, time.process_time() - started


def truth_of(survey: Survey, rows: Indices, number: int) -> pl.DataFrame:
    """How many people really have each thing."""
    things = survey.questions[number].things
    found = things_of_secrets(rows, things, survey.world.clock.timesteps)
    counts = np.bincount(found[found >= 0], minlength=things.count)
    return pl.DataFrame({**things.columns(), "so": counts.astype(np.float64)})


def _names_of(table: pl.DataFrame) -> list[str]:
    """What tells things apart."""
    return [name for name in ("area", "hour") if name in table.columns]


def compared(found: pl.DataFrame, so: pl.DataFrame) -> dict[str, float]:
    """How far off estimates are, in people, and how many intervals hold what is so."""
    both = found.join(so, on=_names_of(so), how="inner")
    holds = both.select(((pl.col("low") <= pl.col("so")) & (pl.col("so") <= pl.col("high"))).mean()).item()
    return {
        "things": both.height,
        "off_by": float(both.select((pl.col("count") - pl.col("so")).pow(2).mean().sqrt()).item()),
        "half_length": float(both.select((pl.col("high") - pl.col("count")).mean()).item()),
        "intervals_hold": float(holds),
    }


class Simulated(NamedTuple):
    """What was estimated beside what is so, both ways; and what it cost."""

    tables: dict[str, tuple[pl.DataFrame, pl.DataFrame]]
    costs: dict[str, float]

    def facts(self) -> dict[str, Any]:
        """How far off each table is, and the costs."""
        return {name: compared(*both) for name, both in self.tables.items()} | self.costs


def simulate(cities: int, places: int, people: int, folder: Path, seed: int = 1) -> Simulated:
    """The country as one world, and by tiles."""
    country, generator = country_of(cities, places), seeded_generator(seed)
    built = [world_of(country, [city], folder / f"tile-{city}") for city in range(cities)]
    tiles = [world for world, _ in built]
    had = [days_had(world, generator) for world in tiles]
    who = people_of(country, people, generator)
    whole, cost = world_of(country, range(cities), folder / "whole")
    one = survey_of(country, whole, range(cities), folder / "whole")
    rows = rows_of(whole, tiles, had, who)
    so = [truth_of(one, rows, number) for number in range(2)]
    found, seconds = asked(one, rows, seed)
    tables = {
        f"one world, by {what}": (add_up([(found, people)], f"presence-{number + 1}"), so[number])
        for number, what in enumerate(("city", "cell"))
    }
    parts, cells, seconds_of_tiles = [], [], 0.0
    for city, tile in enumerate(tiles):
        survey = survey_of(country, tile, [city], folder / f"tile-{city}")
        residents = who.homes == city
        theirs = rows_of(tile, tiles, had, who)[residents]
        found, took = asked(survey, theirs, seed + 1 + city)
        seconds_of_tiles += took
        parts.append((found, float(residents.sum())))
        own = pl.col("area").str.starts_with(country.names[city] + " ")
        cells.append((add_up(parts[-1:], "presence-2").filter(own), truth_of(survey, theirs, 1).filter(own)))
    tables["tiles, by city"] = add_up(parts, "presence-1"), so[0]
    tables["tiles, by cell"] = pl.concat([table for table, _ in cells]), pl.concat([t for _, t in cells])
    costs = {
        "one world, build s": cost["build_s"],
        "one world, file MB": cost["file_mb"],
        "one world, estimate s": seconds,
        "tiles, build s": sum(one_cost["build_s"] for _, one_cost in built),
        "tiles, largest file MB": max(one_cost["file_mb"] for _, one_cost in built),
        "tiles, estimate s": seconds_of_tiles,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    return Simulated(tables=tables, costs=costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cities", type=int, default=20)
    parser.add_argument("--places", type=int, default=12_500, help="of each city")
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = simulate(given.cities, given.places, given.people, Path(folder), given.seed)
    print(json.dumps(vars(given) | found.facts(), indent=2))


if __name__ == "__main__":
    main()
