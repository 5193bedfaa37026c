"""`elsewhere ledger show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import out, print_json, table
from elsewhere.device.ledger import DayState, Ledger
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
    rows = [
        [entry.day, f"{float(entry.epsilon):g}", entry.method, entry.world[:12], entry.state]
        for entry in entries
    ]
    out.print(table(["day", "ε", "method", "world", ""], rows))
    if waiting := sum(entry.state is DayState.WAITING for entry in entries):
        how = "1 report waits" if waiting == 1 else f"{waiting:,} reports wait"
        own = "" if path == user_ledger() else f" --ledger {path}"
        out.print(f"{how}: elsewhere survey send SURVEY --to URL{own}", soft_wrap=True, markup=False)
    out.print(
        f"Spent {float(ledger.spent):g} of {float(ledger.cap):g}. {in_words(path)}. Each day keeps its own "
        "promise; what is the same every day, such as a home, is protected by the sum.",
        soft_wrap=True,
        markup=False,
    )


def existing_ledger(path: Path) -> Ledger:
    """A ledger that something was charged to before; none is made by looking for it."""
    if not path.exists():
        raise InputError(str(path), "no such ledger: nothing was charged to it yet")
    if not has_cap(path):  # `dataset personal` makes one, to know whose days these are
        raise InputError(str(path), "nothing was shared yet")
    return Ledger(path)


def in_words(path: Path) -> str:
    """Which ledger it is."""
    if path == user_ledger():
        return f"Your ledger: {path}"
    return f"A ledger of its own, not yours: {path}. What two ledgers spent adds up"
