"""Tables and a figure of what many people say together: means over runs, and their least and most."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from elsewhere.experiments.cells import (
    ANYWHERE,
    CODEBOOK,
    NEIGHBOURS,
    ONE_QUESTION,
    POPULARITY,
    PRIOR,
    SIX_QUESTIONS,
)
from elsewhere.experiments.figures import BESIDE_BY_HOUR, finish, panel_grid

Result = dict[str, Any]
Row = dict[str, Any]

COLOURS = {
    ONE_QUESTION: "#d92d20",
    SIX_QUESTIONS: "#f79009",
    NEIGHBOURS: "#1570ef",
    ANYWHERE: "#53b1fd",
    CODEBOOK: "#079455",
    PRIOR: "#98a2b3",
    POPULARITY: "#475467",
}
SURVEYED_BY_HOUR = {**BESIDE_BY_HOUR, **{name: COLOURS[name] for name in (CODEBOOK, ONE_QUESTION)}}
_SHOWN = {"presence": "cells by the hour", "density": "cells"}
mpl.use("Agg")


def population_rows(results: Sequence[Result]) -> list[Row]:
    """A row for each measure of each question: mean over runs, the least and the most of them."""
    runs: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        cell = result["cell"]
        key = (cell["setting"]["dataset"], result["label"], cell["epsilon"], cell["people"])
        runs.setdefault(key, []).append(result)
    rows = []
    for (dataset, label, epsilon, people), those in runs.items():
        about = {"dataset": dataset, "method": label, "epsilon": float(epsilon), "people": int(people)}
        for question, measures in those[0]["measures"].items():
            for measure in measures:
                values = [one["measures"][question][measure] for one in those]
                numbers = {"value": float(np.mean(values)), "least": min(values), "most": max(values)}
                rows.append(
                    {**about, "question": question, "measure": measure, **numbers, "runs": len(those)}
                )
    return rows


def population_hour_rows(results: Sequence[Result]) -> list[Row]:
    """Share of people's cell-hours in each hour of the day: true, of the prior, and estimated; first runs."""
    rows: list[Row] = []
    for result in results:
        cell = result["cell"]
        about = {"dataset": cell["setting"]["dataset"], "method": result["label"], "people": cell["people"]}
        if not cell["run"]:
            hours = zip(*(result["hours"][name] for name in ("true", "prior", "estimated")), strict=True)
            rows += [
                {**about, "hour": hour, "true": true, "prior": prior, "estimated": estimated}
                for hour, (true, prior, estimated) in enumerate(hours)
            ]
    return rows


def survey_hour_rows(results: Sequence[Result]) -> list[Row]:
    """Share of people's cell-hours in each hour, of true days and of each way to know them."""
    shares: dict[tuple[str, str], list[float]] = {}
    for result in results:
        names = {"estimated": result["label"], "population": f"{result['label']}, its population"}
        for name, hours in result["hours"].items():
            shares[result["cell"]["setting"]["dataset"], names.get(name, name)] = hours
    return [
        {"dataset": dataset, "days_of": name, "hour": hour, "share": share}
        for (dataset, name), hours in shares.items()
        for hour, share in enumerate(hours)
    ]


def hour_difference_rows(rows: Sequence[Row], hour: int) -> list[Row]:
    """For each line of `survey_hour_rows`: its share at an hour, and where it is farthest from the truth."""
    lines: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        lines.setdefault((row["dataset"], row["days_of"]), []).append(row["share"])
    found = []
    for (dataset, name), shares in lines.items():
        apart = np.abs(np.array(shares) - lines[dataset, "true"])
        farthest = {"farthest": float(apart.max()), "farthest_hour": int(apart.argmax())}
        found.append({"dataset": dataset, "days_of": name, "share": shares[hour], **farthest})
    return found


def population_figure(rows: Sequence[Row], path: Path) -> None:
    """JS against people, for each ε; what people make no better is a dotted line."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    epsilons = sorted({row["epsilon"] for row in rows if row["method"] == ONE_QUESTION})
    places = [(dataset, question) for dataset in datasets for question in _SHOWN]
    figure, grid = panel_grid(len(places), len(epsilons))
    for i, (dataset, question) in enumerate(places):
        of_panel = [
            row
            for row in rows
            if (row["dataset"], row["question"], row["measure"]) == (dataset, question, "js")
        ]
        for j, epsilon in enumerate(epsilons):
            some = [row for row in of_panel if row["epsilon"] in (0.0, epsilon)]
            _draw_lines(grid[i, j], some)
            grid[i, j].set_title(f"{dataset}, {_SHOWN[question]}: ε = {epsilon:g}", fontsize=9)
    finish(figure, grid[0, 0], path)


def _draw_lines(axes: Any, rows: Sequence[Row]) -> None:
    """One line for each method."""
    for name, colour in COLOURS.items():
        points = sorted((row["people"], row["value"]) for row in rows if row["method"] == name)
        if name in (PRIOR, POPULARITY, CODEBOOK):
            for _, value in points:
                axes.axhline(value, color=colour, linestyle=":", linewidth=1.4, label=name)
        elif points:
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, markersize=3.5, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("people", fontsize=8)
    axes.set_ylabel("JS", fontsize=8)
    axes.tick_params(which="both", labelsize=7)
