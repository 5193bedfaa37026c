"""OpenDP as a peer: it chooses with the exact chances, by the scores that are meant, for the ε it says."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pytest

from elsewhere.arrays import Floats
from elsewhere.days.alignment import align
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.visits import parts_of, visit_distance, visit_distances
from elsewhere.methods.codebook import Codebook
from elsewhere.randomness import seeded_generator
from peer_opendp import VisitByVisit, WholeDay, chooser, collected_shares
from privacy_tools import known_days, p_value
from tiny_worlds import tiny_world

SAMPLES = 8000
SCORES = np.array([-0.9, -0.2, 0.0, -0.5, -0.55])


def _exponential(scores: Floats, epsilon: float, sensitivity: float) -> dict[int, float]:
    weights = np.exp(epsilon * scores / (2 * sensitivity))
    return dict(enumerate((weights / weights.sum()).tolist()))


def _permute_and_flip(scores: Floats, epsilon: float, sensitivity: float) -> dict[int, float]:
    """McKenna and Sheldon: candidates in any order, each taken with its chance against the best."""
    coins = np.exp(epsilon * (scores - scores.max()) / (2 * sensitivity)).tolist()
    found = dict.fromkeys(range(len(coins)), 0.0)
    orders = list(permutations(range(len(coins))))
    for order in orders:
        left = 1.0 / len(orders)
        for candidate in order:
            found[candidate] += left * coins[candidate]
            left *= 1 - coins[candidate]
    return found


@pytest.mark.parametrize("noise", ["exponential mechanism", "permute-and-flip"])
def test_it_chooses_with_the_exact_chances(noise: str) -> None:
    chances = {"exponential mechanism": _exponential, "permute-and-flip": _permute_and_flip}[noise]
    choose = chooser(4.0, 0.9, noise)  # type: ignore[arg-type]  # one of the two words
    seen = Counter(choose(SCORES) for _ in range(SAMPLES))
    assert p_value(seen, chances(SCORES, 4.0, 0.9)) > 1e-4
    assert p_value(seen, chances(SCORES, 4.0 * 1.3, 0.9)) < 1e-6


def test_the_scale_costs_epsilon_by_its_own_account() -> None:
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    sensitivity, epsilon = 0.9, 4.0
    choose = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 * sensitivity / epsilon)
    spent = choose.map(sensitivity)  # type: ignore[no-untyped-call]  # OpenDP has no types here
    assert spent == pytest.approx(epsilon)


def _tiny(folder: Path) -> tuple[Codebook, WholeDay, WholeDay]:
    core = Codebook(tiny_world(folder, 4), epsilon=Fraction(1), candidates=24, shards=2, k=3)
    return core, WholeDay(core, 2.0, scored_by="nearness"), WholeDay(core, 2.0, scored_by="distance")


def test_whole_days_are_scored_by_nearness_or_by_their_distance(tmp_path: Path) -> None:
    core, by_nearness, by_distance = _tiny(tmp_path)
    world, day = core.world, known_days(core.world, 2)[1]
    secret = np.array(core.secret(day), dtype=np.int32)
    near, scores = by_nearness.scores(secret, 1), by_distance.scores(secret, 1)
    assert sorted(near.tolist()) == [0.0] * 21 + [1.0] * 3
    assert scores[near == 1].min() >= -20
    distances, book = visit_distances(world), core.book(ANY_LENGTH, 1)
    places, times = parts_of(secret, world.clock.timesteps)
    for row, (theirs, then) in enumerate(book.rows()):
        others = np.array(theirs, dtype=np.int32), np.array(then, dtype=np.int32)
        mine, partners = align(distances, places, times, *others)
        apart = sum(
            visit_distance(distances, places[i], times[i], others[0][j], others[1][j])
            for i, j in zip(mine.tolist(), partners.tolist(), strict=True)
        )
        longest = max(len(secret), len(theirs))
        left_over = abs(len(secret) - len(theirs))
        assert scores[row] == pytest.approx(-(apart + 10 * left_over) / longest)


def test_a_near_day_has_half_the_odds_that_codebook_gives_it(tmp_path: Path) -> None:
    """At ε a near candidate is e^(ε / 2) times as likely as each other: OpenDP accounts for twice of it."""
    core, by_nearness, _ = _tiny(tmp_path)
    day = known_days(core.world, 2)[1]
    secret = np.array(core.secret(day), dtype=np.int32)
    near = by_nearness.scores(secret, 0) == 1
    choose = chooser(2.0, 1.0)
    seen = sum(bool(near[choose(near.astype(np.float64))]) for _ in range(SAMPLES))
    for odds, is_right in ((math.e, True), (math.e**2, False)):
        share = 3 * odds / (3 * odds + 21)
        spread = math.sqrt(share * (1 - share) / SAMPLES)
        assert (abs(seen / SAMPLES - share) < 4.5 * spread) is is_right


def test_shared_days_are_candidates_of_the_book(tmp_path: Path) -> None:
    core, by_nearness, by_distance = _tiny(tmp_path)
    ids = core.world.places.ids
    known = {
        tuple(zip((ids[place] for place in places), times, strict=True))
        for shard in range(core.shards)
        for places, times in core.book(ANY_LENGTH, shard).rows()
    }
    days = known_days(core.world, 2)[:20]
    for peer in (by_nearness, by_distance):
        for day in peer.share(days, seeded_generator(1)):
            assert tuple(tuple(visit) for visit in day.visits) in known


def test_visit_by_visit_with_a_huge_epsilon_is_the_day_itself_where_all_is_open(tmp_path: Path) -> None:
    world = tiny_world(tmp_path, 4)
    day = next(
        day
        for day in known_days(world, 2)
        if all(world.is_open[world.place_index[visit.place_id], visit.timestep] for visit in day.visits)
    )
    [shared] = VisitByVisit(world, 1e6).share([day])
    distances = visit_distances(world)
    for mine, theirs in zip(day.visits, shared.visits, strict=True):
        here, there = world.place_index[mine.place_id], world.place_index[theirs.place_id]
        assert visit_distance(distances, here, mine.timestep, there, theirs.timestep) == pytest.approx(0)


def test_visit_by_visit_spends_an_equal_part_on_each_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = tiny_world(tmp_path, 4)
    spent: list[float] = []

    def counting(epsilon: float, sensitivity: float) -> object:
        choose = chooser(epsilon, sensitivity)

        def chosen(scores: Floats) -> int:
            spent.append(epsilon)
            assert np.ptp(scores) <= sensitivity * (1 + 1e-9)
            return choose(scores)

        return chosen

    monkeypatch.setattr("peer_opendp.chooser", counting)
    peer = VisitByVisit(world, 5.0)
    for day in known_days(world, 2)[:6]:
        spent.clear()
        peer.share([day])
        assert spent == pytest.approx([5 / 4] * 4)


def test_a_collector_counts_the_first_things_of_each_day_with_laplace_noise() -> None:
    days = [[3, 1, 4], [1, -1, -1], [1, 2, 0], [-1, -1, -1]]
    things = np.array(days, dtype=np.int32)
    assert collected_shares(things, 5, 2, 1e6).tolist() == [0, 0.75, 0.25, 0.25, 0]
    epsilon, kept = 1.5, 2
    nobody = np.full((1, 3), -1, dtype=np.int32)
    seen = Counter(collected_shares(nobody, SAMPLES, kept, epsilon).astype(int).tolist())
    for right, is_right in ((epsilon, True), (1.3 * epsilon, False)):
        step = math.exp(-right / kept)
        exact = {noise: (1 - step) / (1 + step) * step ** abs(noise) for noise in range(-90, 91)}
        assert (p_value(seen, exact) > 1e-4) is is_right
