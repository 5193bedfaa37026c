"""`ind-reach` and `ind-noreach`: every visit perturbed by itself, as a place and a timestep at once."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.mechanism.budget import Draw, exact_epsilon, split_evenly, total
from elsewhere.mechanism.draw import coin_of
from elsewhere.mechanism.step import Outcome, State, Step
from elsewhere.mechanism.visits import (
    VisitTables,
    build_rooms,
    list_candidates,
    order_by_time,
    perturb_visits,
    visit_scores,
)
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.methods.visit_rows import VisitRows
from elsewhere.randomness import Randomness
from elsewhere.reconstruct.place_path import settle_days
from elsewhere.trajectories import Trajectory
from elsewhere.world.visits import largest_visit_distance, place_world, visit_distances
from elsewhere.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Listed:
    """Candidates of a draw, for the audit."""

    visits: Indices
    outcomes: list[Outcome]
    proposal: list[Fraction]
    states: list[State]


class Individual:
    """|τ| draws of ε / |τ| each; |τ| is public.

    Paper: section 5.9 (ss:alternative-approaches), IndReach and IndNoReach.
    """

    hides_length = False

    def __init__(
        self, world: World, *, epsilon: float | str | Fraction | None = None, uses_reach: bool = True
    ) -> None:
        self.name = "ind-reach" if uses_reach else "ind-noreach"
        self.world = world
        self.epsilon = exact_epsilon(epsilon)  # type: ignore[arg-type]  # None is refused there
        self.uses_reach = uses_reach
        self._rows = VisitRows(world)
        self._places = place_world(world)
        self._distances = visit_distances(world)
        self._sensitivity = largest_visit_distance(self._distances, world.clock.timesteps)
        self._tables: dict[int, VisitTables] = {}
        self._candidates: dict[tuple[int, int, int], _Listed] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """A draw for each visit."""
        return tuple(replace(draw, what="visit") for draw in split_evenly(self.epsilon, length, 1))

    def spent_on(self, length: int) -> Fraction:
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out the tables for days of ``length``; raises if they cannot be shared."""
        self._rows.check_length(length)
        coin_of(self.draws_for(length)[0].epsilon)
        self.tables(length)

    def tables(self, length: int) -> VisitTables:
        """What is public for days of ``length``."""
        if length not in self._tables:
            later = build_rooms(self._places, length if self.uses_reach else 1)
            by_time, starts = order_by_time(later)
            self._tables[length] = VisitTables(
                places=self._places,
                distances=self._distances,
                later=later,
                by_time=by_time,
                starts=starts,
                sensitivity=self._sensitivity,
                uses_reach=self.uses_reach,
            )
        return self._tables[length]

    def secret(self, trajectory: Trajectory) -> Outcome:
        """Each visit as a number."""
        return self._rows.secret(trajectory)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """Visits drawn one after the other."""
        length = secrets.shape[1]
        coin = coin_of(self.draws_for(length)[0].epsilon)
        values, trials = perturb_visits(
            secrets, self.tables(length), coin, randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The days themselves; where they are not feasible, times are shifted as little as possible."""
        del randomness
        started = time.perf_counter()
        places, times = np.divmod(drawn.values, np.int32(self.world.clock.timesteps))
        ways = settle_days(self._places, places, times)
        return self._rows.rebuilt(places, times, ways, started)

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index, previous visit), listed."""
        length, index = state[:2]
        if index == length:
            return None
        previous = state[2] if len(state) > 2 else -1
        listed = self._listed(length, index, previous)
        far = visit_scores(self.tables(length), secret[index], listed.visits).tolist()
        coin = coin_of(self.draws_for(length)[index].epsilon)
        return Step(
            outcomes=listed.outcomes,
            proposal=listed.proposal,
            numerators=[coin.numerator * score for score in far],
            denominator=coin.denominator,
            trials=coin.trials,
            states=listed.states,
        )

    def _listed(self, length: int, index: int, previous: int) -> _Listed:
        """Candidates after a perturbed visit; only what reachability sees of it is kept in the state."""
        key = (length, index, previous)
        if key not in self._candidates:
            visits = list_candidates(self.tables(length), previous, length - 1 - index)
            self._candidates[key] = _Listed(
                visits=visits,
                outcomes=[(visit,) for visit in visits.tolist()],
                proposal=[Fraction(1, len(visits))] * len(visits),
                states=[
                    (length, index + 1, visit) if self.uses_reach else (length, index + 1)
                    for visit in visits.tolist()
                ],
            )
        return self._candidates[key]

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row each visit by itself."""
        return [tuple((visit,) for visit in row) for row in drawn.values.tolist()]

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        return {"method": self.name, "is_ldp": True, "epsilon": str(self.epsilon)}
