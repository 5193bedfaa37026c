"""Whether real draws follow the listed ones, and nothing but the draws reaches the output.

The exact channel is about tables. These two checks tie the code that runs to them: real draws have the
listed distribution, and days rebuilt from given draws are the same whatever was true.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from elsewhere.audit.channel import chances
from elsewhere.mechanism.step import Outcome, State
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory

# A cell of a χ² test needs this many expected counts; rarer ones are pooled.
_ENOUGH = 8.0


def agreement(
    method: Sharing,
    trajectory: Trajectory,
    samples: int,
    randomness: Randomness,
    *,
    listed: Sharing | None = None,
    constant_work: bool = False,
) -> float:
    """p-value of real draws of ``method`` under the draws that ``listed`` (else itself) lists.

    Each draw is held against its chances given the state it is made in and the outcome before it, so
    that draws that depend on each other show too. The smallest p-value counts, times their number.
    """
    oracle = listed or method
    secret = oracle.core.secret(trajectory)
    paths = method.outcomes(trajectory, samples, randomness, constant_work=constant_work)
    values = []
    waiting: list[tuple[State | None, int, list[tuple[Outcome, ...]]]] = [(None, 0, paths)]
    while waiting:
        state, depth, rows = waiting.pop()
        step = oracle.step(secret, state)
        if step is None:
            continue
        expected = dict(zip(step.outcomes, map(float, chances(step)), strict=True))
        values.append(_p_value(rows, depth, expected))
        after = dict(zip(step.outcomes, step.states, strict=True))
        by_state: dict[State, list[tuple[Outcome, ...]]] = defaultdict(list)
        for row in rows:
            if row[depth] in after:
                by_state[after[row[depth]]].append(row)
        waiting += [(reached, depth + 1, some) for reached, some in by_state.items()]
    return min(1.0, min(values) * len(values))


def _p_value(rows: Sequence[tuple[Outcome, ...]], depth: int, expected: dict[Outcome, float]) -> float:
    """χ² of the outcomes at ``depth`` beside those before them."""
    counts = Counter((row[depth - 1] if depth else (), row[depth]) for row in rows)
    if any(outcome not in expected for _, outcome in counts):
        return 0.0  # an outcome that cannot be
    before = Counter(row[depth - 1] if depth else () for row in rows)
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


def depends_on_the_draws_alone(
    method: Sharing, first: Trajectory, second: Trajectory, *, draws: int = 20
) -> bool:
    """Whether the same draws and randomness give the same days after either input was perturbed (R8)."""
    length = len(first)
    secrets = [np.array([method.core.secret(trajectory)], dtype=np.int32) for trajectory in (first, second)]
    for seed in range(draws):
        drawn = method.core.perturb(secrets[0], SeededRandomness(seed), constant_work=False)
        days: list[list[SharedTrajectory]] = []
        for secret in secrets:
            method.core.perturb(secret, SeededRandomness(seed, 1), constant_work=False)
            days.append(method.core.rebuild(drawn, SeededRandomness(seed, 2)).shared)
        if days[0] != days[1] or any(len(day) != length for day in days[0]):
            return False
    return True
