"""Sharing with any core: one day or many, with the length public or hidden."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.days.visits import Days, days_in_order, shared_days
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.length import HiddenLength, stretched
from elsewhere.mechanism.levels import Levels
from elsewhere.mechanism.listing import AnyStep, Outcome, State
from elsewhere.methods.protocol import Batch, Core, MethodFacts, PreparesMany, Rebuilt, ShareInfo
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness, SystemRandomness, label_of
from elsewhere.trajectories import SharedTrajectory, Trajectories, Trajectory, in_columns
from elsewhere.world.settings import SAME_PEOPLE
from elsewhere.world.world import World

_CHUNK = 128
_NOT_PUBLIC = "not ε-LDP: the world's places and popularity were counted from the same people"


@dataclass(frozen=True, slots=True, repr=False)
class _Rows:
    """Days to be shared with one length, and which of all they are."""

    numbers: Counts
    truth: Trajectory | Trajectories
    """One day, as a device has it, or many."""
    length: int


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

    recipe: tuple[str, Mapping[str, Any]] | None = None
    """Name and settings that `method` made it with, to make the same one elsewhere."""

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
        lengths, length_trials = self._lengths([len(trajectory)], source, constant_work=True)
        rows = _Rows(np.zeros(1, dtype=np.int64), trajectory, lengths[0])
        done = self._process(rows, source, constant_work=True)
        info = ShareInfo(
            draws=self.draws_for(lengths[0]),
            epsilon=self.spent_on(lengths[0]),
            randomness=label_of(source),
            trials=(*length_trials, *done.trials[0].tolist()),
            ways={part: names[0] for part, names in done.rebuilt.ways.items()},
            seconds=done.seconds,
        )
        return shared_days(self.world, done.rebuilt.days)[0], info

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
        days = in_columns(trajectories, self.world.place_index)
        return self.share_columns(days, workers=workers, randomness=randomness, progress=progress)

    def share_columns(
        self,
        days: Trajectories,
        *,
        workers: int = 1,
        randomness: Randomness | None = None,
        progress: Progress = no_progress,
    ) -> Batch:
        """The same of days in columns, as they come from files and clusters."""
        source = randomness or SystemRandomness()
        chunks = self._chunks(days, source)
        parts: list[Days] = []
        counts: Counter[str] = Counter()
        seconds: Counter[str] = Counter()
        finished = 0

        def process(numbered: tuple[int, _Rows]) -> _Done:
            number, rows = numbered
            part = source.stream(number).of_rows(rows.numbers)
            return self._process(rows, part, constant_work=False)

        with ThreadPoolExecutor(max_workers=min(workers, os.cpu_count() or 1)) as pool:
            for rows, done in zip(chunks, pool.map(process, enumerate(chunks)), strict=True):
                parts.append(done.rebuilt.days)
                for part, names in done.rebuilt.ways.items():
                    counts.update({f"{part}: {name}": count for name, count in Counter(names).items()})
                seconds.update(done.seconds)
                finished += len(rows.numbers)
                # Chunks are of one length: where the core hides it, only the end is told.
                if finished == len(days) or not self.core.hides_length:
                    progress(finished, len(days))
        return Batch(
            world=self.world,
            days=days_in_order(parts, [rows.numbers for rows in chunks]),
            counts=dict(counts),
            seconds=dict(seconds),
            randomness=label_of(source),
        )

    def outcomes(
        self, trajectory: Trajectory, count: int, randomness: Randomness, *, constant_work: bool = False
    ) -> list[tuple[Outcome, ...]]:
        """Draws of one day, ``count`` times over, as the audit lists them."""
        lengths, _ = self._lengths([len(trajectory)] * count, randomness, constant_work=constant_work)
        found: list[tuple[Outcome, ...]] = []
        for length, times in sorted(Counter(lengths).items()):
            secrets = [
                self._secrets(trajectory, length, randomness, constant_work=constant_work)
                for _ in range(times)
            ]
            rows = np.vstack(secrets)
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

    def _chunks(self, days: Trajectories, source: Randomness) -> list[_Rows]:
        """Days that get the same length together, in pieces that do not depend on the workers."""
        true_lengths = days.lengths.tolist()
        # What is counted for the longest holds shorter ones too.
        for true_length in sorted(set(true_lengths), reverse=True):
            self.prepare(true_length)
        lengths = np.array(self._lengths(true_lengths, source, constant_work=False)[0], dtype=np.int64)
        chunks: list[_Rows] = []
        # The longest take longest: begun first, they leave no thread waiting at the end.
        for length in sorted(set(lengths.tolist()), reverse=True):
            numbers = np.flatnonzero(lengths == length)
            for start in range(0, len(numbers), _CHUNK):
                piece = numbers[start : start + _CHUNK]
                chunks.append(_Rows(piece, days.some(piece), length))
        return chunks

    def _lengths(
        self, true_lengths: Sequence[int], source: Randomness, *, constant_work: bool
    ) -> tuple[list[int], list[int]]:
        """The length each day is shared with, and the trials it took to draw it, if it is hidden."""
        lengths = np.array(true_lengths, dtype=np.int64)
        if self.hidden is None:
            return lengths.tolist(), []
        drawn, trials = self.hidden.draws(lengths, source, constant_work=constant_work)
        return drawn.tolist(), trials.tolist()

    def _secrets(
        self, truth: Trajectory | Trajectories, length: int, source: Randomness, *, constant_work: bool
    ) -> Indices:
        """What the draws will see, a row each, brought to ``length``.

        Where places have levels, some visits are moved before.
        """
        secret, levels = self.core.secret, self.levels
        if isinstance(truth, Trajectories):
            days = truth if levels is None else levels.draw_many(truth, self.spent_on, source)
            return secret.rows(days, length)
        day = truth if levels is None else levels.draw(truth, self.spent_on(len(truth)), source)
        return np.array([secret(day, length, constant_work=constant_work)], dtype=np.int32)

    def _process(self, rows: _Rows, source: Randomness, *, constant_work: bool) -> _Done:
        """Draws, then what is made of them; only the first step sees what is true."""
        started = time.perf_counter()
        secrets = self._secrets(rows.truth, rows.length, source, constant_work=constant_work)
        drawn, trials = self.core.perturb(secrets, source, constant_work=constant_work)
        perturbed = time.perf_counter() - started
        rebuilt = self.core.rebuild(drawn, source)
        return _Done(rebuilt, trials, {"perturb": perturbed, **rebuilt.seconds})
