"""All measures of one pair of trajectory sets, for a person or a machine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.arrays import Bools
from elsewhere.evaluate.density import density_estimates
from elsewhere.evaluate.error import day_errors
from elsewhere.evaluate.hotspots import hotspot_estimates
from elsewhere.evaluate.intervals import Estimate, mean_estimates
from elsewhere.evaluate.pairs import AnyDay, Pairs, VisitColumns, paired, sum_per_day
from elsewhere.evaluate.ranges import day_preservation, deltas_of
from elsewhere.knowledge.travel import profile_count
from elsewhere.methods.registry import null_names, null_of
from elsewhere.progress import Portions, Progress, no_progress
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

# Nulls that could pass for the people of a city; the others share one day with everybody.
MANY_DAYS = ("uniform", "popular")


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How well shared days keep what true ones say."""

    days: int
    visits: int
    errors: dict[str, Estimate]
    """Normalised error in km, hours, d_c, and all together (d)."""
    ranges: dict[str, list[Estimate]]
    """PR_χ(δ) in per cent, for each of the ``deltas``."""
    deltas: dict[str, list[float]]
    """The δ of each dimension (`ranges.deltas_of`)."""
    hotspots: dict[str, dict[str, Estimate | None]]
    """For each granularity the numbers of `hotspots.MEASURES`; None for what there is not."""
    density: dict[str, Estimate | None]
    """Jensen–Shannon divergences, 0 to 1; None where there is nothing to compare."""
    feasible_percent: Estimate
    """Shared days in which every step can be travelled."""
    open_percent: Estimate
    """Visits of a shared day at open places."""
    unmatched_percent: Estimate
    """Visits, true and shared, without a partner: 0 if shared days are as long as true ones."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def summarise(world: World, real: Sequence[AnyDay], shared: Sequence[AnyDay]) -> Summary:
    """All measures of ``shared`` against ``real``, which are in the same order."""
    return summarise_pairs(paired(world, real, shared))


def summarise_pairs(pairs: Pairs) -> Summary:
    """All measures of true and shared visits side by side."""
    columns, errors = pairs.shared, day_errors(pairs)
    is_open = pairs.world.is_open[columns.places, columns.times].astype(np.float64)
    shares = np.column_stack(
        [
            _feasible(pairs.world, columns),
            sum_per_day(columns.owners, is_open, columns.days) / columns.lengths,
            pairs.left_over / np.maximum(pairs.real.lengths, columns.lengths),
        ]
    )
    feasible, opened, unmatched = mean_estimates(100 * shares)
    deltas = deltas_of(pairs.world)
    return Summary(
        days=columns.days,
        visits=len(columns.places),
        errors=dict(zip(errors, mean_estimates(np.column_stack(list(errors.values()))), strict=True)),
        ranges={name: mean_estimates(values) for name, values in day_preservation(pairs, deltas).items()},
        deltas=deltas,
        hotspots=hotspot_estimates(pairs),
        density=density_estimates(pairs),
        feasible_percent=feasible,
        open_percent=opened,
        unmatched_percent=unmatched,
    )


def _feasible(world: World, columns: VisitColumns) -> Bools:
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


def null_days(
    world: World,
    real: Sequence[Trajectory],
    seed: int = 0,
    *,
    names: Collection[str] | None = None,
    cache: Path | None = None,
    progress: Progress = no_progress,
) -> dict[str, list[SharedTrajectory]]:
    """For each null, days that ignore the person: what no information looks like.

    ``cache`` is a folder for public tables that take long to make.
    """
    wanted = [(n, name) for n, name in enumerate(null_names()) if names is None or name in names]
    portions = Portions(progress, len(wanted))
    found: dict[str, list[SharedTrajectory]] = {}
    for number, name in wanted:
        tell = portions.part(len(found))
        null = null_of(name, world, cache=cache, progress=tell)
        found[name] = null.share_many(real, randomness=SeededRandomness(seed, number))
        tell(1, 1)
    return found


def null_summaries(world: World, real: Sequence[Trajectory], seed: int = 0) -> dict[str, Summary]:
    """The same measures for days that ignore the person."""
    return {name: summarise(world, real, days) for name, days in null_days(world, real, seed).items()}
