"""The paper's campus: buildings of nine categories, and people who spend a day among them.

The buildings are made up, or are those of the University of British Columbia if its file is given.
The days follow the paper's recipe, with its three popular events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from elsewhere.arrays import Bools, Steps
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Place, Places, build_places
from elsewhere.knowledge.travel import straight_line
from elsewhere.randomness import seeded_generator
from elsewhere.trajectories import Trajectory

SPEED_KMH = 4.0
TIMEZONE = "America/Vancouver"
RESIDENCE_A = "Residence A"
STADIUM_A = "Stadium A"

_LENGTHS = (3, 8)
_START_HOURS = (6, 22)
_LONGEST_GAP_MINUTES = 120
_EVENT_ACADEMIC_BUILDINGS = 10

_CATEGORIES = (
    # id, name, parent, default opening hours
    ("study", "Study and work", "", ""),
    ("living", "Living", "", ""),
    ("leisure", "Leisure", "", ""),
    ("support", "Support", "", ""),
    ("academic", "Academic building", "study", "06:00-24:00"),
    ("research", "Research building", "study", "24/7"),
    ("administrative", "Administrative building", "study", "Mo-Fr 07:00-19:00"),
    ("student-residence", "Student residence", "living", "24/7"),
    ("housing", "Housing", "living", "24/7"),
    ("athletics", "Athletics", "leisure", "06:00-23:00"),
    ("commons", "Commons", "leisure", "07:00-24:00"),
    ("services", "Services", "support", "06:00-22:00"),
    ("parking", "Parking and other", "support", "24/7"),
)

# Share of the buildings, where they gather (km east and north of the middle) and how widely.
_LAYOUT = {
    "academic": (60, 0.0, 0.2, 0.35),
    "research": (20, -0.3, -0.5, 0.3),
    "administrative": (12, 0.2, 0.6, 0.25),
    "student-residence": (50, -0.7, 0.7, 0.35),
    "housing": (48, 0.9, -0.9, 0.4),
    "athletics": (12, 0.6, -0.3, 0.25),
    "commons": (8, 0.1, 0.1, 0.3),
    "services": (36, 0.2, -0.4, 0.5),
    "parking": (16, 0.4, 0.3, 0.6),
}
_MIDDLE = (49.262, -123.247)
_KM_PER_DEGREE = 111.195


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """People who are all at one of some places at a time of the day."""

    people: int
    place_ids: tuple[str, ...]
    from_hour: int
    to_hour: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Campus:
    """Everything that makes up the data set."""

    tree: CategoryTree
    places: Places
    clock: Clock
    trajectories: list[Trajectory]


def campus_tree() -> CategoryTree:
    """Nine categories in four groups, with the opening hours we set by hand."""
    ids, names, parents, hours = zip(*_CATEGORIES, strict=True)
    return build_tree(ids, names, parents, hours)


def generated_buildings(seed: int) -> list[Place]:
    """A made-up campus the size of the paper's: 262 buildings, a core and its neighbourhoods."""
    generator = seeded_generator(seed)
    rows = []
    for category, (count, east, north, spread) in _LAYOUT.items():
        offsets = generator.normal((east, north), spread, size=(count, 2))
        for number, (x, y) in enumerate(offsets, start=1):
            latitude = _MIDDLE[0] + y / _KM_PER_DEGREE
            longitude = _MIDDLE[1] + x / (_KM_PER_DEGREE * np.cos(np.radians(_MIDDLE[0])))
            name = f"{category.replace('-', ' ').capitalize()} {number}"
            special = {("student-residence", 1): RESIDENCE_A, ("athletics", 1): STADIUM_A}
            rows.append(
                Place(
                    place_id=f"{category}-{number:02d}",
                    name=special.get((category, number), name),
                    latitude=round(float(latitude), 6),
                    longitude=round(float(longitude), 6),
                    category_ids=(category,),
                )
            )
    return rows


def campus_events(places: Sequence[Place], residence_id: str, stadium_id: str) -> list[Event]:
    """The paper's three events: a residence in the evening, a stadium after noon, lectures in the morning.

    Paper: section 6.1.3 (sss:synthetic-data-campus).
    """
    academic = sorted(row.place_id for row in places if "academic" in row.category_ids)
    return [
        Event(people=500, place_ids=(residence_id,), from_hour=20, to_hour=22),
        Event(people=1000, place_ids=(stadium_id,), from_hour=14, to_hour=16),
        Event(people=2000, place_ids=tuple(academic[:_EVENT_ACADEMIC_BUILDINGS]), from_hour=9, to_hour=11),
    ]


