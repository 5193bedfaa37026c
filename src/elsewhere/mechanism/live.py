"""Single visits as they happen: one pick for each part of a day, whether there was a visit in it or not.

A day has public parts, of three hours each, say. For each part one of the public candidates is picked: a
place that is open then and can be reached from the place *picked* before, or "nowhere", which is among them
as often as there are places: else hardly anybody would ever be told to be nowhere. Exactly k candidates are
mine, whatever is true (`mechanism.pick`), so a part costs ε' and no more. Something is picked for every part,
so neither the number of reports nor their times tell of the day.

What was picked before is public, so it may decide what the candidates are; by sequential composition, parts
cost the sum of their ε'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from elsewhere.arrays import Bools, Floats, Indices
from elsewhere.compiled import compiled
from elsewhere.days.visits import VisitDistances, visit_distance
from elsewhere.mechanism.codebook import nearest_flags
from elsewhere.mechanism.listing import Outcome, State, Step, scored_step
from elsewhere.mechanism.pick import Odds, odds_of, pick_candidates
from elsewhere.randomness import Randomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.place_world import PlaceWorld, steps_block
from elsewhere.world.world import World


class Picked(NamedTuple):
    """A place that was picked, and for which part of the day."""

    part: int
    place: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiveTables:
    """All that a pick goes by: public, the same for everybody."""

    places: PlaceWorld
    distances: VisitDistances
    steps: int
    """Timesteps in a part of the day."""
    epsilon: Fraction
    """ε' of one part."""

    @property
    def nowhere(self) -> int:
        """The number that stands for no visit: one past the last place."""
        return len(self.places.is_open)

    @property
    def parts(self) -> int:
        return int(self.places.is_open.shape[1]) // self.steps

    def candidates(self, part: int, before: Picked | None) -> Indices:
        """Places that are open in a part of the day and within reach of what was picked before.

        Then nowhere, as often as there are places, and at least once.
        """
        first, last = part * self.steps, (part + 1) * self.steps - 1
        is_candidate = self.places.is_open[:, first : last + 1].any(axis=1)
        if before is not None:
            origin = np.array([before.place], dtype=np.int32)
            everywhere = np.arange(self.nowhere, dtype=np.int32)
            departures = range(before.part * self.steps, (before.part + 1) * self.steps)
            arrivals = [
                t + steps_block(self.places, origin, everywhere, t)[0].astype(np.int64) for t in departures
            ]
            is_candidate = is_candidate & (np.min(arrivals, axis=0) <= last)
        places = np.flatnonzero(is_candidate)
        return np.append(places, np.full(max(1, len(places)), self.nowhere)).astype(np.int32)

    def odds(self, count: int) -> Odds:
        """Of so many candidates the number that are mine: where a pick tells most, M / (e^ε' + 1).

        Never more than half of them, so that a place and nowhere have none in common.
        """
        nearest = max(1, round(count / (math.exp(min(float(self.epsilon), 50.0)) + 1)))
        return odds_of(self.epsilon, nearest, count)

    def mine(self, truth: int, candidates: Indices) -> Bools:
        """The candidates nearest to a true place, or to nowhere; ties go to the first."""
        costs = _costs(self.distances, truth, candidates, self.nowhere)
        return nearest_flags(costs, self.odds(len(candidates)).nearest)


@compiled
def _costs(distances: VisitDistances, truth: int, candidates: Indices, nowhere: int) -> Floats:
    """How far each candidate is from what is true: no place is near nowhere, and nowhere is near no place."""
    costs = np.empty(len(candidates))
    somewhere = min(truth, nowhere - 1)  # the work is the same whatever is true
    for i in range(len(candidates)):
        place = min(candidates[i], nowhere - 1)
        costs[i] = visit_distance(distances, somewhere, 0, place, 0)
        if (truth == nowhere) != (candidates[i] == nowhere):
            costs[i] = np.inf
    return costs


class PartsOfDay:
    """What the draws see of a day: for each part its first visit to a known place, or nowhere."""

    def __init__(self, world: World, steps: int) -> None:
        self._rows = world.place_index
        self._steps = steps
        self._parts = world.clock.timesteps // steps

    def __call__(self, trajectory: Trajectory) -> Outcome:
        """A place, or one past the last, for each part."""
        nowhere = len(self._rows)
        found = [nowhere] * self._parts
        for place_id, timestep in reversed(trajectory.visits):
            part = min(timestep // self._steps, self._parts - 1)
            found[part] = self._rows.get(place_id, found[part])
        return tuple(found)


def pick_place(
    tables: LiveTables, truth: int, part: int, before: Picked | None, randomness: Randomness
) -> int:
    """The place picked for a part of the day, or nowhere; the same work whatever is true (R15)."""
    candidates = tables.candidates(part, before)
    flags = tables.mine(truth, candidates)
    picked, _ = pick_candidates(flags[None, :], tables.odds(len(candidates)), randomness, constant_work=True)
    return int(candidates[picked[0, 0]])


def part_step(tables: LiveTables, secret: Outcome, state: State | None) -> Step | None:
    """The next pick, listed, when ``secret`` is true; states are (part, what was picked before)."""
    part, before = (0, None) if state is None else state
    if part == tables.parts:
        return None
    candidates = tables.candidates(part, before)
    flags = tables.mine(secret[part], candidates)
    after = [
        (part + 1, before if place == tables.nowhere else Picked(part, place))
        for place in candidates.tolist()
    ]
    return scored_step(
        [(index,) for index in range(len(candidates))],  # nowhere is there many times over
        [Fraction(1, len(candidates))] * len(candidates),
        [0 if is_mine else 1 for is_mine in flags.tolist()],
        tables.odds(len(candidates)).coin,
        after,
    )
