"""Small worlds for tests: hypothesis finds them, and every one is built by the production code."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.places import Place
from elsewhere.world.build import build_world
from elsewhere.world.toml import parse_config
from elsewhere.world.world import World

HOURS = ["", "24/7", "09:00-17:00", "22:00-03:00", "09:30-10:10", "Mo 10:00-12:00", "Tu 18:00-26:00", "off"]

TREE = build_tree(
    ["food", "shop", "cafe", "bar", "wine-bar", "beer-bar", "shoes", "boots"],
    ["Food", "Shopping", "Café", "Bar", "Wine bar", "Beer bar", "Shoe shop", "Boot shop"],
    ["", "", "food", "food", "bar", "bar", "shop", "shoes"],
    ["07:00-23:00", "", "", "17:00-26:00", "", "", "10:00-18:00", ""],
)


CLOSED_ON_WEDNESDAY = {"Mo 10:00-12:00", "off"}
_COUNTS = st.integers(0, 9).map(float)
POPULARITY = st.tuples(_COUNTS) | st.lists(_COUNTS, min_size=24, max_size=24).map(tuple)
# Timesteps and intervals in minutes: hourly and longer, and some with several timesteps to an interval.
CLOCKS = [(60, 60), (120, 120), (240, 240), (60, 180), (120, 360), (240, 480)]


@st.composite
def places(draw: st.DrawFn, *, most: int = 8) -> list[Place]:
    """One to ``most`` places around one spot, some at the same point, some open to everywhere."""
    count = draw(st.integers(1, most))
    offsets = st.integers(0, 6)
    rows = [
        Place(
            place_id=f"p{number}",
            name=f"Place {number}",
            latitude=50 + draw(offsets) * 0.02,
            longitude=10 + draw(offsets) * 0.03,
            category_ids=tuple(
                draw(st.lists(st.sampled_from(TREE.ids), min_size=1, max_size=2, unique=True))
            ),
            hours=draw(st.sampled_from(HOURS)),
            popularity=draw(POPULARITY),
            is_anywhere=draw(st.integers(0, 9)) == 0,
        )
        for number in range(count)
    ]
    # At least one place is open, or there is no world.
    rows[0] = Place(**{**{f: getattr(rows[0], f) for f in Place.__slots__}, "hours": "24/7"})
    return rows


@st.composite
def settings(draw: st.DrawFn, *, most_kappa: int = 1) -> dict[str, Any]:
    """Keys of a `world.toml` for straight-line travel."""
    speed = st.sampled_from([0.5, 2.0, 8.0, float("inf")])
    dimensions = draw(st.permutations(["space", "time", "category"]))
    timestep, interval = draw(st.sampled_from(CLOCKS))
    return {
        "timestep_minutes": timestep,
        "interval_minutes": interval,
        "speed_kmh": draw(speed | st.lists(speed, min_size=24, max_size=24)),
        "kappa": draw(st.integers(1, most_kappa)),
        "grid": draw(st.integers(1, 4)),
        "merge_order": list(dimensions[: draw(st.integers(0, 3))]),
        "category_levels": draw(st.integers(1, 3)),
        "circular_time": draw(st.booleans()),
    }


@st.composite
def world_inputs(draw: st.DrawFn, *, most: int = 8) -> tuple[list[Place], dict[str, Any]]:
    """Places and settings that fit each other."""
    rows = draw(places(most=most))
    return rows, draw(settings(most_kappa=open_count(rows)))


def open_count(rows: Sequence[Place]) -> int:
    """Places that are open on the day of all these worlds."""
    return sum(row.hours not in CLOSED_ON_WEDNESDAY for row in rows)


def write_world_files(
    folder: Path, rows: Sequence[Place], keys: dict[str, Any], tree: CategoryTree = TREE
) -> dict[str, Any]:
    """Tables of a world in ``folder``; returns the keys of its `world.toml`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_place_rows(folder / "places.csv", rows)
    with (folder / "categories.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["category_id", "name", "parent_id", "hours"])
        for node, category_id in enumerate(tree.ids):
            parent = tree.parents[node]
            writer.writerow(
                [category_id, tree.names[node], tree.ids[parent] if parent >= 0 else "", tree.hours[node]]
            )
    return {"places": str(folder / "places.csv"), "categories": str(folder / "categories.csv"), **keys}


def write_place_rows(path: Path, rows: Sequence[Place], removed: Sequence[str] = ()) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(
            ["place_id", "name", "lat", "lng", "category", "hours", "popularity", "anywhere", "remove"]
        )
        for row in rows:
            writer.writerow(
                [
                    row.place_id,
                    row.name,
                    repr(row.latitude),
                    repr(row.longitude),
                    ";".join(row.category_ids),
                    row.hours,
                    ";".join(map(repr, row.popularity)),
                    "yes" if row.is_anywhere else "",
                    "",
                ]
            )
        writer.writerows([[place_id, "", "", "", "", "", "", "", "yes"] for place_id in removed])


def build(folder: Path, rows: Sequence[Place], keys: dict[str, Any] | None = None) -> World:
    """A world from places and keys of a `world.toml`, through files as a user would."""
    values = write_world_files(folder, rows, keys or {})
    return build_world(parse_config(values, folder=folder, source="world.toml"))


def place(place_id: str, latitude: float, longitude: float, category: str = "cafe", **more: Any) -> Place:
    """A place in few words; several categories as in a table, "shoes;cafe"."""
    return Place(
        place_id=place_id,
        name=place_id,
        latitude=latitude,
        longitude=longitude,
        category_ids=tuple(category.split(";")),
        **more,
    )
