"""`elsewhere ledger show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import out, print_json, table
from elsewhere.device.ledger import Ledger

app = typer.Typer(
    help="What was shared from this device, and what it cost.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("show")
def show(
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="A ledger file.", show_default=False)],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show every day that was shared, its ε, the sum, and the cap.

    Example: elsewhere ledger show my.ledger
    """
    ledger = Ledger(file)
    entries = ledger.entries()
    if as_json:
        days = [
            {
                "day": entry.day,
                "epsilon": str(entry.epsilon),
                "method": entry.method,
                "world": entry.world,
                "reported": entry.is_reported,
            }
            for entry in entries
        ]
        print_json({"cap": str(ledger.cap), "spent": str(ledger.spent), "days": days})
        return
    rows = [
        [
            entry.day,
            f"{float(entry.epsilon):g}",
            entry.method,
            entry.world[:12],
            "yes" if entry.is_reported else "no, only charged",
        ]
        for entry in entries
    ]
    out.print(table(["day", "ε", "method", "world", "reported"], rows))
    out.print(f"Spent {float(ledger.spent):g} of {float(ledger.cap):g}.")
