"""`global`: one draw of the exponential mechanism over all feasible days. The paper calls it infeasible."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, total
from elsewhere.mechanism.draw import coin_of
from elsewhere.mechanism.step import AnyStep, Outcome, State, Step
from elsewhere.mechanism.whole_days import DayTables, day_scores, list_days, perturb_days
from elsewhere.methods.day_counts import DayCounts
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.methods.visit_rows import VisitRows
from elsewhere.randomness import Randomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

# The trials of a draw grow with e^(ε/2); past this a day would take seconds.
_LARGEST_EPSILON = 14


class Global:
    """The global solution: one draw of ε over whole days; |τ| is public.

    Paper: section 5.1 (ss:global-solution).
    """

    name: str = "global"
    hides_length = False

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        cache: str | Path | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.world = world
        self.epsilon = exact_epsilon(epsilon)  # type: ignore[arg-type]  # None is refused there
        if self.epsilon > _LARGEST_EPSILON:
            raise InputError(
                "epsilon",
                f"{float(self.epsilon):g} for a whole day at once takes too long: at most {_LARGEST_EPSILON}",
            )
        self._rows = VisitRows(world)
        self._counts = DayCounts(world, cache, progress)
        self._listed: dict[int, tuple[list[Outcome], list[Fraction], Indices]] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """One draw of everything."""
        return (Draw(start=0, length=length, epsilon=self.epsilon, what="whole day"),)

    def spent_on(self, length: int) -> Fraction:
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Count the days of ``length``; raises if there are none."""
        self._rows.check_length(length)
        self.tables(length)

    def tables(self, length: int) -> DayTables:
        """Counts of feasible days."""
        return self._counts.tables(length)

    def secret(self, trajectory: Trajectory) -> Outcome:
        """Each visit as a number."""
        return self._rows.secret(trajectory)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """One draw for each day."""
        length = secrets.shape[1]
        values, trials = perturb_days(
            secrets, self.tables(length), coin_of(self.epsilon), randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The drawn days as they are: every one is feasible."""
        del randomness
        started = time.perf_counter()
        times, places = np.divmod(drawn.values, np.int32(len(self.world.places)))
        return self._rows.rebuilt(places, times, np.zeros(len(places), dtype=np.int32), started)

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The one draw, listed."""
        length, index = state
        if index:
            return None
        outcomes, proposal, days = self._candidates(length)
        far = day_scores(self.tables(length), np.array(secret, dtype=np.int32), days).tolist()
        coin = coin_of(self.epsilon)
        return Step(
            outcomes=outcomes,
            proposal=proposal,
            numerators=[coin.numerator * score for score in far],
            denominator=coin.denominator,
            trials=coin.trials,
            states=[(length, 1)] * len(outcomes),
        )

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """Whole days."""
        return [(tuple(row),) for row in drawn.values.tolist()]

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        return {"method": self.name, "is_ldp": True, "epsilon": str(self.epsilon)}

    def _candidates(self, length: int) -> tuple[list[Outcome], list[Fraction], Indices]:
        if length not in self._listed:
            days, chances = list_days(self.tables(length))
            self._listed[length] = (list(map(tuple, days.tolist())), chances, days)
        return self._listed[length]
