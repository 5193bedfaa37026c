"""An ε for each person: one method for everybody, or one for each ε that people chose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from elsewhere.days.visits import Days, days_in_order
from elsewhere.device.day_columns import PeopleColumns
from elsewhere.device.matching import Person
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


def epsilon_of(texts: Sequence[str]) -> Fraction | None:
    """What a person chose, from what the rows of a day say, each text once; None if they do not tell."""
    try:
        return exact_epsilon(texts[0]) if len(texts) == 1 else None
    except InputError:
        return None


def epsilon_fault(person: Person) -> Fault | None:
    """What is wrong with the ε of a person's day: its rows must agree. Private values are not quoted."""
    first, *others = person.epsilons
    for chosen in person.epsilons:
        if epsilon_of([chosen.epsilon]) is None:
            return Fault(row=chosen.row, column="epsilon", problem="must be a number above 0")
    if others:
        problem = f"differs within one person's day, must be as in row {first.row}"
        return Fault(row=others[0].row, column="epsilon", problem=problem)
    return None


def epsilons_of(people: PeopleColumns) -> list[Fraction] | None:
    """What each person chose; None if some day does not tell (`epsilon_fault` says what is wrong)."""
    written = list(map(tuple, people.epsilons.to_list()))
    chosen = {texts: epsilon_of(texts) for texts in set(written)}
    found = [epsilon for epsilon in map(chosen.get, written) if epsilon is not None]
    return found if len(found) == len(written) else None


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
