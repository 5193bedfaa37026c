"""Where `codebook` is better than all others, and where it is not, said by the numbers."""

from __future__ import annotations

from typing import Any

from elsewhere.experiments.recipes import ON_THE_PAPERS_TERMS, SAME_LENGTH
from elsewhere.experiments.tables import keeps_length
from elsewhere.methods.nulls import FREE_LENGTH_NULLS

Result = dict[str, Any]

_WORDS = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d"}
_OURS = ("codebook", SAME_LENGTH)


def codebook_findings(dataset: str, rows: dict[str, Result]) -> list[str]:
    """Sentences about errors, range queries and densities on one data set."""
    lines = []
    for name in (name for name in _OURS if name in rows):
        unfair = FREE_LENGTH_NULLS if keeps_length(rows[name]) else frozenset()
        left_out = {*_OURS, ON_THE_PAPERS_TERMS, *unfair}
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
