"""`elsewhere dataset NAME`: raw sources to the files that a world and its trajectories start from.

There is a command for each entry of `datasets.registry`; its options are those of the source's reader.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from elsewhere.cli.console import facts_table, out, print_json, progress_bar
from elsewhere.errors import needs_extra
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.datasets.bundle import Dataset
    from elsewhere.datasets.registry import SourceEntry

# How people write the options of readers, by the name of the argument.
_OPTIONS: dict[str, Any] = {
    "limit": typer.Option("--places-limit", min=1, help="Only so many places, the most popular."),
    "least": typer.Option("--least-visits", min=1, help="Leave out days with fewer visits."),
    "has_homes": typer.Option("--with-homes", help="Keep people's private homes among the places."),
    "hours": typer.Option(
        "--hours", metavar="FILE", help="Your own table category, hours for the root categories."
    ),
    "popularity": typer.Option(
        "--popularity",
        metavar="WHOSE",
        help="Whose visits make places popular: held-out (half of the people, whose days are then not among "
        "the trajectories), public:FILE (a table of venues: place_id, lat, lng, category, popularity), or "
        "same (the same people: NOT private).",
    ),
    "people": typer.Option("--people", min=1, help="How many trajectories to make up."),
    "day": typer.Option("--day", help="Weekday of popularity, opening hours and made-up days."),
    "seed": typer.Option("--seed", min=0, help="Which made-up people."),
    "timezone": typer.Option(
        "--timezone", help="Time zone of the city, such as Asia/Tokyo; else told by where it is."
    ),
    "columns": typer.Option(
        "--columns",
        metavar="KEY=NAME,...",
        help="Which column is which, by name or number: uid, datetime, end, lat, lng, place_id, name, "
        "category, date, offset.",
    ),
    "dates": typer.Option("--dates", help="How 07/04/2012 is meant where the file does not tell."),
    "places": typer.Option("--places", metavar="FILE", help="A table of places to match to."),
    "streets": typer.Option(
        "--streets", help="Travel along its streets on foot, by bike or car; none: straight lines on foot."
    ),
    "ledger": typer.Option(
        "--ledger", metavar="LEDGER", help="Whose days these are, if it is not the ledger of this user."
    ),
    "world": typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False),
}
# What readers take and the command line has a file for.
_FROM_FILES: dict[Any, Any] = {World: Path, World | None: Path | None}
_OUTPUT = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to.", show_default=False)
]
_FEASIBLE = Annotated[
    bool,
    typer.Option("--feasible-only", help="Leave out days that break reachability or hours (for evaluation)."),
]
_REPLACE = Annotated[
    bool, typer.Option("--replace", help="Overwrite tables in the folder even if somebody edited them.")
]
_AS_JSON = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


class _Sources(TyperGroup):
    """Commands made from the registry when asked for: it loads libraries that a device may not have."""

    def list_commands(self, _context: Any) -> list[str]:
        return list(_registry())

    def get_command(self, _context: Any, name: str) -> Any:
        entry = _registry().get(name)
        if entry is None:
            return None
        command = typer.Typer(add_completion=False, rich_markup_mode=None)
        command.command(name)(_command(entry))
        made = typer.main.get_command(command)
        made.name = name
        return made


app = typer.Typer(
    cls=_Sources,
    help="Turn a data source into places, categories, trajectories and settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def _sources() -> None:
    """Turn a data source into places, categories, trajectories and settings."""


def _registry() -> dict[str, SourceEntry]:
    with needs_extra("reading a data set", "build"):
        from elsewhere.datasets.registry import SOURCES  # noqa: PLC0415 - needs an extra
    return SOURCES


def _command(entry: SourceEntry) -> Callable[..., None]:
    """A function with the options of a source as its signature, which is what typer goes by."""

    def run(output: Path, **given: Any) -> None:
        raw = given.pop("raw") or []
        feasible_only, as_json = given.pop("feasible_only", False), given.pop("as_json")
        world_file = given.get("world")
        if world_file is not None:
            given["world"] = World.load(given["world"])
        replace = given.pop("replace")
        _refuse_edited(output, replace=replace)  # before minutes of reading
        with progress_bar(entry.doing) as progress:
            dataset = entry.read(raw, **given, progress=progress)
            facts = written(dataset, output, feasible_only=feasible_only, replace=replace)
        then = f"elsewhere world build {output}/world.toml -o {output.name or 'my'}.world"
        if dataset.is_private:  # one's own days are on a world already
            then = f"elsewhere perturb {output}/{dataset.days_file} -w {world_file} -e 5 -o shared.csv"
        _show(facts, output, then, as_json=as_json)

    raw = typer.Option(
        metavar="PATH", help="A raw file, may be given several times; for some, a folder.", show_default=False
    )
    files: Any = list[Path] if entry.needs_raw else list[Path] | None
    parameters = [_parameter("output", _OUTPUT, Parameter.empty)]
    parameters.append(_parameter("raw", Annotated[files, raw], Parameter.empty if entry.needs_raw else None))
    for option in entry.options:
        kind: Any = _FROM_FILES.get(option.annotation, option.annotation)
        written_as = _OPTIONS.get(option.name, typer.Option(f"--{option.name.replace('_', '-')}"))
        parameters.append(_parameter(option.name, Annotated[kind, written_as], option.default))
    if not entry.is_private:
        parameters.append(_parameter("feasible_only", _FEASIBLE, default=False))
    parameters.append(_parameter("replace", _REPLACE, default=False))
    parameters.append(_parameter("as_json", _AS_JSON, default=False))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # any function may have one
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__doc__ = f"{entry.summary}\n\nExample: elsewhere dataset {entry.example}"
    return run


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _refuse_edited(output: Path, *, replace: bool) -> None:
    with needs_extra("writing a data set", "build"):
        from elsewhere.datasets.folder import refuse_edited  # noqa: PLC0415 - needs an extra
    refuse_edited(output, replace=replace)


def written(dataset: Dataset, output: Path, *, feasible_only: bool, replace: bool = False) -> dict[str, Any]:
    """Write a data set into a folder; returns what was counted."""
    with needs_extra("writing a data set", "build"):
        from elsewhere.datasets.bundle import write_dataset  # noqa: PLC0415 - needs an extra
        from elsewhere.datasets.feasible import only_feasible  # noqa: PLC0415 - needs an extra
    if feasible_only:
        dataset.days = only_feasible(dataset)
    return write_dataset(output, dataset, replace_edited=replace)


def _show(facts: dict[str, Any], output: Path, then: str, *, as_json: bool) -> None:
    if as_json:
        print_json(facts)
        return
    rows = {
        "Data set": f"{facts['source']}, in {output}",
        **{name[:1].upper() + name[1:]: f"{count:,}" for name, count in facts["steps"].items()},
        "Time zone": facts["timezone"],
        "Places": f"{facts['places']:,}",
        "Trajectories": f"{facts['trajectories']:,} with {facts['visits']:,} visits",
        "Next": then,
    }
    out.print(facts_table(rows))
