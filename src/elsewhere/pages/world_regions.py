"""Regions and reach of a world, small enough for a page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import shapely

from elsewhere.knowledge.travel import StraightLine, profile_at
from elsewhere.world.regions import space_level_names
from elsewhere.world.world import World

_MOST_REGIONS = 3000
_MOST_PLACES = 3000
"""So many places have reach on a page: its table grows with their square."""
_MINUTES = 30
_NOON = 12 * 60
_MARGIN = 1e-4
_NAMES = 4


def region_levels(world: World) -> list[dict[str, Any]]:
    """For each level of space its regions: outline, hours, and what is in them."""
    regions, clock = world.regions, world.clock
    levels = []
    rings: dict[bytes, list[list[float]]] = {}
    for level, name in enumerate(space_level_names(world.space_labels)):
        rows = np.flatnonzero(regions.space_levels == level)
        if not len(rows):
            continue
        shown = []
        for row in rows[:_MOST_REGIONS].tolist():
            members = regions.places_of(row)
            key = members.tobytes()
            if key not in rings:
                rings[key] = _ring(world, members)
            start, end = int(regions.starts[row]), int(regions.ends[row])
            minutes = clock.timestep_minutes
            shown.append(
                {
                    "ring": rings[key],
                    "from": round(start * minutes / 60, 2),
                    "to": round(end * minutes / 60, 2),
                    "words": _words(world, row),
                }
            )
        more = max(len(rows) - _MOST_REGIONS, 0)
        levels.append({"name": f"{name} ({len(rows):,})", "regions": shown, "more": more})
    return levels


def _ring(world: World, members: Any) -> list[list[float]]:
    points = np.column_stack([world.places.longitudes[members], world.places.latitudes[members]])
    hull = shapely.MultiPoint(points).convex_hull.buffer(_MARGIN, quad_segs=2)
    return [[round(x, 5), round(y, 5)] for x, y in shapely.get_coordinates(hull).tolist()]


def _words(world: World, row: int) -> str:
    """What is in a region: kind, hours, and the names of a few places."""
    regions, clock = world.regions, world.clock
    node = int(regions.nodes[row])
    members = regions.places_of(row)
    names = [world.places.names[place] for place in members[:_NAMES].tolist()]
    rest = f" and {len(members) - _NAMES:,} more" if len(members) > _NAMES else ""
    kind = world.tree.names[node] or world.tree.ids[node]
    start, end = int(regions.starts[row]), int(regions.ends[row])
    hours = f"{clock.label(start)}–{clock.label(end if end <= clock.timesteps else end - clock.timesteps)}"
    return f"{kind}, {hours}: {', '.join(names)}{rest}"


def reach_data(world: World) -> dict[str, Any]:
    """Where one gets within half an hour from each place when leaving at noon, as a table of bits.

    Of a world with many places travel in straight lines is told by how far that is, and other travel not.
    """
    count, travel = len(world.places), world.travel
    steps = _MINUTES // world.clock.timestep_minutes
    profile = profile_at(travel, world.clock, _NOON // world.clock.timestep_minutes)
    if count <= _MOST_PLACES:
        every = np.arange(count)
        rows = [travel.steps([place], every, profile) <= max(steps, 1) for place in range(count)]
        bits = np.packbits(np.stack(rows), axis=1, bitorder="little")
        return {"bits": base64.b64encode(bits.tobytes()).decode(), "width": bits.shape[1]}
    if isinstance(travel, StraightLine):
        far = travel.thresholds[travel.steps_at[profile][:-1] <= max(steps, 1)]
        chord = float(np.sqrt(far.max())) if len(far) else 0.0
        return {"km": round(2 * 6371.0088 * float(np.arcsin(min(chord / 2, 1.0))), 3)}
    return {}
