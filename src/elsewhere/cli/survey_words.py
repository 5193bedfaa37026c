"""What commands of a survey say: its terms, what to expect, what was found."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elsewhere.cli.answer_words import is_hashed
from elsewhere.cli.console import facts_table, out, table, warn
from elsewhere.survey.channels import Channel, DayChannel
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Survey

if TYPE_CHECKING:
    from elsewhere.estimates.estimate import Estimates
    from elsewhere.estimates.expect import Expected


def survey_facts(survey: Survey) -> dict[str, Any]:
    terms = survey.terms
    return {
        "survey": survey_hash(survey),
        "world": survey.world.hash,
        "epsilon": str(terms.epsilon),
        "days": terms.days,
        "period": terms.period and terms.period.plain(),
        "least": terms.least,
        "day_unit": terms.day_unit,
        "purpose": terms.purpose,
        "is_next_round": survey.believed is not None,
        "questions": [
            {
                "name": name,
                "kind": question.kind,
                "share": str(question.share),
                "options": question.record.options(),
                "things": question.things.count,
                "k": question.channel.odds.nearest,
                "outputs": question.channel.odds.candidates,
                "seeds": question.channel.seeds,
            }
            for name, question in zip(survey.names, survey.questions, strict=True)
        ],
    }


def print_terms(survey: Survey) -> None:
    """What whoever answers should have read: what for, and at what cost."""
    terms = survey.terms
    days = "1 day" if terms.days == 1 else f"{terms.days:,} days"
    out.print(facts_table({
        "Purpose": terms.purpose or "not said",
        "Asks about": _period(survey),
        "Costs": f"ε = {terms.epsilon} for each day; {days} may be answered",
    }))  # fmt: skip


def print_what_is_sent(survey: Survey, receiver: str | None) -> None:
    """What leaves the device: before anything is drawn, so that no answer decides whether it is sent."""
    asked = "One of these questions, chosen by chance" if len(survey.questions) > 1 else "This question"
    odds = math.exp(min(float(survey.epsilon), 700.0))
    out.print(f"\n{asked}:")
    for question in survey.questions:
        outputs = question.channel.odds.candidates
        out.print(
            f"  {question.record.what}: one of {outputs:,} answers; {_true_ones(question.channel)} "
            f"{odds:,.0f} times as likely as any other",
            soft_wrap=True,
        )
    print_where_to(receiver)


def print_where_to(receiver: str | None) -> None:
    where = receiver or "nowhere yet: it is written down on this device"
    out.print(f"One report of 63 bytes goes to {where}.", soft_wrap=True, markup=False)


def _true_ones(channel: Channel) -> str:
    """How many answers count as true of any day: always as many, so that their number tells nothing (R19)."""
    mine = channel.odds.nearest
    if isinstance(channel, DayChannel):
        return "the one nearest to your day is" if mine == 1 else f"the {mine:,} nearest to your day are each"
    filled = "by chance" if is_hashed(channel) else "with blanks"
    how = f"of your day (what your day lacks is filled up {filled})"
    return f"1 counts as true {how}," if mine == 1 else f"{mine:,} count as true {how}, each"


def _period(survey: Survey) -> str:
    period = survey.terms.period
    return "any day" if period is None else f"{period.first} to {period.last}"


def print_survey(survey: Survey, *, starts_from: str | None = None) -> None:
    """All of a survey; ``starts_from`` where more is known of it than the survey's file says."""
    terms = survey.terms
    believed = "the public prior" if survey.believed is None else "what an earlier round found"
    out.print(facts_table({
        "Survey": survey_hash(survey)[:12],
        "Purpose": terms.purpose or "not said",
        "Asks about": _period(survey),
        "ε for each day": str(terms.epsilon),
        "Days a person may answer": f"{terms.days:,}",
        "Published from": f"{terms.least:,} reports on",
        "Days are told in steps of": "1 day" if terms.day_unit == 1 else f"{terms.day_unit:,} days",
        "Starts from": starts_from or believed,
        "World": f"{len(survey.world.places):,} places, {survey.world.hash[:12]}",
    }))  # fmt: skip
    rows = [
        [
            name,
            question.record.what,
            f"{100 * float(question.share):g} %",
            f"{question.things.count:,}",
            f"{question.channel.odds.nearest:,} of {question.channel.odds.candidates:,}",
        ]
        for name, question in zip(survey.names, survey.questions, strict=True)
    ]
    out.print(table(["question", "tells", "people", "things", "mine"], rows))


def print_expectations(found: list[Expected]) -> None:
    rows = [
        [
            one.question,
            f"{one.people:,}",
            f"±{100 * one.error:.0f} %",
            f"±{100 * one.interval:.0f} %",
            f"±{100 * one.prior_error:.0f} %",
            one.verdict,
        ]
        for one in found
    ]
    out.print(table(["question", "people", "off by", "interval", "if nobody is asked", ""], rows))
    out.print(
        "Error of the 20 busiest things of each question, relative to how many people have them, for a "
        "made-up city that is not quite "
        "as the public prior thinks. Real cities may be less like it."
    )


def print_estimates(found: Estimates, folder: Path) -> None:
    out.print(f"{found.reports:,} reports count.")
    for reason, count in found.left_out.items():
        out.print(f"Left out: {count:,} {reason}.")
    if not found.tau:
        warn("too few answers to say that the public prior is wrong: the population is the prior itself")
    rows = [
        [
            one.name,
            f"{one.reports:,}",
            f"{one.people_per_fake:.1f}",
            "published" if one.table is not None else "too few: not published",
        ]
        for one in found.questions
    ]
    out.print(table(["question", "reports", "people a fake can move", ""], rows))
    for one in found.questions:
        for oddity in one.oddities:
            warn(f"{one.name}: {oddity}. No honest population answers so: there are made-up reports")
    out.print(f"See {folder / 'index.html'}", soft_wrap=True)
