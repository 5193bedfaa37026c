"""`elsewhere audit`: for people, for machines, as a page, and with bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command
from worlds import build, place


@pytest.fixture
def world(tmp_path: Path) -> Path:
    rows = [
        place(f"p{i}", 50 + i % 4 * 0.01, 10 + i // 4 * 0.01, ["cafe", "boots"][i % 2], hours="06:00-23:00")
        for i in range(12)
    ]
    build(tmp_path / "tables", rows, {"kappa": 2}).save(tmp_path / "w.world")
    return tmp_path / "w.world"


def test_a_person_reads_the_promise_and_what_is_spent(elsewhere: Command, world: Path) -> None:
    page = world.with_name("audit.html")
    code, out, err = elsewhere("audit", world, "-m", "ngram", "-e", 5, "--visits", 3, "--page", page)
    words = " ".join(out.split())
    assert (code, err) == (0, "")
    assert "For any two days of 3 visits the chances" in words
    assert "2-gram of regions" in words
    assert "exact" in words
    assert "Spent at most" in words
    assert "the number of visits of the day; that a person takes part" in words
    html = page.read_text()
    assert "How much a share tells" in html
    assert "What is not protected" in html
    assert "https://" not in html.split("<body>")[1]


def test_a_machine_reads_json(elsewhere: Command, world: Path) -> None:
    code, out, _ = elsewhere("audit", world, "-m", "ngram", "-e", "2.5", "-n", 3, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["epsilon_claimed"] == "5/2"
    assert 0.8 < facts["epsilon_spent_at_most"] <= 2.5
    assert sum(draw["count"] for draw in facts["draws"]) == 7
    assert facts["is_exact_per_draw"] is True


def test_sensitivity_one_is_told_what_it_costs(elsewhere: Command, world: Path) -> None:
    code, out, err = elsewhere("audit", world, "-m", "ngram", "-e", 5, "--sensitivity", 1)
    assert code == 0
    assert "NOT ε-LDP" in out
    assert "NOT ε-LDP" in err
    code, out, err = elsewhere("audit", world, "-m", "ngram", "-e", 5, "--sensitivity", 1, "--json")
    assert json.loads(out)["is_ldp"] is False
    assert "NOT ε-LDP" in err


@pytest.mark.parametrize("name", ["ind-reach", "ind-noreach", "global"])
def test_other_methods_get_the_proven_bound(elsewhere: Command, world: Path, name: str) -> None:
    code, out, _ = elsewhere("audit", world, "-e", 5, "-m", name, "--visits", 2, "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["epsilon_spent_at_most"] == pytest.approx(5)
    assert facts["is_exact_per_draw"] is False
    assert "proven bound" in facts["how"]


def test_the_default_is_the_codebook(elsewhere: Command, world: Path) -> None:
    code, out, _ = elsewhere("audit", world, "-e", 5, "--set", "candidates=64", "--set", "shards=2", "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["method"] == "codebook"
    assert [draw["what"] for draw in facts["draws"]] == ["candidate day"]
    assert facts["is_exact_per_draw"] is True
    assert 4.95 <= facts["epsilon_spent_at_most"] <= 5
    assert not any("number of visits" in thing for thing in facts["not_protected"])


def test_hidden_lengths_and_the_black_box(elsewhere: Command, world: Path) -> None:
    code, out, _ = elsewhere(
        "audit",
        world,
        "-m",
        "ngram",
        "-e",
        1,
        "--hide-length",
        3,
        "--black-box",
        600,
        "--workers",
        1,
        "--json",
    )
    facts = json.loads(out)
    assert code == 0
    assert facts["draws"][0] == {
        "what": "length", "count": 1, "epsilon": "1/5", "spent_at_most": 0.2, "is_exact": True
    }  # fmt: skip
    assert facts["black_box"]["epsilon_at_least"] <= 1
    assert facts["black_box"]["shares_of_each_day"] == 600
    assert "that the day is shared as at most 3 visits" in facts["not_protected"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-e", 0], "epsilon"),
        (["-e", 5, "-m", "magic"], "must be one of"),
        (["-e", 5, "--visits", 9999], "must be at most 144"),
        (["-e", 5, "--hide-length", 3, "--visits", 2], "--visits"),
        (["-e", 500], "more than 96 takes too long"),
        (["-e", 5, "--black-box", 10], "at least 100"),
        (["-e", 5, "--hide-length", 500], "hide_length: found 500"),
        (["-e", 5, "-m", "ind-reach", "-n", 3], "n: is no option of ind-reach"),
        (["-e", 5, "--sensitivity", 2], "--sensitivity"),
        (["-e", 5, "--sensitivity", 1, "--hide-length", 3], "--sensitivity: 1 is for ngram alone"),
        (["-e", 5, "--sensitivity", 1, "-m", "codebook"], "--sensitivity: 1 is for ngram alone"),
        (["-e", 5, "--sensitivity", "world", "-m", "codebook"], "sensitivity: is no option of codebook"),
        (["-e", 5, "--hide-length", 3, "-m", "codebook"], "hides the number of visits by itself"),
        (["-e", 5, "--visits", 2, "-m", "codebook"], "--visits"),
        (["-e", 5, "--set", "candidates"], "--set: found 'candidates', must be NAME=VALUE"),
        (["-e", 5, "--set", "candidates=64"], "candidates: is no option of ngram"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    elsewhere: Command, world: Path, options: list[object], said: str
) -> None:
    page = world.with_name("never.html")
    name = [] if "-m" in options else ["-m", "ngram"]
    code, out, err = elsewhere("audit", world, *options, *name, "--page", page)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert not page.exists()


def test_a_page_never_replaces_the_world(elsewhere: Command, world: Path) -> None:
    before = world.read_bytes()
    code, _, err = elsewhere("audit", world, "-e", 5, "--page", world)
    assert code == 2
    assert "error" in err
    assert world.read_bytes() == before
