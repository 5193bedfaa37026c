"""`world update` with new roads, timetables, matrices, categories gives exactly what a full rebuild gives."""

from __future__ import annotations

import csv
import zipfile
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.errors import InputError
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.places import Place
from elsewhere.world.build import build_world
from elsewhere.world.toml import parse_config
from elsewhere.world.update import update_world, updated
from elsewhere.world.update_travel import TravelFiles
from elsewhere.world.world import World
from examples import examples
from worlds import (
    HOURS,
    TREE,
    build,
    open_count,
    place,
    places,
    settings,
    write_place_rows,
    write_world_files,
)

_SIDE = 3


def _same(folder: Path, first: World, second: World) -> bool:
    files = [folder / "first.world", folder / "second.world"]
    for world, file in zip((first, second), files, strict=True):
        world.save(file)
    return files[0].read_bytes() == files[1].read_bytes()


def _write_roads(folder: Path, name: str, lengths: list[float]) -> tuple[Path, Path]:
    """A grid of streets, one-way towards the north-east with a way back, of the given lengths."""
    nodes, edges = folder / f"{name}-nodes.csv", folder / f"{name}-edges.csv"
    with nodes.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["node_id", "lat", "lng"])
        corners = product(range(_SIDE), repeat=2)
        writer.writerows([f"{x}-{y}", 50 + y * 0.05, 10 + x * 0.08] for x, y in corners)
    with edges.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["from_node", "to_node", "km", "speed_kmh"])
        for (x, y), km in zip(product(range(_SIDE - 1), repeat=2), lengths, strict=True):
            writer.writerow([f"{x}-{y}", f"{x + 1}-{y}", km, ""])
            writer.writerow([f"{x}-{y}", f"{x}-{y + 1}", 4.4, ""])
        writer.writerow([f"{_SIDE - 1}-0", "0-0", 13.1, ""])
    return nodes, edges


_LENGTHS = st.lists(st.sampled_from([0.5, 1.7, 9.3]), min_size=(_SIDE - 1) ** 2, max_size=(_SIDE - 1) ** 2)


@given(st.data())
@examples(max_examples=25)
def test_new_roads(tmp_path: Path, data: st.DataObject) -> None:
    """New roads affecting reachable POIs; beside them a place may move and another come."""
    rows = data.draw(places(most=6))
    keys = data.draw(settings(most_kappa=open_count(rows)))
    del keys["speed_kmh"]
    speed = data.draw(st.sampled_from([5.0, [5.0] * 12 + [10.0] * 12]))
    old, new = (_write_roads(tmp_path, name, data.draw(_LENGTHS)) for name in ("old", "new"))

    def travel(files: tuple[Path, Path]) -> dict[str, Any]:
        return {
            "travel": {"kind": "roads", "nodes": str(files[0]), "edges": str(files[1]), "speed_kmh": speed}
        }

    world = build(tmp_path, rows, keys | travel(old))
    changes = None
    after = rows
    if data.draw(st.booleans()):
        changed = [replace(rows[0], latitude=50.03), place("n", 50.01, 10.02, hours="24/7")]
        changes = tmp_path / "changes.csv"
        write_place_rows(changes, changed)
        after = [*changed, *rows[1:]]
    assert _same(
        tmp_path, update_world(world, changes, roads=new), build(tmp_path, after, keys | travel(new))
    )


@given(st.data())
@examples(max_examples=25)
def test_a_new_matrix(tmp_path: Path, data: st.DataObject) -> None:
    rows = [replace(row, is_anywhere=False) for row in data.draw(places(most=5))]
    keys = data.draw(settings(most_kappa=open_count(rows)))
    del keys["speed_kmh"]
    files = []
    for name in ("old", "new"):
        # The one may have times by the hour, the other not.
        hours: list[int | str] = data.draw(st.sampled_from([[""], list(range(24))]))
        files.append(tmp_path / f"{name}.csv")
        lines = [
            f"{a.place_id},{b.place_id},{data.draw(st.sampled_from([5, 61, 300]))}"
            for a, b in product(rows, repeat=2)
        ]
        head = "from_id,to_id,minutes" + (",hour" if len(hours) > 1 else "")
        body = [f"{line},{hour}".rstrip(",") for line in lines for hour in hours]
        files[-1].write_text("\n".join([head, *body]) + "\n")
    before, after = (keys | {"travel": {"kind": "matrix", "file": str(file)}} for file in files)
    world = build(tmp_path, rows, before)
    assert _same(tmp_path, update_world(world, matrix=files[1]), build(tmp_path, rows, after))


