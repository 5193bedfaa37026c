"""`uniform`, `popular`, `constant`, `typical`: days that ignore the person."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from elsewhere.arrays import Floats, Indices
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.step import AnyStep, Outcome, State
from elsewhere.mechanism.whole_days import propose_days
from elsewhere.methods.day_counts import DayCounts
from elsewhere.methods.protocol import Drawn, Rebuilt, Trials
from elsewhere.methods.tuning import typical_day
from elsewhere.methods.visit_rows import VisitRows
from elsewhere.randomness import Randomness
from elsewhere.reconstruct.popular_day import constant_day, popular_days, popularity_by_timestep
from elsewhere.trajectories import Trajectory
from elsewhere.world.visits import place_world, visit_distances
from elsewhere.world.world import World

NULLS = ("uniform", "popular", "constant", "typical")
FREE_LENGTH_NULLS = frozenset({"typical"})
"""Nulls that do not keep the number of visits: to be held against methods that do not either."""


def fair_nulls(*, keeps_length: bool) -> tuple[str, ...]:
    """The nulls to hold a method against: as free, or as bound, as it is in the number of visits."""
    return tuple(name for name in NULLS if not keeps_length or name not in FREE_LENGTH_NULLS)


class Days(Protocol):
    """Where days come from that are nobody's."""

    most_visits: int

    def prepare(self, length: int) -> None: ...

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Indices, Indices, Indices]:
        """Places and timesteps, a row each, and how each was settled."""
        ...


class Null:
    """No draw, no ε: of a trajectory only its length is used, which is public, or not even that."""

    def __init__(self, name: str, world: World, source: Days, *, hides_length: bool = False) -> None:
        self.name = name
        self.hides_length = hides_length
        self.world = world
        self._source = source
        self._rows = VisitRows(world)

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """None."""
        del length
        return ()

    def spent_on(self, length: int) -> Fraction:
        del length
        return Fraction(0)

    def prepare(self, length: int) -> None:
        """Work out what days of ``length`` need; raises if there are none."""
        if not self.hides_length:
            self._rows.check_length(length)
        self._source.prepare(length)

    def tables(self, length: int) -> None:
        """Nothing: there is no draw."""
        del length

    def secret(self, trajectory: Trajectory) -> Outcome:
        """Nothing of each visit."""
        return (0,) * len(trajectory)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """No draws for each row."""
        del randomness, constant_work
        nothing = np.zeros((len(secrets), 0), dtype=np.int32)
        length = 0 if self.hides_length else secrets.shape[1]
        return Drawn(length=length, values=nothing), nothing.astype(np.int64)

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """As many days as there are rows, made of the world and randomness."""
        started = time.perf_counter()
        places, times, ways = self._source.days(drawn.length, len(drawn.values), randomness)
        return self._rows.rebuilt(places, times, ways, started)

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """There is no draw."""
        del secret, state
        return None

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """No outcome for each row."""
        return [()] * len(drawn.values)

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        facts = {"method": self.name, "is_ldp": True, "epsilon": "0", "is_null": True}
        return {**facts, "hide_length": self._source.most_visits} if self.hides_length else facts


def _popularity(world: World) -> Floats:
    return popularity_by_timestep(world.places.popularity, world.is_open, world.clock.timestep_minutes)


class UniformDays:
    """Any feasible day of open places is as likely as any other."""

    most_visits = 0

    def __init__(
        self, world: World, cache: str | Path | None, progress: Callable[[int, int], None] | None
    ) -> None:
        self._counts = DayCounts(world, cache, progress)
        self._places = len(world.places)

    def prepare(self, length: int) -> None:
        self._counts.tables(length)

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Indices, Indices, Indices]:
        drawn = propose_days(self._counts.tables(length), count, randomness)
        times, places = np.divmod(drawn, np.int32(self._places))
        return places, times, np.zeros(count, dtype=np.int32)


class PopularDays:
    """Popular places at popular times."""

    most_visits = 0

    def __init__(self, world: World) -> None:
        self._places = place_world(world)
        self._popularity = _popularity(world)

    def prepare(self, length: int) -> None:
        """Nothing to work out."""

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Indices, Indices, Indices]:
        return popular_days(self._places, self._popularity, length, randomness.words(count))


class ConstantDay:
    """The same day for everybody."""

    most_visits = 0

    def __init__(self, world: World) -> None:
        self._world = world
        self._days: dict[int, tuple[Indices, Indices]] = {}

    def prepare(self, length: int) -> None:
        if length not in self._days:
            world = self._world
            self._days[length] = constant_day(
                place_world(world), visit_distances(world), _popularity(world), length
            )

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Indices, Indices, Indices]:
        del randomness
        self.prepare(length)
        places, times = (np.tile(row, (count, 1)) for row in self._days[length])
        return places, times, np.zeros(count, dtype=np.int32)


class TypicalDay:
    """The same day for everybody, of whatever number of visits: the best guess of the public prior."""

    def __init__(self, world: World) -> None:
        self._day = typical_day(world)
        self.most_visits = len(self._day[0])

    def prepare(self, length: int) -> None:
        """Nothing to work out."""

    def days(self, length: int, count: int, randomness: Randomness) -> tuple[Indices, Indices, Indices]:
        del length, randomness
        places, times = (np.tile(row, (count, 1)) for row in self._day)
        return places, times, np.zeros(count, dtype=np.int32)


def uniform(
    world: World,
    *,
    epsilon: float | str | Fraction | None = None,
    cache: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Null:
    """Null: any feasible day. An ε may be given, so that nulls can stand beside methods; none is spent."""
    del epsilon
    return Null("uniform", world, UniformDays(world, cache, progress))


def popular(world: World, *, epsilon: float | str | Fraction | None = None) -> Null:
    """Null: popular places at popular times."""
    del epsilon
    return Null("popular", world, PopularDays(world))


def constant(world: World, *, epsilon: float | str | Fraction | None = None) -> Null:
    """Null: one public day for everybody."""
    del epsilon
    return Null("constant", world, ConstantDay(world))


def typical(world: World, *, epsilon: float | str | Fraction | None = None) -> Null:
    """Null: one public day for everybody, of whatever number of visits; for methods that hide the length."""
    del epsilon
    return Null("typical", world, TypicalDay(world), hides_length=True)
