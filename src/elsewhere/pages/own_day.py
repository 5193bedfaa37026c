"""A page for a person alone: their own day beside the one that was shared. PRIVATE."""

from __future__ import annotations

from collections.abc import Iterable

from elsewhere.pages.page import cards, page, section, table, verdict
from elsewhere.pages.sides import SIDE_SCRIPTS, SIDES, sides_data
from elsewhere.trajectories import SharedTrajectory, Trajectory, Visit
from elsewhere.world.world import World

_PRIVATE = "Your own day is on this page. Keep it to yourself: only the shared day may leave your device."
_ABOUT_MAP = "Lines join visits in order of time. What is yet to come at the chosen hour is pale."


def own_day_page(
    world: World,
    day: str,
    own: Trajectory,
    shared: SharedTrajectory,
    *,
    promise: str,
    expectation: str,
    basemap: bytes | None = None,
) -> str:
    """HTML of the page. It shows the true day: it is for its owner, on their own device."""
    titles = ("Your day", "The shared day")
    sides = dict(zip(titles, (own.visits, shared.visits), strict=True))
    tables = "".join(
        f"<div><h3>{name}</h3>{table(['time', 'where'], _rows(world, visits), words=(0, 1))}</div>"
        for name, visits in sides.items()
    )
    return page(
        f"PRIVATE: {day}, what was true and what was shared",
        "Left: your day. Right: what was shared instead.",
        [
            verdict(_PRIVATE),
            cards({"promise": promise, "your visits": str(len(own)), "shared visits": str(len(shared))}),
            section("What it tells of you", expectation, ""),
            section("On the map", _ABOUT_MAP, SIDES),
            section(
                "Visit by visit",
                "Your visits as this world knows them, and what was shared instead.",
                f"<div class='beside'>{tables}</div>",
            ),
        ],
        scripts=SIDE_SCRIPTS,
        data={"sides": sides_data(world, titles, ([own], [shared]), [("your day", 0)])},
        blobs=None if basemap is None else {"basemap": basemap},
    )


def _rows(world: World, visits: Iterable[Visit]) -> list[list[str]]:
    names = world.places.names
    return [
        [
            world.clock.label(visit.timestep),
            names[place] if (place := world.place_index.get(visit.place_id)) is not None else "no visit",
        ]
        for visit in visits
    ]
