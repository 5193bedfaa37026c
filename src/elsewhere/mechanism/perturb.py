"""From a trajectory to its draws: the one step that sees what is private and spends ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.knowledge.sphere import chord_squared, great_circle_km_squared
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.coin import Tape, ran_out
from elsewhere.mechanism.draw import Coin, coin_of, draw_walk
from elsewhere.mechanism.proposal import Proposals
from elsewhere.mechanism.rows import finish_rows
from elsewhere.randomness import Randomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.distances import RegionDistances
from elsewhere.world.world import World

_WORDS_PER_TRIAL = 12


class Plan(NamedTuple):
    """All draws of a trajectory of one length: public, the same for everybody with that length."""

    starts: Indices
    lengths: Indices
    offsets: Indices
    """Where each draw's regions stand in a row of draws."""
    numerators: NDArray[np.int64]
    denominators: NDArray[np.int64]
    trials: NDArray[np.int64]
    sensitivities: Floats


def plan_draws(draws: Sequence[Draw], max_distance: float) -> Plan:
    """Whole numbers of the draws: Δ = length · max d, a constant of the world (R2).

    Deviation: sensitivity — the paper does not say which Δ its experiments use; any other is not ε-LDP.
    """
    lengths = np.array([draw.length for draw in draws], dtype=np.int32)
    coins = [coin_of(draw.epsilon) for draw in draws]
    return Plan(
        starts=np.array([draw.start for draw in draws], dtype=np.int32),
        lengths=lengths,
        offsets=(np.cumsum(lengths) - lengths).astype(np.int32),
        numerators=np.array([coin.numerator for coin in coins], dtype=np.int64),
        denominators=np.array([coin.denominator for coin in coins], dtype=np.int64),
        trials=np.array([coin.trials for coin in coins], dtype=np.int64),
        sensitivities=lengths.astype(np.float64) * max_distance,
    )


def perturb_regions(
    true_regions: Indices,
    plan: Plan,
    proposals: Proposals,
    distances: RegionDistances,
    randomness: Randomness,
    *,
    constant_work: bool,
) -> tuple[Indices, NDArray[np.int64]]:
    """Draws (Z) of trajectories of one length, a row each, and the trial each draw took."""
    count = len(true_regions)
    draws = np.zeros((count, int(plan.lengths.sum())), dtype=np.int32)
    accepted = np.zeros((count, len(plan.starts)), dtype=np.int64)

    def work(tape: Tape, done: int) -> tuple[int, int]:
        rows = true_regions[done:], constant_work, draws[done:], accepted[done:]
        return _perturb_rows(tape, plan, proposals, distances, *rows)

    finish_rows(work, count, _expected_words(plan, constant_work=constant_work), randomness)
    return draws, accepted


def _expected_words(plan: Plan, *, constant_work: bool) -> int:
    trials = plan.trials if constant_work else np.ceil(plan.trials / 30)
    return int((trials * (_WORDS_PER_TRIAL + 2 * plan.lengths)).sum())


@compiled
def _perturb_rows(
    tape: Tape,
    plan: Plan,
    proposals: Proposals,
    distances: RegionDistances,
    true_regions: Indices,
    is_constant: bool,
    draws: Indices,
    accepted: NDArray[np.int64],
) -> tuple[int, int]:
    """How many rows were finished before the tape ran out, and the words they used."""
    for row in range(len(true_regions)):
        before = tape.cursor[0]
        for i in range(len(plan.starts)):
            start, length, offset = plan.starts[i], plan.lengths[i], plan.offsets[i]
            coin = Coin(plan.numerators[i], plan.denominators[i], plan.trials[i])
            accepted[row, i] = draw_walk(
                tape,
                proposals,
                distances,
                coin,
                plan.sensitivities[i],
                true_regions[row, start : start + length],
                is_constant,
                draws[row, offset : offset + length],
            )
            if ran_out(tape):
                return row, before
    return len(true_regions), tape.cursor[0]


class RegionFinder:
    """The region of any visit: a total rule, so that no error ever depends on private data (R10).

    An open place has its region. For a closed one, or a timestep outside the day, it is the region
    nearest by d; for a place nobody knows, the one nearest in time.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        regions = world.regions
        # Pairs are in the order of places: the first pair of each place is its first category in the tree.
        firsts = np.searchsorted(regions.pair_places, np.arange(len(world.places)))
        self._region_of: list[list[int]] = regions.region_of[firsts].tolist()
        self._rows = world.place_index
        self._last_step = world.clock.timesteps - 1
        self._per_interval = world.clock.timesteps_per_interval
        self._nodes = regions.pair_nodes[firsts]
        self._no_categories = np.zeros(len(world.distances.category_table))
        self._kinds = {
            int(node): int(kind) for node, kind in zip(regions.nodes, world.distances.kinds, strict=True)
        }

    def regions_of(self, trajectory: Trajectory) -> list[int]:
        """Region of each visit."""
        last, per_interval = self._last_step, self._per_interval
        found = []
        for place_id, timestep in trajectory.visits:
            place = self._rows.get(place_id, -1)
            step = min(last, timestep)
            region = self._region_of[place][step // per_interval] if place >= 0 else -1
            found.append(region if region >= 0 else self._nearest(place, step))
        return found

    def _nearest(self, place: int, timestep: int) -> int:
        """Region nearest by d to a place that is closed or unknown (-1); ties go to the first."""
        world = self._world
        hour = (timestep + 0.5) * world.clock.timestep_minutes / 60
        if place < 0:
            return int(_nearest_region(world.distances, world.regions.vectors[:0], self._no_categories, hour))
        row = world.places.vectors[place : place + 1]
        return int(_nearest_region(world.distances, row, self._categories_from(place), hour))

    def _categories_from(self, place: int) -> Floats:
        """d_c from a place's category, or the nearest ancestor that regions have, to each kind of region."""
        world = self._world
        lineage = world.tree.lineage[self._nodes[place]]
        for node in lineage[lineage >= 0][::-1].tolist():
            if node in self._kinds:
                return np.asarray(world.distances.category_table[self._kinds[node]])
        return self._no_categories


@compiled
def _nearest_region(distances: RegionDistances, point: Floats, categories: Floats, hour: float) -> int:
    """Region with the least d to a point (none: time alone counts) at an hour."""
    best, least = 0, np.inf
    for region in range(len(distances.kinds)):
        gap = abs(distances.mid_hours[region] - hour)
        if distances.is_circular:
            gap = min(gap, 24 - gap)
        gap = min(gap, distances.time_cap_hours)
        square = gap * gap
        if len(point):
            category = categories[distances.kinds[region]]
            square += category * category
            square += great_circle_km_squared(chord_squared(point, 0, distances.vectors, region))
        if square < least:
            best, least = region, square
    return best


def worst_case_epsilon(draws: Sequence[Draw], max_distance: float) -> Fraction:
    """ε of the ideal mechanism with Δ := 1 for the true sensitivity: each ε' times its Δ, rounded up."""
    return sum(
        (draw.epsilon * draw.length * Fraction(math.ceil(max_distance * 1000), 1000) for draw in draws),
        start=Fraction(0),
    )
