"""Answering a survey on a device: charge, draw, keep, hand out; and many made-up devices at once."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from elsewhere.device.ledger import Charge, Ledger
from elsewhere.errors import InputError
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import Randomness, SystemRandomness, label_of, random_id
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import Report, report_from_bytes
from elsewhere.survey.reports import SCHEMA
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory

_BATCH = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A report as the ledger keeps it: what may leave the device."""

    report: Report
    is_again: bool
    """It was there before; nothing was spent."""


def check_day(survey: Survey, day: dt.date) -> None:
    """Refuse a day that a survey does not ask about, whatever happened on it."""
    period = survey.terms.period
    if period is not None and not period.holds(day):
        raise InputError("--day", f"found {day}, the survey asks about {period.first} to {period.last}")


def answer_days(
    ledger: Ledger, survey: Survey, days: Mapping[dt.date, Trajectory]
) -> dict[dt.date, Answered]:
    """One report for each day; asked again for the same day, the same report comes back."""
    answering, name = Answering(survey), survey_hash(survey)
    charges = []
    for day in days:
        check_day(survey, day)
        how = json.dumps({"method": "survey", "survey": name}, sort_keys=True)
        charges.append(Charge(day.isoformat(), str(survey.epsilon), how, survey.world.hash))

    def drawn(text: str) -> dict[str, Any]:
        day = dt.date.fromisoformat(text)
        source = SystemRandomness()
        found, _ = answering.answer([answering.secret(days[day])], source, constant_work=True)
        question, seed, output = found[0].tolist()
        report = Report(
            survey=name, report_id=random_id(), question=question, day=survey.terms.told_day(day),
            seed=seed, output=output,
        )  # fmt: skip
        return {"id": report.report_id, "randomness": label_of(source), "report": report.to_bytes().hex()}

    kept = ledger.paid(charges, drawn, most=survey.terms.days)
    return {
        dt.date.fromisoformat(day): Answered(
            report=report_from_bytes(bytes.fromhex(plain["report"])), is_again=is_again
        )
        for day, (plain, is_again) in kept.items()
    }


def simulated_reports(
    survey: Survey,
    people: Sequence[tuple[dt.date, Trajectory]],
    randomness: Randomness,
    progress: Progress = no_progress,
) -> pl.DataFrame:
    """Reports of many devices, one for each day, as if each had answered by itself."""
    answering, name = Answering(survey), survey_hash(survey)
    frames = []
    for start in range(0, len(people), _BATCH):
        batch = people[start : start + _BATCH]
        secrets = [answering.secret(trajectory) for _, trajectory in batch]
        found, _ = answering.answer(secrets, randomness, constant_work=False)
        ids = randomness.words(2 * len(batch)).tobytes().hex()
        frames.append(
            pl.DataFrame(
                {
                    "survey": [name] * len(batch),
                    "id": [ids[32 * at : 32 * at + 32] for at in range(len(batch))],
                    "question": found[:, 0],
                    "day": [survey.terms.told_day(day) for day, _ in batch],
                    "seed": found[:, 1],
                    "output": found[:, 2],
                }
            ).cast(SCHEMA)  # type: ignore[arg-type]  # names and types
        )
        progress(start + len(batch), len(people))
    return pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)
