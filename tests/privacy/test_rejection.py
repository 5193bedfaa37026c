"""THE loop: every draw made by it against a plain one, word for word, whatever the work and the tape."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elsewhere as ew
from cases import most_places, plain_options
from elsewhere import mechanism
from elsewhere.arrays import Counts, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.days.feasible import list_days
from elsewhere.days.visits import (
    VisitDistances,
    largest_visit_distance,
    place_distance,
    visit_distance,
    visit_distances,
)
from elsewhere.mechanism.individual import Scan, _After, draw_visit
from elsewhere.mechanism.length import HiddenLength, draw_length
from elsewhere.mechanism.ngram import draw_ngram
from elsewhere.mechanism.ngram_proposal import build_proposals
from elsewhere.mechanism.pick import draw_candidate, odds_of
from elsewhere.mechanism.place_ngram import _Window, draw_places, draw_time
from elsewhere.mechanism.place_ngram_proposal import MOST_MISSES, new_counted
from elsewhere.mechanism.rejection import SCORE_STEPS, Coin, coin_of, first_accepted
from elsewhere.mechanism.whole_day import ListedDays, draw_day, draw_from_sample
from elsewhere.methods.individual import Individual
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.registry import METHODS
from elsewhere.methods.whole_day import Global
from elsewhere.randomness import SeededRandomness
from elsewhere.tape import Tape, below, new_tape, ran_out
from elsewhere.world.place_world import PlaceWorld, least_steps, place_world
from elsewhere.world.world import World
from privacy_tools import PlainTape
from tiny_worlds import tiny_world
from worlds import build, place

Propose = Callable[[PlainTape], list[int]]
Score = Callable[[list[int]], int]
_WORDS = 60_000
_GUESSES = 48


@dataclass(frozen=True, kw_only=True)
class _Draw:
    """One draw, compiled and plain."""

    draw: Callable[..., int]
    coin: Coin
    size: int
    tables: Callable[[], Any]
    """Made anew for each draw: some remember what was proposed."""
    truth: Any
    propose: Callable[[], Propose]
    score: Score

    def compiled(self, words: Words, *, is_constant: bool) -> tuple[Tape, int, list[int]]:
        tape, drawn = new_tape(words), np.zeros(self.size, dtype=np.int32)
        candidate = np.zeros(self.size, dtype=np.int32)
        accepted = self.draw(tape, self.coin, self.tables(), self.truth, is_constant, candidate, drawn)
        return tape, int(accepted), drawn.tolist()

    def plain(self, words: Words, *, is_constant: bool) -> tuple[int, int, list[int]]:
        """Words used, the accepted trial, and what is drawn: as the proof has it, and no faster."""
        twin, propose = PlainTape(words), self.propose()
        accepted, drawn = 0, None
        for trial in range(1, self.coin.trials + 1):
            candidate = propose(twin)
            gamma = Fraction(self.coin.numerator * self.score(candidate), self.coin.denominator)
            is_heads = twin.accepts_exp(gamma, self.coin.denominator)
            if is_heads and drawn is None:
                accepted, drawn = trial, candidate
                if not is_constant:
                    return twin.used, accepted, drawn
        last = propose(twin)
        return twin.used, accepted, last if drawn is None else drawn


def _clamped(distance: float, sensitivity: float) -> int:
    return min(SCORE_STEPS, math.ceil(distance / sensitivity * SCORE_STEPS)) if sensitivity > 0 else 0


def _ranked(weights: list[tuple[int, int]], target: int) -> int:
    """The first of (what, weight) at which the weights so far exceed the target."""
    for what, weight in weights:
        target -= weight
        if target < 0:
            return what
    raise AssertionError("the target is beyond all weights")


def _town(folder: Path) -> World:
    """Three places, so far from each other that few visits can follow another."""
    rows = [
        place("a", 50, 10, "cafe", hours="08:00-14:00"),
        place("b", 50.1, 10.01, "boots", hours="10:00-16:00"),
        place("c", 50.3, 10.03, "wine-bar", hours="10:00-20:00"),
    ]
    keys = {"kappa": 1, "timestep_minutes": 120, "interval_minutes": 120, "speed_kmh": 4}
    return build(folder, rows, keys)


def _ngrams(folder: Path) -> _Draw:
    world, n = _town(folder), 3
    count = len(world.regions)
    after = [[b for b in range(count) if world.graph.has_edge(a, b)] for a in range(count)]
    ways = [[1] * count]
    for _ in range(1, n):
        ways.append([sum(ways[-1][b] for b in after[a]) for a in range(count)])
    proposals, truth = build_proposals(world.graph, n), [0, count - 1, 1]
    assert proposals.scales.max() == 1

    def propose(twin: PlainTape) -> list[int]:
        found: list[int] = []
        for left in range(n - 1, -1, -1):
            regions = after[found[-1]] if found else range(count)
            weights = [(region, ways[left][region]) for region in regions]
            found.append(_ranked(weights, twin.below(sum(weight for _, weight in weights))))
        return found

    def score(candidate: list[int]) -> int:
        pairs = zip(truth, candidate, strict=True)
        far = sum(float(world.distances.combined(a, b)) for a, b in pairs)
        return _clamped(far, n * world.max_distance)

    return _Draw(
        draw=draw_ngram,
        coin=coin_of(Fraction(7, 3)),
        size=n,
        tables=lambda: (proposals, world.distances, n * world.max_distance),
        truth=np.array(truth, dtype=np.int32),
        propose=lambda: propose,
        score=score,
    )


def _times(folder: Path) -> _Draw:
    world = _town(folder)
    tables = PlaceNgram(world, epsilon=9).tables(2)
    day, true_time = world.clock.timesteps, 3

    def score(candidate: list[int]) -> int:
        hours = min(abs(candidate[0] - true_time) * 2.0, world.distances.time_cap_hours)
        return _clamped(hours, tables.time_sensitivity)

    return _Draw(
        draw=draw_time,
        coin=tables.time_coin,
        size=1,
        tables=lambda: tables,
        truth=np.int32(day + true_time),
        propose=lambda: lambda twin: [twin.below(day)],
        score=score,
    )


def _follow(places: PlaceWorld, visits: list[tuple[int, int]]) -> bool:
    return all(u - t >= least_steps(places, p, q, t) for (p, t), (q, u) in pairwise(visits))


def _places(world: World, times: list[int]) -> _Draw:
    tables = PlaceNgram(world, epsilon=9, n=2).tables(len(times))
    places, count, day = place_world(world), len(world.places), world.clock.timesteps
    rows = np.array(times, dtype=np.int32)
    feasible = [
        list(some)
        for some in product(range(count), repeat=len(times))
        if _follow(places, list(zip(some, times, strict=True)))
    ]
    opened = [some for some in feasible if all(world.is_open[p, t] for p, t in zip(some, times, strict=True))]
    listed, truth = opened or feasible, [count, 0][: len(times)]
    sensitivity = float(tables.windows.sensitivities[1])

    class Guesser:
        """Guesses while they fit; after so many misses in a window, picks from the list."""

        misses = 0

        def __call__(self, twin: PlainTape) -> list[int]:
            while self.misses < MOST_MISSES:
                found = self._guess(twin)
                if found is not None:
                    return found
                self.misses += 1
            return listed[twin.below(len(listed))]

        def _guess(self, twin: PlainTape) -> list[int] | None:
            found: list[tuple[int, int]] = []
            for time in times:
                some = np.flatnonzero(world.is_open[:, time]).tolist()
                if not some:
                    return None
                found.append((some[twin.below(len(some))], time))
                if not _follow(places, found):
                    return None
            return [p for p, _ in found]

    def score(candidate: list[int]) -> int:
        far = sum(place_distance(tables.distances, a, b) for a, b in zip(truth, candidate, strict=True))
        return _clamped(far, sensitivity)

    return _Draw(
        draw=draw_places,
        coin=tables.windows.coin(1),
        size=len(times),
        tables=lambda: _Window(
            tables.opens, tables.distances, rows, new_counted(len(times), count), sensitivity
        ),
        truth=np.array([place * day + 1 for place in truth], dtype=np.int32),
        propose=Guesser,
        score=score,
    )


def _places_guessed(folder: Path) -> _Draw:
    return _places(_town(folder), [4, 6])


def _places_counted(folder: Path) -> _Draw:
    """So many places out of each other's reach that guessing hardly ever finds two in a row."""
    rows = [place(f"p{i:02d}", -60 + 3 * i, 10, hours="24/7") for i in range(40)]
    world = build(folder, rows, {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480})
    return _places(world, [0, 1])


