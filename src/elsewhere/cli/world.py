"""`elsewhere world build | show | update | levels`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from elsewhere.cli.console import facts_table, out, print_json, progress_bar, warn
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import check_new, check_suffix, refuse_to_replace, write_text
from elsewhere.methods.levels import level_of, read_levels, suggested_levels, write_levels
from elsewhere.world.basemap import basemap_beside, keep_basemap
from elsewhere.world.settings import SAME_PEOPLE
from elsewhere.world.summary import category_changes, place_changes, summarise
from elsewhere.world.world import World

app = typer.Typer(
    help="Build, show and update worlds: everything public, in one file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

WorldFile = Annotated[Path, typer.Argument(metavar="F.world", help="A .world file.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command("build")
def build(
    config: Annotated[
        Path, typer.Argument(metavar="WORLD.toml", help="Settings of the world.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="F.world", help="File to write.", show_default=False)
    ],
    *,
    places: Annotated[Path | None, typer.Option(help="Another table of places.")] = None,
    categories: Annotated[Path | None, typer.Option(help="Another table of categories.")] = None,
    day: Annotated[
        str | None, typer.Option(help="Weekday (Wed) or date (2025-09-17) of the opening hours.")
    ] = None,
    timestep_minutes: Annotated[int | None, typer.Option(help="Length of a timestep, g_t.")] = None,
    speed_kmh: Annotated[float | None, typer.Option(help="Travel speed; inf for no limit.")] = None,
    kappa: Annotated[float | None, typer.Option(help="Places that every region needs.")] = None,
    grid: Annotated[int | None, typer.Option(help="Cells along each side of the finest grid, g_s.")] = None,
    merge_order: Annotated[str | None, typer.Option(help="Such as time,space,category.")] = None,
    graph: Annotated[
        bool | None,
        typer.Option(
            "--graph/--no-graph",
            help="Whether to work out which region can follow which; only ngram needs it.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Build a world from tables of places and categories.

    Options replace what the settings file says.

    Example: elsewhere world build campus/world.toml --kappa 5 -o campus.world
    """
    given = {
        "places": places and str(places),
        "categories": categories and str(categories),
        "day": day,
        "timestep_minutes": timestep_minutes,
        "speed_kmh": speed_kmh,
        "kappa": kappa,
        "grid": grid,
        "merge_order": [part.strip() for part in merge_order.split(",") if part.strip()]
        if merge_order is not None
        else None,
        "graph": graph,
    }
    overrides = {key: value for key, value in given.items() if value is not None}
    started = time.perf_counter()
    with needs_extra("building a world", "build"):
        from elsewhere.datasets.timezones import places_by_another_clock  # noqa: PLC0415 - needs an extra
        from elsewhere.inputs.osm_basemap import can_make_basemaps  # noqa: PLC0415 - needs an extra
        from elsewhere.world.build import build_world  # noqa: PLC0415 - needs an extra
        from elsewhere.world.toml import read_config  # noqa: PLC0415 - needs an extra
    settings = read_config(config, overrides)
    refuse_to_replace(output, [config, *settings.input_files()])
    check_suffix(output, ".world")
    with progress_bar("Connecting regions") as progress:
        world = build_world(settings, progress)
    world.save(output)
    extract = settings.extract()
    if extract is not None and (settings.basemap or can_make_basemaps()):
        keep_basemap(extract, world.places, output)
    print_summary(world, output, time.perf_counter() - started, as_json=as_json)
    others = places_by_another_clock(world.places, world.clock.date)
    if others > len(world.places) / 100:
        warn(
            f"{others:,} of {len(world.places):,} places have another time than the others, and a world has "
            "one clock: build a world for each time zone"
        )


