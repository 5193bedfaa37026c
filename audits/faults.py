"""Broken methods: each is the real one with one part swapped. The audit must catch every one of them (T2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import broken_parts as parts
from broken_answers import ANSWER_FAULTS
from broken_device import DEVICE_FAULTS
from broken_surveys import SURVEY_FAULTS
from cases import FAULT_WORLDS, most_places
from detectors import detect
from elsewhere.arrays import Bools, Counts, Indices
from elsewhere.days.comparison import day_costs
from elsewhere.days.visits import parts_of
from elsewhere.errors import InputError
from elsewhere.experiments.tilted import TiltedNgram
from elsewhere.mechanism.budget import Draw, split_evenly
from elsewhere.mechanism.codebook import CodebookTables
from elsewhere.mechanism.individual import VisitTables, order_by_time
from elsewhere.mechanism.length import HiddenLength
from elsewhere.mechanism.listing import AnyStep, Outcome, State, Step
from elsewhere.mechanism.ngram import NgramTables
from elsewhere.mechanism.ngram_proposal import Proposals, build_proposals
from elsewhere.mechanism.place_ngram import PlaceNgramTables
from elsewhere.mechanism.place_ngram_proposal import list_places, open_places
from elsewhere.mechanism.rejection import coin_of
from elsewhere.mechanism.secret import RegionOfEachVisit
from elsewhere.mechanism.windows import window_tables, windows
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.individual import Individual
from elsewhere.methods.ngram import Ngram
from elsewhere.methods.place_ngram import PlaceNgram
from elsewhere.methods.protocol import Batch, Core, Drawn, MethodFacts, Rebuilt, ShareInfo
from elsewhere.methods.registry import METHODS
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import Randomness, SeededRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory, in_columns
from elsewhere.world.graph import RegionGraph, degrees_of
from elsewhere.world.world import World
from tiny_worlds import closed_at_noon, one_way, tiny_world


class Peeks:
    """Makes the tables of a core see what is true, as no core's should."""

    truth: Outcome | None = None

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        rows = []
        for secret in secrets:
            self._peek(tuple(secret.tolist()))
            rows.append(super().perturb(secret[None], randomness, constant_work=constant_work))  # type: ignore[misc]
        values = np.concatenate([drawn.values for drawn, _ in rows])
        return Drawn(length=secrets.shape[1], values=values), np.concatenate([trials for _, trials in rows])

    def step(self, secret: Outcome, state: State) -> Step | None:
        self._peek(secret)
        return super().step(secret, state)  # type: ignore[misc, no-any-return]

    def tables(self, length: int) -> Any:
        honest = super().tables(length)  # type: ignore[misc]
        return honest if self.truth is None else self.broken(honest, self.truth)

    def broken(self, tables: Any, truth: Outcome) -> Any:
        """The tables, one of them spoilt by what is true."""
        raise NotImplementedError

    def _peek(self, secret: Outcome) -> None:
        self.truth = secret
        self._listed: dict[Any, Any] = {}  # what was listed for another truth


class Peeking(Peeks, Ngram):
    """The paper's solution with tables that see what is true."""

    def broken(self, tables: NgramTables, truth: Outcome) -> NgramTables:
        del truth
        return tables


def _edges(world: World) -> Bools:
    count = len(world.regions)
    return np.array([[world.graph.has_edge(a, b) for b in range(count)] for a in range(count)])


