"""T11: the device in the browser gives the report that Python's gives of the same day and the same words."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from elsewhere.mechanism import answer, pick
from elsewhere.pages.browser_survey import browser_survey, why_not
from elsewhere.survey.report import report_from_bytes
from elsewhere.survey.survey import Survey
from made_surveys import survey_of
from scripts_of_pages import HERE, SCRIPTS, in_node
from twins import Vector, larger_surveys, python_answers, tiny_surveys, vectors_of, with_few_trials
from worlds import build, place

TWINS = [SCRIPTS / "device.js", SCRIPTS / "things.js", HERE / "twins.js"]
_SLICE = range(0, 224, 16)


def _answerable(surveys: list[Survey]) -> list[Survey]:
    return [survey for survey in surveys if not why_not(survey)]


def _plain(surveys: list[Survey], vectors: list[Vector]) -> list[Any]:
    return [[browser_survey(survey) for survey in surveys], vectors]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> list[Survey]:
    """A slice of the surveys of T9, of every kind."""
    return _answerable(tiny_surveys(tmp_path_factory.mktemp("tiny"), _SLICE))


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> list[Survey]:
    """Surveys of a world with more places."""
    return larger_surveys(tmp_path_factory.mktemp("larger"))


def test_node_and_chromium_answer_as_python_does(
    tmp_path: Path, browser: Browser, tiny: list[Survey], larger: list[Survey]
) -> None:
    """T11, a slice: every kind of question, direct and hashed; also how often words are asked for."""
    surveys = tiny + _answerable(larger)
    vectors = vectors_of(surveys, 35)
    wanted = python_answers(surveys, vectors)
    assert len(vectors) >= 1000
    assert in_node(tmp_path, "answerVectors", _plain(surveys, vectors), TWINS) == wanted
    page = browser.new_page()
    for script in TWINS:
        page.add_script_tag(path=str(script))
    call = "([surveys, vectors]) => answerVectors(surveys, vectors)"
    assert page.evaluate(call, _plain(surveys, vectors)) == wanted
    _are_telling(surveys, wanted)


@pytest.mark.audit
def test_ten_thousand_vectors(tmp_path: Path) -> None:
    """T11, all of it."""
    surveys = _answerable(tiny_surveys(tmp_path, range(224)) + larger_surveys(tmp_path))
    vectors = vectors_of(surveys, 50)
    wanted = python_answers(surveys, vectors)
    assert len(vectors) >= 10_000
    assert in_node(tmp_path, "answerVectors", _plain(surveys, vectors), TWINS) == wanted
    _are_telling(surveys, wanted)


def _are_telling(surveys: list[Survey], wanted: list[Any]) -> None:
    """Vectors that could all be answered by nothing would show nothing."""
    kinds = {question.kind for survey in surveys for question in survey.questions}
    assert kinds == {"presence", "kinds", "moves", "visits", "trips", "places", "day"}
    reports = [report_from_bytes(bytes.fromhex(hexed)) for hexed, _, _ in wanted]
    assert len({(report.survey, report.output) for report in reports}) > 200
    assert len({report.report_id for report in reports}) > 0.9 * len(reports)  # some words are all ones
    assert any(report.seed for report in reports)


def test_tapes_that_run_out_go_on_after_as_many_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: list[Survey]
) -> None:
    """Short tapes are fetched often: how often tells to some ten words how many were taken."""
    for module, name in ((answer, "words_for_answer"), (pick, "words_for_candidates")):
        monkeypatch.setattr(module, name, lambda *_, **__: 1)
    vectors = vectors_of(tiny, 25)
    wanted = python_answers(tiny, vectors)
    plain = _plain(tiny, vectors)
    for survey in plain[0]:
        for question in survey["questions"]:
            question["words"] = 1
    assert in_node(tmp_path, "answerVectors", plain, TWINS) == wanted
    assert sum(len(calls) > 6 for _, _, calls in wanted) > 125


def test_where_nothing_is_accepted_one_more_proposal_is_taken(tmp_path: Path, larger: list[Survey]) -> None:
    surveys = [with_few_trials(survey, 1) for survey in _answerable(larger)]
    vectors = vectors_of(surveys, 20)
    wanted = python_answers(surveys, vectors)
    assert in_node(tmp_path, "answerVectors", _plain(surveys, vectors), TWINS) == wanted


def test_other_words_give_another_report(tmp_path: Path, larger: list[Survey]) -> None:
    """The comparison can fail."""
    surveys = larger[:4]
    vectors = vectors_of(surveys, 10)
    wanted = python_answers(surveys, vectors)
    others = [vector._replace(seed=vector.seed ^ 1) for vector in vectors]
    found = in_node(tmp_path, "answerVectors", _plain(surveys, others), TWINS)
    assert sum(a == b for a, b in zip(found, wanted, strict=True)) == 0


@pytest.mark.parametrize("flags", [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0]])
def test_a_pick_without_exactly_k_of_mine_is_refused(tmp_path: Path, flags: list[int]) -> None:
    """R19, in the kernel of the browser as well."""
    call = """(flags) => {
      const odds = { candidates: 4, nearest: 1, numerator: 1, denominator: 1, trials: 9, words: 99 };
      try { pickOne(new Tape(systemWords, 99), odds, Uint8Array.from(flags)); }
      catch (e) { return e.message; }
      return "picked";
    }"""
    found = in_node(tmp_path, call, [flags], TWINS[:1])
    assert "not exactly k" in found


def test_a_survey_that_browsers_would_answer_otherwise_is_named(tmp_path: Path) -> None:
    """Beyond 200 km arc sines are needed, whose last digits are each machine's own."""
    rows = [place(f"p{i}", 50 + 2 * i, 10, hours="24/7") for i in range(4)]
    world = build(tmp_path, rows, {"kappa": 1})
    assert "200 km" in why_not(survey_of(world, ("trips", "1", {})))
    assert "200 km" in why_not(survey_of(world, ("day", "1", {"candidates": 8, "shards": 1, "k": 1})))
    assert not why_not(survey_of(world, ("presence", "1", {})))


