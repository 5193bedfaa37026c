"""An ε for each person: one method for everybody, or one for each ε that people chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from elsewhere.days.visits import Days, days_in_order
from elsewhere.device.day_columns import PeopleColumns
from elsewhere.errors import Fault, InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.methods.protocol import MethodFacts
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness
from elsewhere.world.world import World

OWN = "own"
"""In place of an ε: each person's is in a column of the file."""


class OwnEpsilon:
    """The method of each person. ε is public, and chosen by who one is, never by where one went (R12)."""

    def __init__(self, make: Callable[[Fraction], Sharing], world: World) -> None:
        self.world = world
        self._make = make
        self._made: dict[Fraction, Sharing] = {}

    def of(self, epsilon: Fraction) -> Sharing:
        """The method with that ε."""
        if epsilon not in self._made:
            self._made[epsilon] = self._make(epsilon)
        return self._made[epsilon]

    def facts(self) -> MethodFacts:
        """What all made so far say of themselves alike; ε stands in a column."""
        every = [self._made[epsilon].facts() for epsilon in sorted(self._made)]
        alike = {
            name: value
            for name, value in every[0].options.items()
            if all(facts.options.get(name) == value for facts in every)
        }
        chosen = ", ".join(map(str, sorted(self._made)))
        return replace(every[0], epsilon=None, length_epsilon=None, options={**alike, "epsilons": chosen})


AnyMethod = Sharing | OwnEpsilon


def epsilon_of(texts: Sequence[str]) -> Fraction:
    """What a person chose, from what the rows of a day say, each text once; they must agree."""
    if len(texts) != 1:
        raise InputError("epsilon", "differs within one person's day, must be the same in all its rows")
    try:
        return exact_epsilon(texts[0])
    except InputError:
        raise InputError("epsilon", "must be a number above 0 in every row") from None


def epsilons_of(people: PeopleColumns, source: str, before: int = 0) -> list[Fraction]:
    """What each person chose; a day that does not tell is refused by its number in the file."""
    found: dict[tuple[str, ...], Fraction] = {}
    every = []
    for number, texts in enumerate(map(tuple, people.epsilons.to_list()), start=before + 1):
        if texts not in found:
            try:
                found[texts] = epsilon_of(texts)
            except InputError as error:
                problem = f"trajectory {number}: epsilon {error.faults[0]}"
                raise InputError(source, [Fault(problem=problem)]) from None
        every.append(found[texts])
    return every


def share_all(
    method: AnyMethod,
    people: PeopleColumns,
    epsilons: Sequence[Fraction] | None,
    workers: int,
    randomness: Randomness,
) -> tuple[Days, dict[str, int]]:
    """Everybody's day, in the order given, and how they were found."""
    if isinstance(method, Sharing):
        batch = method.share_columns(people.days, workers=workers, randomness=randomness)
        return batch.days, batch.counts
    chosen = np.array(epsilons, dtype=object)
    parts, numbers, counts = [], [], Counter[str]()
    for number, epsilon in enumerate(sorted(set(chosen.tolist()))):
        rows = np.flatnonzero(chosen == epsilon)
        batch = method.of(epsilon).share_columns(
            people.days.some(rows), workers=workers, randomness=randomness.stream(number).of_rows(rows)
        )
        parts.append(batch.days)
        numbers.append(rows)
        counts.update(batch.counts)
    return days_in_order(parts, numbers), dict(counts)
