"""Every registered method on odd worlds and odd days: what is shared is valid, and as long as it says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.knowledge.travel import is_reachable
from elsewhere.mechanism.individual import list_candidates
from elsewhere.methods.individual import Individual
from elsewhere.methods.registry import METHODS
from elsewhere.world.world import World
from examples import examples
from worlds import build, place, world_inputs


def _is_feasible(world: World, day: ew.SharedTrajectory) -> bool:
    rows = [(world.place_index[visit.place_id], visit.timestep) for visit in day]
    return all(
        is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
        for (p, t), (q, u) in pairwise(rows)
    )


@given(world_inputs(most=4), st.data())
@examples(max_examples=60)
def test_what_is_shared_is_feasible(tmp_path: Path, inputs: tuple[Any, Any], data: st.DataObject) -> None:
    rows, keys = inputs
    world = build(tmp_path, rows, {**keys, "timestep_minutes": 240, "interval_minutes": 240})
    name = data.draw(st.sampled_from(sorted(METHODS)))
    length = data.draw(st.integers(1, 4))
    steps = sorted(data.draw(st.permutations(range(world.clock.timesteps + 2)))[:length])
    day = ew.Trajectory((data.draw(st.sampled_from([*world.places.ids, "nowhere"])), step) for step in steps)
    try:
        method = ew.method(name, world, epsilon=data.draw(st.sampled_from([0.5, 5, 9])))
        method.prepare(length)
    except ew.InputError as error:
        said = str(error)
        assert "follow each other" in said or "no feasible day" in said
        return
    for shared in (method.share(day)[0], *method.share_many([day] * 3)):
        assert len(shared) == length or method.hides_length
        assert _is_feasible(world, shared)
        if name.startswith("global") or name == "codebook":
            assert all(world.is_open[world.place_index[v.place_id], v.timestep] for v in shared)


def _check(world: World, name: str, day: ew.Trajectory) -> None:
    """One day, many, and one with its length hidden: all feasible, all as long as they should be."""
    options: dict[str, Any] = {"same_length": True, "candidates": 64} if name == "codebook" else {}
    method = ew.method(name, world, epsilon=5, **options)
    for shared in (method.share(day)[0], *method.share_many([day] * 20)):
        assert len(shared) == len(day) or method.hides_length
        assert _is_feasible(world, shared)
    if name == "typical":
        return  # one day for everybody, whatever its length
    hidden = ew.method(name, world, epsilon=5, hide_length=2, **options)
    assert {len(shared) for shared in hidden.share_many([day] * 30)} <= {1, 2}


def _one_way_city(folder: Path) -> World:
    """Four places round a one-way street, quicker by night: there and back are never the same."""
    folder.mkdir(exist_ok=True)
    rows = ["from_id,to_id,minutes,hour"]
    for hour in range(24):
        minutes = 45 if hour < 12 else 170
        rows += [f"p{i},p{(i + k) % 4},{k * minutes},{hour}" for i in range(4) for k in (1, 2, 3)]
    (folder / "travel.csv").write_text("\n".join(rows) + "\n")
    places = [place(f"p{i}", 50 + 0.01 * i, 10, hours="06:00-23:00" if i % 2 else "24/7") for i in range(4)]
    travel = {"kind": "matrix", "file": str(folder / "travel.csv")}
    return build(folder, places, {"kappa": 1, "timestep_minutes": 120, "travel": travel})


@pytest.mark.parametrize("name", sorted(METHODS))
def test_one_way_streets_with_other_times_by_the_hour(tmp_path: Path, name: str) -> None:
    world = _one_way_city(tmp_path)
    steps = [[[int(world.travel.steps(a, b, p)) for b in (0, 1)] for a in (0, 1)] for p in (0, 12)]
    assert steps == [[[1, 1], [2, 1]], [[1, 2], [5, 1]]]
    _check(world, name, ew.Trajectory([("p0", 3), ("p1", 5), ("p0", 9)]))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_single_region(tmp_path: Path, name: str) -> None:
    rows = [place(f"p{i}", 50 + 0.01 * i, 10, hours="24/7") for i in range(3)]
    keys = {"kappa": 1, "grid": 1, "timestep_minutes": 240, "interval_minutes": 1440}
    world = build(tmp_path, rows, keys)
    assert len(world.regions) == 1
    _check(world, name, ew.Trajectory([("p0", 1), ("p2", 4)]))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_one_place_alone(tmp_path: Path, name: str) -> None:
    world = build(tmp_path, [place("a", 50, 10)], {"kappa": 1, "timestep_minutes": 120})
    day = ew.Trajectory([("a", 3), ("a", 11)])
    method = ew.method(name, world, epsilon=5)
    shared = method.share(day)[0]
    assert {visit.place_id for visit in shared} == {"a"}
    assert len(shared) == 2 or method.hides_length
    _check(world, name, day)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_one_visit(tmp_path: Path, name: str) -> None:
    world = _one_way_city(tmp_path)
    for step in (0, 11):
        _check(world, name, ew.Trajectory([("p1", step)]))


@pytest.mark.parametrize("name", sorted(METHODS))
def test_more_visits_than_timesteps_left(tmp_path: Path, name: str) -> None:
    """Days that begin when hardly any timestep is left, go past midnight, or fill every timestep."""
    rows = [place("a", 50, 10, hours="24/7"), place("b", 50, 10.001, hours="24/7")]
    world = build(tmp_path, rows, {"kappa": 1, "timestep_minutes": 240, "interval_minutes": 240})
    _check(world, name, ew.Trajectory([("a", 4), ("b", 5), ("a", 6), ("b", 7)]))
    _check(world, name, ew.Trajectory([("b", 5), ("b", 9)]))
    _check(world, name, ew.Trajectory([("ab"[step % 2], step) for step in range(6)]))
    method, too_long = ew.method(name, world, epsilon=5), ew.Trajectory([("a", step) for step in range(7)])
    if method.hides_length:
        assert method.share(too_long)[0]
    else:
        with pytest.raises(ew.InputError, match="6 timesteps"):
            method.share(too_long)


@given(world_inputs(most=4))
@examples(max_examples=40)
def test_candidates_are_open_and_reachable_from_the_visit_drawn_before(
    tmp_path: Path, inputs: tuple[Any, Any]
) -> None:
    """IndReach: "the reachability constraint is considered during perturbation"."""
    rows, keys = inputs
    world = build(tmp_path, rows, {**keys, "timestep_minutes": 240, "interval_minutes": 240})
    tables, day = Individual(world, epsilon=1).tables(2), world.clock.timesteps
    everything = {(p, t) for p, t in np.argwhere(world.is_open).tolist()}
    assert {divmod(visit, day) for visit in list_candidates(tables, -1).tolist()} == everything
    for p, t in everything:
        following = {
            (q, u)
            for q, u in everything
            if is_reachable(world.travel, world.clock, origin=p, departure=t, destination=q, arrival=u)
        }
        found = {divmod(visit, day) for visit in list_candidates(tables, p * day + t).tolist()}
        assert found == (following or everything)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_as_many_draws_are_made_as_the_registry_says(tmp_path: Path, name: str) -> None:
    letters = {"0": 0, "1": 1, "|τ|": 4, "|τ| + n − 1": 5, "2|τ| + n − 1": 9}
    world = _one_way_city(tmp_path)
    assert len(ew.method(name, world, epsilon=5).draws_for(4)) == letters[METHODS[name].draws]
