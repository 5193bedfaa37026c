"""Things of questions in a few words, and as bars."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from elsewhere.arrays import Floats
from elsewhere.pages.charts import Bar, bar_table
from elsewhere.survey.part_names import PartNames
from elsewhere.survey.things import trip_words


def shares_table(
    names: Sequence[str],
    shares: Floats,
    *,
    what: str,
    low: Floats | None = None,
    high: Floats | None = None,
    truth: Floats | None = None,
) -> str:
    """A bar for each thing, in per cent of people, with its interval and what is true, if they are known."""

    def percent(values: Floats | None, row: int) -> float | None:
        return None if values is None else 100 * float(values[row])

    bars = [
        Bar(
            label=name,
            value=100 * float(shares[row]),
            low=percent(low, row),
            high=percent(high, row),
            truth=percent(truth, row),
        )
        for row, name in enumerate(names)
    ]
    return bar_table(bars, what=what, unit="% of people")


def labels(frame: pl.DataFrame, names: PartNames) -> list[str]:
    """A short name for each thing: where, when, what."""
    origins, ends, own = (names.column(frame, prefix) for prefix in ("from_", "to_", ""))
    found = []
    for at, row in enumerate(frame.iter_rows(named=True)):
        parts = [_move(origins[at], ends[at]), own[at]]
        parts += [str(row[name]) for name in ("category", "name") if row.get(name)]
        parts += [f"{row['hour']}:00"] if "hour" in row else []
        parts += [f"{row['visits']} visit{'s' if row['visits'] > 1 else ''}"] if "visits" in row else []
        if "from_km" in row:
            parts.append(trip_words(row["from_km"], row["to_km"]))
        found.append(", ".join(part for part in parts if part))
    return _distinct(found)


def _move(origin: str, end: str) -> str:
    return f"{origin} → {end}" if origin != end else origin and f"within the part {origin}"


def _distinct(names: list[str]) -> list[str]:
    """Bars need names of their own."""
    return [name if names.count(name) == 1 else f"{name} ({at + 1})" for at, name in enumerate(names)]
