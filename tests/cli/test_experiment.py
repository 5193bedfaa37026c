"""`experiment` and `evaluate`, on tiny sizes: everything filled, resumable, repeatable."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from commands import Command
from elsewhere.datasets.generated import generated_city
from elsewhere.days.hotspots import THRESHOLDS
from elsewhere.experiments import population_recipes, sources
from elsewhere.experiments import recipes as recipe_data
from elsewhere.experiments.cells import (
    DATASETS,
    POPULATION_METHODS,
    SECOND_ROUND,
    Cell,
    PopulationCell,
    Setting,
)
from elsewhere.experiments.further import FURTHER
from elsewhere.experiments.paper_numbers import PAPERS_DATASET, SECONDS
from elsewhere.experiments.population_tables import hour_difference_rows
from elsewhere.experiments.recipes import recipes, variations
from elsewhere.experiments.run import run_experiments
from elsewhere.experiments.sources import Sources, find_sources, label_of
from elsewhere.experiments.stages import STAGES, paper_stages
from elsewhere.experiments.time_bound import least_time_error
from elsewhere.experiments.workshop import Workshop, chosen_days
from elsewhere.pages.experiments import experiments_page
from elsewhere.trajectories import Trajectory
from raw import DATA, write_foursquare


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data sets and lists of values so small that every recipe takes seconds."""

    def dataset(_folder: Path, setting: Setting, _given: Sources, _size: str) -> object:
        return generated_city(setting.dataset, limit=40, people=30, seed=3)

    monkeypatch.setattr(sources, "_dataset", dataset)
    few = ("ngram", "ind-noreach")
    monkeypatch.setattr(recipe_data, "COMPARED", few)
    monkeypatch.setattr(recipe_data._methods, "__defaults__", (few,))
    monkeypatch.setattr(recipe_data, "_MERGING", ({}, {"kappa": 5}))
    monkeypatch.setattr(recipe_data, "DATASETS", ("taxi", "taxi-made", "campus"))


def _silent(_title: str) -> object:
    return lambda _done, _total: None


