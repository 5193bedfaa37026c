"""The graph of regions against brute force over places and timesteps, and counts against enumeration."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.knowledge.places import Place
from elsewhere.knowledge.travel import is_reachable, profile_at
from elsewhere.world.graph import RegionGraph, degrees_of
from elsewhere.world.world import World
from examples import examples
from worlds import build, world_inputs

Inputs = tuple[list[Place], dict[str, Any]]


def brute_force_edges(world: World) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """(r_a, r_b) is feasible if some place and timestep of r_a reaches some place and timestep of r_b."""
    count, steps = len(world.places), world.clock.timesteps
    reach = np.zeros((count, steps, count, steps), dtype=np.bool_)
    for departure in range(steps):
        profile = profile_at(world.travel, world.clock, departure)
        least = world.travel.steps(np.arange(count)[:, None], np.arange(count)[None, :], profile)
        for arrival in range(steps):
            reach[:, departure, :, arrival] = arrival - departure >= least
    regions = world.regions
    edges = np.zeros((len(regions), len(regions)), dtype=np.bool_)
    for a, b in product(range(len(regions)), repeat=2):
        from_times, to_times = regions.timesteps_of(a, steps), regions.timesteps_of(b, steps)
        edges[a, b] = reach[np.ix_(regions.places_of(a), from_times, regions.places_of(b), to_times)].any()
    return edges


def edges_of(graph: RegionGraph) -> np.ndarray[Any, np.dtype[np.bool_]]:
    edges = np.zeros((len(graph), len(graph)), dtype=np.bool_)
    for region in range(len(graph)):
        edges[region, graph.successors(region)] = True
    return edges


@given(world_inputs())
def test_region_reachability_equals_brute_force(tmp_path: Path, inputs: Inputs) -> None:
    world = build(tmp_path, *inputs)
    expected = brute_force_edges(world)
    np.testing.assert_array_equal(edges_of(world.graph), expected)
    np.testing.assert_array_equal(world.graph.out_degrees, expected.sum(axis=1))
    assert world.graph.bigrams == expected.sum()
    for a, b in product(range(len(expected)), repeat=2):
        assert world.graph.has_edge(a, b) == expected[a, b]


@given(st.data())
@examples(max_examples=25)
def test_region_reachability_with_short_intervals(tmp_path: Path, data: st.DataObject) -> None:
    """Several intervals to an hour, so that hours of departure begin within and between regions."""
    rows, keys = data.draw(world_inputs(most=2))
    keys |= {"timestep_minutes": 10, "interval_minutes": data.draw(st.sampled_from([20, 30, 90]))}
    world = build(tmp_path, rows, keys)
    np.testing.assert_array_equal(edges_of(world.graph), brute_force_edges(world))


@given(st.data())
@examples(max_examples=60)
def test_travel_tables_give_the_brute_force_graph_too(tmp_path: Path, data: st.DataObject) -> None:
    rows, keys = data.draw(world_inputs(most=5))
    hourly = data.draw(st.booleans())
    minutes = st.sampled_from([0, 30, 60, 61, 240, 1000])
    with (tmp_path / "minutes.csv").open("w") as file:
        file.write("from_id,to_id,minutes" + (",hour" if hourly else "") + "\n")
        for origin, destination in product(rows, repeat=2):
            for hour in range(24) if hourly else [0]:
                file.write(f"{origin.place_id},{destination.place_id},{data.draw(minutes)}")
                file.write(f",{hour}\n" if hourly else "\n")
    del keys["speed_kmh"]
    keys["travel"] = {"kind": "matrix", "file": str(tmp_path / "minutes.csv")}
    world = build(tmp_path, rows, keys)
    np.testing.assert_array_equal(edges_of(world.graph), brute_force_edges(world))


@given(st.integers(1, 130).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, 2**32), st.floats(0, 0.3))))
@examples(max_examples=40)
def test_backward_counts_equal_enumeration(case: tuple[int, int, float]) -> None:
    count, seed, density = case
    edges = np.random.default_rng(seed).random((count, count)) < density
    packed = np.zeros((count, -(-count // 64) * 64), dtype=np.bool_)
    packed[:, :count] = edges
    words = np.packbits(packed, axis=1, bitorder="little").view(np.uint64)
    graph = RegionGraph(words=words, out_degrees=degrees_of(words))
    counts = graph.ngram_counts(4)
    for start in range(count):
        walks: list[tuple[int, ...]] = [(start,)]
        for n in range(1, 5):
            assert counts[n - 1][start] == len(walks)
            assert isinstance(counts[n - 1][start], int)
            if len(walks) > 3000:
                break
            walks = [(*walk, b) for walk in walks for b in np.flatnonzero(edges[walk[-1]]).tolist()]


def test_counts_beyond_machine_integers_stay_exact() -> None:
    count = 100
    bits = np.zeros((count, 128), dtype=np.bool_)
    bits[:, :count] = True
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    graph = RegionGraph(words=words, out_degrees=degrees_of(words))
    assert graph.ngram_count(20) == 100**20


@given(world_inputs(most=4))
@examples(max_examples=30)
def test_steps_between_places_are_haversine_over_speed(tmp_path: Path, inputs: Inputs) -> None:
    """B from a if d_s(a, b) ≤ speed · (t_b − t_a), by the textbook haversine formula."""
    rows, keys = inputs
    world = build(tmp_path, rows, keys)
    speeds = np.broadcast_to(np.asarray(keys["speed_kmh"], dtype=float), 24)
    phi, lam = np.radians(world.places.latitudes), np.radians(world.places.longitudes)
    for a, b in product(range(len(rows)), repeat=2):
        hav = (
            np.sin((phi[a] - phi[b]) / 2) ** 2
            + np.cos(phi[a]) * np.cos(phi[b]) * np.sin((lam[a] - lam[b]) / 2) ** 2
        )
        km = 2 * 6371.0088 * np.arcsin(np.sqrt(hav))
        is_free = bool(world.places.is_anywhere[a] or world.places.is_anywhere[b])
        for departure, arrival in product(range(world.clock.timesteps), repeat=2):
            hours = (arrival - departure) * world.clock.timestep_minutes / 60
            within_km = speeds[world.clock.hour_of(departure)] * hours if hours > 0 else -1.0
            if abs(within_km - km) > 1e-9:
                expected = hours > 0 and (is_free or km <= within_km)
                found = is_reachable(
                    world.travel, world.clock, origin=a, departure=departure, destination=b, arrival=arrival
                )
                assert found == expected
