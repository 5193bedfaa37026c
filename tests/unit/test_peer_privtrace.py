"""The peer like PrivTrace: what one person can change, how much noise there is, and the chain without any."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import kstest

from elsewhere.arrays import Floats, Indices
from elsewhere.randomness import Generator, seeded_generator
from peer_privtrace import (
    adaptive_cells,
    density,
    first_counts,
    noisy,
    noisy_chains,
    not_negative,
    second_counts,
    split_cells,
    walks_by,
    walks_like_privtrace,
)

CELLS = 3


def _rows(walks: list[tuple[int, ...]]) -> Indices:
    width = max(map(len, walks))
    return np.array([[*walk, *[-1] * (width - len(walk))] for walk in walks], dtype=np.int32)


def _short_walks() -> list[tuple[int, ...]]:
    return [walk for length in (1, 2, 3) for walk in product(range(CELLS), repeat=length)]


def _all_second_counts(walks: Indices, cells: int) -> Floats:
    """All that may be told of moves by the last two cells; of some cells alone it is less."""
    return np.stack([second_counts(walks, cells, cell) for cell in range(cells)])


def test_one_person_changes_each_count_by_one_in_all() -> None:
    """Every person there is, added to every pair of others: the L1 sensitivity is 1, and it is reached."""
    others = [(0, 1, 2), (2, 2)]
    for count in (density, first_counts, _all_second_counts):
        changes = [
            np.abs(count(_rows([*others, walk]), CELLS) - count(_rows(others), CELLS)).sum()
            for walk in _short_walks()
        ]
        assert max(changes) == pytest.approx(1)


class _Recorded:
    """A source of noise that remembers how wide it was asked to be."""

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.scales: list[float] = []

    def laplace(self, *, scale: float, size: tuple[int, ...] | int) -> Floats:
        self.scales.append(scale)
        return np.asarray(self.generator.laplace(scale=scale, size=size))

    def __getattr__(self, name: str) -> object:
        return getattr(self.generator, name)


def test_noise_costs_epsilon_in_all() -> None:
    """Laplace noise of scale b on counts of sensitivity 1 costs 1 / b; three releases cost the sum."""
    recorded = _Recorded(seeded_generator(1))
    generator = seeded_generator(2)
    positions = generator.random((40, 2))
    walks = generator.integers(40, size=(600, 3)).astype(np.int32)
    walks_like_privtrace(positions, np.ones(40), walks, 2.0, recorded)  # type: ignore[arg-type]
    costs = [1 / scale for scale in recorded.scales]
    # The grid, all moves, and moves from each busy cell: of these, one person changes 1 in all of them.
    assert costs == pytest.approx([0.4, 0.8] + [0.8] * (len(costs) - 2))
    assert len(costs) > 2
    assert costs[0] + costs[1] + costs[2] == pytest.approx(2.0)
    counts = np.arange(20_000.0)
    noise = noisy(counts, 0.7, seeded_generator(7)) - counts
    assert kstest(noise, "laplace", args=(0, 1 / 0.7)).pvalue > 1e-4
    assert kstest(noise, "laplace", args=(0, 1 / 0.7 / 1.3)).pvalue < 1e-6


def test_with_a_huge_epsilon_chains_are_the_true_ones() -> None:
    generator = seeded_generator(3)
    walks = _rows([walk for walk in _short_walks() for _ in range(int(generator.integers(20, 60)))])
    chains = noisy_chains(walks, CELLS, 1e9, generator)
    assert chains.first == pytest.approx(first_counts(walks, CELLS), abs=1e-4)
    assert split_cells(first_counts(walks, CELLS), 1e9).all()
    true = _all_second_counts(walks, CELLS)
    assert (chains.row_of >= 0).all()  # every move there is was made
    for cell, earlier in product(range(CELLS), range(CELLS + 1)):
        assert chains.second[chains.row_of[earlier, cell]] == pytest.approx(true[cell, earlier], abs=1e-4)


def test_made_up_walks_move_as_true_ones_do() -> None:
    """Days of one length, so that nobody weighs more: then moves by the last two cells are the true ones."""
    generator = seeded_generator(4)
    # Where one goes third depends on where one was first, which a chain of one cell cannot tell.
    thirds = {0: [0.8, 0.1, 0.1], 1: [0.1, 0.8, 0.1], 2: [0.1, 0.1, 0.8]}
    firsts = generator.integers(CELLS, size=30_000)
    walks = np.array(
        [
            (first, generator.integers(CELLS), generator.choice(CELLS, p=thirds[int(first)]))
            for first in firsts
        ],
        dtype=np.int32,
    )
    made_up = walks_by(noisy_chains(walks, CELLS, 1e9, generator), 30_000, generator)
    for first, chances in thirds.items():
        mine = made_up[(made_up[:, 0] == first) & (made_up[:, 2] >= 0)]
        seen = np.bincount(mine[:, 2], minlength=CELLS) / len(mine)
        true = walks[firsts == first, 2]
        assert seen == pytest.approx(np.bincount(true, minlength=CELLS) / len(true), abs=0.05)
        assert int(seen.argmax()) == int(np.argmax(chances))


def test_cells_are_finer_where_more_people_are() -> None:
    generator = seeded_generator(5)
    positions = generator.random((400, 2))
    corner = np.flatnonzero((positions < 0.5).all(axis=1))
    walks = generator.choice(corner, size=(5000, 3)).astype(np.int32)
    cells = adaptive_cells(positions, walks, 1e9, generator)
    assert len(np.unique(cells[corner])) > 10
    others = np.setdiff1d(np.arange(400), corner)
    # The grid of 5,000 people has two cells a side, and nobody is in three of them.
    assert len(np.unique(cells[others])) == 3
    assert sorted(np.unique(cells).tolist()) == list(range(int(cells.max()) + 1))


def test_rows_without_negatives_are_the_nearest_ones() -> None:
    generator = seeded_generator(6)
    rows = generator.normal(0.3, 1, size=(12, 4))
    found = not_negative(rows)
    for row, mine in zip(rows, found, strict=True):
        if row.sum() <= 0:
            assert not mine.any()
            continue
        assert mine.sum() == pytest.approx(row.sum())
        assert mine.min() >= 0
        # No other such row is nearer: the slope to each is upwards.
        for other in generator.dirichlet(np.ones(4), size=200) * row.sum():
            assert (other - mine) @ (mine - row) >= -1e-9
