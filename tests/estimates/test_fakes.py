"""Made-up reports move a number by no more than is said, and show where nobody could have answered so."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import elsewhere as ew
from elsewhere.device.people import made_up_days
from elsewhere.device.simulate import simulated_reports
from elsewhere.estimates.counts import unbiased
from elsewhere.estimates.fakes import oddities, people_per_fake
from elsewhere.estimates.report_tally import kept_tally, save_tally, tally_of
from elsewhere.randomness import SeededRandomness
from elsewhere.survey.survey import Survey
from made_surveys import six_places, survey_of


@pytest.fixture(scope="module", params=["direct", "hashed"])
def survey(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Survey:
    world = six_places(tmp_path_factory.mktemp("world"))
    # Few outputs at a small ε: there things are hashed.
    found = survey_of(
        world, ("presence", "1", {"grid": 3}), epsilon="5" if request.param == "direct" else "1/2"
    )
    assert (found.questions[0].channel.seeds > 1) == (request.param == "hashed")
    return found


@pytest.fixture(scope="module")
def honest(survey: Survey) -> pl.DataFrame:
    randomness = SeededRandomness(3)
    return simulated_reports(survey, made_up_days(survey, 6000, randomness), randomness)


def _like(frame: pl.DataFrame, count: int, *, seed: int, output: int) -> pl.DataFrame:
    """So many reports that all say the same."""
    ids = [f"{number:032x}" for number in range(count)]
    return frame.head(1).drop("id", "seed", "output").join(
        pl.DataFrame({"id": ids, "seed": [seed] * count, "output": [output] * count}), how="cross"
    ).select(frame.columns).cast(frame.schema)  # fmt: skip


def test_honest_answers_are_not_accused(survey: Survey, honest: pl.DataFrame) -> None:
    assert oddities(tally_of(survey, honest).questions[0]) == []
    assert oddities(tally_of(survey, honest.head(30)).questions[0]) == []


def test_a_fake_moves_a_number_by_no_more_than_is_said(survey: Survey, honest: pl.DataFrame) -> None:
    channel = survey.questions[0].channel
    most = people_per_fake(channel)
    before = tally_of(survey, honest).questions[0].counts
    for output in range(0, channel.odds.candidates, 7):
        fakes = _like(honest, 10, seed=1 if channel.seeds > 1 else 0, output=output)
        counts = tally_of(survey, pl.concat([honest, fakes])).questions[0].counts
        n = counts.reports
        moved = n * unbiased(channel, *counts.of(None)) - before.reports * unbiased(channel, *before.of(None))
        assert n == before.reports + 10
        assert np.abs(moved).max() <= 10 * most + 1e-9
        if output < channel.things.count:  # blanks name nothing
            assert np.abs(moved).max() > 9 * most  # and a fake does count for many people


def test_many_who_say_the_same_are_seen(survey: Survey, honest: pl.DataFrame) -> None:
    seed = 1 if survey.questions[0].channel.seeds > 1 else 0
    fakes = _like(honest, 6000, seed=seed, output=1)
    found = oddities(tally_of(survey, pl.concat([honest, fakes])).questions[0])
    assert any("people per person, above 1" in one for one in found)
    assert any("seeds are not spread evenly" in one for one in found) == bool(seed)
    estimates = ew.estimate(survey, pl.concat([honest, fakes]))
    assert estimates.questions[0].oddities == tuple(found)


def test_a_thing_that_nobody_names_is_seen(survey: Survey, honest: pl.DataFrame) -> None:
    channel = survey.questions[0].channel
    if channel.seeds > 1:
        pytest.skip("a bucket holds many things: leaving one out shows in none of them")
    many = pl.concat(
        [honest.with_columns(pl.lit(f"{n:02x}").add(pl.col("id").str.slice(2)).alias("id")) for n in range(9)]
    )
    found = oddities(tally_of(survey, many.filter(pl.col("output") != 0)).questions[0])
    assert [one for one in found if "below 0" in one]


def test_counts_are_kept_and_found_again(survey: Survey, honest: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "counts.npz"
    assert kept_tally(path, survey, None) is None
    tally = tally_of(survey, honest, newest=77)
    save_tally(tally, path)
    again = kept_tally(path, survey, None)
    assert again is not None
    assert (again.rows, again.newest, again.left_out) == (6000, 77, {})
    np.testing.assert_array_equal(again.questions[0].counts.pointed, tally.questions[0].counts.pointed)
    assert kept_tally(path, survey, "weekend") is None
    other = replace(survey, terms=replace(survey.terms, purpose="another"))
    assert kept_tally(path, other, None) is None
    path.write_bytes(path.read_bytes()[:-40])
    assert kept_tally(path, survey, None) is None
    with pytest.raises(ew.InputError, match="counted for another survey"):
        ew.estimate(other, tally)
