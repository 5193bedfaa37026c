"""`ind-reach` and `ind-noreach`: every visit perturbed by itself, a place and a timestep at once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from elsewhere.arrays import Counts, Indices
from elsewhere.days.smoothing import SETTLE_WAYS, settle_days
from elsewhere.days.visits import (
    check_length,
    days_of_one_length,
    largest_visit_distance,
    parts_of,
    visit_distances,
)
from elsewhere.mechanism.budget import Draw, exact_epsilon, split_evenly, total
from elsewhere.mechanism.individual import (
    VisitTables,
    list_candidates,
    open_later,
    order_by_time,
    perturb_visits,
    visit_scores,
)
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.rejection import Coin, coin_of
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.methods.protocol import Drawn, MethodFacts, Rebuilt
from elsewhere.randomness import Randomness
from elsewhere.world.place_world import place_world
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
        self.epsilon = exact_epsilon(epsilon)
        self.uses_reach = uses_reach
        self.secret = NumberedVisits(world)
        self._places = place_world(world)
        self._distances = visit_distances(world)
        self._listed: dict[tuple[int, int, int], _Listed] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """A draw for each visit."""
        return split_evenly(self.epsilon, [((i, 1), "visit") for i in range(length)])

    def spent_on(self, length: int) -> Fraction:
        """The sum of the draws."""
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out the tables for days of ``length``; raises if they cannot be shared."""
        check_length(self.world, length)
        self.coin(length)
        self.tables(length)

    def coin(self, length: int) -> Coin:
        """The coin of each draw of a day of ``length`` visits."""
        return coin_of(self.draws_for(length)[0].epsilon)

    def tables(self, length: int) -> VisitTables:  # noqa: ARG002 - as all methods have it
        """What is public, the same for days of every length."""
        return self._tables

    @cached_property
    def _tables(self) -> VisitTables:
        later = open_later(self._places.is_open)
        by_time, starts = order_by_time(later)
        return VisitTables(
            places=self._places,
            distances=self._distances,
            later=later,
            by_time=by_time,
            starts=starts,
            sensitivity=largest_visit_distance(self._distances, self.world.clock.timesteps),
            uses_reach=self.uses_reach,
        )

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """Visits drawn one after the other."""
        length = secrets.shape[1]
        values, trials = perturb_visits(
            secrets, self.tables(length), self.coin(length), randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The days themselves; where they are not feasible, times are shifted as little as possible."""
        del randomness
        started = time.perf_counter()
        places, times = parts_of(drawn.values, self.world.clock.timesteps)
        ways = settle_days(self._places, places, times)
        return Rebuilt(
            days=days_of_one_length(places, times),
            ways={"places": [SETTLE_WAYS[way] for way in ways.tolist()]},
            seconds={"places": time.perf_counter() - started},
        )

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index, previous visit), listed."""
        length, index = state[:2]
        if index == length:
            return None
        previous = state[2] if len(state) > 2 else -1
        listed = self._candidates(length, index, previous)
        far = visit_scores(self.tables(length), secret[index], listed.visits).tolist()
        return scored_step(listed.outcomes, listed.proposal, far, self.coin(length), listed.states)

    def _candidates(self, length: int, index: int, previous: int) -> _Listed:
        """Candidates after a perturbed visit; only what reachability sees of it is kept in the state."""
        key = (length, index, previous)
        if key not in self._listed:
            visits = list_candidates(self.tables(length), previous)
            self._listed[key] = _Listed(
                visits=visits,
                outcomes=[(visit,) for visit in visits.tolist()],
                proposal=[Fraction(1, len(visits))] * len(visits),
                states=[
                    (length, index + 1, visit) if self.uses_reach else (length, index + 1)
                    for visit in visits.tolist()
                ],
            )
        return self._listed[key]

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row each visit by itself."""
        return [tuple((visit,) for visit in row) for row in drawn.values.tolist()]

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        return MethodFacts(method=self.name, epsilon=self.epsilon)
