"""From reports to what is so: tables with intervals, and a population that agrees with all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from elsewhere.arrays import Floats
from elsewhere.days.visits import Days
from elsewhere.errors import InputError
from elsewhere.estimates.counts import AnswerCounts
from elsewhere.estimates.fakes import oddities, people_per_fake
from elsewhere.estimates.margins import Margin, raked
from elsewhere.estimates.population import Population, population_of
from elsewhere.estimates.report_tally import DayType, QuestionTally, ReportTally, nothing_counted, tally_of
from elsewhere.estimates.support import support_of
from elsewhere.estimates.tables import EstimateTable, table_of
from elsewhere.estimates.tilt import Evidence
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import SYSTEM
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import Report
from elsewhere.survey.reports import checked_columns, frame_of, randomness_of, read_reports
from elsewhere.survey.survey import Question, Survey

Reports = pl.DataFrame | str | Path | Iterable[Report] | ReportTally


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimated:
    """One question and what was estimated; no table if too few people answered it."""

    name: str
    question: Question
    reports: int
    table: EstimateTable | None
    oddities: tuple[str, ...]
    """What no honest population could have answered."""

    @property
    def people_per_fake(self) -> float:
        """How many people one made-up report can add to the count of a thing, or take from it, at most."""
        return people_per_fake(self.question.channel)

    def frame(self) -> pl.DataFrame:
        """A row for each thing: what it is, count, estimate, low, high (95 %), all per person."""
        if self.table is None:
            raise InputError(self.name, f"has only {self.reports:,} reports: nothing is published of it")
        things = self.question.things
        columns = {"thing": list(range(things.count)), **things.columns()}
        numbers = {name: getattr(self.table, name) for name in ("count", "estimate", "low", "high")}
        return pl.DataFrame({**columns, **numbers}).with_columns(pl.lit(self.reports).alias("reports"))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """All that a survey's reports tell."""

    survey: Survey
    questions: tuple[Estimated, ...]
    population: Population
    prior: Population
    """What was believed before anybody answered."""
    tau: float
    """How far the prior was tilted; 0: it stands, answers were too few to say that it is wrong."""
    reports: int
    left_out: dict[str, int]
    """Reports that do not count, by reason."""
    randomness: str = SYSTEM
    """Where the noise of reports came from, as far as their files say; a seed is for experiments only."""

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.questions)
        return f"<Estimates of {self.reports:,} reports: {names}>"

    def frame(self, name: str) -> pl.DataFrame:
        """The table of a question, by its name."""
        known = {one.name: one for one in self.questions}
        if name not in known:
            raise InputError("question", f"found {name!r}, must be one of {', '.join(known)}")
        return known[name].frame()


class _Asked(NamedTuple):
    """A question of one of the surveys, and what was answered."""

    name: str
    question: Question
    tally: QuestionTally
    least: int
    """Below so many reports nothing is published of it."""

    @property
    def counts(self) -> AnswerCounts:
        return self.tally.counts


def estimate(
    survey: Survey,
    reports: Reports,
    *,
    also: Sequence[tuple[Survey, Reports]] = (),
    margins: Sequence[Margin] = (),
    days: DayType | None = None,
    progress: Progress = no_progress,
) -> Estimates:
    """What many people say together, with honest intervals.

    Parameters
    ----------
    survey
        The survey that they answered.
    reports
        A Parquet file, a polars frame, reports, or what was counted of them.
    also
        Other surveys on the same world and their reports: another ε, other questions. Each is read through
        its own channel; all of them make one population, from the public prior on.
    margins
        Public counts that the population must agree with (`read_margins`), so that who took part is not
        mistaken for who lives there.
    days
        Only reports about weekdays, or about weekends.
    progress
        Told how far it is.

    Returns
    -------
    Estimates
        A table for each question, a population, and what was left out.

    Raises
    ------
    InputError
        If no report counts, a survey is given twice, or surveys are of different worlds.

    Examples
    --------
    >>> found = ew.estimate(survey, "reports.parquet")
    >>> found.frame("presence").columns[-5:]
    ['count', 'estimate', 'low', 'high', 'reports']
    """
    _refuse_twice([survey, *(one for one, _ in also)])
    left_out: dict[str, int] = {}
    asked: list[_Asked] = []
    for number, (one, those) in enumerate([(survey, reports), *also]):
        if one.world != survey.world:
            raise InputError("also", "is a survey on another world: its people cannot be put together")
        tally = _tally(one, those, days)
        for reason, count in tally.left_out.items():
            left_out[reason] = left_out.get(reason, 0) + count
        for name, question, answered in zip(one.names, one.questions, tally.questions, strict=True):
            named = name if number == 0 else f"{name}@{number + 1}"
            asked.append(_Asked(named, question, answered, one.terms.least))
    used = [one for one in asked if one.counts.reports >= one.least]
    if not used:
        raise InputError("reports", _too_few(asked, left_out, survey))
    # Reports of an earlier round would count twice, once through the population that was made of them.
    believed = None if also else survey.believed
    found = _estimated(survey, believed, asked, used, margins, left_out, progress)
    return replace(found, randomness=_randomness([reports, *(those for _, those in also)]))


