"""ε of single draws by max-plus products, against the exact channel that lists everything."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import elsewhere as ew
from elsewhere.audit.bounds import draw_losses, factor_of, window_loss
from elsewhere.audit.channel import largest_loss
from elsewhere.audit.losses import log_mass, sampled_losses
from elsewhere.audit.made_up import made_up_days
from elsewhere.audit.report import audit
from elsewhere.experiments.tilted import TiltedNgram, tilted_ngram
from elsewhere.mechanism import window_loss as window_loss_module
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.methods.ngram import Ngram
from elsewhere.randomness import SeededRandomness
from tiny_worlds import tiny_world


class _OneDraw:
    """A method that makes one draw of a core's, and no other."""

    def __init__(self, core: Ngram, draws: int, index: int) -> None:
        self.core, self.draws, self.index = core, draws, index

    def step(self, secret: Outcome, state: State | None) -> Step | None:
        if state is not None:
            return None
        start = self.core.draws_for(self.draws)[self.index].start
        return self.core.step((0,) * start + secret, (self.draws, self.index))


# World 7 has the most regions, and so takes longest to list: for the baseline in `make audit` alone.
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        pytest.param(kind, seed, marks=[pytest.mark.audit] if (kind, seed) == (TiltedNgram, 7) else [])
        for kind in (Ngram, TiltedNgram)
        for seed in (1, 4, 7, 12, 21)
    ],
)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_max_plus_equals_listing_everything(tmp_path: Path, seed: int, n: int, kind: type[Ngram]) -> None:
    world = tiny_world(tmp_path, seed)
    core = kind(world, epsilon=5, n=n)
    tables = core.tables(n)
    for index, (draw, loss) in enumerate(zip(tables.draws, draw_losses(tables, tables.draws), strict=True)):
        inputs = list(product(range(len(world.regions)), repeat=draw.length))
        if len(inputs) > 1000:
            continue
        listed = float(largest_loss(_OneDraw(core, n, index), inputs).epsilon)
        if loss.is_exact:
            assert listed - 1e-9 <= loss.spent <= listed + 2e-6 * float(draw.epsilon) + 1e-9
        else:
            assert loss.spent >= listed


def test_the_windows_named_attain_the_loss(tmp_path: Path) -> None:
    tables = Ngram(tiny_world(tmp_path, 4), epsilon=5).tables(2)
    draw = tables.draws[1]
    loss = window_loss(tables, 2, draw.epsilon)
    factor = factor_of(tables, 2, draw.epsilon)

    def log_chance(truth: tuple[int, ...]) -> float:
        walk = np.array(truth, dtype=np.int32)
        far = float(tables.distances.combined(walk, np.array(loss.output)).sum())
        return -factor * far - log_mass(tables, walk, factor)

    assert log_chance(loss.first) - log_chance(loss.second) == pytest.approx(loss.spent, abs=2e-6)


def test_where_matrices_would_be_too_large_the_proven_bound_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window_loss_module, "_MOST_STEPS", 1)
    report = audit(ew.method("ngram", tiny_world(tmp_path, 4), epsilon=5), 3)
    assert not report.is_exact
    assert report.spent == pytest.approx(5)
    assert "proven bound" in report.how


def test_a_method_without_tables_of_its_own_gets_the_proven_bound() -> None:
    (loss,) = draw_losses(object(), [Draw(start=0, length=1, epsilon=Fraction(3))])
    assert loss.spent == 3
    assert not loss.is_exact


def test_sampled_losses_stay_within_what_is_spent(tmp_path: Path) -> None:
    """The loss of every single draw is within the exact bound, and on average it is not negative."""
    world = tiny_world(tmp_path, 9)
    tilted = tilted_ngram(world, epsilon=5)
    hidden = ew.method("ngram", world, epsilon=5, hide_length=3)
    for method in (ew.method("ngram", world, epsilon=5), tilted, hidden):
        report = audit(method, 3)
        losses = sampled_losses(method, 3, SeededRandomness(1), samples=1000)
        assert losses is not None
        for values in (losses.ordinary, losses.hardest):
            assert float(np.abs(values).max()) <= report.spent + 1e-9
            assert float(values.mean()) > -0.05
        # Pr(y | x') / Pr(y | x) has mean 1 under x, whatever the two are.
        if method is not tilted:
            assert float(np.exp(-losses.hardest).mean()) == pytest.approx(1, abs=0.05)


def test_made_up_days_are_open_and_the_same_every_time(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 9)
    days = made_up_days(world, 2, 10)
    assert days == made_up_days(world, 2, 10)
    rows = [(world.place_index[visit.place_id], visit.timestep) for day in days for visit in day]
    assert all(world.is_open[row, step] or not world.is_open[:, step].any() for row, step in rows)
