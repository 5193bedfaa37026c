"""Things of questions in a few words, and as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from elsewhere.arrays import Floats
from elsewhere.pages.charts import Bar, bar_table

_NUMBERS = ("count", "estimate", "low", "high", "reports")


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


def labels(frame: pl.DataFrame) -> list[str]:
    """A short name for each thing: where, when, what."""
    found = []
    for row in frame.drop([name for name in (*_NUMBERS, "thing") if name in frame.columns]).iter_rows(
        named=True
    ):
        parts = [" → ".join(filter(None, (where(row, "from_"), where(row, "to_")))), where(row)]
        parts += [str(row[name]) for name in ("category", "name") if row.get(name)]
        parts += [f"{row['hour']}:00"] if "hour" in row else []
        parts += [f"{row['visits']} visits"] if "visits" in row else []
        if "from_km" in row:
            parts.append(f"{row['from_km']:g} to {row['to_km']:g} km")
        if "candidate" in row:
            parts.append(f"shard {row['shard']}, day {row['candidate']}")
        found.append(", ".join(part for part in parts if part))
    return _distinct(found)


def where(row: dict[str, Any], prefix: str = "") -> str:
    """The part of the city that a row is about: its name, or its middle; blank if it is about none."""
    name = row.get(f"{prefix}area") or row.get(f"{prefix}cell")
    if name is None and row.get(f"{prefix}south") is not None:
        lat, lng = (
            (row[f"{prefix}south"] + row[f"{prefix}north"]) / 2,
            (row[f"{prefix}west"] + row[f"{prefix}east"]) / 2,
        )
        name = f"{lat:.3f} {lng:.3f}"
    return "" if name is None else str(name)


def _distinct(names: list[str]) -> list[str]:
    """Bars need names of their own."""
    return [name if names.count(name) == 1 else f"{name} ({at + 1})" for at, name in enumerate(names)]
