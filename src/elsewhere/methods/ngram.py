"""`ngram`: the paper's solution. Perturb overlapping n-grams of regions, rebuild a chain, choose places."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, split_evenly, total, windows
from elsewhere.mechanism.draw import LARGEST_EPSILON
from elsewhere.mechanism.perturb import Plan, RegionFinder, perturb_regions, plan_draws, worst_case_epsilon
from elsewhere.mechanism.proposal import Proposals, build_proposals
from elsewhere.mechanism.step import Outcome, State, Step, Walks, list_walks, tilted_step, window_step
from elsewhere.mechanism.tilted import tilted_rows
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.randomness import Randomness
from elsewhere.reconstruct.chain import region_edges
from elsewhere.reconstruct.node_errors import region_boxes, region_columns
from elsewhere.reconstruct.place_path import place_paths
from elsewhere.reconstruct.region_path import region_paths
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.distances import RegionDistances
from elsewhere.world.visits import place_world
from elsewhere.world.world import World

REGION_WAYS = ("row-wise best", "shortest chain", "shortest chain outside the box", "no chain")
PLACE_WAYS = ("quick try", "counted", "smoothed", "smoothed, partly closed", "stayed")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NgramTables:
    """All that draws of one length go by: public, the same for everybody."""

    draws: tuple[Draw, ...]
    plan: Plan
    proposals: Proposals
    distances: RegionDistances
    is_tilted: bool
    """Δ := 1: not ε-LDP."""


class Ngram:
    """The paper's NGram: |τ| + n − 1 draws of ε / (|τ| + n − 1) each; |τ| is public.

    Paper: section 5.2 (ss:main-solution-overview).
    """

    name = "ngram"
    hides_length = False

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        n: int = 2,
        sensitivity: Literal["world", 1] = "world",
        epsilon_per_draw: float | str | Fraction | None = None,
    ) -> None:
        if n < 1:
            raise InputError("n", f"found {n}, must be 1 or more")
        if sensitivity not in ("world", 1):
            raise InputError("sensitivity", f"found {sensitivity!r}, must be 'world' or 1")
        if (epsilon is None) == (epsilon_per_draw is None):
            raise InputError("epsilon", "give either epsilon or epsilon_per_draw")
        self.world = world
        self.n = n
        self.sensitivity = sensitivity
        self.epsilon = None if epsilon is None else exact_epsilon(epsilon)
        self.epsilon_per_draw = None if epsilon_per_draw is None else exact_epsilon(epsilon_per_draw)
        self._finder = RegionFinder(world)
        self._proposals = build_proposals(world.graph, n)
        self._columns = region_columns(world.distances)
        self._boxes = region_boxes(world)
        self._places = place_world(world)
        self._edges = region_edges(world.graph.words, self._places)
        self._tables: dict[int, NgramTables] = {}
        self._walks: dict[int, Walks] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """Draws for a trajectory of ``length`` visits: ε shared evenly, or the same ε' for each."""
        if self.epsilon is not None:
            return split_evenly(self.epsilon, length, self.n)
        assert self.epsilon_per_draw is not None  # noqa: S101 - one of the two is given
        return tuple(
            Draw(start=start, length=size, epsilon=self.epsilon_per_draw)
            for start, size in windows(length, self.n)
        )

    def spent_on(self, length: int) -> Fraction:
        """ε really spent on ``length`` visits: the sum of the draws, or with Δ := 1 what that comes to."""
        draws = self.draws_for(length)
        if self.sensitivity == "world":
            return total(draws)
        return worst_case_epsilon(draws, self.world.max_distance)

    def prepare(self, length: int) -> None:
        """Work out the tables for trajectories of ``length``; raises if they cannot be shared."""
        most = self.world.clock.timesteps
        if length > most:
            raise InputError("trajectory", f"a day has {most} timesteps, so at most {most} visits")
        draws = self.draws_for(length)
        if draws[0].epsilon > LARGEST_EPSILON:
            limit = LARGEST_EPSILON * len(draws)
            raise InputError("epsilon", f"for {length} visits more than {limit} takes too long to sample")
        self.tables(length)

    def tables(self, length: int) -> NgramTables:
        """What is public for trajectories of ``length``; the audit reads the same tables."""
        if length not in self._tables:
            draws = self.draws_for(length)
            self._tables[length] = NgramTables(
                draws=draws,
                plan=plan_draws(draws, self.world.max_distance),
                proposals=self._proposals,
                distances=self.world.distances,
                is_tilted=self.sensitivity != "world",
            )
        return self._tables[length]

    def secret(self, trajectory: Trajectory) -> Outcome:
        """Region of each visit: a function of a person's own data, so it costs nothing."""
        return tuple(self._finder.regions_of(trajectory))

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """Draws of all windows, a row for each row of regions."""
        length = secrets.shape[1]
        tables = self.tables(length)
        plan, distances = tables.plan, tables.distances
        if tables.is_tilted:
            epsilons = np.array([float(draw.epsilon) for draw in tables.draws])
            seeds = randomness.words(len(secrets))
            values = tilted_rows(secrets, plan, epsilons, tables.proposals.words, distances, seeds)
            trials = np.zeros((len(secrets), len(plan.starts)), dtype=np.int64)
        else:
            values, trials = perturb_regions(
                secrets, plan, tables.proposals, distances, randomness, constant_work=constant_work
            )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The chain of regions that fits the draws best, then places and times in it."""
        started = time.perf_counter()
        plan = self.tables(drawn.length).plan
        paths, _, region_ways = region_paths(
            drawn.values, plan, self._columns, self.world.distances, self._edges, self._boxes, drawn.length
        )
        chained = time.perf_counter()
        chosen, times, place_ways = place_paths(paths, self._places, randomness.words(len(paths)))
        ids = self.world.places.ids
        shared = [
            SharedTrajectory(zip([ids[place] for place in row], steps, strict=True))
            for row, steps in zip(chosen.tolist(), times.tolist(), strict=True)
        ]
        ways = {
            "regions": [REGION_WAYS[way] for way in region_ways.tolist()],
            "places": [PLACE_WAYS[way] for way in place_ways.tolist()],
        }
        seconds = {"regions": chained - started, "places": time.perf_counter() - chained}
        return Rebuilt(shared=shared, ways=ways, seconds=seconds)

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index), listed."""
        length, index = state
        tables = self.tables(length)
        if index == len(tables.draws):
            return None
        list_step = tilted_step if tables.is_tilted else window_step
        size = tables.draws[index].length
        if size not in self._walks:
            self._walks[size] = list_walks(tables.proposals, size)
        return list_step(tables.plan, index, self._walks[size], tables.distances, secret, (length, index + 1))

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row the regions of each window."""
        plan = self.tables(drawn.length).plan
        cuts = [(o, o + n) for o, n in zip(plan.offsets.tolist(), plan.lengths.tolist(), strict=True)]
        return [tuple(tuple(row[a:b]) for a, b in cuts) for row in drawn.values.tolist()]

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        facts: dict[str, Any] = {
            "method": self.name,
            "n": self.n,
            "sensitivity": self.sensitivity,
            "is_ldp": self.sensitivity == "world",
        }
        if self.epsilon is not None:
            facts["epsilon"] = str(self.epsilon)
        else:
            facts["epsilon_per_draw"] = str(self.epsilon_per_draw)
            facts["epsilon_at_most"] = float(self.spent_on(self.world.clock.timesteps))
        if self.sensitivity != "world":
            facts["promise"] = "NOT ε-LDP"
        return facts
