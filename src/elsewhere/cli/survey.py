"""`elsewhere survey`: ask many people, estimate what they say together."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from elsewhere.cli import ledger as ledgers
from elsewhere.cli.console import facts_table, out, print_json, progress_bar, table, waiting, warn
from elsewhere.cli.method import warn_if_senseless
from elsewhere.cli.survey_words import (
    print_expectations,
    print_survey,
    print_terms,
    survey_facts,
)
from elsewhere.device.ledger import open_ledger
from elsewhere.device.ledger_file import user_ledger
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import check_can_write, check_suffix, whole_file, write_text
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.randomness import SeededRandomness, SystemRandomness, label_of
from elsewhere.survey.file import load_survey, save_survey, survey_hash
from elsewhere.survey.survey import Survey

_MUCH = 10

if TYPE_CHECKING:
    from elsewhere.estimates.expect import Expected

app = typer.Typer(
    help="Ask many people about a day, and estimate what they say together.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SurveyFile = Annotated[Path, typer.Argument(metavar="SURVEY", help="A .survey file.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def create(
    source: Annotated[
        Path, typer.Argument(metavar="TOML", help="World, ε and questions.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="SURVEY", help="The .survey file.", show_default=False)
    ],
    *,
    expect: Annotated[
        bool, typer.Option("--expect/--no-expect", help="Simulate on the prior what to expect.")
    ] = True,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="PAGE", help="Write what to expect as a page: .html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a survey from a survey.toml, and say what to expect of it. No person's day is looked at.

    For 1,000 to 1,000,000 people: how far the busiest things of each question will be off, by simulation on
    the public prior, and whether a question is too fine.

    Example: elsewhere survey create survey.toml -o city.survey --page expect.html
    """
    check_suffix(output, ".survey")
    if page is not None:
        check_suffix(page, ".html")
    with needs_extra("making a survey", "build"):
        from elsewhere.estimates.expect import expectations  # noqa: PLC0415 - needs an extra
        from elsewhere.survey.toml import create_survey  # noqa: PLC0415 - needs an extra
    with waiting("Making the survey"):
        survey = create_survey(source)
    warn_if_senseless(survey.epsilon)
    save_survey(survey, output)
    found: list[Expected] = []
    if expect:
        with progress_bar("Simulating what to expect") as progress:
            found = expectations(survey, progress=progress)
    if page is not None:
        with needs_extra("pages", "pages"):
            from elsewhere.pages.survey import expectation_page  # noqa: PLC0415 - needs an extra
        write_text(page, expectation_page(survey, found))
    if as_json:
        print_json({**survey_facts(survey), "expect": [one.as_json() for one in found]})
        return
    print_survey(survey)
    if found:
        print_expectations(found)
    out.print(f"Next: elsewhere survey answer {output} FILE --day DATE, on a device", soft_wrap=True)


@app.command()
def show(survey_file: SurveyFile, *, as_json: Json = False) -> None:
    """Say what a survey asks, of whom, and what it promises.

    Example: elsewhere survey show city.survey
    """
    survey = load_survey(survey_file)
    if as_json:
        print_json(survey_facts(survey))
        return
    print_survey(survey)


