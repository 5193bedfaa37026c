"""A person's own days, on this screen only: which there are, and what one of them holds."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated

import typer

from elsewhere.cli.console import out, print_json, table
from elsewhere.device.personal import OwnRecords
from elsewhere.errors import InputError
from elsewhere.survey.survey import Period
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World

Day = Annotated[
    str | None,
    typer.Option(help="Which day, such as 2024-03-07; without it, days are listed.", show_default=False),
]


def day_of_choice(
    records: OwnRecords,
    world: World,
    *,
    as_json: bool,
    period: Period | None = None,
    before: Mapping[str, str] | None = None,
) -> str:
    """List the days on this screen; at a terminal, let the person choose one.

    With a ``period`` only its days are listed, and ``before`` says what was done with some of them already.
    Whether a file has a record of a day decides nothing but whether it is listed.
    """
    found = records.stays_by_date(world.clock.timestep_minutes)
    days = {str(date): stays for date, stays in found.items() if period is None or period.holds(date)}
    known = before or {}
    if records.span is None:
        raise InputError("--day", "is missing, and the file holds no day: say which, as in --day 2024-03-07")
    first, last = records.span
    if as_json:
        done = {} if before is None else {"before": {day: known[day] for day in days if day in known}}
        print_json({"from": str(first), "to": str(last), "days": days, **done})
    else:
        is_asked = sys.stdin.isatty()
        rows = [
            [date, f"{stays:,}" if stays else "none, but fixes", known.get(date, "")]
            for date, stays in days.items()
        ]
        numbered = [[str(number), *row] for number, row in enumerate(rows, start=1)]
        header = ["day", "stays", ""]
        out.print(table(["row", *header], numbered) if is_asked else table(header, rows))
        which = "Any day" if period is None else f"Any day from {period.first} to {period.last}"
        out.print(f"{which} can be chosen, also one that is not listed: it counts as one without a visit.")
    if as_json or not sys.stdin.isatty():
        raise InputError("--day", "is missing: give one of the days, such as --day 2024-03-07")
    return _asked_for(list(days))


def _asked_for(days: list[str]) -> str:
    """A day or the number of its row, asked for until there is one."""
    while True:
        answer = str(typer.prompt("Which day (a date, or a row)")).strip()
        if answer.isdecimal() and 1 <= int(answer) <= len(days):
            return days[int(answer) - 1]
        with suppress(ValueError):
            return dt.date.fromisoformat(answer).isoformat()
        out.print("That is neither a row nor a day such as 2024-03-07.")


def print_own_day(world: World, day: str, trajectory: Trajectory) -> None:
    """What a person did on a day as the world has it: for their own eyes, before anything is drawn."""
    rows = [
        [world.clock.label(visit.timestep), world.places.names[place], visit.place_id]
        for visit in trajectory
        if (place := world.place_index.get(visit.place_id)) is not None
    ]
    if not rows:
        out.print(f"{day}: no visit to any place of this world.")
        return
    out.print(f"{day}, for your eyes only:")
    out.print(table(["time", "place", "id"], rows))
