"""`elsewhere demo`: the whole loop on an embedded city, one command."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import facts_table, out, progress_bar, waiting
from elsewhere.cli.dataset import written
from elsewhere.cli.demo_survey import survey_demo
from elsewhere.cli.method import tables_folder
from elsewhere.cli.world import write_map
from elsewhere.errors import needs_extra
from elsewhere.files import write_text
from elsewhere.methods.registry import DEFAULT, method
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.basemap import basemap_beside, keep_basemap
from elsewhere.world.world import World

_EPSILON = 5
_PLACES, _PEOPLE, _SHARED = 2000, 20_000, 2000
_NAMES = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d"}


def demo(
    output: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to.")] = Path("demo"),
) -> None:
    """The whole loop: central Helsinki, its world, 20,000 made-up people, a survey, a collector, results.

    Some people's days are also shared as they are, perturbed, so that one can see how little a single day
    says. Everybody is made up, so pages show what is true beside what is estimated.

    Example: elsewhere demo --out demo
    """
    started = time.perf_counter()
    with needs_extra("the demo", "build"):
        from elsewhere.datasets.commuters import commuting_helsinki  # noqa: PLC0415 - needs an extra
        from elsewhere.datasets.folder import BASEMAP  # noqa: PLC0415 - needs an extra
        from elsewhere.device.reading import read_trajectories  # noqa: PLC0415 - needs an extra
        from elsewhere.world.build import build_world  # noqa: PLC0415 - needs an extra
    with waiting("Making up days"):
        people = commuting_helsinki(output, limit=_PLACES, people=_PEOPLE)
        facts = written(people, output, feasible_only=False, replace=True)
    out.print(
        f"Made up a day for {facts['trajectories']:,} commuters among {facts['places']:,} places of central "
        "Helsinki (© OpenStreetMap contributors)."
    )
    with progress_bar("Connecting regions") as progress:
        world = build_world(output / "world.toml", progress)
    world.save(output / "helsinki.world")
    if (output / BASEMAP).exists():
        keep_basemap(output / BASEMAP, world.places, output / "helsinki.world")
    out.print(f"Built its world: {len(world.regions):,} regions, {world.graph.bigrams:,} feasible bigrams.")
    write_map(world, output / "helsinki.html", output / "helsinki.world")
    out.print("\n[bold]Together:[/bold] everybody answers a survey")
    survey_demo(output)
    out.print("\n[bold]Alone:[/bold] some share their day itself")
    real = read_trajectories(output / "trajectories.csv", world=world)[:_SHARED]
    with progress_bar("Sharing (the first time, loops are compiled)") as progress:
        shared = method(DEFAULT, world, epsilon=_EPSILON).share_many(real, workers=2, progress=progress)
    _show(output, world, real, shared)
    out.print(f"\nDone in {time.perf_counter() - started:.1f} s.")


def _show(
    output: Path,
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
) -> None:
    """A first summary, with what no information would look like beside it, and the page."""
    with needs_extra("the demo's page", "pages"):
        from elsewhere.evaluate.error import mean_errors, null_errors  # noqa: PLC0415 - needs an extra
        from elsewhere.evaluate.summary import MANY_DAYS, null_days  # noqa: PLC0415 - needs an extra
        from elsewhere.pages.sharing import sharing_page  # noqa: PLC0415 - needs an extra
    errors, nulls = mean_errors(world, real, shared), null_errors(world, real, shared)
    ignoring = null_days(world, real, cache=tables_folder(output / "helsinki.world", world))
    found = {name: mean_errors(world, real, days) for name, days in ignoring.items()}
    best = min(found, key=lambda name: found[name]["combined"])
    html = sharing_page(
        world,
        real,
        shared,
        promise=f"ε = {_EPSILON} a day",
        errors={
            "a person's own": errors,
            "somebody else's": nulls,
            **{f"null: {name}": values for name, values in found.items()},
        },
        nulls={name: ignoring[name] for name in MANY_DAYS},
        is_made_up=True,
        basemap=basemap_beside(output / "helsinki.world"),
    )
    write_text(output / "sharing.html", html)
    rows = {
        "Shared": f"{len(shared):,} days with codebook at ε = {_EPSILON} for each whole day",
        "Mean error of a visit": _in_words(errors),
        "If it were somebody else's": _in_words(nulls) + " (what no information looks like)",
        "The best null": _in_words(found[best]) + f" ({best}: days that ignore the person)",
        "See": f"{output}/sharing.html (true and shared, hour by hour), {output}/helsinki.html (the world)",
    }
    out.print(facts_table(rows))


def _in_words(errors: dict[str, float]) -> str:
    return ", ".join(f"{errors[key]:.2f} {name}" for key, name in _NAMES.items())