def _cut(edges: Bools, regions: Bools, n: int, honest: Proposals) -> Proposals:
    """Proposals over fewer regions and other edges; the honest ones where nothing would be left."""
    count = len(edges)
    bits = np.zeros((count, -(-count // 64) * 64), dtype=np.bool_)
    bits[:, :count] = edges & regions[:, None] & regions[None, :]
    words = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)
    try:
        proposals = build_proposals(RegionGraph(words=words, out_degrees=degrees_of(words)), n)
    except InputError:
        return honest
    weights = proposals.weights.copy()
    weights[0] = regions
    return proposals._replace(weights=weights, cumulative=np.cumsum(weights, axis=1))


class TrueGap(Peeking):
    """Candidates must fit the true time between the first two visits (R5)."""

    def broken(self, tables: NgramTables, truth: Outcome) -> NgramTables:
        hours = self.world.regions.mid_hours
        gap = abs(hours[truth[1]] - hours[truth[0]]) if len(truth) > 1 else 0.0
        gaps = hours[None, :] - hours[:, None]
        edges = _edges(self.world) & (np.abs(gaps - gap) <= 4)
        everything = np.ones(len(hours), dtype=np.bool_)
        return replace(tables, proposals=_cut(edges, everything, self.n, tables.proposals))


class TrueOpeningHours(Peeking):
    """Candidates must be open when the first true visit was (R5)."""

    def broken(self, tables: NgramTables, truth: Outcome) -> NgramTables:
        regions = self.world.regions
        is_open = (regions.starts <= regions.starts[truth[0]]) & (regions.ends > regions.starts[truth[0]])
        proposals = _cut(_edges(self.world), is_open, 1, tables.proposals)
        whole = tables.proposals
        # Single regions alone are cut; longer windows stay as they are.
        weights = whole.weights.copy()
        weights[0] = proposals.weights[0]
        return replace(
            tables, proposals=whole._replace(weights=weights, cumulative=np.cumsum(weights, axis=1))
        )


class OwnNgramAdded(Peeking):
    """The true n-grams are put among the candidates, feasible or not (R3)."""

    def broken(self, tables: NgramTables, truth: Outcome) -> NgramTables:
        edges = _edges(self.world)
        for a, b in pairwise(truth):
            edges[a, b] = True
        everything = np.ones(len(edges), dtype=np.bool_)
        return replace(tables, proposals=_cut(edges, everything, self.n, tables.proposals))


class NearestCandidates(Peeking):
    """Only the regions nearest to the true ones are candidates (R3)."""

    def broken(self, tables: NgramTables, truth: Outcome) -> NgramTables:
        count = len(self.world.regions)
        near = np.zeros(count, dtype=np.bool_)
        for region in truth:
            distances = tables.distances.combined(np.full(count, region), np.arange(count))
            near[np.argsort(distances, kind="stable")[: max(2, count // 2)]] = True
        proposals = _cut(_edges(self.world), near, self.n, tables.proposals)
        return replace(tables, proposals=proposals)


class Tilted(TiltedNgram):
    """Draws with no clamp, as `experiments.tilted` makes them, but with the claims of the honest method."""

    def spent_on(self, length: int) -> Fraction:
        return Ngram.spent_on(self, length)

    def facts(self) -> MethodFacts:
        return Ngram.facts(self)


class LocalSensitivity(Peeks, Tilted):
    """Δ is the largest distance near what is true, and nothing is clamped (R2).

    With the clamp even this would be ε-LDP: any score in [0, 1] is.
    """

    def broken(self, tables: NgramTables, truth: Outcome) -> NgramTables:
        count = len(self.world.regions)
        distances = [tables.distances.combined(np.full(count, r), np.arange(count)) for r in truth]
        return _unclamped(tables, max(float(np.sort(row)[:4].max()) for row in distances) or 1.0)


def _unclamped(tables: NgramTables, largest: float) -> NgramTables:
    """Weights e^(−ε' d / 2Δ) with Δ from ``largest``, however far d goes beyond it."""
    draws = tuple(
        replace(draw, epsilon=(draw.epsilon / Fraction(largest * draw.length)).limit_denominator(1000))
        for draw in tables.draws
    )
    return replace(tables, draws=draws, windows=window_tables(draws, 1.0), is_clamped=False)


class EndWindowsNotCounted(Ngram):
    """ε is divided by the main windows alone, the shorter ones at both ends come free (R4)."""

    def tables(self, length: int) -> NgramTables:
        honest = super().tables(length)
        main = self.draws_for(length)
        draws = tuple(
            Draw(start=start, length=size, epsilon=main[0].epsilon) for start, size in windows(length, self.n)
        )
        return replace(honest, draws=draws, windows=window_tables(draws, self.world.max_distance))

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        main = [draw for draw in super().draws_for(length) if draw.length == min(self.n, length)]
        assert self.epsilon is not None  # noqa: S101 - faults claim an ε for the day
        return tuple(replace(draw, epsilon=self.epsilon / len(main)) for draw in main)


class FallbackToTheTruth(Ngram):
    """When trials run out, the truth is taken (R6)."""

    def tables(self, length: int) -> NgramTables:
        honest = super().tables(length)
        few = np.full_like(honest.windows.trials, 2)
        return replace(honest, windows=honest.windows._replace(trials=few))

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        drawn, trials = super().perturb(secrets, randomness, constant_work=constant_work)
        cut = self.tables(drawn.length).windows
        for row, index in np.argwhere(trials == 0).tolist():
            start, size, offset = (int(part[index]) for part in (cut.starts, cut.lengths, cut.offsets))
            drawn.values[row, offset : offset + size] = secrets[row, start : start + size]
        return drawn, trials


class BoundingBoxOfTheTruth(Peeking):
    """Days are rebuilt inside the box of the true regions (R8)."""

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        rebuilt = super().rebuild(drawn, randomness)
        assert self.truth is not None  # noqa: S101 - something was perturbed before
        hours = self.world.regions.mid_hours[list(self.truth)]
        per_hour = 60 / self.world.clock.timestep_minutes
        low, high = int(hours.min() * per_hour), int(hours.max() * per_hour)
        times = np.clip(rebuilt.days.times, low, high)
        return replace(rebuilt, days=rebuilt.days._replace(times=times))


class RetryUntilFeasible(Ngram):
    """Draws whose days would need smoothing are drawn again (R9)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        drawn, trials = super().perturb(secrets, randomness, constant_work=constant_work)
        for _ in range(100):
            ways = self.rebuild(drawn, SeededRandomness(1)).ways["places"]
            again = np.array([way not in {"quick try", "counted"} for way in ways])
            if not again.any():
                break
            more, _ = super().perturb(secrets[again], randomness, constant_work=constant_work)
            drawn.values[again] = more.values
        return drawn, trials


class UnclampedScore(Tilted):
    """Scores past 1, with a largest distance that is not the largest (R2)."""

    def tables(self, length: int) -> NgramTables:
        return _unclamped(super().tables(length), self.world.max_distance / 4)


class CoinTooSharp(Ngram):
    """The coin is flipped with 1.3 ε' where ε' is claimed (R14)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        honest = self.tables(secrets.shape[1])
        sharp = honest.windows._replace(
            numerators=honest.windows.numerators * 13, denominators=honest.windows.denominators * 10
        )
        self._tables[secrets.shape[1]] = replace(honest, windows=sharp)
        drawn = super().perturb(secrets, randomness, constant_work=constant_work)
        self._tables[secrets.shape[1]] = honest
        return drawn


class TrueHoursOfPlaces(Peeks, PlaceNgram):
    """N-grams of places must be open when the first true visit was, whatever the drawn times say (R5)."""

    def broken(self, tables: PlaceNgramTables, truth: Outcome) -> PlaceNgramTables:
        places = tables.opens.places
        is_open = places.is_open[:, truth[0] % places.is_open.shape[1]]
        if not is_open.any():
            return tables
        return tables._replace(opens=open_places(places._replace(is_open=places.is_open & is_open[:, None])))

    def _ngrams(self, times: tuple[int, ...]) -> list[Outcome]:
        return list_places(self.tables(1).opens, times)


class TimesComeFree(PlaceNgram):
    """ε is divided by the n-grams of places alone, the timesteps come free (R4)."""

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        return split_evenly(
            self.epsilon, [(window, "n-gram of places") for window in windows(length, self.n)]
        )

    def tables(self, length: int) -> PlaceNgramTables:
        draws = self.draws_for(length)
        honest = super().tables(length)
        return honest._replace(
            time_coin=coin_of(draws[0].epsilon), windows=window_tables(draws, self._largest)
        )


class AfterTheTruth(Peeks, Individual):
    """Candidates come no earlier than the first true visit (R5)."""

    def broken(self, tables: VisitTables, truth: Outcome) -> VisitTables:
        first = truth[0] % tables.places.is_open.shape[1]
        later = np.minimum(tables.later, tables.later[:, first : first + 1])
        if not later.any():
            return tables
        by_time, starts = order_by_time(later)
        return tables._replace(later=later, by_time=by_time, starts=starts)


class SameWordsForEveryOtherDraw(Ngram):
    """Every other visit is drawn with the same words: what one hides, two together give away (R13)."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        single = Ngram(self.world, epsilon=self.draws_for(secrets.shape[1])[0].epsilon, n=1)
        rows = []
        for secret in secrets:
            seeds = randomness.words_for_rows(1, 2)[0].tolist()
            visits = [
                single.perturb(visit[None, None], SeededRandomness(seeds[i % 2]), constant_work=constant_work)
                for i, visit in enumerate(secret)
            ]
            rows.append(np.concatenate([drawn.values[0] for drawn, _ in visits]))
        return Drawn(length=secrets.shape[1], values=np.stack(rows)), np.zeros(secrets.shape, dtype=np.int64)


class _Keeps(RegionOfEachVisit):
    """The region of each visit, and what it was looked up for."""

    kept: Trajectory

    def __call__(
        self, trajectory: Trajectory, length: int | None = None, *, constant_work: bool = False
    ) -> Outcome:
        self.kept = trajectory
        return super().__call__(trajectory, length, constant_work=constant_work)


class TruthKeptForLater(Ngram):
    """The truth is kept when its regions are looked up, and the first visit put back at the end (R8)."""

    secret: _Keeps

    def __init__(self, world: World, **options: Any) -> None:
        super().__init__(world, **options)
        self.secret = _Keeps(world)

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        rebuilt = super().rebuild(drawn, randomness)
        place_id, timestep = self.secret.kept.visits[0]
        rebuilt.days.places[:, 0] = self.world.place_index[place_id]
        rebuilt.days.times[:, 0] = timestep
        return rebuilt


class SharesTheTruth(Sharing):
    """All parts are honest, but what is handed out ends with the true last visit."""

    def _process(self, rows: Any, source: Randomness, *, constant_work: bool) -> Any:
        done = super()._process(rows, source, constant_work=constant_work)
        truth = rows.truth
        if isinstance(truth, Trajectory):
            truth = in_columns([truth], self.world.place_index)
        days, lasts = done.rebuilt.days, truth.starts[1:] - 1
        at = np.arange(len(lasts)), days.lengths - 1
        days.places[at], days.times[at] = truth.places[lasts], truth.times[lasts]
        return done


class TrueLengthAfterAll(Sharing):
    """A length is drawn, and the day is shared with its true one (R7)."""

    def _process(self, rows: Any, source: Randomness, *, constant_work: bool) -> Any:
        true_length = len(rows.truth)
        return super()._process(replace(rows, length=true_length), source, constant_work=constant_work)


class SeededForMany(Sharing):
    """Many days are shared with the same seed every time (R13)."""

    def share_batch(self, trajectories: Any, **options: Any) -> Batch:
        options["randomness"] = options.get("randomness") or SeededRandomness(0)
        return super().share_batch(trajectories, **options)


class OneGenerator(Sharing):
    """One generator, seeded when the program starts, that forked workers inherit (R13)."""

    def __init__(self, core: Core, hidden: HiddenLength | None = None) -> None:
        super().__init__(core, hidden)
        self._generator = SeededRandomness(1)

    def share(
        self, trajectory: Trajectory, *, randomness: Randomness | None = None
    ) -> tuple[SharedTrajectory, ShareInfo]:
        return super().share(trajectory, randomness=randomness or self._generator)


class _AllThatAreNear(CodebookTables):
    def near(self, secret: Indices, shard: int) -> Bools:
        places, times = parts_of(secret, self.timesteps)
        costs = day_costs(self.columns(shard), self.distances, self.unmatched, places, times)
        return np.asarray(costs <= np.sort(costs)[self.odds.nearest - 1] + 3.0)


class AsManyAsAreNear(Codebook):
    """Not exactly k candidates are likelier, but all that are near: the normaliser tells how many."""

    def tables(self, length: int) -> CodebookTables:
        honest = super().tables(length)
        return _AllThatAreNear(**{field.name: getattr(honest, field.name) for field in fields(honest)})


class ShardOfTheTruth(Codebook):
    """The shard is that of the true day's first visit, not a fresh one."""

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        drawn, trials = super().perturb(secrets, randomness, constant_work=constant_work)
        drawn.values[:, 0] = secrets[:, 0] % self.shards
        return drawn, trials


class TrimmedToTheTruth(Sharing):
    """A candidate of any length, but cut to as many visits as the day had (R7)."""

    def _process(self, rows: Any, source: Randomness, *, constant_work: bool) -> Any:
        done = super()._process(rows, source, constant_work=constant_work)
        days = done.rebuilt.days
        cut = days._replace(lengths=np.minimum(days.lengths, rows.length))
        return replace(done, rebuilt=replace(done.rebuilt, days=cut))


class LengthLeak(Sharing):
    """A hidden length, but days are never made longer than they were (R7)."""

    def _lengths(self, *given: Any, **more: Any) -> tuple[list[int], list[int]]:
        drawn, trials = super()._lengths(*given, **more)
        return [min(a, length) for a, length in zip(drawn, given[0], strict=True)], trials

    def step(self, secret: Outcome, state: State | None) -> AnyStep | None:
        step = super().step(secret, state)
        if step is None or state is not None:
            return step
        seen = [min(length, len(secret)) for (length,) in step.outcomes]
        return replace(step, outcomes=[(n,) for n in seen], states=[(n, 0) for n in seen])


Worlds = Callable[[Path, str], list[World]]


def _tiny(folder: Path, of: str) -> list[World]:
    return [tiny_world(folder, seed, min(5, most_places(of))) for seed in FAULT_WORLDS]


def _gappy(folder: Path, of: str) -> list[World]:
    """Worlds where at times nobody is open, or nothing can be reached."""
    tiny = [tiny_world(folder, seed, most_places(of)) for seed in (5, 15)]
    return [*tiny, closed_at_noon(folder / "noon"), one_way(folder / "way")]


@dataclass(frozen=True, slots=True)
class Fault:
    """A broken method, and the ε it claims."""

    name: str
    core: Callable[..., Core] = Ngram
    sharing: type[Sharing] = Sharing
    of: str = "ngram"
    n: int = 2
    epsilon: Fraction = Fraction(1)
    hidden: type[HiddenLength] | None = None
    worlds: Worlds = _tiny
    """Where it shows."""

    def method(self, world: World) -> Sharing:
        """The broken method on a world."""
        options = {"n": self.n} if "n" in METHODS[self.of].options else {}
        if self.hidden is None:
            return self.sharing(self.core(world, epsilon=self.epsilon, **options))
        half = self.epsilon / 2
        return self.sharing(self.core(world, epsilon=half, **options), self.hidden(cap=3, epsilon=half))

    def objections(self, folder: Path) -> dict[str, str]:
        """The first thing that the audit says, on the first world where it says anything."""
        for world in self.worlds(folder, self.of):
            found = next(detect(self.method(world), float(self.epsilon), samples=5000), None)
            if found is not None:
                return dict([found])
        return {}


@dataclass(frozen=True, slots=True)
class PartFault:
    """A broken part that no method has of its own, and the check that looks at such parts."""

    name: str
    look: Callable[[Path], dict[str, str]]

    def objections(self, folder: Path) -> dict[str, str]:
        """What the check says."""
        return self.look(folder)


def coin_objections(accepts: parts.Accepts) -> dict[str, str]:
    """A coin is looked at for the very words at which its decision must change."""
    wrong = parts.wrong_boundaries(accepts)
    return {"boundary": f"decides wrongly at {', '.join(map(str, wrong))}"} if wrong else {}


_SMALL: dict[str, Any] = {"candidates": 12, "shards": 2, "k": 3}
_TEN = Fraction(10)
_METHODS = [
    Fault("true gap", TrueGap),
    Fault("true opening hours", TrueOpeningHours),
    Fault("own n-gram added", OwnNgramAdded),
    Fault("nearest candidates", NearestCandidates),
    Fault("local sensitivity", LocalSensitivity),
    Fault("end windows not counted", EndWindowsNotCounted, n=3),
    Fault("fallback to the truth", FallbackToTheTruth, epsilon=Fraction(10)),
    Fault("bounding box of the truth", BoundingBoxOfTheTruth),
    Fault("retry until feasible", RetryUntilFeasible),
    Fault("one generator for forked workers", sharing=OneGenerator),
    Fault("unclamped score", UnclampedScore),
    Fault("length leak", sharing=LengthLeak, hidden=HiddenLength),
    Fault("coin too sharp", CoinTooSharp, epsilon=Fraction(10)),
    Fault("true opening hours of places", TrueHoursOfPlaces, of="ngram-noh", epsilon=Fraction(5)),
    Fault("timesteps come free", TimesComeFree, of="ngram-noh", epsilon=Fraction(5)),
    Fault("candidates after the truth", AfterTheTruth, of="ind-reach"),
    Fault("same words for every other draw", SameWordsForEveryOtherDraw, n=1),
    Fault("truth kept for later", TruthKeptForLater),
    Fault("true visit handed out", sharing=SharesTheTruth),
    Fault("true length after all", sharing=TrueLengthAfterAll, hidden=HiddenLength),
    Fault("many days with one seed", sharing=SeededForMany),
    Fault("as many as are near", partial(AsManyAsAreNear, **_SMALL), of="codebook"),
    Fault("shard of the truth", partial(ShardOfTheTruth, **_SMALL), of="codebook"),
    Fault("trimmed to the truth", partial(Codebook, **_SMALL), TrimmedToTheTruth, of="codebook"),
    Fault("last visit true", parts.LastVisitsAreTrue, of="ind-noreach", epsilon=_TEN),
    Fault("last reachable visit true", parts.LastVisitsAreTrue, of="ind-reach", epsilon=_TEN),
    Fault("last timestep true", parts.LastTimesAreTrue, of="ngram-noh", epsilon=_TEN),
    Fault("last day true", parts.LastDayIsTrue, of="global", epsilon=_TEN),
    Fault(
        "last of the sample nearest",
        partial(parts.LastOfTheSampleIsNearest, sample_size=2),
        of="global-subsampled",
        epsilon=_TEN,
    ),
    Fault("last candidate near", partial(parts.LastCandidateIsNear, **_SMALL), of="codebook"),
    Fault("last length true", epsilon=_TEN, hidden=parts.LastLengthIsTrue),
    Fault(
        "nothing left, so the truth", parts.NothingLeftIsTheTruth, of="ind-reach", epsilon=_TEN, worlds=_gappy
    ),
    Fault(
        "nothing open, so the truth", parts.NothingOpenIsTheTruth, of="ngram-noh", epsilon=_TEN, worlds=_gappy
    ),
    Fault("half the trials", partial(parts.HalfTheTrials, **_SMALL), of="codebook"),
    Fault("a seed for the system's words", sharing=parts.SeededForTheSystems),
    Fault("second half of a tape repeats", sharing=parts.SecondHalfRepeats),
]
_PARTS = [
    PartFault("coin off by one", lambda _: coin_objections(parts.accepts_off_by_one)),
    *(PartFault(name, look) for name, look in DEVICE_FAULTS.items()),
    *(PartFault(name, look) for name, look in SURVEY_FAULTS.items()),
    *(PartFault(name, look) for name, look in ANSWER_FAULTS.items()),
]
FAULTS: list[Fault | PartFault] = [*_METHODS, *_PARTS]
