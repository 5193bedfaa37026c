"""T3: lower bounds on ε from real shares: honest methods are not accused, a broken one is caught."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

import elsewhere as ew
from cases import cases, longest, most_places
from detectors import exact_loss
from elsewhere.audit.channel import all_trajectories
from elsewhere.audit.sampling import black_box, log_ratio_at_least
from elsewhere.methods.sharing import Sharing
from elsewhere.trajectories import Trajectory
from faults import FAULTS, Fault
from privacy_tools import some_methods
from tiny_worlds import tiny_world


def _pairs(method: Sharing, count: int) -> list[tuple[Trajectory, Trajectory]]:
    """The pair that the exact channel tells apart best, and others."""
    length = longest(method.name, method.world, 3)
    days = {method.core.secret(day): day for day in all_trajectories(method.world, length)}
    loss, order = exact_loss(method, length), sorted(days)
    pairs = [(days[loss.first], days[loss.second])] if loss.first in days and loss.second in days else []
    return [*pairs, *((days[a], days[b]) for a, b in zip(order, order[::-1], strict=True))][:count]


def test_limits_are_those_of_clopper_and_pearson() -> None:
    """At the lower limit as many or more come with a chance of α / 2, at the upper limit as few or fewer."""
    low = float(beta.ppf(0.0005, 300, 1000 - 300 + 1))
    assert float(binom.sf(299, 1000, low)) == pytest.approx(0.0005, rel=1e-6)
    high = float(beta.isf(0.0005, 100 + 1, 1000 - 100))
    assert float(binom.cdf(100, 1000, high)) == pytest.approx(0.0005, rel=1e-6)
    assert log_ratio_at_least(300, 100, 1000, 1e-3) == pytest.approx(math.log(low / high))
    assert log_ratio_at_least(0, 0, 1000, 1e-3) == 0
    assert log_ratio_at_least(1000, 1000, 1000, 1e-3) == 0
    assert log_ratio_at_least(1000, 0, 1000, 1e-3) > 4


def test_the_bound_holds_as_often_as_it_says() -> None:
    """With p₁ / p₂ = 2 it is above ln 2 in no more than α of all experiments."""
    generator = np.random.default_rng(1)
    above = sum(
        log_ratio_at_least(int(a), int(b), 500, 0.2) > math.log(2)
        for a, b in zip(
            generator.binomial(500, 0.4, size=2000), generator.binomial(500, 0.2, size=2000), strict=True
        )
    )
    assert above <= 0.2 * 2000


@pytest.mark.parametrize("name", some_methods())
def test_honest_methods_are_not_accused(tmp_path: Path, name: str) -> None:
    world = tiny_world(tmp_path, 4, most_places(name))
    for options in cases(name)[:2]:
        method = ew.method(name, world, epsilon=1, **options)
        for bound in black_box(method, _pairs(method, 1), samples=600):
            assert bound.epsilon <= 1


@pytest.mark.audit
@pytest.mark.parametrize("options", cases("ngram"), ids=str)
def test_twenty_pairs_are_not_accused(tmp_path: Path, options: dict[str, Any]) -> None:
    """`make audit` does the same for every method on more worlds."""
    method = ew.method("ngram", tiny_world(tmp_path, 22), epsilon=1, **options)
    bounds = black_box(method, _pairs(method, 20), samples=2000, alpha=1e-3)
    assert len(bounds) == 20
    assert max(bound.epsilon for bound in bounds) <= 1


@pytest.mark.parametrize("broken", ["length leak", "bounding box of the truth"])
def test_broken_methods_are_caught_from_outside(tmp_path: Path, broken: str) -> None:
    fault = next(fault for fault in FAULTS if isinstance(fault, Fault) and fault.name == broken)
    world = tiny_world(tmp_path, 7)
    method = fault.method(world)
    days = list(all_trajectories(world, 3))
    first, second = days[-1], days[0]
    if broken == "length leak":
        second = next(all_trajectories(world, 1))
    bound = black_box(method, [(first, second)], samples=1500)[0]
    assert bound.epsilon > float(fault.epsilon)


def test_processes_share_the_work(tmp_path: Path) -> None:
    method = ew.method("typical", tiny_world(tmp_path, 4), epsilon=1)  # next to nothing to compile
    told: list[tuple[int, int]] = []
    bounds = black_box(
        method, _pairs(method, 1), samples=502, workers=2, progress=lambda *done: told.append(done)
    )
    assert bounds[0].samples == 251
    assert told[-1] == (4, 4)
