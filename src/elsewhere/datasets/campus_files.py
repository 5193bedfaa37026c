"""The campus as a data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elsewhere.datasets.bundle import Dataset, only_file
from elsewhere.datasets.campus import (
    RESIDENCE_A,
    SPEED_KMH,
    STADIUM_A,
    build_campus,
    campus_events,
    generated_buildings,
)
from elsewhere.datasets.notes import note
from elsewhere.datasets.ubc import read_ubc_buildings
from elsewhere.device.matching import Person
from elsewhere.inputs.raw_text import first_line
from elsewhere.progress import Progress, no_progress


def read_campus(
    raw: Sequence[Path] = (), *, people: int = 5000, seed: int = 1, progress: Progress = no_progress
) -> Dataset:
    """The paper's campus, generated or UBC's, and a day of each of its people."""
    if not raw:
        buildings = generated_buildings(seed)
        by_name = {row.name: row.place_id for row in buildings}
        residence, stadium = by_name[RESIDENCE_A], by_name[STADIUM_A]
        source = "generated campus"
    else:
        buildings, residence, stadium = read_ubc_buildings(only_file(raw))
        source = f"finished buildings of {raw[0].name} (UBC geospatial open data, PDDL 1.0)"
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
    steps = {
        f"at {name_of[residence]}, 8-10 pm": present[0],
        f"at {name_of[stadium]}, 2-4 pm": present[1],
        "in ten academic buildings, 9-11 am": present[2],
    }
    width, date = len(str(people)), campus.clock.date
    title, what, terms = note("campus", source=source, seed=seed)
    return Dataset(
        title=title,
        what=what,
        terms=terms,
        places=buildings,
        tree=campus.tree,
        days=[
            Person(uid=f"u{number:0{width}d}", tid=f"t{number:0{width}d}", date=date, trajectory=day)
            for number, day in enumerate(campus.trajectories, start=1)
        ],
        clock=campus.clock,
        settings={"speed_kmh": SPEED_KMH},
        steps=steps,
    )


def pick_campus(files: Sequence[Path]) -> tuple[Path, ...]:
    """UBC's table of buildings, if it is among ``files``."""
    tables = [file for file in files if "BLDG_UID" in first_line(file) and "geojson" not in file.name]
    return tuple(tables[:1])