@pytest.mark.usefixtures("tiny")
def test_everything_is_made_once_and_made_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rerunning resumes; the same seeds give the same tables byte for byte."""
    monkeypatch.setattr("elsewhere.experiments.run.run_cells", _in_this_process)
    tables = {}
    for folder in ("one", "two"):
        outcome = run_experiments(
            ["table-error", "table-hotspots", "fig-ranges", "fig-hours", "table-runtime", "table-merging"],
            tmp_path / folder, {}, size="small", workers=1, progress=_silent,  # type: ignore[arg-type]
        )  # fmt: skip
        tables[folder] = {
            path.name: path.read_bytes()
            for path in sorted((tmp_path / folder).glob("*.csv"))
            if "runtime" not in path.name
        }
    assert tables["one"] == tables["two"]
    assert set(tables["one"]) == {
        "errors.csv",
        "errors-merging.csv",
        "hotspots.csv",
        "hotspots-by-granularity.csv",
        "hours.csv",
        "ranges.csv",
    }
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "one/cells").iterdir()}
    run_experiments(["table-error"], tmp_path / "one", {}, size="small", workers=1, progress=_silent)  # type: ignore[arg-type]
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "one/cells").iterdir()}
    page = experiments_page(outcome)
    for words in (
        "Findings",
        "Table 2",
        "Table 3",
        "Table 4",
        "Merging",
        "Preservation range",
        "linear program",
    ):
        assert words in page
    assert "generated, in the shape of foursquare" in page
    assert "<script" not in page
    by_granularity = pl.read_csv(tmp_path / "one/hotspots-by-granularity.csv")
    assert dict(by_granularity.select("granularity", "eta").unique().rows()) == THRESHOLDS
    stages = set(pl.read_csv(tmp_path / "one/runtime.csv")["stage"])
    assert stages == {*STAGES, "tables first, s"}
    errors = pl.read_csv(tmp_path / "one/errors.csv")
    assert set(errors["dataset"]) == {"taxi", "taxi-made", "campus"}
    assert {"ngram", "ngram, sensitivity=1", "uniform", "popular", "constant"} <= set(errors["method"])
    assert errors.filter(pl.col("measure") == "combined")["percent_below_best_null"].null_count() == 0


def _in_this_process(workshop: Workshop, cells: list[Cell], _workers: int, progress: object) -> list[object]:
    assert callable(progress)
    return [workshop.measure(cell) for cell in cells]


@pytest.mark.usefixtures("tiny")
def test_what_many_people_say_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method on every data set, resumable; many people are nearer to the truth than few."""
    monkeypatch.setattr("elsewhere.experiments.run.run_cells", _in_this_process)
    monkeypatch.setattr(population_recipes, "DATASETS", ("campus",))
    names = ["table-population", "fig-population", "table-coverage", "table-rounds"]
    outcome = run_experiments(
        names, tmp_path, {}, size="small", workers=1, progress=_silent,  # type: ignore[arg-type]
    )  # fmt: skip
    rows = pl.read_csv(tmp_path / "population.csv")
    assert set(rows["dataset"]) == {"campus"}
    assert set(rows["method"]) == set(POPULATION_METHODS) - {SECOND_ROUND}
    rounds = pl.read_csv(tmp_path / "rounds.csv").filter(measure="js", question="presence")
    assert sorted(rounds["method"]) == ["survey", "survey", SECOND_ROUND]
    assert rows.filter(measure="cover")["value"].is_between(0.5, 1).all()
    assert rows["value"].is_finite().all()
    varied = pl.read_csv(tmp_path / "population-varied.csv").filter(measure="js", question="presence")
    known = varied.filter(method="survey").sort("epsilon", "people")
    for dataset in set(known["dataset"]):
        js = known.filter(dataset=dataset)["value"].to_list()
        assert js[0] > js[-1]
    often = pl.read_csv(tmp_path / "coverage.csv").filter(measure="cover", question="presence")
    assert often["runs"].to_list() == [2]
    hours = pl.read_csv(tmp_path / "population-hours.csv")
    shares = hours.group_by("dataset", "method", "people").agg(pl.col("true", "prior", "estimated").sum())
    assert shares.select((pl.col("true", "prior", "estimated") - 1).abs().max()).max_horizontal()[0] < 1e-4
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").iterdir()}
    run_experiments(names, tmp_path, {}, size="small", workers=1, progress=_silent)  # type: ignore[arg-type]
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").iterdir()}
    page = experiments_page(outcome)
    assert page.count("What many people say together") == 3
    assert "like LDPTrace" in page


@pytest.mark.usefixtures("tiny")
def test_what_goes_beyond_the_paper_has_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact calibration, levels, an ε for each person, visits as they happen, other distances."""
    monkeypatch.setattr("elsewhere.experiments.run.run_cells", _in_this_process)
    monkeypatch.setattr("elsewhere.experiments.recipes.DATASETS", ("campus",))
    outcome = run_experiments(
        ["table-further"], tmp_path, {}, size="small", workers=1, progress=_silent,  # type: ignore[arg-type]
    )  # fmt: skip
    rows = pl.read_csv(tmp_path / "further.csv")
    assert set(rows["what"]) >= set(FURTHER) - {"levels"}  # a tiny campus has no place for them
    assert rows["value"].is_finite().all()
    spent = rows.filter(measure="ε spent on five visits").sort("group")["value"].to_list()
    assert 4.99 < spent[0] <= 5  # exact
    assert spent[1] < 4  # proven
    right = rows.filter(what="live", measure="% of parts right whether anywhere").sort("group")["value"]
    assert right[1] > right[0]  # told is right more often than any candidate
    assert "Beyond the paper" in experiments_page(outcome)


def test_an_analyst_sees_the_hours_that_are_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Helsinki's commuters leave at 8 h: the survey sees it, its prior and counted days do not."""
    monkeypatch.setattr("elsewhere.experiments.run.run_cells", _in_this_process)
    outcome = run_experiments(
        ["fig-survey-hours"], tmp_path, {}, size="small", workers=1, progress=_silent,  # type: ignore[arg-type]
    )  # fmt: skip
    rows = pl.read_csv(tmp_path / "survey-hours.csv")
    assert set(rows["dataset"]) == {"helsinki", "tokyo-like", "campus"}
    assert set(rows["days_of"]) == {
        "true", "prior", "survey", "survey, its population", "codebook, counted",
    }  # fmt: skip
    assert rows.group_by("dataset", "days_of").agg(pl.col("share").sum())["share"].to_list() == pytest.approx(
        [1.0] * 15, abs=1e-4
    )
    found = {(row["dataset"], row["days_of"]): row for row in hour_difference_rows(rows.to_dicts(), hour=23)}
    assert found["helsinki", "true"]["farthest"] == 0
    seen = found["helsinki", "survey"]["farthest"]
    for other in ("prior", "codebook, counted"):
        assert found["helsinki", other]["farthest"] > 2 * seen
        assert found["helsinki", other]["farthest_hour"] == 8
    assert outcome.labels["helsinki"] == "OpenStreetMap Helsinki, made-up commuters"
    assert (tmp_path / "fig-survey-hours.png").exists()
    assert "Hours that an analyst sees" in experiments_page(outcome)


