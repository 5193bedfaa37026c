"""Trajectories in files, as long tables in scikit-mobility's column names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from elsewhere.io.tables import write_csv
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.trajectories import Trajectory


def write_trajectories(path: Path, trajectories: Sequence[Trajectory], places: Places, clock: Clock) -> None:
    """Write ``uid, tid, datetime, lat, lng, place_id``: one person each, local time of the clock's day."""
    row_of = {place_id: row for row, place_id in enumerate(places.ids)}
    width = len(str(len(trajectories)))
    owners = [number for number, trajectory in enumerate(trajectories, start=1) for _ in trajectory]
    visits = [visit for trajectory in trajectories for visit in trajectory]
    rows = [row_of[visit.place_id] for visit in visits]
    times = [clock.datetime_of(timestep).isoformat() for timestep in range(clock.timesteps)]
    frame = pl.DataFrame(
        {
            "uid": [f"u{number:0{width}d}" for number in owners],
            "tid": [f"t{number:0{width}d}" for number in owners],
            "datetime": [times[visit.timestep] for visit in visits],
            "lat": places.latitudes[rows],
            "lng": places.longitudes[rows],
            "place_id": [visit.place_id for visit in visits],
        }
    )
    write_csv(path, frame)
