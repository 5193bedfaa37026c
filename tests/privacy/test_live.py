"""Single visits as they happen: ε for a window, nothing by number or time, one report for each part."""

from __future__ import annotations

import csv
import datetime as dt
import json
import sqlite3
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import elsewhere as ew
from commands import Command
from elsewhere.audit.channel import chances, largest_loss
from elsewhere.device.charge import hours_of, hours_of_part
from elsewhere.knowledge.travel import is_reachable
from elsewhere.mechanism import live as live_module
from elsewhere.mechanism.live import Picked
from elsewhere.mechanism.pick import pick_candidates
from elsewhere.randomness import SeededRandomness
from tiny_worlds import tiny_world

_DAY = dt.date(2024, 3, 7)


def _live(folder: Path, seed: int, epsilon: str = "2", days: int = 1) -> ew.LiveSharing:
    world = tiny_world(folder, seed, 3)
    every = 480 if 480 % world.clock.timestep_minutes == 0 else 720
    return ew.LiveSharing(world, epsilon=epsilon, every_minutes=every, window_days=days)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("epsilon", ["1/2", "6"])
def test_no_two_days_are_told_apart_by_more_than_epsilon(tmp_path: Path, seed: int, epsilon: str) -> None:
    """T1: every day, every output."""
    live = _live(tmp_path, seed, epsilon)
    days = list(product(range(live.tables.nowhere + 1), repeat=live.parts))
    loss, claimed = float(largest_loss(live, days).epsilon), float(Fraction(epsilon))
    assert loss <= claimed + 1e-12
    # A pick gives all of its share, unless nobody is open.
    useful = sum(len(live.tables.candidates(part, None)) > 1 for part in range(live.parts))
    assert loss >= 0.9 * claimed * useful / live.parts
    assert live.epsilon_of_part * live.parts == Fraction(epsilon)


def test_a_day_within_a_longer_window_costs_its_share(tmp_path: Path) -> None:
    live = _live(tmp_path, 4, "6", days=3)
    days = list(product(range(live.tables.nowhere + 1), repeat=live.parts))
    assert float(largest_loss(live, days).epsilon) <= 2 + 1e-12


