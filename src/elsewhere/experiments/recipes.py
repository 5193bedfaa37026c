"""Every table and figure as data: the cells it is made of, each one method on one data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from elsewhere.datasets.commuters import COMMUTER_CITIES
from elsewhere.datasets.registry import SOURCES
from elsewhere.experiments.tilted import TILTED
from elsewhere.methods.registry import METHODS, methods_with, null_names

Size = Literal["small", "paper"]

_IN_EXPERIMENTS = {name: entry for name, entry in SOURCES.items() if entry.speed_kmh is not None}
LARGE = tuple(
    name for name, entry in _IN_EXPERIMENTS.items() if any(one.name == "limit" for one in entry.options)
)
"""Data sets with as many places as one asks for."""
SMALL = tuple(name for name in _IN_EXPERIMENTS if name not in LARGE)
DATASETS = LARGE + SMALL
COMPARED = tuple(name for name, entry in METHODS.items() if not (entry.is_null or entry.is_for_small_worlds))
"""Methods that stand in tables and figures; nulls are beside them."""
_LEFT_OUT_WHERE_SMALL = frozenset({"physdist", "ind-noreach"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a world is built with; None: as many places as there are."""

    dataset: str
    places: int | None
    speed_kmh: float
    kappa: float = 10
    grid: int = 4
    merge_order: tuple[str, ...] = ("space", "time", "category")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllDays(Setting):
    """With days that are not feasible in the world as well: people answer a survey whatever they did."""

    all_days: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationCell:
    """One measurement of what many people say together."""

    setting: AllDays
    method: str
    """One of `POPULATION_METHODS`."""
    epsilon: float = 5.0
    """0 for nulls."""
    people: int = 0
    """Drawn with replacement from the real days; 0 for nulls."""
    run: int = 0
    support: int = 32768
    """Public days that a population is made of."""

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return self.method

    def key(self) -> dict[str, Any]:
        """All that it depends on, as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One measurement: a method on the days of a setting."""

    setting: Setting
    method: str
    epsilon: float = 5.0
    options: tuple[tuple[str, Any], ...] = ()
    length: int | None = None
    """Only days of so many visits."""
    days: int = 5000
    """At most so many of them, a fixed sample."""

    @property
    def label(self) -> str:
        """What it is called in tables."""
        for label, options in METHODS[self.method].variants.items() if self.method in METHODS else ():
            if set(options.items()) <= set(self.options):
                return label
        return self.method

    def key(self) -> dict[str, Any]:
        """All that it depends on, as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A table or figure: its cells, and what varies along it."""

    name: str
    title: str
    varies: str
    """"", or what the x-axis is: visits, epsilon, places, speed, n, merging, people."""
    cells: tuple[Cell | PopulationCell, ...] = field(repr=False)


def _days(size: Size) -> int:
    return 400 if size == "small" else 5000


def _setting(dataset: str, size: Size) -> Setting:
    limit = {"small": 400, "paper": 2000}[size]
    entry = COMMUTER_CITIES.get(dataset) or SOURCES[dataset]
    return Setting(
        dataset=dataset,
        places=limit if dataset in LARGE or dataset in COMMUTER_CITIES else None,
        speed_kmh=entry.speed_kmh or 8.0,
    )


def _methods(cell: Cell, methods: Iterable[str] = COMPARED, most_weighed: int = 500) -> list[Cell]:
    """A cell for each method, for the paper's terms beside its own, and for the nulls."""
    cells = [replace(cell, method=name) for name in methods]
    if "ngram" in methods:
        # With sensitivity=1 every window is weighed whole, which takes long: fewer days will do for curves.
        some = min(cell.days, most_weighed)
        cells.append(replace(cell, method=TILTED, days=some))
    return cells + [replace(cell, method=name, options=()) for name in null_names()]


def _default(dataset: str, size: Size) -> Cell:
    return Cell(setting=_setting(dataset, size), method="ngram", days=_days(size))


def baseline(size: Size) -> tuple[Cell, ...]:
    """All methods under the paper's default settings, on all data sets."""
    return tuple(
        cell
        for dataset in DATASETS
        for cell in _with_variants(_methods(_default(dataset, size), most_weighed=5000))
    )


def _with_variants(cells: list[Cell]) -> list[Cell]:
    """Beside each method its other settings that are worth a row, such as `codebook` with a public length."""
    found = []
    for cell in cells:
        found.append(cell)
        variants = METHODS[cell.method].variants if cell.method in METHODS else {}
        found += [replace(cell, options=tuple(options.items())) for options in variants.values()]
    return found


def variations(size: Size) -> dict[str, tuple[Cell, ...]]:
    """What the paper varies: visits, ε, places, speed on the two large data sets, n on the campus."""
    small = size == "small"
    found: dict[str, list[Cell]] = {name: [] for name in ("visits", "epsilon", "places", "speed", "n")}
    some = [name for name in COMPARED if not (small and name in _LEFT_OUT_WHERE_SMALL)]
    for dataset in LARGE:
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