@app.command("show")
def show(
    file: WorldFile,
    *,
    map_file: Annotated[
        Path | None, typer.Option("--map", metavar="F.html", help="Also write a page with a map.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what is in a world: counts, hash, sizes, merging, and a picture of its regions.

    Example: elsewhere world show campus.world --map campus.html
    """
    if map_file is not None:
        check_suffix(map_file, ".html")
    world = World.load(file)
    if map_file is not None:
        write_map(world, map_file, file)
    print_summary(world, file, as_json=as_json)
    if map_file is not None and not as_json:
        out.print(f"\nMap: {map_file}", soft_wrap=True)


@app.command("update")
def update(
    file: WorldFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="G.world", help="File to write.", show_default=False)
    ],
    *,
    places: Annotated[
        Path | None,
        typer.Option(
            metavar="CHANGED.csv", help="Changed and new places; a column 'remove' takes them away."
        ),
    ] = None,
    categories: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new table of categories, whole.")
    ] = None,
    roads: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new OpenStreetMap extract to travel on.")
    ] = None,
    nodes: Annotated[Path | None, typer.Option(metavar="FILE", help="New nodes of roads, whole.")] = None,
    edges: Annotated[Path | None, typer.Option(metavar="FILE", help="New edges of roads, whole.")] = None,
    timetable: Annotated[Path | None, typer.Option(metavar="FILE", help="A new GTFS feed.")] = None,
    matrix: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A new table of travel times, whole.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Apply changes: places that are new, moved or gone, their hours, categories, roads, timetables.

    The result is exactly what a full build from the changed tables would give. Columns that the table of
    places does not have stay as they are. What had to be worked out again is said. -o may name the world
    itself: it is replaced once all went well, or stays as it was.

    Example: elsewhere world update campus.world --places changed.csv -o campus2.world
    """
    started = time.perf_counter()
    with needs_extra("updating a world", "build"):
        from elsewhere.world.update import updated  # noqa: PLC0415 - needs an extra
        from elsewhere.world.update_travel import TravelFiles  # noqa: PLC0415 - needs an extra
    given = [places, categories, roads, nodes, edges, timetable, matrix]
    refuse_to_replace(output, [path for path in given if path is not None])
    check_suffix(output, ".world")
    if (nodes is None) != (edges is None) or (nodes is not None and roads is not None):
        raise InputError("--nodes", "goes with --edges, and without --roads")
    files = TravelFiles(
        roads=(nodes, edges) if nodes is not None and edges is not None else roads,
        timetable=timetable,
        matrix=matrix,
    )
    old = World.load(file)
    with progress_bar("Connecting regions") as progress:
        world, redone = updated(old, places, categories=categories, files=files, progress=progress)
    world.save(output)
    print_summary(
        world,
        output,
        time.perf_counter() - started,
        as_json=as_json,
        update={
            "changes": place_changes(old, world),
            "category_changes": category_changes(old, world),
            "redone": redone.in_words(world),
        },
    )


def write_map(world: World, path: Path, world_file: Path) -> None:
    with needs_extra("a map", "pages"):
        from elsewhere.pages.world_page import world_page  # noqa: PLC0415 - needs an extra
    write_text(path, world_page(world, basemap_beside(world_file)))


def print_summary(
    world: World,
    file: Path,
    seconds: float | None = None,
    *,
    as_json: bool = False,
    update: dict[str, Any] | None = None,
) -> None:
    """Facts about a world and its file, for people or for machines."""
    facts = {**summarise(world), **(update or {})}
    facts["file_bytes"] = file.stat().st_size
    if seconds is not None:
        facts["seconds"] = round(seconds, 3)
    _warn(facts)
    if as_json:
        print_json(facts)
        return
    out.print(facts_table(_for_people(facts, file)))
    if facts["merging"]:
        out.print()
        out.print(_merging_table(facts))


def _for_people(facts: dict[str, Any], file: Path) -> dict[str, str]:
    spread = facts["places_per_region"]
    closed = facts["places_closed_all_day"]
    settings = facts["settings"]
    kappa = settings["kappa"]
    weight = "" if kappa["weight"] == "count" else f" of {kappa['weight']}"
    lines = {
        "World": f"{file} ({facts['file_bytes'] / 1e6:.2f} MB)",
        "Hash": facts["hash"],
        "Day": f"{settings['day']} ({settings['timezone']}), {settings['timestep_minutes']}-minute timesteps",
        "Travel": _in_words(settings["travel"]),
        "Space": _in_words(settings["space"]),
        "Distance": _distance_in_words(settings["distance"]),
        "Popularity": f"counted from: {settings['popularity_from']}",
        "Places": f"{facts['places']:,}" + (f" ({closed:,} closed all day, in no region)" if closed else ""),
        "Regions": f"{facts['regions']:,} (merged from {facts['regions_before_merging']:,}; places in each: "
        f"{spread['least']} to {spread['most']}, median {spread['median']:g}; "
        f"{facts['regions_below_kappa']} below κ = {kappa['least']:g}{weight})",
        "Largest d": f"{facts['max_distance']:.3f}",
    }
    if not facts["ngrams"]:
        lines["n-grams"] = "not worked out: the world says graph = false, so ngram cannot share with it"
    for entry in facts["ngrams"][1:]:
        lines[f"{entry['n']}-grams"] = (
            f"{entry['feasible']:,} feasible; of all, {entry['removed_by_time']:.1%} are out of order "
            f"in time, {entry['removed_by_travel']:.1%} too far to travel"
        )
    if "changes" in facts:
        lines["Changes"] = "; ".join(
            f"{what}: " + ", ".join(f"{count:,} {how}" for how, count in facts[counted].items())
            for what, counted in (("places", "changes"), ("categories", "category_changes"))
        )
        lines["Worked out again"] = facts["redone"]
    lines["Days"] = f"up to {facts['possible_days_of_five_visits']:.2e} different days of five visits"
    if "seconds" in facts:
        lines["Time"] = f"{facts['seconds']:.2f} s"
    return lines


def _distance_in_words(table: dict[str, Any]) -> str:
    """A [distance] table in one line."""
    weights = ", ".join(f"{name} × {weight:g}" for name, weight in table["weights"].items() if weight != 1)
    speed = f" at {table['kmh']:g} km/h" if table["space"] == "travel-time" else ""
    return f"{table['combine']}, d_s by {table['space']}{speed}" + (f"; {weights}" if weights else "")


def _in_words(table: dict[str, Any]) -> str:
    """A [travel] or [space] table in one line."""
    rest = ", ".join(f"{key} {value}" for key, value in table.items() if key != "kind" and value is not None)
    return f"{table['kind']}" + (f": {rest}" if rest else "")


def _warn(facts: dict[str, Any]) -> None:
    """What a person should not overlook."""
    if facts["settings"]["popularity_from"] == SAME_PEOPLE:
        warn("places and popularity come from the people who share: nothing shared on this world is ε-LDP")
    below, regions, closed = facts["regions_below_kappa"], facts["regions"], facts["places_closed_all_day"]
    if below > regions / 10:
        warn(f"{below:,} of {regions:,} regions have less than κ; merge in more dimensions or lower kappa")
    if closed > facts["places"] / 10:
        warn(f"{closed:,} of {facts['places']:,} places are closed all day and in no region")


def _merging_table(facts: dict[str, Any]) -> Table:
    table = Table(title="Merging", title_justify="left", box=None, pad_edge=False, header_style="dim")
    for name in ("climb in", "to"):
        table.add_column(name)
    for name in ("regions below κ", "became", "of these now have κ"):
        table.add_column(name, justify="right")
    for step in facts["merging"]:
        counts = (f"{step[key]:,}" for key in ("climbed", "became", "satisfied"))
        table.add_row(step["dimension"], step["level"], *counts)
    return table


@app.command("levels")
def levels(
    file: WorldFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="CSV", help="Table to write.", show_default=False)
    ],
    *,
    epsilon: Annotated[
        str, typer.Option("-e", "--epsilon", help="The level: an ε, smaller than that of a day.")
    ] = "1",
) -> None:
    """Suggest which places are sensitive: categories of health, belief and homes, by their names.

    Look through the table, change and add rows (`category_id` or `place_id`), make it public, and give it to
    `share`, `perturb` and `audit` with --levels.

    Example: elsewhere world levels campus.world -e 1 -o levels.csv
    """
    world = World.load(file)
    check_suffix(output, ".csv")
    check_new(output)
    found = suggested_levels(world, level_of(epsilon))
    write_levels(output, found)
    if not found:
        warn("no category looks sensitive by its name: the table is empty, and yours to fill in")
    of_places = read_levels(output, world)
    for category_id, name, level in found:
        out.print(f"{name} ({category_id}): ε = {level}", soft_wrap=True, markup=False)
    share = f"{len(of_places):,} of {len(world.places):,} places"
    out.print(
        f"{len(found):,} categories, {share}, in {output}. Look through it: names are all that was seen."
    )
