"""`elsewhere evaluate`: true and shared trajectories side by side, with the nulls beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elsewhere.cli.console import needs_extra, out, print_json, table, warn
from elsewhere.days.alignment import UNMATCHED
from elsewhere.errors import InputError
from elsewhere.methods.registry import null_names
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.evaluate.intervals import Estimate
    from elsewhere.evaluate.summary import Summary


def evaluate(
    trajectories: Annotated[
        Path, typer.Argument(metavar="TRAJ", help="True trajectories.", show_default=False)
    ],
    shared_file: Annotated[
        Path, typer.Argument(metavar="OUT", help="What perturb made of them.", show_default=False)
    ],
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="WORLD", help="A .world file.", show_default=False)
    ],
    *,
    nulls: Annotated[
        bool, typer.Option("--nulls/--no-nulls", help="Also measure days that ignore the person.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Measure how well shared trajectories keep what true ones say. For researchers: it needs the truth.

    Error per visit, range queries, hotspots, densities and flows; beside them what days that ignore the
    person would give: only what is better than the best of these carries information.

    Example: elsewhere evaluate campus/trajectories.csv shared.csv -w campus.world
    """
    with needs_extra("evaluating", "build"):
        from elsewhere.device.reading import read_matching  # noqa: PLC0415 - needs an extra
        from elsewhere.device.shared_file import world_named_beside  # noqa: PLC0415 - needs an extra
        from elsewhere.evaluate.summary import null_summaries, summarise  # noqa: PLC0415 - needs an extra
    world = World.load(world_file)
    real, shared = read_matching(trajectories, shared_file, world)
    if not shared:
        raise InputError(str(shared_file), "has no trajectory")
    if world_named_beside(shared_file) not in {None, world.hash}:
        warn(f"{shared_file} was made with another world: distances and hours are of the one given")
    found = {"shared": summarise(world, real, shared)}
    if nulls:
        found |= null_summaries(world, real)
    if as_json:
        print_json({name: summary.as_json() for name, summary in found.items()})
        return
    first = found["shared"]
    out.print(f"{first.days:,} days, {first.visits:,} shared visits.")
    out.print(table(["", *found], _rows(found)))
    if found["shared"].unmatched_percent.value:
        out.print(
            "Some shared days have more or fewer visits than the true ones: visits are then matched in order "
            f"such that errors are least; in d, one without a partner counts {UNMATCHED:g}."
        )
    if nulls:
        fair = null_names(keeps_length=not found["shared"].unmatched_percent.value)
        best = min(found[name].errors["combined"].value for name in fair)
        mine = found["shared"].errors["combined"].value
        word = "below" if mine < best else "above"
        out.print(
            f"Error of a visit, all together: {abs(100 * (1 - mine / best)):.1f} % {word} the best null."
        )


def _rows(found: dict[str, Summary]) -> list[list[str]]:
    names = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d, all together"}
    rows = [
        [f"error of a visit, {words}", *(_with_interval(summary.errors[name]) for summary in found.values())]
        for name, words in names.items()
    ]
    first = next(iter(found.values()))
    deltas = first.as_json()["deltas"]
    for name, delta, words in (
        ("space_km", 1, "1 km"),
        ("time_hours", 1, "1 h"),
        ("category", 3.5, "d_c 3.5"),
    ):
        place = list(deltas[name]).index(delta)
        rows.append(
            [f"% within {words}", *(_with_interval(s.ranges[name][place], 1) for s in found.values())]
        )
    for key, words, digits in (
        ("ahd_hours", "AHD, hours", 2), ("acd", "ACD", 2), ("f1", "F1", 2),
        ("real", "real", 0), ("shared", "shared", 0), ("excluded", "excluded", 0),
    ):  # fmt: skip
        values = [summary.hotspots["all"][key] for summary in found.values()]
        rows.append([f"hotspots, {words}", *(_with_interval(value, digits) for value in values)])
    rows += [
        [f"{key.replace('_', ' ')}, JS", *(_with_interval(s.density[key], 3) for s in found.values())]
        for key in first.density
    ]
    rows.append(["% of days feasible", *(_with_interval(s.feasible_percent, 1) for s in found.values())])
    rows.append(["% of visits open", *(_with_interval(s.open_percent, 1) for s in found.values())])
    if first.unmatched_percent.value:
        rows.append(
            ["% of visits unmatched", *(_with_interval(s.unmatched_percent, 1) for s in found.values())]
        )
    return rows


def _with_interval(estimate: Estimate | None, digits: int = 2) -> str:
    if estimate is None:
        return "none"
    value, low, high = (f"{number:,.{digits}f}" for number in (estimate.value, estimate.low, estimate.high))
    return value if low == high == value else f"{value} ({low}–{high})"
