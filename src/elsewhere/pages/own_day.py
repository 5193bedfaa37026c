"""A page for a person alone: their own day beside the one that was shared. PRIVATE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from elsewhere.pages.page import PALETTE, cards, chart, page, section, table
from elsewhere.trajectories import SharedTrajectory, Trajectory, Visit
from elsewhere.world.world import World


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
            section("On the map", "Lines join visits in order of time.", chart(_map(world, sides), "map")),
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
    figure = go.Figure()
    for name, visits, color in zip(sides, sides.values(), ("#9498a0", PALETTE[0]), strict=True):
        rows = [world.place_index[visit.place_id] for visit in visits if visit.place_id in world.place_index]
        figure.add_scatter(
            x=world.places.longitudes[rows],
            y=world.places.latitudes[rows],
            text=[world.places.names[row] for row in rows],
            mode="lines+markers",
            name=name,
            line={"color": color, "width": 2.5},
            marker={"size": 8},
            hovertemplate="%{text}<extra></extra>",
        )
    figure.update_layout(height=480, margin={"l": 10, "r": 10, "t": 10, "b": 10})
    figure.update_xaxes(showgrid=False, zeroline=False, showticklabels=False)
    figure.update_yaxes(showgrid=False, zeroline=False, showticklabels=False)
    return figure