@app.command()
def answer(
    survey_file: SurveyFile,
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Your own file, as for `elsewhere share`.", show_default=False),
    ],
    day: Annotated[str, typer.Option(help="Which day, such as 2024-03-07.", show_default=False)],
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
    as_json: Json = False,
) -> None:
    """Answer a survey about one day of your own: one report of 63 bytes, and nothing else.

    Asked again for the same day, the same report comes back and nothing more is spent. A day that was shared
    or answered once is never answered anew.

    Example: elsewhere survey answer city.survey Timeline.json --day 2024-03-07 -o my.report
    """
    with needs_extra("reading your own files", "build"):
        from elsewhere.device import personal  # noqa: PLC0415 - needs an extra
        from elsewhere.device.answer import answer_days, check_day  # noqa: PLC0415 - needs an extra
    if output is not None:
        check_suffix(output, ".report")
        if output.exists():
            raise InputError(str(output), "is there already: choose another output")
        check_can_write(output)
    survey = load_survey(survey_file)
    world = survey.world
    date = personal.checked_day(day, dt.datetime.now(ZoneInfo(world.clock.timezone)).date())
    check_day(survey, date)
    if not as_json:
        print_terms(survey)
    _agree(survey, epsilon)
    with waiting("Reading your file"):
        records = personal.read_own([file], world)
    if personal.is_of_another_city(records, world, day):
        # Not refused: the collector chose the world, and no report would tell where other days were spent.
        warn(f"{file} is mostly about places far from this survey's: the answer will say little")
    with waiting("Answering (the first time, loops are compiled)"):
        trajectory = personal.personal_day(records, world, date)
        ledger = open_ledger(ledger_file or user_ledger(), cap, survey.epsilon)
        answered = answer_days(ledger, survey, {date: trajectory})[date]
    report = answered.report
    if output is not None:
        with whole_file(output) as opened:
            opened.write(report.to_bytes())
    if as_json:
        print(report.to_json())  # noqa: T201 - not for people, so not through rich
        return
    question = survey.questions[report.question]
    out.print(facts_table({
        "Question": question.record.in_words(),
        "Day": str(report.day),
        "Answer": f"{report.seed}, {report.output}",
        "Report": report.report_id,
    }))  # fmt: skip
    how = "The same as before: nothing more is spent" if answered.is_again else "Answered"
    cost = f"ε = {survey.epsilon}; spent {float(ledger.spent):g} of {float(ledger.cap):g}"
    out.print(
        f"{how}. {cost}. {ledgers.in_words(ledger_file or user_ledger())}.", soft_wrap=True, markup=False
    )
    if output is not None:
        out.print(f"Report: {output}", soft_wrap=True, markup=False)


def _agree(survey: Survey, epsilon: str | None) -> None:
    """A survey says what it costs; where that is much, whoever pays must have read it."""
    warn_if_senseless(survey.epsilon)
    if survey.epsilon > _MUCH and (epsilon is None or exact_epsilon(epsilon) != survey.epsilon):
        asked = f"the survey asks for ε = {survey.epsilon} a day, which hides little"
        raise InputError("--epsilon", f"{asked}: answer with --epsilon {survey.epsilon} if you agree")


@app.command()
def simulate(
    survey_file: SurveyFile,
    trajectories: Annotated[
        Path, typer.Argument(metavar="TRAJ", help="True trajectories of many people.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="REPORTS", help="Reports: .parquet.", show_default=False)
    ],
    *,
    people: Annotated[
        int | None,
        typer.Option(min=1, help="So many people, drawn from the file with replacement.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable and NOT private: for experiments.", show_default=False)
    ] = None,
    as_json: Json = False,
) -> None:
    """Answer a survey for many people at once, each as on a device of their own. For research.

    Every person's day in the file gives one report, as far as the survey's period and its number of days for
    each person allow; with --people, days are drawn from the file, each as if of another person.

    Example: elsewhere survey simulate city.survey trajectories.csv -o reports.parquet
    """
    check_suffix(output, ".parquet")
    with needs_extra("simulating", "build"):
        from elsewhere.device.people import read_days  # noqa: PLC0415 - needs an extra
        from elsewhere.device.simulate import simulated_reports  # noqa: PLC0415 - needs an extra
        from elsewhere.survey.reports import write_reports  # noqa: PLC0415 - needs an extra
    survey = load_survey(survey_file)
    randomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    with waiting("Reading"):
        days, others = read_days(trajectories, survey, randomness, people)
    with progress_bar("Answering") as progress:
        frame = simulated_reports(survey, days, randomness, progress)
    write_reports(output, frame, randomness=label_of(randomness))
    if seed is not None:
        warn("a seed was given: these reports are NOT private")
    if others:
        warn(f"{others:,} days are left out: outside the period, or more than a person may answer")
    counts = frame["question"].value_counts().sort("question")
    by_name = {survey.names[number]: count for number, count in counts.iter_rows()}
    if as_json:
        print_json({"reports": frame.height, "by_question": by_name, "survey": survey_hash(survey)})
        return
    out.print(f"{frame.height:,} reports: {output}", soft_wrap=True)
    out.print(table(["question", "reports"], [[name, f"{count:,}"] for name, count in by_name.items()]))
