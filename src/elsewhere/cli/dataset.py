"""`elsewhere dataset NAME`: raw sources to the four files that a world and its trajectories start from."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from elsewhere.cli.console import facts_table, needs_extra, out, print_json, progress_bar
from elsewhere.errors import InputError

if TYPE_CHECKING:
    from elsewhere.datasets.bundle import Dataset

app = typer.Typer(
    help="Turn a data source into places, categories, trajectories and settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to.", show_default=False)
]
Raw = Annotated[
    list[Path],
    typer.Option(metavar="PATH", help="A raw file; may be given several times.", show_default=False),
]
Limit = Annotated[
    int | None, typer.Option("--places-limit", min=1, help="Only so many places, the most popular.")
]
Least = Annotated[int, typer.Option("--least-visits", min=1, help="Leave out days with fewer visits.")]
Feasible = Annotated[
    bool,
    typer.Option("--feasible-only", help="Leave out days that break reachability or hours (for evaluation)."),
]
Homes = Annotated[bool, typer.Option("--with-homes", help="Keep people's private homes among the places.")]
Hours = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Your own table category, hours for the root categories.")
]
People = Annotated[int, typer.Option(min=1, help="How many trajectories to make up.")]
Seed = Annotated[int, typer.Option(min=0, help="Which made-up people.")]
Zone = Annotated[str, typer.Option(help="Time zone of the city.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("campus")
def campus(
    output: Output,
    *,
    raw: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="UBC's table of buildings (CSV or GeoJSON); else made up."),
    ] = None,
    people: People = 5000,
    seed: Seed = 1,
    feasible_only: Feasible = False,
    as_json: AsJson = False,
) -> None:
    """Make the paper's campus: buildings of nine categories and a day of each of its people.

    Example: elsewhere dataset campus -o campus
    """
    with needs_extra("making a data set", "build"):
        from elsewhere.datasets.campus_files import read_campus  # noqa: PLC0415 - needs an extra
    read = partial(read_campus, _only(raw), people=people, seed=seed)
    _make("Making up days", read, output, feasible_only=feasible_only, as_json=as_json)


@app.command("foursquare")
def foursquare(
    output: Output,
    raw: Raw,
    *,
    places_limit: Limit = 2000,
    least_visits: Least = 3,
    feasible_only: Feasible = False,
    with_homes: Homes = False,
    hours: Hours = None,
    as_json: AsJson = False,
) -> None:
    """Foursquare check-ins (TSMC2014) and the category tree (v2 JSON): venues, and people's local days.

    Example: elsewhere dataset foursquare --raw dataset_TSMC2014_NYC.txt --raw categories.json -o nyc
    """
    with needs_extra("reading a data set", "build"):
        from elsewhere.datasets.foursquare import read_foursquare  # noqa: PLC0415 - needs an extra
    read = partial(
        read_foursquare,
        raw,
        limit=places_limit,
        has_homes=with_homes,
        least=least_visits,
        hours=hours,
    )
    _make("Reading check-ins", read, output, feasible_only=feasible_only, as_json=as_json)


@app.command("taxi")
def taxi(
    output: Output,
    raw: Raw,
    *,
    places_limit: Limit = 2000,
    least_visits: Least = 2,
    feasible_only: Feasible = False,
    with_homes: Homes = False,
    hours: Hours = None,
    as_json: AsJson = False,
) -> None:
    """New York taxi trips of 2013 on Foursquare's places: drivers' days of pick-ups and drop-offs.

    Give the files of trips (TLC, DEBS 2015, or whole days by taxi), check-ins and category tree.

    Example: elsewhere dataset taxi --raw trip_data_1.csv --raw checkins.txt --raw categories.json -o taxi
    """
    with needs_extra("reading a data set", "build"):
        from elsewhere.datasets.taxi import read_taxi  # noqa: PLC0415 - needs an extra
    read = partial(
        read_taxi,
        raw,
        limit=places_limit,
        has_homes=with_homes,
        least=least_visits,
        hours=hours,
    )
    _make("Reading trips", read, output, feasible_only=feasible_only, as_json=as_json)


@app.command("safegraph")
def safegraph(
    output: Output,
    raw: Raw,
    *,
    places_limit: Limit = None,
    people: People = 5000,
    seed: Seed = 1,
    timezone: Zone = "America/New_York",
    feasible_only: Feasible = False,
    hours: Hours = None,
    as_json: AsJson = False,
) -> None:
    """SafeGraph's Core Places and Patterns, NAICS codes: real places, days made up from their popularity.

    Example: elsewhere dataset safegraph --raw core_poi.csv --raw patterns.csv --raw naics.csv -o town
    """
    with needs_extra("reading a data set", "build"):
        from elsewhere.datasets.safegraph import read_safegraph  # noqa: PLC0415 - needs an extra
    read = partial(
        read_safegraph,
        raw,
        limit=places_limit,
        people=people,
        seed=seed,
        timezone=_zone(timezone),
        hours=hours,
    )
    _make("Making up days", read, output, feasible_only=feasible_only, as_json=as_json)


@app.command("osm")
def osm(
    output: Output,
    *,
    raw: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="An extract (.osm.pbf), or Parquet of Overture or Foursquare OS Places.  "
            "[default: central Helsinki]",
        ),
    ] = None,
    places_limit: Limit = 2000,
    people: People = 5000,
    seed: Seed = 1,
    timezone: Annotated[
        str | None, typer.Option(help="Time zone of the city, such as America/New_York; needed with --raw.")
    ] = None,
    streets: Annotated[
        Literal["walk", "bike", "drive", "none"],
        typer.Option(help="Travel along its streets on foot, by bike or car; none: straight lines on foot."),
    ] = "walk",
    feasible_only: Feasible = False,
    hours: Hours = None,
    as_json: AsJson = False,
) -> None:
    """Any city of OpenStreetMap: places with their own hours, streets, and days made up from a prior.

    Example: elsewhere dataset osm -o helsinki
    """
    facts = make_city(
        output,
        raw=_only(raw),
        limit=places_limit,
        people=people,
        seed=seed,
        timezone=timezone,
        streets=streets,
        feasible_only=feasible_only,
        hours=hours,
    )
    _show(facts, output, as_json=as_json)


def _only(raw: list[Path] | None) -> Path | None:
    if raw and len(raw) > 1:
        raise InputError("--raw", f"found {len(raw)} files, must be one")
    return raw[0] if raw else None


def make_city(
    output: Path,
    *,
    raw: Path | None = None,
    limit: int | None = 2000,
    people: int = 5000,
    seed: int = 1,
    timezone: str | None = None,
    streets: Literal["walk", "bike", "drive", "none"] = "walk",
    feasible_only: bool = False,
    hours: Path | None = None,
) -> dict[str, Any]:
    """Write a city; central Helsinki unless a file is given."""
    if raw is not None and timezone is None:
        raise InputError("--timezone", "is needed with --raw, such as America/New_York")
    with needs_extra("making a city", "build"):
        from elsewhere.datasets.city import read_city  # noqa: PLC0415 - needs an extra
        from elsewhere.datasets.hours_tables import given_hours  # noqa: PLC0415 - needs an extra
        from elsewhere.datasets.osm_places import embedded_city  # noqa: PLC0415 - needs an extra
        from elsewhere.datasets.osm_tags import groups  # noqa: PLC0415 - needs an extra
    with progress_bar("Making up days") as progress:
        dataset = read_city(
            raw or embedded_city(),
            limit=limit,
            timezone=_zone(timezone or "Europe/Helsinki"),
            people=people,
            seed=seed,
            mode=None if streets == "none" else streets,
            hours=None if hours is None else given_hours(hours, groups()),
            progress=progress,
        )
        return _written(dataset, output, feasible_only=feasible_only)


@app.command("personal")
def personal(
    output: Output,
    raw: Raw,
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False)
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Your own days, from Google Timeline or Takeout, GPX, OwnTracks or CSV, on a world. PRIVATE.

    To share one of them, see elsewhere share.

    Example: elsewhere dataset personal --raw Timeline.json -w city.world -o mine
    """
    with needs_extra("reading a data set", "build"):
        from elsewhere.datasets.personal import read_personal  # noqa: PLC0415 - needs an extra
        from elsewhere.world.world import World  # noqa: PLC0415 - beside it
    _show(
        _written(read_personal(raw, World.load(world_file)), output, feasible_only=False),
        output,
        as_json=as_json,
    )


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise InputError("--timezone", f"found {name!r}, must be a zone such as Europe/Helsinki") from None
    return name