def build_campus(
    buildings: Sequence[Place],
    events: Sequence[Event],
    *,
    people: int,
    seed: int,
    progress: Callable[[int, int], None],
) -> Campus:
    """Days of ``people`` on a campus; those of the events come first in line, then all are shuffled.

    With fewer people than the events need, each event gets its share.
    """
    tree = campus_tree()
    clock = Clock(timezone=TIMEZONE)
    places = build_places(buildings, tree)
    recipe = _Recipe(places, tree, clock, seed)
    needed = sum(event.people for event in events)
    scale = min(1.0, people / needed) if needed else 0.0
    guests = [event for event in events for _ in range(int(event.people * scale))]
    trajectories = []
    for number in range(people):
        trajectories.append(recipe.day(guests[number] if number < len(guests) else None))
        progress(number + 1, people)
    order = recipe.generator.permutation(people)
    return Campus(tree=tree, places=places, clock=clock, trajectories=[trajectories[i] for i in order])


class _Recipe:
    """The paper's way to make up a day.

    Paper: section 6.1.3 (sss:synthetic-data-campus).
    Deviation: campus-day — a day that would pass midnight, or finds no open place within reach, is
    drawn again with the same length; the next place is never the one before.
    """

    def __init__(self, places: Places, tree: CategoryTree, clock: Clock, seed: int) -> None:
        self.generator = seeded_generator(seed)
        self._places = places
        self._clock = clock
        self._is_open: Bools = open_table(places.effective_hours(tree), clock)
        everywhere = np.arange(len(places))
        travel = straight_line(places, clock, SPEED_KMH)
        self._steps: Steps = travel.steps(everywhere[:, None], everywhere[None, :], 0)
        self._category = places.category_nodes[places.category_offsets[:-1]]
        self._row_of = {place_id: row for row, place_id in enumerate(places.ids)}
        self._hour = 60 // clock.timestep_minutes

    def day(self, event: Event | None) -> Trajectory:
        length = int(self.generator.integers(_LENGTHS[0], _LENGTHS[1], endpoint=True))
        while True:
            visits = self._attempt(length, event)
            if visits is not None:
                return Trajectory((self._places.ids[place], timestep) for place, timestep in visits)

    def _attempt(self, length: int, event: Event | None) -> list[tuple[int, int]] | None:
        longest = _LONGEST_GAP_MINUTES // self._clock.timestep_minutes
        gaps = self.generator.integers(1, longest, size=length - 1, endpoint=True)
        anchor = 0 if event is None else int(self.generator.integers(length))
        hours = _START_HOURS if event is None else (event.from_hour, event.to_hour)
        time = int(self.generator.integers(hours[0] * self._hour, hours[1] * self._hour))
        times = time + np.concatenate([[0], np.cumsum(gaps)]) - int(gaps[:anchor].sum())
        starts_early = times[0] < _START_HOURS[0] * self._hour or times[0] >= _START_HOURS[1] * self._hour
        if starts_early or times[-1] >= self._clock.timesteps:
            return None
        place = self._first_place(time) if event is None else self._event_place(event)
        if not self._is_open[place, time]:
            return None
        return self._spread(place, anchor, times.tolist())

    def _spread(self, place: int, anchor: int, times: list[int]) -> list[tuple[int, int]] | None:
        """Places before and after the anchor, each open and within reach of its neighbour."""
        chosen = {anchor: place}
        for i in [*range(anchor + 1, len(times)), *range(anchor - 1, -1, -1)]:
            neighbour = i - 1 if i > anchor else i + 1
            gap = abs(times[i] - times[neighbour])
            # Straight lines are symmetric, so one row of steps serves both directions.
            options = (self._steps[chosen[neighbour]] <= gap) & self._is_open[:, times[i]]
            options[chosen[neighbour]] = False
            candidates = np.flatnonzero(options)
            if not len(candidates):
                return None
            chosen[i] = int(self.generator.choice(candidates))
        return [(chosen[i], time) for i, time in enumerate(times)]

    def _first_place(self, time: int) -> int:
        """A category at random among those with an open building, then one of its open buildings."""
        open_places = np.flatnonzero(self._is_open[:, time])
        category = self.generator.choice(np.unique(self._category[open_places]))
        return int(self.generator.choice(open_places[self._category[open_places] == category]))

    def _event_place(self, event: Event) -> int:
        return self._row_of[event.place_ids[int(self.generator.integers(len(event.place_ids)))]]