def _places_closed(folder: Path) -> _Draw:
    """Nobody is open at the second timestep."""
    rows = [place(f"p{i}", 50 + 0.01 * i, 10, hours="00:00-08:00,16:00-24:00") for i in range(3)]
    world = build(folder, rows, {"kappa": 1, "timestep_minutes": 480, "interval_minutes": 480})
    return _places(world, [0, 1])


def _visits(world: World, previous: int, *, uses_reach: bool) -> _Draw:
    tables = Individual(world, epsilon=9, uses_reach=uses_reach).tables(2)
    places, (count, day), truth = tables.places, tables.places.is_open.shape, 2 * world.clock.timesteps + 5
    place_before, time_before = divmod(previous, day) if previous >= 0 else (0, -1)
    later = [p * day + t for t in range(time_before + 1, day) for p in range(count) if places.is_open[p, t]]

    def is_reachable(visit: int) -> bool:
        return previous < 0 or _follow(places, [(place_before, time_before), divmod(visit, day)])

    reachable = sorted(filter(is_reachable, later))

    def propose(twin: PlainTape) -> list[int]:
        for _ in range(_GUESSES):
            visit = later[twin.below(len(later))]
            if is_reachable(visit):
                return [visit]
        return [reachable[twin.below(len(reachable))]]

    def score(candidate: list[int]) -> int:
        far = visit_distance(tables.distances, *divmod(truth, day), *divmod(candidate[0], day))
        return _clamped(far, tables.sensitivity)

    def after() -> _After:
        rows = (np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64))
        return _After(tables, Scan(*rows, np.zeros(1, dtype=np.int64)), previous)

    return _Draw(
        draw=draw_visit,
        coin=coin_of(Fraction(9, 2)),
        size=1,
        tables=after,
        truth=np.int32(truth),
        propose=lambda: propose,
        score=score,
    )


