"""`world update` gives exactly what a full rebuild gives."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.knowledge.places import Place
from elsewhere.world.graph import EdgeFiller
from elsewhere.world.update import update_world
from elsewhere.world.world import World
from examples import examples
from worlds import HOURS, POPULARITY, TREE, build, open_count, place, places, settings, write_place_rows

_OFFSET = st.integers(0, 6)


@st.composite
def _changes(draw: st.DrawFn, rows: list[Place], *, may_add: bool = True) -> tuple[list[Place], list[str]]:
    """Some places changed, moved, added; some removed; the first is always open and stays."""
    changed, removed = [], []
    for row in rows[1:]:
        match draw(
            st.sampled_from(["keep", "keep", "hours", "move", "remove", "category", "popularity", "anywhere"])
        ):
            case "hours":
                changed.append(replace(row, hours=draw(st.sampled_from(HOURS))))
            case "move":
                changed.append(replace(row, latitude=50 + draw(_OFFSET) * 0.02))
            case "category":
                changed.append(replace(row, category_ids=(draw(st.sampled_from(TREE.ids)),)))
            case "popularity":
                changed.append(replace(row, popularity=draw(POPULARITY)))
            case "anywhere" if may_add:
                changed.append(replace(row, is_anywhere=not row.is_anywhere))
            case "remove":
                removed.append(row.place_id)
    for number in range(draw(st.integers(0, 2)) if may_add else 0):
        latitude, longitude = 50 + draw(_OFFSET) * 0.02, 10 + draw(_OFFSET) * 0.03
        changed.append(place(f"n{number}", latitude, longitude, hours=draw(st.sampled_from(HOURS))))
    return changed, removed


def check_update_equals_rebuild(
    folder: Path, rows: list[Place], keys: dict[str, Any], changed: list[Place], removed: list[str]
) -> None:
    after = {row.place_id: row for row in rows} | {row.place_id: row for row in changed}
    kept = [row for row in after.values() if row.place_id not in removed]
    if not isinstance(keys["kappa"], dict):
        keys["kappa"] = min(keys["kappa"], open_count(rows), open_count(kept))
    world = build(folder, rows, keys)
    write_place_rows(folder / "changes.csv", changed, removed)
    world.save(folder / "w.world")
    updated = update_world(World.load(folder / "w.world"), folder / "changes.csv")
    rebuilt = build(folder, kept, keys)
    updated.save(folder / "updated.world")
    rebuilt.save(folder / "rebuilt.world")
    assert (folder / "updated.world").read_bytes() == (folder / "rebuilt.world").read_bytes()


@given(st.data())
@examples(max_examples=150)
def test_update_equals_rebuild_on_a_grid(tmp_path: Path, data: st.DataObject) -> None:
    rows = data.draw(places(most=10))
    check_update_equals_rebuild(tmp_path, rows, data.draw(settings(most_kappa=6)), *data.draw(_changes(rows)))


@given(st.data())
@examples(max_examples=60)
def test_update_equals_rebuild_where_popular_places_stand_alone(tmp_path: Path, data: st.DataObject) -> None:
    rows = data.draw(places(most=10))
    rows[0] = replace(rows[0], popularity=(9.0,))
    keys = data.draw(settings(most_kappa=6)) | {"kappa": {"least": 5, "weight": "popularity"}}
    check_update_equals_rebuild(tmp_path, rows, keys, *data.draw(_changes(rows)))


@given(st.data())
@examples(max_examples=60)
def test_update_equals_rebuild_with_other_spaces(tmp_path: Path, data: st.DataObject) -> None:
    rows = data.draw(places(most=10))
    squares = [
        {
            "type": "Feature",
            "properties": {"id": f"{x}{y}", "borough": f"b{x}"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[w, s], [w + 0.1, s], [w + 0.1, s + 0.07], [w, s + 0.07], [w, s]]],
            },
        }
        for x, y in product(range(2), repeat=2)
        for w, s in [(10 + x * 0.1, 50 + y * 0.07)]
    ]
    (tmp_path / "boroughs.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": squares}))
    file = str(tmp_path / "boroughs.geojson")
    space = data.draw(
        st.sampled_from(
            [
                {"kind": "h3", "resolutions": [7, 5]},
                {"kind": "clusters", "counts": [3, 2]},
                {"kind": "polygons", "file": file, "parent": "borough"},
            ]
        )
    )
    keys = data.draw(settings(most_kappa=6))
    del keys["grid"]
    check_update_equals_rebuild(tmp_path, rows, keys | {"space": space}, *data.draw(_changes(rows)))


@given(st.data())
@examples(max_examples=40)
def test_update_equals_rebuild_on_roads(tmp_path: Path, data: st.DataObject) -> None:
    rows = data.draw(places(most=6))
    with (tmp_path / "nodes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["node_id", "lat", "lng"])
        writer.writerows([f"{x}-{y}", 50 + y * 0.04, 10 + x * 0.06] for x, y in product(range(4), repeat=2))
    with (tmp_path / "edges.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["from_node", "to_node", "km", "speed_kmh"])
        for x, y in product(range(3), repeat=2):  # one-way towards the north-east, with a way back
            writer.writerow([f"{x}-{y}", f"{x + 1}-{y}", data.draw(st.sampled_from([0, 1.7, 4.3])), ""])
            writer.writerow([f"{x}-{y}", f"{x}-{y + 1}", 4.4, data.draw(st.sampled_from(["", 30]))])
        writer.writerow(["3-0", "0-0", 13.1, ""])
    travel = {"kind": "roads", "nodes": str(tmp_path / "nodes.csv"), "edges": str(tmp_path / "edges.csv")}
    speed = data.draw(st.sampled_from([5.0, [5.0] * 12 + [10.0] * 12]))
    keys = data.draw(settings(most_kappa=6)) | {"travel": {**travel, "speed_kmh": speed}}
    del keys["speed_kmh"]
    check_update_equals_rebuild(tmp_path, rows, keys, *data.draw(_changes(rows)))


@given(st.data())
@examples(max_examples=40)
def test_update_equals_rebuild_on_a_given_matrix(tmp_path: Path, data: st.DataObject) -> None:
    rows = [replace(row, is_anywhere=False) for row in data.draw(places(most=6))]
    with (tmp_path / "minutes.csv").open("w") as file:
        file.write("from_id,to_id,minutes\n")
        for a, b in product(rows, repeat=2):
            file.write(f"{a.place_id},{b.place_id},{data.draw(st.sampled_from([5, 61, 300]))}\n")
    keys = data.draw(settings(most_kappa=6)) | {
        "travel": {"kind": "matrix", "file": str(tmp_path / "minutes.csv")}
    }
    del keys["speed_kmh"]
    check_update_equals_rebuild(tmp_path, rows, keys, *data.draw(_changes(rows, may_add=False)))


def test_an_update_works_out_only_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [place(f"p{i}", 50 + i * 0.01, 10, hours="08:00-12:00") for i in range(8)]
    world = build(tmp_path, rows, {"kappa": 1, "grid": 8})
    worked_out = []
    fill = EdgeFiller.fill

    def counting(self: EdgeFiller, words: Any, **more: Any) -> None:
        worked_out.append(len(more["origins"]) * len(more["destinations"]))
        fill(self, words, **more)

    monkeypatch.setattr(EdgeFiller, "fill", counting)
    write_place_rows(tmp_path / "changes.csv", [replace(rows[3], hours="08:00-13:00")])
    updated = update_world(world, tmp_path / "changes.csv")
    assert len(updated.regions) == len(world.regions) + 1
    # One new region, from it to all and from all others to it.
    assert sum(worked_out) == len(updated.regions) + len(world.regions)
