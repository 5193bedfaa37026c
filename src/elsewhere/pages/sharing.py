"""A page that shows true and shared days side by side, hour by hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from elsewhere.pages.page import PALETTE, cards, chart, hour_slider, page, section, table
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_DAY_HOURS = 24
_PEOPLE_SHOWN = 6


def sharing_page(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    *,
    promise: str,
    errors: dict[str, float],
    nulls: dict[str, float],
    counts: dict[str, int],
) -> str:
    """HTML of the page. It shows true days: for made-up people, or on a person's own device."""
    smoothed = sum(count for what, count in counts.items() if what.startswith("places: smoothed"))
    numbers = {
        "trajectories": f"{len(real):,}",
        "visits": f"{sum(map(len, real)):,}",
        "promise": promise,
        "needed their times shifted": f"{smoothed / len(real):.1%}",
    }
    return page(
        "What was true, and what was shared",
        "Left: where people were. Right: what their devices shared instead. Only the right side ever leaves "
        "a device; the left is shown here because these people are made up.",
        [
            cards(numbers),
            section(
                "Hour by hour",
                "A circle for every place with visits in the chosen hour, larger for more of them. The lines "
                "are the whole days of a few people; click a name to show or hide both sides.",
                chart(_maps(world, real, shared), "maps"),
            ),
            section(
                "How much it tells",
                "Mean distance per visit between what a person did and what they shared, and beside it what "
                "somebody else shared. If the two rows are alike, what is shared tells next to nothing about "
                "the single person: that is the price of this method at this ε.",
                _error_table(errors, nulls),
            ),
            section(
                "How many visits in each hour",
                "What an analyst sees first: the shape of the day.",
                chart(_hours(world, real, shared), "hours"),
            ),
        ],
    )


def _visits_by_hour(world: World, trajectories: Sequence[Any]) -> list[Counter[int]]:
    """For each hour, how many visits each place has."""
    hours: list[Counter[int]] = [Counter() for _ in range(_DAY_HOURS)]
    for trajectory in trajectories:
        for place_id, timestep in trajectory.visits:
            hours[world.clock.hour_of(timestep)][world.place_index[place_id]] += 1
    return hours


def _maps(world: World, real: Sequence[Trajectory], shared: Sequence[SharedTrajectory]) -> Any:
    figure = make_subplots(
        cols=2, shared_yaxes=True, subplot_titles=["True", "Shared"], horizontal_spacing=0.03
    )
    sides = [_visits_by_hour(world, real), _visits_by_hour(world, shared)]
    busiest = [max(hour.values(), default=1) for hour in sides[0]]
    largest = max(*busiest, *(max(hour.values(), default=1) for hour in sides[1]))
    first = int(np.argmax(busiest))  # the page opens where most people meet
    for column, side in enumerate(sides, start=1):
        figure.add_trace(_circles(world, side[first], largest), row=1, col=column)
    frames = [
        go.Frame(
            name=f"{hour:02d}:00",
            data=[_circles(world, side[hour], largest) for side in sides],
            traces=[0, 1],
        )
        for hour in range(_DAY_HOURS)
    ]
    for person in range(min(_PEOPLE_SHOWN, len(real))):
        figure.add_trace(_line(world, real[person], person, is_named=True), row=1, col=1)
        figure.add_trace(_line(world, shared[person], person, is_named=False), row=1, col=2)
    figure.frames = frames
    middle = float(np.mean(world.places.latitudes))
    figure.update_layout(
        height=600,
        margin={"l": 10, "r": 10, "t": 40, "b": 10},
        plot_bgcolor="#fafbfc",
        sliders=hour_slider(frames, first, space=20),
    )
    figure.update_xaxes(showgrid=False, zeroline=False, showticklabels=False, matches="x")
    figure.update_yaxes(showgrid=False, zeroline=False, showticklabels=False)
    figure.update_yaxes(scaleanchor="x", scaleratio=1 / max(np.cos(np.radians(middle)), 0.05), col=1)
    return figure


def _circles(world: World, visits: Counter[int], largest: int) -> Any:
    rows = sorted(visits)
    counts = np.array([visits[row] for row in rows])
    return go.Scatter(
        x=world.places.longitudes[rows],
        y=world.places.latitudes[rows],
        text=[f"{world.places.names[row]}<br>{visits[row]} visits" for row in rows],
        mode="markers",
        showlegend=False,
        marker={"size": 4 + 40 * np.sqrt(counts / largest), "color": PALETTE[0], "opacity": 0.45},
        hovertemplate="%{text}<extra></extra>",
    )


def _line(world: World, day: Trajectory | SharedTrajectory, person: int, *, is_named: bool) -> Any:
    rows = [world.place_index[visit.place_id] for visit in day.visits]
    texts = [
        f"{world.clock.label(visit.timestep)} {world.places.names[row]}"
        for visit, row in zip(day.visits, rows, strict=True)
    ]
    return go.Scatter(
        x=world.places.longitudes[rows],
        y=world.places.latitudes[rows],
        text=texts,
        mode="lines+markers",
        name=f"person {person + 1}",
        legendgroup=f"person {person + 1}",
        showlegend=is_named,
        visible=True if person < 2 else "legendonly",
        line={"color": PALETTE[1 + person], "width": 2.5},
        marker={"size": 7},
        hovertemplate="%{text}<extra></extra>",
    )


def _error_table(errors: dict[str, float], nulls: dict[str, float]) -> str:
    names = {"space_km": "km", "time_hours": "hours", "category": "category d_c"}
    rows = [
        [label, "", *(f"{values[key]:.2f}" for key in names)]
        for label, values in (("a person's own", errors), ("somebody else's", nulls))
    ]
    return table(["shared day", "", *names.values()], rows)


def _hours(world: World, real: Sequence[Trajectory], shared: Sequence[SharedTrajectory]) -> Any:
    figure = go.Figure()
    for name, color, days in (("true", "#9498a0", real), ("shared", PALETTE[0], shared)):
        totals = [sum(hour.values()) for hour in _visits_by_hour(world, days)]
        figure.add_bar(
            x=[f"{h:02d}" for h in range(_DAY_HOURS)], y=totals, name=name, marker={"color": color}
        )
    figure.update_layout(barmode="group", height=280, margin={"l": 10, "r": 10, "t": 10, "b": 30})
    return figure
