"""Opening hours through timesteps."""

from __future__ import annotations

import pytest

from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import hours_problem, open_table, open_timesteps


def _open(hours: str, day: str = "Wed", minutes: int = 60) -> list[int]:
    clock = Clock(timestep_minutes=minutes, day=day)
    return [t for t in range(clock.timesteps) if open_timesteps(hours, clock)[t]]


@pytest.mark.parametrize(
    ("hours", "day", "expected"),
    [
        ("24/7", "Wed", list(range(24))),
        ("09:00-12:00", "Wed", [9, 10, 11]),
        ("Mo-Fr 09:00-12:00", "Sat", []),
        ("Tu 22:00-03:00", "Wed", [0, 1, 2]),
        ("Tu 22:00-03:00", "Tue", [22, 23]),
        ("22:00-02:00", "Wed", [0, 1, 22, 23]),
        ("Tu 18:00-26:00", "Wed", [0, 1]),
        ("off", "Wed", []),
        ("We 10:00-11:00 unknown", "Wed", [10]),
        ("Mo-Su 10:00-11:00; We off", "Wed", []),
        ("10:00-12:00; Dec 25 off", "2025-12-25", []),
        ("10:00-12:00; Dec 25 off", "2025-12-24", [10, 11]),
    ],
)
def test_open_hours(hours: str, day: str, expected: list[int]) -> None:
    assert _open(hours, day) == expected


def test_a_timestep_that_is_open_in_part_is_open() -> None:
    assert _open("09:05-09:31", minutes=10) == [54, 55, 56, 57]
    assert _open("09:30-10:10", minutes=60) == [9, 10]


@pytest.mark.parametrize("hours", ["junk", "Mo-Fr 9-17", "25:99", "Mo-Xx 10:00-12:00"])
def test_bad_hours_say_what_is_allowed(hours: str) -> None:
    problem = hours_problem(hours)
    assert problem is not None
    assert hours in problem
    assert "opening_hours" in problem
    assert "\n" not in problem


def test_known_strings_are_not_evaluated_again() -> None:
    clock = Clock(timestep_minutes=60)
    marked = open_timesteps("off", clock)
    marked[5] = True
    table = open_table(["10:00-11:00", "known", "10:00-11:00"], clock, {"known": marked})
    assert table.sum(axis=1).tolist() == [1, 1, 1]
    assert table[1, 5]
