"""The four kinds of space: nested cells, ending in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.errors import InputError
from elsewhere.knowledge.places import Place, build_places
from elsewhere.world.regions import Polygons
from elsewhere.world.settings import ClusterSpace, GridSpace, H3Space, PolygonSpace, SpaceSettings
from elsewhere.world.space import SpaceLevels, divide_space, grid_sizes, read_polygons
from worlds import TREE, place, places


def _divide(rows: list[Place], settings: SpaceSettings, polygons: Polygons | None = None) -> SpaceLevels:
    return divide_space(build_places(rows, TREE), settings, polygons)


@given(
    places(most=12),
    st.sampled_from(
        [
            GridSpace(cells=4),
            GridSpace(cells=6),
            ClusterSpace(kind="clusters", counts=(5, 3)),
            H3Space(kind="h3"),
        ]
    ),
)
def test_cells_nest_and_end_in_one(rows: list[Place], settings: SpaceSettings) -> None:
    levels = _divide(rows, settings)
    assert set(levels.cells[-1].tolist()) == {0}
    assert len(levels.labels[-1]) == 1
    for fine, coarse in zip(levels.cells[:-1], levels.cells[1:], strict=True):
        for cell in np.unique(fine):
            assert len(np.unique(coarse[fine == cell])) == 1
    for cells, labels in zip(levels.cells, levels.labels, strict=True):
        assert cells.max() < len(labels)


def test_grid_levels_are_the_papers() -> None:
    assert grid_sizes(4) == [4, 2, 1]
    assert grid_sizes(3) == [3, 1]
    assert grid_sizes(6) == [6, 3, 1]
    assert grid_sizes(1) == [1]


def test_grid_cells_are_where_one_expects_them() -> None:
    rows = [place(f"p{r}{c}", 50 + r, 10 + c) for r in range(4) for c in range(4)]
    levels = _divide(rows, GridSpace(cells=4))
    assert levels.cells[0].tolist() == list(range(16))
    assert levels.cells[1].reshape(4, 4).tolist() == [[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3], [2, 2, 3, 3]]


def test_fixed_bounds_do_not_move_with_the_places() -> None:
    settings = GridSpace(cells=2, bounds=(50, 10, 52, 12))
    assert _divide([place("a", 50.1, 10.1), place("b", 51.9, 11.9)], settings).cells[0].tolist() == [0, 3]
    assert _divide([place("a", 50.1, 10.1), place("b", 55, 20)], settings).cells[0].tolist() == [0, 3]


def test_places_on_both_sides_of_the_date_line_are_neighbours() -> None:
    rows = [place("west", 0, 179.9), place("east", 0.5, -179.9), place("far", 0, 178.0)]
    cells = _divide(rows, GridSpace(cells=2)).cells[0]
    ids = sorted(row.place_id for row in rows)
    by_id = dict(zip(ids, (cells % 2).tolist(), strict=True))
    assert by_id["west"] == by_id["east"] != by_id["far"]


def test_clusters_gather_what_is_near() -> None:
    rows = [
        place(f"{name}{i}", lat + i * 0.001, 10)
        for name, lat in (("a", 50), ("b", 51), ("c", 52))
        for i in range(5)
    ]
    levels = _divide(rows, ClusterSpace(kind="clusters", counts=(3, 2)))
    assert [len(set(levels.cells[0][i : i + 5].tolist())) for i in (0, 5, 10)] == [1, 1, 1]
    assert len(set(levels.cells[0].tolist())) == 3
    assert len(set(levels.cells[1].tolist())) == 2


def _geojson(path: Path, features: list[tuple[dict[str, Any], Any]]) -> Path:
    content = {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "properties": properties, "geometry": geometry}
            for properties, geometry in features
        ],
    }
    path.write_text(json.dumps(content))
    return path


def _square(west: float, south: float) -> dict[str, Any]:
    ring = [[west, south], [west + 1, south], [west + 1, south + 1], [west, south + 1], [west, south]]
    return {"type": "Polygon", "coordinates": [ring]}


def test_polygons_with_parents(tmp_path: Path) -> None:
    path = _geojson(
        tmp_path / "b.geojson",
        [
            ({"name": "soho", "borough": "manhattan"}, _square(0, 0)),
            ({"name": "harlem", "borough": "manhattan"}, _square(1, 0)),
            ({"name": "astoria", "borough": "queens"}, _square(3, 0)),
        ],
    )
    polygons = read_polygons(path, "name", "borough")
    rows = [place("a", 0.5, 0.5), place("b", 0.5, 1.5), place("c", 0.5, 3.5), place("d", 0.5, 4.4)]
    levels = _divide(rows, PolygonSpace(kind="polygons", file=path), polygons)
    names = [[levels.labels[level][cell] for cell in levels.cells[level]] for level in range(3)]
    assert names[0] == ["soho", "harlem", "astoria", "astoria"]  # outside all: the nearest
    assert names[1] == ["manhattan", "manhattan", "queens", "queens"]
    assert names[2] == ["everywhere"] * 4


def test_bad_polygons_are_all_named(tmp_path: Path) -> None:
    path = _geojson(
        tmp_path / "b.geojson",
        [
            ({"name": "a"}, _square(0, 0)),
            ({"name": "a"}, _square(1, 0)),
            ({}, {"type": "Point", "coordinates": [0, 0]}),
        ],
    )
    with pytest.raises(InputError) as caught:
        read_polygons(path, "name", None)
    assert len(caught.value.faults) == 3
    (tmp_path / "c.geojson").write_text("not json")
    with pytest.raises(InputError, match="GeoJSON"):
        read_polygons(tmp_path / "c.geojson", "name", None)


def test_where_polygons_overlap_the_first_counts(tmp_path: Path) -> None:
    path = _geojson(tmp_path / "o.geojson", [({"id": "b"}, _square(0, 0)), ({"id": "a"}, _square(0, 0))])
    levels = _divide(
        [place("p", 0.5, 0.5)], PolygonSpace(kind="polygons", file=path), read_polygons(path, "id", None)
    )
    assert levels.labels[0][levels.cells[0, 0]] == "b"


def test_polygons_without_any_place_are_refused(tmp_path: Path) -> None:
    path = _geojson(tmp_path / "far.geojson", [({"id": "a"}, _square(50, 50))])
    with pytest.raises(InputError, match="longitude, latitude"):
        _divide(
            [place("p", 0.5, 0.5)], PolygonSpace(kind="polygons", file=path), read_polygons(path, "id", None)
        )


def test_bounds_may_cross_the_date_line_or_go_round_the_globe() -> None:
    fiji = GridSpace(cells=2, bounds=(-20, 177, -10, 183))
    rows = [place("a", -15, 178), place("b", -15, -178.5), place("c", -15, 179.9)]
    assert (_divide(rows, fiji).cells[0] % 2).tolist() == [0, 1, 0]
    globe = GridSpace(cells=4, bounds=(-90, -180, 90, 180))
    cities = [place("london", 51.5, -0.1), place("new-york", 40.7, -74), place("tokyo", 35.7, 139.7)]
    assert (_divide(cities, globe).cells[0] % 4).tolist() == [1, 1, 3]
    with pytest.raises(InputError, match="within the bounds"):
        _divide(cities, fiji)
