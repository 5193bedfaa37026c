"""Cells of the tables and figures about what many people say together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace

from elsewhere.datasets.commuters import COMMUTER_CITIES
from elsewhere.experiments.cells import (
    ANYWHERE,
    CODEBOOK,
    NEIGHBOURS,
    ONE_QUESTION,
    POPULARITY,
    PRIOR,
    SECOND_ROUND,
    SIX_QUESTIONS,
    AllDays,
    PopulationCell,
    Size,
    setting_of,
)
from elsewhere.experiments.cells import DATASETS as ALL_DATASETS

# Surveys ask people, not drivers about their fares.
DATASETS = tuple(name for name in ALL_DATASETS if not name.startswith("taxi"))

# All that half of the people of Foursquare's New York know: with fewer, few days keep three visits.
_ALL_PLACES = 4000
_COUNTED_DAYS = 3000


def _population_cell(dataset: str, size: Size) -> PopulationCell:
    usual = asdict(setting_of(dataset, size))
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


def round_cells(size: Size) -> tuple[PopulationCell, ...]:
    """Two rounds of so many people each, beside one round of as many and of twice as many."""
    sizes, runs = ((500,), 1) if size == "small" else ((1000, 10_000), 5)
    return tuple(
        replace(_population_cell(dataset, size), method=method, epsilon=5.0, people=factor * people, run=run)
        for people in sizes
        for dataset in DATASETS
        for method, factor in ((ONE_QUESTION, 1), (SECOND_ROUND, 1), (ONE_QUESTION, 2))
        for run in range(runs)
    )


def coverage_cells(size: Size) -> tuple[PopulationCell, ...]:
    """One question at ε = 5, so often that one can say how often intervals hold the truth."""
    sizes, runs = ((1000,), 2) if size == "small" else ((10_000, 100_000), 200)
    return tuple(
        replace(_population_cell(dataset, size), method=ONE_QUESTION, epsilon=5.0, people=people, run=run)
        for people in sizes
        for dataset in DATASETS
        for run in range(runs)
    )
