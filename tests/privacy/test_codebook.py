"""The codebook's parts against plain versions and exact distributions; each test can also say no."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elsewhere as ew
from elsewhere.audit.agreement import depends_on_the_draws_alone
from elsewhere.audit.bounds import draw_losses
from elsewhere.audit.channel import all_trajectories, largest_loss
from elsewhere.audit.report import audit
from elsewhere.days.alignment import align
from elsewhere.days.candidates import candidate_days
from elsewhere.days.comparison import day_columns, day_costs, prefix_costs
from elsewhere.days.prior import ANY_LENGTH
from elsewhere.days.visits import Days, shared_days, visit_distance, visit_distances
from elsewhere.device.job import perturb_file
from elsewhere.knowledge.travel import is_reachable
from elsewhere.mechanism import codebook as codebook_module
from elsewhere.mechanism.codebook import nearest_flags
from elsewhere.mechanism.pick import odds_of, pick_candidates, uniform_below
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.protocol import Drawn
from elsewhere.methods.sharing import Sharing
from elsewhere.methods.tuning import expected_errors, tune
from elsewhere.randomness import SeededRandomness
from elsewhere.world.world import World
from examples import examples
from privacy_tools import p_value
from tiny_worlds import tiny_world
from worlds import build, place

SAMPLES = 200_000


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> World:
    kinds = ("cafe", "bar", "shoes", "wine-bar")
    rows = [
        place(
            f"p{i}", 50 + 0.004 * (i % 5), 10 + 0.004 * (i // 5), kinds[i % 4],
            hours="08:00-22:00" if i % 3 else "24/7",
        )
        for i in range(20)
    ]  # fmt: skip
    return build(tmp_path_factory.mktemp("town"), rows, {"kappa": 1, "speed_kmh": 4})


_HOSTILE = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, 5e-324, -1.0, 0.0, 1.0, 1.0, 2.0])


@given(st.lists(_HOSTILE | st.floats(), min_size=1, max_size=40), st.data())
def test_exactly_k_are_near_whatever_the_numbers(costs: list[float], data: st.DataObject) -> None:
    """T5: NaN and infinities are numbers like others here; the normaliser stays what it is."""
    k = data.draw(st.integers(1, len(costs)))
    flags = nearest_flags(np.array(costs), k)
    order = sorted(range(len(costs)), key=lambda i: (math.inf if math.isnan(costs[i]) else costs[i], i))
    assert np.flatnonzero(flags).tolist() == sorted(order[:k])


@given(st.data())
@examples(max_examples=60)
def test_distances_are_those_of_the_alignment(town: World, data: st.DataObject) -> None:
    """The compiled sum over candidates is what `align` gives one pair at a time; nowhere is anywhere."""
    visits = st.lists(st.tuples(st.integers(0, 19), st.integers(0, 143)), min_size=1, max_size=5)
    days = data.draw(st.lists(visits, min_size=1, max_size=4))
    truth = data.draw(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 143)), min_size=1, max_size=7))
    rows = np.full((2, len(days), 5), -1, dtype=np.int32)
    for number, day in enumerate(days):
        rows[:, number, : len(day)] = np.array(day).T
    book = Days(rows[0], rows[1], np.array([len(day) for day in days], dtype=np.int32))
    distances, mine = visit_distances(town), np.array(truth, dtype=np.int32).T.copy()
    found = day_costs(day_columns(book), distances, 7.0, mine[0], mine[1])
    for cost, day in zip(found.tolist(), days, strict=True):
        theirs = np.array(day, dtype=np.int32).T.copy()
        first, second = align(distances, *mine, *theirs)
        matched = sum(
            visit_distance(distances, *truth[i], *day[j]) for i, j in zip(first, second, strict=True)
        )
        assert cost == pytest.approx(matched + 7.0 * abs(len(day) - len(truth)))


def test_exactly_k_are_near_among_as_many_as_are_used() -> None:
    """With many ties, at the size of real books."""
    costs = np.round(np.random.default_rng(1).exponential(5, size=8192))
    for k in (1, 20, 218, 8191, 8192):
        order = np.argsort(costs, kind="stable")[:k]
        assert np.flatnonzero(nearest_flags(costs, k)).tolist() == sorted(order.tolist())


def test_exactly_k_are_near_where_those_looked_at_first_are_no_guide() -> None:
    """The bound on the k-th is taken from every 16th cost: all of the least are there, or none is."""
    costs = np.random.default_rng(2).random(1024) + 1
    for shift in (-1.5, 1.5):
        costs[::16] += shift
        for k in (1, 60, 64, 65, 200, 1000):
            order = np.argsort(costs, kind="stable")[:k]
            assert np.flatnonzero(nearest_flags(costs, k)).tolist() == sorted(order.tolist())


def test_a_pick_with_other_than_k_near_is_refused() -> None:
    """R4: what the proof asks for is checked before anything is drawn."""
    flags = np.zeros((2, 40), dtype=np.bool_)
    flags[:, :3] = True
    flags[1, 7] = True
    with pytest.raises(AssertionError, match="exactly k"):
        pick_candidates(flags, odds_of(Fraction(5), 3, 40), SeededRandomness(1), constant_work=False)


def _chances(odds: Any, flags: Any, epsilon: float) -> dict[int, float]:
    weights = np.where(flags, 1.0, math.exp(-epsilon))
    accepted = weights.mean()
    missed = (1 - accepted) ** odds.trials
    return dict(enumerate(((1 - missed) * weights / weights.sum() + missed / len(weights)).tolist()))


@pytest.mark.parametrize("constant_work", [False, True])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(5)])
def test_picks_follow_the_odds(epsilon: Fraction, constant_work: bool) -> None:
    """T4: χ² of 200,000 picks; 30 % more or less ε is rejected."""
    flags = np.zeros(40, dtype=np.bool_)
    flags[[3, 17, 39]] = True
    odds = odds_of(epsilon, 3, 40)
    if constant_work:
        odds = odds._replace(trials=5 if epsilon < 1 else 30)  # so few that nothing is accepted now and then
    rows = np.tile(flags, (SAMPLES, 1))
    picked, trials = pick_candidates(rows, odds, SeededRandomness(4), constant_work=constant_work)
    counts = Counter(picked[:, 0].tolist())
    assert p_value(counts, _chances(odds, flags, float(epsilon))) > 1e-4
    for wrong in (1.3, 0.7):
        assert p_value(counts, _chances(odds, flags, wrong * float(epsilon))) < 1e-6
    if constant_work:
        assert (trials == 0).any()


def test_shards_are_uniform() -> None:
    counts = Counter(uniform_below(7, SAMPLES, SeededRandomness(2)).tolist())
    assert p_value(counts, dict.fromkeys(range(7), 1 / 7)) > 1e-4
    assert p_value(counts, {k: (1.05 if k == 3 else 0.991) / 7 for k in range(7)}) < 1e-6


@pytest.mark.parametrize("epsilon", ["1/2", "1", "5", "14"])
def test_what_is_spent_is_within_one_per_cent_of_the_claim(tmp_path: Path, epsilon: str) -> None:
    """Over days of one to three visits together: never above ε, and not half of it."""
    world = tiny_world(tmp_path, 4, 4)
    method = ew.method("codebook", world, epsilon=epsilon, candidates=12, shards=2, k=3)
    days = [day for size in (1, 2) for day in all_trajectories(world, size)][:600]
    spent = float(largest_loss(method, [method.core.secret(day) for day in days]).epsilon)
    claimed = float(Fraction(epsilon))
    assert 0.99 * claimed <= spent <= claimed
    (loss,) = draw_losses(method.core.tables(2), method.draws_for(2))
    assert loss.is_exact
    assert loss.spent == pytest.approx(spent, rel=1e-9)


def test_the_audit_of_a_real_world_is_exact(town: World) -> None:
    report = audit(ew.method("codebook", town, epsilon=5, candidates=256, shards=2), 3)
    assert report.is_exact
    assert 4.95 <= report.spent <= 5
    assert "any two days the chances" in report.promise
    assert not any("number of visits" in thing for thing in report.not_protected)


@given(st.data())
@examples(max_examples=20)
def test_hostile_distances_do_not_break_the_claim(tmp_path: Path, data: st.DataObject) -> None:
    """T5: NaN, ±inf, 1e308, denormals in what candidates are compared by: still ≤ ε."""
    world = tiny_world(tmp_path, 4, 4)
    core = Codebook(world, epsilon=3, candidates=12, shards=1, k=2)
    vectors, table = core._distances.vectors.copy(), core._distances.category_table.copy()
    hostile = st.sampled_from([math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -1.0, 0.0])
    vectors[data.draw(st.integers(0, len(vectors) - 1)), data.draw(st.integers(0, 2))] = data.draw(hostile)
    table[data.draw(st.integers(0, len(table) - 1)), :] = data.draw(hostile)
    core._distances = core._distances._replace(vectors=vectors, category_table=table)
    days = [core.secret(day) for size in (1, 2) for day in all_trajectories(world, size)]
    assert float(largest_loss(Sharing(core), days[:300]).epsilon) <= 3 + 1e-12


def test_candidates_are_public_feasible_and_open(town: World) -> None:
    core = Codebook(town, epsilon=5, candidates=400, shards=2)
    again = Codebook(ew.World.load(_saved(town)), epsilon=1, candidates=100, shards=9)
    for key in (ANY_LENGTH, 3):
        book = core.book(key, 1)
        for mine, theirs in zip(book, again.book(key, 1), strict=True):
            np.testing.assert_array_equal(mine[:100], theirs)
        assert not np.array_equal(book.places, core.book(key, 0).places)
        for places, times, length in zip(*(column.tolist() for column in book), strict=True):
            assert key in {length, ANY_LENGTH}
            visits = list(zip(places[:length], times[:length], strict=True))
            assert all(town.is_open[visit] for visit in visits)
            assert all(
                is_reachable(town.travel, town.clock, origin=p, departure=t, destination=q, arrival=u)
                for (p, t), (q, u) in pairwise(visits)
            )
    assert len(set(core.book(ANY_LENGTH, 0).lengths.tolist())) == 8


def _saved(world: World) -> Path:
    path = Path(str(id(world)) + ".world")
    world.save(path)
    return path


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_days_the_prior_does_not_meet_are_still_shared(town: World, tmp_path: Path) -> None:
    """Where days of a length are rare any feasible one is a candidate; what cannot be is refused."""
    alone = build(tmp_path / "alone", [place("a", 50, 10, hours="24/7")], {"kappa": 1})
    method = ew.method("codebook", alone, epsilon=5, candidates=16, shards=2, same_length=True)
    assert [visit.place_id for visit in method.share(ew.Trajectory([("a", 3), ("a", 90)]))[0]] == ["a", "a"]
    method = ew.method("codebook", town, epsilon=5, candidates=16, shards=1, same_length=True)
    assert len(method.share(ew.Trajectory(("p0", 10 * step) for step in range(12)))[0]) == 12
    with pytest.raises(ew.InputError, match="144 timesteps"):
        method.share(ew.Trajectory(("p0", step) for step in range(145)))
    hidden = ew.method("codebook", town, epsilon=5, candidates=16, shards=1)
    assert len(hidden.share(ew.Trajectory(("p0", step) for step in range(400)))[0]) <= 8


@pytest.mark.parametrize("name", ["global", "uniform"])
def test_days_far_too_long_are_refused_instead_of_drawn_for_hours(town: World, name: str) -> None:
    with pytest.raises(ew.InputError, match="60 visits are too long"):
        ew.method(name, town, epsilon=5).prepare(60)


def _ordinary_days(count: int) -> list[ew.Trajectory]:
    """Days of 1 to 12 visits, all different."""
    generator = np.random.default_rng(3)
    return [
        ew.Trajectory(
            (f"p{generator.integers(20)}", int(step))
            for step in np.sort(generator.choice(144, size=1 + number % 12, replace=False))
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_everybody_gets_a_day_near_their_own(town: World, workers: int) -> None:
    """Batches of different days, of all lengths, in order, also with threads: nobody's draw is another's."""
    core = Codebook(town, epsilon=16, candidates=512, shards=3, k=1)
    days = _ordinary_days(600)
    shared = Sharing(core).share_many(days, workers=workers)
    hits = 0
    for day, got in zip(days, shared, strict=True):
        secret = np.array(core.secret(day), dtype=np.int32)
        nearest = [int(np.argmax(core.tables(1).near(secret, shard))) for shard in range(3)]
        hits += got in [_day(core, shard, index) for shard, index in enumerate(nearest)]
    assert hits >= 598  # e^−16 · 511 of being another


def _day(core: Codebook, shard: int, index: int) -> ew.SharedTrajectory:
    drawn = Drawn(length=ANY_LENGTH, values=np.array([[shard, index]], dtype=np.int32))
    return shared_days(core.world, core.rebuild(drawn, SeededRandomness(1)).days)[0]


def test_days_with_more_visits_than_any_candidate_hide_among_the_others(tmp_path: Path) -> None:
    """T1 and T7 with candidates of one or two visits, and days of up to three: nothing tells them apart."""
    keys = {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480, "prior": {"lengths": [1, 1]}}
    world = build(tmp_path, [place("a", 50, 10, hours="24/7"), place("b", 50, 10.01, hours="24/7")], keys)
    method = ew.method("codebook", world, epsilon=2, candidates=9, shards=2, k=2)
    days = [day for size in (1, 2, 3) for day in all_trajectories(world, size)]
    days += [ew.Trajectory(("ab"[step % 2], step) for step in range(n)) for n in (4, 9, 30)]
    loss = largest_loss(method, [method.core.secret(day) for day in days])
    assert 1.98 <= float(loss.epsilon) <= 2
    for day in days[-3:]:
        assert depends_on_the_draws_alone(method, day, days[0], draws=3)
        assert len(method.share(day)[0]) <= 2
    assert len(method.share_many(days)) == len(days)


def test_nothing_but_the_draws_says_how_many_visits_there_were(town: World, tmp_path: Path) -> None:
    """Files, counts and what a share says of itself are the same for one visit and for nine."""
    town.save(tmp_path / "w.world")
    found = []
    for number in (1, 9):
        rows = [f"u,t,2024-03-06T{8 + k:02}:00:00,p{k}" for k in range(number)]
        source = tmp_path / f"days{number}.csv"
        source.write_text("uid,tid,datetime,place_id\n" + "\n".join(rows) + "\n")
        method = ew.method("codebook", town, epsilon=5, candidates=64, shards=2)
        result = perturb_file(source, tmp_path / f"out{number}.csv", method, version="0")
        assert "visits" not in result.counts
        _, info = method.share(ew.Trajectory((f"p{k}", 50 + 6 * k) for k in range(number)))
        found.append((result.metadata, result.metadata.as_json(), info.draws, method.spent_on(number)))
    assert found[0] == found[1]


def test_progress_does_not_tell_lengths(town: World) -> None:
    method = ew.method("codebook", town, epsilon=5, candidates=64, shards=2)
    calls: list[tuple[int, int]] = []
    method.share_many(_ordinary_days(24), progress=lambda done, total: calls.append((done, total)))
    assert calls == [(24, 24)]


def test_time_does_not_tell_how_many_visits(town: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """R15: days of every length are compared, at once, whatever the length of the true one is."""
    core = Codebook(town, epsilon=5, candidates=32, shards=1, k=3)
    compared: list[tuple[int, int]] = []

    def counted(columns: Any, distances: Any, unmatched: float, places: Any, times: Any) -> Any:
        compared.append((len(places), len(times)))
        return prefix_costs(columns, distances, unmatched, places, times)

    def refused(*_given: Any) -> Any:
        raise AssertionError("the day is compared by itself")

    monkeypatch.setattr(codebook_module, "prefix_costs", counted)
    monkeypatch.setattr(codebook_module, "day_costs", refused)
    for length in (1, 5, 8, 9, 60, 150):
        compared.clear()
        Sharing(core).share(ew.Trajectory(("p0", 10 + step) for step in range(length)))
        assert compared == [(8, 8)]


@pytest.mark.parametrize("length", [1, 2, 5, 8, 9, 60, 150])
def test_constant_time_finds_the_same(town: World, length: int) -> None:
    """Days as long as candidates can be, shorter, and longer: the same k are near."""
    tables = Codebook(town, epsilon=5, candidates=64, shards=2, k=7).tables(length)
    secret = np.random.default_rng(length).integers(0, 21 * 144, length).astype(np.int32)
    for shard in range(2):
        flags = tables.near_in_constant_time(secret, shard)
        assert flags.tolist() == tables.near(secret, shard).tolist()


def test_k_is_what_trying_every_one_finds(town: World) -> None:
    """The expected error without sampling is what sampling gives, and `tune` picks the least."""
    core = Codebook(town, epsilon=2, candidates=64, shards=1)
    expected = expected_errors(town, Fraction(2), core.book(ANY_LENGTH, 0), length=ANY_LENGTH)
    assert len(expected) == 64
    assert core.tables(3).odds.nearest == int(np.argmin(expected)) + 1
    best = tune(town, 2, candidates=(16, 64))
    assert best.expected_error <= 1.01 * min(error for _, error in best.by_candidates.values())
    assert best.expected_error == best.by_candidates[best.candidates][1]
    assert best.by_candidates[64][0] == int(np.argmin(expected)) + 1
    assert best.by_candidates[64][1] == pytest.approx(expected.min())
    assert best.expected_error < best.without_sharing == pytest.approx(expected[-1], rel=0.2)
    more = tune(town, 6, candidates=(16, 64))
    assert more.expected_error < best.expected_error


def test_k_is_kept_beside_the_world_and_made_anew_if_spoilt(town: World, tmp_path: Path) -> None:
    options: dict[str, Any] = {"epsilon": 2, "candidates": 64, "shards": 1, "cache": tmp_path / "tables"}
    k = Codebook(town, **options).tables(1).odds.nearest
    (kept,) = (tmp_path / "tables").glob("*.json")
    assert all(path == kept or path.suffix == ".npz" for path in (tmp_path / "tables").iterdir())
    kept.write_text('{"k": 5}')
    assert Codebook(town, **options).tables(1).odds.nearest == 5
    for spoilt in ('{"k": 65}', "[]", "", '{"k": null}', '{"k": true}', '{"k": 1e999}', "[" * 100_000):
        kept.write_text(spoilt)
        assert Codebook(town, **options).tables(1).odds.nearest == k


def _spoilt(days: Days) -> list[dict[str, Any]]:
    """Candidates that no honest run has kept: of other shapes, kinds and numbers, or with holes."""
    places, times, lengths = days
    far, late, hole, long = places.copy(), times.copy(), places.copy(), lengths.copy()
    far[3, 0], late[2, 0], hole[1, 0], long[0] = 20, 144, -1, places.shape[1] + 1
    return [
        {"places": places, "times": times},
        {"places": places[:-1], "times": times[:-1], "lengths": lengths[:-1]},
        {"places": places.astype(np.int64), "times": times, "lengths": lengths},
        {"places": far, "times": times, "lengths": lengths},
        {"places": places, "times": late, "lengths": lengths},
        {"places": hole, "times": times, "lengths": lengths},
        {"places": places, "times": times, "lengths": long},
        {"places": places, "times": times, "lengths": np.zeros_like(lengths)},
        {"places": places, "times": times[:, :-1], "lengths": lengths},
    ]


@pytest.mark.parametrize("key", [ANY_LENGTH, 3])
def test_candidates_are_kept_beside_the_world_and_made_anew_if_spoilt(
    town: World, tmp_path: Path, key: int
) -> None:
    """What is read must stay within bounds, whoever has written it."""
    cache = tmp_path / "tables"
    days = candidate_days(town, "shard 0", 50, length=key)
    again = [candidate_days(town, "shard 0", 50, length=key, cache=cache) for _ in range(2)]
    (kept,) = cache.iterdir()
    honest, made = kept.read_bytes(), kept.stat().st_mtime_ns
    assert (
        candidate_days(town, "shard 0", 50, length=key, cache=cache).places.tolist() == days.places.tolist()
    )
    assert kept.stat().st_mtime_ns == made
    flipped = [
        honest[:place] + bytes([honest[place] ^ 255]) + honest[place + 1 :]
        for place in range(5, len(honest), 29)
    ]
    halves = [b"", honest[:60], honest[: len(honest) // 2], b"PK\x03\x04 nothing of the kind"]
    for raw in halves + flipped:
        kept.write_bytes(raw)
        again.append(candidate_days(town, "shard 0", 50, length=key, cache=cache))
    for columns in _spoilt(days):
        np.savez_compressed(kept, **columns)
        again.append(candidate_days(town, "shard 0", 50, length=key, cache=cache))
    for found in again:
        for mine, theirs in zip(found, days, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 0}, "must be 1 to 8,192"),
        ({"k": 1.5}, "k: found 1.5, must be a whole number"),
        ({"shards": "two"}, "shards: found 'two', must be a whole number"),
        ({"k": 9000}, "must be 1 to 8,192"),
        ({"candidates": 0}, "candidates: found 0"),
        ({"shards": 0}, "shards: found 0"),
        ({"unmatched": math.nan}, "unmatched"),
        ({"reading": "best"}, "reading: found 'best', must be one of candidate, guess"),
        ({"reading": None}, "reading: found None, must be one of candidate, guess"),
        ({"hide_length": 4}, "by itself"),
        ({"n": 2}, "is no option of codebook"),
    ],
)
def test_bad_options_are_told(town: World, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ew.InputError, match=said):
        ew.method("codebook", town, epsilon=5, **options)
