"""Two maps of the same city beside each other, by the hour: what is true, and what was shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from elsewhere.arrays import Floats
from elsewhere.knowledge.clock import Clock
from elsewhere.pages.page import MAP_SCRIPTS
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.basemap import box_of
from elsewhere.world.world import World

SIDE_SCRIPTS = (*MAP_SCRIPTS, "scripts/sides.js")
HOURS = 24
_MOST_CIRCLES = 400
_DIGITS = 6

Days = Sequence[Trajectory] | Sequence[SharedTrajectory]

SIDES = """
<noscript><p class="verdict">The maps need JavaScript. Tables and charts below do without.</p></noscript>
<div class="controls" id="people"></div>
<div class="controls"><button type="button" id="play" aria-pressed="false">Play the day</button>
<label for="hour">Hour</label><input type="range" id="hour" min="0" max="23" step="1">
<output id="hour-words" for="hour" aria-live="polite"></output></div>
<p class="note" id="no-map" hidden>This browser cannot draw maps (no WebGL): these are plain pictures.</p>
<p class="note" id="plain-map" hidden>
There is no base map: this world was not built from an OpenStreetMap extract.</p>
<div class="beside">
<div><h3 id="left-title"></h3><div class="map" id="left"></div><p class="note" id="left-words"></p></div>
<div><h3 id="right-title"></h3><div class="map" id="right"></div><p class="note" id="right-words"></p></div>
</div>
"""


def visits_by_hour(world: World, days: Days) -> list[Counter[int]]:
    """For each hour, how many visits each place has."""
    hours: list[Counter[int]] = [Counter() for _ in range(HOURS)]
    for day in days:
        for place_id, timestep in day.visits:
            # A true place that the world does not have is on no map.
            if (place := world.place_index.get(place_id)) is not None:
                hours[world.clock.hour_of(min(timestep, world.clock.timesteps - 1))][place] += 1
    return hours


def sides_data(
    world: World, titles: tuple[str, str], sides: tuple[Days, Days], people: Sequence[tuple[str, int]]
) -> dict[str, Any]:
    """What the script draws; ``people`` are names, and which day of each side is theirs."""
    both = [visits_by_hour(world, days) for days in sides]
    busiest = [[_busiest(hour) for hour in side] for side in both]
    used = sorted({place for side in busiest for hour in side for place, _ in hour})
    numbers = {place: number for number, place in enumerate(used)}
    places = world.places
    return {
        "box": box_of(places),
        "titles": titles,
        "places": [
            [*_position(places.longitudes[place], places.latitudes[place]), places.names[place]]
            for place in used
        ],
        "sides": [
            [[value for place, visits in hour for value in (numbers[place], visits)] for hour in side]
            for side in busiest
        ],
        "people": [
            {"name": name, "days": [_stops(world, days[number]) for days in sides]} for name, number in people
        ],
    }


def _busiest(hour: Counter[int]) -> list[tuple[int, int]]:
    """So that a page of a large city stays small."""
    return hour.most_common(_MOST_CIRCLES)


def _stops(world: World, day: Trajectory | SharedTrajectory) -> list[list[Any]]:
    found = []
    for place_id, timestep in day.visits:
        if (place := world.place_index.get(place_id)) is not None:
            when = min(timestep, world.clock.timesteps - 1)
            where = _position(world.places.longitudes[place], world.places.latitudes[place])
            found.append([*where, _hour(world.clock, when), label_of(world, place, when)])
    return found


def label_of(world: World, place: int, timestep: int) -> str:
    """When, and where."""
    return f"{world.clock.label(timestep)} {world.places.names[place] or world.places.ids[place]}"


def _hour(clock: Clock, timestep: int) -> float:
    return round(timestep * clock.timestep_minutes / 60, 2)


def _position(longitude: float | Floats, latitude: float | Floats) -> list[float]:
    return [round(float(longitude), _DIGITS), round(float(latitude), _DIGITS)]
