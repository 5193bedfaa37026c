"""A device in Python: read a day of a person's own file, answer a survey about it, send the report."""

from __future__ import annotations

import datetime as dt
from contextlib import suppress
from pathlib import Path

from elsewhere.device.answer import answer_days
from elsewhere.device.ledger import Ledger, open_ledger
from elsewhere.device.ledger_file import user_ledger
from elsewhere.device.outbox import mark_sent
from elsewhere.device.personal import personal_day, read_own
from elsewhere.device.send import check_survey, receiver_of, send
from elsewhere.errors import NotSentError
from elsewhere.survey.codes import plain_code
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World


def read_own_day(path: str | Path, day: dt.date, *, world: World) -> Trajectory:
    """One day of a person's own file: Google Timeline or Takeout, GPX, KML, TCX, GeoJSON, OwnTracks, CSV.

    Parameters
    ----------
    path
        The file.
    day
        Which day, in the world's local time.
    world
        Stays go to its nearest open place within 250 m.

    Returns
    -------
    Trajectory
        The day, whatever the file says of it: a day without any record has no known visit. PRIVATE.

    Raises
    ------
    InputError
        If the file is none of these.

    Examples
    --------
    >>> ew.read_own_day("mine.csv", dt.date(2025, 9, 17), world=world)
    <private Trajectory of 1 visits>
    """
    return personal_day(read_own([Path(path)], world), world, day)


def answer(
    survey: Survey,
    day: dt.date,
    trajectory: Trajectory,
    *,
    ledger: Ledger | None = None,
    to: str | None = None,
    code: str | None = None,
) -> Report:
    """Answer a survey about one day: charge the ledger, draw, write the report down, send it.

    Parameters
    ----------
    survey
        The survey, as `load_survey` read it.
    day
        The date of the day.
    trajectory
        What is true of it.
    ledger
        Who pays; the user's own ledger if none is given.
    to
        A collector, such as ``https://survey.example.org``; without it nothing is sent.
    code
        The code of an invitation, if the collector asks for one.

    Returns
    -------
    Report
        All that may leave the device: 63 bytes. The same one whenever the same day is answered again.

    Raises
    ------
    InputError
        If the survey does not ask about the day, or the collector is of another survey.
    BudgetError
        If the ledger's cap would be passed.
    NotSentError
        If nobody takes the report now, or not with this code: it is written down, and the same call sends
        it later.

    Examples
    --------
    >>> report = ew.answer(survey, dt.date(2025, 9, 17), day)
    >>> len(report.to_bytes())
    63
    """
    receiver = None if to is None else receiver_of(to)
    code = None if code is None else plain_code(code)
    if receiver is not None:
        with suppress(NotSentError):  # who is away may come back: the report is written down first
            check_survey(receiver, survey_hash(survey), code)
    payer = ledger or open_ledger(user_ledger(), None, survey.epsilon)
    report = answer_days(payer, survey, {day: trajectory})[day].report
    if receiver is not None:
        send(receiver, report, code=code)
        mark_sent(payer, day.isoformat(), receiver.shown)
    return report
