"""The campus data set as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from elsewhere.datasets.campus import (
    RESIDENCE_A,
    SPEED_KMH,
    STADIUM_A,
    TIMEZONE,
    build_campus,
    campus_events,
    generated_buildings,
)
from elsewhere.datasets.ubc import read_ubc_buildings
from elsewhere.errors import InputError
from elsewhere.io.files import write_text
from elsewhere.io.tables import write_categories, write_places
from elsewhere.io.trajectory_tables import write_trajectories

_WORLD_TOML = f"""\
# The paper's settings for its campus (section 6.2); every other key has the paper's default.
places = "places.csv"
categories = "categories.csv"
timestep_minutes = 10
day = "Wed"
timezone = "{TIMEZONE}"
speed_kmh = {SPEED_KMH:g}
kappa = 10
grid = 4
merge_order = ["space", "time", "category"]
"""

_SOURCE_MD = """\
# Campus

Buildings: {source}. Trajectories: made up by the recipe of section 6.1.3 of "Real-World Trajectory
Sharing with Local Differential Privacy" (PVLDB 2021), seed {seed}; nobody's real movements.

| what | count |
|---|---|
| buildings | {places} |
| trajectories | {trajectories} |
| visits | {visits} |
| at {residence}, 8-10 pm | {residents} |
| at {stadium}, 2-4 pm | {spectators} |
| in ten academic buildings, 9-11 am | {students} |

Nine categories in four groups, opening hours per category set by hand (`categories.csv`). Of UBC's
twelve building usages, Commercial counts as commons, Operations as services, Other as parking.
"""


def write_campus(
    folder: Path, *, raw: Path | None, people: int, seed: int, progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Write places, categories, trajectories, settings and a note on the source; return counts."""
    if (folder / "places.csv").exists() and not (folder / "SOURCE.md").exists():
        raise InputError(str(folder), "holds a places.csv of somebody else's: choose another folder")
    if raw is None:
        buildings = generated_buildings(seed)
        by_name = {row.name: row.place_id for row in buildings}
        residence, stadium = by_name[RESIDENCE_A], by_name[STADIUM_A]
        source = "generated campus"
    else:
        buildings, residence, stadium = read_ubc_buildings(raw)
        source = f"finished buildings of {raw.name} (UBC geospatial open data, PDDL 1.0)"
    events = campus_events(buildings, residence, stadium)
    campus = build_campus(buildings, events, people=people, seed=seed, progress=progress)
    name_of = {row.place_id: row.name for row in buildings}
    hour = 60 // campus.clock.timestep_minutes
    present = [
        sum(
            any(
                v.place_id in event.place_ids and event.from_hour <= v.timestep / hour < event.to_hour
                for v in day
            )
            for day in campus.trajectories
        )
        for event in events
    ]
    facts = {
        "source": source,
        "places": len(campus.places),
        "trajectories": len(campus.trajectories),
        "visits": sum(map(len, campus.trajectories)),
    }
    note = _SOURCE_MD.format(
        **facts,
        seed=seed,
        residence=name_of[residence],
        stadium=name_of[stadium],
        residents=present[0],
        spectators=present[1],
        students=present[2],
    )
    write_places(folder / "places.csv", buildings)
    write_categories(folder / "categories.csv", campus.tree)
    write_trajectories(folder / "trajectories.csv", campus.trajectories, campus.places, campus.clock)
    write_text(folder / "SOURCE.md", note)
    write_text(folder / "world.toml", _WORLD_TOML)
    return facts
