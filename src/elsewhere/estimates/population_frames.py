"""What a population says, as tables: questions that nobody needs to have been asked.

All of it is read off made-up weighted days. It has no intervals: what matters should be asked.
"""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from elsewhere.arrays import Floats
from elsewhere.days.hotspots import THRESHOLDS, find_hotspots
from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.estimates.population import Population, population_of
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.things import GroupHours, Things
from elsewhere.world.world import World

MOST_FLOWS = 200
ETA_PEOPLE = 1000
"""So many people the thresholds η of hotspots are of: a cell with 20 of them is 2 % of a population."""
_DECIMALS = 9
_MILLION = 1_000_000
_BY_QUESTION: dict[str, tuple[str, dict[str, Any]]] = {
    "4 × 4 grid": ("presence", {"grid": 4}),
    "2 × 2 grid": ("presence", {"grid": 2}),
    "category level 1": ("kinds", {"level": 1}),
    "category level 2": ("kinds", {"level": 2}),
    "category level 3": ("kinds", {"level": 3}),
}
"""The questions that hotspots of each granularity are found in."""
_HOTSPOT_COLUMNS = {
    "granularity": pl.String, "category": pl.String, "south": pl.Float64, "west": pl.Float64,
    "north": pl.Float64, "east": pl.Float64, "start": pl.Int64, "end": pl.Int64, "peak_hour": pl.Int64,
    "peak_share": pl.Float64,
}  # fmt: skip


def population_frames(population: Population) -> dict[str, pl.DataFrame]:
    """Every table by its name; shares are people per person."""
    found = {
        "hotspots": hotspots_frame(population),
        "flows": flows_frame(population),
        "kinds": _shares_frame(population, "kinds"),
        "trips": _shares_frame(population, "trips"),
        "visits": _shares_frame(population, "visits"),
        "chains": chains_frame(population),
    }
    return {name: frame.with_columns(pl.col(pl.Float64).round(_DECIMALS)) for name, frame in found.items()}


def hotspots_frame(population: Population) -> pl.DataFrame:
    """Hours in a row in which a cell or a kind of place has more than η people; the largest first.

    Paper: section 6.3 (ss:utility), hotspot preservation; η as if its counts were of a thousand people.
    """
    rows: list[dict[str, Any]] = []
    levels = population.world.settings.category_levels
    for granularity, (kind, options) in _BY_QUESTION.items():
        if options.get("level", 1) <= levels:
            things = _things(population.world, kind, options)
            rows += _hotspots(granularity, things, population.shares(things))
    frame = pl.DataFrame(rows, schema=_HOTSPOT_COLUMNS)
    return frame.sort("peak_share", descending=True, maintain_order=True)


def _hotspots(granularity: str, things: Things, shares: Floats) -> list[dict[str, Any]]:
    if not isinstance(things, GroupHours):
        raise TypeError("hotspots are about groups of places by the hour")
    by_hour = shares.reshape(-1, things.blocks)
    # Hotspots are found in whole people: of a million.
    people = np.rint(by_hour * _MILLION).astype(np.int64)
    spots = find_hotspots(people, THRESHOLDS[granularity] * _MILLION // ETA_PEOPLE)
    found = []
    for where, start, end, _ in spots.tolist():
        peak = start + int(np.argmax(by_hour[where, start:end]))
        group = {name: values[where] for name, values in things.groups.columns.items()}
        hours = {"start": start, "end": end, "peak_hour": peak, "peak_share": float(by_hour[where, peak])}
        found.append({"granularity": granularity, **group, **hours})
    return found


def flows_frame(population: Population) -> pl.DataFrame:
    """From which cell of a 4 × 4 grid to which how many people go; the most popular ones first."""
    frame = _shares_frame(population, "moves", {"grid": 4})
    return frame.filter(pl.col("share") > 0).sort("share", descending=True, maintain_order=True)[:MOST_FLOWS]


def chains_frame(population: Population) -> pl.DataFrame:
    """Popular chains of two and of three kinds of place."""
    rows = [
        (len(chain), " → ".join(chain), share)
        for visits in (2, 3)
        for chain, share in population.chains(visits)
    ]
    return pl.DataFrame(
        rows, schema={"visits": pl.Int64, "chain": pl.String, "share": pl.Float64}, orient="row"
    )


def _shares_frame(population: Population, kind: str, options: dict[str, Any] | None = None) -> pl.DataFrame:
    """People per person with each thing of a question."""
    things = _things(population.world, kind, options or {})
    return pl.DataFrame({**things.columns(), "share": population.shares(things)})


def _things(world: World, kind: str, options: dict[str, Any]) -> Things:
    """What a question would ask about; none of these has a file, and ε makes no difference to its map."""
    record = question_of(kind, options)
    return record.things(world, record.public_map(world, Fraction(1), Path()))


def people_frame(population: Population) -> pl.DataFrame:
    """Visits as in any file of trajectories: a person for each day."""
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
        }
    )


def population_frame(population: Population) -> pl.DataFrame:
    """The same, and the weight of each day."""
    weights = np.repeat(population.weights, population.days.lengths)
    return people_frame(population).with_columns(weight=weights)


def read_population(path: Path, world: World) -> Population:
    """What `population_frame` wrote, on the same world; else a clear word."""
    source = str(path)
    wanted = ["uid", "datetime", "place_id", "weight"]
    try:
        frame = pl.read_parquet(path.read_bytes()).select(wanted).drop_nulls()
        moments = frame["datetime"].str.to_datetime()
        known = frame["place_id"].replace_strict(
            pl.Series(world.places.ids, dtype=pl.String), pl.int_range(len(world.places), eager=True),
            default=None, return_dtype=pl.Int32,
        )  # fmt: skip
    except OSError as error:
        raise InputError(source, f"cannot be read: {error.strerror}") from None
    except (pl.exceptions.PolarsError, ValueError):
        raise InputError(source, "not a population: `elsewhere survey estimate` makes one") from None
    if not frame.height or known.null_count():
        raise InputError(source, "not a population of this world")
    minutes = moments.dt.hour().cast(pl.Int32) * 60 + moments.dt.minute()
    rows = frame["uid"].rle_id().to_numpy()
    order = frame.select(pl.int_range(pl.len()).over(pl.col("uid").rle_id())).to_series().to_numpy()
    places, times = (np.full((rows[-1] + 1, order.max() + 1), -1, dtype=np.int32) for _ in range(2))
    places[rows, order] = known.to_numpy()
    times[rows, order] = minutes.to_numpy() // world.clock.timestep_minutes
    days = Days(places, times, np.bincount(rows).astype(np.int32))
    weights = frame["weight"].to_numpy()[order == 0]
    if not (weights >= 0).all() or not np.isfinite(weights).all() or weights.sum() <= 0:
        raise InputError(source, "not a population: weights must be numbers, 0 or more")
    return population_of(world, days, weights / weights.sum())