def test_a_population_has_enough_people_and_all_its_days() -> None:
    cells = recipes("paper")["fig-population"].cells
    assert {cell.epsilon for cell in cells} == {0, 1, 2, 5}
    people = {cell.people for cell in cells if isinstance(cell, PopulationCell)}
    assert people == {0, 3000, 1000, 10_000, 100_000, 1_000_000}
    table = [cell for cell in recipes("paper")["table-population"].cells if isinstance(cell, PopulationCell)]
    assert all(cell.setting.all_days for cell in table)
    assert {cell.run for cell in table if cell.method == "survey"} == {0, 1, 2}
    often = [cell for cell in recipes("paper")["table-coverage"].cells if isinstance(cell, PopulationCell)]
    assert {cell.run for cell in often} == set(range(200))


def test_stages_are_those_of_the_papers_table() -> None:
    """Perturb, Reconst. Prep., Optimal Reconst., Other, Total; a dash for methods without a chain."""
    seconds = {"perturb": 1.0, "regions": 5.0, "places": 2.0, "preparation": 2.0}
    assert list(paper_stages(seconds).values()) == [1.0, 2.0, 3.0, 2.0, 8.0]
    without = {"perturb": 1.0, "places": 2.0}
    assert list(paper_stages(without).values()) == [1.0, None, None, 2.0, 3.0]
    # A stage that was timed by itself, on a busy machine, is never more than what it is a part of.
    assert paper_stages({"perturb": 1.0, "chain": 2.0, "preparation": 3.0})["optimal reconstruction"] == 0
    assert all(len(numbers) == 5 for columns in SECONDS.values() for numbers in columns.values())
    assert set(DATASETS) == set(PAPERS_DATASET)


def test_weighing_whole_windows_is_done_on_as_many_days_as_the_rest() -> None:
    for cells in variations("paper").values():
        assert {cell.days for cell in cells} == {5000}


def test_recipes_are_the_papers() -> None:
    full = variations("paper")
    cells = full["epsilon"]
    assert {cell.epsilon for cell in cells} >= {0.1, 1, 5, 10}
    assert {cell.setting.speed_kmh for cell in full["speed"]} == {4, 8, 12, 16, float("inf")}
    assert {cell.setting.places for cell in full["places"]} == {1000, 2000, 4000, 8000}
    assert {dict(cell.options).get("n") for cell in full["n"] if cell.method == "ngram"} == {1, 2, 3}
    assert {cell.length for cell in full["visits"]} == set(range(3, 9))
    large = [
        {cell.setting.dataset for cell in full[name]} for name in ("visits", "epsilon", "places", "speed")
    ]
    assert large == [{"taxi-made", "safegraph"}] * 4
    default = recipes("paper")["table-error"].cells[0]
    assert (default.epsilon, default.setting.places, default.setting.kappa) == (5, 2000, 10)
    assert {cell.setting.speed_kmh for cell in recipes("paper")["table-error"].cells} == {4, 8, 30}


def test_days_of_a_cell_are_a_fixed_sample() -> None:
    days = [Trajectory([("a", k), ("b", k + 1)] if k % 2 else [("a", k)]) for k in range(100)]
    setting = Setting(dataset="campus", places=None, speed_kmh=4)
    cell = Cell(setting=setting, method="ngram", length=2, days=10)
    chosen = chosen_days(cell, days)
    assert len(chosen) == 10
    assert all(len(day) == 2 for day in chosen)
    assert chosen == chosen_days(cell, days)
    assert len(chosen_days(Cell(setting=setting, method="ngram"), days)) == 100


