"""SafeGraph's tables: joined, hours understood, days by the paper's recipe."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.campus import build_campus, generated_buildings
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.generated import generated_city
from elsewhere.datasets.naics import normal_code, parent_of
from elsewhere.datasets.safegraph import read_safegraph
from elsewhere.errors import InputError
from elsewhere.progress import no_progress
from raw import gzipped, real

CORE = """placekey,location_name,top_category,sub_category,naics_code,latitude,longitude,open_hours
a@1,Diner,Restaurants,Full-Service Restaurants,722511.0,39.60,-77.70,HOURS
b@1,Church,Religious Organizations,Religious Organizations,813110,39.61,-77.70,
c@1,Nowhere,,,,39.62,-77.70,nonsense
d@1,No patterns,,,722511,39.62,-77.71,
"""
CORE = CORE.replace("HOURS", '"{""Mon"": [[""6:00"", ""14:00""]], ""Wed"": [[""6:00"", ""0:00""]]}"')
BUCKETS = '{"<5":1,"5-10":7,"11-20":6,"21-60":9,"61-120":2,"121-240":1,">240":1}'
OLD = '{"<5":1,"5-20":10,"21-60":9,"61-240":4,">240":1}'


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _patterns(folder: Path, *, weekly: bool = False, hours: list[int] | None = None) -> Path:
    name = "visits_by_each_hour" if weekly else "popularity_by_hour"
    values = json.dumps(hours or list(range(1, 25)) * (7 if weekly else 1))
    rows = [f"{key},{_quoted(values)},{_quoted(OLD if weekly else BUCKETS)}" for key in ("a@1", "b@1", "c@1")]
    return gzipped(
        folder / "patterns.csv.gz", "\n".join([f"placekey,{name},bucketed_dwell_times", *rows]) + "\n"
    )


def _core(folder: Path) -> Path:
    return gzipped(folder / "core.csv.gz", CORE)


@pytest.mark.parametrize("weekly", [False, True])
def test_places_are_joined_and_days_made_up(tmp_path: Path, weekly: bool) -> None:
    naics = tmp_path / "naics.csv"
    naics.write_text('code,title\n72,"Accommodation and Food Services"\n722511,"Restaurants, full"\n')
    raw = [_patterns(tmp_path, weekly=weekly), naics, _core(tmp_path)]
    dataset = read_safegraph(raw, limit=None, people=60, seed=3)
    facts = write_dataset(tmp_path / "out", dataset)
    assert facts["steps"]["core places"] == 4
    assert facts["steps"]["core places with patterns"] == 3
    assert facts["steps"]["opening hours that make no sense"] == 1
    assert facts["steps"]["places without a NAICS code"] == 1
    by_id = {place.place_id: place for place in dataset.places}
    assert by_id["a@1"].hours.startswith("Mo 06:00-14:00; Tu off; We 06:00-24:00")
    assert by_id["a@1"].popularity == tuple(float(v * (7 if weekly else 1)) for v in range(1, 25))
    assert by_id["c@1"].category_ids == ("unknown",)
    tree = dataset.tree
    assert tree.names[tree.ids.index("722511")] == "Restaurants, full"
    assert [tree.ids[node] for node in tree.lineage[tree.ids.index("722511")] if node >= 0] == [
        "72", "722", "7225", "72251", "722511",
    ]  # fmt: skip
    path = tmp_path / "out/world.toml"
    path.write_text(path.read_text() + "kappa = 1\n")
    world = ew.build_world(path)
    days = ew.read_trajectories(tmp_path / "out/trajectories.csv", world=world)
    assert len(days) == 60
    assert {len(day) for day in days} <= set(range(3, 9))
    assert all(6 * 6 <= day.visits[0].timestep < 22 * 6 for day in days)
    assert all(a.place_id != b.place_id for day in days for a, b in pairwise(day))


def test_every_made_up_day_is_feasible_and_repeatable(tmp_path: Path) -> None:
    raw = [_patterns(tmp_path), _core(tmp_path)]
    one, two = (read_safegraph(raw, limit=None, people=40, seed=5) for _ in range(2))
    days = [person.trajectory for person in one.days]
    assert days == [person.trajectory for person in two.days]
    again = read_safegraph(raw, limit=None, people=40, seed=5)
    assert len(list(only_feasible(again))) == 40
    other = read_safegraph(raw, limit=None, people=40, seed=6)
    assert days != [person.trajectory for person in other.days]


def test_popular_places_come_first(tmp_path: Path) -> None:
    """At an hour when only one place is popular, everyone starts there."""
    core = _core(tmp_path)
    rows = [
        f"{key},{_quoted(json.dumps([weight] * 24))},{_quoted(BUCKETS)}"
        for key, weight in (("a@1", 1000), ("b@1", 10), ("c@1", 10))
    ]
    patterns = gzipped(
        tmp_path / "p.csv.gz", "\n".join(["placekey,popularity_by_hour,bucketed_dwell_times", *rows]) + "\n"
    )
    dataset = read_safegraph([core, patterns], limit=None, people=200, seed=1)
    firsts = [person.trajectory.visits[0].place_id for person in dataset.days]
    assert firsts.count("a@1") > 150
    assert [place.place_id for place in read_safegraph([core, patterns], limit=1, people=1).places] == ["a@1"]


def test_popularity_is_that_of_the_weekday(tmp_path: Path) -> None:
    """The starting POI is selected ... from the popularity distributions of the day/time in question."""
    core = _core(tmp_path)
    hours, days = _quoted(json.dumps([10] * 24)), {"Wednesday": 63, "Sunday": 0, "Monday": 70}
    rows = [
        f"a@1,{hours},{_quoted(json.dumps(days))},{_quoted(BUCKETS)}",
        f'b@1,{hours},"{{}}",{_quoted(BUCKETS)}',
    ]
    head = "placekey,popularity_by_hour,popularity_by_day,bucketed_dwell_times"
    patterns = gzipped(tmp_path / "p.csv.gz", "\n".join([head, *rows]) + "\n")
    for day, factor in (("Wed", 3.2), ("Sun", 0.05), ("Mon", 3.55)):
        dataset = read_safegraph([core, patterns], people=1, day=day)
        first, second = sorted(dataset.places, key=lambda place: place.place_id)
        assert first.popularity == pytest.approx([10 * factor] * 24)
        assert second.popularity == (10.0,) * 24
        assert dataset.clock.day == day
        assert dataset.steps["rows without popularity by weekday"] == 1
    with pytest.raises(InputError, match="--day: found 'Wednesday', must be one of Mon, Tue"):
        read_safegraph([core, patterns], people=1, day="Wednesday")
    # Weekly: visits of each hour from a Thursday on; what is busy on the third day is so on Saturdays.
    visits = _quoted(json.dumps([1] * 48 + [9] * 24 + [1] * 96))
    weekly = gzipped(
        tmp_path / "w.csv.gz",
        "placekey,date_range_start,visits_by_each_hour,bucketed_dwell_times\n"
        f"a@1,2021-04-01T00:00:00-04:00,{visits},{_quoted(BUCKETS)}\n",
    )
    busy, quiet = (read_safegraph([core, weekly], people=1, day=day).places[0] for day in ("Sat", "Wed"))
    assert sum(busy.popularity) > 8 * sum(quiet.popularity)


@pytest.mark.parametrize("dataset", ["safegraph", "campus"])
def test_days_start_at_any_hour_however_long_they_are(dataset: str) -> None:
    """The start time is uniform with bounds (6am, 10pm): 14 h in the mean, for three visits as for eight."""
    starts: dict[int, list[float]] = {}
    if dataset == "safegraph":
        days = [one.trajectory for one in generated_city("safegraph", limit=100, people=1200, seed=2).days]
    else:
        days = build_campus(
            generated_buildings(seed=1), [], people=1200, seed=1, progress=no_progress
        ).trajectories
    for day in days:
        starts.setdefault(len(day), []).append(day.visits[0].timestep / 6)
    assert set(starts) == set(range(3, 9))
    for hours in starts.values():
        # Four standard errors of a mean of uniform hours.
        assert abs(np.mean(hours) - 14) < 4 * (16 / 12**0.5) / len(hours) ** 0.5
        assert max(hours) > 21


def test_codes() -> None:
    assert [normal_code(text) for text in ("722511.0", "445110", "", "n/a", "999999", "31")] == [
        "722511", "445110", "unknown", "unknown", "unknown", "31-33",
    ]  # fmt: skip
    assert parent_of("445") == "44-45"
    assert parent_of("44-45") == ""
    assert parent_of("722511") == "72251"


def test_faults_name_file_and_row(tmp_path: Path) -> None:
    core = _core(tmp_path)
    with pytest.raises(InputError, match="needs a file of Patterns"):
        read_safegraph([core], limit=None)
    with pytest.raises(InputError, match="has 3 numbers, must have 24"):
        read_safegraph([core, _patterns(tmp_path, hours=[1, 2, 3])], limit=None)
    (tmp_path / "other.csv").write_text("x,y\n1,2\n")
    with pytest.raises(InputError, match="neither Core Places, nor Patterns"):
        read_safegraph([core, tmp_path / "other.csv"], limit=None)
    lone = gzipped(tmp_path / "lone.csv.gz", CORE.replace("@1", "@2"))
    with pytest.raises(InputError, match="are the files of the same area"):
        read_safegraph([lone, _patterns(tmp_path)], limit=None)


def test_the_real_town() -> None:
    raw = [
        real("safegraph/hagerstown_core_poi.csv.gz"),
        real("safegraph/hagerstown_patterns_2021-04.csv.gz"),
        real("naics_2017/naics_2017_2-6_digit.csv"),
    ]
    dataset = read_safegraph(raw, limit=None, people=300)
    days = list(dataset.days)
    assert len(days) == 300
    assert len(dataset.places) == dataset.steps["core places with patterns"] == 1616
    assert dataset.steps["places with opening hours of their own"] == 597
    assert dataset.steps["places without a NAICS code"] == 2
    assert np.mean([len(person.trajectory) for person in days]) == pytest.approx(5.5, abs=0.4)


def test_rows_without_a_place_are_counted_and_left_out(tmp_path: Path) -> None:
    core, patterns = tmp_path / "core.csv", tmp_path / "patterns.csv"
    core.write_text(CORE + " ,No key,,,722511,39.62,-77.71,\n")
    values, buckets = _quoted(json.dumps([1] * 24)), _quoted(BUCKETS)
    rows = [f"{key},{values},{buckets}" for key in ("a@1", "b@1", "", " ")]
    patterns.write_text("\n".join(["placekey,popularity_by_hour,bucketed_dwell_times", *rows]) + "\n")
    dataset = read_safegraph([core, patterns], limit=None, people=2)
    assert [place.place_id for place in dataset.places] == ["a@1", "b@1"]
    assert dataset.steps["rows without a place left out"] == 3
    assert dataset.clock.timezone == "America/New_York"  # where Hagerstown is
    write_dataset(tmp_path / "out", dataset)
