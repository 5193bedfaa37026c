"""Whether real draws follow the listed ones, and nothing but the draws reaches the output.

The exact channel is about tables. These two checks tie the code that runs to them: real draws have the
listed distribution, and days rebuilt from given draws are the same whatever was true.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from copy import copy
from typing import Any

import numpy as np
from scipy.stats import chi2

from elsewhere.arrays import Counts, Indices, Words
from elsewhere.audit.channel import chances
from elsewhere.mechanism.listing import Outcome, State
from elsewhere.methods.protocol import Core, Drawn
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory

# A cell of a χ² test needs this many expected counts; rarer ones are pooled.
_ENOUGH = 8.0
Paths = Mapping[tuple[Outcome, ...], int]
"""Outcomes of all draws of a day, and how often they came."""


def agreement(
    method: Sharing,
    trajectory: Trajectory,
    samples: int,
    randomness: Randomness,
    *,
    listed: Sharing | None = None,
    constant_work: bool = False,
) -> float:
    """p-value of real draws of ``method`` under the draws that ``listed`` (else itself) lists."""
    paths = real_paths(method, trajectory, samples, randomness, constant_work=constant_work)
    return agreement_of(paths, trajectory, listed or method)


def real_paths(
    method: Sharing,
    trajectory: Trajectory,
    samples: int,
    randomness: Randomness,
    *,
    constant_work: bool = False,
) -> Paths:
    """Each path of outcomes once, with how often it came: many draws of a small day are alike."""
    return Counter(method.outcomes(trajectory, samples, randomness, constant_work=constant_work))


def agreement_of(paths: Paths, trajectory: Trajectory, oracle: Sharing) -> float:
    """p-value of what was really drawn for a day under the draws that ``oracle`` lists.

    Each draw is held against its chances given the state it is made in, alone and beside each outcome
    before it, so that draws that depend on each other show too. The smallest p-value counts, times
    their number.
    """
    secret = oracle.core.secret(trajectory)
    values = []
    waiting: list[tuple[State | None, int, Paths]] = [(None, 0, paths)]
    while waiting:
        state, depth, rows = waiting.pop()
        step = oracle.step(secret, state)
        if step is None:
            continue
        expected = dict(zip(step.outcomes, map(float, chances(step)), strict=True))
        values += [_p_value(rows, earlier, depth, expected) for earlier in range(-1, depth)]
        after = dict(zip(step.outcomes, step.states, strict=True))
        by_state: dict[State, dict[tuple[Outcome, ...], int]] = defaultdict(dict)
        for row, times in rows.items():
            if row[depth] in after:
                by_state[after[row[depth]]][row] = times
        waiting += [(reached, depth + 1, some) for reached, some in by_state.items()]
    return min(1.0, min(values, default=1.0) * max(1, len(values)))


def _p_value(rows: Paths, earlier: int, depth: int, expected: dict[Outcome, float]) -> float:
    """χ² of the outcomes at ``depth`` beside those at ``earlier`` (−1: by themselves)."""
    counts: Counter[tuple[Outcome, Outcome]] = Counter()
    before: Counter[Outcome] = Counter()
    for row, times in rows.items():
        beside = row[earlier] if earlier >= 0 else ()
        counts[beside, row[depth]] += times
        before[beside] += times
    if any(outcome not in expected for _, outcome in counts):
        return 0.0  # an outcome that cannot be
    statistic, cells = 0.0, 0
    for previous, times in before.items():
        pooled_count, pooled_mass = 0, 0.0
        wanted: list[tuple[int, float]] = []
        for outcome, chance in expected.items():
            if times * chance < _ENOUGH:
                pooled_count += counts[previous, outcome]
                pooled_mass += times * chance
            else:
                wanted.append((counts[previous, outcome], times * chance))
        if pooled_mass:
            wanted.append((pooled_count, pooled_mass))
        if len(wanted) > 1 and min(mass for _, mass in wanted) >= 1:
            statistic += sum((count - mass) ** 2 / mass for count, mass in wanted)
            cells += len(wanted) - 1
    return float(chi2.sf(statistic, cells)) if cells else 1.0


def length_agreement(method: Sharing, trajectory: Trajectory, samples: int) -> float:
    """p-value of the lengths that days are really shared with: the true one, or drawn as listed."""
    counts = Counter(len(day) for day in method.share_many([trajectory] * samples))
    if not method.hides_length:
        return 1.0 if set(counts) == {len(trajectory)} else 0.0
    if method.hidden is None:
        return (
            1.0  # they are those of what was drawn: `depends_on_the_draws_alone` looks at days of any length
        )
    step = method.hidden.step(len(trajectory))
    expected = {length: float(chance) for (length,), chance in zip(step.outcomes, chances(step), strict=True)}
    if not set(counts) <= set(expected):
        return 0.0
    statistic = sum((counts[n] - samples * p) ** 2 / (samples * p) for n, p in expected.items())
    return float(chi2.sf(statistic, len(expected) - 1))


class _FixedDraws:
    """A core that perturbs as ever, and hands on draws that have nothing to do with it."""

    def __init__(self, core: Core, seed: int) -> None:
        self._core = core
        self._seed = seed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        # Draws that hide the length must be the same for days of other lengths, too.
        width = 1 if self._core.hides_length else secrets.shape[1]
        nobody = np.zeros((len(secrets), width), dtype=np.int32)
        fixed = self._core.perturb(nobody, SeededRandomness(self._seed), constant_work=constant_work)
        self._core.perturb(secrets, randomness, constant_work=constant_work)
        return fixed


def depends_on_the_draws_alone(
    method: Sharing, first: Trajectory, second: Trajectory, *, draws: int = 10
) -> bool:
    """Whether the same draws and randomness give the same days, whichever of two was perturbed (R8)."""
    for seed in range(draws):
        fixed = copy(method)
        fixed.core = _FixedDraws(method.core, seed)
        days: list[list[SharedTrajectory]] = []
        for day in (first, second):
            # Words run differently far for different truths: what comes after them must not.
            one, _ = fixed.share(day, randomness=_Replayed(seed))
            days.append([one, *fixed.share_many([day] * 3, randomness=_Replayed(seed))])
        if days[0] != days[1]:
            return False
    return True


class _Replayed(SeededRandomness):
    """The same words whenever it is asked: what is asked for before makes no difference."""

    def words(self, count: int) -> Words:
        return SeededRandomness(self.seed, count).words(count)

    def stream(self, number: int) -> _Replayed:
        return _Replayed(self.seed + 1000 * (number + 1))
