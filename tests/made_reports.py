"""Reports of made-up people to a small survey, for tests."""

from __future__ import annotations

import datetime as dt
import socket

from elsewhere.randomness import random_id
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Period, Survey

DAY = dt.date(2025, 9, 17)
PERIOD = Period(first=dt.date(2025, 9, 1), last=dt.date(2025, 9, 30))


def some_reports(survey: Survey, count: int) -> list[Report]:
    """Valid reports with random ids; what they answer does not matter here."""
    name = survey_hash(survey)
    return [
        Report(
            survey=name,
            report_id=random_id(),
            question=number % len(survey.questions),
            day=DAY,
            seed=0,
            output=number % 3,
        )
        for number in range(count)
    ]


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
