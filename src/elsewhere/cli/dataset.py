"""`elsewhere dataset NAME`: raw sources to the four files that a world and its trajectories start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from elsewhere.cli.console import facts_table, needs_extra, out, print_json, progress_bar

app = typer.Typer(
    help="Turn a data source into places, categories, trajectories and settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("campus")
def campus(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to.", show_default=False)
    ],
    *,
    raw: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="UBC's table of buildings (CSV or GeoJSON); else made up."),
    ] = None,
    people: Annotated[int, typer.Option(min=1, help="How many trajectories.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="Which made-up people (and campus).")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Make the paper's campus: buildings of nine categories and a day of each of its people.

    Example: elsewhere dataset campus -o campus
    """
    facts = make_campus(output, raw=raw, people=people, seed=seed)
    if as_json:
        print_json(facts)
        return
    out.print(
        facts_table(
            {
                "Data set": f"{facts['source']}, in {output}",
                "Places": f"{facts['places']:,}",
                "Trajectories": f"{facts['trajectories']:,} with {facts['visits']:,} visits (seed {seed})",
                "Next": f"elsewhere world build {output}/world.toml -o {output.name or 'campus'}.world",
            }
        )
    )


def make_campus(output: Path, *, raw: Path | None, people: int, seed: int) -> dict[str, Any]:
    with needs_extra("making a data set", "build"):
        from elsewhere.datasets.campus_files import write_campus  # noqa: PLC0415 - needs an extra
    with progress_bar("Making up days") as progress:
        return write_campus(output, raw=raw, people=people, seed=seed, progress=progress)