def _make(
    title: str, read: Callable[..., Dataset], output: Path, *, feasible_only: bool, as_json: bool
) -> None:
    """Read a data set, write it, and say what was counted."""
    with progress_bar(title) as progress:
        facts = _written(read(progress=progress), output, feasible_only=feasible_only)
    _show(facts, output, as_json=as_json)


def _written(dataset: Dataset, output: Path, *, feasible_only: bool) -> dict[str, Any]:
    from elsewhere.datasets.bundle import write_dataset  # noqa: PLC0415 - needs an extra
    from elsewhere.datasets.feasible import only_feasible  # noqa: PLC0415 - needs an extra

    if output.exists() and not output.is_dir():
        raise InputError(str(output), "is a file, must be a folder")
    if feasible_only:
        dataset.days = only_feasible(dataset)
    return write_dataset(output, dataset)


def _show(facts: dict[str, Any], output: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    rows = {
        "Data set": f"{facts['source']}, in {output}",
        **{name[:1].upper() + name[1:]: f"{count:,}" for name, count in facts["steps"].items()},
        "Places": f"{facts['places']:,}",
        "Trajectories": f"{facts['trajectories']:,} with {facts['visits']:,} visits",
        "Next": f"elsewhere world build {output}/world.toml -o {output.name or 'my'}.world",
    }
    out.print(facts_table(rows))
