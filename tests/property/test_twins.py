"""Loops that need not be compiled for one share: their plain twins give the same, bit for bit."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.compiled import compiled_as, interpreted, is_ready, patient
from elsewhere.days.comparison import (
    compiled_day_costs,
    compiled_prefix_costs,
    day_columns,
    plain_day_costs,
    plain_prefix_costs,
)
from elsewhere.days.prior import ANY_LENGTH, prior_seed, world_prior
from elsewhere.days.prior_days import compiled_likely_days, plain_likely_days
from elsewhere.days.visits import Days, visit_distances
from elsewhere.knowledge.sphere import (
    NEAR_CHORD_SQUARED,
    great_circle_km_squared,
    great_circle_km_squares,
)
from elsewhere.mechanism.pick import _compiled_rows, odds_of
from elsewhere.randomness import SeededRandomness
from elsewhere.tape import new_tape, ran_out
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World
from examples import examples
from worlds import build, place, world_inputs


@given(st.lists(st.floats(0, 4) | st.floats(0, 2 * NEAR_CHORD_SQUARED), min_size=1, max_size=20))
def test_great_circles_have_the_same_bits(chords: list[float]) -> None:
    found = great_circle_km_squares(np.array(chords), all_near=max(chords) < NEAR_CHORD_SQUARED)
    assert found.tolist() == [great_circle_km_squared(chord) for chord in chords]


def _world(folder: Path, inputs: tuple[Any, Any]) -> World:
    return build(folder, *inputs)


@given(world_inputs(), st.data())
@examples(max_examples=80)
def test_distances_of_days_have_the_same_bits(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    """Days of all lengths, shorter and longer than the candidates, at places known and not."""
    world = _world(tmp_path, inputs)
    count, day = len(world.places), world.clock.timesteps
    visits = st.tuples(st.integers(0, count - 1), st.integers(0, day - 1))
    book = data.draw(st.lists(st.lists(visits, min_size=1, max_size=5), min_size=1, max_size=6))
    rows = np.full((2, len(book), 5), -1, dtype=np.int32)
    for number, one in enumerate(book):
        rows[:, number, : len(one)] = np.array(one).T
    days = Days(rows[0], rows[1], np.array([len(one) for one in book], dtype=np.int32))
    unknown = st.tuples(st.integers(0, count), st.integers(0, day - 1))
    truth = np.array(data.draw(st.lists(unknown, min_size=1, max_size=7)), dtype=np.int32).T.copy()
    given_ = (
        day_columns(days),
        visit_distances(world),
        data.draw(st.sampled_from([0.0, 7.0, 10.0])),
        truth[0],
        truth[1],
    )
    np.testing.assert_array_equal(plain_day_costs(*given_), compiled_day_costs(*given_))
    np.testing.assert_array_equal(plain_prefix_costs(*given_), compiled_prefix_costs(*given_))


@given(world_inputs(), st.integers(0, 5), st.integers(0, 1000))
@examples(max_examples=80)
def test_days_of_the_prior_are_the_same(
    tmp_path: Path, inputs: tuple[Any, Any], length: int, label: int
) -> None:
    """Of any length or of one, found or not: what is not found is the same too."""
    world = _world(tmp_path, inputs)
    given_ = (
        world_prior(world, length), place_world(world), 40, max(length, 1),
        prior_seed(world, f"test {label}", length),
    )  # fmt: skip
    for mine, theirs in zip(plain_likely_days(*given_), compiled_likely_days(*given_), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_days_of_the_prior_are_the_same_where_travel_is_a_table(tmp_path: Path) -> None:
    tmp_path.joinpath("travel.csv").write_text(
        "from_id,to_id,minutes,hour\n"
        + "".join(
            f"p{a},p{b},{30 + 40 * ((b - a) % 6) + 5 * hour},{hour}\n"
            for hour in range(24)
            for a in range(6)
            for b in range(6)
            if a != b
        )
    )
    rows = [
        place(f"p{i}", 50 + 0.3 * i, 10, hours="06:00-23:00", popularity=(float(1 + i),)) for i in range(6)
    ]
    travel = {"kind": "matrix", "file": str(tmp_path / "travel.csv")}
    world = build(tmp_path, rows, {"kappa": 1, "travel": travel})
    for length in (ANY_LENGTH, 4):
        given_ = (
            world_prior(world, length), place_world(world), 500, max(length, 1),
            prior_seed(world, "test", length),
        )  # fmt: skip
        plain, loop = plain_likely_days(*given_), compiled_likely_days(*given_)
        assert loop[2].all()
        for mine, theirs in zip(plain, loop, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("trials", [None, 2])
def test_picks_are_the_same_word_for_word(is_constant: bool, trials: int | None) -> None:
    """The interpreted loop of the trusted core: the same pick, the same trial, as many words."""
    odds = odds_of(Fraction(5), 3, 40)
    odds = odds if trials is None else odds._replace(trials=trials)
    flags = np.zeros((4, 40), dtype=np.bool_)
    for row in range(4):
        flags[row, [row, 7 + row, 39 - row]] = True
    twin = interpreted(_compiled_rows)
    assert not hasattr(twin, "py_func")
    found = []
    for seed in range(20):
        for length in (40_000, 30):
            results = []
            for loop in (_compiled_rows, twin):
                tape = new_tape(SeededRandomness(seed).words(length))
                picked, accepted = np.zeros((4, 1), dtype=np.int32), np.zeros((4, 1), dtype=np.int64)
                finished, used = loop(tape, odds, flags, is_constant, picked, accepted)
                rows = picked[:finished].tolist(), accepted[:finished].tolist()
                results.append((int(finished), int(used), bool(ran_out(tape)), *rows))
            assert results[0] == results[1]
            found.append(results[0][0])
    assert 4 in found


def test_a_twin_stands_in_until_it_pays_to_compile() -> None:
    def bent(x: float) -> float:
        return x * x + math.pi

    loop: Any = compiled_as("patient_loop_of_a_test", bent)
    called: list[float] = []

    def twin(x: float) -> float:
        """Says so when it is called."""
        called.append(x)
        return x * x + math.pi

    run: Callable[[float], float] = patient(loop, twin, calls=3)
    loop._cache.is_kept = lambda: False  # whatever an earlier run of these tests has left on disk
    assert not is_ready(loop)
    values = [run(float(x)) for x in range(5)]
    assert values == [x * x + math.pi for x in range(5)]
    assert called == [0.0, 1.0, 2.0]
    assert is_ready(loop)
    again: Callable[[float], float] = patient(loop, twin, calls=3)
    assert again(7.0) == 49 + math.pi
    assert len(called) == 3


def test_code_that_is_on_disk_is_used_at_once() -> None:
    def more(x: int) -> int:
        return x + 40

    loop: Any = compiled_as("kept_loop_of_a_test", more)
    loop._cache.is_kept = lambda: True

    def twin(_x: int) -> int:
        raise AssertionError("there is no need to wait")

    assert patient(loop, twin, calls=3)(2) == 42


_PROGRAM = """
import json, sys
import elsewhere as ew
from elsewhere.randomness import SeededRandomness
from numba.core import event

