"""A second round starts from the first one's population, in its file and in its estimates."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import elsewhere as ew
from elsewhere.device.people import dated_days, made_up_days
from elsewhere.device.simulate import simulated_reports, true_shares
from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.population_frames import read_population
from elsewhere.estimates.results import no_formulas, write_results
from elsewhere.estimates.rounds import next_survey
from elsewhere.estimates.support import support_of
from elsewhere.pages.results import results_page
from elsewhere.randomness import SeededRandomness
from elsewhere.survey.file import survey_hash, survey_to_bytes
from elsewhere.survey.survey import Survey
from made_surveys import six_places, survey_of


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Survey, Estimates, Path]:
    world = six_places(tmp_path_factory.mktemp("world"))
    survey = survey_of(world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}))
    randomness = SeededRandomness(3)
    days = made_up_days(survey, 6000, randomness)
    days = days.some(np.flatnonzero(days.days.lengths <= 2))  # not as the prior thinks
    found = ew.estimate(survey, simulated_reports(survey, days, randomness))
    assert found.tau > 0
    folder = tmp_path_factory.mktemp("results") / "r"
    write_results(found, folder)
    return survey, found, folder


def test_a_population_comes_back_from_its_file(first: tuple[Survey, Estimates, Path]) -> None:
    survey, found, folder = first
    again = read_population(folder / "population.parquet", survey.world)
    np.testing.assert_allclose(again.weights, found.population.weights)
    width = again.days.places.shape[1]
    np.testing.assert_array_equal(again.days.places, found.population.days.places[:, :width])
    np.testing.assert_array_equal(again.days.lengths, found.population.days.lengths)
    for bad in (folder / "visits.parquet", folder / "summary.json", folder / "none.parquet"):
        with pytest.raises(ew.InputError):
            read_population(bad, survey.world)


def test_the_next_round_believes_what_the_first_one_found(
    first: tuple[Survey, Estimates, Path], tmp_path: Path
) -> None:
    survey, found, folder = first
    second = next_survey(survey, folder)
    ew.save_survey(second, tmp_path / "second.survey")
    loaded = ew.load_survey(tmp_path / "second.survey")
    assert survey_hash(loaded) == survey_hash(second) != survey_hash(survey)
    assert loaded.believed is not None
    support = support_of(loaded.world, loaded.believed)
    things = survey.questions[1].things
    believed = np.bincount(things.of(support.days)[:, 0], weights=support.prior, minlength=things.count)
    shares = found.population.shares(things)
    # Its days are drawn.
    assert (np.abs(believed - shares) < 4 * np.sqrt(shares / support.is_prior.sum()) + 1e-4).all()
    assert support.start.sum() == pytest.approx(1)
    assert support.start[~support.is_prior].sum() == pytest.approx(1 / 32)


def test_a_page_shows_what_is_true_beside_what_is_estimated(first: tuple[Survey, Estimates, Path]) -> None:
    survey, found, _ = first
    days = [
        (dt.date(2025, 9, 17), ew.Trajectory([("p1", 60), ("p2", 80)])),
        (dt.date(2025, 9, 17), ew.Trajectory([("p1", 60)])),
    ]
    truth = true_shares(survey, dated_days(survey.world, days))
    assert truth["visits"].tolist()[:2] == [0.5, 0.5]
    assert truth["presence"].sum() == 1.5
    page = results_page(found, truth=truth)
    assert page.count("intervals hold what is true") == 2
    assert "If reports were made up" in page
    assert "hold what is true" not in results_page(found)


def test_results_of_another_survey_or_none_are_refused(
    first: tuple[Survey, Estimates, Path], tmp_path: Path
) -> None:
    survey, _, folder = first
    other = replace(survey, terms=replace(survey.terms, purpose="another"))
    with pytest.raises(ew.InputError, match="not of this one"):
        next_survey(other, folder)
    with pytest.raises(ew.InputError, match="no folder of results"):
        next_survey(survey, tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps({"survey": survey_hash(survey)}))
    with pytest.raises(ew.InputError, match="cannot be read"):
        next_survey(survey, tmp_path)


@pytest.mark.parametrize("fault", ["place", "time", "order", "length", "type"])
def test_days_that_cannot_be_are_refused(
    first: tuple[Survey, Estimates, Path], tmp_path: Path, fault: str
) -> None:
    survey, _, folder = first
    second = next_survey(survey, folder)
    assert second.believed is not None
    days = second.believed._replace(
        **{name: array.copy() for name, array in second.believed._asdict().items()}
    )
    long = int(np.argmax(days.lengths))
    if fault == "place":
        days.places[0, 0] = len(survey.world.places)
    elif fault == "time":
        days.times[0, 0] = survey.world.clock.timesteps
    elif fault == "order":
        days.times[long, 1] = days.times[long, 0]
    elif fault == "length":
        days.lengths[0] = 0
    else:
        days = days._replace(times=days.times.astype(np.int64))
    path = tmp_path / "bad.survey"
    path.write_bytes(survey_to_bytes(replace(second, believed=days)))
    with pytest.raises(ew.InputError, match="believed days are damaged"):
        ew.load_survey(path)


def test_a_spreadsheet_takes_no_name_of_a_place_for_a_formula() -> None:
    names = ["=HYPERLINK(1)", "+1", "-1", "@x", "Café", None, "a=b"]
    found = no_formulas(pl.DataFrame({"name": names, "count": [-1.0] * 7}))
    assert found["name"].to_list() == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "Café", None, "a=b"]
    assert found["count"].to_list() == [-1.0] * 7
