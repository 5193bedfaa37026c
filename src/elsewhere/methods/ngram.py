"""`ngram`: the paper's solution. Perturb overlapping n-grams of regions, rebuild a chain, choose places."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path
from typing import Any

from elsewhere.arrays import Counts, Indices
from elsewhere.days.visits import check_length, days_of_one_length
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, split_evenly, total
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.mechanism.ngram import NgramTables, perturb_regions, window_step, windows_of_rows
from elsewhere.mechanism.ngram_proposal import Ngrams, build_proposals, list_ngrams
from elsewhere.mechanism.rejection import LARGEST_EPSILON
from elsewhere.mechanism.secret import RegionOfEachVisit
from elsewhere.mechanism.windows import window_tables, windows
from elsewhere.methods.exact_coins import CALIBRATIONS, EXACT, PROVEN, ExactCoins
from elsewhere.methods.protocol import Drawn, MethodFacts, Rebuilt
from elsewhere.randomness import Randomness
from elsewhere.reconstruct.chain import region_edges
from elsewhere.reconstruct.node_errors import (
    DistanceColumns,
    prepare_rows,
    region_boxes,
    region_columns,
    with_table,
)
from elsewhere.reconstruct.place_path import place_paths
from elsewhere.reconstruct.region_path import region_paths
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World

REGION_WAYS = ("row-wise best", "shortest chain", "shortest chain outside the box", "no chain")
PLACE_WAYS = ("quick try", "counted", "smoothed", "smoothed, partly closed", "stayed")

_MANY_DAYS = 512


class Ngram:
    """The paper's NGram: |τ| + n − 1 draws of ε / (|τ| + n − 1) each; |τ| is public.

    With a ``calibration`` of "exact" a draw spends all of its share, as computed for this world, where the
    paper's spends what its proof needs.

    Paper: section 5.2 (ss:main-solution-overview).
    """

    name = "ngram"
    hides_length = False

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        n: int = 2,
        epsilon_per_draw: float | str | Fraction | None = None,
        calibration: str = PROVEN,
        cache: str | Path | None = None,
    ) -> None:
        if n < 1:
            raise InputError("n", f"found {n}, must be 1 or more")
        if calibration not in CALIBRATIONS:
            raise InputError("calibration", f"found {calibration!r}, must be {' or '.join(CALIBRATIONS)}")
        if (epsilon is None) == (epsilon_per_draw is None):
            raise InputError("epsilon", "give either epsilon or epsilon_per_draw")
        world.graph.check_known(self.name)
        self.world = world
        self.n = n
        self.epsilon = None if epsilon is None else exact_epsilon(epsilon)
        self.epsilon_per_draw = None if epsilon_per_draw is None else exact_epsilon(epsilon_per_draw)
        self.secret = RegionOfEachVisit(world)
        self._proposals = build_proposals(world.graph, n)
        self._columns = region_columns(world.distances)
        self._rebuilt = 0
        self._boxes = region_boxes(world)
        self._places = place_world(world)
        self._edges = region_edges(world.graph.words, self._places)
        self._coins = (
            ExactCoins(world, None if cache is None else Path(cache)) if calibration == EXACT else None
        )
        self._tables: dict[int, NgramTables] = {}
        self._listed: dict[int, Ngrams] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """Draws for a trajectory of ``length`` visits: ε shared evenly, or the same ε' for each."""
        places = windows(length, self.n)
        epsilon = self.epsilon
        if epsilon is None:
            assert self.epsilon_per_draw is not None  # noqa: S101 - one of the two is given
            epsilon = self.epsilon_per_draw * len(places)
        return split_evenly(epsilon, [(window, "n-gram of regions") for window in places])

    def spent_on(self, length: int) -> Fraction:
        """ε spent on ``length`` visits: the sum of the draws."""
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out the tables for trajectories of ``length``; raises if they cannot be shared."""
        check_length(self.world, length)
        draws = self.draws_for(length)
        if draws[0].epsilon > LARGEST_EPSILON:
            limit = LARGEST_EPSILON * len(draws)
            raise InputError("epsilon", f"for {length} visits more than {limit} takes too long to sample")
        self.tables(length)

    def tables(self, length: int) -> NgramTables:
        """What is public for trajectories of ``length``; the audit reads the same tables."""
        if length not in self._tables:
            draws = self.draws_for(length)
            coins = None if self._coins is None else self._coins.of(draws)
            self._tables[length] = NgramTables(
                draws=draws,
                windows=window_tables(draws, self.world.max_distance, coins),
                proposals=self._proposals,
                distances=self.world.distances,
            )
        return self._tables[length]

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """Draws of all windows, a row for each row of regions."""
        length = secrets.shape[1]
        values, trials = perturb_regions(
            secrets, self.tables(length), randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The chain of regions that fits the draws best, then places and times in it."""
        started = time.perf_counter()
        paths, _, region_ways = region_paths(
            drawn.values,
            self.tables(drawn.length).windows,
            self._columns_for(len(drawn.values)),
            self.world.distances,
            self._edges,
            self._boxes,
            drawn.length,
        )
        chained = time.perf_counter()
        chosen, times, place_ways = place_paths(
            paths, self._places, randomness.words_for_rows(len(paths), 1)[:, 0]
        )
        ways = {
            "regions": [REGION_WAYS[way] for way in region_ways.tolist()],
            "places": [PLACE_WAYS[way] for way in place_ways.tolist()],
        }
        seconds = {"regions": chained - started, "places": time.perf_counter() - chained}
        return Rebuilt(days=days_of_one_length(chosen, times), ways=ways, seconds=seconds)

    def _columns_for(self, days: int) -> DistanceColumns:
        """Distances between regions; after many days it has paid to work out all of them."""
        self._rebuilt += days
        if self._rebuilt > _MANY_DAYS:
            self._columns = with_table(self._columns)
        return self._columns

    def prepare_reconstruction(self, drawn: Drawn) -> int:
        """What `rebuild` works out before it looks for the best chain, by itself: for timing."""
        windows = self.tables(drawn.length).windows
        return prepare_rows(drawn.values, windows, self._columns, self._boxes, drawn.length)

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index), listed."""
        length, index = state
        tables = self.tables(length)
        if index == len(tables.draws):
            return None
        size = tables.draws[index].length
        if size not in self._listed:
            self._listed[size] = list_ngrams(tables.proposals, size)
        return window_step(tables, index, self._listed[size], secret, (length, index + 1))

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row the regions of each window."""
        return windows_of_rows(self.tables(drawn.length).windows, drawn.values)

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        options: dict[str, Any] = {"n": self.n, "sensitivity": "world"}
        if self._coins is not None:
            options["calibration"] = EXACT
        if self.epsilon is None:
            options["epsilon_per_draw"] = str(self.epsilon_per_draw)
            options["epsilon_at_most"] = float(self.spent_on(self.world.clock.timesteps))
        return MethodFacts(method=self.name, epsilon=self.epsilon, options=options)