def _feed(path: Path, minutes: int) -> Path:
    """A line that takes so long from one end of the town to the other, every hour."""
    head = "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
    times = "".join(
        f"t{h},{h:02d}:00:00,{h:02d}:00:00,A,1\nt{h},{h:02d}:{minutes}:00,{h:02d}:{minutes}:00,B,2\n"
        for h in range(6, 20)
    )
    content = {
        "stops.txt": "stop_id,stop_name,stop_lat,stop_lon\nA,Ash,50.0,10.0\nB,Birch,50.12,10.18\n",
        "trips.txt": "route_id,service_id,trip_id\n" + "".join(f"1,week,t{h}\n" for h in range(6, 20)),
        "stop_times.txt": head + times,
        "calendar.txt": "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,"
        "start_date,end_date\n"
        "week,1,1,1,1,1,0,0,20250101,20250131\n",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return path


def test_a_new_timetable_and_a_place_where_none_was(tmp_path: Path) -> None:
    rows = [place(f"p{i}", 50 + i * 0.04, 10 + i * 0.06, hours="24/7") for i in range(4)]
    old, new = (_feed(tmp_path / f"{minutes}.zip", minutes) for minutes in (55, 12))
    keys = {"timestep_minutes": 60, "kappa": 1, "grid": 4}
    before, after = (keys | {"travel": {"kind": "timetable", "file": str(file)}} for file in (old, new))
    world = build(tmp_path, rows, before)
    write_place_rows(tmp_path / "changes.csv", [place("n", 50.12, 10.18, hours="24/7")])
    both = update_world(world, tmp_path / "changes.csv", timetable=new)
    assert _same(tmp_path, both, build(tmp_path, [*rows, place("n", 50.12, 10.18, hours="24/7")], after))
    assert _same(tmp_path, update_world(world, timetable=new), build(tmp_path, rows, after))
    assert update_world(world, timetable=old) == world


_PARENTS = [TREE.ids[parent] if parent >= 0 else "" for parent in TREE.parents]
_OTHER_TREES = [
    build_tree(TREE.ids, [f"{name}!" for name in TREE.names], _PARENTS, TREE.hours),
    build_tree(TREE.ids, TREE.names, _PARENTS, ["09:00-12:00"] * len(TREE.ids)),
    # A category that has moved to the top, and a new root with a leaf.
    build_tree(
        [*TREE.ids, "art", "museum"],
        [*TREE.names, "Art", "Museum"],
        [*("" if child == "shoes" else up for child, up in zip(TREE.ids, _PARENTS, strict=True)), "", "art"],
        [*TREE.hours, "10:00-18:00", ""],
    ),
]


@given(st.data())
@examples(max_examples=60)
def test_a_changed_table_of_categories(tmp_path: Path, data: st.DataObject) -> None:
    rows = data.draw(places(most=8))
    keys = data.draw(settings(most_kappa=1))
    tree: CategoryTree = data.draw(st.sampled_from(_OTHER_TREES))
    world = build(tmp_path, rows, keys)
    changes, after = None, rows
    if data.draw(st.booleans()):
        changed = [replace(row, hours=data.draw(st.sampled_from(HOURS))) for row in rows[1:3]]
        changes = tmp_path / "changes.csv"
        write_place_rows(changes, changed)
        after = [rows[0], *changed, *rows[3:]]
    values = write_world_files(tmp_path / "new", after, keys, tree)
    rebuilt = build_world(parse_config(values, folder=tmp_path, source="world.toml"))
    assert _same(tmp_path, update_world(world, changes, categories=values["categories"]), rebuilt)


def test_only_what_is_touched_is_worked_out_again(tmp_path: Path) -> None:
    rows: list[Place] = [place(f"p{i}", 50 + (i % 3) * 0.05, 10 + (i // 3) * 0.08) for i in range(9)]
    old, new = (
        _write_roads(tmp_path, name, [1.7, 1.7, 1.7, km]) for name, km in (("old", 1.7), ("new", 9.3))
    )
    travel = {"kind": "roads", "nodes": str(old[0]), "edges": str(old[1]), "speed_kmh": 5}
    world = build(tmp_path, rows, {"kappa": 1, "grid": 4, "travel": travel})
    _, nothing = updated(world, None, files=TravelFiles(roads=old))
    assert (nothing.travel, nothing.regions) == ("all places", 0)
    after, some = updated(world, None, files=TravelFiles(roads=new))
    assert 0 < some.regions < len(after.regions)
    assert "travel between all places" in some.in_words(after)
    renamed = write_world_files(tmp_path / "renamed", rows, {}, _OTHER_TREES[0])["categories"]
    _, names = updated(world, None, categories=Path(renamed))
    assert (names.travel, names.regions) == ("none", 0)


def test_what_cannot_be_updated_is_said(tmp_path: Path) -> None:
    world = build(tmp_path, [place("a", 50, 10), place("b", 50, 10.1)], {"kappa": 1})
    with pytest.raises(InputError, match="needs something that changed"):
        update_world(world)
    with pytest.raises(InputError, match="roads: this world's travel is in straight lines"):
        update_world(world, roads=_write_roads(tmp_path, "new", [1.0] * 4))
    (tmp_path / "few.csv").write_text("category_id,name,parent_id\nfood,Food,\n")
    with pytest.raises(InputError, match="does not have 'cafe', which a place has"):
        update_world(world, categories=tmp_path / "few.csv")
    nodes, edges = _write_roads(tmp_path, "old", [1.0] * 4)
    travel = {"kind": "roads", "nodes": str(nodes), "edges": str(edges), "speed_kmh": 5}
    by_road = build(tmp_path, [place("a", 50, 10), place("b", 50, 10.1)], {"kappa": 1, "travel": travel})
    with pytest.raises(InputError, match="came from a table of nodes and one of edges"):
        update_world(by_road, roads=tmp_path / "city.osm.pbf")
