"""Planar Laplace: lengths against their closed form, best guesses against all others, and what ε says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import kstest

import elsewhere as ew
from elsewhere.arrays import Floats
from elsewhere.days.visits import visit_distances
from elsewhere.randomness import seeded_generator
from peer_planar_laplace import (
    Spots,
    at_each_visit,
    drawn_times,
    noise_km,
    remapped,
    share_by_planar_laplace,
    spots_of,
    within_epsilon,
    within_radius,
)
from privacy_tools import known_days, p_value
from tiny_worlds import tiny_world

SAMPLES = 20_000


def _chance_of_shorter(km: Floats, epsilon_per_km: float) -> Floats:
    """Andrés et al.: the chance that noise is at most so long."""
    return np.asarray(1 - (1 + epsilon_per_km * km) * np.exp(-epsilon_per_km * km))


def _spots(positions: Floats, chances: Floats) -> Spots:
    return Spots(positions=positions, between_km=cdist(positions, positions), chances=chances)


def test_noise_is_as_long_as_its_closed_form_says_and_goes_anywhere() -> None:
    noise = noise_km(SAMPLES, 0.7, seeded_generator(1))
    length = np.hypot(*noise.T)
    assert kstest(_chance_of_shorter(length, 0.7), "uniform").pvalue > 1e-4
    assert kstest(_chance_of_shorter(length, 0.7 * 1.3), "uniform").pvalue < 1e-9
    turns = np.arctan2(noise[:, 1], noise[:, 0]) / (2 * math.pi) + 0.5
    assert kstest(turns, "uniform").pvalue > 1e-4
    assert kstest(turns[np.hypot(*noise.T) > 2], "uniform").pvalue > 1e-4


def test_positions_so_many_km_apart_are_told_apart_by_as_much_as_is_promised() -> None:
    """Behind one of two positions, it is all but e^(ε_km km) times as likely as the other."""

    def odds(epsilon_per_km: float) -> float:
        noise = noise_km(400_000, epsilon_per_km, seeded_generator(2))
        counts = []
        for east in (0.0, 1.0):
            x, y = noise[:, 0] + east, noise[:, 1]
            counts.append(((x < 0) & (np.abs(y) < -0.2 * x)).sum())
        return float(counts[0] / counts[1])

    assert math.exp(0.95) < odds(1.0) < 1.03 * math.exp(1.0)
    assert odds(1.3) > 1.2 * math.exp(1.0)


def test_the_best_guess_is_the_least_mean_distance_of_all() -> None:
    generator = seeded_generator(3)
    for _ in range(40):
        positions = generator.normal(0, 3, size=(6, 2))
        chances = generator.dirichlet(np.full(6, 0.5))
        noisy = generator.normal(0, 5, size=(3, 2))
        epsilon_per_km = float(generator.uniform(0.05, 2))
        found = remapped(_spots(positions, chances), noisy, epsilon_per_km)
        for seen, place in zip(noisy.tolist(), found.tolist(), strict=True):
            posterior = [
                chance * math.exp(-epsilon_per_km * math.dist(seen, position))
                for chance, position in zip(chances, positions, strict=True)
            ]
            means = [
                sum(share * math.dist(there, here) for share, there in zip(posterior, positions, strict=True))
                for here in positions
            ]
            assert means[place] == pytest.approx(min(means), rel=1e-9)


def test_without_noise_everybody_stays_and_without_information_the_middle_is_best() -> None:
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    spots = _spots(positions, np.full(3, 1 / 3))
    assert remapped(spots, positions, 1e3).tolist() == [0, 1, 2]
    assert remapped(spots, positions, 1e-9).tolist() == [1, 1, 1]


def test_epsilon_per_km_adds_up_to_what_each_way_to_choose_it_says() -> None:
    positions = np.array([[0.0, 0.0], [30.0, 40.0], [3.0, 0.0]])
    spots = _spots(positions, np.full(3, 1 / 3))
    assert spots.diameter_km == 50
    for visits in (1, 4):
        assert visits * within_epsilon(spots, 2.5)(visits) * 50 == pytest.approx(2.5)
        assert visits * within_radius(2.5, 2.0)(visits) * 2 == pytest.approx(2.5)
        assert at_each_visit(math.log(4), 0.2)(visits) * 0.2 == pytest.approx(math.log(4))


def test_times_are_drawn_by_the_exponential_mechanism(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 3)
    timesteps, distances = world.clock.timesteps, visit_distances(world)
    times = np.full(SAMPLES, 1, dtype=np.int32)
    drawn = drawn_times(times, distances, timesteps, 3.0, seeded_generator(4))
    for epsilon, is_right in ((3.0, True), (3.0 * 1.3, False)):
        turn = 24 if world.settings.circular_time else math.inf
        minutes = world.clock.timestep_minutes
        gaps = [abs(step - 1) * minutes / 60 for step in range(timesteps)]
        hours = [min(gap, turn - gap, distances.time_cap_hours) for gap in gaps]
        most = max(
            min(gap * minutes / 60, turn - gap * minutes / 60, distances.time_cap_hours)
            for gap in range(timesteps)
        )
        weights = np.exp(-epsilon * np.array(hours) / (2 * most))
        exact = dict(enumerate((weights / weights.sum()).tolist()))
        seen = dict(enumerate(np.bincount(drawn, minlength=timesteps).tolist()))
        assert (p_value(seen, exact) > 1e-4) is is_right


def test_shared_days_are_as_long_as_true_ones_and_in_their_order(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4)
    days = [day for length in (2, 1) for day in known_days(world, length)[:9]]
    spots = spots_of(world)
    shared = share_by_planar_laplace(world, spots, days, at_each_visit(1e6, 1), 1e6, seeded_generator(5))
    assert [len(day.visits) for day in shared] == [len(day) for day in days]
    # With next to no noise each visit is where and when it was, or at a place of the same position.
    for day, kept in zip(days, shared, strict=True):
        for mine, theirs in zip(day.visits, kept.visits, strict=True):
            assert mine.timestep == theirs.timestep
            here, there = world.place_index[mine.place_id], world.place_index[theirs.place_id]
            assert spots.between_km[here, there] < 1e-6
    assert isinstance(shared[0], ew.SharedTrajectory)
