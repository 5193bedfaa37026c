"""The exact channel of a method with privacy levels: what is told of visits to sensitive places.

Which visits are moved to their stand-ins is hidden, so chances of whole outputs are mixtures. They are
listed, every path of draws of every day, which only very small worlds allow.
"""

from __future__ import annotations

import decimal
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise

from elsewhere.audit.channel import DIGITS, chances
from elsewhere.errors import InputError
from elsewhere.mechanism.levels import COIN_BITS, Levels, staying_chance
from elsewhere.mechanism.listing import Outcome, State
from elsewhere.methods.sharing import Sharing
from elsewhere.trajectories import Trajectory

Output = tuple[Outcome, ...]


def level_losses(method: Sharing, days: Sequence[Trajectory]) -> dict[Fraction | None, float]:
    """For each level the largest log-ratio between two days that differ in visits at levels up to it alone.

    Under None: between any two days. All days must have the same number of visits.
    """
    levels = method.levels
    if levels is None:
        raise InputError("audit", "this method has no levels")
    told = [_mixed(method, levels, day) for day in days]
    found: dict[Fraction | None, float] = {}
    for level in (*sorted(set(levels.of_place.values())), None):
        groups: dict[object, list[int]] = defaultdict(list)
        for number, day in enumerate(days):
            groups[None if level is None else _moved_up_to(levels, day, level)].append(number)
        pairs = [pair for group in groups.values() for pair in combinations(group, 2)]
        found[level] = max((_largest_log_ratio(told[a], told[b]) for a, b in pairs), default=0.0)
    return found


def _moved_up_to(levels: Levels, day: Trajectory, level: Fraction) -> Trajectory:
    """The day with all visits at levels up to ``level`` at their stand-ins."""
    return Trajectory(
        (levels.stand_ins[place] if levels.of_place.get(place, level + 1) <= level else place, timestep)
        for place, timestep in day
    )


def _mixed(method: Sharing, levels: Levels, day: Trajectory) -> dict[Output, Decimal]:
    """Chance of each output, over the coin that nobody sees."""
    epsilon, whole = method.spent_on(len(day)), 1 << COIN_BITS
    cuts = sorted({0, whole, *(staying_chance(level, epsilon) for level in levels.of_place.values())})
    found: dict[Output, Decimal] = defaultdict(Decimal)
    with decimal.localcontext(DIGITS):
        for begin, end in pairwise(cuts):
            seen = levels.seen(day, epsilon, begin)
            for output, chance in _outputs(method, method.core.secret(seen)).items():
                found[output] += chance * (end - begin) / whole
    return found


def _outputs(method: Sharing, secret: Outcome) -> Mapping[Output, Decimal]:
    """Chance of every sequence of outcomes."""
    found: dict[Output, Decimal] = defaultdict(Decimal)
    open_ends: list[tuple[Output, State | None, Decimal]] = [((), None, Decimal(1))]
    while open_ends:
        output, state, chance = open_ends.pop()
        step = method.step(secret, state)
        if step is None:
            found[output] += chance
            continue
        for outcome, after, part in zip(step.outcomes, step.states, chances(step), strict=True):
            open_ends.append(((*output, outcome), after, chance * part))
    return found


def _largest_log_ratio(first: Mapping[Output, Decimal], second: Mapping[Output, Decimal]) -> float:
    if first.keys() != second.keys():
        return float("inf")
    with decimal.localcontext(DIGITS):
        return max(abs(float((first[output] / second[output]).ln())) for output in first)
