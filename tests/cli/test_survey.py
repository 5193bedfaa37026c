"""`survey create`, `show`, `answer`, `simulate`, `estimate`, as people type them, with good and bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest

from commands import Command
from elsewhere.survey.report import report_from_bytes, report_from_json

QUESTIONS = """
[[question]]
kind = "presence"
grid = 3
share = 0.5
[[question]]
kind = "moves"
grid = 2
share = 0.25
[[question]]
kind = "visits"
share = 0.25
"""
TOML = 'world = "c.world"\nepsilon = 5\ndays = 2\npurpose = "Where is the campus?"\n' + QUESTIONS


@pytest.fixture
def campus(elsewhere: Command, tmp_path: Path) -> Path:
    assert elsewhere("dataset", "campus", "--people", 300, "-o", tmp_path / "c")[0] == 0
    assert elsewhere("world", "build", tmp_path / "c/world.toml", "-o", tmp_path / "c.world")[0] == 0
    (tmp_path / "s.toml").write_text(TOML)
    code, _, err = elsewhere(
        "survey", "create", tmp_path / "s.toml", "-o", tmp_path / "s.survey", "--no-expect"
    )
    assert (code, err) == (0, "")
    return tmp_path


def test_a_survey_from_its_toml_to_its_page(elsewhere: Command, campus: Path) -> None:
    days, reports, results = campus / "c/trajectories.csv", campus / "r.parquet", campus / "results"
    code, out, err = elsewhere(
        "survey",
        "simulate",
        campus / "s.survey",
        days,
        "--people",
        20_000,
        "--seed",
        1,
        "-o",
        reports,
        "--json",
    )
    assert code == 0
    assert "NOT private" in err
    counts = json.loads(out)["by_question"]
    assert sum(counts.values()) == 20_000
    assert counts["presence"] == pytest.approx(10_000, abs=400)
    code, out, err = elsewhere("survey", "estimate", campus / "s.survey", reports, "-o", results)
    assert (code, err) == (0, "")
    assert "20,000 reports count" in out
    names = {path.name for path in results.iterdir()}
    assert names == {
        "index.html", "population", "population.parquet", "summary.json",
        *(f"{name}.{suffix}" for name in ("presence", "moves", "visits") for suffix in ("csv", "parquet")),
    }  # fmt: skip
    presence = pl.read_csv(results / "presence.csv")
    assert presence.columns == [
        "thing", "south", "west", "north", "east", "hour", "count", "estimate", "low", "high", "reports",
    ]  # fmt: skip
    assert (presence["low"] <= presence["estimate"]).all()
    assert (presence["estimate"] <= presence["high"]).all()
    page = (results / "index.html").read_text()
    assert "What people said together" in page
    assert "https://" not in page.split("</script>")[-1]
    summary = json.loads((results / "summary.json").read_text())
    assert summary["reports"] == 20_000
    assert not summary["is_prior"]
    # The population is a file of trajectories like any other.
    population = pl.read_parquet(results / "population.parquet")
    weights = population.unique("uid")["weight"].sum()
    assert weights == pytest.approx(1)
    code, out, _ = elsewhere(
        "survey",
        "simulate",
        campus / "s.survey",
        results / "population.parquet",
        "-o",
        campus / "p.parquet",
        "--json",
    )
    assert json.loads(out)["reports"] == population["uid"].n_unique()


def test_made_up_people_of_a_survey_can_be_shared_and_evaluated(elsewhere: Command, campus: Path) -> None:
    days, reports, results = campus / "c/trajectories.csv", campus / "r.parquet", campus / "results"
    made = ("survey", "simulate", campus / "s.survey", days, "--people", 2000, "--seed", 1, "-o", reports)
    assert elsewhere(*made)[0] == 0
    asked = ("survey", "estimate", campus / "s.survey", reports, "-o", results)
    assert elsewhere(*asked, "--people", 0)[0] == 2
    assert not results.exists()
    assert elsewhere(*asked, "--people", 150)[0] == 0
    assert {path.name for path in (results / "population").iterdir()} == {
        f"{name}.csv" for name in ("hotspots", "flows", "kinds", "trips", "visits", "chains")
    }
    page = (results / "index.html").read_text()
    assert "Its numbers have no intervals, so none of them stands here" in page
    people, shared, world = results / "people.parquet", campus / "shared.csv", campus / "c.world"
    assert pl.read_parquet(people)["uid"].n_unique() == 150
    assert elsewhere("perturb", people, "-w", world, "-e", 5, "-o", shared)[0] == 0
    code, out, _ = elsewhere("evaluate", people, shared, "-w", world, "--json", "--no-nulls")
    assert code == 0
    assert json.loads(out)["shared"]["days"] == 150
    # A later run without them leaves no people of another population behind.
    assert elsewhere(*asked)[0] == 0
    assert not people.exists()


def test_what_to_expect_is_said_before_anyone_is_asked(elsewhere: Command, campus: Path) -> None:
    start = 'world = "c.world"\nepsilon = 5\n'
    (campus / "one.toml").write_text(f'{start}[[question]]\nkind = "visits"\n')
    code, out, _ = elsewhere(
        "survey",
        "create",
        campus / "one.toml",
        "-o",
        campus / "one.survey",
        "--page",
        campus / "e.html",
        "--json",
    )
    assert code == 0
    found = json.loads(out)["expect"]
    assert [one["people"] for one in found] == [1_000, 10_000, 100_000, 1_000_000]
    assert found[-1]["error"] < found[0]["error"]
    assert found[-1]["verdict"] == "good"
    assert found[-1]["central_epsilon"] is None  # no period: any two reports may tell other days
    assert "Before anyone is asked" in (campus / "e.html").read_text()
    for days, epsilon in ((1, 0.11), (30, 0.75)):
        period = f"period = {{ first = 2025-09-01, last = 2025-09-{days:02d} }}\n"
        (campus / "one.toml").write_text(f'{start}{period}[[question]]\nkind = "visits"\n')
        made = ("survey", "create", campus / "one.toml", "-o", campus / f"{days}.survey", "--json")
        found = json.loads(elsewhere(*made)[1])["expect"]
        assert found[-1]["central_epsilon"] == pytest.approx(epsilon, rel=0.3)


def test_show_says_what_is_asked_and_promised(elsewhere: Command, campus: Path) -> None:
    code, out, _ = elsewhere("survey", "show", campus / "s.survey")
    assert code == 0
    for words in (
        "Where is the campus?",
        "people in each part of the city",
        "50 %",
        "Days a person may answer",
    ):
        assert words in out
    facts = json.loads(elsewhere("survey", "show", campus / "s.survey", "--json")[1])
    assert [question["name"] for question in facts["questions"]] == ["presence", "moves", "visits"]


def test_one_person_answers_once(elsewhere: Command, campus: Path) -> None:
    head = "datetime,lat,lng\n"
    rows = [
        f"2025-09-17T{hour:02d}:{minute:02d}:00,49.2606,-123.2460\n" for hour in (9, 10) for minute in (0, 30)
    ]
    (campus / "me.csv").write_text(head + "".join(rows))
    ask = ("survey", "answer", campus / "s.survey", campus / "me.csv", "--ledger", campus / "my.ledger", "-y")
    code, out, err = elsewhere(*ask, "--day", "2025-09-17", "-o", campus / "a.report", "--json")
    assert (code, err) == (0, "")
    report = report_from_bytes((campus / "a.report").read_bytes())
    assert report_from_json(out.strip()) == report
    code, out, _ = elsewhere(*ask, "--day", "2025-09-17")
    assert code == 0
    assert "nothing more is spent" in out
    assert report.report_id in out
    code, _, err = elsewhere(*ask, "--day", "2025-09-16")
    assert code == 0
    assert "says nothing about 2025-09-16" in err
    code, _, err = elsewhere(*ask, "--day", "2025-09-15")
    assert code == 2
    assert "2 of 2 days" in err
    for day, words in (("2999-01-01", "not be later than today"), ("yesterday", "must be a date")):
        code, _, err = elsewhere(*ask, "--day", day)
        assert code == 2
        assert words in err
    code, _, err = elsewhere(*ask, "--day", "2025-09-17", "-o", campus / "a.report")
    assert code == 2
    assert "is there already" in err


def test_what_it_costs_is_said_before_and_much_needs_a_word(elsewhere: Command, campus: Path) -> None:
    (campus / "me.csv").write_text("datetime,lat,lng\n2025-09-17T09:00:00,49.2606,-123.2460\n")
    (campus / "much.toml").write_text(TOML.replace("epsilon = 5", "epsilon = 11"))
    create = ("survey", "create", campus / "much.toml", "-o", campus / "much.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    ask = ("survey", "answer", campus / "much.survey", campus / "me.csv", "--day", "2025-09-17", "--yes")
    for given in ((), ("--epsilon", "5"), ("--epsilon", "many")):
        code, out, err = elsewhere(*ask, *given)
        assert code == 2
        assert "epsilon" in err
        assert "Spent" not in out
    code, out, _ = elsewhere(*ask, "--epsilon", "11")
    assert code == 0
    assert out.index("Where is the campus?") < out.index("ε = 11 for each day") < out.index("Spent 11 of")


def test_other_days_do_not_decide_whether_there_is_a_report(elsewhere: Command, campus: Path) -> None:
    """The collector chose the world: no report would tell that other days were spent far from it."""
    rows = [f"2025-09-{day}T09:00:00,48.85,2.35\n" for day in range(10, 17)]
    (campus / "me.csv").write_text(
        "datetime,lat,lng\n" + "".join(rows) + "2025-09-17T09:00:00,49.2606,-123.2460\n"
    )
    ask = ("survey", "answer", campus / "s.survey", campus / "me.csv", "--day", "2025-09-17")
    code, _, err = elsewhere(*ask, "-o", campus / "my.report", "--yes")
    assert code == 0
    assert "far from this survey's" in err
    assert (campus / "my.report").stat().st_size == 63


def test_other_files_are_not_mixed_with_results(elsewhere: Command, campus: Path) -> None:
    (campus / "mine").mkdir()
    (campus / "mine/visits.csv").write_text("mine")
    simulate = ("survey", "simulate", campus / "s.survey", campus / "c/trajectories.csv", "--people", 1000)
    assert elsewhere(*simulate, "-o", campus / "r.parquet")[0] == 0
    estimate = ("survey", "estimate", campus / "s.survey", campus / "r.parquet", "-o")
    code, _, err = elsewhere(*estimate, campus / "mine")
    assert code == 2
    assert "has other files in it" in err
    assert (campus / "mine/visits.csv").read_text() == "mine"
    code, _, err = elsewhere(*estimate, campus / "new", "--days", "weekend")
    assert code == 2
    assert "about other days of the week" in err


def test_days_of_a_codebook_shape_the_population_and_have_no_table(elsewhere: Command, campus: Path) -> None:
    day = '[[question]]\nkind = "day"\ncandidates = 64\nshards = 2\n'
    (campus / "d.toml").write_text(f'world = "c.world"\nepsilon = 5\n{day}')
    create = ("survey", "create", campus / "d.toml", "-o", campus / "d.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    simulate = ("survey", "simulate", campus / "d.survey", campus / "c/trajectories.csv", "--people", 1000)
    assert elsewhere(*simulate, "-o", campus / "r.parquet")[0] == 0
    estimate = ("survey", "estimate", campus / "d.survey", campus / "r.parquet", "-o", campus / "results")
    assert elsewhere(*estimate)[0] == 0
    assert not (campus / "results/day.csv").exists()
    assert "They shape the population;" in (campus / "results/index.html").read_text()


def test_simulated_people_keep_to_the_terms_and_files_say_that_a_seed_was_used(
    elsewhere: Command, campus: Path
) -> None:
    period = "days = 2\nleast = 1\nperiod = { first = 2025-09-01, last = 2025-09-05 }"
    (campus / "p.toml").write_text(TOML.replace("days = 2", period))
    create = ("survey", "create", campus / "p.toml", "-o", campus / "p.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    rows = [f"u{u},2025-09-{day:02d}T09:00:00,49.2606,-123.2460\n" for u in range(40) for day in range(4, 9)]
    (campus / "days.csv").write_text("uid,datetime,lat,lng\n" + "".join(rows))
    simulate = ("survey", "simulate", campus / "p.survey", campus / "days.csv", "-o", campus / "r.parquet")
    code, out, err = elsewhere(*simulate, "--seed", 1, "--json")
    assert (code, json.loads(out)["reports"]) == (0, 80)  # two days of each person, none after the fifth
    assert "120 days are left out" in err
    reports = pl.read_parquet(campus / "r.parquet")
    assert reports["id"].is_sorted()
    estimate = ("survey", "estimate", campus / "p.survey", campus / "r.parquet", "-o", campus / "results")
    code, out, _ = elsewhere(*estimate, "--json")
    assert (code, json.loads(out)["randomness"]) == (0, "seeded (1)")
    assert (
        "NOT private, for experiments: randomness is seeded (1)"
        in (campus / "results/index.html").read_text()
    )


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (TOML.replace("epsilon = 5", "epsilon = 0"), "epsilon: found 0, must be above 0"),
        (TOML.replace("epsilon = 5", "epsilonn = 5"), "unknown key 'epsilonn', allowed are world, epsilon"),
        (TOML.replace("epsilon = 5\n", ""), "epsilon: found None"),
        (TOML.replace('"c.world"', '"none.world"'), "none.world"),
        (TOML.replace('world = "c.world"\n', ""), "world: is missing"),
        (TOML.replace("share = 0.5", "share = 0.4"), "share: of all questions adds up to 0.9"),
        (TOML.replace("grid = 3", "grid = 300"), "question 1.grid: found 300"),
        (TOML.replace('"visits"', '"visit"'), "question 3.kind: found 'visit'"),
        (TOML.replace("days = 2", "days = 0"), "days: found 0"),
        (
            TOML.replace("days = 2", 'period = { first = "2025-09-01", last = "2025-09-02" }'),
            "without quotes",
        ),
        (TOML.replace("days = 2", "period = { first = 2025-09-02, last = 2025-09-01 }"), "before it begins"),
        (TOML.replace(QUESTIONS, ""), "has 0 questions"),
        (TOML + "[", "not valid TOML"),
    ],
)
def test_a_wrong_toml_is_one_clear_message(elsewhere: Command, campus: Path, toml: str, words: str) -> None:
    (campus / "bad.toml").write_text(toml)
    code, out, err = elsewhere("survey", "create", campus / "bad.toml", "-o", campus / "bad.survey")
    assert (code, out) == (2, "")
    assert words in err.replace("\n", " ")
    assert not (campus / "bad.survey").exists()


def test_estimates_of_too_few_or_strange_reports_are_refused(elsewhere: Command, campus: Path) -> None:
    days = campus / "c/trajectories.csv"
    assert (
        elsewhere(
            "survey", "simulate", campus / "s.survey", days, "--people", 150, "-o", campus / "r.parquet"
        )[0]
        == 0
    )
    code, _, err = elsewhere(
        "survey", "estimate", campus / "s.survey", campus / "r.parquet", "-o", campus / "x"
    )
    assert code == 2
    assert "no question has 100 reports" in err
    assert not (campus / "x").exists()
    (campus / "t.toml").write_text(TOML.replace("epsilon = 5", "epsilon = 2"))
    assert elsewhere("survey", "create", campus / "t.toml", "-o", campus / "t.survey", "--no-expect")[0] == 0
    code, _, err = elsewhere(
        "survey", "estimate", campus / "t.survey", campus / "r.parquet", "-o", campus / "x"
    )
    assert code == 2
    assert "150 of another survey" in err
    for options, words in (
        (["--also", "b.survey"], "must be SURVEY=REPORTS"),
        (["--days", "monday"], "must be weekday or weekend"),
    ):
        code, _, err = elsewhere(
            "survey", "estimate", campus / "s.survey", campus / "r.parquet", "-o", campus / "x", *options
        )
        assert code == 2
        assert words in err


def test_two_surveys_with_other_epsilons_make_one_population(elsewhere: Command, campus: Path) -> None:
    days = campus / "c/trajectories.csv"
    (campus / "t.toml").write_text(TOML.replace("epsilon = 5", "epsilon = 2"))
    assert elsewhere("survey", "create", campus / "t.toml", "-o", campus / "t.survey", "--no-expect")[0] == 0
    for name, people in (("s", 3000), ("t", 3000)):
        made = ("survey", "simulate", campus / f"{name}.survey", days, "--people", people, "--seed", 5)
        assert elsewhere(*made, "-o", campus / f"{name}.parquet")[0] == 0
    code, out, _ = elsewhere(
        "survey", "estimate", campus / "s.survey", campus / "s.parquet", "-o", campus / "x", "--json",
        "--also", f"{campus / 't.survey'}={campus / 't.parquet'}",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert found["reports"] == 6000
    assert [one["name"] for one in found["questions"]] == [
        "presence", "moves", "visits", "presence@2", "moves@2", "visits@2",
    ]  # fmt: skip


class _Terminal(io.StringIO):
    """A person at a terminal, who types these lines."""

    def isatty(self) -> bool:
        return True


def test_a_person_sees_the_day_and_is_asked_first(
    elsewhere: Command, campus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = campus / "mine.csv"
    days.write_text(
        "lat,lng,datetime\n49.2606,-123.2460,2025-09-17T09:00:00\n49.2606,-123.2460,2025-09-17T09:40:00\n"
    )
    ledger = campus / "my.ledger"
    command = ("survey", "answer", campus / "s.survey", days, "--ledger", ledger)
    # In a script there is nobody to choose: days are listed, and one must be given.
    code, out, err = elsewhere(*command)
    assert code == 2
    assert "2025-09-17" in out
    assert "--day" in err
    monkeypatch.setattr("sys.stdin", _Terminal("1\nn\n"))
    code, out, _ = elsewhere(*command)
    assert code == 0
    assert "for your eyes only" in out
    assert "09:00" in out
    assert "chosen by chance" in out
    assert "count as true of your day (what your day lacks is filled up with blanks), each 148 times" in out
    assert "1 counts as true of your day" in out
    assert "Nothing was drawn, spent or sent" in out
    assert not ledger.exists()
    monkeypatch.setattr("sys.stdin", _Terminal("y\n"))
    code, out, _ = elsewhere(*command, "--day", "2025-09-17", "-o", campus / "my.report")
    assert code == 0
    assert "Answered" in out
    assert (campus / "my.report").stat().st_size == 63
    # What was answered before is not drawn again, and the question says so.
    monkeypatch.setattr("sys.stdin", _Terminal("1\ny\n"))
    code, out, _ = elsewhere(*command)
    assert code == 0
    assert "answered already: waiting" in out
    assert "You answered about 2025-09-17 before" in out
    assert "chosen by chance" not in out
    monkeypatch.setattr("sys.stdin", _Terminal(""))
    code, out, _ = elsewhere(*command, "--day", "2025-09-17", "--yes")
    assert "The same as before" in out
    assert "for your eyes only" not in out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_where_nobody_can_be_asked_nothing_is_answered_without_yes(
    elsewhere: Command, campus: Path, own_data_folder: Path, options: tuple[str, ...]
) -> None:
    (campus / "me.csv").write_text("datetime,lat,lng\n2025-09-17T09:00:00,49.2606,-123.2460\n")
    ask = ("survey", "answer", campus / "s.survey", campus / "me.csv", "--day", "2025-09-17", *options)
    code, _, err = elsewhere(*ask, "-o", campus / "my.report")
    assert (code, "--yes: is missing" in err) == (2, True)
    assert not own_data_folder.exists()
    assert not (campus / "my.report").exists()
    assert elsewhere(*ask, "-o", campus / "my.report", "--yes")[0] == 0


def test_only_days_that_are_asked_about_are_listed_and_any_of_them_can_be_chosen(
    elsewhere: Command, campus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R17: that a file has no record of a day decides nothing."""
    period = "days = 3\nperiod = { first = 2025-09-15, last = 2025-09-20 }"
    (campus / "p.toml").write_text(TOML.replace("days = 2", period))
    create = ("survey", "create", campus / "p.toml", "-o", campus / "p.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    rows = [
        f"2025-09-{day}T09:{minute}:00,49.2606,-123.2460\n" for day in (14, 16, 17) for minute in (10, 40)
    ]
    (campus / "me.csv").write_text("datetime,lat,lng\n" + "".join(rows))
    ledger = ("--ledger", campus / "my.ledger")
    ask = ("survey", "answer", campus / "p.survey", campus / "me.csv", *ledger)
    assert elsewhere(*ask, "--day", "2025-09-16", "--yes")[0] == 0
    code, out, _ = elsewhere(*ask)
    assert code == 2
    lines = [line.split() for line in out.splitlines()]
    assert ["Asks", "about", "2025-09-15", "to", "2025-09-20"] in lines
    assert ["2025-09-16", "1", "answered", "already:", "waiting"] in lines
    assert ["2025-09-17", "1"] in lines
    assert "2025-09-14" not in out
    assert "Any day from 2025-09-15 to 2025-09-20 can be chosen, also one that is not listed" in " ".join(
        out.split()
    )
    assert json.loads(elsewhere(*ask, "--json")[1])["days"] == {"2025-09-16": 1, "2025-09-17": 1}
    for number, day in enumerate(("2025-09-17", "2025-09-18")):  # on the second there is no record
        monkeypatch.setattr("sys.stdin", _Terminal(f"{day}\ny\n"))
        assert elsewhere(*ask, "-o", campus / f"{number}.report")[0] == 0
        assert (campus / f"{number}.report").stat().st_size == 63


