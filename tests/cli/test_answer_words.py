"""An answer in words: the thing, the bucket or the made-up day that its two numbers name."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from elsewhere.cli.answer_words import answer_in_words
from elsewhere.survey.report import Report
from elsewhere.world.world import World
from made_surveys import six_places, survey_of


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return six_places(tmp_path_factory.mktemp("world"))


@pytest.mark.parametrize(
    ("kind", "options", "output", "words"),
    [
        ("presence", {"grid": 2}, 9, "around p0, 9:00 to 10:00"),
        ("presence", {"grid": 2, "hours": 4}, 2, "around p0, 8:00 to 12:00"),
        ("visits", {}, 0, "1 visit"),
        ("visits", {"most": 3}, 2, "3 visits or more"),
        ("visits", {"most": 3, "k": 1}, 3, "a blank, which names nothing"),
        ("trips", {"edges_km": [1, 2]}, 1, "a trip of 1 to 2 km"),
        ("trips", {"edges_km": [1, 2]}, 2, "a trip of 2 km or more"),
        ("places", {}, 4, "p4"),
        ("moves", {"grid": 2}, 1, "around p0 to around"),
        ("day", {"candidates": 16, "shards": 2}, 4, "made-up day 5 of 16 in list 1"),
    ],
)
def test_each_kind_of_question_has_its_words(
    world: World, kind: str, options: dict[str, Any], output: int, words: str
) -> None:
    assert words in _said(world, kind, options, output)


def test_a_bucket_is_called_a_bucket(world: World) -> None:
    said = _said(world, "presence", {"grid": 2, "k": 1}, 3, epsilon="1")
    assert said.startswith("bucket 4 of ")
    assert "put there by chance" in said


def _said(world: World, kind: str, options: dict[str, Any], output: int, epsilon: str = "5") -> str:
    survey = survey_of(world, (kind, "1", options), epsilon=epsilon)
    day = dt.date(2025, 9, 17)
    report = Report(survey="0" * 64, report_id="0" * 32, question=0, day=day, seed=0, output=output)
    return answer_in_words(survey, report)
