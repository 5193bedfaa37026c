"""`elsewhere share`: one day of a person's own file, perturbed on their own device."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from elsewhere import __version__
from elsewhere.cli import ledger as ledgers
from elsewhere.cli import method
from elsewhere.cli.console import out, print_json, table, waiting, warn
from elsewhere.cli.own_days import Day, day_of_choice
from elsewhere.device import personal
from elsewhere.device.expectation import what_to_expect
from elsewhere.device.ledger import DayReport, Ledger, open_ledger
from elsewhere.device.ledger_file import user_ledger
from elsewhere.device.shared_metadata import SharedMetadata
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import check_new, check_suffix, write_text
from elsewhere.methods.registry import DEFAULT
from elsewhere.methods.sharing import Sharing
from elsewhere.world.basemap import basemap_beside
from elsewhere.world.world import World

_GETTING_READY = "Getting ready (the first time, loops are compiled)"


def share(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Google Timeline or Takeout, GPX, KML, TCX, GeoJSON, OwnTracks or CSV.",
            show_default=False,
        ),
    ],
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False)
    ],
    day: Day = None,
    *,
    epsilon: method.Epsilon = None,
    name: method.Name = DEFAULT,
    n: method.NgramLength = None,
    same_length: method.SameLength = False,
    hide_length: method.HideLength = None,
    epsilon_per_draw: method.EpsilonPerDraw = None,
    levels: method.LevelsFile = None,
    settings: method.Settings = None,
    ledger_file: ledgers.LedgerFile = None,
    cap: ledgers.Cap = None,
    anyway: method.Anyway = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="Write the shared day: .csv, .parquet, .geoparquet or .geojson.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="PAGE", help="Write your own and the shared day side by side, for you alone: .html."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Share one day of your own: find its stays, perturb them, write down what that cost.

    Nothing of the true day is printed or kept, unless you ask for a page. Asked again for the same day, the
    same shared day comes back and nothing more is spent. Without --day, the days of the file are listed, on
    this screen only.

    Example: elsewhere share Timeline.json -w city.world -e 5 --day 2024-03-07 -o shared.csv
    """
    write_day, make_page = _file_writer(output), _page_maker(page, world_file)
    _check_targets(output, page)
    with waiting(_GETTING_READY):
        chosen = method.chosen_method(
            name,
            world_file,
            epsilon,
            epsilon_per_draw=epsilon_per_draw,
            n=n,
            same_length=same_length,
            hide_length=hide_length,
            levels=levels,
            settings=settings,
        )
    world, facts, path = chosen.world, chosen.facts(), ledger_file or user_ledger()
    method.warn_if_senseless(facts.epsilon)
    if not facts.is_ldp:
        raise InputError(str(world_file), f"nothing can be shared with it: {facts.promise}")
    with waiting("Reading your file"):
        records = personal.read_own([file], world)
    day = day or day_of_choice(records, world, as_json=as_json)
    date = personal.checked_day(day, dt.datetime.now(ZoneInfo(world.clock.timezone)).date())
    if not anyway:
        personal.refuse_other_city(records, world, day, str(file))
    if not records.reaches(date):
        warn(f"{file} says nothing about {day}: it is shared as a day without any visit")
    with waiting(_GETTING_READY):
        trajectory = personal.personal_day(records, world, date)
        ledger = open_ledger(path, cap, chosen.spent_on(len(trajectory)))
        report = ledger.reports({day: trajectory}, chosen)[day]
        expectation = what_to_expect(chosen, len(trajectory))
    metadata = _metadata(chosen, report, chosen.spent_on(len(trajectory)), day)
    with _charged_already():
        if write_day is not None:
            write_day(report, date, world, metadata)
        if page is not None and make_page is not None:
            promise = facts.epsilon_in_words
            html = make_page(world, day, trajectory, report.shared, promise=promise, expectation=expectation)
            write_text(page, html, is_private=True)
    _show(report, metadata, world, ledger, expectation, as_json=as_json)
    if not as_json:
        for written, what in ((output, "Shared day"), (page, "For you alone")):
            if written is not None:
                out.print(f"{what}: {written}", soft_wrap=True, markup=False)


def _check_targets(*paths: Path | None) -> None:
    """What could not be written afterwards is refused now, before anything is charged."""
    for path in paths:
        if path is not None:
            check_new(path)


@contextmanager
def _charged_already() -> Iterator[None]:
    """Writing may fail all the same (a full disk): the person must know that nothing is lost."""
    try:
        yield
    except InputError as error:
        faults = "; ".join(map(str, error.faults))
        after = "the day is charged; asking again with another -o or --page gives the same day at no cost"
        raise InputError(error.source, f"{faults}: {after}") from None


def _file_writer(output: Path | None) -> Callable[[DayReport, dt.date, World, SharedMetadata], None] | None:
    """What writes the shared day, if a file is wanted: looked for before anything is charged."""
    if output is None:
        return None
    with needs_extra("writing a shared day to a file (-o)", "build"):
        from elsewhere.device import shared_file  # noqa: PLC0415 - needs an extra
    shared_file.check_suffix(output)

    def write_day(report: DayReport, date: dt.date, world: World, metadata: SharedMetadata) -> None:
        owner = shared_file.Owner(report.report_id, report.report_id, date)
        shared_file.write_days(output, [owner], [report.shared], world.places, world.clock, metadata)

    return write_day


def _page_maker(page: Path | None, world_file: Path) -> Callable[..., str] | None:
    """What makes the page, if one is wanted: looked for before anything is charged."""
    if page is None:
        return None
    check_suffix(page, ".html")
    with needs_extra("pages", "pages"):
        from elsewhere.pages.own_day import own_day_page  # noqa: PLC0415 - needs an extra
    return partial(own_day_page, basemap=basemap_beside(world_file))


def _metadata(chosen: Sharing, report: DayReport, spent: Fraction, day: str) -> SharedMetadata:
    """What stands beside the shared day."""
    return SharedMetadata(
        method=chosen.facts(),
        world=chosen.world.hash,
        version=__version__,
        randomness=report.randomness,
        most_days_of_a_person=1,
        epsilon_of_a_person_at_most=spent,
        day=day,
    )


def _show(
    report: DayReport,
    metadata: SharedMetadata,
    world: World,
    ledger: Ledger,
    expectation: str,
    *,
    as_json: bool,
) -> None:
    """The shared day, and what it cost; of the true day nothing."""
    visits = [
        (
            world.clock.label(visit.timestep),
            world.places.names[world.place_index[visit.place_id]],
            visit.place_id,
        )
        for visit in report.shared
    ]
    facts = metadata.method
    if as_json:
        rows = [{"time": time, "name": place, "place_id": place_id} for time, place, place_id in visits]
        spent = ledgers.spent_as_json(ledger)
        print_json({**metadata.as_json(), "id": report.report_id, "shared": rows, "ledger": spent})
        return
    out.print(table(["time", "shared place", "id"], [list(row) for row in visits]))
    how = (
        "The same as before: nothing more is spent"
        if report.is_again
        else f"Shared with {facts.method}, {facts.epsilon_in_words}"
    )
    if not metadata.is_ldp:
        how = f"{how}. {metadata.promise}"
    out.print(f"Hidden: {facts.hides}.", soft_wrap=True, markup=False)
    out.print(f"What to expect: {expectation}", soft_wrap=True, markup=False)
    out.print(f"{how}. {ledgers.spent_in_words(ledger)}", soft_wrap=True, markup=False)
