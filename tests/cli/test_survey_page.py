"""`elsewhere survey page`: the people's page as a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from commands import Command
from elsewhere.pages.people import people_page
from elsewhere.survey.file import load_survey, save_survey
from elsewhere.world.basemap import basemap_beside
from made_surveys import six_places, survey_of
from worlds import build, place


@pytest.fixture
def survey_file(tmp_path: Path) -> Path:
    world = six_places(tmp_path / "world")
    save_survey(survey_of(world, ("visits", "1", {}), purpose="Who goes out?"), tmp_path / "s.survey")
    return tmp_path / "s.survey"


def test_a_page_says_its_hash_and_whom_it_sends_to(
    elsewhere: Command, survey_file: Path, tmp_path: Path
) -> None:
    page = tmp_path / "a.html"
    code, said, wrong = elsewhere(
        "survey", "page", survey_file, "--to", "https://s.example.org/x", "-o", page
    )
    assert (code, wrong) == (0, "")
    assert hashlib.sha256(page.read_bytes()).hexdigest() in said.replace("\n", "")
    html = page.read_text(encoding="utf-8")
    assert "Who goes out?" in html
    assert '"to":"https://s.example.org/x/"' in html
    assert "connect-src https://s.example.org;" in html


@pytest.mark.parametrize(
    "to", ["http://s.example.org", "ftp://s.example.org", "https://a b; script-src *", "x"]
)
def test_only_addresses_that_reports_may_go_to_are_taken(
    elsewhere: Command, survey_file: Path, tmp_path: Path, to: str
) -> None:
    code, _, wrong = elsewhere("survey", "page", survey_file, "--to", to, "-o", tmp_path / "a.html")
    assert code == 2
    assert "--to" in wrong
    assert not (tmp_path / "a.html").exists()


def test_it_warns_of_a_survey_that_browsers_cannot_answer(elsewhere: Command, tmp_path: Path) -> None:
    rows = [place(f"p{i}", 50 + 2 * i, 10, hours="24/7") for i in range(3)]
    world = build(tmp_path / "w", rows, {"kappa": 1})
    save_survey(survey_of(world, ("trips", "1", {})), tmp_path / "s.survey")
    page = tmp_path / "a.html"
    code, _, wrong = elsewhere(
        "survey", "page", tmp_path / "s.survey", "--to", "https://a.example", "-o", page
    )
    assert code == 0
    assert "cannot be answered in a browser" in wrong.replace("\n", " ")


def test_without_an_address_it_is_the_page_that_a_collector_serves(
    elsewhere: Command, survey_file: Path, tmp_path: Path
) -> None:
    """Whoever has the survey and its base map can check what is served."""
    code, _, _ = elsewhere("survey", "page", survey_file, "-o", tmp_path / "a.html")
    assert code == 0
    served = people_page(load_survey(survey_file), basemap=basemap_beside(survey_file))
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == served
    assert "connect-src 'self';" in served
