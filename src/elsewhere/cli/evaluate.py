"""`elsewhere evaluate`: true and shared trajectories side by side, with the nulls beside them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from elsewhere.cli.console import out, print_json, progress_bar, waiting, warn
from elsewhere.cli.method import tables_folder
from elsewhere.days.alignment import UNMATCHED
from elsewhere.device.shared_metadata import metadata_file
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import check_suffix, write_text
from elsewhere.methods.registry import null_names
from elsewhere.trajectories import SharedTrajectory
from elsewhere.world.basemap import basemap_beside
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
    page: Annotated[
        Path | None,
        typer.Option(
            "--page",
            metavar="PAGE",
            help="Write a page of true and shared days side by side: .html. PRIVATE.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Measure how well shared trajectories keep what true ones say. For researchers: it needs the truth.

    Error per visit, range queries, hotspots, densities and flows; beside them what days that ignore the
    person would give: only what is better than the best of these carries information.

    Example: elsewhere evaluate campus/trajectories.csv shared.csv -w campus.world
    """
    if page is not None:
        check_suffix(page, ".html")
    with needs_extra("evaluating", "build"):
        from elsewhere.device.reading import read_epsilons, read_matching  # noqa: PLC0415 - needs an extra
        from elsewhere.device.shared_file import world_named_beside  # noqa: PLC0415 - needs an extra
        from elsewhere.evaluate.summary import null_days, summarise  # noqa: PLC0415 - needs an extra
    world = World.load(world_file)
    with waiting("Reading"):
        real, shared = read_matching(trajectories, shared_file, world)
        epsilons = read_epsilons(shared_file, world)
    if not shared:
        raise InputError(str(shared_file), "has no trajectory")
    if world_named_beside(shared_file) not in {None, world.hash}:
        warn(f"{shared_file} was made with another world: distances and hours are of the one given")
    with progress_bar("Sharing days that ignore people") as progress:
        cache = tables_folder(world_file, world)
        others = null_days(world, real, cache=cache, progress=progress) if nulls else {}
    with progress_bar("Measuring") as progress:
        found: dict[str, Summary] = {}
        for name, days in {"shared": shared, **others}.items():
            progress(len(found), 1 + len(others))
            found[name] = summarise(world, real, days)
    if page is not None:
        basemap = basemap_beside(world_file)
        _write_page(page, world, real, shared, others, found, shared_file, basemap)
    by_epsilon = _by_epsilon(summarise, world, real, {"shared": shared, **others}, epsilons)
    if as_json:
        plain = {name: summary.as_json() for name, summary in found.items()}
        own = {
            epsilon: {name: summary.as_json() for name, summary in some.items()}
            for epsilon, some in by_epsilon.items()
        }
        print_json({**plain, **({"by_epsilon": own} if own else {})})
        return
    first = found["shared"]
    out.print(f"{first.days:,} days, {first.visits:,} shared visits.")
    out.print(_measures(found))
    if found["shared"].unmatched_percent.value:
        out.print(
            "Some shared days have more or fewer visits than the true ones: visits are then matched in order "
            f"such that errors are least; in d, one without a partner counts {UNMATCHED:g}."
        )
    if nulls:
        out.print(_finding(found))
    for epsilon, some in by_epsilon.items():
        error = some["shared"].errors["combined"]
        against = f" {_finding(some)}" if nulls else ""
        out.print(
            f"ε = {epsilon}, {some['shared'].days:,} days: d {error.value:.2f}.{against}", soft_wrap=True
        )


def _by_epsilon(
    measure: Callable[..., Summary],
    world: World,
    real: Sequence[Any],
    found: dict[str, list[SharedTrajectory]],
    epsilons: Sequence[str],
) -> dict[str, dict[str, Summary]]:
    """The same for the days of each ε, where people chose their own."""
    return {
        epsilon: {
            name: measure(world, [real[row] for row in rows], [days[row] for row in rows])
            for name, days in found.items()
        }
        for epsilon, rows in _rows_by_epsilon(epsilons).items()
    }


