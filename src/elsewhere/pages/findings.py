"""Where our own methods are better than all others, and where they are not, said by the numbers."""

from __future__ import annotations

from typing import Any

from elsewhere.experiments.tables import keeps_length
from elsewhere.experiments.tilted import TILTED
from elsewhere.methods.registry import METHODS, null_names

Result = dict[str, Any]

_WORDS = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d"}


def findings_about_ours(dataset: str, rows: dict[str, Result]) -> list[str]:
    """Sentences about errors, range queries and densities on one data set."""
    lines = []
    ours = [
        label
        for entry in METHODS.values()
        for label in (entry.name, *entry.variants)
        if entry.is_ours and label in rows
    ]
    for name in ours:
        fair = null_names(keeps_length=keeps_length(rows[name]))
        unfair = [null for null in null_names() if null not in fair]
        left_out = {*ours, TILTED, *unfair}
        others = {other: row for other, row in rows.items() if other not in left_out}
        mine = rows[name]
        lines.append(
            f"{_errors(dataset, name, rows, others)} {_ranges(mine, others)} {_density(mine, others)}"
        )
    return lines


def _errors(dataset: str, name: str, rows: dict[str, Result], others: dict[str, Result]) -> str:
    mine = {key: rows[name]["summary"]["errors"][key]["value"] for key in _WORDS}
    best = {
        key: min((row["summary"]["errors"][key]["value"], other) for other, row in others.items())
        for key in _WORDS
    }
    lost = [f"{_WORDS[key]} ({best[key][1]})" for key in _WORDS if mine[key] > best[key][0]]
    against = best["combined"]
    text = (
        f"On {dataset} {name} has d = {mine['combined']:.2f}, "
        f"{100 * (1 - mine['combined'] / against[0]):.1f} % below the best other, nulls too ({against[1]})"
    )
    if "ngram" in rows:
        ngram = rows["ngram"]["summary"]["errors"]["combined"]["value"]
        text += f" and {100 * (1 - mine['combined'] / ngram):.1f} % below ngram"
    return text + (
        "; less than all other methods in every dimension."
        if not lost
        else f"; not least in {', '.join(lost)}."
    )


def _ranges(mine: Result, others: dict[str, Result]) -> str:
    deltas, curves = mine["summary"]["deltas"], mine["summary"]["ranges"]
    below: dict[str, list[str]] = {}
    for dimension, values in curves.items():
        for place, value in enumerate(values):
            highest = max(row["summary"]["ranges"][dimension][place]["value"] for row in others.values())
            if value["value"] < highest:
                below.setdefault(dimension, []).append(f"{deltas[dimension][place]:g}")
    if not below:
        return "Its range queries are above all others at every δ."
    total, lost = sum(map(len, curves.values())), sum(map(len, below.values()))
    parts = [f"{', '.join(found)} {_WORDS[dimension]}" for dimension, found in below.items()]
    return (
        f"Its range queries are above all others at {total - lost} of {total} δ, not at {'; '.join(parts)}."
    )


def _density(mine: Result, others: dict[str, Result]) -> str:
    if "popular" not in others:
        return ""
    parts = []
    for key, words in (("density_cell_hour", "cell × hour"), ("density_category_hour", "category × hour")):
        ours, theirs = (result["summary"]["density"][key] for result in (mine, others["popular"]))
        if ours and theirs:
            parts.append(f"{words} {ours['value']:.3f} ({theirs['value']:.3f})")
    return f"Jensen–Shannon of densities, popular's in brackets: {', '.join(parts)}."
