"""A trajectory keeps its secret."""

from __future__ import annotations

import pytest

from elsewhere import Trajectory, Visit


def test_visits_are_kept_in_order() -> None:
    day = Trajectory([Visit("p17", 63), ("p3", 70)])
    assert day.visits == (Visit("p17", 63), Visit("p3", 70))
    assert len(day) == 2


def test_repr_shows_only_the_length() -> None:
    assert repr(Trajectory([Visit("secret-place", 63)])) == "<private Trajectory of 1 visits>"


@pytest.mark.parametrize(
    "visits", [[], [("secret", 5), ("secret", 5)], [("secret", 5), ("secret", 4)], [("secret", -1)]]
)
def test_bad_days_are_refused_without_quoting_them(visits: list[tuple[str, int]]) -> None:
    with pytest.raises(ValueError, match=r"must|needs") as caught:
        Trajectory(visits)
    assert "secret" not in str(caught.value)
