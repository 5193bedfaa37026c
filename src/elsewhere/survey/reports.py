"""Many reports together: columns of a table, read strictly, with what is wrong counted by its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.files import whole_file
from elsewhere.inputs.tables import packed_parquet
from elsewhere.randomness import SYSTEM
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import FIRST_DAY, LAST_DAY, Report
from elsewhere.survey.survey import Survey

_RANDOMNESS = "elsewhere.randomness"
# Whole numbers with a sign: Spark has no others.
SCHEMA: dict[str, pl.DataType] = {
    "survey": pl.String(),
    "id": pl.String(),
    "question": pl.Int32(),
    "day": pl.Date(),
    "seed": pl.Int64(),
    "output": pl.Int64(),
}


_NO_REPORT, _FOREIGN, _NOT_ASKED = (
    "not a report at all", "of another survey", "about a question that is not asked",
)  # fmt: skip
_OUT_OF_RANGE, _OUTSIDE = "with an answer out of range", "about a day outside the period"
_AGAIN, _SAME_ID = "sent again", "with the id of another report"
REASONS = (_NO_REPORT, _FOREIGN, _NOT_ASKED, _OUT_OF_RANGE, _OUTSIDE, _AGAIN, _SAME_ID)
"""Why reports do not count."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SortedReports:
    """Answers to each question of a survey, and how many reports were left out for which reason."""

    answers: tuple[Indices, ...]
    """For each question the answers, seed and output."""
    halves: tuple[Indices, ...]
    """For each answer the half it belongs to, by a bit of its random id."""
    left_out: dict[str, int]

    @property
    def count(self) -> int:
        """Reports that count."""
        return sum(map(len, self.answers))


def frame_of(reports: Iterable[Report]) -> pl.DataFrame:
    """Reports as a table."""
    rows = [(r.survey, r.report_id, r.question, r.day, r.seed, r.output) for r in reports]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def reports_of(frame: pl.DataFrame) -> list[Report]:
    """A table as reports."""
    return [
        Report(survey=survey, report_id=report_id, question=question, day=day, seed=seed, output=output)
        for survey, report_id, question, day, seed, output in frame.select(list(SCHEMA)).iter_rows()
    ]


def write_reports(path: Path, frame: pl.DataFrame, *, randomness: str) -> None:
    """Write reports as Parquet, whole or not at all, with where their noise came from (R13)."""
    with whole_file(path, is_private=True) as file:
        file.write(packed_reports(frame, randomness=randomness))


def write_reports_of_files(path: Path, parts: Sequence[Path], *, randomness: str) -> None:
    """The same of files of reports, one after the other, a part in memory at a time."""
    with whole_file(path, is_private=True) as file:
        try:
            pl.scan_parquet(list(parts)).select(list(SCHEMA)).sink_parquet(
                file, metadata={_RANDOMNESS: randomness}
            )
        except pl.exceptions.PolarsError:
            raise InputError(str(path), "cannot be written: the disk did not take all of it") from None


def packed_reports(frame: pl.DataFrame, *, randomness: str) -> bytes:
    """What such a file holds."""
    return packed_parquet(frame.select(list(SCHEMA)), metadata={_RANDOMNESS: randomness})


def randomness_of(path: str | Path) -> str:
    """Where the noise of a file of reports came from, as far as the file says."""
    try:
        return pl.read_parquet_metadata(Path(path)).get(_RANDOMNESS, SYSTEM)
    except (OSError, pl.exceptions.PolarsError):
        return SYSTEM


def read_reports(path: str | Path) -> pl.DataFrame:
    """Reports of a Parquet file, from anybody: the right columns, or a clear word."""
    source = str(path)
    try:
        frame = pl.read_parquet(Path(path).read_bytes())
    except OSError as error:
        raise InputError(source, f"cannot be read: {error.strerror}") from None
    except (pl.exceptions.PolarsError, ValueError):
        raise InputError(source, "not a Parquet file of reports") from None
    return checked_columns(frame, source)


def checked_columns(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """A table with the columns of reports; what cannot be one is missing there, and counted later."""
    missing = [name for name in SCHEMA if name not in frame.columns]
    if missing:
        raise InputError(source, f"no column {missing[0]!r}; reports have {', '.join(SCHEMA)}")
    try:
        return frame.select([pl.col(name).cast(kind, strict=False) for name, kind in SCHEMA.items()])
    except pl.exceptions.PolarsError:
        raise InputError(source, f"columns of other types; reports have {', '.join(SCHEMA)}") from None


def sorted_reports(survey: Survey, frame: pl.DataFrame) -> SortedReports:
    """Reports by question; bad and foreign ones are counted and left out."""
    left_out: Counter[str] = Counter()
    rows = frame
    for reason, is_bad in _faults(survey).items():
        bad = rows.select(is_bad.fill_null(value=True)).to_series()
        left_out[reason] = int(bad.sum())
        if left_out[reason]:  # else it would be a copy of ten million rows for each reason
            rows = rows.filter(~bad)
    rows = _once(rows.drop("survey"), left_out)  # which all that are left have in common: half of their bytes
    first = pl.col("id").str.slice(0, 1).str.to_integer(base=16, strict=False)
    rows = rows.with_columns((first % 2).cast(pl.Int32).alias("half"))
    answers, halves = [], []
    for number in range(len(survey.questions)):
        mine = rows.filter(pl.col("question") == number)
        answers.append(mine.select("seed", "output").to_numpy().astype(np.int32).reshape(-1, 2))
        halves.append(mine["half"].to_numpy())
    return SortedReports(
        answers=tuple(answers), halves=tuple(halves), left_out={k: v for k, v in left_out.items() if v}
    )


def _faults(survey: Survey) -> dict[str, pl.Expr]:
    """What can be wrong with a report, one reason after the other."""
    terms = survey.terms
    question, seed, output = pl.col("question"), pl.col("seed"), pl.col("output")
    is_in_range = pl.lit(value=False)
    for number, one in enumerate(survey.questions):
        fits = (seed >= 0) & (seed < one.channel.seeds) & (output >= 0)
        fits &= output < one.channel.odds.candidates
        is_in_range |= (question == number) & fits
    found = {
        _NO_REPORT: pl.any_horizontal(pl.all().is_null())
        | ~pl.col("id").str.contains("^[0-9a-f]{32}$")
        | ~pl.col("day").is_between(pl.lit(FIRST_DAY), pl.lit(LAST_DAY)),
        _FOREIGN: pl.col("survey") != survey_hash(survey),
        _NOT_ASKED: (question < 0) | (question >= len(survey.questions)),
        _OUT_OF_RANGE: ~is_in_range,
    }
    if terms.period is not None:
        period = terms.period
        found[_OUTSIDE] = ~pl.col("day").is_between(pl.lit(terms.told_day(period.first)), pl.lit(period.last))
    return found


def _once(rows: pl.DataFrame, left_out: Counter[str]) -> pl.DataFrame:
    """Each id once; where two reports have one id and other bytes, nobody knows which is true."""
    same = rows.unique(maintain_order=True)
    left_out[_AGAIN] = rows.height - same.height
    is_alone = same.select(~pl.col("id").is_duplicated()).to_series()
    left_out[_SAME_ID] = int((~is_alone).sum())
    return same if is_alone.all() else same.filter(is_alone)
