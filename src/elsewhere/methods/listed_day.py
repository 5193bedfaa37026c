"""`global-subsampled` and `global-pf`: what the paper says of the global solution's cost, on small worlds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any, Literal

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.draw import coin_of
from elsewhere.mechanism.listed_days import flip_chances, permute_and_flip, perturb_subsampled
from elsewhere.mechanism.step import AnyStep, GivenStep, Outcome, State, Step
from elsewhere.mechanism.whole_days import day_scores
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.methods.whole_day import Global
from elsewhere.randomness import Randomness
from elsewhere.world.world import World

_MOST_SAMPLES = 100_000


class GlobalListed(Global):
    """One draw of ε over all feasible days, listed; |τ| is public.

    Subsampled: a sample of days that has nothing to do with the truth, then the exponential mechanism
    on it. Permute-and-flip: every day in a random order gets its coin, the first that comes up is it.
    """

    hides_length = False

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
    ) -> tuple[Drawn, Trials]:
        """One draw for each day, after the sample it is drawn from, if there is one."""
        length = secrets.shape[1]
        days, tables, coin = self._candidates(length)[2], self.tables(length), coin_of(self.epsilon)
        if self.variant == "pf":
            chosen, trials = permute_and_flip(
                secrets, tables, days, coin, randomness, constant_work=constant_work
            )
            return Drawn(length=length, values=days[chosen[:, 0]]), trials
        samples, chosen, trials = perturb_subsampled(
            secrets, tables, days, self.sample_size, coin, randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=np.hstack([samples, days[chosen[:, 0]]])), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The drawn days as they are."""
        return super().rebuild(replace(drawn, values=drawn.values[:, -drawn.length :]), randomness)

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The sample, which an onlooker may see for all we care, and the draw from it."""
        length, index = state[:2]
        outcomes, _, days = self._candidates(length)
        if index == (1 if self.variant == "pf" else 2):
            return None
        scores = day_scores(self.tables(length), np.array(secret, dtype=np.int32), days).tolist()
        coin = coin_of(self.epsilon)
        if self.variant == "pf":
            states = [(length, 1)] * len(outcomes)
            return GivenStep(outcomes=outcomes, chances=flip_chances(scores, coin), states=states)
        if index == 0:
            return self._sampling(length)
        picked: Counter[int] = Counter(state[2])
        return Step(
            outcomes=[outcomes[day] for day in picked],
            proposal=[Fraction(times, self.sample_size) for times in picked.values()],
            numerators=[coin.numerator * scores[day] for day in picked],
            denominator=coin.denominator,
            trials=coin.trials,
            states=[(length, 2)] * len(picked),
        )

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """The sample, if there is one, and the day."""
        if self.variant == "pf":
            return super().outcomes(drawn)
        cut = self.sample_size
        return [(tuple(row[:cut]), tuple(row[cut:])) for row in drawn.values.tolist()]

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        facts = super().describe()
        return {**facts, "sample_size": self.sample_size} if self.variant == "subsampled" else facts

    def _sampling(self, length: int) -> Step:
        """All samples, equally likely whatever is true."""
        if length not in self._samples:
            count = len(self._candidates(length)[0])
            if count**self.sample_size > _MOST_SAMPLES:
                raise InputError("audit", f"more than {_MOST_SAMPLES:,} samples are too many to list")
            every = list(product(range(count), repeat=self.sample_size))
            self._samples[length] = Step(
                outcomes=every,
                proposal=[Fraction(1, len(every))] * len(every),
                numerators=[0] * len(every),
                denominator=1,
                trials=1,
                states=[(length, 1, sample) for sample in every],
            )
        return self._samples[length]
