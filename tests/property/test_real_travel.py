"""Every method on real streets and a real timetable: what is shared can be travelled."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from cities import DATA, write_city
from elsewhere.audit.made_up import made_up_days
from elsewhere.knowledge.travel import StepTable, is_reachable
from elsewhere.methods.registry import METHODS
from elsewhere.world.world import World

EXTRACT, FEED = DATA / "osm/manhattan_midtown.osm.pbf", DATA / "gtfs/nyc_subway_gtfs.zip"
TRAVEL = {
    "streets": f'kind = "roads"\nfile = "{EXTRACT}"\nmode = "drive"',
    "subway": f'kind = "timetable"\nfile = "{FEED}"',
}
# What lists whole days can do so only for a few places.
FEW = {"global-subsampled": 6, "global-pf": 6}

pytestmark = pytest.mark.skipif(
    not (EXTRACT.exists() and FEED.exists()), reason=f"the real data is not there: {DATA}"
)


@pytest.fixture(scope="module")
def midtown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Places of Foursquare within the extract."""
    folder = tmp_path_factory.mktemp("midtown")
    write_city(folder, 2000)
    with (folder / "places.csv").open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if 40.736 <= float(row["lat"]) <= 40.759 and -74.014 <= float(row["lng"]) <= -73.963
        ]
    _write(folder / "places.csv", rows)
    return folder


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def _world(midtown: Path, kind: str, places: int) -> World:
    folder = midtown / f"{kind}-{places}"
    if not folder.exists():
        folder.mkdir()
        with (midtown / "places.csv").open(newline="") as file:
            _write(folder / "places.csv", list(csv.DictReader(file))[:places])
        (folder / "categories.csv").write_bytes((midtown / "categories.csv").read_bytes())
        # In Midtown all is within ten minutes by car: with timesteps of one minute streets make a difference.
        minutes = 1 if kind == "streets" and places > 10 else 10 if places > 10 else 240
        (folder / "world.toml").write_text(
            'places = "places.csv"\ncategories = "categories.csv"\n'
            f"timestep_minutes = {minutes}\ninterval_minutes = {max(60, minutes)}\nkappa = 1\n"
            f"[travel]\n{TRAVEL[kind]}\n"
        )
        ew.build_world(folder / "world.toml").save(folder / "w.world")
    return ew.World.load(folder / "w.world")


@pytest.mark.parametrize("kind", sorted(TRAVEL))
@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_keeps_to_real_travel_times(midtown: Path, name: str, kind: str) -> None:
    world = _world(midtown, kind, FEW.get(name, 60 if kind == "streets" else 120))
    assert isinstance(world.travel, StepTable)
    method = ew.method(name, world, epsilon=5)
    for day in made_up_days(world, 3, 4):
        shared, _ = method.share(day)
        rows = [(world.place_index[visit.place_id], visit.timestep) for visit in shared]
        assert all(
            is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
            for (p, t), (q, u) in pairwise(rows)
        )


def test_streets_are_one_way_and_the_subway_has_a_timetable(midtown: Path) -> None:
    streets, subway = (_world(midtown, kind, 120) for kind in ("streets", "subway"))
    assert isinstance(streets.travel, StepTable)
    assert isinstance(subway.travel, StepTable)
    one_way = streets.travel.table[0]
    assert (one_way != one_way.T).mean() > 0.2
    by_hour = subway.travel.table.astype(np.int64)
    assert by_hour.shape == (24, 120, 120)
    # At night fewer trains run.
    assert by_hour[3].mean() > by_hour[8].mean()


def test_a_world_by_timetable_loses_places_but_takes_no_new_ones(midtown: Path, tmp_path: Path) -> None:
    world = _world(midtown, "subway", 120)
    first = world.places.ids[0]
    (tmp_path / "less.csv").write_text(f"place_id,remove\n{first},yes\n")
    smaller = ew.update_world(world, tmp_path / "less.csv")
    assert isinstance(smaller.travel, StepTable)
    assert isinstance(world.travel, StepTable)
    np.testing.assert_array_equal(smaller.travel.table, world.travel.table[:, 1:, 1:])
    (tmp_path / "moved.csv").write_text(f"place_id,lat\n{first},40.74\n")
    with pytest.raises(ew.InputError, match="has moved"):
        ew.update_world(world, tmp_path / "moved.csv")
