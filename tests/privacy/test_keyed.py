"""T12, without a cluster: noise by key is the same for the same day, and else new (R23)."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from cases import cases, longest, most_places
from elsewhere.audit.agreement import agreement
from elsewhere.audit.channel import all_trajectories
from elsewhere.device.simulate import answered
from elsewhere.mechanism.keyed import JobKey
from elsewhere.mechanism.pick import uniform_below
from elsewhere.methods.registry import METHODS, null_names
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import KEYED, KeyedRandomness, label_of
from elsewhere.survey.answering import Answering
from elsewhere.trajectories import Trajectories, in_columns
from elsewhere.world.world import World
from made_surveys import six_places, survey_of
from tiny_worlds import tiny_world

SECRET = bytes(range(32))
CASES = [(name, options) for name in METHODS for options in cases(name)]


def _keys(
    uids: list[str], days: Trajectories, *, secret: bytes = SECRET, purpose: str = "p"
) -> KeyedRandomness:
    return JobKey(secret, purpose).for_days(uids, np.zeros(len(uids), dtype=np.int64), days)


def _shared(method: Sharing, uids: list[str], days: Trajectories, **how: Any) -> list[tuple[str, str]]:
    batch = method.share_columns(days, workers=2, randomness=_keys(uids, days, **how))
    assert batch.randomness == KEYED
    return [(uid, repr(day)) for uid, day in zip(uids, batch.shared, strict=True)]


def _made(folder: Path, name: str, count: int) -> tuple[World, list[str], Trajectories]:
    world = tiny_world(folder, 4, most_places(name))
    every = [day for size in (1, 2, 3) for day in all_trajectories(world, longest(name, world, size))]
    chosen = [every[at] for at in np.random.default_rng(1).integers(len(every), size=count)]
    return world, [f"u{number}" for number in range(count)], in_columns(chosen, world.place_index)


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_a_day_is_shared_alike_whatever_is_beside_it(
    tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    """In another order, in other parts, on more threads, after others: as partitions and retries have it."""
    world, uids, days = _made(tmp_path, name, 300)
    method = ew.method(name, world, epsilon=3, **options)
    once = _shared(method, uids, days)
    assert _shared(method, uids, days) == once
    order = np.random.default_rng(2).permutation(len(uids))
    some = [uids[at] for at in order]
    assert _shared(method, some, days.some(order)) == [once[at] for at in order]
    pieces = [np.arange(first, first + 50) for first in range(0, 300, 50)]
    parts = [_shared(method, [uids[at] for at in piece], days.some(piece)) for piece in pieces]
    assert [pair for part in parts for pair in part] == once
    if name not in {"constant", "typical"}:
        assert _shared(method, uids, days, secret=SECRET[::-1]) != once
        assert _shared(method, uids, days, purpose="q") != once


@pytest.mark.parametrize("name", [name for name in METHODS if name not in null_names()])
def test_draws_by_key_follow_the_audited_tables(tmp_path: Path, name: str) -> None:
    """T4 with noise by key: 20,000 people with the same day, each with a key of their own."""
    epsilon = 4 if name == "codebook" else 8
    options = cases(name)[0]
    world = tiny_world(tmp_path, 4, most_places(name))
    days = list(all_trajectories(world, longest(name, world, 3)))
    day, count = days[len(days) // 5], 20_000
    same = in_columns([day] * count, world.place_index)
    method = ew.method(name, world, epsilon=epsilon, **options)
    source = _keys([str(number) for number in range(count)], same)
    assert agreement(method, day, count, source) > 1e-4
    if name != "global-subsampled":
        wrong = ew.method(name, world, epsilon=str(1.3 * epsilon), **options)
        assert agreement(method, day, count, source, listed=wrong) < 1e-4


def test_answers_are_alike_too(tmp_path: Path) -> None:
    world = six_places(tmp_path)
    asked = [("presence", "1/2", {"grid": 2}), ("day", "1/4", {}), ("visits", "1/4", {})]
    survey = survey_of(world, *asked, folder=tmp_path)
    answering = Answering(survey)
    generator = np.random.default_rng(5)
    every = [
        ew.Trajectory(
            [(f"p{generator.integers(6)}", int(step)) for step in sorted(generator.permutation(100)[:size])]
        )
        for size in generator.integers(1, 12, size=2000)
    ]
    days, uids = in_columns(every, survey.world.place_index), [str(at) for at in range(len(every))]
    secrets = [answering.secret(day) for day in every]
    once, _ = answering.answer(secrets, _keys(uids, days), constant_work=False)
    order = np.random.default_rng(2).permutation(len(uids))
    again, _ = answering.answer(
        [secrets[at] for at in order],
        _keys([uids[at] for at in order], days.some(order)),
        constant_work=False,
    )
    np.testing.assert_array_equal(again, once[order])
    assert len(np.unique(once[:, 0])) == len(survey.questions)
    alone = [
        answering.answer(
            secrets[at : at + 1], _keys(uids[at : at + 1], days.some(np.array([at]))), constant_work=False
        )[0][0]
        for at in range(200)
    ]
    np.testing.assert_array_equal(alone, once[:200])


def test_two_days_of_one_person_share_no_noise() -> None:
    """The same person and date with another day: a second input gets words of its own."""
    rows = {"a": 0, "b": 1}
    one, other = (in_columns([ew.Trajectory([("a", 3), ("b", step)])], rows) for step in (4, 5))
    first, second = (_keys(["ann"], day).words_for_rows(1, 50) for day in (one, other))
    assert not np.isin(first, second).any()
    assert not np.isin(first, _keys(["bob"], one).words_for_rows(1, 50)).any()
    np.testing.assert_array_equal(first, _keys(["ann"], one).words_for_rows(1, 50))


def test_names_that_run_into_each_other_have_keys_of_their_own() -> None:
    key, dates = JobKey(SECRET, "p"), np.array([0, 0, 7, 7], dtype=np.int64)
    words = key.for_reading(["a", "a\0", "", "a"], dates).words_for_rows(4, 1)
    assert len(np.unique(words)) == 4


def test_requests_have_streams_of_their_own() -> None:
    source = JobKey(SECRET, "p").for_reading(["a", "b", "c"], np.zeros(3, dtype=np.int64))
    first, second = source.words_for_rows(3, 30), source.words_for_rows(3, 30)
    part = source.of_rows(np.array([2, 0])).words_for_rows(2, 30)
    assert len(np.unique(np.concatenate([first.ravel(), second.ravel(), part.ravel()]))) == 3 * 60 + 60
    with pytest.raises(AssertionError, match="a key for each row"):
        source.words_for_rows(2, 1)
    with pytest.raises(AssertionError, match="the same words twice"):
        source.of_rows(np.array([1, 1]))


def test_a_batch_never_gives_out_words_that_a_part_of_it_had() -> None:
    """Also parts of parts; and what a row gets does not hang on what its neighbours asked for."""

    def all_words(rows: list[int]) -> dict[int, list[int]]:
        source = JobKey(SECRET, "p").for_reading(list("abcd"), np.zeros(4, dtype=np.int64))
        part = source.of_rows(np.array(rows))
        inner = part.of_rows(np.array([1]))
        found = [inner.words_for_rows(1, 9), part.words_for_rows(2, 9), inner.words_for_rows(1, 9)]
        whole = source.words_for_rows(4, 9)
        words = np.concatenate([*(each.ravel() for each in found), whole.ravel()])
        assert len(np.unique(words)) == len(words)
        return dict(enumerate(whole.tolist()))

    one, other = all_words([3, 0]), all_words([2, 0])
    assert (one[0], one[1]) == (other[0], other[1])


def test_the_id_of_a_report_tells_nothing_of_its_draw(tmp_path: Path) -> None:
    """Were the id made of words that the pick had used, it would name a candidate that was turned down."""
    survey = survey_of(six_places(tmp_path), ("visits", "1", {}), folder=tmp_path)
    answering, count = Answering(survey), 3000
    odds = survey.questions[0].channel.odds
    mask = np.uint64((1 << (odds.candidates - 1).bit_length()) - 1)  # as `tape.below` cuts words
    for visits in (1, 2, 3):
        day = ew.Trajectory([(f"p{at}", 50 + at) for at in range(visits)])
        days = in_columns([day] * count, survey.world.place_index)
        source = _keys([str(number) for number in range(count)], days)
        rows = answering.secret.padded(days)
        frame = answered(answering, "s", np.zeros(count, dtype=np.int64), rows, source)
        first = np.frombuffer(bytes.fromhex("".join(frame["id"])), dtype="<u8")[::2]
        named = (first & mask).astype(np.int64)
        turned_down = np.bincount(named[named != frame["output"].to_numpy()], minlength=16)
        assert turned_down[: odds.candidates].min() > 0, "what is true would never be turned down"


@pytest.mark.parametrize("bound", [1, 3, 16, 1000])
def test_whole_numbers_by_key_are_uniform(bound: int) -> None:
    count = 40_000
    source = JobKey(SECRET, "p").for_reading(
        [str(at) for at in range(count)], np.zeros(count, dtype=np.int64)
    )
    counts = np.bincount(uniform_below(bound, count, source), minlength=bound)
    assert len(counts) == bound
    assert ((counts - count / bound) ** 2).sum() / (count / bound) < bound + 6 * (2 * bound) ** 0.5


def test_keys_leave_no_process() -> None:
    """R23: neither pickled nor printed."""
    key = JobKey(SECRET, "p")
    source = key.for_reading(["ann"], np.zeros(1, dtype=np.int64))
    for thing in (key, source):
        for send in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="stay"):
                send(thing)
        assert "ann" not in repr(thing)
    assert label_of(source) == KEYED
    with pytest.raises(ValueError, match="32 bytes"):
        JobKey(b"short", "p")


class _Pretender(KeyedRandomness):
    """Somebody's own words under a good name."""


def test_what_looks_keyed_has_another_label() -> None:
    fake = _Pretender(np.zeros((1, 8), dtype=np.uint32))
    assert label_of(fake) not in {KEYED, "system"}
