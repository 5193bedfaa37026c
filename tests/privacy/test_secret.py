"""What a device does before the first draw takes the same work for every day (R15)."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.mechanism import secret
from elsewhere.mechanism.secret import NumberedVisits, RegionOfEachVisit
from elsewhere.world.world import World
from examples import examples
from worlds import build, place

ROWS = [
    place("open", 50.0, 10.0, "cafe", hours="24/7"),
    place("noon", 50.01, 10.02, "boots", hours="11:00-13:00"),
    place("closed", 50.02, 10.0, "wine-bar", hours="off"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(tmp_path_factory.mktemp("w"), ROWS, {"kappa": 1})


DAYS = [[("open", 60), ("open", 70)], [("closed", 60), ("noon", 100)], [("nowhere", 3), ("", 5)]]


def test_the_nearest_region_is_looked_for_whether_it_is_needed_or_not(world: World) -> None:
    """Closed and unknown visits took longer: whoever timed a device could tell them from open ones."""
    looked = []
    with patch.object(secret, "_nearest_region", wraps=secret._nearest_region) as nearest:
        for visits in DAYS:
            before = nearest.call_count
            RegionOfEachVisit(world)(ew.Trajectory(visits), constant_work=True)
            looked.append(nearest.call_count - before)
    assert looked == [2, 2, 2]


def test_one_share_does_as_much_for_closed_and_unknown_visits_as_for_open_ones(world: World) -> None:
    method = ew.method("ngram", world, epsilon=5)
    looked = []
    with patch.object(secret, "_nearest_region", wraps=secret._nearest_region) as nearest:
        for visits in DAYS:
            before = nearest.call_count
            method.share(ew.Trajectory(visits))
            looked.append(nearest.call_count - before)
    assert looked == [2, 2, 2]


@examples(max_examples=60)
@given(
    visits=st.lists(
        st.tuples(st.sampled_from(["open", "noon", "closed", "nowhere"]), st.integers(0, 150)),
        min_size=1, max_size=4, unique_by=lambda visit: visit[1],
    )
)  # fmt: skip
def test_constant_work_changes_nothing_in_what_is_seen(tmp_path: Path, visits: list[tuple[str, int]]) -> None:
    world = build(tmp_path, ROWS, {"kappa": 1})
    day = ew.Trajectory(sorted(visits, key=lambda visit: visit[1]))
    for rule in (RegionOfEachVisit(world), NumberedVisits(world)):
        assert rule(day) == rule(day, constant_work=True)


def test_a_visit_is_the_number_of_its_place_and_timestep(world: World) -> None:
    """Ids in order: closed 0, noon 1, open 2; a place nobody knows comes last, a late time is the last."""
    rule, day = NumberedVisits(world), world.clock.timesteps
    visits = ew.Trajectory([("noon", 5), ("open", 7), ("elsewhere", 9), ("closed", day + 3)]).visits
    assert rule.of(visits) == (day + 5, 2 * day + 7, 3 * day + 9, day - 1)


def test_an_open_visit_is_in_its_own_region(world: World) -> None:
    """The first place and the first region are like any other."""
    rule, regions = RegionOfEachVisit(world), world.regions
    firsts = np.searchsorted(regions.pair_places, np.arange(len(world.places)))
    seen = set()
    for place_id, pair in zip(world.places.ids, firsts.tolist(), strict=True):
        for step in range(0, world.clock.timesteps, 3):
            region = int(regions.region_of[pair][step // world.clock.timesteps_per_interval])
            if region >= 0:
                seen.add(region)
                assert rule.of([ew.Visit(place_id, step)]) == (region,)
    assert 0 in seen
