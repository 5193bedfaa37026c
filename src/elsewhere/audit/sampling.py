"""A lower bound on ε from outside: share two days many times and look for what tells them apart.

Nothing of the method is known here but what it shares. On one half of the outputs an event is chosen
that seems to tell the inputs apart; on the other half it is counted. With Clopper–Pearson limits on
both counts, ln(p₁ low / p₂ high) is above the true ε with a chance of at most α.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Protocol

from scipy.stats import beta

from elsewhere.errors import InputError
from elsewhere.progress import Progress, no_progress
from elsewhere.trajectories import SharedTrajectory, Trajectory

FEWEST = 100
_THRESHOLDS = 24
_PIECE = 500
Feature = Hashable


class Sharer(Protocol):
    """Anything that shares."""

    def share(self, trajectory: Trajectory) -> tuple[SharedTrajectory, object]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Telltale:
    """A set of outputs, and how to say which."""

    words: str
    holds: Callable[[frozenset[Feature]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class LowerBound:
    """What was seen: with confidence 1 − α the method spends at least ``epsilon``."""

    epsilon: float
    event: str
    counts: tuple[int, int]
    """How often the event held for each of the two inputs, on the half kept for counting."""
    samples: int
    alpha: float

    @property
    def could_show(self) -> float:
        """The most that this many shares could ever show."""
        return log_ratio_at_least(self.samples, 0, self.samples, self.alpha)


def black_box(
    method: Sharer,
    pairs: Sequence[tuple[Trajectory, Trajectory]],
    *,
    samples: int = 20_000,
    alpha: float = 1e-3,
    workers: int = 1,
    progress: Progress = no_progress,
) -> list[LowerBound]:
    """For each pair of inputs a lower bound on ε, from ``samples`` real calls of `share` for each input."""
    if samples < FEWEST:
        raise InputError(
            "black box", f"found {samples} shares, must be at least {FEWEST}: fewer show nothing"
        )
    days = [trajectory for pair in pairs for trajectory in pair]
    pieces = [min(_PIECE, samples - start) for start in range(0, samples, _PIECE)]
    tasks = [(day, count) for day in days for count in pieces]
    found: list[list[frozenset[Feature]]] = [[] for _ in days]
    for number, shared in enumerate(_run(method, tasks, workers)):
        found[number // len(pieces)] += [features(day) for day in shared]
        progress(number + 1, len(tasks))
    return [_bound(found[2 * i], found[2 * i + 1], alpha) for i in range(len(pairs))]


def _run(
    method: Sharer, tasks: Sequence[tuple[Trajectory, int]], workers: int
) -> Iterator[list[SharedTrajectory]]:
    """Results of the tasks, in order; other processes get the method once."""
    if workers == 1:
        yield from (_share_often(method, *task) for task in tasks)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), _keep, (method,)) as pool:
        yield from pool.map(_share_here, tasks)


_kept: list[Sharer] = []


def _keep(method: Sharer) -> None:
    _kept.append(method)


def _share_here(task: tuple[Trajectory, int]) -> list[SharedTrajectory]:
    return _share_often(_kept[-1], *task)


def _share_often(method: Sharer, trajectory: Trajectory, count: int) -> list[SharedTrajectory]:
    return [method.share(trajectory)[0] for _ in range(count)]


def _bound(
    first: Sequence[frozenset[Feature]], second: Sequence[frozenset[Feature]], alpha: float
) -> LowerBound:
    """Choose an event on one half, count it on the other."""
    half = len(first) // 2
    event, is_swapped = _choose(first[:half], second[:half], alpha)
    held = [sum(map(event.holds, days[half:])) for days in (first, second)]
    if is_swapped:
        held.reverse()
    return LowerBound(
        epsilon=log_ratio_at_least(held[0], held[1], len(first) - half, alpha),
        event=event.words,
        counts=(held[0], held[1]),
        samples=len(first) - half,
        alpha=alpha,
    )


def features(day: SharedTrajectory) -> frozenset[Feature]:
    """What an onlooker may ask of a shared day: its length, each visit's place, time, both, and the whole."""
    found: list[Feature] = [("length", len(day)), ("day", day.visits)]
    for number, visit in enumerate(day.visits):
        found += [
            ("place", number, visit.place_id),
            ("timestep", number, visit.timestep),
            ("visit", number, visit),
        ]
    return frozenset(found)


def log_ratio_at_least(first: int, second: int, samples: int, alpha: float) -> float:
    """Lower confidence limit of ln(p₁ / p₂), each count of ``samples``; α is split between the two."""
    low = 0.0 if first == 0 else float(beta.ppf(alpha / 2, first, samples - first + 1))
    high = 1.0 if second == samples else float(beta.isf(alpha / 2, second + 1, samples - second))
    return max(0.0, math.log(low / high)) if low > 0 else 0.0


def _choose(
    first: Sequence[frozenset[Feature]], second: Sequence[frozenset[Feature]], alpha: float
) -> tuple[Telltale, bool]:
    """The event with the highest bound on this half, and whether it is likelier under the second input."""
    counts = [Counter(feature for day in days for feature in day) for days in (first, second)]
    evidence = {
        feature: math.log((counts[0][feature] + 0.5) / (counts[1][feature] + 0.5))
        for feature in counts[0].keys() | counts[1].keys()
        if feature[0] in {"length", "place", "timestep"}  # type: ignore[index]  # our own features
    }
    tried: list[tuple[float, int, Telltale, bool]] = []

    def try_event(event: Telltale, held: tuple[int, int]) -> None:
        for is_swapped, (a, b) in ((False, held), (True, held[::-1])):
            tried.append((log_ratio_at_least(a, b, len(first), alpha), len(tried), event, is_swapped))

    for feature in counts[0].keys() | counts[1].keys():
        if counts[0][feature] + counts[1][feature] >= 8:
            try_event(_feature_event(feature), (counts[0][feature], counts[1][feature]))
    scores = [sorted(sum(evidence.get(f, 0.0) for f in day) for day in days) for days in (first, second)]
    everything = sorted(scores[0] + scores[1])
    for number in range(1, _THRESHOLDS):
        threshold = everything[number * len(everything) // _THRESHOLDS]
        for is_above in (True, False):
            held = tuple(sum((score >= threshold) == is_above for score in side) for side in scores)
            try_event(_evidence_event(evidence, threshold, is_above=is_above), (held[0], held[1]))
    best = max(tried, key=lambda entry: entry[:2])
    return best[2], best[3]


def _feature_event(feature: Feature) -> Telltale:
    return Telltale(words=f"{feature}", holds=lambda day: feature in day)


def _evidence_event(evidence: dict[Feature, float], threshold: float, *, is_above: bool) -> Telltale:
    side = "at least" if is_above else "below"
    return Telltale(
        words=f"evidence of all visits {side} {threshold:.3f}",
        holds=lambda day: (sum(evidence.get(f, 0.0) for f in day) >= threshold) == is_above,
    )
