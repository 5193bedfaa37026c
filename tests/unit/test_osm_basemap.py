"""Base maps: the sea on the right side of its coasts, tiles beside worlds and surveys, in no hash."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapely

import elsewhere as ew
from commands import Command
from elsewhere.datasets.osm_places import embedded_city
from elsewhere.errors import InputError
from elsewhere.inputs.osm_basemap import MOST_BYTES, seas, write_basemap
from elsewhere.world.basemap import basemap_beside, keep_basemap
from elsewhere.world.world import World
from worlds import build, place

FRAME = shapely.box(0, 0, 1, 1)
CENTRE = (24.936, 60.165, 24.952, 60.178)


def _area(coasts: list[list[tuple[float, float]]]) -> float:
    return float(sum(sea.area for sea in seas([shapely.LineString(line) for line in coasts], FRAME)))


def test_the_sea_lies_to_the_right_of_a_coast() -> None:
    assert _area([[(-1, 0.25), (2, 0.25)]]) == pytest.approx(0.25)
    assert _area([[(2, 0.25), (-1, 0.25)]]) == pytest.approx(0.75)


def test_around_an_island_there_is_water() -> None:
    island = [(0.4, 0.4), (0.6, 0.4), (0.6, 0.6), (0.4, 0.6), (0.4, 0.4)]
    assert _area([island]) == pytest.approx(0.96)
    assert _area([island[::-1]]) == pytest.approx(0.04)  # a lagoon


def test_without_a_coast_there_is_no_sea() -> None:
    assert _area([]) == 0
    assert _area([[(5, 5), (6, 6)]]) == 0


def test_tiles_are_made_of_an_extract(tmp_path: Path) -> None:
    write_basemap(embedded_city(), CENTRE, tmp_path / "city.pmtiles")
    tiles = basemap_beside(tmp_path / "city.world")
    assert tiles is not None
    assert tiles.startswith(b"PMTiles")
    assert len(tiles) < MOST_BYTES


def test_what_is_no_extract_or_of_another_city_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.osm.pbf").write_bytes(b"nothing")
    for extract, box, words in (
        (embedded_city(), (-74.0, 40.7, -73.9, 40.8), "is it of another city"),
        (tmp_path / "x.osm.pbf", CENTRE, "is no OpenStreetMap extract"),
        (tmp_path / "none.osm.pbf", CENTRE, "no such file"),
    ):
        with pytest.raises(InputError, match=words):
            write_basemap(extract, box, tmp_path / "a.pmtiles")
        assert not (tmp_path / "a.pmtiles").exists()


def test_only_tiles_and_extracts_are_base_maps(tmp_path: Path) -> None:
    world = build(tmp_path, [place("a", 60.17, 24.94)], {"kappa": 1})
    (tmp_path / "b.pmtiles").write_bytes(b"no tiles")
    for name, words in (
        ("m.png", "must be .pmtiles"),
        ("c.pmtiles", "no such file"),
        ("b.pmtiles", "no map tiles"),
    ):
        with pytest.raises(InputError, match=words):
            keep_basemap(tmp_path / name, world.places, tmp_path / "w.world")
    assert basemap_beside(tmp_path / "w.world") is None


def test_a_base_map_goes_along_and_changes_no_world(elsewhere: Command, tmp_path: Path) -> None:
    """From the settings beside the world, and from there beside the survey."""
    rows = [place(f"p{i}", 60.168 + 0.002 * i, 24.940 + 0.002 * i, hours="24/7") for i in range(4)]
    plain = build(tmp_path, rows, {"kappa": 1})
    settings = (
        f'places = "places.csv"\ncategories = "categories.csv"\nkappa = 1\nbasemap = "{embedded_city()}"\n'
    )
    (tmp_path / "w.toml").write_text(settings)
    assert elsewhere("world", "build", tmp_path / "w.toml", "-o", tmp_path / "w.world")[0] == 0
    assert (tmp_path / "w.pmtiles").exists()
    assert World.load(tmp_path / "w.world").hash == plain.hash
    (tmp_path / "s.toml").write_text('world = "w.world"\nepsilon = 5\n[[question]]\nkind = "visits"\n')
    create = ("survey", "create", tmp_path / "s.toml", "-o", tmp_path / "s.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    assert (tmp_path / "s.pmtiles").read_bytes() == (tmp_path / "w.pmtiles").read_bytes()
    assert ew.load_survey(tmp_path / "s.survey").world == plain
