"""All measures of one pair of trajectory sets, for a person or a machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from elsewhere.arrays import Bools
from elsewhere.evaluate.density import density_errors
from elsewhere.evaluate.error import day_errors
from elsewhere.evaluate.hotspots import HotspotScore, hotspot_scores
from elsewhere.evaluate.intervals import Estimate, mean_with_interval
from elsewhere.evaluate.pairs import Columns, Days, Pairs, paired
from elsewhere.evaluate.ranges import DELTAS, preservation
from elsewhere.knowledge.travel import profile_count
from elsewhere.methods.nulls import NULLS
from elsewhere.methods.registry import method
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How well shared days keep what true ones say."""

    days: int
    visits: int
    errors: dict[str, Estimate]
    """Normalised error in km, hours, d_c, and all together (d)."""
    ranges: dict[str, list[float]]
    """PR_χ(δ) in per cent, for the δ of `ranges.DELTAS`."""
    hotspots: dict[str, HotspotScore]
    density: dict[str, float]
    """Jensen–Shannon divergences, 0 to 1."""
    feasible_percent: float
    """Shared days in which every step can be travelled."""
    open_percent: float
    """Shared visits at open places."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "deltas": {name: list(values) for name, values in DELTAS.items()}}


def summarise(world: World, real: Sequence[Days], shared: Sequence[Days]) -> Summary:
    """All measures of ``shared`` against ``real``, which are in the same order."""
    return summarise_pairs(paired(world, real, shared))


def summarise_pairs(pairs: Pairs) -> Summary:
    """All measures of true and shared visits side by side."""
    columns = pairs.shared
    return Summary(
        days=columns.days,
        visits=len(columns.places),
        errors={name: mean_with_interval(values) for name, values in day_errors(pairs).items()},
        ranges={name: values.tolist() for name, values in preservation(pairs).items()},
        hotspots=hotspot_scores(pairs),
        density=density_errors(pairs),
        feasible_percent=100 * float(_feasible(pairs.world, columns).mean()),
        open_percent=100 * float(pairs.world.is_open[columns.places, columns.times].mean()),
    )


def _feasible(world: World, columns: Columns) -> Bools:
    """Whether every step of each day can be travelled in its time."""
    within = columns.owners[1:] == columns.owners[:-1]
    origins, destinations = columns.places[:-1][within], columns.places[1:][within]
    departures = columns.times[:-1][within]
    gaps = columns.times[1:][within].astype(np.int64) - departures
    hours = departures.astype(np.int64) * world.clock.timestep_minutes // 60
    profiles = world.travel.profile_of_hour[hours]
    steps = np.zeros(len(gaps), dtype=np.int64)
    for profile in range(profile_count(world.travel)):
        chosen = profiles == profile
        steps[chosen] = world.travel.steps(origins[chosen], destinations[chosen], profile)
    is_feasible = np.ones(columns.days, dtype=np.bool_)
    is_feasible[columns.owners[1:][within][gaps < steps]] = False
    return is_feasible


def null_summaries(world: World, real: Sequence[Trajectory], seed: int = 0) -> dict[str, Summary]:
    """The same measures for days that ignore the person: what no information looks like."""
    found = {}
    for number, name in enumerate(NULLS):
        shared = method(name, world).share_many(real, randomness=SeededRandomness(seed, number))
        found[name] = summarise(world, real, shared)
    return found
