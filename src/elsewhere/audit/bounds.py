"""ε of single draws on real worlds, where nothing can be listed: exact for n-grams of regions.

Scores are rounded up to 2⁻²⁰, which moves the exact result by at most that part of the coin's ε; the proven
bound ε' takes over where the matrices of `mechanism.window_loss` would be too large.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch

from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.mechanism.rejection import SCORE_STEPS
from elsewhere.mechanism.window_loss import exact_window_loss


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawLoss:
    """What one draw spends."""

    epsilon: Fraction
    """Claimed."""
    spent: float
    """The largest log-ratio, or a bound on it; never below what is really spent."""
    is_exact: bool
    first: tuple[int, ...] = ()
    """Regions that attain it, if it is exact."""
    second: tuple[int, ...] = ()
    output: tuple[int, ...] = ()


@singledispatch
def draw_losses(
    tables: object, draws: Sequence[Draw], tick: Callable[[], None] = lambda: None
) -> list[DrawLoss]:
    """What each draw of a method spends, in the order of its draws: by default what is proven of it."""
    del tables, tick
    return [DrawLoss(epsilon=draw.epsilon, spent=float(draw.epsilon), is_exact=False) for draw in draws]


@draw_losses.register
def _ngram_losses(
    tables: NgramTables, _draws: Sequence[Draw], tick: Callable[[], None] = lambda: None
) -> list[DrawLoss]:
    """Windows of the same length with the same ε' spend the same; ``tick`` is called for each position."""
    sizes = {(draw.length, draw.epsilon) for draw in tables.draws}
    found = {(size, epsilon): window_loss(tables, size, epsilon, tick) for size, epsilon in sizes}
    return [found[draw.length, draw.epsilon] for draw in tables.draws]


@draw_losses.register
def _codebook_losses(
    tables: CodebookTables, draws: Sequence[Draw], _tick: Callable[[], None] = lambda: None
) -> list[DrawLoss]:
    """A pick spends as much for any two days whose nearest candidates differ: ε, but for what is missed."""
    odds = tables.odds
    outside = math.exp(-odds.epsilon)
    accepted = (odds.nearest + (odds.candidates - odds.nearest) * outside) / odds.candidates
    missed = (1 - accepted) ** odds.trials
    inside, other = ((1 - missed) * weight / accepted + missed for weight in (1.0, outside))
    spent = math.log(inside / other) if odds.nearest < odds.candidates else 0.0
    return [
        DrawLoss(epsilon=draw.epsilon, spent=min(spent, float(odds.epsilon)), is_exact=True) for draw in draws
    ]


def factor_of(tables: NgramTables, size: int, epsilon: Fraction) -> float:
    """The c in the weights e^(−c d) of a window of ``size`` regions, by its coin; Δ := 1 if not clamped."""
    index = next(i for i, draw in enumerate(tables.draws) if (draw.length, draw.epsilon) == (size, epsilon))
    coin = tables.windows.coin(index)
    delta = float(tables.windows.sensitivities[index]) if tables.is_clamped else 1.0
    return coin.numerator / coin.denominator * SCORE_STEPS / delta if delta > 0 else 0.0


def window_loss(
    tables: NgramTables, size: int, epsilon: Fraction, tick: Callable[[], None] = lambda: None
) -> DrawLoss:
    """Largest log-ratio of one draw: any n-grams of regions as inputs, any feasible one as output."""
    factor = factor_of(tables, size, epsilon)
    largest = 2 * factor * size * _largest(tables)
    clamped_at = _largest(tables) if tables.is_clamped else math.inf
    exact = exact_window_loss(tables.distances, tables.proposals.words, size, factor, clamped_at, tick)
    if exact is None:
        proven = float(epsilon) if tables.is_clamped else largest
        return DrawLoss(epsilon=epsilon, spent=proven, is_exact=False)
    # Both what a coin's scores prove (its ε, which is ``largest``) and what is exact are upper bounds.
    spent = min(exact.spent + largest / SCORE_STEPS, largest) if tables.is_clamped else exact.spent
    return DrawLoss(
        epsilon=epsilon,
        spent=spent,
        is_exact=True,
        first=exact.first,
        second=exact.second,
        output=exact.output,
    )


def _largest(tables: NgramTables) -> float:
    """Largest distance of the world: Δ of a window over its length."""
    return float(tables.windows.sensitivities[0] / tables.windows.lengths[0])
