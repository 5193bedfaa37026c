"""Weighted made-up days that agree with what people answered: they answer any later question.

No day of a population is anybody's: all are days of the public prior. Only their weights were learnt.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.days.visits import Days, shared_days
from elsewhere.errors import InputError
from elsewhere.estimates.support import incidence
from elsewhere.randomness import Generator
from elsewhere.survey.things import Things
from elsewhere.trajectories import SharedTrajectory
from elsewhere.world.kinds import first_categories
from elsewhere.world.world import World

_LEAST_WEIGHT = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population:
    """Days with their weights, which add up to 1."""

    world: World
    days: Days
    weights: Floats

    def shares(self, things: Things) -> Floats:
        """People per person who have each thing: any question, also one that nobody was asked."""
        return np.asarray(incidence(things.of(self.days), things.count).T @ self.weights)

    def hours(self) -> Floats:
        """Visits of each hour, of all visits."""
        is_there = self.days.places >= 0
        hour = np.where(is_there, self.days.times, 0) * self.world.clock.timestep_minutes // 60
        weights = np.broadcast_to(self.weights[:, None], hour.shape)
        found = np.bincount(hour[is_there], weights=weights[is_there], minlength=24)
        return np.asarray(found / found.sum())

    def chains(self, visits: int, level: int = 1, most: int = 20) -> list[tuple[tuple[str, ...], float]]:
        """The most popular chains of kinds of place, two or three in a row; people per person with each."""
        tree = self.world.tree
        kinds = np.asarray(tree.ancestors_at(level))[first_categories(self.world)]
        found: Counter[tuple[int, ...]] = Counter()
        for (places, _), weight in zip(self.days.rows(), self.weights.tolist(), strict=True):
            kind = kinds[places].tolist()
            chains = pairwise(kind) if visits == 2 else zip(kind, kind[1:], kind[2:], strict=False)
            for chain in set(chains):
                found[chain] += weight
        return [
            (tuple(tree.names[node] or tree.ids[node] for node in chain), share)
            for chain, share in found.most_common(most)
        ]

    def resampled(self, count: int, generator: Generator) -> Population:
        """A population of ``count`` people who weigh the same, in any order.

        Systematic resampling: a day of weight w is there ⌊count · w⌋ or ⌈count · w⌉ times.
        """
        if type(count) is not int or count < 1:
            raise InputError("people", f"found {count!r}, must be a whole number, 1 or more")
        marks = (np.arange(count) + generator.random()) / count
        rows = np.searchsorted(np.cumsum(self.weights), marks, side="right")
        # Sums of weights end just below 1; and whoever takes the first hundred people wants any hundred.
        chosen = generator.permutation(np.minimum(rows, len(self.weights) - 1))
        days = Days(*(column[chosen] for column in self.days))
        return Population(world=self.world, days=days, weights=np.full(count, 1 / count))

    def draw(self, count: int, generator: Generator) -> list[SharedTrajectory]:
        """``count`` made-up people, a day each, for every measure and page that takes days.

        Parameters
        ----------
        count
            How many people.
        generator
            Where chance comes from. Nothing here is private: any seed will do.

        Returns
        -------
        list of SharedTrajectory
            As often as weights say, give or take one.

        Raises
        ------
        InputError
            If ``count`` is not a whole number above 0.

        Examples
        --------
        >>> from elsewhere.randomness import seeded_generator
        >>> population = ew.estimate(survey, "reports.parquet").population
        >>> len(population.draw(1000, seeded_generator(1)))
        1000
        """
        return shared_days(self.world, self.resampled(count, generator).days)


def population_of(world: World, days: Days, weights: Floats) -> Population:
    """A population without the days that hardly anybody has."""
    kept = weights > _LEAST_WEIGHT / len(weights)
    return Population(
        world=world,
        days=Days(*(column[kept] for column in days)),
        weights=np.asarray(weights[kept] / weights[kept].sum()),
    )
