"""T1 for worlds with a distance of their own: the promise holds whatever d is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from cases import plain_options
from detectors import exact_loss
from elsewhere.methods.registry import METHODS, null_names
from elsewhere.world.world import World
from examples import examples
from worlds import build, place

_HOSTILE = np.array([math.nan, math.inf, -math.inf, -1.0, 1e308, 5e-324, 0.0, 1.0])


def _hostile(space: float, time: float, category: float) -> float:
    """Anything but a distance, by the third digit of the parts."""
    return float(_HOSTILE[int(100 * (space + 3 * time + 7 * category)) % 8])


def _kinked(space: float, time: float, category: float) -> float:
    return min(space, 3) + max(time - 2, 0) + math.sqrt(category)


ew.register_distance("hostile", _hostile)
ew.register_distance("kinked", _kinked)

DISTANCES: dict[str, dict[str, Any]] = {
    "weights": {"weights": {"space": 3, "time": 0.25, "category": 0}},
    "sum": {"combine": "sum"},
    "largest": {"combine": "largest", "weights": {"time": 2}},
    "registered": {"combine": "kinked"},
    "hostile": {"combine": "hostile"},
    "travel time": {"space": "travel-time", "kmh": 20},
    "travel time, summed": {"space": "travel-time", "combine": "sum"},
}


def _town(folder: Path, distance: dict[str, Any]) -> World:
    """Four places round a one-way street, one of them a shop and a café, and one that is anywhere."""
    folder.mkdir(exist_ok=True)
    rows = ["from_id,to_id,minutes"]
    rows += [f"p{i},p{(i + k) % 3},{k * 230}" for i in range(3) for k in (1, 2)]
    (folder / "travel.csv").write_text("\n".join([*rows, "p3,p3,1"]) + "\n")
    places = [
        place("p0", 50.0, 10, "shoes;cafe", hours="24/7"),
        place("p1", 50.2, 10, "bar", hours="08:00-24:00"),
        place("p2", 50.4, 10, "boots", hours="00:00-16:00"),
        place("p3", 51, 11, "cafe", hours="24/7", is_anywhere=True),
    ]
    travel = {"kind": "matrix", "file": str(folder / "travel.csv")}
    clock = {"timestep_minutes": 480, "interval_minutes": 480}
    return build(folder, places, {"kappa": 1, "grid": 2, **clock, "travel": travel, "distance": distance})


@pytest.mark.parametrize("name", [name for name in METHODS if name not in null_names()])
@pytest.mark.parametrize("distance", DISTANCES)
def test_no_distance_breaks_the_claim(tmp_path: Path, name: str, distance: str) -> None:
    """T1, T5: the exact channel of every method spends no more than ε."""
    method = ew.method(name, _town(tmp_path, DISTANCES[distance]), epsilon=2, **plain_options(name))
    visits = 1 if name == "global-subsampled" else 2  # it takes long to list
    assert float(exact_loss(method, visits).epsilon) <= 2 + 1e-12


@pytest.mark.parametrize("distance", [name for name in DISTANCES if name != "hostile"])
def test_distances_make_a_difference(tmp_path: Path, distance: str) -> None:
    """The audit is not too kind: what is far by the world's own distance is told apart."""
    method = ew.method("ind-noreach", _town(tmp_path, DISTANCES[distance]), epsilon=2)
    assert float(exact_loss(method, 1).epsilon) >= 0.8


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=4, max_size=4))
@examples(max_examples=15)
def test_no_function_breaks_the_claim(tmp_path: Path, values: list[float]) -> None:
    """T5: NaN, infinities, negative numbers, in any order."""
    table = np.array(values)

    def function(space: float, time: float, category: float) -> float:
        return float(table[int(space + time + category) % 4])

    ew.register_distance("any", function)
    world = _town(tmp_path, {"combine": "any"})
    for name in ("ngram", "ind-noreach"):
        method = ew.method(name, world, epsilon=3)
        assert float(exact_loss(method, 1).epsilon) <= 3 + 1e-12
