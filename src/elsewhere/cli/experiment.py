"""`elsewhere experiment`: the paper's tables and figures, on all data sets, with every method."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer

from elsewhere.cli.console import facts_table, out, progress_bar
from elsewhere.errors import needs_extra
from elsewhere.files import write_text


def experiment(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="all, table-error, table-runtime, table-hotspots, table-merging, fig-ranges, fig-hours, "
            "fig-error, fig-runtime, fig-preprocessing, table-population, fig-population, "
            "table-coverage, table-rounds, fig-survey-hours, table-further.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to.", show_default=False)
    ],
    *,
    raw: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Raw files, or a folder of them; what is missing is made up."),
    ] = None,
    size: Annotated[
        Literal["small", "paper"], typer.Option(help="small: minutes; paper: the full thing.")
    ] = "small",
    workers: Annotated[int, typer.Option(min=1, help="Processes to share the work.")] = 2,
) -> None:
    """Remake the paper's evaluation: tidy CSV, figures, and one page that works offline.

    A run that was stopped goes on where it was. For the same data tables of errors are the same; times not.

    Example: elsewhere experiment all --size small -o experiments
    """
    with needs_extra("experiments", "experiments"):
        from elsewhere.experiments.run import run_experiments  # noqa: PLC0415 - needs an extra
        from elsewhere.experiments.sources import find_sources  # noqa: PLC0415 - needs an extra
        from elsewhere.pages.experiments import experiments_page  # noqa: PLC0415 - needs an extra
    sources = find_sources(raw or [])
    with ExitStack() as stack:

        def progress(title: str) -> Callable[[int, int], None]:
            return stack.enter_context(progress_bar(title))

        outcome = run_experiments(names, output, sources, size=size, workers=workers, progress=progress)
    write_text(output / "report.html", experiments_page(outcome))
    rows = {name.capitalize(): label for name, label in outcome.labels.items()}
    made = sorted(path.name for path in output.iterdir() if path.suffix in {".csv", ".png"})
    out.print(facts_table({**rows, "Made": ", ".join(made), "See": f"{output}/report.html"}))
