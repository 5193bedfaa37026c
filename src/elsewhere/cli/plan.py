"""`elsewhere plan`: what a person and an analyst can expect, before anyone shares anything."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elsewhere.cli.console import out, print_json, progress_bar, table
from elsewhere.cli.method import tables_folder
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import check_suffix, write_text
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.evaluate.plan import Plan


def plan(
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False)
    ],
    epsilons: Annotated[
        str, typer.Option("-e", "--epsilon", metavar="LIST", help="Values of ε for a whole day.")
    ] = "1,2,5,10",
    people: Annotated[
        str, typer.Option(metavar="LIST", help="How many people may take part.")
    ] = "1000,10000,100000",
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PAGE", help="Write a page with charts: .html.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Say what sharing with codebook would give on a world. No person's day is looked at.

    Pretend days from the world's public prior are shared with each ε: how far a visit is off, beside days
    that ignore the person; and the smallest change in how many people are in a part of the city (of 4 × 4)
    at an hour that shared days of so many people would show.

    Example: elsewhere plan -w campus.world -e 1,2,5,10 --people 1000,10000,100000 -o plan.html
    """
    if output is not None:
        check_suffix(output, ".html")
    wanted, numbers = _epsilons(epsilons), _people(people)
    with needs_extra("planning", "build"):
        from elsewhere.evaluate.plan import plan as make_plan  # noqa: PLC0415 - needs an extra
    world = World.load(world_file)
    with progress_bar("Pretend days") as progress:
        cache = tables_folder(world_file, world)
        found = make_plan(world, wanted, numbers, cache=cache, progress=progress)
    if output is not None:
        with needs_extra("pages", "pages"):
            from elsewhere.pages.plan import plan_page  # noqa: PLC0415 - needs an extra
        write_text(output, plan_page(found))
    if as_json:
        print_json(found.as_json())
        return
    _print(found)


def _print(found: Plan) -> None:
    header = ["ε", "d", "km", "hours", "d_c", *(f"{number:,} people" for number in found.open_change)]
    keys = ("combined", "space_km", "time_hours", "category")
    rows = [
        [
            line.epsilon,
            *(f"{line.errors[key].value:.2f}" for key in keys),
            *(f"±{change:.2f} %" for change in line.visible_change.values()),
        ]
        for line in found.expectations
    ]
    rows.append(
        ["ignoring people", *(f"{found.best_null[key]:.2f}" for key in keys), *["–"] * len(found.open_change)]
    )
    rows.append(
        ["telling all", *["0.00"] * 4, *(f"±{change:.2f} %" for change in found.open_change.values())]
    )
    out.print(table(header, rows))
    out.print(
        "Error of a visit, and the smallest change in how many people (of all) are in a cell of 4 × 4 at an "
        "hour that would show. By pretend days of the public prior; real days may be less like it."
    )


def _epsilons(text: str) -> list[Fraction]:
    return [exact_epsilon(part.strip()) for part in text.split(",")]


def _people(text: str) -> list[int]:
    try:
        numbers = [int(part.strip().replace("_", "")) for part in text.split(",")]
    except ValueError:
        numbers = [0]
    if min(numbers) < 1:
        raise InputError("--people", f"found {text!r}, must be whole numbers above 0 such as 1000,10000")
    return numbers
