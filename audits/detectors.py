"""All that looks for a leak, run on one method: honest ones pass, broken ones are caught."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from cases import case, longest, most_places
from elsewhere import tape
from elsewhere.arrays import Indices, Words
from elsewhere.audit.agreement import agreement, depends_on_the_draws_alone, length_agreement
from elsewhere.audit.channel import Loss, all_trajectories, largest_loss
from elsewhere.errors import InputError
from elsewhere.mechanism import rejection
from elsewhere.mechanism.budget import total as sum_of
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.mechanism.listing import GivenStep, State
from elsewhere.methods.registry import method
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import Trajectory
from tiny_worlds import tiny_world

LENGTH = 3
_SURE = 1e-6
_RUN = 16
_DAYS_TIMED = 10
_MOST_WORK = 1.4
_URANDOM, _NEW_TAPE = os.urandom, tape.new_tape


def exact_loss(suspect: Sharing, length: int = LENGTH) -> Loss:
    """The exact channel over all days of ``length`` visits; over all up to it if the length is hidden."""
    lengths = range(1, length + 1) if suspect.hides_length else [length]
    days = (day for size in lengths for day in all_trajectories(suspect.world, size))
    return largest_loss(suspect, [suspect.core.secret(day) for day in days])


def audited(folder: Path, name: str, seed: int) -> tuple[float, float] | None:
    """Tiny world ``seed``: what a method really spends there, and what it claims; None if it has no draw."""
    world = tiny_world(folder, seed, most_places(name))
    options, length = case(name, seed)
    try:
        chosen = method(name, world, **options)
        chosen.prepare(longest(name, world, length))
    except InputError:
        return None  # no n regions in a row, or no day of that length
    loss = exact_loss(chosen, longest(name, world, length))
    return float(loss.epsilon), float(Fraction(options["epsilon"]))


def detect(
    suspect: Sharing, claimed: float, *, samples: int = 20_000, seed: int = 1
) -> Iterator[tuple[str, str]]:
    """Every check that objects, with what it says; also those that a method makes of itself.

    Who only wants to know whether there is one asks for the first: what takes long comes last.
    """
    try:
        yield from _look(suspect, claimed, samples, seed)
    except AssertionError as error:
        yield "its own check", str(error)


def _look(suspect: Sharing, claimed: float, samples: int, seed: int) -> Iterator[tuple[str, str]]:
    length = longest(suspect.name, suspect.world, LENGTH)
    first, second = _two_days(suspect, length)
    loss = float(exact_loss(suspect, length).epsilon)
    if loss > claimed + 1e-12:
        yield "exact channel", f"spends {loss:.3g} for {claimed:g}"
    declared = float(sum_of(suspect.draws_for(length)))
    if declared > claimed:
        yield "budget", f"declares {declared:.3g} for {claimed:g}"
    listed = _draws_made(suspect, first)
    if listed > len(suspect.draws_for(length)):
        yield "draws", f"{listed} are made, {len(suspect.draws_for(length))} declared"
    chance = min(agreement(suspect, day, samples, SeededRandomness(seed)) for day in (first, second))
    if chance < _SURE:
        yield "real draws", f"not those listed ({p_words(chance)})"
    chance = length_agreement(suspect, first, 2000)
    if chance < _SURE:
        yield "lengths", f"not those drawn ({p_words(chance)})"
    shorter = Trajectory(first.visits[:1]) if suspect.core.hides_length else first
    if not all(depends_on_the_draws_alone(suspect, first, other) for other in (second, shorter)):
        yield "same draws", "give other days when something else was true"
    yield from _look_at_tapes(suspect, first)
    yield from _look_at_work(suspect, length)
    if _alike_by_chance(suspect, first) > _SURE:
        return  # a null, or a day that is all but certain, comes again and again
    if workers_repeat(suspect, first):
        yield "forked workers", "make the same days"
    if suspect.share_many([first] * 40) == suspect.share_many([first] * 40):
        yield "second time", "gives the same days"


def _look_at_tapes(suspect: Sharing, day: Trajectory) -> Iterator[tuple[str, str]]:
    """Words come from the operating system, as many as are used, and none of them twice (R13)."""
    asked, tapes = 0, list[Words]()

    def urandom(count: int) -> bytes:
        nonlocal asked
        asked += count
        return _URANDOM(count)

    def new_tape(words: Words) -> tape.Tape:
        tapes.append(words)
        return _NEW_TAPE(words)

    with patch.object(os, "urandom", urandom), patch.object(tape, "new_tape", new_tape):
        suspect.share(day)
        suspect.share_many([day] * 2)
    used = sum(len(words) for words in tapes)
    if asked < 8 * max(map(len, tapes), default=0):
        yield "entropy", f"{asked} bytes from the operating system for tapes of {8 * used}"
    if any(len(np.unique(words)) < len(words) for words in tapes):
        yield "tape", "holds words twice"


def _look_at_work(suspect: Sharing, length: int) -> Iterator[tuple[str, str]]:
    """With constant work and the same odds for every day, every day takes as many words (R15).

    Where scores differ, so do the words that coins take: those methods are looked at in `test_agreement`.
    """
    if not isinstance(suspect.core.tables(length), CodebookTables):
        return
    used = []
    days = list(islice(all_trajectories(suspect.world, length), 5000))
    for day in days[:: max(1, len(days) // _DAYS_TIMED)][:_DAYS_TIMED]:
        secrets = np.array([suspect.core.secret(day)] * _RUN, dtype=np.int32)
        used.append(_words_used(suspect, secrets))
    if max(used) > _MOST_WORK * min(used):
        yield "work", f"{max(used) / min(used):.2f} times as much for one day as for another"


def _words_used(suspect: Sharing, secrets: Indices) -> int:
    """Words that draws with constant work take, without those that are only there to be enough."""
    total = 0

    def finish(work: Callable[[tape.Tape, int, int], tuple[int, int]], *options: Any) -> None:
        def counting(words: tape.Tape, start: int, stop: int) -> tuple[int, int]:
            nonlocal total
            finished, used = work(words, start, stop)
            total += int(used)
            return finished, used

        tape.finish_rows(counting, *options)

    with patch.object(rejection, "finish_rows", finish):
        suspect.core.perturb(secrets, SeededRandomness(1), constant_work=True)
    return total


def _alike_by_chance(suspect: Sharing, day: Trajectory, samples: int = 400) -> float:
    """Chance that two honest runs of `_RUN` shares of a day are the same, by how often each output comes."""
    counts = Counter(shared.visits for shared in suspect.share_many([day] * samples))
    return float(sum((count / samples) ** 2 for count in counts.values()) ** _RUN)


def _draws_made(suspect: Sharing, day: Trajectory) -> int:
    """How many of the listed draws look at the truth, along one way through them."""
    secret, count = suspect.core.secret(day), 0
    state: State | None = None
    while (step := suspect.step(secret, state)) is not None:
        count += isinstance(step, GivenStep) or any(step.numerators)
        state = step.states[0]
    return count


def p_words(chance: float) -> str:
    """A p-value in words; the smallest are below what a float can hold."""
    return f"p = {chance:.0e}" if chance > 1e-300 else "p < 1e-300"


def _two_days(suspect: Sharing, length: int) -> tuple[Trajectory, Trajectory]:
    """Two days that the draws can tell apart; neighbouring regions have neighbouring numbers."""
    days = list(islice(all_trajectories(suspect.world, length, unknown=False), 100_000))
    first = days[len(days) // 7]
    secrets = {suspect.core.secret(day): day for day in days}
    other = max(
        secrets,
        key=lambda secret: sum(abs(a - b) for a, b in zip(secret, suspect.core.secret(first), strict=True)),
    )
    return first, secrets[other]


def workers_repeat(suspect: Sharing, day: Trajectory, workers: int = 3, days: int = _RUN) -> bool:
    """Whether forked processes, who should have nothing in common, share the same."""
    context = get_context("fork")
    queue = context.Queue()

    def work() -> None:
        queue.put([tuple(suspect.share(day)[0].visits) for _ in range(days)])

    started = [context.Process(target=work) for _ in range(workers)]
    for process in started:
        process.start()
    made = [tuple(queue.get()) for _ in started]
    for process in started:
        process.join()
    return len(set(made)) < len(made)
