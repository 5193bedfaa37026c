"""For any world and any trajectory, what is shared is a valid trajectory of the same length."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.experiments.tilted import tilted_ngram
from elsewhere.knowledge.travel import is_reachable
from elsewhere.mechanism.length import HiddenLength
from elsewhere.mechanism.secret import RegionOfEachVisit
from elsewhere.methods.ngram import PLACE_WAYS
from elsewhere.randomness import SeededRandomness
from elsewhere.world.world import World
from examples import examples
from worlds import build, place, world_inputs


@st.composite
def _trajectories(draw: st.DrawFn, world: World) -> ew.Trajectory:
    """Any places, known or not, open or not, at any increasing timesteps, some after the end of the day."""
    ids = st.sampled_from([*world.places.ids, "nowhere"])
    most = min(5, world.clock.timesteps)
    steps = draw(st.lists(st.integers(0, world.clock.timesteps + 2), min_size=1, max_size=most, unique=True))
    return ew.Trajectory((draw(ids), step) for step in sorted(steps))


def _check_valid(world: World, shared: ew.SharedTrajectory, length: int, how: str) -> None:
    assert len(shared) == length
    rows = [world.place_index[visit.place_id] for visit in shared]
    times = [visit.timestep for visit in shared]
    assert times[0] >= 0
    assert times[-1] < world.clock.timesteps
    for (p, t), (q, u) in pairwise(zip(rows, times, strict=True)):
        assert is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
    if how not in {PLACE_WAYS[3], PLACE_WAYS[4]}:
        assert all(world.is_open[p, t] for p, t in zip(rows, times, strict=True))


@given(world_inputs(), st.data())
@examples(max_examples=150)
def test_what_is_shared_is_valid_and_as_long(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    world = build(tmp_path, *inputs)
    n, epsilon = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([0.5, 5, 14]))
    try:
        method = ew.method("ngram", world, epsilon=epsilon, n=n)
    except ew.InputError as error:
        assert "can follow each other" in str(error)  # noqa: PT017 - a world may have no such n-gram at all
        return
    trajectory = data.draw(_trajectories(world))
    shared, info = method.share(trajectory)
    _check_valid(world, shared, len(trajectory), info.ways["places"])
    assert info.epsilon == method.spent_on(len(trajectory)) == Fraction(str(epsilon))
    assert sum((draw.epsilon for draw in info.draws), start=Fraction(0)) == info.epsilon


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    rows = [
        place(
            f"p{i:02d}",
            50 + (i % 5) * 0.01,
            10 + (i // 5) * 0.01,
            ["cafe", "boots", "bar"][i % 3],
            hours="07:00-23:00",
        )
        for i in range(25)
    ]
    return build(tmp_path_factory.mktemp("town"), rows, {"kappa": 3})


def _days(world: World, count: int) -> list[ew.Trajectory]:
    generator = np.random.default_rng(1)
    days = []
    for _ in range(count):
        steps = np.sort(generator.choice(np.arange(45, 130), size=generator.integers(1, 7), replace=False))
        days.append(ew.Trajectory((world.places.ids[generator.integers(25)], int(step)) for step in steps))
    return days


def test_order_is_kept_and_workers_change_nothing(town: World) -> None:
    method = ew.method("ngram", town, epsilon=5)
    days = _days(town, 700)
    one = method.share_many(days, randomness=SeededRandomness(1))
    two = method.share_many(days, workers=2, randomness=SeededRandomness(1))
    assert one == two
    assert [len(day) for day in days] == [len(shared) for shared in one]
    assert method.share_many(days, randomness=SeededRandomness(2)) != one


def test_two_sharings_differ(town: World) -> None:
    """No seed is left anywhere: neither one day nor many come out the same twice (R13)."""
    method = ew.method("ngram", town, epsilon=5)
    days = _days(town, 30)
    assert len({method.share(days[4])[0] for _ in range(8)}) > 1
    once, again = (method.share_many([days[4]] * 500, workers=2) for _ in range(2))
    for start in range(0, 500, 50):  # in every chunk that is shared together
        assert once[start : start + 50] != again[start : start + 50]
        assert len(set(once[start : start + 50])) > 25


def test_one_day_is_shared_with_constant_work(town: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """R15: `share` makes every trial, `share_many` stops when one is accepted."""
    method = ew.method("ngram", town, epsilon=5, hide_length=3)
    asked = []
    for owner in (type(method.core), HiddenLength):
        name = "perturb" if owner is not HiddenLength else "draws"
        real = getattr(owner, name)

        def told(*given: Any, real: Any = real, **options: Any) -> Any:
            asked.append(options["constant_work"])
            return real(*given, **options)

        monkeypatch.setattr(owner, name, told)
    day = _days(town, 5)[4]
    method.share(day)
    assert asked == [True, True]
    asked.clear()
    method.share_many([day])
    assert asked == [False, False]


def test_a_small_epsilon_tells_nothing_and_a_large_one_much(town: World) -> None:
    """Not tuned: at honest noise the draws hardly lean to the truth; at a large ε they do."""
    day = next(d for d in _days(town, 50) if len(d) == 2)
    truth = RegionOfEachVisit(town)(day)

    def mean_distance(epsilon: float) -> float:
        method = ew.method("ngram", town, epsilon=epsilon, n=1)
        regions = np.tile(np.array(truth, dtype=np.int32), (3000, 1))
        drawn, _ = method.core.perturb(regions, SeededRandomness(4), constant_work=False)
        return float(town.distances.combined(drawn.values, regions).mean())

    null, honest, large = mean_distance(1e-6), mean_distance(1.0), mean_distance(30)
    assert abs(honest - null) < 0.1 * null
    assert large < 0.6 * null


def test_constant_epsilon_per_draw_states_what_it_spends(town: World) -> None:
    method = ew.method("ngram", town, epsilon_per_draw="0.5")
    assert method.spent_on(4) == Fraction(5, 2)
    assert method.facts().as_json()["epsilon_at_most"] == 0.5 * (town.clock.timesteps + 1)


def test_sensitivity_one_is_never_called_ldp(town: World) -> None:
    method = tilted_ngram(town, epsilon=5)
    assert method.facts().as_json()["is_ldp"] is False
    assert method.facts().as_json()["promise"] == "NOT ε-LDP"
    assert method.spent_on(5) > 20
    honest = ew.method("ngram", town, epsilon=5)
    assert honest.facts().as_json()["is_ldp"] is True
    assert honest.spent_on(5) == 5
    day = next(d for d in _days(town, 50) if len(d) == 3)
    shared, info = method.share(day)
    _check_valid(town, shared, 3, info.ways["places"])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 5, "n": 0}, "n: found 0"),
        ({"epsilon": 5, "sensitivity": 2}, "sensitivity"),
        ({"epsilon": 5, "sensitivity": 1}, "sensitivity: is no option of ngram"),
        ({}, "either"),
        ({"epsilon": 5, "epsilon_per_draw": 1}, "either"),
    ],
)
def test_bad_options_are_refused(town: World, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ew.InputError, match=said):
        ew.method("ngram", town, **options)
    with pytest.raises(ew.InputError, match=r"must be one of codebook, .*ngram"):
        ew.method("magic", town, epsilon=1)


def test_any_visit_has_a_region(town: World) -> None:
    """Closed place, unknown place, a timestep after midnight: the nearest region, never an error (R10)."""
    day = ew.Trajectory([("p00", 3), ("nowhere", 70), ("p24", 999)])
    regions = RegionOfEachVisit(town)(day)
    assert len(regions) == 3
    assert town.regions.mid_hours[regions[0]] < 9
    assert abs(town.regions.mid_hours[regions[1]] - 11.7) < 1
    assert town.regions.mid_hours[regions[2]] > 21
