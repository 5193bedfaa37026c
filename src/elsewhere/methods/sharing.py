"""Sharing with any core: one day or many, with the length public or hidden."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.length import HiddenLength, stretched
from elsewhere.mechanism.levels import Levels
from elsewhere.mechanism.listing import AnyStep, Outcome, State
from elsewhere.methods.protocol import Batch, Core, MethodFacts, PreparesMany, Rebuilt, ShareInfo
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness, SystemRandomness, label_of
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.settings import SAME_PEOPLE
from elsewhere.world.world import World

_CHUNK = 128
_NOT_PUBLIC = "not ε-LDP: the world's places and popularity were counted from the same people"


@dataclass(frozen=True, slots=True, repr=False)
class _Rows:
    """Days to be shared with one length, which of all they are, and the stream of their randomness."""

    numbers: list[int]
    trajectories: list[Trajectory]
    length: int
    stream: int


@dataclass(frozen=True, slots=True, repr=False)
class _Done:
    rebuilt: Rebuilt
    trials: Counts
    seconds: dict[str, float]


class Sharing:
    """A method ready to share, made by `method`.

    Examples
    --------
    >>> codebook = ew.method("codebook", world, epsilon=5)
    >>> shared, info = codebook.share(day)
    >>> many = codebook.share_many([day] * 3)
    """

    def __init__(self, core: Core, hidden: HiddenLength | None = None, levels: Levels | None = None) -> None:
        self.core = core
        self.hidden = hidden
        self.levels = levels

    @property
    def name(self) -> str:
        return self.core.name

    @property
    def world(self) -> World:
        return self.core.world

    @property
    def hides_length(self) -> bool:
        """Whether the number of visits is hidden, by a draw of its own or by the core."""
        return self.hidden is not None or self.core.hides_length

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """What is spent on a day that is shared with ``length`` visits."""
        draws = self.core.draws_for(length)
        return draws if self.hidden is None else (self.hidden.draw, *draws)

    def spent_on(self, length: int) -> Fraction:
        """ε really spent on a day of ``length`` visits; with the length hidden, on any day."""
        if self.hidden is None:
            return self.core.spent_on(length)
        lengths = range(1, self.hidden.cap + 1)
        return self.hidden.epsilon + max(self.core.spent_on(drawn) for drawn in lengths)

    def prepare(self, length: int) -> None:
        """Work out what is public for days of ``length``; raises if they cannot be shared."""
        if self.hidden is None:
            self.core.prepare(length)
        else:
            day = self.world.clock.timesteps
            if self.hidden.cap > day:
                raise InputError(
                    "hide_length", f"found {self.hidden.cap}, must be at most {day}, the timesteps of a day"
                )
            for drawn in range(self.hidden.cap, 0, -1):
                self.core.prepare(drawn)

    def prepare_many(self, length: int) -> None:
        """The same, and what only many shares need: whatever takes long is done before the first of them."""
        self.prepare(length)
        if isinstance(self.core, PreparesMany):
            self.core.prepare_many(length)

    def share(
        self, trajectory: Trajectory, *, randomness: Randomness | None = None
    ) -> tuple[SharedTrajectory, ShareInfo]:
        """Share one person's day: what a device does.

        Parameters
        ----------
        trajectory
            What was true. PRIVATE.
        randomness
            For experiments only. The operating system's, if not given.

        Returns
        -------
        SharedTrajectory, ShareInfo
            What may leave the device, and how it went, which may not. The work is the same whatever is true.

        Raises
        ------
        InputError
            If days of this length cannot be shared.
        """
        source = randomness or SystemRandomness()
        self.prepare(len(trajectory))
        lengths, length_trials = self._lengths([trajectory], source, constant_work=True)
        done = self._process(_Rows([0], [trajectory], lengths[0], 0), source, constant_work=True)
        info = ShareInfo(
            draws=self.draws_for(lengths[0]),
            epsilon=self.spent_on(lengths[0]),
            randomness=label_of(source),
            trials=(*length_trials, *done.trials[0].tolist()),
            ways={part: names[0] for part, names in done.rebuilt.ways.items()},
            seconds=done.seconds,
        )
        return done.rebuilt.shared[0], info

    def share_many(
        self,
        trajectories: Sequence[Trajectory],
        *,
        workers: int = 1,
        randomness: Randomness | None = None,
        progress: Progress = no_progress,
    ) -> list[SharedTrajectory]:
        """Share many days, with the work spread over threads.

        Parameters
        ----------
        trajectories
            What was true. PRIVATE.
        workers
            Threads; compiled loops let them work side by side.
        randomness
            For experiments only. The operating system's, if not given.
        progress
            Called with how many days are done, and how many there are.

        Returns
        -------
        list of SharedTrajectory
            In the order given.
        """
        return self.share_batch(
            trajectories, workers=workers, randomness=randomness, progress=progress
        ).shared

    def share_batch(
        self,
        trajectories: Sequence[Trajectory],
        *,
        workers: int = 1,
        randomness: Randomness | None = None,
        progress: Progress = no_progress,
    ) -> Batch:
        """Many days with a count of how they were found; compiled loops let threads share the work."""
        source = randomness or SystemRandomness()
        chunks = self._chunks(trajectories, source)
        shared: list[SharedTrajectory | None] = [None] * len(trajectories)
        counts: Counter[str] = Counter()
        seconds: Counter[str] = Counter()
        finished = 0

        def process(rows: _Rows) -> _Done:
            return self._process(rows, source.stream(rows.stream), constant_work=False)

        with ThreadPoolExecutor(max_workers=min(workers, os.cpu_count() or 1)) as pool:
            for rows, done in zip(chunks, pool.map(process, chunks), strict=True):
                for number, result in zip(rows.numbers, done.rebuilt.shared, strict=True):
                    shared[number] = result
                for part, names in done.rebuilt.ways.items():
                    counts.update(f"{part}: {name}" for name in names)
                seconds.update(done.seconds)
                finished += len(rows.numbers)
                # Chunks are of one length: where the core hides it, only the end is told.
                if finished == len(trajectories) or not self.core.hides_length:
                    progress(finished, len(trajectories))
        return Batch(
            shared=[s for s in shared if s is not None],
            counts=dict(counts),
            seconds=dict(seconds),
            randomness=label_of(source),
        )

    def outcomes(
        self, trajectory: Trajectory, count: int, randomness: Randomness, *, constant_work: bool = False
    ) -> list[tuple[Outcome, ...]]:
        """Draws of one day, ``count`` times over, as the audit lists them."""
        days = [trajectory] * count
        lengths, _ = self._lengths(days, randomness, constant_work=constant_work)
        found: list[tuple[Outcome, ...]] = []
        for length, times in sorted(Counter(lengths).items()):
            seen = self._seen(days[:times], randomness)
            rows = self._secrets(seen, length, constant_work=constant_work)
            drawn, _ = self.core.perturb(rows, randomness, constant_work=constant_work)
            first = () if self.hidden is None else ((length,),)
            found += [(*first, *rest) for rest in self.core.outcomes(drawn)]
        return found

    def step(self, secret: Outcome, state: State | None) -> AnyStep | None:
        """The next draw after ``state`` (None: the first), listed, when ``secret`` is true."""
        if self.hidden is None:
            return self.core.step(secret, (len(secret), 0) if state is None else state)
        if state is None:
            return self.hidden.step(len(secret))
        length = state[0]  # states of cores begin with the length
        row = stretched(np.array(secret, dtype=np.int32), length)
        return self.core.step(tuple(row.tolist()), state)

    def facts(self) -> MethodFacts:
        """Method and promise, for the metadata of a file."""
        facts = self.core.facts()
        if self.hidden is not None:
            facts = replace(
                facts,
                epsilon=self.spent_on(1),
                length_is_public=False,
                most_visits=self.hidden.cap,
                length_epsilon=self.hidden.epsilon,
            )
        if self.levels is not None:
            facts = replace(facts, options={**facts.options, "levels": self.levels.in_words()})
        if self.world.settings.popularity_from == SAME_PEOPLE:
            # Whatever the draws hide, the list of places and the prior may already tell (R12).
            facts = replace(facts, is_ldp=False, promise=_NOT_PUBLIC)
        return facts

    def __repr__(self) -> str:
        facts = self.facts()
        options = "".join(f", {name} = {value}" for name, value in facts.options.items())
        return f"<{facts.method}, {facts.epsilon_in_words}{options}, on {self.world!r}>"

    def _chunks(self, trajectories: Sequence[Trajectory], source: Randomness) -> list[_Rows]:
        """Days that get the same length together, in pieces that do not depend on the workers."""
        by_length: dict[int, list[int]] = {}
        # What is counted for the longest holds shorter ones too.
        for true_length in sorted({len(trajectory) for trajectory in trajectories}, reverse=True):
            self.prepare(true_length)
        lengths, _ = self._lengths(trajectories, source, constant_work=False)
        for number, length in enumerate(lengths):
            by_length.setdefault(length, []).append(number)
        chunks: list[_Rows] = []
        # The longest take longest: begun first, they leave no thread waiting at the end.
        for length in sorted(by_length, reverse=True):
            numbers = by_length[length]
            for start in range(0, len(numbers), _CHUNK):
                piece = numbers[start : start + _CHUNK]
                chunks.append(_Rows(piece, [trajectories[number] for number in piece], length, len(chunks)))
        return chunks

    def _lengths(
        self, trajectories: Sequence[Trajectory], source: Randomness, *, constant_work: bool
    ) -> tuple[list[int], list[int]]:
        """The length each day is shared with, and the trials it took to draw it, if it is hidden."""
        lengths = np.array([len(trajectory) for trajectory in trajectories], dtype=np.int64)
        if self.hidden is None:
            return lengths.tolist(), []
        drawn, trials = self.hidden.draws(lengths, source, constant_work=constant_work)
        return drawn.tolist(), trials.tolist()

    def _secrets(self, trajectories: Sequence[Trajectory], length: int, *, constant_work: bool) -> Indices:
        """What the draws will see, a row each, brought to ``length``."""
        secret = self.core.secret
        rows = [secret(trajectory, length, constant_work=constant_work) for trajectory in trajectories]
        return np.array(rows, dtype=np.int32).reshape(len(rows), length)

    def _seen(self, trajectories: Sequence[Trajectory], source: Randomness) -> Sequence[Trajectory]:
        """Days as the draws may see them: where places have levels, some visits are moved before."""
        levels = self.levels
        if levels is None:
            return trajectories
        return [levels.draw(day, self.spent_on(len(day)), source) for day in trajectories]

    def _process(self, rows: _Rows, source: Randomness, *, constant_work: bool) -> _Done:
        """Draws, then what is made of them; only the first step sees what is true."""
        started = time.perf_counter()
        seen = self._seen(rows.trajectories, source)
        secrets = self._secrets(seen, rows.length, constant_work=constant_work)
        drawn, trials = self.core.perturb(secrets, source, constant_work=constant_work)
        perturbed = time.perf_counter() - started
        rebuilt = self.core.rebuild(drawn, source)
        return _Done(rebuilt, trials, {"perturb": perturbed, **rebuilt.seconds})
