"""`global` = forward filtering, backward sampling in floating point = all days listed; nulls alike."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.audit.channel import all_trajectories, chances
from elsewhere.days.feasible import FeasibleDays
from elsewhere.days.visits import (
    VisitDistances,
    largest_visit_distance,
    visit_distance,
    visit_distances,
)
from elsewhere.knowledge.travel import is_reachable
from elsewhere.methods.whole_day import Global
from elsewhere.randomness import SeededRandomness
from elsewhere.world.place_world import PlaceWorld, least_steps, place_world
from elsewhere.world.world import World
from examples import examples
from privacy_tools import p_value
from tiny_worlds import tiny_world
from worlds import build, world_inputs

Visit = tuple[int, int]
SAMPLES = 20_000


class Tilted:
    """The exponential mechanism over feasible days as a chain of tilted visits: the oracle, never shared.

    β_i(v) = e^(−ε d(x_i, v) / 2|τ|Δ) Σ β_{i+1}(v') over all v' that can follow v; sampled forwards.
    """

    def __init__(self, world: World, day: ew.Trajectory, epsilon: float) -> None:
        places, distances = place_world(world), visit_distances(world)
        steps = world.clock.timesteps
        scale = 2 * len(day) * largest_visit_distance(distances, steps)
        self.visits = [(int(p), int(t)) for t, p in np.argwhere(world.is_open.T)]
        self.follows = _follows(places, self.visits)
        truth = [(world.place_index.get(p, len(world.places)), min(t, steps - 1)) for p, t in day]
        self.weights = np.array(
            [[_tilt(distances, true, visit, epsilon, scale) for visit in self.visits] for true in truth]
        )
        for i in range(len(truth) - 2, -1, -1):
            self.weights[i] *= self.follows @ self.weights[i + 1]

    def sample(self, generator: np.random.Generator) -> tuple[Visit, ...]:
        found: list[int] = []
        for row in self.weights:
            left = row * (self.follows[found[-1]] if found else 1.0)
            found.append(int(generator.choice(len(left), p=left / left.sum())))
        return tuple(self.visits[visit] for visit in found)


def _tilt(distances: VisitDistances, true: Visit, visit: Visit, epsilon: float, scale: float) -> float:
    return math.exp(-epsilon * visit_distance(distances, *true, *visit) / scale) if scale else 1.0


def _follows(places: PlaceWorld, visits: list[Visit]) -> np.ndarray[Any, Any]:
    return np.array([[u - t >= least_steps(places, p, q, t) for q, u in visits] for p, t in visits], float)


@pytest.mark.parametrize("epsilon", [1, 5, 14])
@pytest.mark.parametrize("seed", [4, 9, 22])
def test_global_and_the_tilted_chain_both_follow_the_listed_days(
    tmp_path: Path, seed: int, epsilon: int
) -> None:
    world = tiny_world(tmp_path, seed, 4)
    day = list(all_trajectories(world, 2))[-3]
    core = Global(world, epsilon=epsilon)
    step = core.step(core.secret(day), (2, 0))
    assert step is not None
    day_long = world.clock.timesteps
    expected = {
        tuple(divmod(visit, day_long) for visit in outcome): float(chance)
        for outcome, chance in zip(step.outcomes, chances(step), strict=True)
    }
    drawn, _ = core.perturb(
        np.array([core.secret(day)] * SAMPLES, dtype=np.int32), SeededRandomness(seed), constant_work=False
    )
    ours = Counter(tuple(divmod(visit, day_long) for visit in row) for row in drawn.values.tolist())
    assert p_value(ours, expected) > 1e-4
    generator, tilted = np.random.default_rng(seed), Tilted(world, day, epsilon)
    theirs = Counter(tilted.sample(generator) for _ in range(SAMPLES))
    assert p_value(theirs, expected) > 1e-4
    if len(expected) > 3:
        wrong = Tilted(world, day, epsilon * 1.5 + 4)
        off = Counter(wrong.sample(generator) for _ in range(SAMPLES))
        assert p_value(off, expected) < 1e-4


@given(world_inputs(most=3), st.data())
@examples(max_examples=40)
def test_uniform_days_are_all_feasible_days_alike(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    world = build(tmp_path, inputs[0], {**inputs[1], "timestep_minutes": 240, "interval_minutes": 240})
    length = data.draw(st.integers(1, 3))
    visits = [tuple(visit) for visit in np.argwhere(world.is_open).tolist()]
    feasible = [
        day
        for day in product(visits, repeat=length)
        if all(
            is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
            for (p, t), (q, u) in pairwise(day)
        )
    ]
    day = ew.Trajectory([("nowhere", step) for step in range(length)])
    if not feasible:
        with pytest.raises(ew.InputError, match="no feasible day"):
            ew.method("uniform", world).share(day)
        return
    shared = ew.method("uniform", world).share_many([day] * 3000)
    counts = Counter(tuple((world.place_index[v.place_id], v.timestep) for v in one) for one in shared)
    assert p_value(counts, dict.fromkeys(feasible, 1 / len(feasible))) > 1e-5


def test_counts_of_shorter_days_are_the_end_of_those_of_longer_ones(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4, 4)
    after, alone = Global(world, epsilon=1), Global(world, epsilon=1)
    after.tables(3)
    for name in ("sums", "scales", "cumulative"):
        ends, counted = getattr(after.tables(2).days, name), getattr(alone.tables(2).days, name)
        np.testing.assert_array_equal(ends, counted)


def test_counts_are_kept_and_made_anew_if_spoilt(tmp_path: Path) -> None:
    """Whatever has happened to the file: a share must not fail, nor draw beyond the world."""
    world, cache = tiny_world(tmp_path, 4, 4), tmp_path / "tables"
    honest = FeasibleDays(world).tables(2)

    def check() -> None:
        found = FeasibleDays(world, cache).tables(2)
        for name in ("sums", "scales", "cumulative"):
            np.testing.assert_array_equal(getattr(found, name), getattr(honest, name))

    check()
    (kept,) = cache.iterdir()
    raw, made = kept.read_bytes(), kept.stat().st_mtime_ns
    check()
    assert kept.stat().st_mtime_ns == made
    flipped = [raw[:at] + bytes([raw[at] ^ 255]) + raw[at + 1 :] for at in range(5, len(raw), 17)]
    for spoilt in [b"", b"damaged", raw[:40], raw[: len(raw) // 2], *flipped]:
        kept.write_bytes(spoilt)
        check()
    columns = {name: getattr(honest, name) for name in ("sums", "scales", "cumulative")}
    for name, wrong in (
        ("sums", -honest.sums - 1),
        ("sums", honest.sums[:, :-1]),
        ("scales", np.zeros_like(honest.scales)),
        ("cumulative", honest.cumulative[:, ::-1]),
        ("cumulative", np.zeros_like(honest.cumulative)),
        ("cumulative", honest.cumulative.astype(np.float64)),
    ):
        np.savez_compressed(kept, **{**columns, name: wrong})
        check()
