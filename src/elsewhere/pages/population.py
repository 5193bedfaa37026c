"""What many people say together, as a section of the experiments' report."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from elsewhere.experiments.population_tables import hour_difference_rows, population_rows, survey_hour_rows
from elsewhere.pages.page import section, table

_LATE = 23
_COLUMNS = {
    ("presence", "js"): ("JS", 4),
    ("population", "js"): ("JS of the population", 4),
    ("presence", "l1"): ("L1", 3),
    ("presence", "top20"): ("20 busiest, off by", 3),
    ("presence", "f1"): ("F1, busiest tenth", 3),
    ("presence", "f1_many"): ("F1, 1 % of people", 3),
    ("presence", "cover"): ("intervals hold", 3),
    ("presence", "cover_busy"): ("of the 40 busiest", 3),
    ("density", "js"): ("cells: JS", 4),
    ("moves", "js"): ("moves: JS", 4),
    ("kinds", "js"): ("kinds: JS", 4),
}


def population_section(title: str, results: Sequence[dict[str, Any]]) -> str:
    """A table for each data set: methods by the number of people, means over runs."""
    found: dict[str, dict[tuple[str, float, int, int], dict[tuple[str, str], float]]] = {}
    for row in population_rows(results):
        key = (row["method"], row["epsilon"], row["people"], row["runs"])
        measures = found.setdefault(row["dataset"], {}).setdefault(key, {})
        measures[row["question"], row["measure"]] = row["value"]
    parts = []
    for dataset, rows in found.items():
        lines = [
            [
                method,
                f"{people:,}" if people else "null",
                str(runs),
                *(
                    f"{measures[column]:.{digits}f}" if column in measures else "–"
                    for column, (_, digits) in _COLUMNS.items()
                ),
            ]
            for (method, _, people, runs), measures in sorted(rows.items(), key=lambda one: one[0][2])
        ]
        header = ["method", "people", "runs", *(title for title, _ in _COLUMNS.values())]
        parts.append(f"<h3>{escape(dataset)}</h3>" + table(header, lines))
    note = (
        "4 × 4 cells by the hour at ε = 5. People are drawn from real days; what is so is the exact share of "
        "those days that have each thing. Means over runs. JS in bits; L1 of shares that add up to 1. Busy "
        "are the tenth of cell-hours with the most people, or those of at least one person in a hundred. "
        "Intervals are of 95 %. The baseline like LDPTrace tells no hours: its cells get those of the public "
        "prior. Popularity is what is public, scaled to the prior's number of visits."
    )
    return section(title, note, "".join(parts))


def survey_hours_section(results: Sequence[dict[str, Any]], image: str) -> str:
    """Hours that an analyst sees, as a figure, and what is left of the peak before midnight."""
    rows = [
        [
            row["dataset"],
            row["days_of"],
            f"{100 * row['share']:.2f} %",
            f"{100 * row['farthest']:.2f} % at {row['farthest_hour']} h",
        ]
        for row in hour_difference_rows(survey_hour_rows(results), _LATE)
    ]
    header = ["data set", "days of", f"share at {_LATE} h", "farthest from the truth"]
    note = (
        "Share of visits in each hour; visits to one cell within an hour count once. Helsinki's prior knows "
        "nothing of commuters; that of the city like Tokyo has its hours from people who were held out. The "
        "same people share a day each by codebook, counted plainly, or answer one question (4 × 4 cells by "
        "the hour) at the same ε."
    )
    return section("Hours that an analyst sees", note, image + table(header, rows))