world = ew.World.load(sys.argv[1])
method = ew.method("codebook", world, epsilon=5, candidates=200, shards=3)
days = [ew.Trajectory([("p1", 60), ("nowhere", 66), ("p3", 80)]), ew.Trajectory([("p0", 50)])]
found = []
with event.install_recorder("numba:compile") as recorder:
    for number, day in enumerate(days):
        shared, info = method.share(day, randomness=SeededRandomness(number))
        found.append([[list(visit) for visit in shared], list(info.trials)])
print(json.dumps([found, sum(happened.is_start for _, happened in recorder.buffer)]))
"""


def test_a_first_share_on_a_new_device_is_the_same_and_compiles_nothing(tmp_path: Path) -> None:
    rows = [
        place(f"p{i}", 50 + 0.01 * (i % 5), 10 + 0.01 * (i // 5), ["cafe", "boots"][i % 2]) for i in range(20)
    ]
    build(tmp_path, rows, {"kappa": 2}).save(tmp_path / "w.world")
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", _PROGRAM, str(tmp_path / "w.world")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "nothing yet")},
    )
    assert done.returncode == 0, done.stderr
    found, compilations = json.loads(done.stdout)
    assert compilations == 0
    method = ew.method("codebook", ew.World.load(tmp_path / "w.world"), epsilon=5, candidates=200, shards=3)
    days = [ew.Trajectory([("p1", 60), ("nowhere", 66), ("p3", 80)]), ew.Trajectory([("p0", 50)])]
    method.prepare_many(1)
    for _ in range(3):  # whatever is compiled by now
        for number, day in enumerate(days):
            shared, info = method.share(day, randomness=SeededRandomness(number))
            assert [[list(visit) for visit in shared], list(info.trials)] == found[number]
