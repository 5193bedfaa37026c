"""Random worlds small enough to list everything: at most 8 places, 6 timesteps, of many odd kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.knowledge.places import Place
from elsewhere.world.world import World
from worlds import TREE, build, place

# Timesteps of four hours: six a day.
_CLOCKS = [(240, 240), (240, 480), (360, 360), (480, 480)]
_HOURS = ["", "24/7", "00:00-12:00", "12:00-24:00", "09:00-17:00", "off", "Mo 10:00-12:00", "20:00-28:00"]
KINDS = ("any", "duplicates", "isolated", "all alike", "always open")  # and "gappy": nobody open for hours


_MADE: dict[tuple[int, int], World] = {}


def tiny_world(folder: Path, seed: int, most: int = 8) -> World:
    """World number ``seed``, with at most so many places; its kind goes round with the seed. Made once."""
    if (seed, most) not in _MADE:
        _MADE[seed, most] = _tiny_world(folder, seed, most)
    return _MADE[seed, most]


def _tiny_world(folder: Path, seed: int, most: int) -> World:
    generator = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)] if seed % 10 != 5 else "gappy"
    count = min(most, int(generator.integers(1, 9)))
    rows = [_place(generator, number, kind) for number in range(count)]
    timestep, interval = _CLOCKS[int(generator.integers(len(_CLOCKS)))]
    keys: dict[str, Any] = {
        "timestep_minutes": timestep,
        "interval_minutes": interval,
        "speed_kmh": float(generator.choice([0.5, 2, 8, 1000])),
        "kappa": 2 if kind == "always open" and count > 3 else 1,
        "grid": int(generator.integers(1, 5)),
        "category_levels": int(generator.integers(1, 4)),
        "circular_time": bool(generator.integers(2)),
    }
    return build(folder / f"world-{seed}-{most}", rows, keys)


def _place(generator: np.random.Generator, number: int, kind: str) -> Place:
    spread = {"duplicates": 1, "all alike": 0}.get(kind, 6)
    latitude = 50 + 0.02 * float(generator.integers(0, spread + 1))
    if kind == "isolated" and number == 0:
        latitude += 20  # nobody gets there within a day
    hours = "24/7" if kind in {"all alike", "always open"} or number == 0 else str(generator.choice(_HOURS))
    if kind == "gappy":
        hours = "09:00-17:00" if number == 0 else str(generator.choice(["00:00-08:00", "off", "09:00-17:00"]))
    category = "cafe" if kind == "all alike" else str(generator.choice(list(TREE.ids)))
    return Place(
        place_id=f"p{number}",
        name=f"Place {number}",
        latitude=latitude,
        longitude=10 + 0.03 * float(generator.integers(0, spread + 1)),
        category_ids=_categories(category, number, kind),
        hours=hours,
        is_anywhere=kind == "any" and bool(generator.integers(10) == 0),
    )


def _categories(category: str, number: int, kind: str) -> tuple[str, ...]:
    """Every third place has another category: before the one in the order of ids, or after it."""
    other = TREE.ids[(TREE.ids.index(category) + 3) % len(TREE.ids)]
    return (category, other) if number % 3 == 2 and kind != "all alike" else (category,)


def far_apart(folder: Path) -> World:
    """So many places out of each other's reach that guessing hardly ever finds three in a row."""
    places = [place(f"p{i:02d}", -60 + 3 * i, 10, hours="24/7") for i in range(40)]
    return build(folder, places, {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480})


def closed_at_noon(folder: Path) -> World:
    """Nobody is open in the second of three timesteps; two of three places can be reached from each other."""
    hours = ["00:00-08:00", "16:00-24:00", "00:00-08:00,16:00-24:00"]
    places = [place(f"p{i}", 50 + (30 if i == 2 else 0.01 * i), 10, hours=h) for i, h in enumerate(hours)]
    return build(folder, places, {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480})


def past_midnight(folder: Path) -> World:
    """Bars that close after midnight, in regions from 16:00 to 08:00, and a café that is one of its own."""
    rows = [
        place("bar", 50, 10, "wine-bar", hours="20:00-24:00"),
        place("club", 50.02, 10, "beer-bar;shoes", hours="00:00-04:00"),
        place("cafe", 50.04, 10, "cafe", hours="24/7"),
        place("web", 50.5, 10.5, "cafe", hours="24/7", is_anywhere=True),
    ]
    keys = {"kappa": 2, "timestep_minutes": 480, "interval_minutes": 480, "merge_order": ["time", "category"]}
    return build(folder, rows, keys)


def one_way(folder: Path) -> World:
    """Four places round a one-way street that takes all day to go round; some are closed early."""
    folder.mkdir(exist_ok=True)
    rows = ["from_id,to_id,minutes"]
    rows += [f"p{i},p{(i + k) % 4},{k * 230}" for i in range(4) for k in (1, 2, 3)]
    (folder / "travel.csv").write_text("\n".join(rows) + "\n")
    hours = ["24/7", "04:00-24:00", "00:00-12:00", "12:00-24:00"]
    places = [place(f"p{i}", 50 + 0.2 * i, 10, hours=h) for i, h in enumerate(hours)]
    travel = {"kind": "matrix", "file": str(folder / "travel.csv")}
    keys = {"kappa": 1, "timestep_minutes": 240, "interval_minutes": 240, "travel": travel}
    return build(folder, places, keys)
