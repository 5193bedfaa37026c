"""What the people's page says: the same in every language, nothing unsaid, and no way in or out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from elsewhere.pages import people
from elsewhere.pages.browser_survey import browser_survey
from elsewhere.pages.people import LANGUAGES, chance_of_truth, messages, people_page, policy_of
from elsewhere.survey.survey import Survey
from made_surveys import six_places, survey_of
from scripts_of_pages import SCRIPTS

ENGLISH = messages()["en"]
PLACEHOLDER = re.compile(r"\{\w+\}")


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    world = six_places(tmp_path_factory.mktemp("world"))
    return survey_of(world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}), purpose="</script><b>")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_all_with_the_same_values(language: str) -> None:
    words = messages()[language]
    assert list(words) == list(ENGLISH)
    for key, text in words.items():
        assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(ENGLISH[key])), key
        assert text == text.strip() != ""
    if language != "en":
        assert sum(text == ENGLISH[key] for key, text in words.items()) <= 3


def test_every_message_is_used_and_every_key_exists() -> None:
    code = "".join((SCRIPTS.parent / name).read_text() for name in people.SCRIPTS)
    code += Path(people.__file__).read_text()
    told = {key for key in ENGLISH if re.search(rf"[\"'`]{key}[\"'`]", code)}
    made = {key for key in ENGLISH if key.startswith(("ask_", "how_"))}
    assert told | made | {"language"} == set(ENGLISH)
    said = set(re.findall(r"\.(?:say|tell|of)\((?:\"[\w-]+\", )?[\"'](\w+)[\"']", code))
    assert {key for key in said if "_" in key} <= set(ENGLISH)
    assert set(re.findall(r'FileProblem\("(\w+)"', code)) - {"file_no_zone", "file_no_place"} <= set(ENGLISH)


def test_the_policy_lets_nothing_in(survey: Survey) -> None:
    html = people_page(survey, to="https://survey.example.org/city")
    policy = policy_of(html)
    assert "default-src 'none'" in policy
    assert "connect-src https://survey.example.org;" in policy
    assert policy.endswith("frame-ancestors 'none'")
    assert "unsafe" not in policy
    assert "connect-src 'self';" in policy_of(people_page(survey))
    assert not re.search(r"<[^>]+\s(style|on\w+)=", html.partition("<script")[0])
    assert not re.search(r"<(link|img|iframe|object|script src)", html.partition("<script")[0])


def test_what_a_survey_says_of_itself_is_text_and_no_page(survey: Survey) -> None:
    html = people_page(survey)
    assert "&lt;/script&gt;&lt;b&gt;" in html
    assert "</script><b>" not in html


def test_the_same_survey_gives_the_same_page(survey: Survey) -> None:
    assert people_page(survey, to="https://a.example") == people_page(survey, to="https://a.example")
    assert people_page(survey, to="https://a.example") != people_page(survey, to="https://b.example")


def test_the_picture_shows_the_chance_of_an_answer_that_fits(survey: Survey) -> None:
    """Of k e^ε + M − k it is k e^ε, over both questions."""
    wanted = 0.0
    for question in survey.questions:
        odds = question.channel.odds
        mine = odds.nearest * 148.413159
        wanted += 0.5 * mine / (mine + odds.candidates - odds.nearest)
    assert chance_of_truth(survey) == pytest.approx(wanted, abs=1e-6)
    picture = people_page(survey).partition('<svg class="odds"')[2].partition("</svg>")[0]
    assert picture.count("<circle") == 100
    assert picture.count('class="fill') == round(100 * wanted)


def test_only_what_is_public_is_in_the_page(survey: Survey) -> None:
    plain = browser_survey(survey)
    assert plain["hash"] in people_page(survey)
    assert set(plain["places"]) == {"names", "vectors", "anywhere", "kinds", "kind_names", "pattern", "open"}
