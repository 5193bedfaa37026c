"""A peer: planar Laplace noise on each visit, and the place that is then the best guess.

The noise is that of Andrés, Bordenabe, Chatzikokolakis and Palamidessi (CCS 2013). The remapping is that of
Chatzikokolakis, ElSalamouny and Palamidessi (PoPETs 2017): of all places the one that is nearest in the mean,
given the noisy position and how popular places are. For comparison alone: it protects nobody's day.

What it promises is *geo-indistinguishability*: two positions x km apart are told apart by at most e^(ε_km x).
That is ε-LDP only as far as x is bounded, here by the world's diameter. Of times it says nothing, so half of
ε is spent on them, by an exponential mechanism for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from elsewhere.arrays import Floats, Indices
from elsewhere.days.smoothing import spread
from elsewhere.days.visits import VisitDistances, time_distance, visit_distances
from elsewhere.knowledge.sphere import plane_km
from elsewhere.randomness import Generator
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_AT_ONCE = 256

PerKm = Callable[[int], float]
"""ε per km for each visit of a day of so many."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spots:
    """Where places are and how likely each is: public."""

    positions: Floats
    """Km east and north, on a plane."""
    between_km: Floats
    """From each place to each, on the same plane."""
    chances: Floats
    """How likely a visit is to be there, before anything is told."""

    @property
    def diameter_km(self) -> float:
        """How far two places may be apart."""
        return float(self.between_km.max())


def spots_of(world: World) -> Spots:
    """The places of a world, as likely as they are popular; what nobody counted may still be visited."""
    positions = plane_km(world.places.latitudes, world.places.longitudes)
    popularity = world.places.popularity.sum(axis=1)
    known = popularity + 1e-3 * max(float(popularity.mean()), 1e-9)
    return Spots(positions=positions, between_km=cdist(positions, positions), chances=known / known.sum())


def within_epsilon(spots: Spots, epsilon: float) -> PerKm:
    """So little for each km that all visits together cost ``epsilon`` at most, wherever in the world."""
    return lambda visits: epsilon / (visits * spots.diameter_km)


def within_radius(epsilon: float, radius_km: float) -> PerKm:
    """All visits together cost ``epsilon`` where none is moved by more than a radius. Not ε-LDP."""
    return lambda visits: epsilon / (visits * radius_km)


def at_each_visit(level: float, radius_km: float) -> PerKm:
    """As in the paper: ``level`` within a radius for each visit, however many there are. Not ε-LDP."""
    return lambda _visits: level / radius_km


def noise_km(count: int, epsilon_per_km: float, generator: Generator) -> Floats:
    """Steps east and north with a density in proportion to e^(−ε_km · length).

    Length and direction are independent, and the length has the density ε² r e^(−ε r): a Gamma one.
    """
    length = generator.gamma(2.0, 1 / epsilon_per_km, size=count)
    angle = generator.uniform(0.0, 2 * math.pi, size=count)
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)])


def remapped(spots: Spots, noisy: Floats, epsilon_per_km: float) -> Indices:
    """The place that is nearest in the mean to where somebody may be, for each noisy position."""
    found = np.empty(len(noisy), dtype=np.int32)
    for start in range(0, len(noisy), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        logs = np.log(spots.chances) - epsilon_per_km * cdist(noisy[some], spots.positions)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True))
        found[some] = (posterior @ spots.between_km).argmin(axis=1)
    return found


def drawn_times(times: Indices, distances: VisitDistances, timesteps: int, epsilon: float,
                generator: Generator) -> Indices:  # fmt: skip
    """Each timestep by the exponential mechanism: the likelier the nearer, for ``epsilon`` each."""
    gaps = np.array([time_distance(distances, 0, gap) for gap in range(timesteps)])
    apart = gaps[np.abs(times[:, None] - np.arange(timesteps)[None, :])]
    # The largest of scores with Gumbel noise is a draw by e^score.
    scores = -epsilon * apart / (2 * gaps.max()) + generator.gumbel(size=apart.shape)
    return np.asarray(scores.argmax(axis=1), dtype=np.int32)


def share_by_planar_laplace(
    world: World,
    spots: Spots,
    days: Sequence[Trajectory],
    per_km: PerKm,
    epsilon_for_times: float,
    generator: Generator,
) -> list[SharedTrajectory]:
    """Days of the same length each; sorted times, so that visits keep their order."""
    found: list[SharedTrajectory | None] = [None] * len(days)
    distances, timesteps, ids = visit_distances(world), world.clock.timesteps, world.places.ids
    for length in sorted({len(day) for day in days}):
        rows = [row for row, day in enumerate(days) if len(day) == length]
        visits = [visit for row in rows for visit in days[row].visits]
        places = np.array([world.place_index[visit.place_id] for visit in visits])
        true_times = np.array([visit.timestep for visit in visits], dtype=np.int32)
        noisy = spots.positions[places] + noise_km(len(places), per_km(length), generator)
        chosen = remapped(spots, noisy, per_km(length)).reshape(-1, length)
        times = drawn_times(true_times, distances, timesteps, epsilon_for_times / length, generator)
        for row, where, when in zip(rows, chosen.tolist(), times.reshape(-1, length), strict=True):
            kept = spread(when, timesteps).tolist()
            found[row] = SharedTrajectory(zip((ids[place] for place in where), kept, strict=True))
    return [day for day in found if day is not None]
