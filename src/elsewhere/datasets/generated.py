"""A made-up city of any size: for experiments where the real data may not be had."""

from __future__ import annotations

import numpy as np

from elsewhere.datasets.bundle import Dataset, made_up_people
from elsewhere.days.recipes import Habits
from elsewhere.knowledge.categories import build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import seeded_generator

_ROOT_HOURS = (
    "07:00-24:00",
    "08:00-22:00",
    "07:00-20:00",
    "10:00-24:00",
    "16:00-28:00",
    "06:00-23:00",
    "24/7",
)
_MIDDLES, _LEAVES = 6, 4
_SPREAD_DEGREES = {"foursquare": 0.06, "safegraph": 0.05}


def generated_city(
    like: str, *, limit: int, people: int, seed: int = 1, progress: Progress = no_progress
) -> Dataset:
    """Places around a centre, a three-level tree, popularity with a long tail; days by the paper's recipe."""
    generator = seeded_generator(seed)
    rows: list[tuple[str, str, str, str]] = []
    leaves = []
    for r, hours in enumerate(_ROOT_HOURS):
        rows.append((f"r{r}", f"Root {r}", "", hours))
        for m in range(_MIDDLES):
            rows.append((f"r{r}m{m}", f"Group {r}.{m}", f"r{r}", ""))
            for leaf in range(_LEAVES):
                leaves.append(f"r{r}m{m}l{leaf}")
                rows.append((leaves[-1], f"Kind {r}.{m}.{leaf}", f"r{r}m{m}", ""))
    ids, names, parents, hours_of = zip(*rows, strict=True)
    spread = _SPREAD_DEGREES.get(like, 0.05)
    spots = generator.normal((40.73, -73.97), (spread, spread), size=(limit, 2))
    kinds = generator.integers(len(leaves), size=limit)
    by_hour = 1 + np.exp(-((np.arange(24)[None, :] - generator.uniform(9, 20, size=(limit, 1))) ** 2) / 18)
    weights = (1 / np.arange(1, limit + 1) ** 0.7)[:, None] * by_hour
    places = [
        Place(
            place_id=f"g{i:05d}",
            name=f"Place {i}",
            latitude=round(float(lat), 6),
            longitude=round(float(lng), 6),
            category_ids=(leaves[kinds[i]],),
            popularity=tuple(float(f"{value:.6g}") for value in weights[i]),
        )
        for i, (lat, lng) in enumerate(spots)
    ]
    dataset = Dataset(
        title=f"generated, in the shape of {like}",
        what="Made up: places around a centre, days by the recipe of section 6.1.2. Nothing of it is real.",
        terms="free",
        places=places,
        tree=build_tree(ids, names, parents, hours_of),
        days=[],
        clock=Clock(timezone="America/New_York"),
        settings={"speed_kmh": 8},
    )
    dwell = np.tile([1, 4, 5, 8, 5, 3, 1], (limit, 1)).astype(np.float64)
    dataset.days = made_up_people(dataset, Habits(dwell=dwell), people, seed=seed, progress=progress)
    return dataset
