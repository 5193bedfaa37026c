"""What every method is: a core that perturbs and rebuilds, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from elsewhere.arrays import Counts, Indices
from elsewhere.days.visits import Days, shared_days
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.listing import AnyStep, Outcome, State
from elsewhere.mechanism.secret import Secret
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodFacts:
    """What a method says of itself: its settings and its promise, all of it public."""

    method: str
    epsilon: Fraction | None
    """ε of a whole day; None where each draw has its own, whatever their number."""
    is_ldp: bool = True
    promise: str = ""
    """In words, where it is not pure ε-LDP."""
    length_is_public: bool = True
    most_visits: int | None = None
    """The most visits that a shared day has, where their number is hidden."""
    length_epsilon: Fraction | None = None
    """What of ε the number of visits takes, where it is drawn by itself."""
    is_null: bool = False
    """Ignores the person."""
    spent_on_five_visits: float | None = None
    """What a day of five visits really costs, at most, where that is not ε."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The method's own settings."""

    @property
    def epsilon_in_words(self) -> str:
        """What a day costs."""
        if self.epsilon is not None:
            return f"ε = {self.epsilon}"
        if "epsilon_per_draw" in self.options:
            return f"ε' = {self.options['epsilon_per_draw']} for each draw"
        return "ε of each person's own"

    @property
    def hides(self) -> str:
        """In one line what is hidden of a day, and what is not."""
        if not self.is_ldp:
            return "nothing that could be promised: it is not ε-LDP"
        hidden = "places and times"
        public = ["that a person takes part", "the date", "the ids it is filed under", "the world"]
        if self.length_is_public:
            public.insert(0, "the number of visits")
        else:
            hidden += f", and the number of visits (among 1 to {self.most_visits})"
        return f"{hidden}. Not hidden: {', '.join(public)}"

    def as_json(self) -> dict[str, Any]:
        """As the metadata of a file has it: only what applies."""
        plain: dict[str, Any] = {"method": self.method, "is_ldp": self.is_ldp}
        if self.epsilon is not None:
            plain["epsilon"] = str(self.epsilon)
        plain |= self.options
        plain["length_is_public"] = self.length_is_public
        if self.most_visits is not None:
            plain["hide_length"] = self.most_visits
        if self.length_epsilon is not None:
            plain["length_epsilon"] = str(self.length_epsilon)
        if self.is_null:
            plain["is_null"] = True
        if self.promise:
            plain["promise"] = self.promise
        if self.spent_on_five_visits is not None:
            plain["epsilon_on_5_visits_at_most"] = round(self.spent_on_five_visits, 3)
        return plain


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareInfo:
    """How a sharing went. For the device only: trials and times may depend on what was true."""

    draws: tuple[Draw, ...]
    epsilon: Fraction
    """What the draws spend together."""
    randomness: str
    """Where it came from: "system", or what makes this sharing not private (`randomness.label_of`)."""
    trials: tuple[int, ...] = field(repr=False)
    """For each draw the trial that was accepted, 0 if none was."""
    ways: dict[str, str]
    """How each part of the shared day was found."""
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Shared days in the order of those given, and how often what was needed."""

    world: World
    days: Days
    counts: dict[str, int]
    seconds: dict[str, float]
    randomness: str
    """Where it came from, as in `ShareInfo`."""

    @property
    def shared(self) -> list[SharedTrajectory]:
        """The days one by one."""
        return shared_days(self.world, self.days)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """Draws (Z) of days of one length, a row each: ε-LDP, so whatever is made of them is."""

    length: int
    values: Indices


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rebuilt:
    """What was made of draws, a day for each row."""

    days: Days
    ways: Mapping[str, list[str]]
    """How each part of each day was found."""
    seconds: dict[str, float]


class Core(Protocol):
    """The parts of a method. Only `secret`, `perturb` and `step` ever see what is true.

    These three hand what they see to `mechanism` and do nothing with it themselves.
    """

    name: str
    world: World
    hides_length: bool
    """Whether days of all lengths are perturbed alike, so that draws hide the number of visits."""

    @property
    def secret(self) -> Secret:
        """What the draws can see of a trajectory: a number for each visit (`mechanism.secret`)."""
        ...

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

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
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

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        ...


@runtime_checkable
class PreparesMany(Protocol):
    """A core with public tables of which a single share needs only some."""

    def prepare_many(self, length: int) -> None:
        """Work out all of them for days of ``length``."""
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
        progress: Progress = no_progress,
    ) -> list[SharedTrajectory]:
        """Many days; order is kept."""
        ...

    def facts(self) -> MethodFacts:
        """Method, ε and what it means."""
        ...
