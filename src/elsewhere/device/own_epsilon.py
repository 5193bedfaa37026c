"""An ε for each person: one method for everybody, or one for each ε that people chose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from elsewhere.device.matching import Person
from elsewhere.errors import Fault, InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.methods.protocol import MethodFacts
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness
from elsewhere.trajectories import SharedTrajectory
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


def epsilon_of(person: Person) -> Fraction:
    """What a person chose, of a file that was checked (`epsilon_fault`)."""
    [chosen] = person.epsilons
    return exact_epsilon(chosen.epsilon)


def epsilon_fault(person: Person) -> Fault | None:
    """What is wrong with the ε of a person's day: its rows must agree. Private values are not quoted."""
    first, *others = person.epsilons
    if others:
        problem = f"differs within one person's day, must be as in row {first.row}"
        return Fault(row=others[0].row, column="epsilon", problem=problem)
    try:
        exact_epsilon(first.epsilon)
    except InputError:
        return Fault(row=first.row, column="epsilon", problem="must be a number above 0")
    return None


def method_of(method: AnyMethod, person: Person) -> Sharing:
    """How a person's day is shared."""
    return method.of(epsilon_of(person)) if isinstance(method, OwnEpsilon) else method


def share_all(
    method: AnyMethod, people: Sequence[Person], workers: int, randomness: Randomness
) -> tuple[list[SharedTrajectory], dict[str, int]]:
    """Everybody's day, in the order given, and how they were found."""
    if isinstance(method, Sharing):
        batch = method.share_batch(
            [person.trajectory for person in people], workers=workers, randomness=randomness
        )
        return batch.shared, batch.counts
    by_epsilon: dict[Fraction, list[int]] = defaultdict(list)
    for row, person in enumerate(people):
        by_epsilon[epsilon_of(person)].append(row)
    shared: dict[int, SharedTrajectory] = {}
    counts: dict[str, int] = defaultdict(int)
    for number, (epsilon, rows) in enumerate(sorted(by_epsilon.items())):
        batch = method.of(epsilon).share_batch(
            [people[row].trajectory for row in rows], workers=workers, randomness=randomness.stream(number)
        )
        shared.update(zip(rows, batch.shared, strict=True))
        for way, count in batch.counts.items():
            counts[way] += count
    return [shared[row] for row in range(len(people))], dict(counts)
