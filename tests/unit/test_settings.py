"""Settings: the paper's defaults, short forms, and faults that name the key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from elsewhere.errors import InputError
from elsewhere.world.settings import GridSpace, MatrixTravel, SpeedTravel, WorldConfig, settings_from_plain
from elsewhere.world.toml import parse_config, read_config

TABLES = {"places": "places.csv", "categories": "categories.csv"}


def _parse(**keys: Any) -> WorldConfig:
    return parse_config({**TABLES, **keys}, folder=Path("/somewhere"), source="world.toml")


def test_the_papers_defaults() -> None:
    """We set g_t = 10 minutes [...] 8km/hr [...] κ = 10 [...] g_s = 4 (ss:expt-setup)."""
    settings = _parse().settings
    assert settings.timestep_minutes == 10
    assert settings.travel == SpeedTravel(speed_kmh=8.0)
    assert settings.space == GridSpace(cells=4)
    assert (settings.kappa.least, settings.kappa.weight) == (10, "count")
    assert settings.merge_order == ("space", "time", "category")
    assert settings.category_levels == 3


def test_paths_start_at_the_file() -> None:
    config = _parse(travel={"kind": "matrix", "file": "minutes.csv"})
    assert config.places == Path("/somewhere/places.csv")
    assert isinstance(config.settings.travel, MatrixTravel)
    assert config.settings.travel.file == Path("/somewhere/minutes.csv")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"speed_kmh": 0}, "world.toml: speed_kmh: found 0, must be a speed above 0"),
        ({"travel": {"kind": "speed", "speed_kmh": -4}}, "travel.speed_kmh: found -4"),
        ({"speed_kmh": float("nan")}, "found nan"),
        ({"speed_kmh": [8.0] * 23}, "list of 24"),
        ({"kappa": 0}, "kappa: found 0, must be greater than 0"),
        ({"kappa": {"least": 3, "wieght": "count"}}, "kappa.wieght: unknown key"),
        ({"grid": 0}, "grid: found 0, must be greater"),
        ({"timestep_minutes": 7}, "does not divide the day"),
        ({"timestep_minutes": 45}, "interval_minutes"),
        ({"day": "Someday"}, "found 'Someday', must be one of Mon"),
        ({"timezone": "Mars/Olympus"}, "found 'Mars/Olympus'"),
        ({"merge_order": ["space", "space"]}, "at most once"),
        ({"merge_order": ["colour"]}, "merge_order"),
        ({"spede_kmh": 3}, "spede_kmh: unknown key, allowed are places"),
        ({"space": {"kind": "hexagons"}}, "space"),
        ({"space": {"kind": "h3", "resolutions": [6, 7]}}, "must fall"),
        ({"space": {"kind": "clusters", "counts": [4, 16]}}, "must fall"),
        ({"space": {"kind": "grid", "bounds": [52, 10, 50, 12]}}, "south"),
        ({"grid": 4, "space": {"kind": "grid"}}, "say the same thing"),
        ({"travel": {"kind": "roads", "nodes": "n", "edges": "e", "speed_kmh": float("inf")}}, "finite"),
    ],
)
def test_faults_name_the_key_and_what_is_allowed(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _parse(**keys)


def test_missing_tables_are_told_together() -> None:
    with pytest.raises(InputError) as caught:
        parse_config({}, folder=Path(), source="world.toml")
    assert [str(fault) for fault in caught.value.faults] == ["places: missing", "categories: missing"]


def test_overrides_replace_keys_and_tables(tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text(
        'places = "p.csv"\ncategories = "c.csv"\nkappa = 3\n[travel]\nkind = "speed"\nspeed_kmh = 5\n'
    )
    config = read_config(tmp_path / "world.toml", {"speed_kmh": 4.0, "kappa": 7})
    assert config.settings.travel == SpeedTravel(speed_kmh=4.0)
    assert config.settings.kappa.least == 7


@pytest.mark.parametrize(("text", "said"), [("places = ", "TOML"), ("\x00", "TOML")])
def test_not_toml(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "world.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        read_config(tmp_path / "world.toml")
    with pytest.raises(InputError, match="no such file"):
        read_config(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"speed_kmh": float("inf")},
        {"travel": {"kind": "matrix", "file": "m.csv"}},
        {"space": {"kind": "polygons", "file": "b.geojson", "parent": "borough"}},
        {"kappa": {"least": 2.5, "weight": "popularity"}},
    ],
)
def test_settings_survive_the_world_file_without_paths(keys: dict[str, Any]) -> None:
    settings = _parse(**keys).settings
    plain = settings.plain()
    assert "csv" not in str(plain)
    assert "geojson" not in str(plain)
    restored = settings_from_plain(plain)
    assert restored.plain() == plain
    assert restored == settings.without_paths()
    names_a_file = any("file" in table for table in keys.values() if isinstance(table, dict))
    assert (restored != settings) == names_a_file
