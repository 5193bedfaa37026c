"""`ngram-noh` and `physdist`: no hierarchy. Perturb timesteps, then n-grams of places that fit them."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, total, windows
from elsewhere.mechanism.draw import coin_of
from elsewhere.mechanism.perturb import plan_draws
from elsewhere.mechanism.place_proposal import check_countable, list_places, open_places
from elsewhere.mechanism.place_walks import WalkTables, perturb_walks, spread, time_score, walk_score
from elsewhere.mechanism.step import Outcome, State, Step
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.methods.visit_rows import VisitRows
from elsewhere.randomness import Randomness
from elsewhere.reconstruct.node_errors import place_boxes, region_columns
from elsewhere.reconstruct.place_chain import place_chains
from elsewhere.trajectories import Trajectory
from elsewhere.world.visits import (
    largest_place_distance,
    largest_time_distance,
    place_distances,
    place_world,
    visit_distances,
)
from elsewhere.world.world import World

_WAYS = (
    "row-wise best",
    "shortest chain",
    "shortest chain outside the box",
    "shifted to opening hours",
    "partly closed",
)


class PlaceNgram:
    """2|τ| + n − 1 draws of ε / (2|τ| + n − 1) each; |τ| is public.

    Paper: section 5.9 (ss:alternative-approaches), NGramNoH and PhysDist.
    """

    hides_length = False

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        n: int = 2,
        has_categories: bool = True,
    ) -> None:
        if n < 1:
            raise InputError("n", f"found {n}, must be 1 or more")
        check_countable(len(world.places), n)
        self.name = "ngram-noh" if has_categories else "physdist"
        self.world = world
        self.n = n
        self.epsilon = exact_epsilon(epsilon)  # type: ignore[arg-type]  # None is refused there
        self._rows = VisitRows(world)
        self._opens = open_places(place_world(world))
        self._distances = visit_distances(world, has_categories=has_categories)
        self._place_distances = place_distances(self._distances)
        self._columns = region_columns(self._place_distances)
        self._boxes = place_boxes(world.places)
        self._largest = largest_place_distance(self._distances)
        self._tables: dict[int, WalkTables] = {}
        self._walks: dict[tuple[int, ...], list[Outcome]] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """A timestep for each visit, then the windows of places: ε shared evenly."""
        parts = windows(length, self.n)
        share = self.epsilon / (length + len(parts))
        times = [Draw(start=i, length=1, epsilon=share, what="timestep") for i in range(length)]
        places = [
            Draw(start=start, length=size, epsilon=share, what="n-gram of places") for start, size in parts
        ]
        draws = (*times, *places)
        if total(draws) > self.epsilon:
            raise AssertionError("the draws would spend more than ε")
        return draws

    def spent_on(self, length: int) -> Fraction:
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out the tables for days of ``length``; raises if they cannot be shared."""
        self._rows.check_length(length)
        self.tables(length)

    def tables(self, length: int) -> WalkTables:
        """What is public for days of ``length``."""
        if length not in self._tables:
            draws = self.draws_for(length)
            self._tables[length] = WalkTables(
                opens=self._opens,
                distances=self._distances,
                time_coin=coin_of(draws[0].epsilon),
                time_sensitivity=largest_time_distance(self._distances, self.world.clock.timesteps),
                plan=plan_draws(draws[length:], self._largest),
            )
        return self._tables[length]

    def secret(self, trajectory: Trajectory) -> Outcome:
        """Each visit as a number."""
        return self._rows.secret(trajectory)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """Timesteps, then places of each window."""
        length = secrets.shape[1]
        values, trials = perturb_walks(secrets, self.tables(length), randomness, constant_work=constant_work)
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The chain of places that fits the draws best at the drawn times, sorted and spread."""
        del randomness
        started = time.perf_counter()
        day, length = self.world.clock.timesteps, drawn.length
        times = np.stack([spread(row[:length], day) for row in drawn.values])
        chosen, _, ways = place_chains(
            np.ascontiguousarray(drawn.values[:, length:]),
            times,
            self.tables(length).plan,
            self._columns,
            self._place_distances,
            self._opens.places,
            self._boxes,
        )
        return Rebuilt(
            shared=self._rows.shared(chosen, times),
            ways={"places": [_WAYS[way] for way in ways.tolist()]},
            seconds={"places": time.perf_counter() - started},
        )

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index, timesteps so far), listed.

        While timesteps are drawn the state has them sorted, and then spread: more is not made of them.
        """
        length, index = state[:2]
        times: tuple[int, ...] = state[2] if len(state) > 2 else ()
        if index == 2 * length + min(self.n, length) - 1:
            return None
        tables = self.tables(length)
        if index < length:
            return self._time_step(secret, length, index, times)
        window, plan = index - length, tables.plan
        start, size = int(plan.starts[window]), int(plan.lengths[window])
        truth = np.array(secret[start : start + size], dtype=np.int32)
        walks = self._listed(times[start : start + size])
        sensitivity = float(plan.sensitivities[window])
        far = [walk_score(tables, truth, np.array(walk, dtype=np.int32), sensitivity) for walk in walks]
        return Step(
            outcomes=walks,
            proposal=[Fraction(1, len(walks))] * len(walks),
            numerators=[int(plan.numerators[window]) * score for score in far],
            denominator=int(plan.denominators[window]),
            trials=int(plan.trials[window]),
            states=[(length, index + 1, times)] * len(walks),
        )

    def _time_step(self, secret: Outcome, length: int, index: int, times: tuple[int, ...]) -> Step:
        tables, day = self.tables(length), self.world.clock.timesteps
        coin = tables.time_coin
        after = [tuple(sorted((*times, step))) for step in range(day)]
        if index == length - 1:
            after = [tuple(spread(np.array(row, dtype=np.int32), day).tolist()) for row in after]
        return Step(
            outcomes=[(step,) for step in range(day)],
            proposal=[Fraction(1, day)] * day,
            numerators=[coin.numerator * time_score(tables, secret[index], step) for step in range(day)],
            denominator=coin.denominator,
            trials=coin.trials,
            states=[(length, index + 1, row) for row in after],
        )

    def _listed(self, times: tuple[int, ...]) -> list[Outcome]:
        if times not in self._walks:
            self._walks[times] = list_places(self._opens, times)
        return self._walks[times]

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row each timestep, then the places of each window."""
        length, plan = drawn.length, self.tables(drawn.length).plan
        cuts = [(i, i + 1) for i in range(length)]
        cuts += [
            (length + o, length + o + n)
            for o, n in zip(plan.offsets.tolist(), plan.lengths.tolist(), strict=True)
        ]
        return [tuple(tuple(row[a:b]) for a, b in cuts) for row in drawn.values.tolist()]

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        return {"method": self.name, "n": self.n, "is_ldp": True, "epsilon": str(self.epsilon)}