def _visits_alone(folder: Path) -> _Draw:
    return _visits(_town(folder), -1, uses_reach=False)


def _visits_guessed(folder: Path) -> _Draw:
    world = _town(folder)
    return _visits(world, world.clock.timesteps + 5, uses_reach=True)


def _visits_counted(folder: Path) -> _Draw:
    """So many places out of reach that guessing does not find the one that is not."""
    rows = [place(f"p{i:02d}", -60 + 3 * i, 10, hours="24/7") for i in range(40)]
    world = build(folder, rows, {"kappa": 1, "timestep_minutes": 240, "interval_minutes": 240})
    return _visits(world, 20 * world.clock.timesteps + 1, uses_reach=True)


def _day_score(distances: VisitDistances, truth: list[int], day: int, sensitivity: float) -> Score:
    def score(candidate: list[int]) -> int:
        far = sum(
            visit_distance(distances, *divmod(a, day), *divmod(b, day))
            for a, b in zip(truth, candidate, strict=True)
        )
        return _clamped(far, len(truth) * sensitivity)

    return score


def _days(folder: Path) -> _Draw:
    world, length = _town(folder), 3
    day, distances = world.clock.timesteps, visit_distances(world)
    tables, places = Global(world, epsilon=4).tables(length), place_world(world)
    assert tables.days.scales.max() == 1
    visits = [(int(p), int(t)) for t, p in np.argwhere(world.is_open.T)]
    follows = {v: [w for w in visits if _follow(places, [v, w])] for v in visits}
    ways = [dict.fromkeys(visits, 1)]
    for _ in range(1, length):
        ways.insert(0, {v: sum(ways[0][w] for w in follows[v]) for v in visits})
    truth = [len(world.places) * day, day + 5, 2 * day + 7]

    def propose(twin: PlainTape) -> list[int]:
        found: list[tuple[int, int]] = []
        for i in range(length):
            while True:
                later = [v for v in visits if not found or v[1] > found[-1][1]]
                weights = [(number, ways[i][v]) for number, v in enumerate(later)]
                visit = later[_ranked(weights, twin.below(sum(weight for _, weight in weights)))]
                if not found or visit in follows[found[-1]]:
                    break
            found.append(visit)
        return [p * day + t for p, t in found]

    return _Draw(
        draw=draw_day,
        coin=coin_of(Fraction(4)),
        size=length,
        tables=lambda: tables,
        truth=np.array(truth, dtype=np.int32),
        propose=lambda: propose,
        score=_day_score(distances, truth, day, largest_visit_distance(distances, day)),
    )


