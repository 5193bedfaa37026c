"""A page that shows a world: its places, its regions hour by hour, and what merging and reachability did."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
from shapely import MultiPoint, Polygon

from elsewhere.pages.page import PALETTE, cards, chart, hour_slider, page, section, table
from elsewhere.world.regions import space_level_names
from elsewhere.world.summary import summarise
from elsewhere.world.world import World

_DAY_HOURS = 24


def world_page(world: World) -> str:
    """HTML of the page."""
    facts = summarise(world, longest_ngram=4)
    clock = world.clock
    count = len(world.places)
    subtitle = (
        f"Public knowledge for {clock.day}, in timesteps of {clock.timestep_minutes} minutes. "
        f"Content hash {world.hash}"
    )
    order = ", then ".join(world.settings.merge_order)
    bigrams = facts["ngrams"][1]
    numbers = {
        "places": f"{facts['places']:,}",
        "closed all day": f"{facts['places_closed_all_day']:,}",
        "regions": f"{facts['regions']:,}",
        "before merging": f"{facts['regions_before_merging']:,}",
        "feasible bigrams |𝒲²|": f"{facts['ngrams'][1]['feasible']:,}",
        "of pairs out of order in time": f"{bigrams['removed_by_time']:.1%}",
        "of pairs too far to travel": f"{bigrams['removed_by_travel']:.1%}",
        "largest distance d": f"{facts['max_distance']:.1f}",
    }
    return page(
        f"A world of {count:,} place{'s' if count != 1 else ''}",
        subtitle,
        [
            cards(numbers),
            section(
                "Places and regions",
                "Dots are places, coloured by category. Lines outline the regions of the chosen hour around "
                "their places; circles stand at the regions' centroids and tell more when pointed at. "
                "Click a level in the legend to hide or show it.",
                chart(_map(world), "map"),
            ),
            section(
                "Where regions ended",
                f"Regions with less than κ climb to coarser {order} until they have it."
                if order
                else "Nothing is merged in this world.",
                chart(_levels(facts), "levels"),
            ),
            section("Merging, step by step", _kappa_note(facts), _merge_table(facts)),
            section(
                "N-grams that reachability removes",
                "Of all sequences of n regions: those in which each can follow the one before, those that "
                "time alone rules out, and those that travel rules out.",
                chart(_ngrams(facts), "ngrams"),
            ),
        ],
    )


def _map(world: World) -> Any:
    figure = go.Figure()
    for trace in _place_traces(world):
        figure.add_trace(trace)
    fixed = len(figure.data)
    noon = _DAY_HOURS // 2
    for trace in _region_traces(world, noon):
        figure.add_trace(trace)
    moving = list(range(fixed, len(figure.data)))
    figure.frames = [
        go.Frame(name=f"{hour:02d}:00", data=_region_traces(world, hour), traces=moving)
        for hour in range(_DAY_HOURS)
    ]
    middle = float(np.mean(world.places.latitudes))
    figure.update_layout(
        height=680,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        plot_bgcolor="#fafbfc",
        legend={"groupclick": "toggleitem"},
        sliders=hour_slider(figure.frames, noon, space=30),
    )
    figure.update_xaxes(title="longitude", showgrid=False, zeroline=False, constrain="domain")
    figure.update_yaxes(
        title="latitude",
        showgrid=False,
        zeroline=False,
        scaleanchor="x",
        scaleratio=1 / max(np.cos(np.radians(middle)), 0.05),
    )
    return figure


def _place_traces(world: World) -> list[Any]:
    places, tree = world.places, world.tree
    firsts = places.category_nodes[places.category_offsets[:-1]]
    roots = tree.ancestors_at(1)[firsts]
    size = 5 if len(places) < 5000 else 2
    traces = []
    for number, root in enumerate(np.unique(roots)):
        rows = np.flatnonzero(roots == root)
        texts = [f"{places.names[row]}<br>{tree.names[firsts[row]]}" for row in rows]
        traces.append(
            go.Scattergl(
                x=places.longitudes[rows],
                y=places.latitudes[rows],
                text=texts,
                mode="markers",
                name=tree.names[root] or tree.ids[root],
                legendgroup="places",
                legendgrouptitle={"text": "Places"},
                marker={"size": size, "color": PALETTE[number % len(PALETTE)], "opacity": 0.6},
                hovertemplate="%{text}<extra></extra>",
            )
        )
    return traces


def _region_traces(world: World, hour: int) -> list[Any]:
    """Per level of space, the outlines of the hour's regions and their centroids."""
    regions, clock = world.regions, world.clock
    minutes = clock.timestep_minutes
    is_now = (regions.starts * minutes < (hour + 1) * 60) & (regions.ends * minutes > hour * 60)
    traces = []
    for level, name in enumerate(space_level_names(world.space_labels)):
        rows = np.flatnonzero(is_now & (regions.space_levels == level))
        color = ("#1b4f9c", "#c2571a", "#2f7d4f", "#7a3fa0", "#555555")[min(level, 4)]
        x: list[float | None] = []
        y: list[float | None] = []
        middles = []
        for row in rows:
            outline, middle = _outline(world, int(row))
            middles.append(middle)
            x += [*(point[0] for point in outline), None]
            y += [*(point[1] for point in outline), None]
        group = f"regions {level}"
        title = {"text": "Regions"} if level == 0 else None
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                name=f"{name}: outlines",
                legendgroup=group,
                legendgrouptitle=title,
                line={"color": color, "width": 1},
                opacity=0.35,
                hoverinfo="skip",
            )
        )
        traces.append(
            go.Scatter(
                x=[middle[0] for middle in middles],
                y=[middle[1] for middle in middles],
                text=[_describe(world, int(row)) for row in rows],
                mode="markers",
                name=f"{name}: centroids",
                legendgroup=group,
                marker={
                    "size": 6 + 2 * np.sqrt(np.diff(regions.place_offsets)[rows]),
                    "color": color,
                    "opacity": 0.25,
                    "line": {"color": color, "width": 1.5},
                },
                hovertemplate="%{text}<extra></extra>",
            )
        )
    return traces


