"""`ngram`: the paper's solution. Perturb overlapping n-grams of regions, rebuild a chain, choose places."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, split_evenly, total, windows
from elsewhere.mechanism.perturb import Plan, RegionFinder, perturb_regions, plan_draws, worst_case_epsilon
from elsewhere.mechanism.proposal import build_proposals
from elsewhere.mechanism.tilted import tilted_rows
from elsewhere.methods.protocol import Batch, Progress, ShareInfo
from elsewhere.randomness import Randomness, SystemRandomness
from elsewhere.reconstruct.node_errors import region_boxes, region_columns
from elsewhere.reconstruct.place_path import place_paths, place_world
from elsewhere.reconstruct.region_path import region_paths
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_CHUNK = 128
REGION_WAYS = ("row-wise best", "shortest chain", "shortest chain outside the box", "no chain")
PLACE_WAYS = ("quick try", "counted", "smoothed", "smoothed, partly closed", "stayed")


@dataclass(frozen=True, slots=True, repr=False)
class _Rows:
    """Trajectories of one length, which of all they are, and the stream of their randomness."""

    numbers: list[int]
    trajectories: list[Trajectory]
    stream: int


@dataclass(frozen=True, slots=True, repr=False)
class _Done:
    numbers: list[int]
    shared: list[SharedTrajectory]
    trials: NDArray[np.int64]
    region_ways: Indices
    place_ways: Indices
    seconds: dict[str, float]


class Ngram:
    """The paper's NGram: |τ| + n − 1 draws of ε / (|τ| + n − 1) each; |τ| is public.

    Paper: section 5.2 (ss:main-solution-overview).
    """

    name = "ngram"

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
        self._plans: dict[int, Plan] = {}

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
        """Work out the plan for trajectories of ``length``; raises if they cannot be shared."""
        most = self.world.clock.timesteps
        if length > most:
            raise InputError("trajectory", f"a day has {most} timesteps, so at most {most} visits")
        self._plan(length)

    def share(
        self, trajectory: Trajectory, *, randomness: Randomness | None = None
    ) -> tuple[SharedTrajectory, ShareInfo]:
        """One person's day, with constant work (R15)."""
        source = randomness or SystemRandomness()
        rows = _Rows([0], [trajectory], 0)
        done = self._process(rows, source, constant_work=True)
        draws = self.draws_for(len(trajectory))
        info = ShareInfo(
            draws=draws,
            epsilon=self.spent_on(len(trajectory)),
            trials=tuple(done.trials[0].tolist()),
            regions=REGION_WAYS[done.region_ways[0]],
            places=PLACE_WAYS[done.place_ways[0]],
            seconds=done.seconds,
        )
        return done.shared[0], info

    def share_many(
        self,
        trajectories: Sequence[Trajectory],
        *,
        workers: int = 1,
        randomness: Randomness | None = None,
        progress: Progress | None = None,
    ) -> list[SharedTrajectory]:
        """Many days, in the order given."""
        return self.share_batch(
            trajectories, workers=workers, randomness=randomness, progress=progress
        ).shared

    def share_batch(
        self,
        trajectories: Sequence[Trajectory],
        *,
        workers: int = 1,
        randomness: Randomness | None = None,
        progress: Progress | None = None,
    ) -> Batch:
        """Many days with a count of how they were found; compiled loops let threads share the work."""
        source = randomness or SystemRandomness()
        chunks = self._chunks(trajectories)
        shared: list[SharedTrajectory | None] = [None] * len(trajectories)
        counts: Counter[str] = Counter()
        seconds: Counter[str] = Counter()
        finished = 0

        def process(rows: _Rows) -> _Done:
            return self._process(rows, source.stream(rows.stream), constant_work=False)

        with ThreadPoolExecutor(max_workers=min(workers, os.cpu_count() or 1)) as pool:
            for done in pool.map(process, chunks):
                for number, result in zip(done.numbers, done.shared, strict=True):
                    shared[number] = result
                for kind, names, ways in (
                    ("regions", REGION_WAYS, done.region_ways),
                    ("places", PLACE_WAYS, done.place_ways),
                ):
                    for way, count in enumerate(np.bincount(ways).tolist()):
                        counts[f"{kind}: {names[way]}"] += count
                seconds.update(done.seconds)
                finished += len(done.numbers)
                if progress is not None:
                    progress(finished, len(trajectories))
        found = {what: count for what, count in counts.items() if count}
        return Batch(shared=[s for s in shared if s is not None], counts=found, seconds=dict(seconds))

    def describe(self) -> dict[str, Any]:
        """Method and promise, for the metadata of a file."""
        facts: dict[str, Any] = {
            "method": self.name,
            "n": self.n,
            "sensitivity": self.sensitivity,
            "is_ldp": self.sensitivity == "world",
            "length_is_public": True,
        }
        if self.epsilon is not None:
            facts["epsilon"] = str(self.epsilon)
        else:
            facts["epsilon_per_draw"] = str(self.epsilon_per_draw)
            facts["epsilon_at_most"] = float(self.spent_on(self.world.clock.timesteps))
        if self.sensitivity != "world":
            facts["promise"] = "NOT ε-LDP"
            facts["epsilon_of_the_ideal_mechanism_on_5_visits"] = float(self.spent_on(5))
        return facts

    def _chunks(self, trajectories: Sequence[Trajectory]) -> list[_Rows]:
        """Trajectories of the same length together, in pieces that do not depend on the workers."""
        by_length: dict[int, list[int]] = {}
        for number, trajectory in enumerate(trajectories):
            by_length.setdefault(len(trajectory), []).append(number)
        chunks: list[_Rows] = []
        # The longest take longest: begun first, they leave no thread waiting at the end.
        for length in sorted(by_length, reverse=True):
            self.prepare(length)
            numbers = by_length[length]
            for start in range(0, len(numbers), _CHUNK):
                piece = numbers[start : start + _CHUNK]
                chunks.append(_Rows(piece, [trajectories[number] for number in piece], len(chunks)))
        return chunks

    def _true_regions(self, trajectories: Sequence[Trajectory]) -> Indices:
        self.prepare(len(trajectories[0]))
        return np.array([self._finder.regions_of(trajectory) for trajectory in trajectories], dtype=np.int32)

    def _plan(self, length: int) -> Plan:
        if length not in self._plans:
            self._plans[length] = plan_draws(self.draws_for(length), self.world.max_distance)
        return self._plans[length]

    def _process(self, rows: _Rows, source: Randomness, *, constant_work: bool) -> _Done:
        """Draws, then what is made of them; only the first step sees what is true."""
        length = len(rows.trajectories[0])
        started = time.perf_counter()
        true_regions = self._true_regions(rows.trajectories)
        plan = self._plan(length)
        draws, trials = self._draw(true_regions, plan, source, constant_work=constant_work)
        drawn = time.perf_counter()
        paths, _, region_ways = region_paths(
            draws, plan, self._columns, self.world.distances, self.world.graph.words, self._boxes, length
        )
        chained = time.perf_counter()
        chosen, times, place_ways = place_paths(paths, self._places, source.words(len(draws)))
        ids = self.world.places.ids
        shared = [
            SharedTrajectory(zip([ids[place] for place in row], steps, strict=True))
            for row, steps in zip(chosen.tolist(), times.tolist(), strict=True)
        ]
        ended = time.perf_counter()
        seconds = {"perturb": drawn - started, "regions": chained - drawn, "places": ended - chained}
        return _Done(rows.numbers, shared, trials, region_ways, place_ways, seconds)

    def _draw(
        self, true_regions: Indices, plan: Plan, source: Randomness, *, constant_work: bool
    ) -> tuple[Indices, NDArray[np.int64]]:
        if self.sensitivity == "world":
            return perturb_regions(
                true_regions, plan, self._proposals, self.world.distances, source, constant_work=constant_work
            )
        epsilons = np.array([float(draw.epsilon) for draw in self.draws_for(true_regions.shape[1])])
        words, seeds = self.world.graph.words, source.words(len(true_regions))
        draws = tilted_rows(true_regions, plan, epsilons, words, self.world.distances, seeds)
        return draws, np.zeros((len(true_regions), len(plan.starts)), dtype=np.int64)
