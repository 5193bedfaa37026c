"""The folder of results: a table for each question, the population, a summary."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.population import Population
from elsewhere.files import make_folder, write_text
from elsewhere.inputs.tables import write_csv, write_parquet
from elsewhere.survey.file import survey_hash

_DECIMALS = 9


def write_results(found: Estimates, folder: Path) -> dict[str, Any]:
    """Write all tables; returns the summary."""
    make_folder(folder)
    for one in found.questions:
        if one.table is not None:
            frame = one.frame().with_columns(pl.col(pl.Float64).round(_DECIMALS))
            write_csv(folder / f"{one.name}.csv", frame)
            write_parquet(folder / f"{one.name}.parquet", frame)
    write_parquet(folder / "population.parquet", population_frame(found.population))
    write_csv(folder / "chains.csv", chains_frame(found.population))
    summary = summary_of(found)
    write_text(folder / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    return summary


def summary_of(found: Estimates) -> dict[str, Any]:
    """What was asked, how many answered, and how the population differs from the prior."""
    terms = found.survey.terms
    return {
        "survey": survey_hash(found.survey),
        "world": found.survey.world.hash,
        "epsilon": str(terms.epsilon),
        "reports": found.reports,
        "left_out": found.left_out,
        "tau": found.tau,
        "is_prior": not found.tau,
        "questions": [
            {"name": one.name, "reports": one.reports, "is_published": one.table is not None}
            for one in found.questions
        ],
        "visits_by_hour": np.round(found.population.hours(), _DECIMALS).tolist(),
        "visits_by_hour_of_the_prior": np.round(found.prior.hours(), _DECIMALS).tolist(),
        "visits_a_day": float(found.population.days.lengths @ found.population.weights),
    }


def population_frame(population: Population) -> pl.DataFrame:
    """Visits as in any file of trajectories, and the weight of each day."""
    world, days = population.world, population.days
    numbers = np.repeat(np.arange(len(days.lengths)), days.lengths)
    is_there = days.places >= 0
    places, times = days.places[is_there], days.times[is_there]
    midnight = dt.datetime.combine(world.clock.date, dt.time())
    step = dt.timedelta(minutes=world.clock.timestep_minutes)
    labels = [(midnight + at * step).isoformat() for at in range(world.clock.timesteps)]
    owners = [f"p{number}" for number in numbers.tolist()]
    return pl.DataFrame(
        {
            "uid": owners,
            "tid": owners,
            "datetime": [labels[time] for time in times.tolist()],
            "lat": world.places.latitudes[places],
            "lng": world.places.longitudes[places],
            "place_id": [world.places.ids[place] for place in places.tolist()],
            "weight": population.weights[numbers],
        }
    )


def chains_frame(population: Population) -> pl.DataFrame:
    """Popular chains of two and of three kinds of place."""
    rows = [
        (len(chain), " → ".join(chain), round(share, _DECIMALS))
        for visits in (2, 3)
        for chain, share in population.chains(visits)
    ]
    return pl.DataFrame(
        rows, schema={"visits": pl.Int64, "chain": pl.String, "share": pl.Float64}, orient="row"
    )