def _outline(world: World, region_index: int) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    rows = world.regions.places_of(region_index)
    points = np.column_stack([world.places.longitudes[rows], world.places.latitudes[rows]])
    hull = MultiPoint(points).convex_hull
    middle = points.mean(axis=0)
    outline = list(hull.exterior.coords) if isinstance(hull, Polygon) else points.tolist()
    return outline, (float(middle[0]), float(middle[1]))


def _describe(world: World, region_index: int) -> str:
    regions, clock = world.regions, world.clock
    node = int(regions.nodes[region_index])
    start, end = int(regions.starts[region_index]), int(regions.ends[region_index])
    level, cell = int(regions.space_levels[region_index]), int(regions.cells[region_index])
    count = len(regions.places_of(region_index))
    return (
        f"<b>{world.tree.names[node] or world.tree.ids[node]}</b><br>{clock.label(start)}–{clock.label(end)}"
        f"<br>{world.space_labels[level][cell]}<br>{count} place{'s' if count != 1 else ''}"
    )


def _levels(facts: dict[str, Any]) -> Any:
    figure = go.Figure()
    levels = facts["levels"]
    spaces = list(dict.fromkeys(entry["space"] for entry in levels))
    pairs = list(dict.fromkeys((entry["time"], entry["category"]) for entry in levels))
    for number, (time, category) in enumerate(pairs):
        by_space = {
            e["space"]: e["regions"] for e in levels if (e["time"], e["category"]) == (time, category)
        }
        figure.add_bar(
            y=spaces,
            x=[by_space.get(space, 0) for space in spaces],
            orientation="h",
            name=f"{time}, category {category}",
            marker={"color": PALETTE[number % len(PALETTE)]},
        )
    figure.update_layout(
        barmode="stack",
        height=160 + 50 * len(spaces),
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        xaxis={"title": "regions"},
        yaxis={"autorange": "reversed", "automargin": True},
    )
    return figure


def _kappa_note(facts: dict[str, Any]) -> str:
    kappa = facts["settings"]["kappa"]
    what = "places" if kappa["weight"] == "count" else f"of {kappa['weight']}"
    return (
        f"Every region needs κ = {kappa['least']:g} {what}; {facts['regions_below_kappa']:,} of "
        f"{facts['regions']:,} still have less at the top of all levels."
    )


def _merge_table(facts: dict[str, Any]) -> str:
    rows = [
        [step["dimension"], step["level"], *(f"{step[key]:,}" for key in ("climbed", "became", "satisfied"))]
        for step in facts["merging"]
    ]
    return table(["climb in", "to", "regions below κ", "became", "of these now have κ"], rows)


def _ngrams(facts: dict[str, Any]) -> Any:
    entries = facts["ngrams"][1:]
    names = [f"n = {entry['n']}" for entry in entries]
    figure = go.Figure()
    for name, color, shares in (
        ("feasible", PALETTE[3], [1 - entry["removed"] for entry in entries]),
        ("too far to travel", PALETTE[1], [entry["removed_by_travel"] for entry in entries]),
        ("out of order in time", "#d5d9df", [entry["removed_by_time"] for entry in entries]),
    ):
        figure.add_bar(
            y=names,
            x=shares,
            name=name,
            orientation="h",
            marker={"color": color},
            text=[f"{share:.1%}" for share in shares],
        )
    figure.update_layout(
        barmode="stack",
        height=260,
        margin={"l": 10, "r": 10, "t": 10, "b": 40},
        xaxis={"tickformat": ".0%"},
        yaxis={"autorange": "reversed"},
    )
    return figure