def _samples(folder: Path) -> _Draw:
    world = _town(folder)
    day, distances = world.clock.timesteps, visit_distances(world)
    tables = Global(world, epsilon=4).tables(2)
    days, _ = list_days(tables.days)
    sample, truth = np.array([3, 0, 3, len(days) - 1], dtype=np.int32), [5, 2 * day + 7]
    far = _day_score(distances, truth, day, largest_visit_distance(distances, day))
    coin = coin_of(Fraction(4))
    return _Draw(
        draw=draw_from_sample,
        coin=coin,
        size=1,
        tables=lambda: (ListedDays(tables, days, coin), sample),
        truth=np.array(truth, dtype=np.int32),
        propose=lambda: lambda twin: [int(sample[twin.below(len(sample))])],
        score=lambda candidate: far(days[candidate[0]].tolist()),
    )


def _lengths(_folder: Path) -> _Draw:
    hidden = HiddenLength(cap=6, epsilon=Fraction(5, 2))
    return _Draw(
        draw=draw_length,
        coin=hidden.coin,
        size=1,
        tables=lambda: (hidden.cap, hidden.coin),
        truth=np.int64(4),
        propose=lambda: lambda twin: [1 + twin.below(6)],
        score=lambda candidate: 0 if candidate == [4] else 1,
    )


def _candidates(_folder: Path) -> _Draw:
    odds, near = odds_of(Fraction(3), 3, 40), {5, 17, 39}
    return _Draw(
        draw=draw_candidate,
        coin=odds.coin,
        size=1,
        tables=lambda: odds,
        truth=np.array([index in near for index in range(40)]),
        propose=lambda: lambda twin: [twin.below(40)],
        score=lambda candidate: 0 if candidate[0] in near else 1,
    )


@compiled
def _toy_propose(tape: Tape, tables: tuple[int, Counts], candidate: Indices) -> None:
    """A number below a bound in each place, the last of them three times over; nothing past the tape."""
    for i in range(len(candidate)):
        number = below(tape, tables[0])
        candidate[i] = -1 if ran_out(tape) else number


@compiled
def _toy_score(tables: tuple[int, Counts], truth: int, candidate: Indices) -> int:
    tables[1][0] += candidate.min() < 0
    return int(abs(candidate.sum() - truth)) * 1000


toy_draw = first_accepted("toy_draw_of_a_test", _toy_propose, _toy_score)


def _toys(_folder: Path) -> _Draw:
    return _Draw(
        draw=toy_draw,
        coin=Coin(3, 10_000, 25),
        size=3,
        tables=lambda: (11, np.zeros(1, dtype=np.int64)),
        truth=14,
        propose=lambda: lambda twin: [twin.below(11) for _ in range(3)],
        score=lambda candidate: abs(sum(candidate) - 14) * 1000,
    )


_CASES = [
    _toys, _ngrams, _times, _places_guessed, _places_counted, _places_closed, _visits_alone,
    _visits_guessed, _visits_counted, _days, _samples, _lengths, _candidates,
]  # fmt: skip


