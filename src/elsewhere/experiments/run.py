"""One command for all: cells, tidy tables and figures in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elsewhere.errors import InputError
from elsewhere.experiments.cells import DATASETS, Cell, Size
from elsewhere.experiments.figures import (
    SHARED_BY_HOUR,
    hours_figure,
    preprocessing_figure,
    ranges_figure,
    variation_figure,
)
from elsewhere.experiments.further import further_rows
from elsewhere.experiments.population_tables import (
    SURVEYED_BY_HOUR,
    population_figure,
    population_hour_rows,
    population_rows,
    survey_hour_rows,
)
from elsewhere.experiments.recipes import preprocessing, recipes, variations
from elsewhere.experiments.sources import Sources, label_of
from elsewhere.experiments.stages import paper_stages
from elsewhere.experiments.tables import (
    error_rows,
    granularity_rows,
    hotspot_rows,
    hour_rows,
    preprocessing_rows,
    range_rows,
    runtime_rows,
    settings_of,
    write_rows,
)
from elsewhere.experiments.workshop import AnyCell, Result, Workshop, run_cells, run_preprocessing
from elsewhere.files import write_text
from elsewhere.progress import Progress

Row = dict[str, Any]
_AXES = {"visits": "visits", "epsilon": "epsilon", "places": "places", "speed": "speed_kmh", "n": "n"}
_TITLES = {"visits": "|τ|", "epsilon": "ε", "places": "|P|", "speed": "km/h", "n": "n"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """What was run: results by recipe, and where data came from."""

    folder: Path
    size: Size
    labels: dict[str, str]
    results: dict[str, list[Result]]
    worlds: list[Row]


def run_experiments(
    names: Sequence[str],
    folder: Path,
    sources: Sources,
    *,
    size: Size,
    workers: int,
    progress: Callable[[str], Progress],
) -> Outcome:
    """Run recipes by name ("all": every one) and write their tables and figures."""
    known = recipes(size)
    for name in names:
        if name != "all" and name not in known:
            raise InputError("experiment", f"found {name!r}, must be all or one of {', '.join(known)}")
    wanted = list(known) if "all" in names else list(dict.fromkeys(names))
    workshop = Workshop(folder, sources, size)
    worlds: list[Row] = []
    if "fig-preprocessing" in wanted:
        # First, and one at a time: what is timed should have the machine to itself.
        timed = run_preprocessing(workshop, preprocessing(size), progress("Making worlds"))
        worlds = preprocessing_rows(timed)
        write_rows(folder / "preprocessing.csv", worlds)
        preprocessing_figure(worlds, folder / "fig-preprocessing.png")
    cells = list(dict.fromkeys(cell for name in wanted for cell in known[name].cells))
    measured = dict(zip(cells, run_cells(workshop, cells, workers, progress("Measuring")), strict=True))
    results = {name: [measured[cell] for cell in known[name].cells] for name in wanted}
    _write_tables(folder, wanted, results)
    _draw(folder, wanted, size, measured)
    used = dict.fromkeys([*DATASETS, *(cell.setting.dataset for cell in cells)])
    labels = {dataset: label_of(sources, dataset) for dataset in used}
    write_text(
        folder / "run.json", json.dumps({"size": size, "data": labels, "recipes": wanted}, indent=2) + "\n"
    )
    return Outcome(folder=folder, size=size, labels=labels, results=results, worlds=worlds)


def _write_tables(folder: Path, wanted: Sequence[str], results: dict[str, list[Result]]) -> None:
    tables: dict[str, tuple[str, Callable[[Sequence[Result]], list[Row]]]] = {
        "table-error": ("errors.csv", error_rows),
        "table-runtime": ("runtime.csv", runtime_rows),
        "table-hotspots": ("hotspots.csv", hotspot_rows),
        "fig-ranges": ("ranges.csv", range_rows),
        "fig-hours": ("hours.csv", hour_rows),
        "fig-error": ("errors-varied.csv", error_rows),
        "fig-runtime": ("runtime-varied.csv", runtime_rows),
        "table-merging": ("errors-merging.csv", error_rows),
        "table-further": ("further.csv", further_rows),
        "table-population": ("population.csv", population_rows),
        "fig-population": ("population-varied.csv", population_rows),
        "table-coverage": ("coverage.csv", population_rows),
        "table-rounds": ("rounds.csv", population_rows),
        "fig-survey-hours": ("survey-hours.csv", survey_hour_rows),
    }
    for name in wanted:
        if name in tables:
            file, rows_of = tables[name]
            write_rows(folder / file, rows_of(results[name]))
    if "table-hotspots" in wanted:
        write_rows(folder / "hotspots-by-granularity.csv", granularity_rows(results["table-hotspots"]))
    if "table-population" in wanted:
        write_rows(folder / "population-hours.csv", population_hour_rows(results["table-population"]))


def _draw(folder: Path, wanted: Sequence[str], size: Size, measured: dict[AnyCell, Result]) -> None:
    if "fig-population" in wanted:
        rows = population_rows([measured[cell] for cell in recipes(size)["fig-population"].cells])
        population_figure(rows, folder / "fig-population.png")
    if "fig-ranges" in wanted:
        rows = range_rows([measured[cell] for cell in recipes(size)["fig-ranges"].cells])
        ranges_figure(rows, folder / "fig-ranges.png")
    if "fig-hours" in wanted:
        rows = hour_rows([measured[cell] for cell in recipes(size)["fig-hours"].cells])
        hours_figure(rows, SHARED_BY_HOUR, folder / "fig-hours.png")
    if "fig-survey-hours" in wanted:
        rows = survey_hour_rows([measured[cell] for cell in recipes(size)["fig-survey-hours"].cells])
        hours_figure(rows, SURVEYED_BY_HOUR, folder / "fig-survey-hours.png")
    for name, value, label in (("fig-error", "combined", "error d"), ("fig-runtime", "ms_a_day", "ms a day")):
        if name in wanted:
            panels = [
                (f"{dataset}: {_TITLES[varies]}", _AXES[varies], _line_rows(measured, cells, dataset, value))
                for varies, cells in variations(size).items()
                for dataset in DATASETS
                if any(cell.setting.dataset == dataset for cell in cells)
            ]
            key = "value" if value == "combined" else value
            shown = [panel for panel in panels if panel[2]]
            variation_figure(shown, key, label, folder / f"{name}.png")


def _line_rows(measured: dict[AnyCell, Result], cells: Sequence[Cell], dataset: str, value: str) -> list[Row]:
    """One row for each cell of a panel; where n varies, methods that have none count for each."""
    rows = []
    lengths = sorted({dict(cell.options)["n"] for cell in cells if "n" in dict(cell.options)})
    for cell in cells:
        result = measured[cell]
        if cell.setting.dataset != dataset or "summary" not in result:
            continue
        if value == "combined":
            number = {"value": result["summary"]["errors"]["combined"]["value"]}
        else:
            number = {"ms_a_day": 1000 * (paper_stages(result["seconds"])["total"] or 0.0)}
        has_n = "n" in dict(cell.options) or not lengths
        about = settings_of(result)
        rows += [{**about, **number}] if has_n else [{**about, **number, "n": n} for n in lengths]
    return rows
