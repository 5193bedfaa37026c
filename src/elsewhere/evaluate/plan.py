"""What sharing with `codebook` can be expected to give, before anyone shares anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.days.prior_days import prior_days
from elsewhere.device.reading import trajectories_of
from elsewhere.evaluate.error import day_errors
from elsewhere.evaluate.hotspots import HOURS, Visitors, groupings, unique_visitors, visitor_counts
from elsewhere.evaluate.intervals import Estimate, mean_estimates
from elsewhere.evaluate.pairs import DIMENSIONS, Pairs, paired
from elsewhere.methods.registry import DEFAULT, method, null_names, null_of
from elsewhere.methods.sharing import Sharing
from elsewhere.progress import Portions, Progress, no_progress
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

PRETEND = 2000
_GRID = "4 × 4 grid"
_SURE = 2.0
"""Standard errors that a change must stand out by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What to expect of one ε."""

    epsilon: str
    k: int
    errors: dict[str, Estimate]
    """Error of a person's visit: km, hours, d_c, d."""
    kept: float
    """Of a change in how many people are in a cell of the city at an hour, the share that still shows."""
    visible_change: dict[int, float]
    """For each number of people the smallest such change, in per cent of all people, that would be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Expectations of several ε, and what they are to be held against."""

    world: str
    expectations: list[Expectation]
    best_null: dict[str, float]
    """The least error, in each dimension, of days that ignore the person."""
    open_change: dict[int, float]
    """The change that would be seen if everybody told the truth."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def plan(
    world: World,
    epsilons: Sequence[str | float | Fraction],
    people: Sequence[int],
    *,
    cache: Path | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> Plan:
    """Share pretend days of the public prior with each ε, and measure what comes of it.

    ``cache`` is a folder for public tables that take long to make.
    """
    days = pretend_days(world)
    names = null_names()
    portions = Portions(progress, len(epsilons) + len(names))
    nulls = []
    for number, name in enumerate(names):
        tell = portions.part(number)
        nulls.append(_means(_shared(null_of(name, world, cache=cache, progress=tell), days)))
        tell(1, 1)
    expectations = []
    for number, epsilon in enumerate(epsilons, start=len(names)):
        tell = portions.part(number)
        sharing = method(DEFAULT, world, epsilon=epsilon, cache=cache, progress=tell, **options)
        expectations.append(_expectation(sharing, days, people))
        tell(1, 1)
    truth = paired(world, days, days)
    return Plan(
        world=world.hash,
        expectations=expectations,
        best_null={name: min(null[name] for null in nulls) for name in DIMENSIONS},
        open_change=_visible_changes(truth, 1.0, people),
    )


def pretend_days(world: World) -> list[Trajectory]:
    """Days of the public prior, as if people had had them."""
    return trajectories_of(world, prior_days(world, "plan", PRETEND))


def _shared(sharing: Sharing, days: Sequence[Trajectory]) -> Pairs:
    return paired(sharing.world, days, sharing.share_many(days, randomness=SeededRandomness(1)))


def _means(pairs: Pairs) -> dict[str, float]:
    return {name: float(values.mean()) for name, values in day_errors(pairs).items()}


def _expectation(sharing: Sharing, days: Sequence[Trajectory], people: Sequence[int]) -> Expectation:
    pairs = _shared(sharing, days)
    errors, facts = day_errors(pairs), sharing.facts()
    kept = kept_share(pairs)
    return Expectation(
        epsilon=str(facts.epsilon),
        k=facts.options["k"],
        errors=dict(zip(errors, mean_estimates(np.column_stack(list(errors.values()))), strict=True)),
        kept=kept,
        visible_change=_visible_changes(pairs, kept, people),
    )


def kept_share(pairs: Pairs) -> float:
    """How much likelier a shared day is in a cell at an hour if the true one is, over all cells and hours.

    If so many more people than before are somewhere, shared days show this share of them.
    """
    real, shared = _presence(pairs)
    days, cells = pairs.real.days, real.groups * HOURS
    together = np.isin(real.owners * cells + real.cells, shared.owners * cells + shared.cells)
    mine, theirs = (visitor_counts(side, np.ones(days)).ravel() for side in (real, shared))
    hits = np.bincount(real.cells[together], minlength=cells)
    # P(shared | true) − P(shared | not true), each cell as often as people are there.
    if_there = hits.sum() / mine.sum()
    if_not = float(((theirs - hits) / np.maximum(days - mine, 1) * mine).sum() / mine.sum())
    return max(0.0, float(if_there) - if_not)


def _presence(pairs: Pairs) -> tuple[Visitors, Visitors]:
    group_of = groupings(pairs.world)[_GRID]
    real, shared = (unique_visitors(pairs.world, side, group_of) for side in (pairs.real, pairs.shared))
    return real, shared


def _visible_changes(pairs: Pairs, kept: float, people: Sequence[int]) -> dict[int, float]:
    """In per cent of all people, for a cell and hour as busy as those that people are in."""
    _, shared = _presence(pairs)
    counts = visitor_counts(shared, np.ones(pairs.real.days))
    share = float((counts * counts).sum() / max(counts.sum(), 1.0)) / pairs.real.days
    spread = math.sqrt(share * (1 - share))
    return {
        number: min(100.0, 100 * _SURE * spread / math.sqrt(number) / kept) if kept > 0 else 100.0
        for number in people
    }
