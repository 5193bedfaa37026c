"""Many days together: how close what each method says of a city is to what is so, and what it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.experiments.cells import (
    ANYWHERE,
    CODEBOOK,
    NEIGHBOURS,
    ONE_QUESTION,
    POPULARITY,
    PRIOR,
    PopulationCell,
)
from elsewhere.experiments.population import Pool, measures_of, population_result, seed_of_people
from elsewhere.knowledge.sphere import plane_km
from elsewhere.randomness import seeded_generator
from peer_opendp import collected_shares
from peer_privtrace import walks_like_privtrace

Row = dict[str, Any]
Measures = dict[str, dict[str, float]]

LIKE_PRIVTRACE = "like PrivTrace"
COLLECTED = "OpenDP, counts of a collector"
TRUE_CELLS = "true cells, hours of the prior"
"""As good as a method can be that knows nothing of hours."""
_PROMISES = {
    ONE_QUESTION: "ε-LDP",
    CODEBOOK: "ε-LDP",
    NEIGHBOURS: "ε-LDP, length public",
    ANYWHERE: "ε-LDP, length public",
    LIKE_PRIVTRACE: "central: the collector sees all",
    COLLECTED: "central: the collector sees all",
    TRUE_CELLS: "none: a limit",
    PRIOR: "nothing is asked",
    POPULARITY: "nothing is asked",
}


def rows_of_many_days(
    pool: Pool, cell: PopulationCell, people: Sequence[int], runs: int, tell: Callable[[str], None]
) -> list[Row]:
    """Every way to know a population, for the same people; means over runs."""
    _warm(pool, cell)
    found = [
        _row(pool, [replace(cell, method=null, epsilon=0.0, people=0)], tell)
        for null in (PRIOR, POPULARITY, TRUE_CELLS)
    ]
    for count in people:
        for method in (ONE_QUESTION, NEIGHBOURS, ANYWHERE, CODEBOOK, LIKE_PRIVTRACE, COLLECTED):
            # Days cost far more than the rest, and differ little from run to run.
            mine = 1 if method == CODEBOOK else runs
            cells = [replace(cell, method=method, people=count, run=run) for run in range(mine)]
            found.append(_row(pool, cells, tell))
    return found


def _warm(pool: Pool, cell: PopulationCell) -> None:
    """What is public and what is so is worked out once, and loops are loaded."""
    measures_of(pool, pool.prior)
    for method in (ONE_QUESTION, NEIGHBOURS, CODEBOOK):
        _measures(pool, replace(cell, method=method, people=100))


def _row(pool: Pool, cells: Sequence[PopulationCell], tell: Callable[[str], None]) -> Row:
    first = cells[0]
    tell(f"{first.method}, {first.people:,} people")
    started = time.process_time()
    measures = [_measures(pool, cell) for cell in cells]
    seconds = (time.process_time() - started) / len(cells)
    return {
        "name": first.method,
        "promise": _PROMISES[first.method],
        "people": first.people,
        "runs": len(cells),
        "js_cell_hour": _mean(measures, "presence", "js"),
        "busiest_cell_hours": _mean(measures, "presence", "top20"),
        "js_cell": _mean(measures, "density", "js"),
        "seconds": seconds,
    }


def _mean(measures: Sequence[Measures], of: str, name: str) -> float:
    return float(np.mean([one[of][name] for one in measures]))


def _measures(pool: Pool, cell: PopulationCell) -> Measures:
    if cell.method == LIKE_PRIVTRACE:
        return measures_of(pool, {"presence": _walked_like_privtrace(pool, cell)})
    if cell.method == COLLECTED:
        return measures_of(pool, {"presence": _collected(pool, cell)})
    if cell.method == TRUE_CELLS:
        by_cell = pool.truth["presence"].reshape(pool.presence.groups.count, -1).sum(axis=1)
        return measures_of(pool, {"presence": pool.by_hours_of_prior(by_cell)})
    measures: Measures = population_result(cell, pool)["measures"]
    return measures


def _walked_like_privtrace(pool: Pool, cell: PopulationCell) -> Floats:
    """Made-up walks have no hours, so each cell gets those of the prior, as for LDPTrace."""
    generator = seeded_generator(seed_of_people(cell))
    walks = pool.days.places[pool.people(cell.people, generator)]
    places = pool.world.places
    positions = plane_km(places.latitudes, places.longitudes)
    made_up = walks_like_privtrace(positions, places.popularity.sum(axis=1), walks, cell.epsilon, generator)
    groups = pool.presence.groups
    cells = groups.of_places(made_up)
    visits = np.bincount(cells[cells >= 0], minlength=groups.count) / len(made_up)
    return pool.by_hours_of_prior(visits)


def _collected(pool: Pool, cell: PopulationCell) -> Floats:
    """Counts of the very things that the survey asks about, of as many in a day as it keeps."""
    who = pool.people(cell.people, seeded_generator(seed_of_people(cell)))
    survey = pool.survey([(Fraction(1), "presence", {"grid": 4, "hours": 1})], cell.epsilon)
    kept = survey.questions[0].channel.kept
    things = pool.presence.of(pool.days)[who]
    return collected_shares(things, pool.presence.count, kept, cell.epsilon)
