"""Travel: speeds by hour, matrices, road networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elsewhere.errors import InputError
from elsewhere.inputs.travel_tables import read_road_network, read_travel_matrix
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import build_places
from elsewhere.knowledge.roads import road_milliseconds
from elsewhere.knowledge.travel import is_reachable, straight_line
from worlds import TREE, build, place

KM_PER_DEGREE = 111.19508


def _two_places(km: float) -> list[tuple[float, float]]:
    return [(50.0, 10.0), (50.0 + km / KM_PER_DEGREE, 10.0)]


def test_speed_by_hour_of_departure() -> None:
    rows = [place(f"p{i}", *spot) for i, spot in enumerate(_two_places(7.9))]
    clock = Clock(timestep_minutes=10)
    speeds = [8.0] * 24
    speeds[17] = 4.0  # the evening rush
    travel = straight_line(build_places(rows, TREE), clock, speeds)
    noon, rush = 72, 17 * 6

    def reaches(departure: int, gap: int) -> bool:
        return is_reachable(
            travel, clock, origin=0, departure=departure, destination=1, arrival=departure + gap
        )

    assert reaches(noon, 6)
    assert not reaches(noon, 5)
    assert not reaches(rush, 11)
    assert reaches(rush, 12)


def test_no_limit_and_online_places() -> None:
    clock = Clock(timestep_minutes=10)
    rows = [place("a", 50, 10), place("b", -40, 170), place("c", 0, 0, is_anywhere=True)]
    places = build_places(rows, TREE)
    assert straight_line(places, clock, float("inf")).steps(0, 1, 0) == 1
    walking = straight_line(places, clock, 4.0)
    assert walking.steps(0, 1, 0) == clock.timesteps
    assert walking.steps(0, 2, 0) == walking.steps(2, 1, 0) == 1


def test_matrix_may_be_one_way_and_by_hour(tmp_path: Path) -> None:
    path = tmp_path / "minutes.csv"
    path.write_text(
        "from_id,to_id,minutes,hour\na,b,10,8\nb,a,35,8\na,b,20,9\nb,a,20,9\nother,b,1,8\na,b,15,8\n"
    )
    places = build_places([place("a", 50, 10), place("b", 50, 10)], TREE)
    travel = read_travel_matrix(path, places, Clock(timestep_minutes=10))
    assert travel.steps(0, 1, 8) == 1
    assert travel.steps(1, 0, 8) == 4
    assert travel.steps(0, 1, 9) == 2
    assert travel.steps(0, 1, 10) == 144  # not listed at ten: no way
    assert travel.steps(0, 0, 10) == 1  # but one can stay


def test_matrix_faults_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "minutes.csv"
    path.write_text("from_id,to_id,minutes,hour\na,b,x,8\nb,a,-5,24\n")
    places = build_places([place("a", 50, 10), place("b", 50, 10), place("c", 50, 10)], TREE)
    with pytest.raises(InputError) as caught:
        read_travel_matrix(path, places, Clock())
    told = str(caught.value)
    assert "'c' has no travel time" in told
    assert "row 2, column minutes" in told
    assert "row 3, column minutes" in told
    assert "row 3, column hour" in told


@pytest.fixture
def ring(tmp_path: Path) -> tuple[Path, Path]:
    """Four nodes in a one-way ring of 1 km edges, and a slower twin of the first edge."""
    nodes, edges = tmp_path / "nodes.csv", tmp_path / "edges.csv"
    nodes.write_text("node_id,lat,lng\nn0,50,10\nn1,50.009,10\nn2,50.009,10.014\nn3,50,10.014\n")
    edges.write_text("from_node,to_node,km,speed_kmh\nn0,n1,1,\nn0,n1,5,\nn1,n2,1,\nn2,n3,1,\nn3,n0,1,60\n")
    return nodes, edges


def test_roads_are_one_way_and_take_the_quickest_of_twins(ring: tuple[Path, Path]) -> None:
    network = read_road_network(*ring)
    times = road_milliseconds(network, network.node_vectors, network.node_vectors, 6.0) / 60_000
    assert times[0].tolist() == [0, 10, 20, 30]
    assert times[1, 0] == 10 + 10 + 1  # round the ring, the last edge at its own speed


def test_searching_forwards_or_backwards_gives_the_same_bits(ring: tuple[Path, Path]) -> None:
    network = read_road_network(*ring)
    generator = np.random.default_rng(0)
    points = network.node_vectors[0] + generator.normal(0, 1e-5, size=(7, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    forwards = road_milliseconds(network, points, points, 5.0)
    backwards = road_milliseconds(network, points, points[:2], 5.0)
    np.testing.assert_array_equal(forwards[:, :2], backwards)


def test_a_world_on_roads_is_asymmetric(tmp_path: Path, ring: tuple[Path, Path]) -> None:
    nodes, edges = ring
    rows = [
        place("a", 50, 10, "cafe", hours="10:00-10:40"),
        place("b", 50.009, 10, "boots", hours="10:00-10:40"),
    ]
    travel = {"kind": "roads", "nodes": str(nodes), "edges": str(edges), "speed_kmh": 6}
    keys = {"kappa": 1, "travel": travel, "interval_minutes": 20}
    world = build(tmp_path, rows, keys)
    regions = {
        (
            world.places.ids[int(world.regions.places_of(r)[0])],
            world.clock.label(int(world.regions.starts[r])),
        ): r
        for r in range(len(world.regions))
    }
    assert world.graph.has_edge(regions["a", "10:00"], regions["b", "10:00"])
    assert not world.graph.has_edge(regions["b", "10:00"], regions["a", "10:00"])


def test_road_faults(tmp_path: Path, ring: tuple[Path, Path]) -> None:
    edges = tmp_path / "bad.csv"
    edges.write_text("from_node,to_node,km\nn0,nowhere,1\nn1,n2,long\n")
    with pytest.raises(InputError) as caught:
        read_road_network(ring[0], edges)
    assert [str(fault).split(":")[0] for fault in caught.value.faults] == [
        "row 2, column to_node",
        "row 3, column km",
    ]


def test_roads_may_take_hours(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node_id,lat,lng\na,50,10\nb,51,10\n")
    (tmp_path / "e.csv").write_text("from_node,to_node,km\na,b,120\n")
    network = read_road_network(tmp_path / "n.csv", tmp_path / "e.csv")
    times = road_milliseconds(network, network.node_vectors, network.node_vectors, 10.0)
    assert times[0, 1] == 12 * 60 * 60_000
    assert times[1, 0] == np.inf
