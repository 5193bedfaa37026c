"""What OpenStreetMap's tags mean to us: three levels of categories, when people go there, how long they stay.

The mapping is data: `tables/osm_categories.csv` says which group and subgroup a tag belongs to, and
`tables/osm_groups.csv` when people go to such places and how long they stay. Tags that are not in it, such as
benches, are no places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import NamedTuple

from elsewhere.inputs.raw_text import records_of

# In this order: a hotel with a restaurant is a hotel, a museum with a shop a museum.
KEYS = ("tourism", "amenity", "shop", "leisure", "healthcare", "office", "craft", "railway", "aeroway")


class Kind(NamedTuple):
    """What a place is: group, subgroup and tag; and how popular such places are beside others."""

    path: tuple[str, str, str]
    popularity: float


class Found(NamedTuple):
    """A place of a city as its source describes it."""

    place_id: str
    name: str
    latitude: float
    longitude: float
    path: tuple[str, ...]
    """Its category, from the root on."""
    group: str
    """Which of our groups its root is."""
    popularity: float
    hours: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What places of a group have in common."""

    hours: str
    by_hour: tuple[float, ...]
    dwell: tuple[float, ...]


def kind_of(tags: Mapping[str, str]) -> Kind | None:
    """The first of its tags that makes it a place; None for what is none."""
    for key in KEYS:
        value = tags.get(key, "").partition(";")[0].strip()
        if not value or value == "no":
            continue
        row = _kinds().get((key, value)) or (None if value == "vacant" else _kinds().get((key, "*")))
        if row is not None:
            group, subgroup, popularity = row
            return Kind((group, subgroup, f"{key}={'other' if value == 'yes' else value}"), popularity)
    return None


@cache
def _kinds() -> dict[tuple[str, str], tuple[str, str, float]]:
    with as_file(files("elsewhere.datasets") / "tables/osm_categories.csv") as path:
        return {
            (row["key"], row["value"]): (row["group"], row["subgroup"], float(row["popularity"]))
            for _, row in records_of(path, ("key", "value", "group", "subgroup", "popularity"))
        }


@cache
def groups() -> dict[str, Group]:
    """All groups by name."""
    with as_file(files("elsewhere.datasets") / "tables/osm_curves.csv") as path:
        curves = {row["curve"]: _numbers(row["by_hour"]) for _, row in records_of(path, ("curve", "by_hour"))}
    with as_file(files("elsewhere.datasets") / "tables/osm_groups.csv") as path:
        return {
            row["group"]: Group(
                hours=row["hours"],
                by_hour=tuple(value / sum(curves[row["curve"]]) for value in curves[row["curve"]]),
                dwell=_numbers(row["dwell"]),
            )
            for _, row in records_of(path, ("group", "hours", "curve", "dwell"))
        }


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(";"))