def test_a_pick_with_k_of_the_truth_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R19: as many places as are near, not k of them. The listing must see it, and the kernel refuse it."""
    live = _live(tmp_path, 4, "2")
    monkeypatch.setattr(live_module, "nearest_flags", lambda costs, _nearest: costs <= 0)
    days = list(product(range(live.tables.nowhere + 1), repeat=live.parts))
    assert float(largest_loss(live, days).epsilon) > 2
    with pytest.raises(AssertionError, match="not exactly k"):
        live.pick(ew.Trajectory([(live.world.places.ids[0], 0)]), 0, None)


def test_real_picks_fall_as_listed(tmp_path: Path) -> None:
    """χ² of real picks against the listing, at 20,000 samples; a claim that is 30 % wrong is rejected."""
    live, times, source = _live(tmp_path, 4, "3"), 20_000, SeededRandomness(3)
    day = ew.Trajectory([(live.world.places.ids[0], 0)])
    candidates = live.tables.candidates(0, None)
    flags = np.tile(live.tables.mine(live.secret(day)[0], candidates), (times, 1))
    picked, _ = pick_candidates(flags, live.tables.odds(len(candidates)), source, constant_work=False)
    counts = np.bincount(picked[:, 0], minlength=len(candidates))

    def statistic(method: ew.LiveSharing) -> float:
        step = method.step(method.secret(day), None)
        assert step is not None
        expected = np.array([float(chance) * times for chance in chances(step)])
        return float(((counts - expected) ** 2 / expected).sum())

    assert statistic(live) < 30
    assert statistic(_live(tmp_path, 4, "3.9")) > 60
    told = Counter(live.pick(day, 0, None, source) for _ in range(300))
    assert told[Picked(0, 0)] > 1.2 * max(count for one, count in told.items() if one and one.place)


def test_candidates_are_open_and_within_reach_of_what_was_told(tmp_path: Path) -> None:
    for seed in range(12):
        world = tiny_world(tmp_path, seed, 4)
        if 480 % world.clock.timestep_minutes:
            continue
        live = ew.LiveSharing(world, epsilon=1, every_minutes=480)
        steps = 480 // world.clock.timestep_minutes
        for place in range(len(world.places)):
            plain = [
                q
                for q in range(len(world.places))
                if world.is_open[q, 2 * steps : 3 * steps].any()
                and any(
                    is_reachable(
                        world.travel, world.clock, origin=place, departure=t, destination=q, arrival=u
                    )
                    for t in range(steps)
                    for u in [3 * steps - 1]
                )
            ]
            found = live.tables.candidates(2, Picked(0, place)).tolist()
            assert found == [*plain, *[live.tables.nowhere] * max(1, len(plain))]


def test_the_first_visit_of_a_part_counts_and_unknown_places_are_nowhere(tmp_path: Path) -> None:
    live = _live(tmp_path, 1)
    first, second = (
        live.world.places.ids[:2] if len(live.world.places) > 1 else (live.world.places.ids[0],) * 2
    )
    last = live.world.clock.timesteps - 1
    told = live.secret(ew.Trajectory([(first, 0), (second, last)]))
    assert told == (0, live.tables.nowhere, live.world.place_index[second])
    assert set(live.secret(ew.Trajectory([("who knows", 0)]))) == {live.tables.nowhere}


def test_every_part_is_paid_for_once_and_told_once(tmp_path: Path) -> None:
    live, ledger = _live(tmp_path, 4), ew.Ledger(tmp_path / "my.ledger", cap=5)
    day = ew.Trajectory([(live.world.places.ids[0], 0)])
    first = live.share(_DAY, day, ledger, parts=1)
    again = live.share(_DAY, ew.Trajectory([("elsewhere", 0)]), ledger, parts=1)
    assert [one.is_again for one in (*first, *again)] == [False, True]
    assert first[0].place_id == again[0].place_id
    whole = live.share(_DAY, day, ledger)
    assert [one.is_again for one in whole] == [True, False, False]
    assert len({one.stream for one in whole}) == 1
    assert ledger.spent == 2
    assert [entry.day for entry in ledger.entries()] == [
        f"2024-03-07T{hour}:00" for hour in ("00", "08", "16")
    ]


def test_no_hour_is_told_twice(tmp_path: Path) -> None:
    live, ledger = _live(tmp_path, 4), ew.Ledger(tmp_path / "my.ledger", cap=50)
    day = ew.Trajectory([(live.world.places.ids[0], 0)])
    live.share(_DAY, day, ledger, parts=2)
    whole = ew.method("ind-noreach", live.world, epsilon=1)
    with pytest.raises(ew.InputError, match="no hour is told twice"):
        ledger.share("2024-03-07", day, whole)
    ledger.share("2024-03-08", day, whole)
    with pytest.raises(ew.InputError, match="no hour is told twice"):
        live.share(dt.date(2024, 3, 8), day, ledger)
    with pytest.raises(ew.InputError, match="charged for another sharing"):
        _live(tmp_path, 4, "3").share(_DAY, day, ledger)
    with pytest.raises(ew.BudgetError):
        _live(tmp_path, 4, "600").share(dt.date(2024, 3, 9), day, ledger)


def test_what_does_not_divide_a_day_is_refused(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4, 3)
    for wrong in ({"every_minutes": 7}, {"every_minutes": 700}, {"window_days": 0}, {"every_minutes": 0}):
        with pytest.raises(ew.InputError):
            ew.LiveSharing(world, epsilon=1, **wrong)


def test_the_command_tells_of_all_parts_that_have_ended(elsewhere: Command, tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4, 3)
    world.save(tmp_path / "w.world")
    place = SimpleNamespace(lat=world.places.latitudes[0], lng=world.places.longitudes[0])
    lines = [f"{place.lat},{place.lng},2024-03-07T09:{minute}:00" for minute in ("00", "30", "50")]
    (tmp_path / "days.csv").write_text("\n".join(["lat,lng,datetime", *lines]) + "\n")
    options = ["-w", tmp_path / "w.world", "-e", "2", "--every", "480", "--day", "2024-03-07"]
    options += ["--ledger", tmp_path / "my.ledger", "--cap", "5", "-o", tmp_path / "told.csv", "--json"]
    code, shown, err = elsewhere("live", tmp_path / "days.csv", *options, "--until", "17:00")
    assert code == 0, err
    first = json.loads(shown)
    assert [part["begins"] for part in first["told"]] == ["00:00", "08:00"]
    code, shown, _ = elsewhere("live", tmp_path / "days.csv", *options)
    second = json.loads(shown)
    assert second["told"][:2] == first["told"]
    assert second["ledger"]["spent"] == "2"
    with (tmp_path / "told.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["place_id"] or None for row in rows] == [part["place_id"] for part in second["told"]]
    assert json.loads((tmp_path / "told.csv.meta.json").read_text())["epsilon_of_a_part"] == "2/3"
    for wrong in (["--until", "25:00"], ["--until", "x"], ["--every", "7"], ["--day", "2999-01-01"]):
        code, _, err = elsewhere("live", tmp_path / "days.csv", *options, *wrong)
        assert code == 2, err


def test_a_day_of_an_older_ledger_is_not_told_again_in_parts(tmp_path: Path) -> None:
    """Found by an attacker: ledgers of earlier versions do not know the hours of their days."""
    live, ledger = _live(tmp_path, 4), ew.Ledger(tmp_path / "my.ledger", cap=50)
    day = ew.Trajectory([(live.world.places.ids[0], 0)])
    ledger.share(_DAY.isoformat(), day, ew.method("ind-noreach", live.world, epsilon=1))
    with sqlite3.connect(tmp_path / "my.ledger") as database:
        database.execute("DELETE FROM hours")
    with pytest.raises(ew.InputError, match="no hour is told twice"):
        live.share(_DAY, day, ledger)
    live.share(dt.date(2024, 3, 9), day, ledger, parts=1)
    with sqlite3.connect(tmp_path / "my.ledger") as database:
        database.execute("DELETE FROM hours")
    with pytest.raises(ew.InputError, match="no hour is told twice"):
        ledger.share("2024-03-09", day, ew.method("ind-noreach", live.world, epsilon=1))
    assert ledger.spent == 1 + live.epsilon_of_part


@pytest.mark.parametrize("minutes", [10, 20, 30, 40, 60, 180])
@pytest.mark.parametrize("day", [dt.date(2025, 3, 30), dt.date(2025, 10, 26), dt.date(2025, 6, 1)])
def test_parts_follow_each_other_also_when_clocks_change(minutes: int, day: dt.date) -> None:
    marks = [hours_of_part(day, at, minutes, "Europe/Helsinki") for at in range(0, 1440, minutes)]
    assert all(first[1] == second[0] for first, second in pairwise(marks))
    assert all(begins <= ends for begins, ends in marks)
    assert (marks[0][0], marks[-1][1]) == hours_of(day, "Europe/Helsinki")


def test_a_tracker_without_a_point_gives_as_many_reports(elsewhere: Command, tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4, 3)
    world.save(tmp_path / "w.world")
    (tmp_path / "day.gpx").write_text('<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk></trk></gpx>')
    options = ("-w", tmp_path / "w.world", "-e", "2", "--every", "480", "--day", "2024-03-07")
    more = ("--ledger", tmp_path / "my.ledger", "--cap", "5", "--json")
    code, shown, err = elsewhere("live", tmp_path / "day.gpx", *options, *more)
    assert code == 0, err
    assert len(json.loads(shown)["told"]) == 3


def _tracked(folder: Path, days: list[str], latitude: float, longitude: float) -> Path:
    """A file with an hour at one spot on each day."""
    lines = [f"{latitude},{longitude},{day}T09:{minute}:00" for day in days for minute in ("00", "30", "50")]
    (folder / "days.csv").write_text("\n".join(["lat,lng,datetime", *lines]) + "\n")
    return folder / "days.csv"


def test_a_file_of_another_city_is_told_of_only_if_one_says_so(elsewhere: Command, tmp_path: Path) -> None:
    """As `share` does; the day itself has no say in it."""
    world = tiny_world(tmp_path, 4, 3)
    world.save(tmp_path / "w.world")
    days = [f"2024-03-{number:02d}" for number in range(4, 9)]
    file = _tracked(tmp_path, days, -40.0, 100.0)
    options = ["-w", tmp_path / "w.world", "-e", "2", "--every", "480", "--day", "2024-03-07"]
    options += ["--ledger", tmp_path / "my.ledger", "--cap", "5", "--json"]
    code, _, err = elsewhere("live", file, *options)
    assert code == 2
    assert "--anyway goes on" in err
    assert not (tmp_path / "my.ledger").exists()
    code, shown, err = elsewhere("live", file, *options, "--anyway")
    assert code == 0, err
    assert len(json.loads(shown)["told"]) == 3


def test_a_day_in_parts_is_one_line_and_all_parts_for_machines(elsewhere: Command, tmp_path: Path) -> None:
    live, ledger = _live(tmp_path, 4), ew.Ledger(tmp_path / "my.ledger", cap=50)
    day = ew.Trajectory([(live.world.places.ids[0], 0)])
    live.share(_DAY, day, ledger)
    live.share(dt.date(2024, 3, 9), day, ledger, parts=1)
    ledger.share("2024-03-08", day, ew.method("ind-noreach", live.world, epsilon=1))
    code, shown, err = elsewhere("ledger", "show", tmp_path / "my.ledger")
    assert code == 0, err
    lines = [line.split() for line in shown.splitlines() if line.strip().startswith("2024-")]
    assert [line[:2] for line in lines] == [
        ["2024-03-07", "2"],
        ["2024-03-08", "1"],
        ["2024-03-09", "0.666667"],
    ]
    assert lines[0][2:5] == ["live,", "3", "parts"]
    assert lines[2][2:5] == ["live,", "1", "part"]
    assert lines[1][2] == "ind-noreach"
    _, shown, _ = elsewhere("ledger", "show", tmp_path / "my.ledger", "--json")
    assert [one["day"][11:] for one in json.loads(shown)["days"]] == ["00:00", "08:00", "16:00", "", "00:00"]


def test_a_refusal_says_which_settings_differ(tmp_path: Path) -> None:
    live, ledger = _live(tmp_path, 4), ew.Ledger(tmp_path / "my.ledger", cap=50)
    day = ew.Trajectory([(live.world.places.ids[0], 0)])
    live.share(_DAY, day, ledger, parts=1)
    for every, said in ((240, "--every 480, not 240"), (720, "--every 480, not 720")):
        if every % live.world.clock.timestep_minutes == 0:
            other = ew.LiveSharing(live.world, epsilon=2, every_minutes=every)
            with pytest.raises(ew.InputError, match=said):
                other.share(_DAY, day, ledger)
    with pytest.raises(ew.InputError, match="--days 1, not 2"):
        _live(tmp_path, 4, "4", days=2).share(_DAY, day, ledger)


def test_parts_that_overlap_name_the_setting_too(tmp_path: Path) -> None:
    """Parts of eight hours begin at 8:00 as well, those of twelve at 12:00 and within one of these."""
    world = tiny_world(tmp_path, 4, 3)
    day, ledger = ew.Trajectory([(world.places.ids[0], 0)]), ew.Ledger(tmp_path / "my.ledger", cap=50)
    ew.LiveSharing(world, epsilon=2, every_minutes=480).share(_DAY, day, ledger)
    with sqlite3.connect(ledger.path) as database:
        database.execute("DELETE FROM shares WHERE day = '2024-03-07T00:00'")
    other = ew.LiveSharing(world, epsilon=2, every_minutes=720)
    with pytest.raises(ew.InputError, match="charged already, --every 480, not 720: no hour"):
        other.share(_DAY, day, ledger)