def test_reports_of_one_survey_are_never_counted_twice(elsewhere: Command, campus: Path) -> None:
    reports = campus / "r.parquet"
    simulate = ("survey", "simulate", campus / "s.survey", campus / "c/trajectories.csv", "--people", 2000)
    assert elsewhere(*simulate, "-o", reports)[0] == 0
    (campus / "copy.survey").write_bytes((campus / "s.survey").read_bytes())
    for name in ("s", "copy"):
        code, _, err = elsewhere(
            "survey", "estimate", campus / "s.survey", reports, "-o", campus / "x",
            "--also", f"{campus / name}.survey={reports}",
        )  # fmt: skip
        assert code == 2
        assert "is given twice" in err
        assert "put its reports into one file" in err
        assert not (campus / "x").exists()


def test_a_rehearsal_on_other_days_says_which_days_are_asked_about(elsewhere: Command, campus: Path) -> None:
    period = "days = 2\nperiod = { first = 2026-03-02, last = 2026-03-29 }"
    (campus / "p.toml").write_text(TOML.replace("days = 2", period))
    create = ("survey", "create", campus / "p.toml", "-o", campus / "p.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    simulate = ("survey", "simulate", campus / "p.survey", campus / "c/trajectories.csv")
    code, _, err = elsewhere(*simulate, "-o", campus / "r.parquet")
    assert code == 2
    assert "has days from 2025-09-17 to 2025-09-17, the survey asks about 2026-03-02 to 2026-03-29" in err
    assert not (campus / "r.parquet").exists()


def test_a_next_round_says_what_it_starts_from_and_where_to_keep_its_reports(
    elsewhere: Command, campus: Path
) -> None:
    days, results = campus / "c/trajectories.csv", campus / "results"
    simulate = ("survey", "simulate", campus / "s.survey", days, "--people", 900, "-o", campus / "r.parquet")
    assert elsewhere(*simulate)[0] == 0
    assert elsewhere("survey", "estimate", campus / "s.survey", campus / "r.parquet", "-o", results)[0] == 0
    summary = json.loads((results / "summary.json").read_text())
    output = campus / "second.survey"
    make = ("survey", "next", campus / "s.survey", results, "-o", output)
    for is_prior, words in (
        (True, "the public prior: too few answered"),
        (False, "what an earlier round found"),
    ):
        (results / "summary.json").write_text(json.dumps({**summary, "is_prior": is_prior}))
        code, out, _ = elsewhere(*make)
        assert code == 0
        assert words in " ".join(out.split())
        assert f"survey serve {output} --store second.db" in out
        assert json.loads(elsewhere(*make, "--json")[1])["starts_from_prior"] is is_prior


def test_a_survey_is_never_written_over_another_one(elsewhere: Command, campus: Path) -> None:
    command = ("survey", "create", campus / "s.toml", "-o", campus / "s.survey", "--no-expect")
    assert elsewhere(*command)[0] == 0  # the same one again
    before = (campus / "s.survey").read_bytes()
    (campus / "s.toml").write_text(TOML.replace("epsilon = 5", "epsilon = 4"))
    code, _, err = elsewhere(*command)
    assert code == 2
    assert "is another survey" in err
    assert (campus / "s.survey").read_bytes() == before
    (campus / "s.survey").write_bytes(b"no survey at all")
    assert elsewhere(*command)[0] == 0


def test_tables_of_an_earlier_run_do_not_stay(elsewhere: Command, campus: Path) -> None:
    days, results = campus / "c/trajectories.csv", campus / "results"

    def estimated(survey: Path) -> None:
        reports = campus / "r.parquet"
        simulate = ("survey", "simulate", survey, days, "--people", 900, "-o", reports)
        assert elsewhere(*simulate)[0] == 0
        assert elsewhere("survey", "estimate", survey, reports, "-o", results)[0] == 0

    estimated(campus / "s.survey")
    assert (results / "moves.csv").exists()
    (campus / "t.toml").write_text(TOML.partition("[[question]]")[0] + '[[question]]\nkind = "trips"\n')
    create = ("survey", "create", campus / "t.toml", "-o", campus / "t.survey", "--no-expect")
    assert elsewhere(*create)[0] == 0
    estimated(campus / "t.survey")
    assert {path.name for path in results.glob("*.csv")} == {"trips.csv"}
