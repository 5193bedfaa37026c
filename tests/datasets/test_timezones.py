"""One clock for all places of a world, and a word where they have several."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from commands import Command
from elsewhere.datasets.timezones import places_by_another_clock
from elsewhere.knowledge.places import build_places
from worlds import TREE, place, write_world_files

HELSINKI, STOCKHOLM, TALLINN = (60.17, 24.94), (59.33, 18.06), (59.44, 24.75)
DAY = dt.date(2025, 9, 17)


@pytest.mark.parametrize(
    ("spots", "others"),
    [
        ([HELSINKI, HELSINKI], 0),
        ([HELSINKI, TALLINN], 0),  # two zones, one time
        ([HELSINKI, HELSINKI, STOCKHOLM], 1),
        ([STOCKHOLM, STOCKHOLM, HELSINKI], 1),
    ],
)
def test_places_by_another_clock_are_counted(spots: list[tuple[float, float]], others: int) -> None:
    rows = [place(f"p{number}", *spot) for number, spot in enumerate(spots)]
    assert places_by_another_clock(build_places(rows, TREE), DAY) == others


def test_a_world_of_several_time_zones_is_built_with_a_warning(elsewhere: Command, tmp_path: Path) -> None:
    rows = [place("a", *HELSINKI), place("b", *HELSINKI), place("c", *STOCKHOLM)]
    write_world_files(tmp_path, rows, {})
    settings = tmp_path / "world.toml"
    settings.write_text('places = "places.csv"\ncategories = "categories.csv"\nkappa = 1\n')
    code, _, err = elsewhere("world", "build", settings, "-o", tmp_path / "w.world")
    assert code == 0
    assert "1 of 3 places have another time" in " ".join(err.split())
