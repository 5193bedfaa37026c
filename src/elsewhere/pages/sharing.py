"""A page that shows true and shared days side by side: on maps by the hour, by kinds of places, by errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from elsewhere.arrays import Floats
from elsewhere.pages.page import PALETTE, cards, chart, hour_slider, page, section, table, verdict
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_DAY_HOURS = 24
_PEOPLE_SHOWN = 6
_MOST_CIRCLES = 400
_TRUE, _SHARED, _NULL = "#9498a0", PALETTE[0], "#5a6270"
_MEASURES = {"combined": "d, all together", "space_km": "km", "time_hours": "hours", "category": "d_c"}
_MARKS = ("circle-open", "diamond-open", "square-open", "triangle-up-open")

Errors = Mapping[str, float]
AnyDays = Sequence[Trajectory] | Sequence[SharedTrajectory]


def sharing_page(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    *,
    promise: str,
    errors: Mapping[str, Errors],
    nulls: Mapping[str, Sequence[SharedTrajectory]],
    finding: str = "",
    cards_too: Mapping[str, str] | None = None,
    is_made_up: bool = False,
) -> str:
    """HTML of the page. PRIVATE unless people are made up: it shows true days.

    ``errors`` has a row for what was shared and one for each null, ``finding`` says what that comes to;
    ``nulls`` are days that ignore people and could pass for those of a city.
    """
    numbers = {
        "days": f"{len(real):,}",
        "true visits": f"{sum(len(day.visits) for day in real):,}",
        "shared visits": f"{sum(len(day.visits) for day in shared):,}",
        "promise": promise,
        **(cards_too or {}),
    }
    return page(
        "What was true, and what was shared",
        "Left: where people were. Right: what was shared instead. Only the right side may leave a device.",
        [
            _MADE_UP if is_made_up else verdict(_PRIVATE),
            cards(numbers),
            section("Hour by hour", _ABOUT_MAPS, chart(_maps(world, real, shared), "maps")),
            section("What it tells of a person", f"{_ABOUT_ERRORS} {finding}".strip(), _error_table(errors)),
            section("When people are out", _ABOUT_COUNTS, chart(_hours(world, real, shared, nulls), "hours")),
            section(
                "Which kinds of places",
                "Root categories, in per cent of visits.",
                chart(_kinds(world, real, shared, nulls), "kinds"),
            ),
            section("What this page does not say", _NOT_SAID, ""),
        ],
    )


_PRIVATE = (
    "PRIVATE: this page shows people's true days. It is for whoever may see them, on the device where they "
    "are. Do not send it to anyone."
)
_MADE_UP = "<p class='note'>The left side is shown here because these people are made up.</p>"
_ABOUT_MAPS = (
    f"A circle for each of the {_MOST_CIRCLES} busiest places of the chosen hour, larger for more visits. "
    "The lines are the whole days of a few people; click a name to show or hide both sides."
)
_ABOUT_ERRORS = (
    "Mean distance of a visit between what a person did and what was shared of it. Below it the nulls: days "
    "that ignore the person. Only what is better than the best null tells anything about the single person."
)
_ABOUT_COUNTS = (
    "Bars are true and shared visits, in per cent of each. Marks are the nulls: what would be seen if nobody "
    "had taken part. Where shared bars follow the marks and not the true ones, they tell nothing."
)
_NOT_SAID = (
    "Counting shared days is not estimating. What is shared is drawn at random, more likely near the truth, "
    "so counts of it lean towards what public knowledge expects: a busy hour looks less busy, a rare place "
    "less rare than it is. A shared day is not a guess at what its person did, and that two days look alike "
    "says nothing about how safe they are: the promise above does."
)


def _visits_by_hour(world: World, days: AnyDays) -> list[Counter[int]]:
    """For each hour, how many visits each place has."""
    hours: list[Counter[int]] = [Counter() for _ in range(_DAY_HOURS)]
    for day in days:
        for place_id, timestep in day.visits:
            # A true place that the world does not have is on no map.
            if (place := world.place_index.get(place_id)) is not None:
                hours[world.clock.hour_of(min(timestep, world.clock.timesteps - 1))][place] += 1
    return hours


def _maps(world: World, real: Sequence[Trajectory], shared: Sequence[SharedTrajectory]) -> Any:
    figure = make_subplots(
        cols=2, shared_yaxes=True, subplot_titles=["True", "Shared"], horizontal_spacing=0.03
    )
    sides = [_visits_by_hour(world, real), _visits_by_hour(world, shared)]
    busiest = [sum(hour.values()) for hour in sides[0]]
    largest = max(max(hour.values(), default=1) for side in sides for hour in side)
    first = int(np.argmax(busiest))  # the page opens when most people are out
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
        height=620,
        margin={"l": 5, "r": 5, "t": 60, "b": 10},
        plot_bgcolor="#fafbfc",
        legend={"orientation": "h", "y": -0.02, "yanchor": "top"},
        sliders=hour_slider(frames, first, space=60),
    )
    figure.update_xaxes(showgrid=False, zeroline=False, showticklabels=False, matches="x")
    figure.update_yaxes(showgrid=False, zeroline=False, showticklabels=False)
    figure.update_yaxes(scaleanchor="x", scaleratio=1 / max(np.cos(np.radians(middle)), 0.05), col=1)
    return figure


def _circles(world: World, visits: Counter[int], largest: int) -> Any:
    """The busiest places of an hour, so that a page of a large city stays small."""
    rows = sorted(place for place, _ in visits.most_common(_MOST_CIRCLES))
    counts = np.array([visits[row] for row in rows])
    return go.Scatter(
        x=np.round(world.places.longitudes[rows], 5),
        y=np.round(world.places.latitudes[rows], 5),
        text=[f"{world.places.names[row]}<br>{visits[row]} visits" for row in rows],
        mode="markers",
        showlegend=False,
        marker={
            "size": np.round(4 + 30 * np.sqrt(counts / largest), 1),
            "color": PALETTE[0],
            "opacity": 0.45,
        },
        hovertemplate="%{text}<extra></extra>",
    )


def _line(world: World, day: Trajectory | SharedTrajectory, person: int, *, is_named: bool) -> Any:
    visits = [visit for visit in day.visits if visit.place_id in world.place_index]
    rows = [world.place_index[visit.place_id] for visit in visits]
    texts = [
        f"{world.clock.label(min(visit.timestep, world.clock.timesteps - 1))} {world.places.names[row]}"
        for visit, row in zip(visits, rows, strict=True)
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


def _error_table(errors: Mapping[str, Errors]) -> str:
    rows = [[name, "", *(f"{values[key]:.2f}" for key in _MEASURES)] for name, values in errors.items()]
    return table(["days", "", *_MEASURES.values()], rows)


def _hours(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    nulls: Mapping[str, Sequence[SharedTrajectory]],
) -> Any:
    def shares(days: AnyDays) -> Floats:
        return _percent([sum(hour.values()) for hour in _visits_by_hour(world, days)])

    labels = [f"{hour:02d}" for hour in range(_DAY_HOURS)]
    sides = {"true": shares(real), "shared": shares(shared)}
    others = {name: shares(days) for name, days in nulls.items()}
    return _compared(labels, sides, others, is_across=False)


def _kinds(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    nulls: Mapping[str, Sequence[SharedTrajectory]],
) -> Any:
    roots = world.tree.lineage[world.places.category_nodes[world.places.category_offsets[:-1]], 0]

    def shares(days: AnyDays) -> Floats:
        counts = np.zeros(len(world.tree.ids))
        for hour in _visits_by_hour(world, days):
            for place, visits in hour.items():
                counts[roots[place]] += visits
        return _percent(counts)

    sides = {"true": shares(real), "shared": shares(shared)}
    others = {name: shares(days) for name, days in nulls.items()}
    seen = np.sum([*sides.values(), *others.values()], axis=0)
    kept = [int(root) for root in np.argsort(sides["true"], kind="stable") if seen[root] > 0]
    labels = [world.tree.names[root] for root in kept]
    return _compared(
        labels,
        {name: values[kept] for name, values in sides.items()},
        {name: values[kept] for name, values in others.items()},
        is_across=True,
    )


def _percent(counts: Any) -> Floats:
    numbers = np.asarray(counts, dtype=np.float64)
    return np.asarray(np.round(100 * numbers / max(numbers.sum(), 1.0), 2))


def _compared(
    labels: list[str], sides: Mapping[str, Floats], others: Mapping[str, Floats], *, is_across: bool
) -> Any:
    """Bars for true and shared, marks for the nulls; across: a line for each label."""
    figure = go.Figure()
    direction = {"orientation": "h"} if is_across else {}
    value, name_of = ("x", "y") if is_across else ("y", "x")
    bars = list(zip(sides.items(), (_TRUE, _SHARED), strict=True))
    for (name, values), colour in reversed(bars) if is_across else bars:  # bars across grow upwards
        figure.add_bar(
            **{value: values, name_of: labels}, name=name, marker={"color": colour}, **direction,
            legendrank=list(sides).index(name),
            hovertemplate=f"%{{{name_of}}}: %{{{value}:.1f}} % {name}<extra></extra>",
        )  # fmt: skip
    for (name, values), mark in zip(others.items(), _MARKS * len(others), strict=False):
        figure.add_scatter(
            **{value: values, name_of: labels}, name=f"null: {name}", mode="markers",
            marker={"symbol": mark, "color": _NULL, "size": 8}, legendrank=len(sides),
            hovertemplate=f"%{{{name_of}}}: %{{{value}:.1f}} % {name}<extra></extra>",
        )  # fmt: skip
    figure.update_layout(
        barmode="group",
        height=150 + 42 * len(labels) if is_across else 380,
        margin={"l": 5, "r": 5, "t": 30, "b": 5},
        legend={"orientation": "h", "y": -70 / (42 * len(labels)) if is_across else -0.2, "yanchor": "top"},
    )
    axis = figure.update_xaxes if is_across else figure.update_yaxes
    axis(title="% of visits", rangemode="tozero", automargin=True)
    names = figure.update_yaxes if is_across else figure.update_xaxes
    names(automargin=True, title=None if is_across else "hour", ticksuffix="  " if is_across else "")
    return figure
