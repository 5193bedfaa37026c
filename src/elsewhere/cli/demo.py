"""`elsewhere demo`: the main job on an embedded city, one command."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from elsewhere import __version__
from elsewhere.cli.console import facts_table, out, progress_bar
from elsewhere.cli.dataset import written
from elsewhere.cli.method import tables_folder
from elsewhere.cli.world import write_map
from elsewhere.errors import needs_extra
from elsewhere.files import write_text
from elsewhere.methods.registry import DEFAULT, method
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_EPSILON = 5
_NAMES = {"space_km": "km", "time_hours": "hours", "category": "d_c", "combined": "d"}


def demo(
    output: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to.")] = Path("demo"),
) -> None:
    """Take central Helsinki, make up its people, build its world, share everyone's day, show it on pages.

    Example: elsewhere demo --out demo
    """
    started = time.perf_counter()
    with needs_extra("the demo", "build"):
        from elsewhere.datasets.osm import read_osm  # noqa: PLC0415 - needs an extra
        from elsewhere.device.job import perturb_file  # noqa: PLC0415 - needs an extra
        from elsewhere.device.job_folder import partial_folder  # noqa: PLC0415 - needs an extra
        from elsewhere.device.reading import read_shared, read_trajectories  # noqa: PLC0415 - needs an extra
        from elsewhere.evaluate.error import mean_errors  # noqa: PLC0415 - needs an extra
        from elsewhere.world.build import build_world  # noqa: PLC0415 - needs an extra
    with progress_bar("Making up days") as progress:
        facts = written(read_osm(progress=progress), output, feasible_only=False, replace=True)
    out.print(
        f"Made up {facts['trajectories']:,} days among {facts['places']:,} places of central Helsinki "
        "(© OpenStreetMap contributors)."
    )
    with progress_bar("Connecting regions") as progress:
        world = build_world(output / "world.toml", progress)
    world.save(output / "helsinki.world")
    out.print(f"Built its world: {len(world.regions):,} regions, {world.graph.bigrams:,} feasible bigrams.")
    write_map(world, output / "helsinki.html")

    # These people are made up, and every demo is a new one: what an earlier demo shared may go.
    shared_file = output / "shared.csv"
    shared_file.unlink(missing_ok=True)
    shutil.rmtree(partial_folder(shared_file), ignore_errors=True)
    chosen = method(DEFAULT, world, epsilon=_EPSILON)
    with progress_bar("Sharing (the first time, loops are compiled)") as progress:
        result = perturb_file(
            output / "trajectories.csv",
            shared_file,
            chosen,
            version=__version__,
            workers=2,
            progress=progress,
        )
    real = read_trajectories(output / "trajectories.csv", world=world)
    papers = method("ngram", world, epsilon=_EPSILON).share_many(real, workers=2)
    _show(
        output, world, real, read_shared(shared_file, world), mean_errors(world, real, papers), result.counts
    )
    out.print(f"\nDone in {time.perf_counter() - started:.1f} s.")


def _show(
    output: Path,
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    papers: dict[str, float],
    counts: dict[str, int],
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
    smoothed = sum(count for what, count in counts.items() if what.startswith("places: smoothed"))
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
        cards_too={"needed their times shifted": f"{smoothed / len(real):.1%}"},
        is_made_up=True,
    )
    write_text(output / "sharing.html", html)
    rows = {
        "Shared": f"{len(shared):,} days with codebook at ε = {_EPSILON} for each whole day",
        "Mean error of a visit": _in_words(errors),
        "With the paper's ngram": _in_words(papers),
        "If it were somebody else's": _in_words(nulls) + " (what no information looks like)",
        "The best null": _in_words(found[best]) + f" ({best}: days that ignore the person)",
        "See": f"{output}/sharing.html (true and shared, hour by hour), {output}/helsinki.html (the world)",
    }
    out.print(facts_table(rows))


def _in_words(errors: dict[str, float]) -> str:
    return ", ".join(f"{errors[key]:.2f} {name}" for key, name in _NAMES.items())