def test_days_before_the_first_are_rounded_as_in_python(tmp_path: Path) -> None:
    call = "(days) => days.map((day) => toldDay({ firstDay: 12, dayUnit: 7 }, day))"
    days = list(range(3, 40))
    start = dt.date(2000, 1, 13)
    wanted = [day - (dt.date(2000, 1, 1) + dt.timedelta(day) - start).days % 7 for day in days]
    assert in_node(tmp_path, call, [days], TWINS[:1]) == wanted


def test_the_trusted_part_is_short_and_has_one_source_of_randomness() -> None:
    device, things = ((SCRIPTS / name).read_text() for name in ("device.js", "things.js"))
    assert len(device.splitlines()) <= 300
    for code in (device, things):
        plain = re.sub(r"/\*.*?\*/|//[^\n]*", "", code, flags=re.DOTALL)
        for word in (
            "Math.random", "Date", "fetch", "XMLHttpRequest", "import", "eval", "Function(", "localStorage",
            "performance", "navigator", "document", "window", "WebSocket", "sendBeacon",
        ):  # fmt: skip
            assert word not in plain
    assert device.count("crypto.getRandomValues") == 1
    assert "crypto" not in things
    assert not re.search(r"\d\.\d|Math\.(exp|log|pow|sqrt)", device.replace("MurmurHash3's", ""))  # R14


def test_days_at_places_of_several_kinds_or_without_a_position(tmp_path: Path) -> None:
    """d_c is the least over pairs of categories, and nothing is far from an online shop."""
    rows = [
        place("both", 50.0, 10, "shoes;cafe", hours="24/7"),
        place("bar", 50.2, 10, "wine-bar", hours="24/7"),
        place("web", 50.4, 10.4, "boots", hours="24/7", is_anywhere=True),
    ]
    world = build(tmp_path, rows, {"kappa": 1})
    surveys = [survey_of(world, ("day", "1", {"candidates": 32, "shards": 1, "k": 3}))]
    vectors = vectors_of(surveys, 60)
    wanted = python_answers(surveys, vectors)
    assert in_node(tmp_path, "answerVectors", _plain(surveys, vectors), TWINS) == wanted


def test_a_distance_of_ones_own_is_left_to_python(tmp_path: Path) -> None:
    rows = [place("a", 50.0, 10, hours="24/7"), place("b", 50.1, 10, hours="24/7")]
    world = build(tmp_path, rows, {"kappa": 1, "distance": {"combine": "sum"}})
    day = ("day", "1", {"candidates": 8, "shards": 1, "k": 1})
    assert "which browsers do not know" in why_not(survey_of(world, day))
    assert not why_not(survey_of(world, ("presence", "1", {})))
