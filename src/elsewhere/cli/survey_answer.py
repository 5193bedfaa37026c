"""`elsewhere survey answer` and `send`: what a person's device does."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from elsewhere.cli import ledger as ledgers
from elsewhere.cli.answer_words import answer_in_words
from elsewhere.cli.console import facts_table, out, waiting, warn
from elsewhere.cli.method import warn_if_senseless
from elsewhere.cli.own_days import Day, day_of_choice, print_own_day
from elsewhere.cli.survey import Json, SurveyFile
from elsewhere.cli.survey_words import print_terms, print_what_is_sent, print_where_to
from elsewhere.device import personal
from elsewhere.device.answer import Answered, answer_days, check_day
from elsewhere.device.ledger import DayState, Entry, Ledger, open_ledger
from elsewhere.device.ledger_file import has_cap, user_ledger
from elsewhere.device.outbox import mark_sent, unsent
from elsewhere.device.send import Receiver, WrongCodeError, check_survey, receiver_of
from elsewhere.device.send import send as send_report
from elsewhere.errors import ElsewhereError, InputError, NotSentError
from elsewhere.files import check_new, check_suffix, whole_file
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.survey.codes import plain_code
from elsewhere.survey.file import load_survey, survey_hash
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory

_MUCH = 10
Code = Annotated[
    str | None,
    typer.Option(metavar="CODE", help="The code you were invited with, if you were.", show_default=False),
]


def answer(
    survey_file: SurveyFile,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Your own file, as for `elsewhere share`.", show_default=False),
    ],
    day: Day = None,
    *,
    ledger_file: ledgers.LedgerFile = None,
    cap: ledgers.Cap = None,
    epsilon: Annotated[
        str | None,
        typer.Option("-e", "--epsilon", help="The ε you agree to, if a survey asks for more than 10."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="OUT", help="Write the report, 63 bytes: .report."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="URL", help="Send it to a collector, such as https://survey.example.org."
        ),
    ] = None,
    code: Code = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask: answer, and send.")] = False,
    as_json: Json = False,
) -> None:
    """Answer a survey about one day of your own: one report of 63 bytes, and nothing else.

    Without --day, the days of the file that the survey asks about are listed. At a terminal the day is shown
    to you, and what will be sent, and you are asked before anything is drawn or spent; where nobody can be
    asked, say --yes. Asked again for the same day, the same report comes back and nothing more is spent. A
    day that was shared or answered once is never answered anew. With --to the report is sent; if nobody
    answers, it is kept, and `elsewhere survey send` sends it later.

    Example: elsewhere survey answer city.survey Timeline.json --day 2024-03-07 -o my.report
    """
    if output is not None:
        _check_output(output)
    survey = load_survey(survey_file)
    receiver = None if to is None else receiver_of(to)
    if day is not None:
        _checked(survey, day)
    code = None if code is None else plain_code(code)
    if not as_json:
        print_terms(survey)
    _agree(survey, epsilon)
    path = ledger_file or user_ledger()
    before = {entry.day: entry for entry in Ledger(path).entries()} if has_cap(path) else {}
    date, trajectory = _own_day(survey, file, day, before, as_json=as_json)
    is_again = _is_answer(before.get(date.isoformat()), survey)
    if not yes and (as_json or not sys.stdin.isatty()):
        raise InputError("--yes", "is missing: nobody can be asked here, so say it to answer and to send")
    if not yes and not _is_agreed(survey, receiver, date, trajectory, is_again=is_again):
        out.print("Nothing was drawn, spent or sent.")
        return
    if receiver is not None:
        # Only now: who declines is not noticed, and no pause tells how long it took to read the day.
        _check_collector(receiver, survey, code)
    with waiting("Answering"):
        ledger = open_ledger(path, cap, survey.epsilon)
        answered = answer_days(ledger, survey, {date: trajectory})[date]
    report = answered.report
    if output is not None:
        with whole_file(output) as opened:
            opened.write(report.to_bytes())
    receipt = ""
    try:
        if receiver is not None:
            receipt = _send(ledger, receiver, date.isoformat(), report, code)
    finally:
        if as_json:
            print(report.to_json())  # noqa: T201 - not for people, so not through rich
        else:
            _print_answer(survey, answered, ledger, output, receipt)


def _check_output(output: Path) -> None:
    """What could not be written afterwards is refused now, before anything is charged."""
    check_suffix(output, ".report")
    check_new(output)


def _is_answer(entry: Entry | None, survey: Survey) -> bool:
    """Whether a day of the ledger has a report to this survey: then it is the one that goes out again."""
    return entry is not None and entry.survey == survey_hash(survey) and entry.state is not DayState.CHARGED


def _told_of(before: dict[str, Entry], survey: Survey) -> dict[str, str]:
    """Of days in the ledger, whether their answers were sent, or that they were given to somebody else."""
    name = survey_hash(survey)
    return {
        day: f"answered already: {entry.state}" if entry.survey == name else "shared or answered elsewhere"
        for day, entry in before.items()
    }


def _own_day(
    survey: Survey, file: Path, day: str | None, before: dict[str, Entry], *, as_json: bool
) -> tuple[dt.date, Trajectory]:
    """The day that was asked for, or one that the person chooses from a list."""
    world = survey.world
    with waiting("Reading your file"):
        records = personal.read_own([file], world)
    if day is None:
        day = day_of_choice(
            records, world, as_json=as_json, period=survey.terms.period, before=_told_of(before, survey)
        )
    date = _checked(survey, day)
    if personal.is_of_another_city(records, world, day):
        # Not refused: the collector chose the world, and no report would tell where other days were spent.
        warn(f"{file} is mostly about places far from this survey's: the answer will say little")
    if not records.reaches(date):
        warn(f"{file} says nothing about {day}: it is answered as a day without any visit")
    return date, personal.personal_day(records, world, date)


def _is_agreed(
    survey: Survey, receiver: Receiver | None, date: dt.date, trajectory: Trajectory, *, is_again: bool
) -> bool:
    """Whether the person wants it, having seen the day and what will be sent."""
    where = None if receiver is None else receiver.shown
    print_own_day(survey.world, date.isoformat(), trajectory)
    if is_again:
        out.print(f"\nYou answered about {date} before: it is the same report, and nothing more is spent.")
        print_where_to(where)
    else:
        print_what_is_sent(survey, where)
    return typer.confirm("Answer?")


def _checked(survey: Survey, day: str) -> dt.date:
    """A day that a survey asks about, whatever happened on it: else refused before anything is spent."""
    date = personal.checked_day(day, dt.datetime.now(ZoneInfo(survey.world.clock.timezone)).date())
    check_day(survey, date)
    return date


def _print_answer(
    survey: Survey, answered: Answered, ledger: Ledger, output: Path | None, receipt: str
) -> None:
    report = answered.report
    question = survey.questions[report.question]
    out.print(facts_table({
        "Question": question.record.in_words(),
        "Day": str(report.day),
        # Only when it is sent: nobody's answer may decide whether it is.
        "Answer": f"{answer_in_words(survey, report)} (by chance: it may be true of your day or not)"
        if receipt
        else "written down; told here when it is sent",
        "Report": report.report_id,
    }))  # fmt: skip
    how = "The same as before: nothing more is spent" if answered.is_again else "Answered"
    cost = f"ε = {survey.epsilon}. {ledgers.spent_in_words(ledger)}"
    out.print(f"{how}. {cost}", soft_wrap=True, markup=False)
    if output is not None:
        out.print(f"Report: {output}", soft_wrap=True, markup=False)
    if receipt:
        out.print(receipt, soft_wrap=True, markup=False)


def _agree(survey: Survey, epsilon: str | None) -> None:
    """A survey says what it costs; where that is much, whoever pays must have read it."""
    warn_if_senseless(survey.epsilon)
    if survey.epsilon > _MUCH and (epsilon is None or exact_epsilon(epsilon) != survey.epsilon):
        asked = f"the survey asks for ε = {survey.epsilon} a day, which hides little"
        raise InputError("--epsilon", f"{asked}: answer with --epsilon {survey.epsilon} if you agree")


def _check_collector(receiver: Receiver, survey: Survey, code: str | None) -> None:
    """A collector of another survey is refused before anything is spent; one that is away may come back."""
    try:
        check_survey(receiver, survey_hash(survey), code)
    except NotSentError as error:
        warn(f"{error}: the report will be kept")


def _send(ledger: Ledger, receiver: Receiver, day: str, report: Report, code: str | None) -> str:
    """Hand a report in; returns what to tell of it."""
    with waiting("Sending"):
        is_new = send_report(receiver, report, code=code)
    mark_sent(ledger, day, receiver.shown)
    how = "Sent" if is_new else "It was there already"
    return f"{how}: {receiver.shown} keeps report {report.report_id}."


def send(
    survey_file: SurveyFile,
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="The collector, such as https://survey.example.org.")
    ],
    *,
    ledger_file: ledgers.LedgerFile = None,
    code: Code = None,
) -> None:
    """Send the reports to a survey that were kept because nobody could be reached.

    The same bytes as before: nothing is drawn, nothing is spent. A code is for one report: where people were
    invited and several days wait, run it once for each code.

    Example: elsewhere survey send city.survey --to https://survey.example.org
    """
    survey, receiver = load_survey(survey_file), receiver_of(to)
    code = None if code is None else plain_code(code)
    ledger = ledgers.existing_ledger(ledger_file or user_ledger())
    left = unsent(ledger, survey_hash(survey))
    if not left:
        out.print("Nothing is waiting to be sent.")
        return
    check_survey(receiver, survey_hash(survey), code)
    problems: dict[str, ElsewhereError] = {}
    for day, report in left.items():
        try:
            out.print(_send(ledger, receiver, day, report, code), soft_wrap=True, markup=False)
        except (WrongCodeError, InputError) as error:  # the next one may be there already, or be taken
            problems[day] = error
        except NotSentError as error:
            raise NotSentError(f"{error}. Waiting: {_days(unsent(ledger, survey_hash(survey)))}") from None
    if problems:
        raise NotSentError(_still_waiting(problems))


def _days(days: Iterable[str]) -> str:
    return ", ".join(sorted(days))


def _still_waiting(problems: dict[str, ElsewhereError]) -> str:
    """Which days wait, and what would help."""
    refused = [f"{day}: {error}" for day, error in problems.items() if not isinstance(error, WrongCodeError)]
    needy = [day for day, error in problems.items() if isinstance(error, WrongCodeError)]
    if needy:
        what = "a code is for one report, and this one is wrong or used now"
        mend = "run `elsewhere survey send` once for each, with a code of its own; nothing more is spent"
        refused.append(f"waiting: {_days(needy)}: {what}. They are kept: {mend}")
    return "\n".join(refused)


def add_to(app: typer.Typer) -> None:
    """Make these commands of `elsewhere survey`."""
    app.command()(answer)
    app.command()(send)
