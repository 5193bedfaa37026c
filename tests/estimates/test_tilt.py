"""The tilt: its step against plain algebra, what it finds against what is so, and when it stays at home."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import elsewhere as ew
from elsewhere.estimates import tilt as tilt_module
from elsewhere.estimates.counts import HALVES, AnswerCounts
from elsewhere.estimates.margins import Margin, raked, read_margins
from elsewhere.estimates.support import Support, incidence, support_of
from elsewhere.estimates.tables import table_of
from elsewhere.estimates.tilt import Datum, Evidence, Tilt
from elsewhere.survey.survey import Survey
from made_surveys import six_places, survey_of


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    world = six_places(tmp_path_factory.mktemp("world"))
    return survey_of(world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}))


@pytest.fixture(scope="module")
def support(survey: Survey) -> Support:
    return support_of(survey.world, days=3000, broad=1000)


def _answers(
    survey: Survey, support: Support, truth: np.ndarray, people: int, seed: int
) -> list[AnswerCounts]:
    """Counts of answers if days have these weights."""
    generator, found = np.random.default_rng(seed), []
    for question in survey.questions:
        channel = question.channel
        p, q = channel.chances()
        told = incidence(channel.things.of(support.days), channel.things.count, channel.kept).T @ truth
        asked = np.full((HALVES, channel.things.count), people // 4, dtype=np.int64)
        pointed = generator.binomial(asked, q + (p - q) * told)
        found.append(AnswerCounts(channel=channel, pointed=pointed, asked=asked))
    return found


def _truth(support: Support) -> np.ndarray:
    """Days at the first place are three times as likely, long days half as likely."""
    weights = support.prior * np.where((support.days.places == 0).any(axis=1), 3.0, 1.0)
    weights = weights * np.where(support.days.lengths > 4, 0.5, 1.0)
    return np.asarray(weights / weights.sum())


def _small(seed: int) -> tuple[Tilt, list[Datum]]:
    generator = np.random.default_rng(seed)
    psi = sp.csr_array((generator.random((40, 7)) < 0.4).astype(float))
    told = sp.csr_array((generator.random((5, 40)) < 0.3).astype(float))
    datum = Datum(told=told, value=generator.random(5) * 0.5, variance=np.full(5, 1e-3))
    return Tilt(np.full(40, 1 / 40), psi), [datum]


@pytest.mark.parametrize("seed", range(5))
def test_the_tilt_has_the_least_cost(seed: int) -> None:
    """Against a general minimiser that knows nothing of slopes."""
    tilt, data = _small(seed)

    def cost(u: np.ndarray) -> float:
        off = data[0].told @ tilt.weights(u, 0.7) - data[0].value
        return float(u @ u / 2 + (off**2 / data[0].variance).sum() / 2)

    u, w = tilt.solve(data, 0.7, np.zeros(7), 60)
    plain = minimize(cost, np.zeros(7), method="BFGS")
    assert cost(u) <= plain.fun + 0.6  # the last half of a unit is not waited for
    assert w.sum() == pytest.approx(1)


@pytest.mark.parametrize("seed", range(5))
def test_every_way_to_take_a_step_is_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the side of things, on the side of features, and by products alone; all as plain least squares."""
    tilt, data = _small(seed)
    datum, u = data[0], np.random.default_rng(seed).standard_normal(7) / 3
    many = Datum(told=sp.csr_array(sp.vstack([datum.told] * 3)), value=np.tile(datum.value, 3),
                 variance=np.tile(datum.variance, 3))  # fmt: skip
    for one in (datum, many):
        w = tilt.weights(u, 0.5)
        eps = 1e-6
        slope = np.array([(one.told @ (tilt.weights(u + eps * e, 0.5) - w)) / eps for e in np.eye(7)]).T
        left = one.value - one.told @ w + slope @ u
        scaled = slope / one.variance[:, None]
        plain = np.linalg.solve(scaled.T @ slope + np.eye(7), scaled.T @ left) - u
        step = tilt._step(one.told, one.value, one.variance, 0.5, u, w)
        assert step == pytest.approx(plain, abs=1e-3)
        monkeypatch.setattr(tilt_module, "_MOST_DENSE", 1)
        assert tilt._step(one.told, one.value, one.variance, 0.5, u, w) == pytest.approx(plain, abs=1e-2)
        monkeypatch.undo()


def test_many_answers_find_what_is_so_and_few_leave_the_prior(survey: Survey, support: Support) -> None:
    truth = _truth(support)
    things = survey.questions[0].things
    whole = incidence(things.of(support.days), things.count).T
    before = np.abs(whole @ support.prior - whole @ truth).sum()
    many = Evidence(support, _answers(survey, support, truth, 1_600_000, 1)).fit()
    assert many.tau > 0
    # Over seeds it is 0.08 with a deviation of 0.01, and twice that with a quarter of the answers.
    assert np.abs(whole @ many.weights - whole @ truth).sum() < 0.12 * before
    few = Evidence(support, _answers(survey, support, support.prior, 400, 1)).fit()
    assert few.tau == 0
    assert (few.weights == support.prior).all()


@pytest.mark.parametrize("people", [4_000, 100_000])
def test_intervals_hold_the_truth(survey: Survey, support: Support, people: int) -> None:
    """On average over things, as they say; intervals of nothing are caught, and so are endless ones."""
    truth, held, lengths = _truth(support), [], []
    for seed in range(12):
        evidence = Evidence(support, _answers(survey, support, truth, people, seed))
        fit = evidence.fit()
        for number, question in enumerate(survey.questions):
            table = table_of(evidence, fit, number)
            so = incidence(evidence.things[number], question.things.count).T @ truth
            held.append(((table.low <= so + 1e-12) & (so <= table.high + 1e-12)).mean())
            lengths.append((table.high - table.low).mean())
            assert (table.low <= table.estimate).all()
            assert (table.estimate <= table.high).all()
    assert np.mean(held) >= 0.95
    assert np.mean(lengths) < (0.1 if people > 10_000 else 0.4)


def test_margins_move_the_population_and_nothing_else_decides(survey: Survey, support: Support) -> None:
    truth = _truth(support)
    things = survey.questions[1].things
    whole = incidence(things.of(support.days), things.count).T
    margins = [
        Margin(question="visits", thing=thing, share=float(share), error=0.002)
        for thing, share in enumerate(whole @ truth)
    ]
    found = raked(survey, support, support.prior, margins)
    assert whole @ found == pytest.approx(whole @ truth, abs=0.004)
    assert np.abs(whole @ support.prior - whole @ truth).max() > 0.02


def test_margins_of_a_file_are_checked(tmp_path: Path, survey: Survey) -> None:
    path = tmp_path / "m.csv"
    path.write_text("question,thing,count,error,people\nvisits,1,300,20,1000\n")
    assert read_margins(path, survey) == [Margin(question="visits", thing=1, share=0.3, error=0.02)]
    for row, words in (
        ("moves,1,3,2,10", "must be one of presence, visits"),
        ("visits,8,3,2,10", "0 to 7"),
        ("visits,1.5,3,2,10", "0 to 7"),
        ("visits,1,11,2,10", "no more than the people"),
        ("visits,1,3,0,10", "above 0"),
        ("visits,1,many,2,10", "must be a number"),
    ):
        path.write_text(f"question,thing,count,error,people\n{row}\n")
        with pytest.raises(ew.InputError) as caught:
            read_margins(path, survey)
        assert words in str(caught.value)
        assert "row 2" in str(caught.value)
