"""The paper's campus: buildings of nine categories, and people who spend a day among them.

The buildings are made up, or are those of the University of British Columbia if its file is given.
The days follow the paper's recipe, with its three popular events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elsewhere.days.recipes import CampusRecipe, Event
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Place, Places, build_places
from elsewhere.knowledge.travel import straight_line
from elsewhere.progress import Progress
from elsewhere.randomness import seeded_generator
from elsewhere.trajectories import Trajectory

SPEED_KMH = 4.0
TIMEZONE = "America/Vancouver"
RESIDENCE_A = "Residence A"
STADIUM_A = "Stadium A"

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Campus:
    """Everything that makes up the data set."""

    tree: CategoryTree
    places: Places
    clock: Clock
    trajectories: list[Trajectory]


def campus_tree() -> CategoryTree:
    """Nine categories in four groups, with the opening hours we set by hand.

    Deviation: campus-categories — the paper lists neither the nine nor what they have in common.
    """
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
    progress: Progress,
) -> Campus:
    """Days of ``people`` on a campus; those of the events come first in line, then all are shuffled.

    With fewer people than the events need, each event gets its share.
    """
    tree = campus_tree()
    clock = Clock(timezone=TIMEZONE)
    places = build_places(buildings, tree)
    is_open, travel = open_table(places.effective_hours(tree), clock), straight_line(places, clock, SPEED_KMH)
    recipe = CampusRecipe(places, is_open, travel, clock, seed=seed)
    needed = sum(event.people for event in events)
    scale = min(1.0, people / needed) if needed else 0.0
    guests = [event for event in events for _ in range(int(event.people * scale))]
    trajectories = []
    for number in range(people):
        visits = recipe.day(guests[number] if number < len(guests) else None)
        trajectories.append(Trajectory((places.ids[place], timestep) for place, timestep in visits))
        progress(number + 1, people)
    order = recipe.generator.permutation(people)
    return Campus(tree=tree, places=places, clock=clock, trajectories=[trajectories[i] for i in order])
