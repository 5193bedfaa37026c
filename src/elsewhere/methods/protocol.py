"""What every method is: a name, a world, a promise, and two ways to share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from elsewhere.mechanism.budget import Draw
from elsewhere.randomness import Randomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareInfo:
    """How a sharing went. For the device only: trials and times may depend on what was true."""

    draws: tuple[Draw, ...]
    epsilon: Fraction
    """What the draws spend together."""
    trials: tuple[int, ...] = field(repr=False)
    """For each draw the trial that was accepted, 0 if none was."""
    regions: str
    """How the chain of regions was found."""
    places: str
    """How places and times were found in it."""
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Shared trajectories, in the order of those given, and how often what was needed."""

    shared: list[SharedTrajectory]
    counts: dict[str, int]
    seconds: dict[str, float]


class Method(Protocol):
    """A way from a trajectory to a shared trajectory."""

    name: str
    world: World

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
