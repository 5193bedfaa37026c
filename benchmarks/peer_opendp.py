"""A peer: OpenDP, by its choice among public candidates, and by what it is for, a collector's noisy counts.

OpenDP is a library for trusted collectors, but a device could use its choice of the best score as well.
`make_noisy_max` with Gumbel noise is the exponential mechanism: a candidate's chance is in proportion to
e^(score / scale). Scores that may change by Δ cost ε = 2 Δ / scale (McSherry and Talwar, FOCS 2007). With
exponential noise it is permute-and-flip (McKenna and Sheldon, NeurIPS 2020), at the same ε.

Two ways to use it, both with all of OpenDP's own randomness:

- *visit by visit*: each time, then each place among those that are open then, all with an equal part of ε;
- *whole day*: one choice among the public candidates that `codebook` has, with all of ε.

A collector who sees all days can count what they have and add Laplace noise. That is *central* differential
privacy: nothing protects a day from the collector. For comparison alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
import opendp.prelude as dp

from elsewhere.arrays import Floats, Indices
from elsewhere.days.comparison import day_costs
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.smoothing import spread
from elsewhere.days.visits import (
    largest_place_distance,
    largest_visit_distance,
    parts_of,
    time_distance,
    visit_distances,
    visit_errors,
)
from elsewhere.mechanism.length import stretched
from elsewhere.methods.codebook import Codebook
from elsewhere.randomness import Generator
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

Choose = Callable[[Floats], int]
Noise = Literal["exponential mechanism", "permute-and-flip"]


def chooser(epsilon: float, sensitivity: float, noise: Noise = "exponential mechanism") -> Choose:
    """OpenDP's choice of a large score, for ``epsilon``, where a score may change by ``sensitivity``."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    is_gumbel = noise == "exponential mechanism"
    measure = dp.zero_concentrated_divergence() if is_gumbel else dp.max_divergence()
    choose = dp.m.make_noisy_max(*space, measure, scale=2 * sensitivity / epsilon)
    return lambda scores: int(choose(scores))


class VisitByVisit:
    """A day of public length, told by 2 |τ| choices of ε / (2 |τ|) each."""

    def __init__(self, world: World, epsilon: float) -> None:
        self.world = world
        self.epsilon = epsilon
        self._distances = visit_distances(world)
        self._places = np.arange(len(world.places), dtype=np.int32)
        self._farthest = largest_place_distance(self._distances)
        gaps = [time_distance(self._distances, 0, gap) for gap in range(world.clock.timesteps)]
        self._hours = np.array(gaps)

    def share(self, days: Sequence[Trajectory]) -> list[SharedTrajectory]:
        """Each day by itself."""
        return [self._share(day) for day in days]

    def _share(self, day: Trajectory) -> SharedTrajectory:
        part = self.epsilon / (2 * len(day))
        timesteps, ids = len(self._hours), self.world.places.ids
        choose_time, choose_place = chooser(part, self._hours.max()), chooser(part, self._farthest)
        drawn = [
            choose_time(-self._hours[np.abs(np.arange(timesteps) - visit.timestep)]) for visit in day.visits
        ]
        times = spread(np.array(drawn, dtype=np.int32), timesteps).tolist()
        visits = []
        for visit, time in zip(day.visits, times, strict=True):
            # The time is told already, so who is open then is public.
            may = self._places[self.world.is_open[:, time]]
            may = may if len(may) else self._places
            place = may[choose_place(-self._apart(self.world.place_index[visit.place_id], may))]
            visits.append((ids[place], time))
        return SharedTrajectory(visits)

    def _apart(self, place: int, others: Indices) -> Floats:
        """D between a place and others, without d_t."""
        same = np.zeros(len(others), dtype=np.int32)
        truth = np.full(len(others), place, dtype=np.int32)
        return visit_errors(self._distances, truth, same, others, same)["combined"]


def candidates_for(world: World, epsilon: Fraction) -> Codebook:
    """`codebook`'s candidates, all made; k is tuned for the half of ε that OpenDP's choice really spends."""
    core = Codebook(world, epsilon=epsilon / 2)
    core.prepare(1)
    core.prepare_many(1)
    return core


class WholeDay:
    """One choice of ε among `codebook`'s candidates of a random shard; hides the number of visits.

    Scored by distance, a candidate has minus the mean d of a visit, which may be anything from 0 to the
    largest d there is. Scored by nearness it has 1 if it is one of the k nearest, else 0. OpenDP cannot know
    that exactly k have a 1, so it accounts for twice what is spent: see `candidates_for`.
    """

    def __init__(
        self,
        candidates: Codebook,
        epsilon: float,
        *,
        scored_by: Literal["distance", "nearness"],
        noise: Noise = "exponential mechanism",
    ) -> None:
        self._core = candidates
        self._tables = candidates.tables(1)
        self._scored_by = scored_by
        largest = largest_visit_distance(self._tables.distances, self._tables.timesteps)
        self._farthest = max(largest, self._tables.unmatched)
        sensitivity = self._farthest if scored_by == "distance" else 1.0
        self._choose = chooser(epsilon, sensitivity, noise)

    def share(self, days: Sequence[Trajectory], generator: Generator) -> list[SharedTrajectory]:
        """Each day by a choice in a shard at random."""
        found, shards = [], generator.integers(self._core.shards, size=len(days))
        for day, shard in zip(days, shards.tolist(), strict=True):
            secret = np.array(self._core.secret(day), dtype=np.int32)
            row = self._choose(self.scores(secret, shard))
            book, ids = self._core.book(ANY_LENGTH, shard), self._core.world.places.ids
            length = int(book.lengths[row])
            where, when = book.places[row, :length].tolist(), book.times[row, :length].tolist()
            found.append(SharedTrajectory(zip((ids[place] for place in where), when, strict=True)))
        return found

    def scores(self, secret: Indices, shard: int) -> Floats:
        """What each candidate is worth to somebody with this day."""
        if self._scored_by == "nearness":
            return self._tables.near(secret, shard).astype(np.float64)
        columns = self._tables.columns(shard)
        row = stretched(secret, min(len(secret), columns.most_visits))
        costs = day_costs(
            columns, self._tables.distances, self._tables.unmatched, *parts_of(row, self._tables.timesteps)
        )
        visits = np.maximum(self._core.book(ANY_LENGTH, shard).lengths, len(row))
        return -np.clip(costs / visits, 0.0, self._farthest)


def collected_shares(things: Indices, count: int, kept: int, epsilon: float) -> Floats:
    """People per person who have each of ``count`` things, as a trusted collector may tell for ``epsilon``.

    ``things`` has a row of distinct things for each person, filled up with −1. Of each day the first ``kept``
    count, so to add or remove one person changes so many counts by 1.
    """
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    told = dp.m.make_laplace(*space, scale=kept / epsilon)
    rank = np.cumsum(things >= 0, axis=1)
    counts = np.bincount(things[(things >= 0) & (rank <= kept)], minlength=count)
    return np.array(told(counts.tolist()), dtype=np.float64) / len(things)
