"""What all kinds of question have in common: options, a public map, a channel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.mechanism.answer import better_answer
from elsewhere.survey.channels import Channel, SetChannel
from elsewhere.survey.things import Things
from elsewhere.world.world import World

_LOST = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicMap:
    """What was worked out once, when a survey was made, so that any device can look it up."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    columns: dict[str, list[Any]] = field(default_factory=dict)
    """What each group of places is."""


@dataclass(frozen=True, kw_only=True)
class QuestionKind(ABC):
    """A kind of question with its options: a frozen record, as it stands in a survey's file.

    A kind of its own says what its things are: `public_map` once, for the survey's file; `things` on every
    device. Options are checked when a record is made, wherever it comes from.
    """

    kind: ClassVar[str]
    what: ClassVar[str]
    """In a few words, for people: what it tells."""
    has_table: ClassVar[bool] = True
    """Whether its things mean something by themselves; if not, answers only shape the population."""

    k: int | None = None
    """Things of a day that an answer may tell of; not given: as many as the prior's days need."""

    def __post_init__(self) -> None:
        if self.k is not None:
            whole("k", self.k, 1, 1 << 16)

    def public_map(self, world: World, epsilon: Fraction, folder: Path) -> PublicMap:
        """Work out what devices look up; files of options start at ``folder``."""
        del world, epsilon, folder
        return PublicMap()

    @abstractmethod
    def things(self, world: World, public: PublicMap) -> Things:
        """What is asked about."""

    def kept_of(self, world: World, things: Things, epsilon: Fraction, believed: Days) -> int:
        """How many things of a day an answer may tell of, k: from public numbers alone.

        The least k with which days that are ``believed``, the prior's, lose at most a twentieth of things.
        What is lost must be put back by what is believed about long days, which no answer tells; a larger k
        costs little.
        """
        del world, epsilon
        if self.k is not None:
            return self.k
        found = things.of(believed)
        numbers = (found >= 0).sum(axis=1)
        kept = 1
        while np.maximum(numbers - kept, 0).sum() > _LOST * numbers.sum():
            kept += 1
        return min(kept, things.count)

    def channel(self, world: World, public: PublicMap, epsilon: Fraction, kept: int) -> Channel:
        """How it is answered."""
        things = self.things(world, public)
        tables = better_answer(epsilon, things.count, kept)
        return SetChannel(things=things, tables=tables, timesteps=world.clock.timesteps)

    def options(self) -> dict[str, Any]:
        """The options that are not as they are by default."""
        return {
            option.name: list(value) if isinstance(value, tuple) else value
            for option in fields(self)
            if (value := getattr(self, option.name)) != option.default
        }

    def in_words(self) -> str:
        """The kind and its options, for people."""
        said = ", ".join(f"{name} {value}" for name, value in self.options().items())
        return f"{self.kind} ({said})" if said else self.kind


def whole(name: str, value: Any, low: int, high: int) -> None:
    """Refuse what is not a whole number in a range."""
    if type(value) is not int or not low <= value <= high:
        raise InputError(f"question.{name}", f"found {value!r}, must be a whole number, {low:,} to {high:,}")


def flag(name: str, value: Any) -> None:
    """Refuse what is neither true nor false."""
    if type(value) is not bool:
        raise InputError(f"question.{name}", f"found {value!r}, must be true or false")


def hours_of_block(value: Any) -> None:
    """Refuse blocks of hours that do not make up a day."""
    if type(value) is not int or not 1 <= value <= 24 or 24 % value:
        raise InputError("question.hours", f"found {value!r}, must be 1, 2, 3, 4, 6, 8, 12 or 24")


def indices(public: PublicMap, name: str, *, below: int, dimensions: int) -> NDArray[np.int32]:
    """An array of a survey's file, from anybody: refused if anything in it could point nowhere."""
    found = public.arrays.get(name)
    if (
        found is None
        or found.dtype != np.int32
        or found.ndim != dimensions
        or not found.size
        or found.min() < 0
        or found.max() >= below
    ):
        raise InputError("survey", f"{name} of a question is missing or damaged")
    return found
