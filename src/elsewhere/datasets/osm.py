"""A city from public places (OpenStreetMap, Overture, Foursquare Open Source Places), and made-up days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from elsewhere.datasets.bundle import Dataset, made_up_people, only_file
from elsewhere.datasets.cleaning import most_popular
from elsewhere.datasets.hours_tables import given_hours
from elsewhere.datasets.notes import note
from elsewhere.datasets.osm_places import embedded_city, osm_places
from elsewhere.datasets.osm_tags import Found, groups
from elsewhere.datasets.parquet_places import parquet_places
from elsewhere.datasets.timezones import checked_zone, city_zone
from elsewhere.days.recipes import Habits
from elsewhere.errors import InputError
from elsewhere.inputs.osm_basemap import can_make_basemaps
from elsewhere.inputs.osm_roads import read_osm_roads
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress
from elsewhere.world.settings import MODE_KMH, Mode

_TRAVEL: dict[Mode | None, str] = {
    "walk": "Travel is on foot along its streets and paths.",
    "bike": "Travel is by bike along its streets.",
    "drive": "Travel is by car along its streets, one way where they are.",
    None: "Travel is on foot in straight lines.",
}


def read_osm(
    raw: Sequence[Path] = (),
    *,
    limit: int | None = 2000,
    people: int = 5000,
    seed: int = 1,
    timezone: str | None = None,
    streets: Literal["walk", "bike", "drive", "none"] = "walk",
    hours: Path | None = None,
    progress: Progress = no_progress,
) -> Dataset:
    """Places of an OpenStreetMap extract or of a Parquet table, streets if it has any, made-up days.

    Central Helsinki, which comes with the package, if no file is given.
    """
    if timezone is not None:
        checked_zone(timezone)  # before minutes of reading
    file = only_file(raw) if raw else embedded_city()
    given = {} if hours is None else given_hours(hours, groups())
    is_table = file.suffix == ".parquet"
    steps: dict[str, int] = {}
    found = {one.place_id: one for one in (parquet_places if is_table else osm_places)(file, steps)}
    if not found:
        raise InputError(str(file), "has no place that can be visited")
    weights = Counter({place_id: round(1000 * one.popularity) for place_id, one in found.items()})
    chosen = [found[place_id] for place_id in most_popular(weights, limit)]
    places = [_place(one) for one in chosen]
    zone = city_zone(timezone, ((place.latitude, place.longitude) for place in places), steps)
    steps["places with opening hours of their own"] = sum(bool(place.hours) for place in places)
    mode: Mode | None = None if is_table or streets == "none" else streets
    title, what, terms = note(
        "places" if is_table else "osm", seed=seed, source=file.name, travel=_TRAVEL[mode]
    )
    dataset = Dataset(
        title=title,
        what=what,
        terms=terms,
        places=places,
        tree=_tree(chosen, given),
        days=[],
        clock=Clock(timezone=zone),
        settings={"speed_kmh": MODE_KMH[mode or "walk"]},
        roads=None if mode is None else read_osm_roads(file, mode, has_limits=True),
        extract=file if not is_table and can_make_basemaps() else None,
        steps=steps,
    )
    dwell = np.array([groups()[one.group].dwell for one in chosen])
    dataset.days = made_up_people(dataset, Habits(dwell=dwell), people, seed=seed, progress=progress)
    return dataset


def _place(found: Found) -> Place:
    """A place with a prior for each hour of the day: how popular its kind is, by when people go there."""
    return Place(
        place_id=found.place_id,
        name=found.name or found.path[-1].rpartition("=")[2].replace("_", " "),
        latitude=found.latitude,
        longitude=found.longitude,
        category_ids=(" > ".join(found.path),),
        hours=found.hours,
        popularity=tuple(found.popularity * share for share in groups()[found.group].by_hour),
    )


def _tree(found: Iterable[Found], hours: Mapping[str, str]) -> CategoryTree:
    """All levels of the places' categories; hours by root."""
    rows: dict[str, tuple[str, str, str]] = {}
    for one in found:
        for depth, name in enumerate(one.path):
            parent = " > ".join(one.path[:depth])
            default = "" if depth else hours.get(name, groups()[one.group].hours)
            rows[" > ".join(one.path[: depth + 1])] = (name.replace("_", " "), parent, default)
    ids = sorted(rows)
    names, parents, defaults = zip(*(rows[category] for category in ids), strict=True)
    return build_tree(ids, names, parents, defaults)
