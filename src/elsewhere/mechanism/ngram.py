"""`ngram`: draws of overlapping n-grams of regions, each by the exponential mechanism.

The paper's solution, and all of it that sees what is true.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.compiled import compiled
from elsewhere.mechanism.budget import Draw
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.ngram_proposal import Ngrams, Proposals, propose
from elsewhere.mechanism.rejection import Coin, each_row, first_accepted, perturb_rows, score_of
from elsewhere.mechanism.windows import Windows
from elsewhere.randomness import Randomness
from elsewhere.tape import Tape, ran_out
from elsewhere.world.distances import RegionDistances, region_distance

_WORDS_PER_TRIAL = 12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NgramTables:
    """All that draws of one length go by: public, the same for everybody."""

    draws: tuple[Draw, ...]
    windows: Windows
    proposals: Proposals
    distances: RegionDistances
    is_clamped: bool = True
    """Scores stay within [0, 1]. If not, Δ := 1 and this is not ε-LDP (`experiments.tilted`)."""


@compiled
def _propose(tape: Tape, tables: tuple[Proposals, RegionDistances, float], ngram: Indices) -> None:
    propose(tape, tables[0], ngram)


@compiled
def _score(tables: tuple[Proposals, RegionDistances, float], truth: Indices, ngram: Indices) -> int:
    return score(tables[1], truth, ngram, tables[2])


@compiled
def score(distances: RegionDistances, truth: Indices, ngram: Indices, sensitivity: float) -> int:
    """Score of an n-gram: d_w over Δ.

    Paper: eq:ngram for d_w, eq:ngram-perturbation for Δ.
    """
    total = 0.0
    for i in range(len(ngram)):
        total += region_distance(distances, truth[i], ngram[i])
    return score_of(total, sensitivity)


@compiled
def scores(distances: RegionDistances, truth: Indices, ngrams: Indices, sensitivity: float) -> Counts:
    """Score of each of the n-grams, a row each."""
    found = np.empty(len(ngrams), dtype=np.int64)
    for row in range(len(ngrams)):
        found[row] = score(distances, truth, ngrams[row], sensitivity)
    return found


# One draw. Paper: eq:ngram-perturbation.
# Deviation: exact-draw — proposals and an exact coin instead of a table of weights.
draw_ngram = first_accepted("draw_ngram", _propose, _score)


@compiled
def _draw_day(
    tape: Tape,
    tables: tuple[Windows, Proposals, RegionDistances],
    truth: Indices,
    is_constant: bool,
    drawn: Indices,
    accepted: Counts,
) -> None:
    """All windows of one day."""
    windows, proposals, distances = tables
    for i in range(len(windows.starts)):
        start, length, offset = windows.starts[i], windows.lengths[i], windows.offsets[i]
        accepted[i] = draw_ngram(
            tape,
            Coin(windows.numerators[i], windows.denominators[i], windows.trials[i]),
            (proposals, distances, windows.sensitivities[i]),
            truth[start : start + length],
            is_constant,
            np.empty(length, dtype=np.int32),
            drawn[offset : offset + length],
        )
        if ran_out(tape):
            return


_rows = each_row("ngram_rows", _draw_day)


def perturb_regions(
    true_regions: Indices, tables: NgramTables, randomness: Randomness, *, constant_work: bool
) -> tuple[Indices, Counts]:
    """Draws (Z) of trajectories of one length, a row each, and the trial each draw took."""
    windows = tables.windows
    trials = windows.trials if constant_work else np.ceil(windows.trials / 30)
    return perturb_rows(
        _rows,
        (windows, tables.proposals, tables.distances),
        true_regions,
        width=int(windows.lengths.sum()),
        draws=len(windows.starts),
        words=int((trials * (_WORDS_PER_TRIAL + 2 * windows.lengths)).sum()),
        randomness=randomness,
        constant_work=constant_work,
    )


def window_step(tables: NgramTables, index: int, ngrams: Ngrams, truth: Outcome, state: State) -> Step:
    """Draw ``index``, listed, when ``truth`` are the true regions; every outcome leads to ``state``."""
    windows = tables.windows
    start, length = int(windows.starts[index]), int(windows.lengths[index])
    window = np.array(truth[start : start + length], dtype=np.int32)
    found = scores(tables.distances, window, ngrams.rows, float(windows.sensitivities[index]))
    states = [state] * len(ngrams.rows)
    return scored_step(ngrams.outcomes, ngrams.chances, found.tolist(), windows.coin(index), states)


def windows_of_rows(windows: Windows, rows: Indices, first: int = 0) -> list[tuple[Outcome, ...]]:
    """Rows of draws cut into their windows' n-grams, which begin at column ``first``."""
    offsets = (first + windows.offsets).tolist()
    cuts = [(o, o + n) for o, n in zip(offsets, windows.lengths.tolist(), strict=True)]
    return [tuple(tuple(row[a:b]) for a, b in cuts) for row in rows.tolist()]