def test_raw_files_are_found_in_a_folder(tmp_path: Path) -> None:
    write_foursquare(tmp_path)
    found = find_sources([tmp_path])
    assert len(found["foursquare"]) == 2
    assert found["safegraph"] == ()
    assert label_of(found, "foursquare") == "Foursquare NYC"
    assert "generated" in label_of(found, "safegraph")
    if DATA.exists():
        real = find_sources([DATA])
        assert len(real["foursquare"]) == 2
        assert len(real["safegraph"]) == 3
        assert len(real["campus"]) == 1
        assert len(real["taxi"]) == 4
        assert label_of(real, "taxi-made") == "made-up taxi trips on Foursquare's places of New York"


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0, 3.0])
def test_the_time_bound_is_below_what_randomised_response_gives(epsilon: float) -> None:
    """With two hours, randomised response is the best channel: its error is d / (1 + e^ε)."""
    two = least_time_error(epsilon, np.ones(2))
    assert two == pytest.approx(12 / (1 + np.exp(epsilon)), rel=1e-6)
    many = least_time_error(epsilon, np.ones(12))
    assert many <= least_time_error(0.0, np.ones(12)) + 1e-9


def test_evaluate_says_how_far_above_the_nulls(elsewhere: Command, tmp_path: Path) -> None:
    assert elsewhere("dataset", "campus", "--people", 60, "-o", tmp_path / "c")[0] == 0
    assert elsewhere("world", "build", tmp_path / "c/world.toml", "-o", tmp_path / "c.world")[0] == 0
    days, shared = tmp_path / "c/trajectories.csv", tmp_path / "s.csv"
    assert elsewhere("perturb", days, "-w", tmp_path / "c.world", "-e", 5, "-o", shared)[0] == 0
    code, out, _ = elsewhere("evaluate", days, shared, "-w", tmp_path / "c.world")
    assert code == 0
    assert "the best null" in out
    code, out, _ = elsewhere("evaluate", days, shared, "-w", tmp_path / "c.world", "--json", "--no-nulls")
    assert set(json.loads(out)) == {"shared"}
    head, *rows = shared.read_text().splitlines()
    # A day of two visits, one of which is taken to the end of the file: some shared days have only one.
    owners = [row.split(",")[:2] for row in rows]
    split = next(at for at in range(len(rows) - 2) if owners[at] == owners[at + 1])
    for order in (rows[::-1], [*rows[:split], *rows[split + 1 :], rows[split]]):
        (tmp_path / "o.csv").write_text("\n".join([head, *order]) + "\n")
        code, turned, err = elsewhere(
            "evaluate", days, tmp_path / "o.csv", "-w", tmp_path / "c.world", "--json", "--no-nulls"
        )
        if order == rows[::-1]:
            errors = [json.loads(text)["shared"]["errors"]["combined"]["value"] for text in (turned, out)]
            assert errors[0] == pytest.approx(errors[1])
        else:
            assert code == 2
            assert "are apart" in err
    other = ("world", "build", tmp_path / "c/world.toml", "--kappa", 5, "-o", tmp_path / "k.world")
    assert elsewhere(*other)[0] == 0
    code, _, err = elsewhere("evaluate", days, shared, "-w", tmp_path / "k.world", "--no-nulls")
    assert code == 0
    assert "was made with another world" in err
    shared.write_text(shared.read_text().replace("u01,t01", "x,y"))
    code, _, err = elsewhere("evaluate", days, shared, "-w", tmp_path / "c.world")
    assert code == 2
    assert "are not those of" in err


def test_help_names_every_experiment(elsewhere: Command) -> None:
    _, out, _ = elsewhere("experiment", "--help")
    assert [name for name in recipes("small") if name not in "".join(out.split())] == []


def test_unknown_experiments_are_refused(elsewhere: Command, tmp_path: Path) -> None:
    code, _, err = elsewhere("experiment", "table-of-contents", "-o", tmp_path / "x")
    assert code == 2
    assert "must be all or one of table-error" in err
