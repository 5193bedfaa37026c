"""A page for a person alone: their own day beside the one that was shared. PRIVATE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from elsewhere.arrays import Floats
from elsewhere.knowledge.places import Places
from elsewhere.pages.page import PALETTE, cards, chart, page, section, table
from elsewhere.trajectories import SharedTrajectory, Trajectory, Visit
from elsewhere.world.world import World

_KM_OF_A_DEGREE = 111.2
_MANY_PLACES = 5000
_ABOUT_MAP = "Lines join visits in order of time; dots are all places of this world. Both axes are in km."


def own_day_page(
    world: World, day: str, own: Trajectory, shared: SharedTrajectory, *, promise: str, expectation: str
) -> str:
    """HTML of the page. It shows the true day: it is for its owner, on their own device."""
    sides = {"your day": own.visits, "shared day": shared.visits}
    tables = "".join(
        f"<div>{table(['time', name, ''], _rows(world, visits))}</div>" for name, visits in sides.items()
    )
    return page(
        f"PRIVATE: {day}, what was true and what was shared",
        "Your own day is on this page. Keep it to yourself: only the shared day may leave your device.",
        [
            cards({"promise": promise, "your visits": str(len(own)), "shared visits": str(len(shared))}),
            section("What to expect", expectation, ""),
            section(
                "Side by side",
                "Your visits as this world knows them, and what was shared instead.",
                f"<div style='display:flex;gap:3rem;flex-wrap:wrap'>{tables}</div>",
            ),
            section("On the map", _ABOUT_MAP, chart(_map(world, sides), "map")),
        ],
    )


def _rows(world: World, visits: Iterable[Visit]) -> list[list[str]]:
    names = world.places.names
    return [
        [
            world.clock.label(visit.timestep),
            names[place] if (place := world.place_index.get(visit.place_id)) is not None else "no visit",
            "",
        ]
        for visit in visits
    ]


def _map(world: World, sides: dict[str, tuple[Visit, ...]]) -> Any:
    """Both days over all places of the world, in km east and north of its middle."""
    east, north = _km_from_middle(world.places)
    figure = go.Figure()
    # A browser draws only so many dots by itself; drawn by the graphics card they lie above the lines.
    dots = go.Scatter if len(world.places) <= _MANY_PLACES else go.Scattergl
    figure.add_trace(
        dots(
            x=east,
            y=north,
            mode="markers",
            name="places",
            marker={"size": 3, "color": "#c3c8d0"},
            hoverinfo="skip",
        )
    )
    for name, visits, color in zip(sides, sides.values(), ("#5a6270", PALETTE[0]), strict=True):
        rows = [world.place_index[visit.place_id] for visit in visits if visit.place_id in world.place_index]
        figure.add_scatter(
            x=east[rows],
            y=north[rows],
            text=[world.places.names[row] for row in rows],
            mode="lines+markers",
            name=name,
            line={"color": color, "width": 2.5},
            marker={"size": 8},
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_layout(
        height=560,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": -0.14, "yanchor": "top"},
    )
    # A kilometre is as long up as across, however wide the page is.
    plain = {"gridcolor": "#eef0f3", "zeroline": False, "constrain": "domain", "nticks": 8}
    figure.update_xaxes(title="km", **plain)
    figure.update_yaxes(title="km", scaleanchor="x", scaleratio=1, **plain)
    return figure


def _km_from_middle(places: Places) -> tuple[Floats, Floats]:
    """How far east and north; over a city, the earth is flat enough for a picture."""
    latitude, longitude = places.latitudes.mean(), places.longitudes.mean()
    north = (places.latitudes - latitude) * _KM_OF_A_DEGREE
    east = (places.longitudes - longitude) * _KM_OF_A_DEGREE * np.cos(np.radians(latitude))
    return np.round(east, 3), np.round(north, 3)
