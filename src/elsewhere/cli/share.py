"""`elsewhere share`: one day of a person's own file, perturbed on their own device."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from elsewhere import __version__
from elsewhere.cli import method
from elsewhere.cli.console import needs_extra, out, print_json, table
from elsewhere.device.ledger import Ledger
from elsewhere.errors import BudgetError, InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.methods.registry import DEFAULT


def share(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Google Timeline or Takeout, GPX, OwnTracks or CSV.", show_default=False
        ),
    ],
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False)
    ],
    epsilon: Annotated[
        str,
        typer.Option("-e", "--epsilon", help="ε for the day: a number or a fraction.", show_default=False),
    ],
    day: Annotated[str, typer.Option(help="Which day, such as 2024-03-07.", show_default=False)],
    *,
    name: method.Name = DEFAULT,
    n: method.NgramLength = None,
    same_length: method.SameLength = False,
    hide_length: method.HideLength = None,
    settings: method.Settings = None,
    ledger_file: Annotated[
        Path, typer.Option("--ledger", metavar="LEDGER", help="Where spent ε is written down.")
    ] = Path("elsewhere.ledger"),
    cap: Annotated[
        str | None,
        typer.Option(help="For a new ledger: the sum of ε that may ever be spent.  [default: 100]"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Write the shared day: .csv, .parquet, .geoparquet or .geojson.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Share one day of your own: find its stays, perturb them, write down what that cost.

    Nothing of the true day is printed or kept. Asked again for the same day, the same shared day comes
    back and nothing more is spent.

    Example: elsewhere share Timeline.json -w city.world -e 5 --day 2024-03-07 -o shared.csv
    """
    with needs_extra("reading your own files", "build"):
        from elsewhere.device import shared_file  # noqa: PLC0415 - needs an extra
        from elsewhere.device.personal import personal_day  # noqa: PLC0415 - needs an extra
    if output is not None:
        shared_file.check_suffix(output)
        if output.exists():
            raise InputError(str(output), "is there already: choose another output")
    chosen = method.chosen_method(
        name,
        world_file,
        epsilon,
        n=n,
        same_length=same_length,
        hide_length=hide_length,
        settings=settings,
    )
    world, facts = chosen.world, chosen.facts()
    trajectory = personal_day(file, world, day)
    ledger = _opened(ledger_file, cap, chosen.spent_on(len(trajectory)))
    is_again = any(entry.day == day and entry.is_reported for entry in ledger.entries())
    shared = ledger.share(day, trajectory, chosen)
    metadata = shared_file.SharedMetadata(method=facts, world=world.hash, version=__version__, day=day)
    if output is not None:
        owner = shared_file.Owner("me", day, dt.date.fromisoformat(day))
        shared_file.write_one_day(output, owner, shared, world.places, world.clock, metadata)
    visits = [
        (
            world.clock.label(visit.timestep),
            world.places.names[world.place_index[visit.place_id]],
            visit.place_id,
        )
        for visit in shared
    ]
    if as_json:
        rows = [{"time": time, "name": place, "place_id": place_id} for time, place, place_id in visits]
        spent = {"spent": str(ledger.spent), "cap": str(ledger.cap)}
        print_json({**metadata.as_json(), "shared": rows, "ledger": spent})
        return
    out.print(table(["time", "shared place", "id"], [list(row) for row in visits]))
    where = f", written to {output}" if output is not None else ""
    how = (
        "The same as before: nothing more is spent"
        if is_again
        else f"Shared with {name}, ε = {facts.epsilon}"
    )
    out.print(f"Hidden: {facts.hides}.", soft_wrap=True)
    out.print(f"{how}{where}. Spent {float(ledger.spent):g} of {float(ledger.cap):g} ({ledger_file}).")


def _opened(path: Path, cap: str | None, needed: Fraction) -> Ledger:
    """The ledger; a new one is not made for a day that would pass its cap at once."""
    if path.exists():
        return Ledger(path, cap)
    limit = exact_epsilon(cap or "100")
    if needed > limit:
        raise BudgetError(spent=Fraction(0), asked=needed, cap=limit)
    return Ledger(path, limit)
