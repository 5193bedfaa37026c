"""`elsewhere live`: single visits as they happen, told of part by part."""

from __future__ import annotations

import csv
import datetime as dt
import io
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from elsewhere import __version__
from elsewhere.cli import ledger as ledgers
from elsewhere.cli import method
from elsewhere.cli.console import out, print_json, table, waiting, warn
from elsewhere.device import personal
from elsewhere.device.ledger import open_ledger
from elsewhere.device.ledger_file import user_ledger
from elsewhere.device.live import EVERY_MINUTES, LivePart, LiveSharing
from elsewhere.device.shared_metadata import write_beside
from elsewhere.errors import InputError
from elsewhere.files import check_can_write, check_suffix, whole_file
from elsewhere.world.world import World

_COLUMNS = ("uid", "datetime", "until", "place_id", "lat", "lng")


def live(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Where you were so far: any export that `elsewhere share` reads.",
            show_default=False,
        ),
    ],
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False)
    ],
    epsilon: Annotated[
        str, typer.Option("-e", "--epsilon", help="ε for any window of days.", show_default=False)
    ],
    *,
    day: Annotated[str | None, typer.Option(help="The day.  [default: today]", show_default=False)] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="HH:MM", help="Tell of parts that end by then.  [default: now]", show_default=False
        ),
    ] = None,
    every: Annotated[int, typer.Option(metavar="MINUTES", min=1, help="How long a part is.")] = EVERY_MINUTES,
    days: Annotated[int, typer.Option(min=1, help="How many days a window has.")] = 1,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="CSV", help="Write what is told of the day so far."),
    ] = None,
    ledger_file: ledgers.LedgerFile = None,
    cap: ledgers.Cap = None,
    anyway: method.Anyway = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Share single visits as they happen: at the end of each part of a day, a place or "nowhere".

    Run it as often as you like, by a timer for example. Every part that has ended is told of once, whether
    you were anywhere or not, so reports say nothing by their number; a timer needs --anyway for that, since
    nobody is there to ask when you travel. ε is for any window of --days in a row; the ledger's cap is for
    all of your life.

    Example: elsewhere live Timeline.json -w city.world -e 5 --every 180 -o today.csv
    """
    if output is not None:
        check_suffix(output, ".csv")
        check_can_write(output)
    with waiting("Getting ready"):
        world = World.load(world_file)
        sharing = LiveSharing(world, epsilon=epsilon, every_minutes=every, window_days=days)
    method.warn_if_senseless(sharing.epsilon)
    now = dt.datetime.now(ZoneInfo(world.clock.timezone)).replace(tzinfo=None)
    date = now.date() if day is None else personal.checked_day(day, now.date())
    ended = _ended_parts(sharing, date, until, now)
    with waiting("Reading your file"):
        records = personal.read_own([file], world)
        if not anyway:
            personal.refuse_other_city(records, world, date.isoformat(), str(file))
        trajectory = personal.personal_day(records, world, date)
    if not records.reaches(date):
        warn(f"{file} says nothing about {date}: its parts are told as those of a day without any visit")
    ledger = open_ledger(ledger_file or user_ledger(), cap, sharing.epsilon_of_part * ended)
    told = sharing.share(date, trajectory, ledger, parts=ended)
    if output is not None:
        _write(output, told, world, sharing)
    if as_json:
        plain = [{"begins": one.begins, "ends": one.ends, "place_id": one.place_id} for one in told]
        spent = ledgers.spent_as_json(ledger)
        print_json({**_metadata(told, world, sharing), "day": str(date), "told": plain, "ledger": spent})
        return
    names = dict(zip(world.places.ids, world.places.names, strict=True))
    rows = [[f"{one.begins}–{one.ends}", names.get(one.place_id or "", "nowhere")] for one in told]
    out.print(table(["part", "told"], rows))
    new = sum(not one.is_again for one in told)
    each = f"{new} of {len(told)} parts are new, at ε' = {sharing.epsilon_of_part} each"
    out.print(f"{each}. {ledgers.spent_in_words(ledger)}", soft_wrap=True, markup=False)


def _ended_parts(sharing: LiveSharing, date: dt.date, until: str | None, now: dt.datetime) -> int:
    """How many parts of a day have ended: by the clock, or by what the person says."""
    minutes = 24 * 60 if date < now.date() else now.hour * 60 + now.minute
    if until is not None:
        try:
            hours, _, rest = until.partition(":")
            wanted = int(hours) * 60 + int(rest)
        except ValueError:
            wanted = -1
        if not 0 <= wanted <= 24 * 60:
            raise InputError("--until", f"found {until!r}, must be a time such as 15:00")
        if wanted > minutes:
            raise InputError("--until", f"found {until!r}, which is still to come: nothing is told ahead")
        minutes = wanted
    return minutes // sharing.every_minutes


def _metadata(told: list[LivePart], world: World, sharing: LiveSharing) -> dict[str, object]:
    used = sorted({one.randomness for one in told})
    return {
        "method": "live",
        "is_ldp": used in ([], ["system"]),
        "epsilon": str(sharing.epsilon),
        "epsilon_of_a_part": str(sharing.epsilon_of_part),
        "every_minutes": sharing.every_minutes,
        "window_days": sharing.window_days,
        "world": world.hash,
        "randomness": ", ".join(used),
        "elsewhere": __version__,
    }


def _write(output: Path, told: list[LivePart], world: World, sharing: LiveSharing) -> None:
    """A row for each part that was told of; where it says nowhere, the place is blank."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in told:
        row = -1 if one.place_id is None else world.place_index[one.place_id]
        where = ["", "", ""]
        if row >= 0:
            where = [str(one.place_id), str(world.places.latitudes[row]), str(world.places.longitudes[row])]
        writer.writerow([one.stream, f"{one.day}T{one.begins}:00", f"{one.day}T{one.ends}:00", *where])
    with whole_file(output) as file:
        file.write(text.getvalue().encode("utf-8"))
        write_beside(output, file, _metadata(told, world, sharing))
