"""One shared day at a time: how far off a visit is, and how many days a second one core shares."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import elsewhere as ew
from elsewhere.evaluate.summary import summarise
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness, seeded_generator
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World
from peer_opendp import VisitByVisit, WholeDay, candidates_for
from peer_planar_laplace import (
    PerKm,
    Spots,
    at_each_visit,
    share_by_planar_laplace,
    spots_of,
    within_epsilon,
    within_radius,
)

Share = Callable[[Sequence[Trajectory]], list[SharedTrajectory]]
Row = dict[str, Any]

_SEED = 20171004
_REPEATS = 3
_WARM = 700
"""So many days before any is timed: some loops are interpreted for the first 600 calls."""
_RADIUS_KM = 1.0
# What Andrés et al. take as an example: four times as likely at most, within 200 m.
_LEVEL, _LEVEL_KM = math.log(4), 0.2
_LOSS_IS_SHOWN_FOR = 5
"""A day of so many visits."""


def rows_of_days(
    world: World, days: Sequence[Trajectory], epsilon: Fraction, tell: Callable[[str], None]
) -> list[Row]:
    """Every method and peer on the same days."""
    found = []
    for name, cost, hides_length, share in _all(world, days, epsilon):
        tell(f"Sharing by {name}")
        share((list(days) * math.ceil(_WARM / len(days)))[:_WARM])
        shared, seconds = share(days), math.inf
        for _ in range(_REPEATS):
            started = time.process_time()
            share(days)
            seconds = min(seconds, time.process_time() - started)
        summary = summarise(world, days, shared)
        errors = {key: estimate.value for key, estimate in summary.errors.items()}
        combined = summary.errors["combined"]
        found.append(
            {
                "name": name,
                "epsilon_of_five_visits": cost,
                "hides_length": hides_length,
                **errors,
                "combined_low": combined.low,
                "combined_high": combined.high,
                "unmatched": summary.unmatched_percent.value,
                "feasible": summary.feasible_percent.value,
                "open": summary.open_percent.value,
                "per_second": len(days) / seconds,
            }
        )
    return found


def _all(
    world: World, days: Sequence[Trajectory], epsilon: Fraction
) -> Iterator[tuple[str, float, bool, Share]]:
    """Name, what ε a day of five visits may really cost, whether its length is hidden, and how to share."""
    full = float(epsilon)
    yield "codebook", full, True, _ours(ew.method("codebook", world, epsilon=epsilon), days)
    same_length = ew.method("codebook", world, epsilon=epsilon, same_length=True)
    yield "codebook, same length", full, False, _ours(same_length, days)
    yield "ngram", full, False, _ours(ew.method("ngram", world, epsilon=epsilon), days)
    candidates = candidates_for(world, epsilon)
    by_nearness = WholeDay(candidates, full, scored_by="nearness")
    yield "OpenDP, whole day, k nearest", full, True, _whole_day(by_nearness)
    by_distance = WholeDay(candidates, full, scored_by="distance")
    yield "OpenDP, whole day, by d", full, True, _whole_day(by_distance)
    flipped = WholeDay(candidates, full, scored_by="distance", noise="permute-and-flip")
    yield "OpenDP, permute-and-flip, by d", full, True, _whole_day(flipped)
    yield "OpenDP, visit by visit", full, False, VisitByVisit(world, full).share
    spots = spots_of(world)
    for name, per_km in (
        ("planar Laplace, ε over the world", within_epsilon(spots, full / 2)),
        (f"planar Laplace, ε within {_RADIUS_KM:g} km", within_radius(full / 2, _RADIUS_KM)),
        (f"planar Laplace, ln 4 in {_LEVEL_KM:g} km", at_each_visit(_LEVEL, _LEVEL_KM)),
    ):
        yield name, _cost(spots, per_km, full / 2), False, _planar(world, spots, per_km, full / 2)
    for null in ("typical", "constant", "popular"):
        method = ew.method(null, world)
        yield f"null: {null}", 0.0, method.hides_length, _ours(method, days)


def _cost(spots: Spots, per_km: PerKm, for_times: float) -> float:
    """What two days may be told apart by, if each visit is as far from the other's as can be."""
    visits = _LOSS_IS_SHOWN_FOR
    return visits * per_km(visits) * spots.diameter_km + for_times


def _ours(method: Sharing, days: Sequence[Trajectory]) -> Share:
    for length in sorted({len(day) for day in days}, reverse=True):
        method.prepare_many(length)

    def share(some: Sequence[Trajectory]) -> list[SharedTrajectory]:
        return method.share_batch(some, randomness=SeededRandomness(_SEED)).shared

    return share


def _whole_day(peer: WholeDay) -> Share:
    def share(some: Sequence[Trajectory]) -> list[SharedTrajectory]:
        return peer.share(some, seeded_generator(_SEED))

    return share


def _planar(world: World, spots: Spots, per_km: PerKm, for_times: float) -> Share:
    return partial(_share_planar, world, spots, per_km, for_times)


def _share_planar(
    world: World, spots: Spots, per_km: PerKm, for_times: float, some: Sequence[Trajectory]
) -> list[SharedTrajectory]:
    return share_by_planar_laplace(world, spots, some, per_km, for_times, seeded_generator(_SEED))
