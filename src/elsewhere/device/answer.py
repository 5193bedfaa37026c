"""Answering a survey on a device: charge, draw, keep, hand out."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from elsewhere.device.charge import Charge, hours_of
from elsewhere.device.ledger import Ledger
from elsewhere.errors import InputError
from elsewhere.randomness import SystemRandomness, label_of, random_id
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import FIRST_DAY, LAST_DAY, Report, report_from_bytes
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A report as the ledger keeps it: what may leave the device."""

    report: Report
    is_again: bool
    """It was there before; nothing was spent."""


def check_day(survey: Survey, day: dt.date) -> None:
    """Refuse a day that a survey does not ask about, whatever happened on it: before anything is paid."""
    period = survey.terms.period
    if period is not None and not period.holds(day):
        raise InputError("--day", f"found {day}, the survey asks about {period.first} to {period.last}")
    if not FIRST_DAY <= survey.terms.told_day(day) <= day <= LAST_DAY:
        raise InputError("--day", f"found {day}, reports tell days from {FIRST_DAY} to {LAST_DAY}")


def answer_days(
    ledger: Ledger, survey: Survey, days: Mapping[dt.date, Trajectory]
) -> dict[dt.date, Answered]:
    """One report for each day; asked again for the same day, the same report comes back."""
    answering, name = Answering(survey), survey_hash(survey)
    charges = []
    for day in days:
        check_day(survey, day)
        how = json.dumps({"method": "survey", "survey": name}, sort_keys=True)
        hours = hours_of(day, survey.world.clock.timezone)
        charges.append(Charge(day.isoformat(), str(survey.epsilon), how, survey.world.hash, hours))

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
