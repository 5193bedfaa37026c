"""Figures in the paper's arrangement, from tidy rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from elsewhere.experiments.tilted import TILTED
from elsewhere.files import whole_file
from elsewhere.methods.registry import METHODS, colour_of, null_names

Row = dict[str, Any]

_NAMES = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d"}
mpl.use("Agg")


def _style(method: str) -> dict[str, Any]:
    line = ":" if method in null_names() else "--" if method == TILTED else "-"
    return {"color": colour_of(method), "linestyle": line, "linewidth": 1.4, "markersize": 3.5}


def finish(figure: Figure, axes: Axes, path: Path) -> None:
    """One legend for all panels, and the file, whole or not at all."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", ncols=7, fontsize=7, frameon=False)
    with whole_file(path) as file:
        figure.savefig(file, format="png", dpi=130, metadata={"Software": None})


def panel_grid(rows: int, columns: int) -> tuple[Figure, Any]:
    """A figure of so many panels, with room for a legend above."""
    figure = Figure(figsize=(3.1 * columns, 2.5 * rows + 0.7), layout="constrained")
    engine: Any = figure.get_layout_engine()  # only the constrained one takes a rectangle
    engine.set(rect=(0, 0, 1, 1 - 0.5 / (2.5 * rows + 0.7)))
    return figure, figure.subplots(rows, columns, squeeze=False)


def ranges_figure(rows: Sequence[Row], path: Path) -> None:
    """PR_χ(δ) for each data set and dimension (fig:range)."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    figure, grid = panel_grid(len(datasets), len(dimensions))
    for i, dataset in enumerate(datasets):
        for j, dimension in enumerate(dimensions):
            axes = grid[i, j]
            some = [row for row in rows if (row["dataset"], row["dimension"]) == (dataset, dimension)]
            for method in dict.fromkeys(row["method"] for row in some):
                points = [(row["delta"], row["value"]) for row in some if row["method"] == method]
                axes.plot(*zip(*points, strict=True), marker="o", label=method, **_style(method))
            axes.set_title(f"{dataset}: within δ {_NAMES[dimension]}", fontsize=9)
            axes.set_ylim(0, 100)
            axes.tick_params(labelsize=7)
    finish(figure, grid[0, 0], path)


BESIDE_BY_HOUR = {"true": "black", "prior": "#98a2b3"}
"""What is so, and what the public prior thinks."""
_OURS = [name for name, entry in METHODS.items() if entry.is_ours]
SHARED_BY_HOUR = {**BESIDE_BY_HOUR, **{name: colour_of(name) for name in [*_OURS, "ngram"]}}


def hours_figure(rows: Sequence[Row], colours: Mapping[str, str], path: Path) -> None:
    """Share of visits in each hour, a line for each colour: of true days, of the prior's, and others."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, grid = panel_grid(1, len(datasets))
    for axes, dataset in zip(grid[0], datasets, strict=True):
        for days, colour in colours.items():
            some = [row for row in rows if (row["dataset"], row["days_of"]) == (dataset, days)]
            axes.plot(
                [row["hour"] for row in some],
                [100 * row["share"] for row in some],
                label=days,
                color=colour,
                linewidth=1.4,
            )
        axes.set_title(f"{dataset}: % of visits in each hour", fontsize=9)
        axes.set_ylim(bottom=0)
        axes.set_xticks(range(0, 25, 6))
        axes.tick_params(labelsize=7)
    finish(figure, grid[0, 0], path)


def variation_figure(
    panels: Sequence[tuple[str, str, Sequence[Row]]], value: str, label: str, path: Path
) -> None:
    """A panel for each (data set, what varies): ``value`` against it, a line for each method."""
    columns = 3
    figure, grid = panel_grid(-(-len(panels) // columns), columns)
    for number, (title, varies, rows) in enumerate(panels):
        axes = grid[number // columns, number % columns]
        levels = sorted({float(row[varies]) for row in rows})
        place = {level: position for position, level in enumerate(levels)}
        for method in dict.fromkeys(row["method"] for row in rows):
            points = sorted(
                (place[float(row[varies])], row[value]) for row in rows if row["method"] == method
            )
            axes.plot(*zip(*points, strict=True), marker="o", label=method, **_style(method))
        axes.set_xticks(range(len(levels)), [f"{level:g}" if np.isfinite(level) else "∞" for level in levels])
        axes.set_title(title, fontsize=9)
        axes.set_ylabel(label, fontsize=8)
        axes.tick_params(labelsize=7)
        if value == "ms_a_day":
            axes.set_yscale("log")
    for number in range(len(panels), grid.size):
        grid[number // columns, number % columns].set_visible(False)
    finish(figure, grid[0, 0], path)


def preprocessing_figure(rows: Sequence[Row], path: Path) -> None:
    """Seconds to make a world against its places, and against speed (fig:preprocessing)."""
    figure, grid = panel_grid(1, 2)
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in rows if row["dataset"] == dataset]
        usual = next(row["speed_kmh"] for row in mine)
        by_size = sorted({(row["places"], row["seconds"]) for row in mine if row["speed_kmh"] == usual})
        grid[0, 0].plot(*zip(*by_size, strict=True), marker="o", label=dataset)
        asked = (
            mine[0]["places_asked"] if len(mine) < 2 else _most_common([row["places_asked"] for row in mine])
        )
        by_speed = sorted((row["speed_kmh"], row["seconds"]) for row in mine if row["places_asked"] == asked)
        names = [f"{speed:g}" if np.isfinite(speed) else "∞" for speed, _ in by_speed]
        grid[0, 1].plot(names, [seconds for _, seconds in by_speed], marker="o", label=dataset)
    grid[0, 0].set_xlabel("places", fontsize=8)
    grid[0, 1].set_xlabel("km/h", fontsize=8)
    for axes in grid[0]:
        axes.set_ylabel("s", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.set_ylim(bottom=0)
    finish(figure, grid[0, 0], path)


def _most_common(values: Sequence[int]) -> int:
    return max(set(values), key=list(values).count)
