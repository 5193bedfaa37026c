"""What the paper's theory predicts of a draw: how far it is from the truth, at most, with what chance.

The bounds are those of the exponential mechanism. They hold for every world, and on real ones they say
little: at ε' of about 1 they lie far beyond the largest distance there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from elsewhere.days.feasible import count_days, log_count
from elsewhere.days.visits import largest_visit_distance, visit_distances
from elsewhere.errors import InputError
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A draw is at most ``distance`` from the truth, but for a chance of 1 − ``confidence``."""

    distance: float
    largest: float
    """The largest distance there can be: a prediction beyond it predicts nothing."""
    log_candidates: float
    confidence: float

    @property
    def says_something(self) -> bool:
        return self.distance < self.largest


def em_distance_at_most(
    *, epsilon: float, sensitivity: float, log_candidates: float, zeta: float, optimum: float = 0.0
) -> float:
    """With a chance of at least 1 − e^−ζ a draw is no farther than this; ``optimum`` is the least distance.

    OPT + 2Δ/ε (ln(|𝒴| / |𝒴_OPT|) + ζ), with ``log_candidates`` for the logarithm.

    Paper: eq:em-utility.
    Deviation: utility-sign — as distances, not as qualities.
    """
    if not (epsilon > 0 and sensitivity >= 0 and zeta >= 0):
        raise InputError("theory", "ε must be above 0, Δ and ζ at least 0")
    return optimum + 2 * sensitivity / epsilon * (log_candidates + zeta)


def ngram_prediction(
    world: World, *, epsilon: float, length: int, n: int = 2, confidence: float = 0.95
) -> Prediction:
    """For one main window of `ngram` on a day of ``length`` visits whose true window is feasible.

    Paper: eq:ngram-utility.
    """
    n = min(n, length)
    candidates = world.graph.ngram_count(n)
    if candidates == 0:
        raise InputError("world", f"no {n} regions can follow each other: use a smaller n")
    return _prediction(epsilon / (length + n - 1), n * world.max_distance, math.log(candidates), confidence)


def global_prediction(world: World, *, epsilon: float, length: int, confidence: float = 0.95) -> Prediction:
    """For `global` on a feasible day of ``length`` visits.

    Paper: eq:global-utility.
    """
    log_days = log_count(count_days(place_world(world), length))
    largest = length * largest_visit_distance(visit_distances(world), world.clock.timesteps)
    return _prediction(epsilon, largest, log_days, confidence)


def _prediction(epsilon: float, largest: float, log_candidates: float, confidence: float) -> Prediction:
    if not 0 < confidence < 1:
        raise InputError("confidence", f"found {confidence}, must be above 0 and below 1")
    distance = em_distance_at_most(
        epsilon=epsilon,
        sensitivity=largest,
        log_candidates=log_candidates,
        zeta=-math.log1p(-confidence),
    )
    return Prediction(
        distance=distance, largest=largest, log_candidates=log_candidates, confidence=confidence
    )
