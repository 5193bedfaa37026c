"""The exact channel of a method on a small world: every input, every outcome, the largest log-ratio.

A method lists each draw as the production code would make it (`Step`), for each input anew: nothing is
taken on trust about what does not depend on the input. Chances are worked out with 50 digits from
whole numbers and fractions. What is drawn can lead to other draws (adaptive methods), so the worst
output is found backwards over states, like a longest path; only the final number is a sum over it.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from typing import Any, Protocol

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.listing import AnyStep, GivenStep, Outcome, State
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

DIGITS = decimal.Context(prec=50)
_MOST_INPUTS = 6000
_SMALL = Decimal("1e-300")

Key = tuple[Outcome, State]


class Listable(Protocol):
    """What the audit needs of a method: the next draw after a state, listed, for any input."""

    def step(self, secret: Outcome, state: State | None) -> AnyStep | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """The largest log-ratio of a channel, and where it is attained."""

    epsilon: Decimal
    first: Outcome
    """The input that makes the output likelier, as the draws see it."""
    second: Outcome
    outcomes: tuple[Outcome, ...]
    inputs: int


def all_trajectories(world: World, length: int, *, unknown: bool = True) -> Iterator[Trajectory]:
    """Every day of ``length`` visits on a small world: all places, one that nobody knows, all timesteps."""
    ids = [*world.places.ids, *(["a place nobody knows"] if unknown else [])]
    for steps in combinations(range(world.clock.timesteps), length):
        for places in product(ids, repeat=length):
            yield Trajectory(zip(places, steps, strict=True))


def chances(step: AnyStep) -> Sequence[Decimal]:
    """Chance of each outcome of a draw, by bounded rejection unless it is given.

    Of N trials the first accepted counts, else one more proposal: π(y) (a(y) (1 − m) / A + m), with a the
    acceptance, A its mean under π, and m = (1 − A)^N the chance that nothing is accepted.
    """
    if isinstance(step, GivenStep):
        return step.chances
    with decimal.localcontext(DIGITS):
        proposed = [_decimal(chance) for chance in step.proposal]
        accepted = [_exp(-numerator, step.denominator) for numerator in step.numerators]
        mass = sum((p * a for p, a in zip(proposed, accepted, strict=True)), start=Decimal(0))
        missed = Decimal(0) if step.trials is None else (1 - mass) ** step.trials
        factor = (1 - missed) / mass
        return [p * (a * factor + missed) for p, a in zip(proposed, accepted, strict=True)]


def _decimal(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


@lru_cache(maxsize=100_000)
def _exp(numerator: int, denominator: int) -> Decimal:
    with decimal.localcontext(DIGITS):
        return (Decimal(numerator) / Decimal(denominator)).exp()


def largest_loss(method: Listable, secrets: Sequence[Outcome]) -> Loss:
    """The largest log-ratio over all pairs of ``secrets`` and all outputs."""
    inputs = sorted(set(secrets))
    if len(inputs) > _MOST_INPUTS:
        raise InputError("audit", f"{len(inputs):,} different inputs are too many: at most {_MOST_INPUTS:,}")
    channel = _Channel(method, inputs)
    worst = channel.worst(None)
    first, second = (int(i) for i in np.unravel_index(int(np.argmax(worst)), worst.shape))
    outcomes, epsilon = channel.trace(first, second)
    return Loss(
        epsilon=epsilon,
        first=inputs[first],
        second=inputs[second],
        outcomes=outcomes,
        inputs=len(inputs),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """One draw for every input: different inputs often have the same row."""

    keys: list[Key]
    rows: list[dict[Key, Decimal]]
    row_of: np.ndarray[tuple[int], np.dtype[np.int64]]
    logs: Floats
    """Natural logarithm of each row's chances; −inf where an outcome cannot be."""


