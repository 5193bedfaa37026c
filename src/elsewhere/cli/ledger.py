"""`elsewhere ledger show`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import out, print_json, table
from elsewhere.device.ledger import DayState, Entry, Ledger
from elsewhere.device.ledger_file import has_cap, user_ledger
from elsewhere.errors import InputError

LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="LEDGER",
        help="Where spent ε is written down.  [default: yours, in your data folder]",
        show_default=False,
    ),
]
Cap = Annotated[
    str | None,
    typer.Option(
        help="For a new ledger: the sum of ε that may ever be spent. 20 is four days at ε = 5, 100 is "
        "twenty. Each day keeps its own promise, but what is the same every day, such as a home, is "
        "protected only by the sum.  [default: 100]",
        show_default=False,
    ),
]

app = typer.Typer(
    help="What was shared from this device, and what it cost.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("show")
def show(
    file: Annotated[
        Path | None, typer.Argument(metavar="LEDGER", help="A ledger file; yours, if none is named.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show every day that was shared or answered, its ε, whether its report was sent, the sum, and the cap.

    A day that was told of part by part has one line; --json has every part.

    Example: elsewhere ledger show
    """
    path = file or user_ledger()
    ledger = existing_ledger(path)
    entries = ledger.entries()
    if as_json:
        days = [
            {
                "day": entry.day,
                "epsilon": str(entry.epsilon),
                "method": entry.method,
                "world": entry.world,
                "survey": entry.survey,
                "state": entry.state,
            }
            for entry in entries
        ]
        print_json({"cap": str(ledger.cap), "spent": str(ledger.spent), "days": days})
        return
    out.print(table(["day", "ε", "method", "world", ""], _lines(entries)))
    if waiting := sum(entry.state is DayState.WAITING for entry in entries):
        how = "1 report waits" if waiting == 1 else f"{waiting:,} reports wait"
        own = "" if path == user_ledger() else f" --ledger {path}"
        out.print(f"{how}: elsewhere survey send SURVEY --to URL{own}", soft_wrap=True, markup=False)
    out.print(
        f"{spent_in_words(ledger)} Each day keeps its own promise; what is the same every day, such as a "
        "home, is protected by the sum.",
        soft_wrap=True,
        markup=False,
    )


def _lines(entries: Sequence[Entry]) -> list[list[str]]:
    """A line for each day; the parts of a day that was told of part by part are summed up in one."""
    lines = []
    for (date, method, world), group in groupby(
        entries, key=lambda entry: (entry.day.partition("T")[0], entry.method, entry.world)
    ):
        own = list(group)
        epsilon = sum((entry.epsilon for entry in own), start=Fraction(0))
        is_whole = own[0].day == date
        how = method if is_whole else f"{method}, {'1 part' if len(own) == 1 else f'{len(own)} parts'}"
        states = Counter(entry.state for entry in own)
        done = own[0].state if len(states) == 1 else ", ".join(f"{n} {state}" for state, n in states.items())
        lines.append([date, f"{float(epsilon):g}", how, world[:12], done])
    return lines


def existing_ledger(path: Path) -> Ledger:
    """A ledger that something was charged to before; none is made by looking for it."""
    if not path.exists():
        raise InputError(str(path), "no such ledger: nothing was charged to it yet")
    if not has_cap(path):  # `dataset personal` makes one, to know whose days these are
        raise InputError(str(path), "nothing was shared yet")
    return Ledger(path)


def spent_in_words(ledger: Ledger) -> str:
    """What was spent, and in which ledger that stands."""
    whose = f"Your ledger: {ledger.path}."
    if ledger.path != user_ledger():
        whose = f"A ledger of its own, not yours: {ledger.path}. What two ledgers spent adds up."
    return f"Spent {float(ledger.spent):g} of {float(ledger.cap):g}. {whose}"


def spent_as_json(ledger: Ledger) -> dict[str, str]:
    """The same for machines."""
    return {"file": str(ledger.path), "spent": str(ledger.spent), "cap": str(ledger.cap)}
