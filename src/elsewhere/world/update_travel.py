"""Travel of a world that is updated: between changed places, or between all of them by new files.

A new road or another timetable may change the way between any two places, so all ways are worked out again.
What is kept then is the graph: only regions from whose places some way takes another time are touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Bools
from elsewhere.errors import InputError
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.roads import road_milliseconds
from elsewhere.knowledge.travel import (
    MeanHours,
    RoadNetwork,
    StepTable,
    Travel,
    hourly_profiles,
    step_table,
    straight_line,
)
from elsewhere.world.build import read_travel
from elsewhere.world.settings import (
    MatrixTravel,
    RoadTravel,
    SpeedTravel,
    TimetableTravel,
    TravelSettings,
)
from elsewhere.world.world import World

_HOURS = 24
_BY = {
    "speed": "in straight lines",
    "matrix": "a given matrix",
    "roads": "along roads",
    "timetable": "by a timetable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TravelFiles:
    """New files of travel, of the kind that a world's travel is of."""

    roads: Path | tuple[Path, Path] | None = None
    """An OpenStreetMap extract, or nodes and edges."""
    timetable: Path | None = None
    matrix: Path | None = None

    @property
    def given(self) -> list[str]:
        """Which of them there are."""
        return [name for name in ("roads", "timetable", "matrix") if getattr(self, name) is not None]


def replaced_travel(
    world: World, files: TravelFiles, places: Places, mean: MeanHours | None
) -> tuple[Travel, RoadNetwork | None]:
    """Travel between all places by new files."""
    kind = world.settings.travel.kind
    if files.given != [kind]:
        raise InputError(
            " and ".join(files.given),
            f"this world's travel is {_BY[kind]}: to travel in another way, build it again",
        )
    return read_travel(_with_paths(world.settings.travel, files), places, world.clock, mean)


def _with_paths(settings: TravelSettings, files: TravelFiles) -> TravelSettings:
    match settings:
        case MatrixTravel():
            return replace(settings, file=files.matrix)
        case TimetableTravel():
            return replace(settings, file=files.timetable)
        case RoadTravel(mode=mode):
            if (mode is None) != isinstance(files.roads, tuple):
                form = "a table of nodes and one of edges" if mode is None else "an OpenStreetMap extract"
                raise InputError("roads", f"this world's roads came from {form}, so must new ones")
            if isinstance(files.roads, tuple):
                return replace(settings, nodes=files.roads[0], edges=files.roads[1])
            return replace(settings, file=files.roads)
    return settings


def touched_origins(old: Travel, new: Travel, old_of_new: NDArray[np.intp]) -> Bools:
    """Places from which some way to a place that was there before takes another time than it did."""
    touched = np.zeros(len(old_of_new), dtype=np.bool_)
    if isinstance(old, StepTable) and isinstance(new, StepTable):
        kept = np.flatnonzero(old_of_new >= 0)
        rows = old_of_new[kept]
        pairs = {(int(old.profile_of_hour[h]), int(new.profile_of_hour[h])) for h in range(_HOURS)}
        for before, after in pairs:
            was = old.table[before][rows[:, None], rows[None, :]]
            touched[kept] |= np.any(was != new.table[after][kept[:, None], kept[None, :]], axis=1)
    return touched


def updated_travel(world: World, places: Places, old_of_new: NDArray[np.intp], source: str) -> Travel:
    """Travel after changes to places alone, from what the world knows of travel."""
    settings = world.settings
    match settings.travel:
        case SpeedTravel(speed_kmh=speed):
            return straight_line(places, world.clock, speed)
        case MatrixTravel():
            return _updated_matrix(world, places, source, "a given matrix")
        case TimetableTravel():
            _refuse_moves(world, places, source)
            return _updated_matrix(world, places, source, "by a timetable")
        case RoadTravel():
            return _updated_roads(world, settings.travel, places, old_of_new)


def _refuse_moves(world: World, places: Places, source: str) -> None:
    """The timetable is not in the world: times to where a place was do not hold where it is."""
    for place_id, vector in zip(places.ids, places.vectors, strict=True):
        old = world.place_index.get(place_id)
        if old is not None and not np.array_equal(world.places.vectors[old], vector):
            raise InputError(source, f"{place_id!r} has moved: travel is by a timetable, build it again")


def _updated_matrix(world: World, places: Places, source: str, kind: str) -> StepTable:
    """The given matrix without removed places; it has no times for new ones."""
    assert isinstance(world.travel, StepTable)  # noqa: S101 - what MatrixTravel always makes
    unknown = [place_id for place_id in places.ids if place_id not in world.place_index]
    if unknown:
        raise InputError(
            source,
            f"no travel times for the new place {unknown[0]!r}: this world's travel is {kind}, "
            "build it again with times for the place",
        )
    if not np.array_equal(
        world.places.is_anywhere[[world.place_index[place_id] for place_id in places.ids]], places.is_anywhere
    ):
        raise InputError(
            source, f"'anywhere' cannot change in a world whose travel is {kind}: build it again"
        )
    rows = np.array([world.place_index[place_id] for place_id in places.ids])
    return replace(
        world.travel, table=np.ascontiguousarray(world.travel.table[:, rows[:, None], rows[None, :]])
    )


def _updated_roads(
    world: World, settings: RoadTravel, places: Places, old_of_new: NDArray[np.intp]
) -> StepTable:
    """Shortest paths again from and to places that are new or moved, the rest as it was."""
    assert isinstance(world.travel, StepTable)  # noqa: S101 - what RoadTravel always makes
    assert world.roads is not None  # noqa: S101 - as above
    speeds, profile_of_hour = hourly_profiles(settings.speed_kmh)
    fresh, kept = np.flatnonzero(old_of_new < 0), np.flatnonzero(old_of_new >= 0)
    tables = []
    for profile, speed in enumerate(speeds):
        out = road_milliseconds(world.roads, places.vectors[fresh], places.vectors, speed)
        back = road_milliseconds(world.roads, places.vectors, places.vectors[fresh], speed)
        times = np.zeros((len(places), len(places)))
        times[fresh, :] = out
        times[:, fresh] = back
        table = step_table([times], profile_of_hour, world.clock, places.is_anywhere).table[0]
        old_rows = old_of_new[kept]
        table[kept[:, None], kept] = world.travel.table[profile][old_rows[:, None], old_rows]
        tables.append(table)
    return StepTable(profile_of_hour=profile_of_hour, table=np.stack(tables))