def _rows_by_epsilon(epsilons: Sequence[str]) -> dict[str, list[int]]:
    """Which days have which ε, the least first; nothing if the file does not say or all have the same."""
    found: dict[str, list[int]] = {}
    for row, epsilon in enumerate(epsilons):
        found.setdefault(epsilon, []).append(row)
    try:
        return dict(sorted(found.items(), key=lambda item: Fraction(item[0]))) if len(found) > 1 else {}
    except (ValueError, ZeroDivisionError):
        return {}


def _finding(found: dict[str, Summary]) -> str:
    """How what was shared stands to the best null that is as free."""
    fair = null_names(keeps_length=not found["shared"].unmatched_percent.value)
    best = min(found[name].errors["combined"].value for name in fair)
    mine = found["shared"].errors["combined"].value
    word = "below" if mine < best else "above"
    return f"Error of a visit, all together: {abs(100 * (1 - mine / best)):.1f} % {word} the best null."


def _write_page(
    page: Path,
    world: World,
    real: Sequence[Any],
    shared: Sequence[SharedTrajectory],
    nulls: dict[str, list[SharedTrajectory]],
    found: dict[str, Summary],
    shared_file: Path,
    basemap: bytes | None,
) -> None:
    """True days beside shared ones: for the owner's eyes alone."""
    with needs_extra("pages", "pages"):
        from elsewhere.evaluate.summary import MANY_DAYS  # noqa: PLC0415 - needs an extra
        from elsewhere.pages.sharing import sharing_page  # noqa: PLC0415 - needs an extra
    errors = {
        name if name == "shared" else f"null: {name}": {key: e.value for key, e in summary.errors.items()}
        for name, summary in found.items()
    }
    html = sharing_page(
        world,
        real,
        shared,
        promise=_promise(shared_file),
        errors=errors,
        nulls={name: nulls[name] for name in MANY_DAYS if name in nulls},
        finding=_finding(found) if nulls else "",
        basemap=basemap,
    )
    write_text(page, html, is_private=True)


def _promise(shared_file: Path) -> str:
    """What the file says of itself; a file that says nothing promises nothing that we know of."""
    try:
        facts = json.loads(metadata_file(shared_file).read_text(encoding="utf-8"))
        is_ldp, how = facts["is_ldp"], f"{facts['method']}, ε = {float(Fraction(facts['epsilon'])):g}"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "not said"
    return f"{how} a day" if is_ldp else f"none ({how})"


def _measures(found: dict[str, Summary]) -> Table:
    """Values with their intervals below them: beside each other, five columns pass a screen of 80."""
    made = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    made.add_column("")
    for name in found:
        made.add_column(name, justify="right", no_wrap=True)
    for words, *cells in _rows(found):
        made.add_row(escape(words), *cells)
    return made


def _rows(found: dict[str, Summary]) -> list[list[str]]:
    names = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d, all together"}
    rows = [
        [f"error of a visit, {words}", *(_with_interval(summary.errors[name]) for summary in found.values())]
        for name, words in names.items()
    ]
    first = next(iter(found.values()))
    for name, delta, words in (
        ("space_km", 1, "1 km"),
        ("time_hours", 1, "1 h"),
        ("category", 3.5, "d_c 3.5"),
    ):
        place = first.deltas[name].index(delta)
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
    """A value, and below it its interval, if it has one; of large numbers no more than three digits."""
    if estimate is None:
        return "none"
    largest = max(abs(estimate.value), abs(estimate.high))
    digits = min(digits, 0 if largest >= 100 else 1 if largest >= 10 else digits)
    value, low, high = (f"{number:,.{digits}f}" for number in (estimate.value, estimate.low, estimate.high))
    return value if low == high == value else f"{value}\n[dim]{low}–{high}[/dim]"