def _refuse_twice(surveys: Sequence[Survey]) -> None:
    """Repeated reports are left out within one input only: two of one survey would count them twice."""
    names = [survey_hash(one) for one in surveys]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        mend = "put its reports into one file, or use one of the inputs"
        raise InputError("also", f"survey {twice[:12]} is given twice, and reports might count twice: {mend}")


def _estimated(
    survey: Survey,
    believed: Days | None,
    asked: Sequence[_Asked],
    used: Sequence[_Asked],
    margins: Sequence[Margin],
    left_out: dict[str, int],
    progress: Progress,
) -> Estimates:
    support = support_of(survey.world, believed)
    evidence = Evidence(support, [one.counts for one in used])
    fit = evidence.fit(progress)
    weights = raked(survey, support, fit.weights, margins) if margins else fit.weights
    tables = {one.name: table_of(evidence, fit, at) for at, one in enumerate(used)}
    if margins:
        tables = {
            name: _scaled(table, evidence, at, fit.weights, weights)
            for at, (name, table) in enumerate(tables.items())
        }
    return Estimates(
        survey=survey,
        questions=tuple(
            Estimated(
                name=one.name,
                question=one.question,
                reports=one.counts.reports,
                table=tables.get(one.name),
                oddities=tuple(oddities(one.tally)) if one in used else (),
            )
            for one in asked
        ),
        population=population_of(survey.world, support.days, weights),
        prior=population_of(survey.world, support.days, support.prior),
        tau=fit.tau,
        reports=sum(one.counts.reports for one in asked),
        left_out=left_out,
    )


def _scaled(
    table: EstimateTable, evidence: Evidence, at: int, before: Floats, after: Floats
) -> EstimateTable:
    """A table of those who took part as one of those who live there: by how much margins moved each thing."""
    whole = evidence.whole[at]
    factor = (whole @ after + 1e-12) / (whole @ before + 1e-12)
    low, high = table.low * factor, (table.high * factor).clip(max=1.0)
    return replace(table, estimate=(table.estimate * factor).clip(max=1.0), low=low, high=high)


def _tally(survey: Survey, reports: Reports, days: DayType | None) -> ReportTally:
    if isinstance(reports, ReportTally):
        return nothing_counted(survey, days) + reports  # which refuses counts of anything else
    if isinstance(reports, pl.DataFrame):
        return tally_of(survey, checked_columns(reports, "reports"), days)
    return tally_of(
        survey, read_reports(reports) if isinstance(reports, str | Path) else frame_of(reports), days
    )


def _randomness(files: Iterable[Reports]) -> str:
    labels = {randomness_of(one) for one in files if isinstance(one, str | Path)} - {SYSTEM}
    return ", ".join(sorted(labels)) or SYSTEM


def _too_few(asked: Sequence[_Asked], left_out: dict[str, int], survey: Survey) -> str:
    counts = ", ".join(f"{one.name} {one.counts.reports:,}" for one in asked)
    reasons = "; ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    bad = f" Left out: {reasons}." if reasons else ""
    least = f"{survey.terms.least:,} reports, the least of which anything is published"
    return f"no question has {least} ({counts}).{bad}"
