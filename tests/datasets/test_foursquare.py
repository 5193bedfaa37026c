"""Foursquare check-ins: both forms, homes out, days in local time, counts at every step, faults named."""

from __future__ import annotations

import csv
import gzip
from functools import partial
from pathlib import Path

import pytest

import elsewhere as ew
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.foursquare import read_foursquare as read_checkins_of
from elsewhere.errors import InputError
from raw import real, write_foursquare

# Two people are too few to hold one of them out; `test_popularity` looks at that.
read_foursquare = partial(read_checkins_of, popularity="same")


@pytest.mark.parametrize("as_csv", [False, True])
def test_days_are_local_cleaned_and_counted(tmp_path: Path, as_csv: bool) -> None:
    checkins, categories = write_foursquare(tmp_path, as_csv=as_csv)
    dataset = read_foursquare([categories, checkins], limit=None)
    facts = write_dataset(tmp_path / "out", dataset)
    assert facts["steps"] == {
        "check-ins": 10,
        "check-ins without a position": 1,
        "check-ins that popularity is counted from": 9,
        "venues": 5,
        "private homes left out": 1,
        "venues of a category that the tree does not have": 1,
        "check-ins at these venues": 7,
        "days": 3,
        "repeats removed": 1,
        "points within 10 minutes of another removed": 1,
        "days with fewer than 3 visits left": 2,
    }
    assert facts["trajectories"] == 1
    with (tmp_path / "out/trajectories.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["datetime"] for row in rows] == [
        "2012-04-03T14:00:00",
        "2012-04-03T16:00:00",
        "2012-04-03T21:00:00",
    ]
    assert rows[0]["place_id"] == rows[2]["place_id"] == "v1"
    assert {row["tid"] for row in rows} == {"7-20120403"}
    note = (tmp_path / "out/SOURCE.md").read_text()
    assert "| private homes left out | 1 |" in note
    assert "Terms: " in note
    world = ew.build_world(_with_kappa(tmp_path / "out"))
    assert world.places.ids == ("v1", "v2", "v3")
    assert world.tree.hours[world.tree.ids.index("food")] == "07:00-24:00"
    days = ew.read_trajectories(tmp_path / "out/trajectories.csv", world=world)
    assert [len(day) for day in days] == [3]


def _with_kappa(folder: Path) -> Path:
    path = folder / "world.toml"
    path.write_text(path.read_text() + "kappa = 1\n")
    return path


def test_homes_hours_and_limits_are_options(tmp_path: Path) -> None:
    checkins, categories = write_foursquare(tmp_path)
    (tmp_path / "hours.csv").write_text("category,hours\nFood,Mo-Fr 10:00-12:00\n")
    dataset = read_foursquare(
        [checkins, categories], limit=2, has_homes=True, hours=tmp_path / "hours.csv", least=1
    )
    assert [place.place_id for place in dataset.places] == ["v1", "v2"]  # most check-ins
    assert dataset.tree.hours[dataset.tree.ids.index("food")] == "Mo-Fr 10:00-12:00"
    whole = read_foursquare([checkins, categories], limit=None, has_homes=True)
    assert "h1" in {place.place_id for place in whole.places}
    assert "private homes left out" not in whole.steps


def test_only_feasible_days_are_kept_and_the_rest_is_explained(tmp_path: Path) -> None:
    checkins, categories = write_foursquare(tmp_path)
    for hours, expected in (("24/7", (0, 0, 1)), ("06:00-15:00", (0, 1, 0))):
        (tmp_path / "hours.csv").write_text(f"category,hours\nFood,{hours}\n")
        dataset = read_foursquare([checkins, categories], limit=None, hours=tmp_path / "hours.csv")
        dataset.days = list(only_feasible(dataset))
        assert tuple(dataset.steps.values())[-3:] == expected
    dataset = read_foursquare([checkins, categories], limit=None)
    dataset.settings["speed_kmh"] = 0.1
    assert list(only_feasible(dataset)) == []
    assert tuple(dataset.steps.values())[-3:] == (1, 0, 0)


def test_a_data_set_without_days_is_not_written(tmp_path: Path) -> None:
    checkins, categories = write_foursquare(tmp_path)
    with pytest.raises(InputError, match="no trajectory is left"):
        write_dataset(tmp_path / "out", read_foursquare([checkins, categories], limit=None, least=9))
    assert not (tmp_path / "out").exists()


def _spoil(path: Path, old: str, new: str) -> None:
    text = gzip.decompress(path.read_bytes()).decode("latin-1")
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new).encode("latin-1")))


def test_faults_name_file_and_row(tmp_path: Path) -> None:
    checkins, categories = write_foursquare(tmp_path)
    with pytest.raises(InputError, match=r"found 0 files of check-ins and 1 category trees"):
        read_foursquare([categories], limit=None)
    _spoil(checkins, "Tue Apr 03 20:00:00", "3 April 2012 20:00:00")
    with pytest.raises(InputError, match=r"checkins.txt.gz: row 3, column datetime: must be a time such as"):
        list(read_foursquare([checkins, categories], limit=None).days)
    checkins, _ = write_foursquare(tmp_path)
    _spoil(checkins, "\t-240\tWed Apr 04 05", "-240\tWed Apr 04 05")
    with pytest.raises(InputError, match=r"row 6: has 7 fields, the first row has 8"):
        read_foursquare([checkins, categories], limit=None)
    checkins, _ = write_foursquare(tmp_path)
    checkins.write_bytes(checkins.read_bytes()[:-20])
    with pytest.raises(InputError, match="truncated or damaged"):
        read_foursquare([checkins, categories], limit=None)
    checkins, _ = write_foursquare(tmp_path)
    (tmp_path / "bad.json").write_text('[{"name": "Food"}]')
    with pytest.raises(InputError, match="nested objects with id, name, categories"):
        read_foursquare([checkins, tmp_path / "bad.json"], limit=None)
    (tmp_path / "hours.csv").write_text("category,hours\nFoods,24/7\n")
    with pytest.raises(InputError, match="found 'Foods', must be one of Arts & Entertainment"):
        read_foursquare([checkins, categories], limit=None, hours=tmp_path / "hours.csv")
    (tmp_path / "hours.csv").write_text("category,hours\nFood,whenever\n")
    with pytest.raises(InputError, match=r"hours.csv: row 2, column hours: found 'whenever'"):
        read_foursquare([checkins, categories], limit=None, hours=tmp_path / "hours.csv")


@pytest.mark.parametrize(
    ("has_homes", "days", "feasible"),
    [pytest.param(False, 6444, 2462, marks=pytest.mark.audit), (True, 6992, 2839)],
)
def test_the_real_check_ins(has_homes: bool, days: int, feasible: int) -> None:
    """About 6,400 user-days and 2,500 feasible ones without homes, 7,000 and 3,000 with them."""
    raw = [
        real("foursquare_nyc/dataset_TSMC2014_NYC_popular.txt.gz"),
        real("foursquare_categories/foursquare_categories_v2_2021-03.json.gz"),
    ]
    dataset = read_foursquare(raw, limit=2000, has_homes=has_homes)
    assert len(dataset.places) == 2000
    dataset.days = list(dataset.days)
    assert len(dataset.days) == days
    assert len(list(only_feasible(dataset))) == feasible
    assert dataset.steps["check-ins"] == 147_145
