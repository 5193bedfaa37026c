"""When the visits of a prior's day happen: all times together, so that none is crammed in at the end.

The times of a day of L visits are drawn in proportion to

    start(t₁) · a(t₁) · gap(t₂ − t₁) · a(t₂) · … · gap(t_L − t_{L−1}) · a(t_L),

where a is fitted so that visits by timestep follow a target: how lively the city is at each time. Drawing gap
after gap and again whenever midnight is passed would pile visits up in the last hours of the day.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Floats

_ROUNDS = 120
# Beyond this the fit asks for what starts and gaps forbid, and would end in days that nobody has.
_MOST_PULL = 100.0
# What is divided by weights as small as this overflows; no day is drawn with them.
_NEXT_TO_NOTHING = 1e-280
_STEPS = 1 << 12


class Times(NamedTuple):
    """Weights from which the times of a day are drawn, one after the other."""

    lengths: Floats
    """Weights, added up, of each number of visits, from 1 on; none for numbers that do not fit into a day."""
    first: Floats
    """Row for each number of visits: weights, added up, of each timestep as the first."""
    worth: Floats
    """Row for each number of visits still to come afterwards: how much a visit at each timestep is worth."""
    onward: Floats
    """Row for each number of visits still to come: the sum of gap · worth over all later timesteps."""
    gaps: Floats
    """Weight of each number of timesteps between two visits, from 1 on."""


def fitted_times(target: Floats, starts: Floats, lengths: Floats, gaps: Floats) -> Times:
    """Times whose visits follow ``target`` as far as ``starts`` and ``gaps`` allow; 0 in it means never."""
    after = _after(gaps / gaps.sum(), len(target))
    weights = lengths / lengths.sum()
    pull = (target > 0).astype(np.float64)
    # What pulls one visit pulls all visits of its day: larger steps than 2 / L would never settle.
    step = min(0.5, 1.6 / len(lengths))
    for _ in range(_ROUNDS):
        visits = _visits(pull, starts, weights, after)
        is_met = visits > _NEXT_TO_NOTHING
        if not is_met.any():
            break  # no day fits: there is nothing to be fitted
        ratio = np.divide(target / target.sum(), visits, out=np.ones_like(pull), where=is_met)
        pull = pull * ratio**step
        pull = np.clip(pull / pull[is_met].mean(), 0, _MOST_PULL)
    return _times(_rounded(pull), starts, weights, after, gaps / gaps.sum())


def _after(gaps: Floats, count: int) -> Floats:
    """Row t, column u: the weight of the gap from t to u."""
    ahead = np.arange(count) - np.arange(count)[:, None]
    return np.where(ahead > 0, gaps[np.clip(ahead - 1, 0, len(gaps) - 1)], 0.0)


def _onward(pull: Floats, most: int, after: Floats) -> Floats:
    """Row r: the weight of all that can come after each timestep, if r more visits do."""
    rows = [np.ones_like(pull)]
    while len(rows) < most:
        rows.append(after @ (pull * rows[-1]))
    return np.array(rows)


def _visits(pull: Floats, starts: Floats, lengths: Floats, after: Floats) -> Floats:
    """Visits at each timestep, per visit: forwards times backwards, for every number of visits."""
    onward = _onward(pull, len(lengths), after)
    forward, visits = starts * pull, np.zeros_like(pull)
    totals = onward @ forward
    shares = np.divide(lengths, totals, out=np.zeros_like(lengths), where=totals > _NEXT_TO_NOTHING)
    for done in range(len(lengths)):
        # A day of L visits whose visit number ``done`` is at t: so many are still to come.
        visits += forward * (shares[done:] @ onward[: len(lengths) - done])
        forward = (forward @ after) * pull
    return visits / visits.sum() if visits.any() else visits


def _rounded(pull: Floats) -> Floats:
    """To twelve bits: the last bits of a machine's arithmetic must make no difference to the days."""
    mantissas, exponents = np.frexp(pull)
    return np.asarray(np.ldexp(np.round(mantissas * _STEPS) / _STEPS, exponents))


def _times(pull: Floats, starts: Floats, lengths: Floats, after: Floats, gaps: Floats) -> Times:
    onward = _onward(pull, len(lengths), after)
    first = starts * pull * onward
    return Times(
        lengths=np.cumsum(np.where(first.any(axis=1), lengths, 0.0)),
        first=np.cumsum(first, axis=1),
        worth=pull * onward,
        onward=onward,
        gaps=gaps,
    )
