"""A small world of six places and a survey of it, for tests."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.survey import Survey, Terms, make_survey
from elsewhere.world.world import World
from worlds import build, place

KINDS = ["cafe", "boots", "bar"]


def six_places(folder: Path) -> World:
    """Six places in two rows, two kinds of them open by day only."""
    rows = [
        place(f"p{i}", 50 + i % 3 * 0.01, 10 + i // 3 * 0.02, KINDS[i % 3], hours="06:00-24:00")
        for i in range(6)
    ]
    return build(folder, rows, {"kappa": 1})


def survey_of(
    world: World,
    *asked: tuple[str, str, dict[str, Any]],
    epsilon: str = "5",
    folder: Path = Path(),
    **terms: Any,
) -> Survey:
    """A survey of (kind, share, options)."""
    records = [(question_of(kind, options), Fraction(share)) for kind, share, options in asked]
    return make_survey(world, Terms(epsilon=Fraction(epsilon), **terms), records, folder=folder)
