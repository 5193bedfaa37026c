"""The folder of results: a table for each question, the population and what it says, a summary."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.population_frames import people_frame, population_frame, population_frames
from elsewhere.files import make_folder, write_text
from elsewhere.inputs.tables import write_csv, write_parquet
from elsewhere.randomness import seeded_generator
from elsewhere.survey.file import survey_hash

COUNTS = "counts.npz"
"""Where a folder of results keeps what was counted, for the next time."""
_DECIMALS = 9
_SEED = 2021


def write_results(found: Estimates, folder: Path, *, people: int | None = None) -> dict[str, Any]:
    """Write all tables, and so many made-up ``people`` if they are wanted; returns the summary."""
    # First, so that a number that makes no sense leaves nothing behind.
    drawn = None if people is None else found.population.resampled(people, seeded_generator(_SEED))
    make_folder(folder)
    _remove_tables(folder)
    for one in found.questions:
        if one.table is not None and one.question.record.has_table:
            frame = one.frame().with_columns(pl.col(pl.Float64).round(_DECIMALS))
            write_csv(folder / f"{one.name}.csv", no_formulas(frame))
            write_parquet(folder / f"{one.name}.parquet", frame)
    write_parquet(folder / "population.parquet", population_frame(found.population))
    make_folder(folder / "population")
    for name, frame in population_frames(found.population).items():
        write_csv(folder / "population" / f"{name}.csv", no_formulas(frame))
    # People of an earlier run would not be those of this population.
    (folder / "people.parquet").unlink(missing_ok=True)
    if drawn is not None:
        write_parquet(folder / "people.parquet", people_frame(drawn))
    summary = summary_of(found)
    write_text(folder / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    return summary


def no_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Text that a spreadsheet would take for a formula gets a mark before it: anybody can name a place."""
    columns = []
    for name, kind in frame.schema.items():
        if kind == pl.String:
            text = pl.col(name)
            marked = pl.concat_str(pl.lit("'"), text)
            columns.append(
                pl.when(text.str.contains(r"^[=+\-@\t\r]")).then(marked).otherwise(text).alias(name)
            )
    return frame.with_columns(columns)


def _remove_tables(folder: Path) -> None:
    """Tables of an earlier run go: of another survey, or of a question that is no longer published."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        before = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        for name in [str(one["name"]) for one in before["questions"]]:
            if Path(name).name == name:
                for suffix in (".csv", ".parquet"):
                    (folder / f"{name}{suffix}").unlink(missing_ok=True)


def summary_of(found: Estimates) -> dict[str, Any]:
    """What was asked, how many answered, and how the population differs from the prior."""
    terms = found.survey.terms
    return {
        "survey": survey_hash(found.survey),
        "world": found.survey.world.hash,
        "epsilon": str(terms.epsilon),
        "reports": found.reports,
        "randomness": found.randomness,
        "left_out": found.left_out,
        "tau": found.tau,
        "is_prior": not found.tau,
        "questions": [
            {
                "name": one.name,
                "reports": one.reports,
                "is_published": one.table is not None,
                "people_per_fake": round(one.people_per_fake, _DECIMALS),
                "oddities": list(one.oddities),
            }
            for one in found.questions
        ],
        "visits_by_hour": np.round(found.population.hours(), _DECIMALS).tolist(),
        "visits_by_hour_of_the_prior": np.round(found.prior.hours(), _DECIMALS).tolist(),
        "visits_a_day": float(found.population.days.lengths @ found.population.weights),
    }
