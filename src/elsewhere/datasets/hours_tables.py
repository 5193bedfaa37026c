"""Opening hours by broad category, set by hand as the paper does: small tables that anyone may replace."""

from __future__ import annotations

from collections.abc import Collection
from importlib.resources import as_file, files
from pathlib import Path

from elsewhere.errors import Fault, InputError
from elsewhere.inputs.raw_text import records_of
from elsewhere.knowledge.hours import hours_problem


def hours_by_category(name: str, given: Path | None) -> dict[str, str]:
    """Hours of each category: the package's table ``name``, with those of a file put in."""
    with as_file(files("elsewhere.datasets") / "tables" / f"{name}_hours.csv") as path:
        ours = read_hours(path)
    return ours if given is None else ours | given_hours(given, set(ours))


def given_hours(path: Path, known: Collection[str]) -> dict[str, str]:
    """Hours of a file, all for categories that are ``known``."""
    found = read_hours(path)
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise InputError(str(path), f"found {unknown[0]!r}, must be one of {', '.join(sorted(known))}")
    return found


def read_hours(path: Path) -> dict[str, str]:
    """Hours by category from a table ``category, hours``."""
    found: dict[str, str] = {}
    for row, record in records_of(path, ("category", "hours")):
        if problem := hours_problem(record["hours"]):
            raise InputError(str(path), [Fault(row=row, column="hours", problem=problem)])
        found[record["category"].strip()] = record["hours"].strip()
    return found
