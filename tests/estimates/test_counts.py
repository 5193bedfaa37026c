"""Counts of answers: unbiased, with the variance that they say, for direct and hashed answers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from elsewhere.estimates.counts import counted, unbiased, variance
from elsewhere.mechanism.answer import AnswerTables, answers, bucket_of, direct_answer, hashed_answer
from elsewhere.randomness import SeededRandomness
from elsewhere.survey.channels import SetChannel
from elsewhere.survey.things import VisitNumber

PEOPLE = 20_000
SHARES = np.array([0.5, 0.2, 0.0, 0.05, 0.9])
TABLES = [direct_answer(Fraction(2), 5, 3), hashed_answer(Fraction(1), 5, 3, 9)]


def _channel(tables: AnswerTables) -> SetChannel:
    return SetChannel(things=VisitNumber(most=tables.things, places=1), tables=tables, timesteps=144)


def _things(seed: int) -> np.ndarray:
    has = np.random.default_rng(seed).random((PEOPLE, len(SHARES))) < SHARES
    return np.where(has, np.arange(len(SHARES)), -1).astype(np.int32)


@pytest.mark.parametrize("tables", TABLES, ids=str)
def test_estimates_are_right_in_the_mean_and_vary_as_they_say(tables: AnswerTables) -> None:
    """Forty surveys of 20,000 people, who have at most k things; a share that is off by 0.05 is rejected."""
    found, wanted, channel = [], [], _channel(tables)
    for seed in range(40):
        things = _things(seed)
        things[(things >= 0).sum(axis=1) > 3] = -1
        wanted.append([(things == thing).any(axis=1).mean() for thing in range(len(SHARES))])
        given, _ = answers(things, tables, SeededRandomness(seed), constant_work=False)
        halves = (np.arange(PEOPLE) % 2).astype(np.int32)
        pointed, asked = counted(channel, given, halves).of(None)
        found.append(unbiased(channel, pointed, asked))
    off = np.array(found) - np.array(wanted)
    spread = np.sqrt(variance(channel, np.mean(wanted, axis=0), asked))
    assert (np.abs(off.mean(axis=0)) < 4 * spread / np.sqrt(40)).all()
    assert (np.abs(off.mean(axis=0) + 0.05) > 4 * spread / np.sqrt(40)).all()
    assert np.sqrt((off**2).mean(axis=0)) == pytest.approx(spread, rel=0.45)


def test_halves_are_counted_apart_and_together() -> None:
    tables = direct_answer(Fraction(1), 3, 1)
    given = np.array([[0, 0], [0, 1], [0, 1], [0, 3]], dtype=np.int32)  # 3 is the blank
    found = counted(_channel(tables), given, np.array([0, 0, 1, 1], dtype=np.int32))
    assert found.pointed.tolist() == [[1, 1, 0], [0, 1, 0]]
    assert found.asked.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert found.of(None)[0].tolist() == [1, 2, 0]
    assert (found + found).reports == 8


def test_hashed_answers_point_at_every_thing_of_their_bucket() -> None:
    tables = hashed_answer(Fraction(1), 50, 2, 5)
    given = np.array([[seed, seed % 5] for seed in range(200)], dtype=np.int32)
    plain = [sum(bucket_of(s, thing, 5) == y for s, y in given.tolist()) for thing in range(50)]
    found = counted(_channel(tables), given, np.zeros(200, dtype=np.int32))
    assert found.pointed[0].tolist() == plain


def test_no_report_at_all_gives_no_number_that_is_not_finite() -> None:
    channel = _channel(TABLES[0])
    found = counted(channel, np.zeros((0, 2), dtype=np.int32), np.zeros(0, dtype=np.int32))
    pointed, asked = found.of(None)
    assert found.reports == 0
    assert np.isfinite(unbiased(channel, pointed, asked)).all()
    assert np.isfinite(variance(channel, SHARES, asked)).all()
