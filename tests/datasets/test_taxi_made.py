"""Made-up taxi trips: cleaned as real ones, feasible in the world they are written with."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.cleaning import LEAST_VISITS
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.taxi_made import read_made_taxi
from elsewhere.device.reading import read_trajectories
from elsewhere.evaluate.summary import summarise
from elsewhere.world.build import build_world


@pytest.mark.parametrize("speed_kmh", [8, 30])
def test_days_are_feasible_at_the_speed_of_the_world(tmp_path: Path, speed_kmh: int) -> None:
    dataset = read_made_taxi(limit=300, people=60)
    dataset.settings["speed_kmh"] = speed_kmh
    write_dataset(tmp_path, dataset)
    world = build_world(tmp_path / "world.toml")
    days = read_trajectories(tmp_path / "trajectories.csv", world=world)
    assert len(days) == 60
    assert summarise(world, days, days).feasible_percent.value == 100
    for day in days:
        assert len(day) >= LEAST_VISITS
        assert all(before.place_id != after.place_id for before, after in pairwise(day))


def test_the_same_seed_makes_the_same_days() -> None:
    first, second, other = (
        [day.trajectory for day in read_made_taxi(limit=100, people=20, seed=seed).days] for seed in (4, 4, 5)
    )
    assert first == second
    assert first != other


@pytest.mark.parametrize("feasible_only", [False, True])
def test_what_is_counted_adds_up(*, feasible_only: bool) -> None:
    """Days that were made up are too short, not feasible, or kept; points are those of these days."""
    dataset = read_made_taxi(limit=300, people=60)
    days = list(only_feasible(dataset) if feasible_only else dataset.days)
    steps = dataset.steps
    short = steps["days with fewer than 3 visits left"]
    far, closed, kept = (
        steps[f"made up: {reason}"] for reason in ("a step is out of reach", "a place is closed", "kept")
    )
    assert len(days) == kept == 60
    assert steps["days"] == short + far + closed + kept
    assert steps["days"] <= steps["points"] <= 16 * steps["days"]
    near = steps["points"] - steps["points farther than 100 m from any place"]
    left = near - steps["repeats removed"] - steps["points within 10 minutes of another removed"]
    visits = sum(len(day.trajectory) for day in days)
    # What is left is visits of these days, of those that are not feasible, and one or two of each short one.
    assert visits + 3 * (far + closed) <= left <= visits + 16 * (far + closed) + 2 * short
    if feasible_only:
        assert steps["feasible only: kept"] == 60


def test_about_half_of_the_points_match_no_place() -> None:
    """As in the real sample, where it is 49 %; a made-up city has fewer places side by side."""
    dataset = read_made_taxi(limit=2000, people=50)
    assert len(list(dataset.days)) == 50
    steps = dataset.steps
    assert 0.4 < steps["points farther than 100 m from any place"] / steps["points"] < 0.65