@pytest.fixture(scope="module", params=_CASES, ids=lambda case: case.__name__.strip("_"))
def one(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Draw:
    made: _Draw = request.param(tmp_path_factory.mktemp("world"))
    return made


def test_every_draw_of_the_mechanism_is_here() -> None:
    """Whoever makes a new draw by the loop has it tested below."""
    mine = [draw_ngram, draw_time, draw_places, draw_visit, draw_day]
    mine += [draw_from_sample, draw_length, draw_candidate]
    loop = first_accepted("another_toy_of_a_test", _toy_propose, _toy_score)
    code = loop.py_func.__code__  # type: ignore[attr-defined]  # a compiled loop
    made = set()
    for module in pkgutil.iter_modules(mechanism.__path__, "elsewhere.mechanism."):
        for thing in vars(importlib.import_module(module.name)).values():
            if getattr(getattr(thing, "py_func", None), "__code__", None) is code:
                made.add(thing.__name__)
    assert made == {draw.__name__ for draw in mine}


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("trials", [None, 1, 3])
def test_a_draw_and_its_plain_twin_agree_word_for_word(
    one: _Draw, is_constant: bool, trials: int | None
) -> None:
    """The same outcome, the same trial, as many words; with few trials nothing is accepted now and then."""
    coin = one.coin if trials is None else one.coin._replace(trials=trials)
    if trials is not None:  # and so sharp that it hardly ever comes up
        coin = coin._replace(numerator=30 * coin.numerator)
    drawn = _Draw(**{**vars(one), "coin": coin})
    accepted_at, outcomes = set(), set()
    for seed in range(12 if is_constant else 60):
        words = SeededRandomness(seed).words(_WORDS)
        tape, accepted, outcome = drawn.compiled(words, is_constant=is_constant)
        assert not ran_out(tape)
        expected = drawn.plain(words, is_constant=is_constant)
        assert (int(tape.cursor[0]), accepted, outcome) == expected
        accepted_at.add(accepted)
        outcomes.add(tuple(outcome))
    assert len(outcomes) > 1
    if trials is not None:
        assert 0 in accepted_at
    elif not is_constant:
        assert len(accepted_at) > 1


@pytest.mark.parametrize("is_constant", [False, True])
def test_constant_work_draws_the_same_and_makes_every_trial(one: _Draw, is_constant: bool) -> None:
    """R15: what is drawn does not depend on the work; with constant work every trial takes two words."""
    for seed in range(6):
        words = SeededRandomness(seed).words(_WORDS)
        tape, accepted, outcome = one.compiled(words, is_constant=is_constant)
        _, *other = one.compiled(words, is_constant=not is_constant)
        assert [accepted, outcome] == other
        if is_constant:
            assert tape.cursor[0] >= 2 * one.coin.trials


@pytest.mark.parametrize("is_constant", [False, True])
def test_a_tape_that_runs_out_says_so_and_one_that_just_lasts_does_not(one: _Draw, is_constant: bool) -> None:
    for seed in range(4):
        words = SeededRandomness(seed).words(_WORDS)
        used, *expected = one.plain(words, is_constant=is_constant)
        for enough in (used, used + 1):
            tape, *found = one.compiled(words[:enough], is_constant=is_constant)
            assert not ran_out(tape)
            assert found == expected
        for short in sorted({0, 1, used // 3, used // 2, used - 2, used - 1} & set(range(used))):
            tape, *_ = one.compiled(words[:short], is_constant=is_constant)
            assert ran_out(tape)


@pytest.mark.parametrize("is_constant", [False, True])
def test_what_was_proposed_past_the_end_of_a_tape_is_never_looked_at(is_constant: bool) -> None:
    """Proposals are whole only on a tape that lasts: the score of half a one would read anywhere."""
    words = SeededRandomness(3).words(400)
    for length in range(60):
        unfinished = np.zeros(1, dtype=np.int64)
        candidate, drawn = np.zeros(3, dtype=np.int32), np.zeros(3, dtype=np.int32)
        tape = new_tape(words[:length])
        toy_draw(tape, Coin(3, 10_000, 25), (11, unfinished), 14, is_constant, candidate, drawn)
        assert unfinished[0] == 0


class _Pieces(SeededRandomness):
    """The same words, handed out a few at a time."""

    def words(self, _count: int) -> Words:
        return super().words(7)


@pytest.mark.parametrize("constant_work", [False, True])
@pytest.mark.parametrize("name", METHODS)
def test_short_tapes_change_no_draw_of_any_method(tmp_path: Path, name: str, constant_work: bool) -> None:
    """Tapes made longer again and again give what one long tape gives."""
    world = tiny_world(tmp_path, 4, most_places(name))
    core = ew.method(name, world, epsilon=2, **plain_options(name)).core
    days = [ew.Trajectory([("p0", k % 3), ("p1", 3 + k % 2)]) for k in range(7)]
    secrets = np.array([core.secret(day) for day in days], dtype=np.int32)
    whole, trials = core.perturb(secrets, SeededRandomness(6), constant_work=constant_work)
    pieces, again = core.perturb(secrets, _Pieces(6), constant_work=constant_work)
    np.testing.assert_array_equal(whole.values, pieces.values)
    np.testing.assert_array_equal(trials, again)