def preprocessing(size: Size) -> tuple[Setting, ...]:
    """Worlds whose making is timed: by number of places, and by speed."""
    sizes = (200, 400, 800) if size == "small" else (1000, 2000, 4000, 8000)
    speeds = (4.0, 8.0, 12.0, 16.0, float("inf"))
    found = []
    for dataset in LARGE:
        base = _setting(dataset, size)
        found += [replace(base, places=places) for places in sizes]
        found += [replace(base, speed_kmh=speed) for speed in speeds]
    return tuple(dict.fromkeys(found))


ONE_QUESTION, SIX_QUESTIONS, CODEBOOK = "survey", "survey, six questions", "codebook, counted"
PRIOR, POPULARITY = "prior", "popularity"
NEIGHBOURS, ANYWHERE = "like LDPTrace", "like LDPTrace, any move"
POPULATION_METHODS = (ONE_QUESTION, SIX_QUESTIONS, CODEBOOK, PRIOR, POPULARITY, NEIGHBOURS, ANYWHERE)
# All that half of the people of Foursquare's New York know: with fewer, few days keep three visits.
_ALL_PLACES = 4000
_COUNTED_DAYS = 3000


def _population_cell(dataset: str, size: Size) -> PopulationCell:
    usual = asdict(_setting(dataset, size))
    if dataset == "foursquare" and size == "paper":
        usual["places"] = _ALL_PLACES
    support = 4096 if size == "small" else 32768
    return PopulationCell(setting=AllDays(**usual), method=PRIOR, epsilon=0.0, support=support)


def _beside(cell: PopulationCell, epsilons: Iterable[float], size: Size) -> list[PopulationCell]:
    """Nulls, which neither people nor ε make better, and shared days counted plainly."""
    counted = 200 if size == "small" else _COUNTED_DAYS
    return [
        cell,
        replace(cell, method=POPULARITY),
        *(replace(cell, method=CODEBOOK, epsilon=epsilon, people=counted) for epsilon in epsilons),
    ]


def population_cells(size: Size) -> tuple[PopulationCell, ...]:
    """All ways to know a population at ε = 5, by the number of people; several runs each."""
    found = []
    sizes, runs = ((1000,), 1) if size == "small" else ((10_000, 100_000, 1000), 3)
    for dataset in DATASETS:
        cell = _population_cell(dataset, size)
        found += _beside(cell, (5.0,), size)
        found += [
            replace(cell, method=method, epsilon=5.0, people=people, run=run)
            for people in sizes
            for method in (ONE_QUESTION, NEIGHBOURS, ANYWHERE, SIX_QUESTIONS)
            for run in range(runs)
        ]
    return tuple(found)


def population_curves(size: Size) -> tuple[PopulationCell, ...]:
    """One question, and the baseline, as people and ε vary; one run each."""
    found = []
    small = size == "small"
    epsilons = (1.0, 5.0) if small else (1.0, 2.0, 5.0)
    for dataset in DATASETS:
        cell = _population_cell(dataset, size)
        found += _beside(cell, epsilons, size)
        found += [
            replace(cell, method=method, epsilon=epsilon, people=people)
            for people in ((500, 2000) if small else (1000, 10_000, 100_000, 1_000_000))
            for epsilon in epsilons
            for method in (ONE_QUESTION, NEIGHBOURS, ANYWHERE)
        ]
    return tuple(found)


def survey_hours(size: Size) -> tuple[PopulationCell, ...]:
    """One question, and shared days of the same people counted plainly, where days are not the prior's."""
    people = 1000 if size == "small" else 10_000
    return tuple(
        replace(_population_cell(dataset, size), method=method, epsilon=5.0, people=people)
        for dataset in (*COMMUTER_CITIES, "campus")
        for method in (CODEBOOK, ONE_QUESTION)
    )


def recipes(size: Size) -> dict[str, Recipe]:
    """Everything that `elsewhere experiment` can make, by name."""
    default, varied = baseline(size), variations(size)
    everything = tuple(dict.fromkeys(cell for cells in varied.values() for cell in cells))
    found = [
        Recipe(name="table-error", title="Mean normalised error (Table 1)", varies="", cells=default),
        Recipe(name="table-runtime", title="Runtime by stage (Table 2)", varies="", cells=default),
        Recipe(name="table-hotspots", title="Hotspots (Table 3)", varies="", cells=default),
        Recipe(name="fig-ranges", title="Preservation range queries", varies="", cells=default),
        Recipe(name="fig-hours", title="Visits by hour", varies="", cells=default),
        Recipe(name="fig-error", title="Error as settings vary", varies="all", cells=everything),
        Recipe(name="fig-runtime", title="Runtime as settings vary", varies="all", cells=everything),
        Recipe(name="fig-preprocessing", title="Making a world", varies="preprocessing", cells=()),
        Recipe(name="table-merging", title="Merging", varies="merging", cells=merging(size)),
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
            name="fig-survey-hours",
            title="Hours that an analyst sees",
            varies="",
            cells=survey_hours(size),
        ),
    ]
    return {recipe.name: recipe for recipe in found}
