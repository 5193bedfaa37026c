"""Any distance: every way to measure and to put together, against a plain twin."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.days.comparison import compiled_day_costs, day_columns, plain_day_costs
from elsewhere.days.visits import (
    Days,
    largest_place_distance,
    largest_visit_distance,
    place_distance,
    visit_distance,
    visit_distances,
    visit_errors,
)
from elsewhere.evaluate.error import mean_errors
from elsewhere.knowledge.places import Place
from elsewhere.mechanism.secret import RegionOfEachVisit
from elsewhere.mechanism.windows import window_tables
from elsewhere.reconstruct.node_errors import node_costs, region_columns, with_table
from elsewhere.world import measure
from elsewhere.world.build import build_world
from elsewhere.world.distances import region_distance
from elsewhere.world.measure import FARTHEST
from elsewhere.world.toml import parse_config
from elsewhere.world.world import World
from examples import examples
from privacy_tools import even_draws
from worlds import TREE, build, place, world_inputs, write_place_rows, write_world_files

Inputs = tuple[list[Place], dict[str, Any]]


def _bent(space: float, time: float, category: float) -> float:
    """Near things count less, late ones less again: it does not grow with time."""
    return math.sqrt(space) + abs(time - 3) + category * category / 10


ew.register_distance("bent", _bent)
WAYS: dict[str, Callable[[float, float, float], float]] = {
    "euclidean": lambda s, t, c: math.sqrt(s * s + t * t + c * c),
    "sum": lambda s, t, c: s + t + c,
    "largest": max,
    "bent": _bent,
}
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0])


@st.composite
def distances(draw: st.DrawFn) -> dict[str, Any]:
    weights = {"space": draw(WEIGHTS), "time": draw(WEIGHTS), "category": draw(WEIGHTS.filter(bool))}
    return {"combine": draw(st.sampled_from(sorted(WAYS))), "weights": weights}


def _world(folder: Path, inputs: Inputs, distance: dict[str, Any], times: dict[Any, float] | None) -> World:
    """A world of the inputs, by straight lines or, with ``times``, by a matrix of minutes."""
    rows, keys = inputs
    folder.mkdir(exist_ok=True)
    keys = {**keys, "distance": distance}
    if times is not None:
        lines = [f"{a},{b},{minutes}" for (a, b), minutes in times.items() if minutes < math.inf]
        (folder / "minutes.csv").write_text("\n".join(["from_id,to_id,minutes", *lines]) + "\n")
        del keys["speed_kmh"]
        keys["travel"] = {"kind": "matrix", "file": str(folder / "minutes.csv")}
        keys["distance"] = {**distance, "space": "travel-time", "kmh": 6}
    return build(folder, rows, keys)


def _times(data: st.DataObject, rows: list[Place]) -> dict[Any, float] | None:
    if data.draw(st.booleans()):
        return None
    minutes = st.sampled_from([1.0, 30.0, 61.0, 240.0, math.inf])
    ids = [row.place_id for row in rows]
    found = {(a, b): data.draw(minutes) for a, b in product(ids, repeat=2)}
    return found | {(ids[0], one): 90.0 for one in ids}


def _km(world: World, times: dict[Any, float] | None, p: int, q: int) -> float:
    """d_s between two places, from first principles."""
    places = world.places
    if places.is_anywhere[p] or places.is_anywhere[q]:
        return 0.0
    if times is not None:
        ids = places.ids
        hours = {
            (a, b): 0.0 if a == b else (times[ids[a], ids[b]] + times[ids[b], ids[a]]) / 120
            for a, b in product(range(len(ids)), repeat=2)
        }
        farthest = max(hour for hour in hours.values() if hour < math.inf)
        return 6 * min(hours[p, q], farthest)
    dot = float(np.clip(places.vectors[p] @ places.vectors[q], -1, 1))
    return 6371.0088 * math.acos(dot) if p != q and not np.array_equal(*places.vectors[[p, q]]) else 0.0


def _together(world: World, km: float, hours: float, category: float) -> float:
    distance = world.settings.distance
    weights = distance.weights
    far = WAYS[distance.combine](weights.space * km, weights.time * hours, weights.category * category)
    return float(min(far, FARTHEST))


@given(world_inputs(most=5), distances(), st.data())
@examples(max_examples=60)
def test_compiled_distances_are_those_of_a_plain_twin(
    tmp_path: Path, inputs: Inputs, distance: dict[str, Any], data: st.DataObject
) -> None:
    times = _times(data, inputs[0])
    world = _world(tmp_path, inputs, distance, times)
    visits, count, day = visit_distances(world), len(world.places), world.clock.timesteps
    hours = np.array(
        [[abs(t - u) * world.clock.timestep_minutes / 60 for u in range(day)] for t in range(day)]
    )
    if world.settings.circular_time:
        hours = np.minimum(hours, 24 - hours)
    hours = np.minimum(hours, 12)
    largest = largest_place = 0.0
    for p, q in product(range(count), repeat=2):
        km, category = _km(world, times, p, q), float(visits.category_table[visits.kinds[p], visits.kinds[q]])
        assert place_distance(visits, p, q) == pytest.approx(_together(world, km, 0, category), abs=1e-4)
        largest_place = max(largest_place, _together(world, km, 0, category))
        for t, u in product(range(day), repeat=2):
            far = _together(world, km, float(hours[t, u]), category)
            largest = max(largest, far)
            found = visit_distance(visits, p, t, q, u)
            assert found == pytest.approx(far, abs=1e-4)
            [combined] = visit_errors(visits, *(np.array([i], dtype=np.int32) for i in (p, t, q, u)))[
                "combined"
            ]
            assert combined == pytest.approx(found, abs=1e-6)
    assert largest_visit_distance(visits, day) == pytest.approx(largest, abs=1e-4)
    assert largest_place_distance(visits) == pytest.approx(largest_place, abs=1e-4)


@given(world_inputs(most=6), distances(), st.data())
@examples(max_examples=60)
def test_regions_are_as_far_as_their_spots(
    tmp_path: Path, inputs: Inputs, distance: dict[str, Any], data: st.DataObject
) -> None:
    """Also in the vector loop of reconstruction; and the largest distance is the largest."""
    times = _times(data, inputs[0])
    world = _world(tmp_path, inputs, distance, times)
    regions, count = world.distances, len(world.regions)
    everything = np.arange(count)
    found = regions.combined(everything[:, None], everything[None, :])
    for a, b in product(range(count), repeat=2):
        assert region_distance(regions, a, b) == pytest.approx(float(found[a, b]), abs=1e-6)
        if times is not None and not (regions.is_anywhere[a] or regions.is_anywhere[b]):
            km = _km(world, times, int(regions.spots[a]), int(regions.spots[b]))
            assert float(regions.space_km(a, b)) == pytest.approx(km, rel=1e-6)
    assert world.max_distance == pytest.approx(found.max(), abs=1e-6)
    np.testing.assert_array_equal(found, found.T)
    windows = window_tables(even_draws(Fraction(1), 1, 1), world.max_distance)
    costs = np.empty((1, count))
    node_costs(np.array([count - 1], dtype=np.int32), windows, region_columns(regions), costs)
    np.testing.assert_allclose(costs[0], found[count - 1], atol=1e-6)
    looked_up = np.empty((1, count))
    node_costs(np.array([count - 1], dtype=np.int32), windows, with_table(region_columns(regions)), looked_up)
    assert looked_up.tolist() == costs.tolist()
    assert costs[0].tolist() == [region_distance(regions, count - 1, other) for other in range(count)]
    for region in range(count):
        members = world.regions.places_of(region)
        assert regions.is_anywhere[region] == world.places.is_anywhere[members].all()
        assert regions.spots[region] in members


@given(world_inputs(most=5), distances(), st.data())
@examples(max_examples=40)
def test_costs_of_days_have_the_same_bits(
    tmp_path: Path, inputs: Inputs, distance: dict[str, Any], data: st.DataObject
) -> None:
    world = _world(tmp_path, inputs, distance, _times(data, inputs[0]))
    count, day = len(world.places), world.clock.timesteps
    visit = st.tuples(st.integers(0, count - 1), st.integers(0, day - 1))
    book = data.draw(st.lists(st.lists(visit, min_size=1, max_size=3), min_size=1, max_size=6))
    rows = np.full((2, len(book), 3), -1, dtype=np.int32)
    for number, one in enumerate(book):
        rows[:, number, : len(one)] = np.array(one).T
    days = Days(rows[0], rows[1], np.array([len(one) for one in book], dtype=np.int32))
    truth = st.tuples(st.integers(0, count), st.integers(0, day - 1))
    mine = np.array(data.draw(st.lists(truth, min_size=1, max_size=4)), dtype=np.int32).T.copy()
    given_ = (day_columns(days), visit_distances(world), 10.0, mine[0], mine[1])
    np.testing.assert_array_equal(plain_day_costs(*given_), compiled_day_costs(*given_))


@given(world_inputs(most=5), distances(), st.data())
@examples(max_examples=20)
def test_a_world_is_kept_and_updated_with_its_distance(
    tmp_path: Path, inputs: Inputs, distance: dict[str, Any], data: st.DataObject
) -> None:
    rows, _ = inputs
    times = _times(data, rows)
    world = _world(tmp_path, inputs, distance, times)
    world.save(tmp_path / "w.world")
    kept = ew.World.load(tmp_path / "w.world")
    assert kept == world
    assert kept.distances.measure == world.distances.measure
    assert pickle.loads(pickle.dumps(kept)).distances.measure == world.distances.measure  # noqa: S301 - ours
    # The last place goes, if κ lets it.
    if len(rows) > 1 and world.settings.kappa.least == 1:
        write_place_rows(tmp_path / "changes.csv", [], [rows[-1].place_id])
        updated = ew.update_world(world, tmp_path / "changes.csv")
        if times is not None:
            gone = rows[-1].place_id
            times = {pair: minutes for pair, minutes in times.items() if gone not in pair}
        assert updated == _world(tmp_path / "anew", (rows[:-1], inputs[1]), distance, times)


def _roads(folder: Path, space: str) -> World:
    """Three places on a road with a detour one way."""
    folder.mkdir(exist_ok=True)
    (folder / "nodes.csv").write_text("node_id,lat,lng\n0,50,10\n1,50.01,10\n2,50.02,10\n")
    (folder / "edges.csv").write_text("from_node,to_node,km,speed_kmh\n0,1,2,\n1,0,4,\n1,2,3,60\n")
    rows = [place(f"p{i}", 50 + 0.01 * i, 10, hours="24/7") for i in range(3)]
    travel = {
        "kind": "roads",
        "speed_kmh": 8,
        "nodes": str(folder / "nodes.csv"),
        "edges": str(folder / "edges.csv"),
    }
    keys = {"kappa": 1, "grid": 4, "timestep_minutes": 240, "interval_minutes": 240, "travel": travel}
    return build(folder, rows, {**keys, "distance": {"space": space, "kmh": 10}})


def test_distance_over_roads(tmp_path: Path) -> None:
    """There and back: 2 km and 4 km; nobody comes back from the third place, as far as the farthest."""
    world = _roads(tmp_path, "travel-distance")
    visits = visit_distances(world)
    assert visit_distance(visits, 0, 0, 1, 0) == pytest.approx(3)
    assert visit_distance(visits, 0, 0, 2, 0) == pytest.approx(3)
    errors = mean_errors(world, [ew.Trajectory([("p0", 1)])], [ew.Trajectory([("p1", 1)])])
    assert errors["space_km"] == pytest.approx(3)


def test_time_over_roads(tmp_path: Path) -> None:
    """2 km and 4 km at 8 km/h are 22.5 minutes in the mean; an hour counts 10 km."""
    world = _roads(tmp_path, "travel-time")
    assert visit_distance(visit_distances(world), 0, 0, 1, 0) == pytest.approx(10 * 22.5 / 60)
    write_place_rows(tmp_path / "changes.csv", [place("p3", 50.02, 10.001, hours="24/7")])
    assert ew.update_world(world, tmp_path / "changes.csv").distances.table.shape == (4, 4)


@pytest.mark.parametrize(
    ("distance", "problem"),
    [
        ({"space": "travel-time"}, "is known where travel is roads or timetable or matrix, found speed"),
        ({"space": "travel-distance"}, "is known where travel is roads, found speed"),
        ({"space": "moon"}, "distance.space"),
        ({"combine": "nobody's"}, "found \"nobody's\", must be one of euclidean, sum, largest"),
        ({"weights": {"space": 0, "time": 0, "category": 0}}, "must not all be 0"),
        ({"weights": {"space": -1}}, "distance.weights.space"),
        ({"weights": {"time": 1e300}}, "time: found 1e+300, must be less than or equal to 1000000"),
        ({"weight": 1}, "distance.weight: unknown key, allowed are space, kmh, weights, combine"),
        ({"weights": {"place": 1}}, "allowed are space, time, category"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(tmp_path: Path, distance: dict[str, Any], problem: str) -> None:
    with pytest.raises(ew.InputError) as caught:
        build(tmp_path, [place("a", 50, 10)], {"kappa": 1, "distance": distance})
    assert problem in str(caught.value)


def test_a_world_whose_distances_are_endless_is_not_made(tmp_path: Path) -> None:
    """Found by a new user: it was made, and then nothing could load it."""
    rows = [place("a", 50, 10, "cafe"), place("b", 50, 10, "boots")]
    with pytest.raises(ew.InputError, match="largest distance d is no finite number: weights of"):
        build(tmp_path, rows, {"kappa": 1, "unrelated_category_distance": 1e200})
    most = {"weights": dict.fromkeys(("space", "time", "category"), 1e6)}
    build(tmp_path, rows, {"kappa": 1, "distance": most}).save(tmp_path / "w.world")
    assert math.isfinite(ew.World.load(tmp_path / "w.world").max_distance)


def _reads_a_file(space: float, time: float, category: float) -> float:
    return space + time + category + len(Path("x").read_text())


def test_names_that_are_taken_and_functions_that_do_not_compile_are_refused() -> None:
    with pytest.raises(ew.InputError, match="is taken"):
        ew.register_distance("sum", _bent)
    with pytest.raises(ew.InputError, match="cannot be compiled"):
        ew.register_distance("file", _reads_a_file)


def test_a_world_with_a_distance_that_nobody_registered_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = build(tmp_path, [place("a", 50, 10)], {"kappa": 1, "distance": {"combine": "bent"}})
    world.save(tmp_path / "w.world")
    monkeypatch.delitem(measure._REGISTERED, "bent")
    with pytest.raises(ew.WorldFileError, match=r"'bent' is not known here .* register_distance comes first"):
        ew.World.load(tmp_path / "w.world")


@pytest.mark.parametrize("combine", sorted(WAYS))
@pytest.mark.parametrize("is_table", [False, True])
def test_there_is_no_distance_where_there_is_no_position(
    tmp_path: Path, combine: str, is_table: bool
) -> None:
    """An online shop is as near to one place as to another, in draws, reconstruction and evaluation."""
    rows = [
        place("a", 50, 10, hours="24/7"),
        place("b", 51, 10, hours="24/7"),
        place("web", 52, 10, hours="12:00-16:00", is_anywhere=True),
        place("shut", 53, 10, hours="off", is_anywhere=True),
    ]
    times = {("a", "b"): 300.0, ("b", "a"): 300.0, ("a", "a"): 1.0, ("b", "b"): 1.0} if is_table else None
    keys = {"kappa": 1, "timestep_minutes": 240, "interval_minutes": 240, "speed_kmh": 8, "grid": 4}
    world = _world(tmp_path, (rows, keys), {"combine": combine}, times)
    visits, regions, index = visit_distances(world), world.distances, world.place_index
    for other in ("a", "b", "web"):
        near = place_distance(visits, index["web"], index[other])
        assert near == place_distance(visits, index[other], index["web"]) == _together(world, 0, 0, 0)
    web = next(r for r in range(len(world.regions)) if index["web"] in world.regions.places_of(r))
    assert regions.is_anywhere[web]
    assert not regions.space_km(web, np.arange(len(world.regions))).any()
    here, there = [ew.Trajectory([("a", 3)])], [ew.Trajectory([("web", 3)])]
    assert mean_errors(world, here, there)["space_km"] == 0
    # A closed one goes to the region nearest in time, wherever that is.
    [region] = RegionOfEachVisit(world).of([ew.Visit("shut", 3)])
    assert world.regions.starts[region] == 3 or combine == "bent"  # which does not grow with time


def test_a_region_lies_where_its_places_with_a_position_lie(tmp_path: Path) -> None:
    rows = [place("a", 50, 10, hours="24/7"), place("web", 60, 10, hours="24/7", is_anywhere=True)]
    world = build(tmp_path, rows, {"kappa": 2})
    np.testing.assert_allclose(world.regions.vectors, world.places.vectors[[0] * len(world.regions)])
    assert not world.distances.is_anywhere.any()


def test_hostile_functions_give_finite_distances(tmp_path: Path) -> None:
    for number, bad in enumerate((math.nan, math.inf, -math.inf, -5.0, 1e300)):
        ew.register_distance(f"bad-{number}", _constant(bad))
        keys: dict[str, Any] = {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480}
        keys |= {"distance": {"combine": f"bad-{number}"}}
        world = build(tmp_path, [place("a", 50, 10), place("b", 51, 10)], keys)
        assert world.max_distance in {0.0, FARTHEST}
        shared, _ = ew.method("ngram", world, epsilon=1).share(ew.Trajectory([("a", 1)]))
        assert len(shared.visits) == 1


def _constant(value: float) -> Any:
    def function(space: float, time: float, category: float) -> float:
        return value if space + time + category > 0 else 0.0

    return function


def test_settings_of_distances_make_other_worlds(tmp_path: Path) -> None:
    """The same settings give the same hash; others another one."""
    values = write_world_files(tmp_path, [place("a", 50, 10), place("b", 50.1, 10)], {"kappa": 1}, TREE)
    tables: list[dict[str, Any]] = [{}, {"combine": "sum"}, {"weights": {"time": 2}}]
    keys = [{}, *({"distance": table} for table in tables)]
    hashes = {
        build_world(parse_config({**values, **more}, folder=tmp_path, source="world.toml")).hash
        for more in keys
    }
    assert len(hashes) == 3