class _Channel:
    def __init__(self, method: Listable, inputs: Sequence[Outcome]) -> None:
        self._method = method
        self._inputs = inputs
        self._tables: dict[State | None, _Table | None] = {}
        self._worst: dict[State | None, Floats] = {}

    def worst(self, state: State | None) -> Floats:
        """For each pair of inputs the largest log-ratio of what is still to be drawn after ``state``."""
        if state not in self._worst:
            table = self._table(state)
            if table is None:
                return np.zeros((len(self._inputs), len(self._inputs)))
            largest = np.full((len(self._inputs), len(self._inputs)), -np.inf)
            for after in dict.fromkeys(key[1] for key in table.keys):
                columns = [i for i, key in enumerate(table.keys) if key[1] == after]
                gains = _largest_differences(np.ascontiguousarray(table.logs[:, columns]))
                pairs = gains[table.row_of[:, None], table.row_of[None, :]]
                # What the first input cannot give tells nothing, however much could come after it.
                can_be = pairs > -np.inf
                np.maximum(
                    largest, np.add(pairs, self.worst(after), where=can_be, out=pairs.copy()), out=largest
                )
            self._worst[state] = largest
        return self._worst[state]

    def trace(self, first: int, second: int) -> tuple[tuple[Outcome, ...], Decimal]:
        """The output that attains the worst for a pair, and its log-ratio with all digits."""
        state: State | None = None
        outcomes: list[Outcome] = []
        with decimal.localcontext(DIGITS):
            epsilon = Decimal(0)
            while (table := self._table(state)) is not None:
                ours, theirs = (table.rows[int(table.row_of[i])] for i in (first, second))
                outcome, state = max(
                    (key for key in table.keys if ours.get(key)),
                    key=lambda key: self._gain(table, key, first, second),
                )
                outcomes.append(outcome)
                other = theirs.get((outcome, state), Decimal(0))
                epsilon += (ours[outcome, state] / other).ln() if other else Decimal("Infinity")
                if not other:
                    break
        return tuple(outcomes), epsilon

    def _gain(self, table: _Table, key: Key, first: int, second: int) -> float:
        column = table.keys.index(key)
        a, b = (float(table.logs[table.row_of[i], column]) for i in (first, second))
        return a - b + float(self.worst(key[1])[first, second])

    def _table(self, state: State | None) -> _Table | None:
        if state not in self._tables:
            self._tables[state] = self._listed(state)
        return self._tables[state]

    def _listed(self, state: State | None) -> _Table | None:
        rows: list[dict[Key, Decimal]] = []
        seen: dict[Hashable, int] = {}
        row_of = np.full(len(self._inputs), -1, dtype=np.int64)
        numbered = _Numbered()
        for number, secret in enumerate(self._inputs):
            step = self._method.step(secret, state)
            if step is None:
                continue
            content = _content(step, numbered)
            if content not in seen:
                seen[content] = len(rows)
                rows.append(_row(step))
            row_of[number] = seen[content]
        if not rows:
            return None
        if (row_of < 0).any():
            raise InputError("audit", "after the same draws some inputs are finished and some are not")
        keys = list(dict.fromkeys(key for row in rows for key in row))
        logs = np.full((len(rows), len(keys)), -np.inf)
        for number, row in enumerate(rows):
            for column, key in enumerate(keys):
                if row.get(key):
                    logs[number, column] = _log(row[key])
        return _Table(keys, rows, row_of, logs)


class _Numbered:
    """Sequences that are equal get the same number; the same object is compared quickly, but compared."""

    def __init__(self) -> None:
        self._of_object: dict[int, tuple[tuple[Any, ...], int]] = {}
        self._kept: list[tuple[Any, ...]] = []

    def number(self, sequence: Sequence[Any]) -> int:
        content = tuple(sequence)
        known = self._of_object.get(id(sequence))
        if known is None or known[0] != content:
            known = (content, len(self._kept))
            self._kept.append(content)
            self._of_object[id(sequence)] = known
        return known[1]


def _content(step: AnyStep, numbered: _Numbered) -> Hashable:
    """The same only for steps that are the same."""
    outcomes = numbered.number(step.outcomes)
    if isinstance(step, GivenStep):
        return outcomes, tuple(step.chances), tuple(step.states)
    proposal = numbered.number(step.proposal)
    return outcomes, proposal, step.denominator, step.trials, tuple(step.numerators), tuple(step.states)


def _log(chance: Decimal) -> float:
    """Right to the last digit or two, also where the chance itself is too small for a float."""
    return math.log(chance) if chance > _SMALL else float(chance.ln(DIGITS))


def _row(step: AnyStep) -> dict[Key, Decimal]:
    """Chance of each outcome; one that is listed twice counts twice."""
    row: dict[Key, Decimal] = {}
    for outcome, state, chance in zip(step.outcomes, step.states, chances(step), strict=True):
        row[outcome, state] = row.get((outcome, state), Decimal(0)) + chance
    return row


@compiled
def _largest_differences(logs: Floats) -> Floats:
    """For each pair of rows the largest difference over columns; what neither can give counts for nothing."""
    count, columns = logs.shape
    largest = np.full((count, count), -np.inf)
    for a in range(count):
        for b in range(count):
            for column in range(columns):
                if logs[a, column] > -np.inf:
                    largest[a, b] = max(largest[a, b], logs[a, column] - logs[b, column])
    return largest
