"""Days that keep to reachability and opening hours, for evaluation only: sharing drops nobody."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise

from elsewhere.datasets.bundle import Dataset, travel_of
from elsewhere.device.matching import Person
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import build_places
from elsewhere.knowledge.travel import is_reachable

FEASIBLE_ONLY = "feasible only"
_REASONS = ("a step is out of reach", "a place is closed", "kept")


def only_feasible(dataset: Dataset, told: str = FEASIBLE_ONLY) -> Generator[Person]:
    """The days of a data set that its world calls feasible; counts why the others are not.

    What was counted stands in the data set's steps once nobody asks for another day; ``told`` comes first in
    the name of each count.
    """
    days, places = dataset.days, build_places(dataset.places, dataset.tree)
    clock = dataset.clock
    is_open = open_table(places.effective_hours(dataset.tree), clock)
    travel = travel_of(dataset, places)
    row_of = {place_id: row for row, place_id in enumerate(places.ids)}

    def kept() -> Generator[Person]:
        far, closed, feasible = names = [f"{told}: {reason}" for reason in _REASONS]
        counts = dict.fromkeys(names, 0)
        try:
            for person in days:
                visits = [(row_of[place_id], timestep) for place_id, timestep in person.trajectory]
                if not all(
                    is_reachable(travel, clock, origin=p, departure=t, destination=q, arrival=u)
                    for (p, t), (q, u) in pairwise(visits)
                ):
                    counts[far] += 1
                elif not all(is_open[visit] for visit in visits):
                    counts[closed] += 1
                else:
                    counts[feasible] += 1
                    yield person
        finally:  # whoever has enough asks for no more
            dataset.steps |= counts

    return kept()
