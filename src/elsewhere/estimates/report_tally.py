"""What reports come down to: counts, to which later reports can be added.

Estimates need no more than these, so reports that were counted once are never read again.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from elsewhere.arrays import Counts, Indices
from elsewhere.errors import InputError
from elsewhere.estimates.counts import AnswerCounts, counted
from elsewhere.files import whole_file
from elsewhere.survey.channels import Channel
from elsewhere.survey.file import survey_hash
from elsewhere.survey.reports import REASONS, SCHEMA, sorted_reports
from elsewhere.survey.survey import Survey

DayType = Literal["weekday", "weekend"]
SEED_PARTS = 64
_SATURDAY = 6
_OTHER_DAYS = "about other days of the week"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionTally:
    """Answers to one question."""

    counts: AnswerCounts
    seeds: Counts
    """How many answers have a seed in each of 64 equal parts of all seeds: honest devices use all alike."""

    def __add__(self, other: QuestionTally) -> QuestionTally:
        return QuestionTally(counts=self.counts + other.counts, seeds=self.seeds + other.seeds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReportTally:
    """Counts of all questions of a survey."""

    survey: str
    """Its hash."""
    days: DayType | None
    """Only of reports about such days."""
    rows: int
    """Reports that were looked at, also those that do not count."""
    newest: int
    """The number of the last one, where they come from a collector's store."""
    questions: tuple[QuestionTally, ...]
    left_out: dict[str, int]

    def __add__(self, other: ReportTally) -> ReportTally:
        """Counts of both; no report may be in both."""
        if (self.survey, self.days) != (other.survey, other.days):
            raise InputError("reports", "were counted for another survey, or about other days")
        return ReportTally(
            survey=self.survey,
            days=self.days,
            rows=self.rows + other.rows,
            newest=max(self.newest, other.newest),
            questions=tuple(a + b for a, b in zip(self.questions, other.questions, strict=True)),
            left_out=dict(Counter(self.left_out) + Counter(other.left_out)),
        )


def tally_of(
    survey: Survey, frame: pl.DataFrame, days: DayType | None = None, newest: int = 0
) -> ReportTally:
    """Count reports; bad and foreign ones by their reason."""
    left_out: dict[str, int] = {}
    ready = sorted_reports(survey, _of_days(survey, frame, days, left_out))
    return ReportTally(
        survey=survey_hash(survey),
        days=days,
        rows=frame.height,
        newest=newest,
        questions=tuple(
            QuestionTally(
                counts=counted(question.channel, answers, halves),
                seeds=_seeds_in_parts(question.channel, answers),
            )
            for question, answers, halves in zip(survey.questions, ready.answers, ready.halves, strict=True)
        ),
        left_out=left_out | ready.left_out,
    )


def nothing_counted(survey: Survey, days: DayType | None = None) -> ReportTally:
    """Where counting begins."""
    return tally_of(survey, pl.DataFrame(schema=SCHEMA), days)


def _seeds_in_parts(channel: Channel, answers: Indices) -> Counts:
    parts = answers[:, 0].astype(np.int64) * min(SEED_PARTS, channel.seeds) // channel.seeds
    return np.bincount(parts, minlength=min(SEED_PARTS, channel.seeds))


def _of_days(
    survey: Survey, frame: pl.DataFrame, days: DayType | None, left_out: dict[str, int]
) -> pl.DataFrame:
    """Reports about such days; how many are about others is counted."""
    if days is None:
        return frame
    if days not in ("weekday", "weekend"):
        raise InputError("days", f"found {days!r}, must be weekday or weekend")
    if survey.terms.day_unit > 1:
        unit = survey.terms.day_unit
        raise InputError("days", f"reports of this survey tell the day in steps of {unit} only")
    is_weekend = pl.col("day").dt.weekday() >= _SATURDAY
    those = frame.filter(is_weekend if days == "weekend" else ~is_weekend)
    if frame.height > those.height:
        left_out[_OTHER_DAYS] = frame.height - those.height
    return those


_REASONS = (*REASONS, _OTHER_DAYS)


def numbers_of_tally(tally: ReportTally) -> Counts:
    """A tally as numbers in a row, which add up as tallies do: for machines that count together."""
    arrays = [array for one in tally.questions for array in (one.counts.pointed, one.counts.asked, one.seeds)]
    left_out = [tally.left_out.get(reason, 0) for reason in _REASONS]
    return np.concatenate([[tally.rows], left_out, *(array.ravel() for array in arrays)]).astype(np.int64)


def tally_from_numbers(survey: Survey, numbers: Counts, days: DayType | None) -> ReportTally:
    """What `numbers_of_tally` wrote down."""
    empty, at = nothing_counted(survey, days), 1 + len(_REASONS)

    def taken(like: Counts) -> Counts:
        nonlocal at
        at += like.size
        return np.asarray(numbers[at - like.size : at].reshape(like.shape))

    questions = []
    for one in empty.questions:
        pointed, asked, seeds = taken(one.counts.pointed), taken(one.counts.asked), taken(one.seeds)
        counts = AnswerCounts(channel=one.counts.channel, pointed=pointed, asked=asked)
        questions.append(QuestionTally(counts=counts, seeds=seeds))
    left_out = dict(zip(_REASONS, numbers[1 : 1 + len(_REASONS)].tolist(), strict=True))
    return replace(
        empty,
        rows=int(numbers[0]),
        questions=tuple(questions),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def save_tally(tally: ReportTally, path: Path) -> None:
    """Keep counts for the next time; of all questions, so not for everybody's eyes."""
    facts = {name: getattr(tally, name) for name in ("survey", "days", "rows", "newest", "left_out")}
    arrays: dict[str, Any] = {"facts": np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)}
    for number, one in enumerate(tally.questions):
        arrays[f"{number}.pointed"] = one.counts.pointed
        arrays[f"{number}.asked"] = one.counts.asked
        arrays[f"{number}.seeds"] = one.seeds
    with whole_file(path, is_private=True) as file:
        np.savez_compressed(file, **arrays)


def kept_tally(path: Path, survey: Survey, days: DayType | None) -> ReportTally | None:
    """Counts of an earlier time, if they are of this survey and of such days; else all is counted anew."""
    empty = nothing_counted(survey, days)
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            questions = [
                QuestionTally(
                    counts=AnswerCounts(
                        channel=one.counts.channel,
                        pointed=arrays[f"{number}.pointed"],
                        asked=arrays[f"{number}.asked"],
                    ),
                    seeds=arrays[f"{number}.seeds"],
                )
                for number, one in enumerate(empty.questions)
            ]
        found = ReportTally(**facts, questions=tuple(questions))
        return empty + found
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, InputError):
        return None
