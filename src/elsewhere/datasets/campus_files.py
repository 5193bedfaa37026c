"""The campus as a data set."""

from __future__ import annotations

from pathlib import Path

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.campus import (
    RESIDENCE_A,
    SPEED_KMH,
    STADIUM_A,
    build_campus,
    campus_events,
    generated_buildings,
)
from elsewhere.datasets.notes import note
from elsewhere.datasets.raw_text import Progress
from elsewhere.datasets.ubc import read_ubc_buildings
from elsewhere.io.matching import Person


def read_campus(raw: Path | None, *, people: int, seed: int, progress: Progress) -> Dataset:
    """The paper's campus, generated or UBC's, and a day of each of its people."""
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
