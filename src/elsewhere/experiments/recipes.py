"""Every table and figure as data: the cells it is made of, each one method on one data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from elsewhere.experiments.cells import (
    DATASETS,
    SMALL,
    VARIED,
    Cell,
    PopulationCell,
    Setting,
    Size,
    setting_of,
)
from elsewhere.experiments.further import FURTHER, FurtherCell
from elsewhere.experiments.population_recipes import (
    coverage_cells,
    population_cells,
    population_curves,
    round_cells,
    survey_hours,
)
from elsewhere.experiments.tilted import TILTED
from elsewhere.methods.registry import METHODS, methods_with, null_names

COMPARED = tuple(name for name, entry in METHODS.items() if not (entry.is_null or entry.is_for_small_worlds))
"""Methods that stand in tables and figures; nulls are beside them."""
_LEFT_OUT_WHERE_SMALL = frozenset({"physdist", "ind-noreach"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A table or figure: its cells, and what varies along it."""

    name: str
    title: str
    varies: str
    """"", or what the x-axis is: visits, epsilon, places, speed, n, merging, people."""
    cells: tuple[Cell | PopulationCell | FurtherCell, ...] = field(repr=False)


def _days(size: Size) -> int:
    return 400 if size == "small" else 5000


def _methods(cell: Cell, methods: Iterable[str] = COMPARED) -> list[Cell]:
    """A cell for each method, for the paper's terms beside its own, and for the nulls."""
    cells = [replace(cell, method=name) for name in methods]
    if "ngram" in methods:
        cells.append(replace(cell, method=TILTED))
    return cells + [replace(cell, method=name, options=()) for name in null_names()]


def _default(dataset: str, size: Size) -> Cell:
    return Cell(setting=setting_of(dataset, size), method="ngram", days=_days(size))


def baseline(size: Size) -> tuple[Cell, ...]:
    """All methods under the paper's default settings, on all data sets."""
    return tuple(cell for dataset in DATASETS for cell in _with_variants(_methods(_default(dataset, size))))


def _with_variants(cells: list[Cell]) -> list[Cell]:
    """Beside each method its other settings that are worth a row, such as `codebook` with a public length."""
    found = []
    for cell in cells:
        found.append(cell)
        variants = METHODS[cell.method].variants if cell.method in METHODS else {}
        found += [replace(cell, options=tuple(options.items())) for options in variants.values()]
    return found


def variations(size: Size) -> dict[str, tuple[Cell, ...]]:
    """What the paper varies: visits, ε, places, speed on the large data sets, n on the campus.

    Paper: section 7.2 (ss:param-variation).
    Deviation: varied-settings — values of ε, |τ|, |P| and δ are in figures, not in the paper's text.
    """
    small = size == "small"
    found: dict[str, list[Cell]] = {name: [] for name in ("visits", "epsilon", "places", "speed", "n")}
    some = [name for name in COMPARED if not (small and name in _LEFT_OUT_WHERE_SMALL)]
    for dataset in VARIED:
        cell = _default(dataset, size)
        if small:
            cell = replace(cell, days=200)
        for length in (3, 5, 8) if small else range(3, 9):
            found["visits"] += _with_variants(_methods(replace(cell, length=length), some))
        for epsilon in (0.5, 5, 10) if small else (0.1, 0.5, 1, 2, 5, 10):
            found["epsilon"] += _with_variants(_methods(replace(cell, epsilon=epsilon), some))
        for places in (200, 400, 800) if small else (1000, 2000, 4000, 8000):
            found["places"] += _methods(replace(cell, setting=replace(cell.setting, places=places)), some)
        for speed in (4.0, 8.0, float("inf")) if small else (4.0, 8.0, 12.0, 16.0, float("inf")):
            found["speed"] += _methods(replace(cell, setting=replace(cell.setting, speed_kmh=speed)), some)
    for dataset in SMALL:
        cell = replace(_default(dataset, size), days=200 if small else 5000)
        for n in (1, 2, 3):
            found["n"] += _methods(replace(cell, options=(("n", n),)), methods_with("n"))
        found["n"] += [replace(cell, method=name) for name, entry in METHODS.items() if entry.is_ours]
    return {name: tuple(dict.fromkeys(cells)) for name, cells in found.items()}


_MERGING: tuple[dict[str, Any], ...] = (
    {},
    {"merge_order": ("time", "space", "category")},
    {"merge_order": ("category", "space", "time")},
    {"merge_order": ("time", "category", "space")},
    {"kappa": 1},
    {"kappa": 30},
    {"grid": 8},
    {"grid": 2},
)


def merging(size: Size) -> tuple[Cell, ...]:
    """Other orders of merging, other κ, other grids: `ngram` and what its regions do to it."""
    cells = []
    for dataset in DATASETS:
        cell = _default(dataset, size)
        cells += [replace(cell, setting=replace(cell.setting, **change)) for change in _MERGING]
    return tuple(cells)


def further(size: Size) -> tuple[FurtherCell, ...]:
    """The paper's further work and what is ours, on every data set."""
    days = 60 if size == "small" else 1000
    return tuple(
        FurtherCell(setting=setting_of(dataset, size), what=what, days=days)
        for dataset in DATASETS
        for what in FURTHER
    )


def preprocessing(size: Size) -> tuple[Setting, ...]:
    """Worlds whose making is timed: by number of places, and by speed."""
    sizes = (200, 400, 800) if size == "small" else (1000, 2000, 4000, 8000)
    speeds = (4.0, 8.0, 12.0, 16.0, float("inf"))
    found = []
    for dataset in VARIED:
        base = setting_of(dataset, size)
        found += [replace(base, places=places) for places in sizes]
        found += [replace(base, speed_kmh=speed) for speed in speeds]
    return tuple(dict.fromkeys(found))


def recipes(size: Size) -> dict[str, Recipe]:
    """Everything that `elsewhere experiment` can make, by name."""
    default, varied = baseline(size), variations(size)
    everything = tuple(dict.fromkeys(cell for cells in varied.values() for cell in cells))
    found = [
        Recipe(name="table-error", title="Mean normalised error (Table 2)", varies="", cells=default),
        Recipe(name="table-runtime", title="Runtime by stage (Table 3)", varies="", cells=default),
        Recipe(name="table-hotspots", title="Hotspots (Table 4)", varies="", cells=default),
        Recipe(name="fig-ranges", title="Preservation range queries", varies="", cells=default),
        Recipe(name="fig-hours", title="Visits by hour", varies="", cells=default),
        Recipe(name="fig-error", title="Error as settings vary", varies="all", cells=everything),
        Recipe(name="fig-runtime", title="Runtime as settings vary", varies="all", cells=everything),
        Recipe(name="fig-preprocessing", title="Making a world", varies="preprocessing", cells=()),
        Recipe(name="table-merging", title="Merging", varies="merging", cells=merging(size)),
        Recipe(name="table-further", title="Beyond the paper's tables", varies="", cells=further(size)),
        Recipe(
            name="table-population",
            title="What many people say together",
            varies="",
            cells=population_cells(size),
        ),
        Recipe(
            name="fig-population",
            title="What many people say together, as people and ε vary",
            varies="people",
            cells=population_curves(size),
        ),
        Recipe(
            name="table-coverage",
            title="How often intervals hold the truth",
            varies="",
            cells=coverage_cells(size),
        ),
        Recipe(name="table-rounds", title="What a second round gains", varies="", cells=round_cells(size)),
        Recipe(
            name="fig-survey-hours",
            title="Hours that an analyst sees",
            varies="",
            cells=survey_hours(size),
        ),
    ]
    return {recipe.name: recipe for recipe in found}
