"""`uniform`, `popular`, `constant`, `typical`: days that ignore the person."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Protocol

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.days.feasible import FeasibleDays
from elsewhere.days.popular import constant_day, popular_days, popularity_by_timestep
from elsewhere.days.smoothing import SETTLE_WAYS
from elsewhere.days.typical import typical_day
from elsewhere.days.visits import Days, check_length, days_of_one_length, visit_distances
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.listing import AnyStep, Outcome, State
from elsewhere.mechanism.secret import Nothing
from elsewhere.methods.protocol import Drawn, MethodFacts, Rebuilt
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World


class Source(Protocol):
    """Where days come from that are nobody's."""

    most_visits: int | None
    """The most visits of a day that does not go by anybody's; None if days are as long as is asked."""

    def prepare(self, length: int) -> None:
        """Work out what days of ``length`` need; raises if there are none."""
        ...

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Days, Indices]:
        """``count`` days, and how each was settled (`days.smoothing.SETTLE_WAYS`)."""
        ...


class Null:
    """No draw, no ε: of a trajectory only its length is used, which is public, or not even that."""

    def __init__(self, name: str, world: World, source: Source) -> None:
        self.name = name
        self.hides_length = source.most_visits is not None
        self.world = world
        self.secret = Nothing()
        self._source = source

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """None."""
        del length
        return ()

    def spent_on(self, length: int) -> Fraction:
        """Nothing."""
        del length
        return Fraction(0)

    def prepare(self, length: int) -> None:
        """Work out what days of ``length`` need; raises if there are none."""
        if not self.hides_length:
            check_length(self.world, length)
        self._source.prepare(length)

    def tables(self, length: int) -> None:
        """Nothing: there is no draw."""
        del length

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """No draws for each row."""
        del randomness, constant_work
        nothing = np.zeros((len(secrets), 0), dtype=np.int32)
        length = 0 if self.hides_length else secrets.shape[1]
        return Drawn(length=length, values=nothing), nothing.astype(np.int64)

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """As many days as there are rows, made of the world and randomness."""
        started = time.perf_counter()
        days, ways = self._source.days(drawn.length, len(drawn.values), randomness)
        return Rebuilt(
            days=days,
            ways={"places": [SETTLE_WAYS[way] for way in ways.tolist()]},
            seconds={"places": time.perf_counter() - started},
        )

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """There is no draw."""
        del secret, state
        return None

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """No outcome for each row."""
        return [()] * len(drawn.values)

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        return MethodFacts(
            method=self.name,
            epsilon=Fraction(0),
            length_is_public=not self.hides_length,
            most_visits=self._source.most_visits,
            is_null=True,
        )


class UniformDays:
    """Any feasible day of open places is as likely as any other."""

    most_visits: int | None = None

    def __init__(self, world: World, cache: str | Path | None, progress: Progress) -> None:
        self._feasible = FeasibleDays(world, cache, progress)

    def prepare(self, length: int) -> None:
        """Count the days of ``length``."""
        self._feasible.tables(length)

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Days, Indices]:
        """Drawn by counting."""
        return self._feasible.draw(length, count, randomness), np.zeros(count, dtype=np.int32)


class PopularDays:
    """Popular places at popular times."""

    most_visits: int | None = None

    def __init__(self, world: World) -> None:
        self._places = place_world(world)
        self._popularity = popularity_by_timestep(world)

    def prepare(self, length: int) -> None:
        """Nothing to work out."""

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Days, Indices]:
        """Drawn by popularity, times shifted where a day would not be feasible."""
        words = randomness.words_for_rows(count, 1)[:, 0]
        places, times, ways = popular_days(self._places, self._popularity, length, words)
        return days_of_one_length(places, times), ways


class ConstantDay:
    """The same day for everybody with as many visits."""

    most_visits: int | None = None

    def __init__(self, world: World) -> None:
        self._world = world
        self._days: dict[int, Days] = {}

    def prepare(self, length: int) -> None:
        """Find the day of ``length`` visits."""
        if length not in self._days:
            world = self._world
            places, times = constant_day(
                place_world(world), visit_distances(world), popularity_by_timestep(world), length
            )
            self._days[length] = days_of_one_length(places[None, :], times[None, :])

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Days, Indices]:
        """The day, as often as asked."""
        del randomness
        self.prepare(length)
        return _repeated(self._days[length], count)


class TypicalDay:
    """The same day for everybody, of whatever number of visits: the best guess of the public prior."""

    def __init__(self, world: World) -> None:
        self._day = typical_day(world)
        self.most_visits: int | None = int(self._day.lengths[0])

    def prepare(self, length: int) -> None:
        """Nothing to work out."""

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Days, Indices]:
        """The day, as often as asked."""
        del length, randomness
        return _repeated(self._day, count)


def _repeated(day: Days, count: int) -> tuple[Days, Indices]:
    return Days(*(np.repeat(column, count, axis=0) for column in day)), np.zeros(count, dtype=np.int32)


def uniform(
    world: World,
    *,
    epsilon: float | str | Fraction | None = None,
    cache: str | Path | None = None,
    progress: Progress = no_progress,
) -> Null:
    """Null: any feasible day. An ε may be given, so that nulls can stand beside methods; none is spent."""
    del epsilon
    return Null("uniform", world, UniformDays(world, cache, progress))


def popular(world: World, *, epsilon: float | str | Fraction | None = None) -> Null:
    """Null: popular places at popular times."""
    del epsilon
    return Null("popular", world, PopularDays(world))


def constant(world: World, *, epsilon: float | str | Fraction | None = None) -> Null:
    """Null: one public day for everybody with as many visits."""
    del epsilon
    return Null("constant", world, ConstantDay(world))


def typical(world: World, *, epsilon: float | str | Fraction | None = None) -> Null:
    """Null: one public day for everybody, of whatever number of visits; for methods that hide the length."""
    del epsilon
    return Null("typical", world, TypicalDay(world))
