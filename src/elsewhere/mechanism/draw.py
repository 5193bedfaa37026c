"""One draw of the exponential mechanism: exact, by bounded rejection from a public proposal.

For any public proposal π and any score s in [0, 1], Pr(y | x) ∝ π(y) e^(−ε' s(x, y) / 2) is ε'-LDP, and
so is the first accepted of N proposals, else one more. Hence all that must be right here is the
clamp of the score, the coin, and that N and the proposal know nothing of x (docs/privacy).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.arrays import Indices
from elsewhere.compiled import compiled
from elsewhere.errors import InputError
from elsewhere.mechanism.coin import Tape, accepts_exp
from elsewhere.mechanism.proposal import Proposals, propose
from elsewhere.world.distances import RegionDistances, region_distance

SCORE_STEPS = 1 << 20
LARGEST_EPSILON = 16
# Chance that no trial accepts, at worst 2⁻⁶⁴; the draw then falls back to a proposal, and stays ε'-LDP.
NEVER = 64 * math.log(2)


class Coin(NamedTuple):
    """Acceptance of a score k: probability e^(−ε' k / 2²¹), as whole numbers."""

    numerator: int
    denominator: int
    trials: int


def coin_of(epsilon: Fraction) -> Coin:
    """The coin of a draw with ε', and the public number of trials it gets."""
    if epsilon > LARGEST_EPSILON:
        raise InputError(
            "epsilon", f"{float(epsilon):g} for one draw takes too long to sample: at most {LARGEST_EPSILON}"
        )
    trials = math.ceil(NEVER * math.exp(epsilon / 2))
    return Coin(epsilon.numerator, epsilon.denominator * 2 * SCORE_STEPS, trials)


@compiled
def score(distances: RegionDistances, true_walk: Indices, walk: Indices, sensitivity: float) -> int:
    """Score of a walk: d_w over Δ.

    Paper: eq:ngram for d_w, eq:ngram-perturbation for Δ.
    """
    total = 0.0
    for i in range(len(walk)):
        total += region_distance(distances, true_walk[i], walk[i])
    return score_of(total, sensitivity)


@compiled
def score_of(distance: float, sensitivity: float) -> int:
    """⌈2²⁰ d / Δ⌉ clamped to [0, 2²⁰]; whatever is not a number counts as farthest (R2)."""
    if sensitivity <= 0:
        return 0
    scaled = np.ceil(distance / sensitivity * SCORE_STEPS)
    if not scaled < SCORE_STEPS:
        return SCORE_STEPS
    return max(0, int(scaled))


@compiled
def scores(
    distances: RegionDistances, true_walk: Indices, walks: Indices, sensitivity: float
) -> NDArray[np.int64]:
    """Score of each of the walks, a row each."""
    found = np.empty(len(walks), dtype=np.int64)
    for row in range(len(walks)):
        found[row] = score(distances, true_walk, walks[row], sensitivity)
    return found


@compiled
def draw_walk(
    tape: Tape,
    proposals: Proposals,
    distances: RegionDistances,
    coin: Coin,
    sensitivity: float,
    true_walk: Indices,
    is_constant: bool,
    walk: Indices,
) -> int:
    """Fill ``walk`` with one draw; returns the trial that was accepted, 0 if none was.

    Paper: eq:ngram-perturbation.
    Deviation: exact-draw — proposals and an exact coin instead of a table of weights.
    """
    accepted = 0
    candidate = np.empty(len(walk), dtype=np.int32)
    for trial in range(coin.trials):
        propose(tape, proposals, candidate)
        far = score(distances, true_walk, candidate, sensitivity)
        if accepts_exp(tape, coin.numerator * far, coin.denominator) and not accepted:
            accepted = trial + 1
            walk[:] = candidate
            if not is_constant:
                return accepted
    propose(tape, proposals, candidate)
    if not accepted:
        walk[:] = candidate
    return accepted
