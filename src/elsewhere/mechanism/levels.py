"""Privacy levels: visits to sensitive places are told apart from ordinary ones by less than ε.

A public list gives some places (hospitals, places of worship, homes) a level, an ε of their own. Each of them
has a public stand-in: the nearest place that is not on the list. Before anything is drawn, one coin for the
whole day decides which visits may be seen: a visit at level ε' stays with a chance of at most

    (e^ε' − 1) / (e^ε − 1),

and is otherwise moved to its stand-in. The coin is one number for all visits of the day, so whoever stays at
one level also stays at every higher one.

What is proven: take any two days that become the same when all visits at levels up to ε' are moved to their
stand-ins. With a chance of 1 − κ, κ being the chance above, both are that same day before the draw. So the
chances of an output are (1 − κ) A + κ B and (1 − κ) A + κ B', where A, B and B' differ by factors of at most
e^ε. Their ratio is largest for B' = A and B = e^ε A: 1 + κ (e^ε − 1) = e^ε'. Any other two days differ by a
factor of at most e^ε, as ever: what is done to a day before the draw costs nothing.
"""

from __future__ import annotations

import decimal
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np

from elsewhere.arrays import Words
from elsewhere.errors import InputError
from elsewhere.knowledge.sphere import chords_squared
from elsewhere.mechanism.budget import short_fraction
from elsewhere.randomness import Randomness
from elsewhere.trajectories import Trajectories, Trajectory, Visit
from elsewhere.world.world import World

COIN_BITS = 62
_DIGITS = decimal.Context(prec=60)


@lru_cache(maxsize=1000)
def staying_chance(level: Fraction, epsilon: Fraction) -> int:
    """How many of 2⁶² values of the coin let a visit at ``level`` stay; rounded to the safe side."""
    if level >= epsilon:
        return 1 << COIN_BITS
    with decimal.localcontext(_DIGITS):
        own, whole = (Decimal(e.numerator) / Decimal(e.denominator) for e in (level, epsilon))
        exact = (own.exp() - 1) / (whole.exp() - 1) * (1 << COIN_BITS)
        # 60 digits are some forty more than the bits: one less is less than exact.
        return max(0, int(exact) - 1)


def checked_levels(levels: Mapping[str, float | str | Fraction]) -> dict[str, Fraction]:
    """Levels as exact fractions, 0 or more."""
    if not isinstance(levels, Mapping):
        raise InputError("levels", "must be an ε for each place id: `read_levels` reads them from a file")
    found = {}
    for place_id, value in levels.items():
        try:
            found[place_id] = short_fraction(str(value))
        except (ValueError, ZeroDivisionError):
            raise InputError("levels", f"found {value!r} for {place_id!r}, must be a number") from None
        if found[place_id] < 0:
            raise InputError("levels", f"found {value!r} for {place_id!r}, must be 0 or more")
    return found


class Levels:
    """Which places are sensitive, and where each stands in: public, the same for everybody.

    Parameters
    ----------
    world
        The public world.
    levels
        An ε for each sensitive place; places that are not named are as protected as the method says.
    """

    def __init__(self, world: World, levels: Mapping[str, Fraction]) -> None:
        unknown = [place_id for place_id in levels if place_id not in world.place_index]
        if unknown:
            raise InputError("levels", f"found {unknown[0]!r}, which is no place of this world")
        if not levels:
            raise InputError("levels", "no place has one: the list is empty")
        if len(levels) == len(world.places):
            raise InputError("levels", "every place has one: some must be left for the others to be moved to")
        self._world = world
        self.of_place = dict(levels)
        self.stand_ins = _stand_ins(world, list(levels))

    def in_words(self) -> str:
        """How many places have which level, and which list that is, for the metadata of a file."""
        counts = sorted(Counter(self.of_place.values()).items())
        pairs = sorted((place_id, str(level)) for place_id, level in self.of_place.items())
        name = hashlib.sha256(json.dumps(pairs).encode()).hexdigest()[:12]
        return ", ".join(f"ε = {level} for {count} places" for level, count in counts) + f" (list {name})"

    def seen(self, trajectory: Trajectory, epsilon: Fraction, coin: int) -> Trajectory:
        """The day as the draws see it, for a coin below 2⁶²: some visits moved to their stand-ins."""
        stays = {level: coin < staying_chance(level, epsilon) for level in set(self.of_place.values())}

        def moved(visit: Visit) -> Visit:
            level = self.of_place.get(visit.place_id)
            if level is None or stays[level]:
                return visit
            return Visit(self.stand_ins[visit.place_id], visit.timestep)

        return Trajectory(map(moved, trajectory))

    def draw(self, trajectory: Trajectory, epsilon: Fraction, randomness: Randomness) -> Trajectory:
        """The day as the draws see it, by a coin for this day alone."""
        return self.seen(trajectory, epsilon, int(_coins(1, randomness)[0]))

    def draw_many(
        self, days: Trajectories, epsilon_of: Callable[[int], Fraction], randomness: Randomness
    ) -> Trajectories:
        """The same of many days, each by a coin of its own; ``epsilon_of`` says what a length costs."""
        rows, lengths = self._world.place_index, sorted(set(days.lengths.tolist()))
        coins = _coins(len(days), randomness)
        level_of = np.full(len(rows) + 1, -1)
        stand_in_of = np.arange(len(rows) + 1, dtype=np.int32)
        every = sorted(set(self.of_place.values()))
        for place_id, level in self.of_place.items():
            level_of[rows[place_id]] = every.index(level)
            stand_in_of[rows[place_id]] = rows[self.stand_ins[place_id]]
        stays = np.array(
            [[staying_chance(level, epsilon_of(length)) for level in every] for length in lengths],
            dtype=np.uint64,
        )
        owners, levels = days.owners, level_of[days.places]
        chances = stays[np.searchsorted(lengths, days.lengths)][owners, levels]
        is_moved = (levels >= 0) & (coins[owners] >= chances)
        return replace(days, places=np.where(is_moved, stand_in_of[days.places], days.places))


def _coins(days: int, randomness: Randomness) -> Words:
    """A whole number below 2⁶² for each day."""
    return np.asarray(randomness.words_for_rows(days, 1)[:, 0] >> np.uint64(64 - COIN_BITS))


def _stand_ins(world: World, listed: list[str]) -> dict[str, str]:
    """The nearest place that is not listed; of several the first in the order of the world's ids."""
    ids, rows = world.places.ids, [world.place_index[place_id] for place_id in listed]
    others = np.setdiff1d(np.arange(len(ids)), rows)
    vectors = world.places.vectors
    return {
        place_id: ids[others[int(np.argmin(chords_squared(vectors[row][None, :], vectors[others])))]]
        for place_id, row in zip(listed, rows, strict=True)
    }
