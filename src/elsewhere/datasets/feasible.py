"""Days that keep to reachability and opening hours, for evaluation only: sharing drops nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from elsewhere.datasets.bundle import Dataset, travel_of
from elsewhere.device.matching import Person
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import build_places
from elsewhere.knowledge.travel import is_reachable

_STEPS = ("feasible only: a step is out of reach", "feasible only: a place is closed", "feasible only: kept")


def only_feasible(dataset: Dataset) -> Iterable[Person]:
    """The days of a data set that its world calls feasible; counts why the others are not."""
    days, places = dataset.days, build_places(dataset.places, dataset.tree)
    clock = dataset.clock
    is_open = open_table(places.effective_hours(dataset.tree), clock)
    travel = travel_of(dataset, places)
    row_of = {place_id: row for row, place_id in enumerate(places.ids)}

    def kept() -> Iterator[Person]:
        counts = dict.fromkeys(_STEPS, 0)
        for person in days:
            visits = [(row_of[place_id], timestep) for place_id, timestep in person.trajectory]
            if not all(
                is_reachable(travel, clock, origin=p, departure=t, destination=q, arrival=u)
                for (p, t), (q, u) in pairwise(visits)
            ):
                counts[_STEPS[0]] += 1
            elif not all(is_open[visit] for visit in visits):
                counts[_STEPS[1]] += 1
            else:
                counts[_STEPS[2]] += 1
                yield person
        dataset.steps |= counts

    return kept()
