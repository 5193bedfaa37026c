"""Places that days are matched to: those of a world, of a data set's tables, or of any table of places."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from elsewhere.datasets.checkin_categories import OTHER, category_of, checkin_tree
from elsewhere.datasets.timezones import checked_zone, city_zone
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.delimited import delimited_records, layout_of, require
from elsewhere.inputs.raw_text import degrees
from elsewhere.inputs.tables import read_categories, read_places
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.world.settings import SpeedTravel
from elsewhere.world.world import World

_SPEED_KMH = 8.0


class GivenPlaces(NamedTuple):
    """Places, their kinds, and the clock that days are read by."""

    places: list[Place]
    tree: CategoryTree
    clock: Clock
    settings: dict[str, Any]
    """For world.toml: how fast people are, and whose visits made places popular (R12)."""


def places_given(world: World | None, places: Path | None, timezone: str | None) -> GivenPlaces:
    """Those of ``world`` or of the file ``places``; one of the two must be there."""
    if (world is None) == (places is None):
        raise InputError(
            "--places", "or -w WORLD is needed, one of them: fixes and stays have no places of their own"
        )
    if world is not None:
        zone = world.clock.timezone if timezone is None else checked_zone(timezone)
        travel = world.settings.travel
        return GivenPlaces(
            [world.places.row(place, world.tree) for place in range(len(world.places))],
            world.tree,
            replace(world.clock, timezone=zone),
            {
                "speed_kmh": travel.speed_kmh if isinstance(travel, SpeedTravel) else _SPEED_KMH,
                "popularity_from": world.settings.popularity_from,
            },
        )
    assert places is not None  # noqa: S101 - one of the two is there
    beside = places.with_name("categories.csv")
    tree = read_categories(beside) if beside.is_file() else checkin_tree(None)
    rows = read_places(places, tree) if beside.is_file() else _any_table(places)
    zone = city_zone(timezone, ((row.latitude, row.longitude) for row in rows))
    return GivenPlaces(
        rows, tree, Clock(timezone=zone), {"speed_kmh": _SPEED_KMH, **_popularity_beside(places)}
    )


def _popularity_beside(places: Path) -> dict[str, Any]:
    """Whose visits made places popular is not forgotten when they are taken over from a data set."""
    try:
        found = tomllib.loads(places.with_name("world.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in found.items() if key == "popularity_from"}


def _any_table(path: Path) -> list[Place]:
    """A table of places with any usual names of columns; kinds are told by their names."""
    layout = layout_of(path)
    require(layout, path, ("place_id", "lat", "lng"))
    found: dict[str, Place] = {}
    faults: list[Fault] = []
    for row, record in delimited_records(path, layout):
        position = degrees(record["lat"], record["lng"])
        if position is None:
            faults.append(Fault(row=row, column="lat", problem="needs degrees under lat and lng"))
        elif not record["place_id"] or record["place_id"] in found:
            faults.append(Fault(row=row, column="place_id", problem="is empty, or there already"))
        else:
            found[record["place_id"]] = Place(
                place_id=record["place_id"],
                name=record.get("name", "") or record["place_id"],
                latitude=position[0],
                longitude=position[1],
                category_ids=(category_of(record.get("category", "")) or OTHER,),
            )
    if faults:
        raise InputError(str(path), faults)
    if not found:
        raise InputError(str(path), "holds no place, at least one is needed")
    return list(found.values())
