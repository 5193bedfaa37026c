"""`ngram-noh` and `physdist`: no hierarchy. Perturb timesteps, then n-grams of places that fit them."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np

from elsewhere.arrays import Counts, Indices
from elsewhere.days.smoothing import spread
from elsewhere.days.visits import (
    check_length,
    days_of_one_length,
    largest_place_distance,
    largest_time_distance,
    place_distances,
    visit_distances,
)
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import Draw, exact_epsilon, split_evenly, total
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.mechanism.ngram import windows_of_rows
from elsewhere.mechanism.place_ngram import (
    PlaceNgramTables,
    perturb_times_and_places,
    places_step,
    time_step,
)
from elsewhere.mechanism.place_ngram_proposal import check_countable, list_places, open_places
from elsewhere.mechanism.rejection import coin_of
from elsewhere.mechanism.secret import NumberedVisits
from elsewhere.mechanism.windows import window_tables, windows
from elsewhere.methods.protocol import Drawn, MethodFacts, Rebuilt
from elsewhere.randomness import Randomness
from elsewhere.reconstruct.node_errors import place_boxes, prepare_rows, region_columns
from elsewhere.reconstruct.place_chain import place_chains
from elsewhere.world.place_world import always_open, place_world
from elsewhere.world.world import World

_WAYS = (
    "row-wise best",
    "shortest chain",
    "shortest chain outside the box",
    "shifted to opening hours",
    "partly closed",
)


class PlaceNgram:
    """2|τ| + n − 1 draws of ε / (2|τ| + n − 1) each; |τ| is public.

    PhysDist knows no more than where places are and how far one can travel: it takes no notice of categories
    or, unless ``opening_hours`` says otherwise, of hours.

    Paper: section 5.9 (ss:alternative-approaches), NGramNoH and PhysDist.
    """

    hides_length = False

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction | None = None,
        n: int = 2,
        opening_hours: bool | None = None,
        has_categories: bool = True,
    ) -> None:
        if n < 1:
            raise InputError("n", f"found {n}, must be 1 or more")
        if opening_hours not in {None, True, False}:
            raise InputError("opening_hours", f"found {opening_hours!r}, must be True or False")
        check_countable(len(world.places), n)
        self.name = "ngram-noh" if has_categories else "physdist"
        self.world = world
        self.n = n
        self.epsilon = exact_epsilon(epsilon)
        self.secret = NumberedVisits(world)
        self.opening_hours = has_categories if opening_hours is None else opening_hours
        places = place_world(world)
        self._opens = open_places(places if self.opening_hours else always_open(places))
        self._distances = visit_distances(world, has_categories=has_categories)
        self._place_distances = place_distances(self._distances)
        self._columns = region_columns(self._place_distances)
        self._boxes = place_boxes(world.places)
        self._largest = largest_place_distance(self._distances)
        self._tables: dict[int, PlaceNgramTables] = {}
        self._listed: dict[tuple[int, ...], list[Outcome]] = {}

    def draws_for(self, length: int) -> tuple[Draw, ...]:
        """A timestep for each visit, then the windows of places: ε shared evenly."""
        times = [((i, 1), "timestep") for i in range(length)]
        places = [(window, "n-gram of places") for window in windows(length, self.n)]
        return split_evenly(self.epsilon, times + places)

    def spent_on(self, length: int) -> Fraction:
        """The sum of the draws."""
        return total(self.draws_for(length))

    def prepare(self, length: int) -> None:
        """Work out the tables for days of ``length``; raises if they cannot be shared."""
        check_length(self.world, length)
        self.tables(length)

    def tables(self, length: int) -> PlaceNgramTables:
        """What is public for days of ``length``."""
        if length not in self._tables:
            draws = self.draws_for(length)
            self._tables[length] = PlaceNgramTables(
                opens=self._opens,
                distances=self._distances,
                time_coin=coin_of(draws[0].epsilon),
                time_sensitivity=largest_time_distance(self._distances, self.world.clock.timesteps),
                windows=window_tables(draws[length:], self._largest),
            )
        return self._tables[length]

    def perturb(
        self, secrets: Indices, randomness: Randomness, *, constant_work: bool
    ) -> tuple[Drawn, Counts]:
        """Timesteps, then places of each window."""
        length = secrets.shape[1]
        values, trials = perturb_times_and_places(
            secrets, self.tables(length), randomness, constant_work=constant_work
        )
        return Drawn(length=length, values=values), trials

    def rebuild(self, drawn: Drawn, randomness: Randomness) -> Rebuilt:
        """The chain of places that fits the draws best at the drawn times, sorted and spread."""
        del randomness
        started = time.perf_counter()
        day, length = self.world.clock.timesteps, drawn.length
        times = np.stack([spread(row[:length], day) for row in drawn.values])
        timed = time.perf_counter()
        chosen, _, ways = place_chains(
            np.ascontiguousarray(drawn.values[:, length:]),
            times,
            self.tables(length).windows,
            self._columns,
            self._place_distances,
            self._opens.places,
            self._boxes,
        )
        chained = time.perf_counter()
        return Rebuilt(
            days=days_of_one_length(chosen, times),
            ways={"places": [_WAYS[way] for way in ways.tolist()]},
            seconds={"chain": chained - timed, "places": timed - started + time.perf_counter() - chained},
        )

    def prepare_reconstruction(self, drawn: Drawn) -> int:
        """What `rebuild` works out before it looks for the best chain, by itself: for timing."""
        draws = np.ascontiguousarray(drawn.values[:, drawn.length :])
        windows = self.tables(drawn.length).windows
        return prepare_rows(draws, windows, self._columns, self._boxes, drawn.length)

    def step(self, secret: Outcome, state: State) -> Step | None:
        """Draw number ``index`` of state (length, index, timesteps so far), listed.

        While timesteps are drawn the state has them sorted, and then spread: more is not made of them.
        """
        length, index = state[:2]
        times: tuple[int, ...] = state[2] if len(state) > 2 else ()
        if index == 2 * length + min(self.n, length) - 1:
            return None
        tables = self.tables(length)
        if index < length:
            return time_step(tables, secret, length, index, times)
        window = index - length
        start, size = int(tables.windows.starts[window]), int(tables.windows.lengths[window])
        ngrams = self._ngrams(times[start : start + size])
        return places_step(tables, window, ngrams, secret, (length, index + 1, times))

    def _ngrams(self, times: tuple[int, ...]) -> list[Outcome]:
        if times not in self._listed:
            self._listed[times] = list_places(self._opens, times)
        return self._listed[times]

    def outcomes(self, drawn: Drawn) -> list[tuple[Outcome, ...]]:
        """For each row each timestep, then the places of each window."""
        times = [tuple((step,) for step in row[: drawn.length]) for row in drawn.values.tolist()]
        places = windows_of_rows(self.tables(drawn.length).windows, drawn.values, drawn.length)
        return [first + second for first, second in zip(times, places, strict=True)]

    def facts(self) -> MethodFacts:
        """Settings and promise."""
        options = {"n": self.n, "opening_hours": self.opening_hours}
        return MethodFacts(method=self.name, epsilon=self.epsilon, options=options)
