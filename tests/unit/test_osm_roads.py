"""Roads of OpenStreetMap: who may use what, one way or both, how fast; and a whole small extract."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elsewhere.errors import InputError
from elsewhere.inputs.osm_roads import Mode, direction, limit_kmh, may_use, read_osm_roads
from elsewhere.knowledge.roads import road_milliseconds
from elsewhere.knowledge.travel import StepTable
from elsewhere.world.update import update_world
from worlds import build, place, write_place_rows

# A block of four corners: streets one way round it, a footway across, and a road that leads nowhere else.
#   3 ← 2       0 → 1 → 2 → 3 → 0 by car; 0 – 4 – 2 on foot; 9 → 8 is an island of its own
#   ↓   ↑
#   0 → 1
_NODES = {
    0: (50.00, 10.00), 1: (50.00, 10.01), 2: (50.01, 10.01), 3: (50.01, 10.00), 4: (50.005, 10.005),
    5: (50.00, 10.005), 8: (51.0, 11.0), 9: (51.0, 11.01), 10: (49.99, 10.0),
}  # fmt: skip
_WAYS: list[tuple[list[int], dict[str, str]]] = [
    ([0, 5, 1], {"highway": "residential", "oneway": "yes", "maxspeed": "30 mph"}),
    ([1, 2], {"highway": "primary", "oneway": "yes"}),
    ([3, 2], {"highway": "residential", "oneway": "-1"}),
    ([3, 0], {"highway": "residential", "oneway": "yes", "oneway:bicycle": "no"}),
    ([0, 4, 2], {"highway": "footway"}),
    ([9, 8], {"highway": "residential"}),
    ([0, 10], {"highway": "service", "oneway": "yes"}),
    ([1, 3], {"highway": "construction"}),
]


def _extract(folder: Path) -> Path:
    nodes = [f'<node id="{n}" lat="{lat}" lon="{lng}" version="1"/>' for n, (lat, lng) in _NODES.items()]
    ways = [
        f'<way id="{number}" version="1">{"".join(f"<nd ref={chr(34)}{n}{chr(34)}/>" for n in refs)}'
        + "".join(f'<tag k="{key}" v="{value}"/>' for key, value in tags.items())
        + "</way>"
        for number, (refs, tags) in enumerate(_WAYS)
    ]
    path = folder / "block.osm"
    path.write_text(f'<osm version="0.6">{"".join(nodes + ways)}</osm>')
    return path


def test_cars_go_round_the_block_one_way(tmp_path: Path) -> None:
    roads = read_osm_roads(_extract(tmp_path), "drive", has_limits=True)
    assert len(roads.node_vectors) == 4  # the middle of a street, the island and the dead end are gone
    assert len(roads.origins) == 4
    assert sorted(roads.speeds_kmh.tolist()) == pytest.approx([30, 30, 30 * 1.609344, 50])
    times = road_milliseconds(roads, roads.node_vectors, roads.node_vectors, 30)
    assert np.isfinite(times).all()
    there, back = times[0, 1], times[1, 0]
    assert max(there, back) > 2 * min(there, back)


def test_walkers_go_where_they_like(tmp_path: Path) -> None:
    roads = read_osm_roads(_extract(tmp_path), "walk", has_limits=True)
    assert len(roads.node_vectors) == 5  # the corners and the end of the dead end
    assert np.isnan(roads.speeds_kmh).all()
    times = road_milliseconds(roads, roads.node_vectors, roads.node_vectors, 5)
    np.testing.assert_array_equal(times, times.T)


def test_bikes_may_be_let_through_the_other_way(tmp_path: Path) -> None:
    roads = read_osm_roads(_extract(tmp_path), "bike", has_limits=True)
    assert len(roads.origins) == 5


@pytest.mark.parametrize(
    ("tags", "mode", "expected"),
    [
        ({"highway": "motorway"}, "drive", True),
        ({"highway": "motorway"}, "walk", False),
        ({"highway": "footway"}, "drive", False),
        ({"highway": "footway", "bicycle": "designated"}, "bike", True),
        ({"highway": "residential", "access": "private"}, "drive", False),
        ({"highway": "service", "access": "no", "foot": "yes"}, "walk", True),
        ({"highway": "residential", "motor_vehicle": "no"}, "drive", False),
        ({"highway": "proposed", "foot": "yes"}, "walk", False),
        ({"highway": "pedestrian", "area": "yes"}, "walk", False),
    ],
)
def test_who_may_use_a_way(tags: dict[str, str], mode: Mode, expected: bool) -> None:
    assert may_use(tags, mode) == expected


def test_one_ways_and_limits() -> None:
    assert direction({"highway": "motorway"}, "drive") == 1
    assert direction({"highway": "primary", "junction": "roundabout"}, "drive") == 1
    assert direction({"highway": "primary", "junction": "roundabout", "oneway": "no"}, "drive") == 0
    assert direction({"highway": "primary", "oneway": "yes"}, "walk") == 0
    assert direction({"highway": "primary", "oneway": "reversible"}, "drive") == 0
    assert limit_kmh({"highway": "primary", "maxspeed": "70"}) == 70
    assert limit_kmh({"highway": "primary", "maxspeed": "25 mph"}) == pytest.approx(40.2336)
    assert limit_kmh({"highway": "primary", "maxspeed": "none"}) == 50
    assert limit_kmh({"highway": "primary", "maxspeed": "0"}) == 50


def test_what_is_no_extract_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "x.osm.pbf").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="not an OpenStreetMap extract"):
        read_osm_roads(tmp_path / "x.osm.pbf", "drive", has_limits=True)
    with pytest.raises(InputError, match="no such file"):
        read_osm_roads(tmp_path / "y.osm.pbf", "drive", has_limits=True)
    (tmp_path / "empty.osm").write_text('<osm version="0.6"></osm>')
    with pytest.raises(InputError, match="no road to bike on"):
        read_osm_roads(tmp_path / "empty.osm", "bike", has_limits=True)


def test_an_update_on_an_extract_equals_a_rebuild(tmp_path: Path) -> None:
    """The network is in the world: moved and new places need no extract."""
    extract = _extract(tmp_path)
    keys = {
        "kappa": 1,
        "timestep_minutes": 1,
        "travel": {"kind": "roads", "file": str(extract), "mode": "drive"},
    }
    rows = [place("a", 50.0, 10.0), place("b", 50.01, 10.01), place("c", 50.0, 10.009)]
    world = build(tmp_path / "before", rows, keys)
    assert isinstance(world.travel, StepTable)
    assert world.travel.table[0, 0, 1] != world.travel.table[0, 1, 0]
    moved = [rows[0], place("b", 50.009, 10.0), rows[2], place("d", 50.01, 10.0)]
    write_place_rows(tmp_path / "changed.csv", [moved[1], moved[3]])
    extract.unlink()
    updated = update_world(world, tmp_path / "changed.csv")
    _extract(tmp_path)
    assert updated == build(tmp_path / "after", moved, keys)
