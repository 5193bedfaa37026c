"""A city from public places (OpenStreetMap, Overture, Foursquare Open Source Places), and made-up days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.cleaning import most_popular
from elsewhere.datasets.notes import note
from elsewhere.datasets.osm_places import osm_places
from elsewhere.datasets.osm_tags import Found, groups
from elsewhere.datasets.parquet_places import parquet_places
from elsewhere.datasets.raw_text import Progress
from elsewhere.datasets.recipe import Habits, Recipe
from elsewhere.errors import InputError
from elsewhere.io.osm_roads import Mode, read_osm_roads
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.params import MODE_KMH

_TRAVEL: dict[Mode | None, str] = {
    "walk": "Travel is on foot along its streets and paths.",
    "bike": "Travel is by bike along its streets.",
    "drive": "Travel is by car along its streets, one way where they are.",
    None: "Travel is on foot in straight lines.",
}


def read_city(
    raw: Path,
    *,
    limit: int | None,
    timezone: str,
    people: int = 5000,
    seed: int = 1,
    mode: Mode | None = "walk",
    hours: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Places of an OpenStreetMap extract or of a Parquet table, streets if it has any, made-up days."""
    is_table = raw.suffix == ".parquet"
    steps: dict[str, int] = {}
    found = {one.place_id: one for one in (parquet_places if is_table else osm_places)(raw, steps)}
    if not found:
        raise InputError(str(raw), "has no place that can be visited")
    weights = Counter({place_id: round(1000 * one.popularity) for place_id, one in found.items()})
    chosen = [found[place_id] for place_id in most_popular(weights, limit)]
    places = [_place(one) for one in chosen]
    steps["places with opening hours of their own"] = sum(bool(place.hours) for place in places)
    mode = None if is_table else mode
    title, what, terms = note(
        "places" if is_table else "osm", seed=seed, source=raw.name, travel=_TRAVEL[mode]
    )
    dataset = Dataset(
        title=title,
        what=what,
        terms=terms,
        places=places,
        tree=_tree(chosen, hours or {}),
        days=[],
        clock=Clock(timezone=timezone),
        settings={"speed_kmh": MODE_KMH[mode or "walk"]},
        roads=None if mode is None else read_osm_roads(raw, mode, has_limits=True),
        steps=steps,
    )
    dwell = np.array([groups()[one.group].dwell for one in chosen])
    dataset.days = Recipe(dataset, Habits(dwell=dwell), seed=seed).days(people, progress)
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
