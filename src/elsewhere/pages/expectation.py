"""A page about a survey before anyone is asked: what it asks, and how far its answers will be off."""

from __future__ import annotations

from elsewhere.estimates.expect import BUSY, Expected
from elsewhere.pages.charts import COLOURS, Axis, Line, line_chart
from elsewhere.pages.page import cards, page, section, table
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Survey


def expectation_page(survey: Survey, found: list[Expected]) -> str:
    """What a survey asks, and how far its answers will be off."""
    rows = [
        [
            one.question,
            f"{one.people:,}",
            f"{one.reports:,}",
            f"±{100 * one.error:.0f} %",
            f"±{100 * one.interval:.0f} %",
            f"±{100 * one.prior_error:.0f} %",
            one.verdict,
            "–" if one.central_epsilon is None else f"{one.central_epsilon:.2g}",
        ]
        for one in found
    ]
    header = ["question", "people", "reports", "off by", "interval", "nobody asked", "", "ε when mixed"]
    sections = [
        _terms(survey),
        section(
            "How far the busiest things will be off",
            f"Mean relative error of the {BUSY} busiest things of each question, for a made-up city that is "
            "not quite as the public prior thinks. Dotted: if nobody is asked.",
            _errors(found),
        ),
        section(
            "In numbers",
            "A question that is too fine for so few people needs a coarser grid or longer hours. The last "
            "column is what anonymity may add (δ = 10⁻⁶) to one report, if reports are mixed before anyone "
            "looks, carry nothing that tells who sent them, and are spread evenly over the days of the "
            "period: only those that tell the same day can be taken for each other. Without a period "
            "nothing can be said. The promise to people stays the local ε.",
            table(header, rows, words=(0, 6)),
        ),
    ]
    return page("Before anyone is asked", f"Survey {survey_hash(survey)[:12]}.", sections)


def _terms(survey: Survey) -> str:
    terms = survey.terms
    facts = {
        "ε for each day": str(terms.epsilon),
        "days a person may answer": f"{terms.days:,}",
        "least reports published": f"{terms.least:,}",
        "places": f"{len(survey.world.places):,}",
    }
    rows = [
        [name, question.record.what, f"{100 * float(question.share):g} %", f"{question.things.count:,}"]
        for name, question in zip(survey.names, survey.questions, strict=True)
    ]
    asked = table(["question", "tells", "people", "things"], rows, words=(0, 1))
    return cards(facts) + section("What is asked", terms.purpose or "No purpose is said.", asked)


def _errors(found: list[Expected]) -> str:
    """A chart for each question: more lines than that nobody can tell apart."""
    parts = []
    for name in dict.fromkeys(one.question for one in found):
        mine = [one for one in found if one.question == name]
        people = [float(one.people) for one in mine]
        lines = [
            Line(
                name="people are asked", x=people, y=[100 * one.error for one in mine], colour=COLOURS[0],
                has_marks=True,
            ),
            Line(
                name="nobody is asked", x=people, y=[100 * one.prior_error for one in mine], colour="quiet",
                style="dotted",
            ),
        ]  # fmt: skip
        x, y = Axis(title="people", is_log=True), Axis(title="off by, %")
        drawn = line_chart(lines, x=x, y=y, about=f"{name}: how far off by the number of people")
        parts.append(f"<div><h3>{name}</h3>{drawn}</div>")
    return f"<div class='beside'>{''.join(parts)}</div>"
