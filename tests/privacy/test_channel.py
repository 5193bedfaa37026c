"""T1: the exact channel of every registered method, and the audit of the audit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from cases import WORLDS, case, plain_options
from detectors import audited, exact_loss
from elsewhere.audit.channel import all_trajectories, chances, largest_loss
from elsewhere.device.personal import day_without_a_visit
from elsewhere.experiments.tilted import tilted_ngram
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.mechanism.ngram_proposal import build_proposals, list_ngrams
from elsewhere.mechanism.windows import window_tables
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.registry import DEFAULT, METHODS, null_names
from elsewhere.methods.sharing import Sharing
from examples import examples
from tiny_worlds import past_midnight, tiny_world
from worlds import build, world_inputs

_PER_TEST = 20
# A sample that ignores the truth leaves little to tell. Where all places are alike, or the day has no
# timestep to spare, half of the draws of times and places tell nothing.
_MEDIAN = {
    "codebook": 0.99,
    "global-subsampled": 0.0,
    "ngram-noh": 0.25,
    "physdist": 0.25,
    **dict.fromkeys(null_names(), 0.0),
}


def _slices() -> Iterator[Any]:
    """A quarter of the worlds for the default method, a few for others; `make audit` has all of them."""
    for name in METHODS:
        if name != DEFAULT:
            yield pytest.param(name, 0, _PER_TEST // 2)
        for number, first in enumerate(range(0, WORLDS, _PER_TEST)):
            is_for_audit = name != DEFAULT or number % 4
            yield pytest.param(name, first, _PER_TEST, marks=[pytest.mark.audit] if is_for_audit else [])


@pytest.mark.parametrize(("name", "first", "count"), list(_slices()))
def test_no_pair_of_inputs_and_no_output_break_the_claim(
    tmp_path: Path, name: str, first: int, count: int
) -> None:
    """T1: on ≥ 200 random tiny worlds the largest log-ratio is ≤ ε + 1e−12, and not absurdly small."""
    ratios = []
    for seed in range(first, first + count):
        result = audited(tmp_path, name, seed)
        if result is not None:
            spent, claimed = result
            assert spent <= claimed + 1e-12
            ratios.append(spent / claimed)
    assert len(ratios) >= 0.8 * count
    if name in null_names():
        assert max(ratios) == 0
    assert sorted(ratios)[len(ratios) // 2] >= _MEDIAN.get(name, 0.4)


@pytest.mark.parametrize("name", METHODS)
def test_regions_that_pass_midnight_keep_the_claim(tmp_path: Path, name: str) -> None:
    world = past_midnight(tmp_path)
    assert (world.regions.ends > world.clock.timesteps).any()
    method = ew.method(name, world, epsilon=2, **plain_options(name))
    visits = 1 if name == "global-subsampled" else 2  # it takes long to list
    assert float(exact_loss(method, visits).epsilon) <= 2 + 1e-12


def _witness(method: Sharing, ngrams: list[Outcome]) -> float:
    """What any pair of feasible inputs x, x' must give at least: the mean of their scores, both ways.

    With y = x and with y = x' the normalisers cancel: ln Pr(x|x)/Pr(x|x') + ln Pr(x'|x')/Pr(x'|x).
    """
    exponents: list[list[dict[Outcome, Fraction]]] = []
    for secret in ngrams:
        state: State | None = None
        mine = []
        while isinstance(step := method.step(secret, state), Step):
            shares = [Fraction(number, step.denominator) for number in step.numerators]
            mine.append(dict(zip(step.outcomes, shares, strict=True)))
            state = step.states[0]
        exponents.append(mine)
    draws = method.draws_for(len(ngrams[0]))
    largest = Fraction(0)
    for (a, one), (b, two) in product(zip(ngrams, exponents, strict=True), repeat=2):
        both = Fraction(0)
        for index, draw in enumerate(draws):
            window = slice(draw.start, draw.start + draw.length)
            both += one[index][b[window]] + two[index][a[window]]
            both -= one[index][a[window]] + two[index][b[window]]
        largest = max(largest, both / 2)
    return float(largest)


@pytest.mark.parametrize("seed", [4, 9, 14, 19, 21, 22])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_loss_is_as_large_as_distances_make_it(tmp_path: Path, seed: int, n: int) -> None:
    """The audit must not be too kind: feasible inputs far from each other force a large log-ratio."""
    world = tiny_world(tmp_path, seed)
    method = ew.method("ngram", world, epsilon=1, n=n)
    days = {method.core.secret(day) for day in all_trajectories(world, 3)}
    ngrams = [day for day in sorted(days) if all(world.graph.has_edge(a, b) for a, b in pairwise(day))][:60]
    loss = float(exact_loss(method).epsilon)
    assert loss >= _witness(method, ngrams) - 1e-9
    assert loss <= 1


@pytest.mark.parametrize("name", METHODS)
def test_a_day_without_a_visit_is_one_of_the_inputs_that_are_compared(tmp_path: Path, name: str) -> None:
    """What `share` perturbs on a day of which a file says nothing is numbered like a place nobody knows."""
    world = tiny_world(tmp_path, 4)
    method = ew.method(name, world, epsilon=1, **plain_options(name))
    empty = day_without_a_visit(world.clock)
    covered = {method.core.secret(day) for day in all_trajectories(world, 1)}
    without = {method.core.secret(day) for day in all_trajectories(world, 1, unknown=False)}
    assert method.core.secret(empty) in covered
    if name == "codebook":
        assert method.core.secret(empty) not in without  # it is not the same as being somewhere
    shared, _ = method.share(empty)
    assert all(visit.place_id in world.place_index for visit in shared)


def test_the_pair_that_attains_the_loss_really_does(tmp_path: Path) -> None:
    method = ew.method("ngram", tiny_world(tmp_path, 4), epsilon=5, hide_length=3)
    loss = exact_loss(method)
    ratio = Decimal(1)
    state: State | None = None
    for outcome in loss.outcomes:
        both = []
        for secret in (loss.first, loss.second):
            step = method.step(secret, state)
            assert step is not None
            place = step.outcomes.index(outcome)
            both.append((chances(step)[place], step.states[place]))
        ratio *= both[0][0] / both[1][0]
        assert both[0][1] == both[1][1]
        state = both[0][1]
    assert method.step(loss.first, state) is None
    assert abs(float(ratio.ln()) - float(loss.epsilon)) < 1e-12


def test_chances_of_bounded_rejection_are_right() -> None:
    """Two outcomes, two trials, worked out by hand."""
    step = Step(
        outcomes=[(0,), (1,)],
        proposal=[Fraction(1, 4), Fraction(3, 4)],
        numerators=[0, 1],
        denominator=2,
        trials=2,
        states=[(1,), (1,)],
    )
    accept = math.exp(-0.5)
    mass = 0.25 + 0.75 * accept
    first = 0.25 + (1 - mass) * 0.25 + (1 - mass) ** 2 * 0.25
    found = [float(chance) for chance in chances(step)]
    assert found == pytest.approx([first, 1 - first], abs=1e-15)


class _Adaptive:
    """Two draws; what the second may be depends on what the first was, or wrongly on what is true."""

    def __init__(self, leak: bool, shares: list[int]) -> None:
        self.leak = leak
        self.shares = shares

    def step(self, secret: Outcome, state: State | None) -> Step | None:
        if state is not None and state[0] == "done":
            return None
        depth = 0 if state is None else 1
        size = 3 if state is None else 1 + state[1]
        if self.leak and state is not None:
            size = 1 + secret[1]
        outcomes = [(i,) for i in range(size)]
        states: list[State] = [("drawn", i) if state is None else ("done",) for i in range(size)]
        far = [abs(i - secret[depth]) * self.shares[(i + depth) % len(self.shares)] for i in range(size)]
        return Step(
            outcomes=outcomes,
            proposal=[Fraction(1, size)] * size,
            numerators=far,
            denominator=7,
            trials=3,
            states=states,
        )


def _paths(method: _Adaptive, secret: Outcome) -> dict[tuple[Outcome, ...], float]:
    """The whole channel of one input, listed."""

    def walk(state: State | None, path: tuple[Outcome, ...], chance: float) -> Iterator[Any]:
        step = method.step(secret, state)
        if step is None:
            yield path, chance
            return
        for outcome, after, share in zip(step.outcomes, step.states, chances(step), strict=True):
            yield from walk(after, (*path, outcome), chance * float(share))

    return dict(walk(None, (), 1.0))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4))
@examples(max_examples=40)
def test_adaptive_methods_are_listed_to_the_end(shares: list[int]) -> None:
    method = _Adaptive(leak=False, shares=shares)
    inputs = list(product(range(3), repeat=2))
    tables = {secret: _paths(method, secret) for secret in inputs}
    assert all(abs(sum(table.values()) - 1) < 1e-12 for table in tables.values())
    brute = max(
        math.log(tables[a][path] / tables[b][path]) for a in inputs for b in inputs for path in tables[a]
    )
    loss = largest_loss(method, inputs)
    assert float(loss.epsilon) == pytest.approx(brute, abs=1e-12)
    ratio = tables[loss.first][loss.outcomes] / tables[loss.second][loss.outcomes]
    assert math.log(ratio) == pytest.approx(brute, abs=1e-12)


def test_candidates_that_depend_on_the_truth_cost_everything() -> None:
    loss = largest_loss(_Adaptive(leak=True, shares=[1]), list(product(range(3), repeat=2)))
    assert loss.epsilon == Decimal("Infinity")


@pytest.mark.parametrize("bits", [61, 9, 7])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_listed_proposals_are_uniform_also_where_counts_are_scaled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int, length: int
) -> None:
    monkeypatch.setattr("elsewhere.mechanism.ngram_proposal._WEIGHT_BITS", bits)
    world = tiny_world(tmp_path, 21)
    try:
        ngrams = list_ngrams(build_proposals(world.graph, length), length)
    except OverflowError:
        pytest.skip("too few bits for this many regions")
    assert set(ngrams.chances) == {Fraction(1, world.graph.ngram_count(length))}
    assert len(set(ngrams.outcomes)) == world.graph.ngram_count(length)


@given(world_inputs(most=4), st.data())
@examples(max_examples=25)
def test_hostile_numbers_do_not_break_the_claim(
    tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject
) -> None:
    """T5: NaN, ±inf, 1e308, denormals in distances and in Δ: still ≤ ε."""
    world = build(tmp_path, inputs[0], {**inputs[1], "timestep_minutes": 480, "interval_minutes": 480})
    hostile = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -1.0, 0.0])
    vectors, hours, table = (
        getattr(world.distances, part).copy() for part in ("vectors", "mid_hours", "category_table")
    )
    count = len(world.regions)
    vectors[data.draw(st.integers(0, count - 1)), data.draw(st.integers(0, 2))] = data.draw(hostile)
    hours[data.draw(st.integers(0, count - 1))] = data.draw(hostile)
    table[data.draw(st.integers(0, len(table) - 1)), :] = data.draw(hostile)
    spoilt = world.distances._replace(vectors=vectors, mid_hours=hours, category_table=table)
    largest = data.draw(hostile | st.just(world.max_distance))

    class Hostile(Ngram):
        """The real core, with tables from such numbers."""

        def tables(self, length: int) -> NgramTables:
            tables = super().tables(length)
            return replace(tables, distances=spoilt, windows=window_tables(tables.draws, largest))

    method = Sharing(Hostile(world, epsilon=3, n=1))
    every = list(product(range(count), repeat=2))
    assert float(largest_loss(method, every).epsilon) <= 3 + 1e-12


def test_sensitivity_one_spends_far_more_than_it_says(tmp_path: Path) -> None:
    """R16."""
    method = tilted_ngram(tiny_world(tmp_path, 4), epsilon=5)
    assert float(exact_loss(method).epsilon) > 20
    assert float(exact_loss(method).epsilon) <= float(method.spent_on(3))


class _Impossible:
    """What one input cannot give leads to draws in which the others differ without bound."""

    def step(self, secret: Outcome, state: State | None) -> Step | None:
        if state is not None and state[0] == "end":
            return None
        after: list[State] = [("end",)]
        outcomes: list[Outcome] = [(1,)]
        if state is None:
            outcomes += [(2,)] * (secret != (0,))
            after = [("drawn", outcome[0]) for outcome in outcomes]
        elif state[1] == 2:
            outcomes = [secret]
        chance = Fraction(1, len(outcomes))
        return Step(
            outcomes=outcomes,
            proposal=[chance] * len(outcomes),
            numerators=[0] * len(outcomes),
            denominator=1,
            trials=1,
            states=after,
        )


def test_what_cannot_be_hides_nothing() -> None:
    assert largest_loss(_Impossible(), [(0,), (1,), (2,)]).epsilon == Decimal("Infinity")


class _OneBuffer:
    """Lists its draws in one list that it changes from input to input."""

    outcomes: tuple[Outcome, ...] = ((0,), (1,))

    def __init__(self) -> None:
        self.proposal = [Fraction(1, 2)] * 2

    def step(self, secret: Outcome, state: State | None) -> Step | None:
        if state is not None:
            return None
        rare = Fraction(1, 1000)
        self.proposal[:] = [rare, 1 - rare] if secret[0] else [1 - rare, rare]
        return Step(
            outcomes=self.outcomes,
            proposal=self.proposal,
            numerators=[0, 0],
            denominator=1,
            trials=1,
            states=[("end",)] * 2,
        )


def test_lists_that_change_under_our_hands_are_noticed() -> None:
    assert float(largest_loss(_OneBuffer(), [(0,), (1,)]).epsilon) == pytest.approx(math.log(999))


def test_too_large_worlds_are_refused_with_a_clear_message(tmp_path: Path) -> None:
    method = ew.method("ngram", tiny_world(tmp_path, 4), epsilon=5)
    with pytest.raises(ew.InputError, match="too many"):
        largest_loss(method, [(a, b) for a in range(100) for b in range(100)])


def test_every_case_comes_round() -> None:
    seen = {(str(options), visits) for options, visits in (case("ngram", seed) for seed in range(WORLDS))}
    assert len({visits for _, visits in seen}) == 3
    assert len(seen) > 40


def test_all_days_of_a_tiny_world_are_listed(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 1)
    days = list(all_trajectories(world, 2))
    steps, places = world.clock.timesteps, len(world.places) + 1
    assert len(days) == len(set(days)) == math.comb(steps, 2) * places**2
    assert np.diff([[visit.timestep for visit in day] for day in days]).min() > 0
