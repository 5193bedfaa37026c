"""`elsewhere demo`: the main job on an embedded city, one command."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import needs_extra, out, progress_bar
from elsewhere.cli.dataset import make_campus
from elsewhere.cli.world import print_summary, write_map


def demo(
    output: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to.")] = Path("demo"),
) -> None:
    """Make a campus, build its world, and draw it: one page to open in a browser.

    Example: elsewhere demo --out demo
    """
    started = time.perf_counter()
    with needs_extra("the demo", "build"):
        from elsewhere.config import read_config  # noqa: PLC0415 - needs an extra
        from elsewhere.world.build import build_world  # noqa: PLC0415 - needs an extra
    facts = make_campus(output, raw=None, people=5000, seed=1)
    out.print(f"Made up {facts['trajectories']:,} days on a campus of {facts['places']} buildings.\n")
    with progress_bar("Connecting regions") as progress:
        world = build_world(read_config(output / "world.toml"), progress)
    world.save(output / "campus.world")
    print_summary(world, output / "campus.world", time.perf_counter() - started)
    write_map(world, output / "campus.html")
    out.print(f"\nOpen {output / 'campus.html'} in a browser to see it.", soft_wrap=True)
