"""`global` and its variants: one draw over all feasible days, which the paper calls infeasible."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.days.feasible import FeasibleDays, list_days
from elsewhere.days.visits import (
    check_length,
    days_of_one_length,
    largest_visit_distance,
    parts_of,
    visit_distances,
)
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, total
from elsewhere.mechanism.listing import AnyStep, GivenStep, Outcome, State, Step, chosen_among, scored_step
from elsewhere.mechanism.rejection import coin_of
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.mechanism.whole_day import (
    ListedDays,
    WholeDayTables,
    day_scores,
    flip_chances,
    permute_and_flip,
    perturb_days,
    perturb_subsampled,
)
from elsewhere.methods.protocol import Drawn, MethodFacts, Rebuilt
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness
from elsewhere.world.world import World

# The trials of a draw grow with e^(ε/2); past this a day would take seconds.
_LARGEST_EPSILON = 14
_MOST_SAMPLES = 100_000


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
        progress: Progress = no_progress,
    ) -> None:
        self.world = world
        self.epsilon = exact_epsilon(epsilon)
        if self.epsilon > _LARGEST_EPSILON:
            raise InputError(
                "epsilon",
                f"{float(self.epsilon):g} for a whole day at once takes too long: at most {_LARGEST_EPSILON}",
            )
        self.secret = NumberedVisits(world)
        self._coin = coin_of(self.epsilon)
        self._days = FeasibleDays(world, cache, progress)
        self._distances = visit_distances(world)
        self._sensitivity = largest_visit_distance(self._distances, world.clock.timesteps)
        self._listed: dict[int, tuple[list[Outcome], list[Fraction], Indices]] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """One draw of everything."""
        return (Draw(start=0, length=length, epsilon=self.epsilon, what="whole day"),)

    def spent_on(self, length: int) -> Fraction:
        """ε, whatever the length."""
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Count the days of ``length``; raises if there are none."""
        check_length(self.world, length)
        self.tables(length)

    def tables(self, length: int) -> WholeDayTables:
        """Counts of feasible days, and how far apart days can be."""
        return WholeDayTables(self._days.tables(length), self._distances, self._sensitivity)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """One draw for each day."""
        length = secrets.shape[1]
        values, trials = perturb_days(
            secrets, self.tables(length), self._coin, randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The drawn days as they are: every one is feasible."""
        del randomness
        started = time.perf_counter()
        visits = drawn.values[:, -drawn.length :]
        days = days_of_one_length(*parts_of(visits, self.world.clock.timesteps))
        ways = {"places": ["as drawn"] * len(visits)}
        return Rebuilt(days=days, ways=ways, seconds={"places": time.perf_counter() - started})

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The one draw, listed."""
        length, index = state
        if index:
            return None
        outcomes, proposal, _ = self._candidates(length)
        return scored_step(
            outcomes, proposal, self._scores(secret), self._coin, [(length, 1)] * len(outcomes)
        )

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """Whole days."""
        return [(tuple(row),) for row in drawn.values.tolist()]

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        return MethodFacts(method=self.name, epsilon=self.epsilon)

    def _scores(self, secret: Outcome) -> list[int]:
        truth, days = np.array(secret, dtype=np.int32), self._candidates(len(secret))[2]
        found: list[int] = day_scores(self.tables(len(secret)), truth, days).tolist()
        return found

    def _candidates(self, length: int) -> tuple[list[Outcome], list[Fraction], Indices]:
        if length not in self._listed:
            days, chances = list_days(self._days.tables(length))
            self._listed[length] = (list(map(tuple, days.tolist())), chances, days)
        return self._listed[length]


class GlobalListed(Global):
    """One draw of ε over all feasible days, listed; |τ| is public.

    Subsampled: a sample of days that has nothing to do with the truth, then the exponential mechanism
    on it. Permute-and-flip: every day in a random order gets its coin, the first that comes up is it.
    """

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        variant: Literal["subsampled", "pf"] = "subsampled",
        sample_size: int = 1000,
    ) -> None:
        super().__init__(world, epsilon=epsilon)
        if sample_size < 1:
            raise InputError("sample_size", f"found {sample_size}, must be 1 or more")
        self.name = f"global-{variant}"
        self.variant = variant
        self.sample_size = sample_size
        self._samples: dict[int, Step] = {}

    def prepare(self, length: int) -> None:
        """List the days of ``length``; raises if there are none, or too many."""
        super().prepare(length)
        self._candidates(length)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """One draw for each day, after the sample it is drawn from, if there is one."""
        length = secrets.shape[1]
        days = self._candidates(length)[2]
        listed = ListedDays(self.tables(length), days, self._coin)
        if self.variant == "pf":
            chosen, trials = permute_and_flip(secrets, listed, randomness, constant_work=constant_work)
        else:
            chosen, trials = perturb_subsampled(
                secrets, listed, self.sample_size, randomness, constant_work=constant_work
            )
        return Drawn(length=length, values=np.hstack([chosen[:, :-1], days[chosen[:, -1]]])), trials

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The sample, which an onlooker may see for all we care, and the draw from it."""
        length, index = state[:2]
        outcomes = self._candidates(length)[0]
        if index == (1 if self.variant == "pf" else 2):
            return None
        if self.variant == "pf":
            chances = flip_chances(self._scores(secret), self._coin)
            return GivenStep(outcomes=outcomes, chances=chances, states=[(length, 1)] * len(outcomes))
        if index == 0:
            return self._sampling(length)
        scores, picked = self._scores(secret), Counter[int](state[2])
        return scored_step(
            [outcomes[day] for day in picked],
            [Fraction(times, self.sample_size) for times in picked.values()],
            [scores[day] for day in picked],
            self._coin,
            [(length, 2)] * len(picked),
        )

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """The sample, if there is one, and the day."""
        if self.variant == "pf":
            return super().outcomes(drawn)
        cut = self.sample_size
        return [(tuple(row[:cut]), tuple(row[cut:])) for row in drawn.values.tolist()]

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        options: dict[str, Any] = {"sample_size": self.sample_size} if self.variant == "subsampled" else {}
        return MethodFacts(method=self.name, epsilon=self.epsilon, options=options)

    def _sampling(self, length: int) -> Step:
        """All samples, equally likely whatever is true."""
        if length not in self._samples:
            count = len(self._candidates(length)[0])
            if count**self.sample_size > _MOST_SAMPLES:
                raise InputError("audit", f"more than {_MOST_SAMPLES:,} samples are too many to list")
            every = list(product(range(count), repeat=self.sample_size))
            self._samples[length] = chosen_among(every, [(length, 1, sample) for sample in every])
        return self._samples[length]
