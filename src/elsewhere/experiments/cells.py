"""What is measured, as data: a method on the days of one data set, or one way to know a population."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from elsewhere.datasets.commuters import COMMUTER_CITIES
from elsewhere.datasets.registry import SOURCES
from elsewhere.methods.registry import METHODS

Size = Literal["small", "paper"]

_IN_EXPERIMENTS = {name: entry for name, entry in SOURCES.items() if entry.speed_kmh is not None}
LARGE = tuple(
    name for name, entry in _IN_EXPERIMENTS.items() if any(one.name == "limit" for one in entry.options)
)
"""Data sets with as many places as one asks for."""
SMALL = tuple(name for name in _IN_EXPERIMENTS if name not in LARGE)
DATASETS = LARGE + SMALL
VARIED = tuple(name for name in LARGE if any(one.name == "people" for one in _IN_EXPERIMENTS[name].options))
"""Large ones with as many days as one asks for: curves need thousands, and lengths that are not rare."""

ONE_QUESTION, SIX_QUESTIONS, CODEBOOK = "survey", "survey, six questions", "codebook, counted"
SECOND_ROUND = "survey, second round"
PRIOR, POPULARITY = "prior", "popularity"
NEIGHBOURS, ANYWHERE = "like LDPTrace", "like LDPTrace, any move"
POPULATION_METHODS = (
    ONE_QUESTION, SIX_QUESTIONS, SECOND_ROUND, CODEBOOK, PRIOR, POPULARITY, NEIGHBOURS, ANYWHERE,
)  # fmt: skip


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


def setting_of(dataset: str, size: Size) -> Setting:
    """A data set with the paper's settings."""
    limit = {"small": 400, "paper": 2000}[size]
    entry = COMMUTER_CITIES.get(dataset) or SOURCES[dataset]
    return Setting(
        dataset=dataset,
        places=limit if dataset in LARGE or dataset in COMMUTER_CITIES else None,
        speed_kmh=entry.speed_kmh or 8.0,
    )
