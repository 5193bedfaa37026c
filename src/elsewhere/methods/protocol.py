"""What every method is: a core that perturbs and rebuilds, and what people call to share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.step import AnyStep, Outcome, State
from elsewhere.randomness import Randomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

Progress = Callable[[int, int], None]
Trials = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareInfo:
    """How a sharing went. For the device only: trials and times may depend on what was true."""

    draws: tuple[Draw, ...]
    epsilon: Fraction
    """What the draws spend together."""
    trials: tuple[int, ...] = field(repr=False)
    """For each draw the trial that was accepted, 0 if none was."""
    ways: dict[str, str]
    """How each part of the shared day was found."""
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Shared trajectories, in the order of those given, and how often what was needed."""

    shared: list[SharedTrajectory]
    counts: dict[str, int]
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Draws (Z) of days of one length, a row each: ε-LDP, so whatever is made of them is."""

    length: int
    values: Indices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rebuilt:
    """What was made of draws, a day for each row."""

    shared: list[SharedTrajectory]
    ways: Mapping[str, list[str]]
    """How each part of each day was found."""
    seconds: dict[str, float]


class Core(Protocol):
    """The parts of a method. Only `secret`, `perturb` and `step` ever see what is true."""

    name: str
    world: World
    hides_length: bool
    """Whether days of all lengths are perturbed alike, so that draws hide the number of visits."""

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """What is spent on a day of ``length`` visits."""
        ...

    def spent_on(self, length: int) -> Fraction:
        """ε really spent on a day of ``length`` visits."""
        ...

    def prepare(self, length: int) -> None:
        """Work out what is public for days of ``length``; raises if they cannot be shared."""
        ...

    def tables(self, length: int) -> object:
        """What draws of days of ``length`` go by: public, and what the audit reads."""
        ...

    def secret(self, trajectory: Trajectory) -> Outcome:
        """What the draws can see of a trajectory: a number for each visit."""
        ...

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Trials]:
        """Draws for secrets of one length, a row each: the only step that spends ε.

        Beside them the trial that each draw took. That depends on what is true: it stays on the device
        and never gets into `rebuild`.
        """
        ...

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """Days made of draws, the world and fresh randomness (R8)."""
        ...

    def step(self, secret: Outcome, state: State) -> AnyStep | None:
        """The next draw after ``state``, listed; the first is (length, 0). None: there is no more."""
        ...

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """Draws as the audit lists them: for each row the outcome of each step."""
        ...

    def describe(self) -> dict[str, Any]:
        """Settings and promise, for the metadata of a file."""
        ...


class Method(Protocol):
    """A way from a trajectory to a shared trajectory."""

    @property
    def name(self) -> str: ...

    @property
    def world(self) -> World: ...

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """What is spent on a trajectory of ``length`` visits."""
        ...

    def spent_on(self, length: int) -> Fraction:
        """ε really spent on a trajectory of ``length`` visits."""
        ...

    def prepare(self, length: int) -> None:
        """Work out what is public for trajectories of ``length``; raises if they cannot be shared."""
        ...

    def share(
        self, trajectory: Trajectory, *, randomness: Randomness | None = None
    ) -> tuple[SharedTrajectory, ShareInfo]:
        """One person's day, with the operating system's randomness and constant work."""
        ...

    def share_many(
        self,
        trajectories: Sequence[Trajectory],
        *,
        workers: int = 1,
        randomness: Randomness | None = None,
        progress: Progress | None = None,
    ) -> list[SharedTrajectory]:
        """Many days; order is kept."""
        ...

    def describe(self) -> dict[str, Any]:
        """Method, ε and what it means, for the metadata of a file."""
        ...
