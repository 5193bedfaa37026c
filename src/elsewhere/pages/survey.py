"""Pages of a survey: what to expect before anyone is asked, and what people said together."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import polars as pl

from elsewhere.arrays import Floats
from elsewhere.estimates.estimate import Estimated, Estimates
from elsewhere.estimates.expect import BUSY, Expected
from elsewhere.pages.made_up import made_up_sections
from elsewhere.pages.page import PALETTE, cards, chart, page, section, table, verdict
from elsewhere.pages.things import bars, labels
from elsewhere.randomness import SYSTEM
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Survey

_BOX = ("south", "west", "north", "east")
_SOME_FAKES = 100


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
            chart(_errors(found), "errors"),
        ),
        section(
            "In numbers",
            "A question that is too fine for so few people needs a coarser grid or longer hours. The last "
            "column is what anonymity may add (δ = 10⁻⁶) to one report, if reports are mixed before anyone "
            "looks, carry nothing that tells who sent them, and are spread evenly over the days of the "
            "period: only those that tell the same day can be taken for each other. Without a period "
            "nothing can be said. The promise to people stays the local ε.",
            table(header, rows),
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
    asked = table(["question", "tells", "people", "things"], rows)
    return cards(facts) + section("What is asked", terms.purpose or "No purpose is said.", asked)


def _errors(found: list[Expected]) -> Any:
    figure = go.Figure()
    names = list(dict.fromkeys(one.question for one in found))
    for colour, name in zip(PALETTE * 9, names, strict=False):
        mine = [one for one in found if one.question == name]
        people = [one.people for one in mine]
        errors, none = [100 * one.error for one in mine], [100 * one.prior_error for one in mine]
        figure.add_scatter(x=people, y=errors, name=name, mode="lines+markers", line={"color": colour})
        figure.add_scatter(
            x=people, y=none, showlegend=False, hoverinfo="skip", mode="lines",
            line={"color": colour, "dash": "dot"},
        )  # fmt: skip
    figure.update_layout(
        xaxis={"title": "people", "type": "log"}, yaxis={"title": "%", "rangemode": "tozero"}, height=420
    )
    return figure


def results_page(found: Estimates, truth: dict[str, Floats] | None = None) -> str:
    """Every question's busiest things, hours of the day, what the population says, and what was left out.

    Where people are made up, ``truth`` has the share of them who have each thing of each question.
    """
    truth = truth or {}
    terms = found.survey.terms
    sections = [
        cards(
            {
                "reports that count": f"{found.reports:,}",
                "ε for each day": str(terms.epsilon),
                "left out": f"{sum(found.left_out.values()):,}",
                "visits a day": f"{found.population.days.lengths @ found.population.weights:.2f}",
            }
        )
    ]
    if found.randomness != SYSTEM:
        sections.append(verdict(f"NOT private, for experiments: randomness is {found.randomness}."))
    odd = [f"{one.name}: {oddity}" for one in found.questions for oddity in one.oddities]
    if odd:
        sections.append(verdict(f"Some reports are made up: {'; '.join(odd)}."))
    if not found.tau:
        sections.append(
            verdict(
                "Too few answers to say that the public prior is wrong: the population is the prior itself."
            )
        )
    sections.append(
        section(
            "Visits by hour",
            "Dotted: what was believed before anybody answered.",
            chart(_hours(found), "hours"),
        )
    )
    sections += [_question_section(one, truth.get(one.name)) for one in found.questions]
    sections += made_up_sections(found.population)
    sections.append(_fakes(found))
    if found.left_out:
        rows = [[reason, f"{count:,}"] for reason, count in found.left_out.items()]
        sections.append(
            section("Left out", "Reports that do not count.", table(["reports", "how many"], rows))
        )
    return page(
        "What people said together",
        f"Survey {survey_hash(found.survey)[:12]}. {terms.purpose}".strip(),
        sections,
    )


def _fakes(found: Estimates) -> str:
    """How far made-up reports could move a number, and whether any show."""
    rows = [
        [
            one.name,
            f"{one.people_per_fake:.1f}",
            f"{100 * one.people_per_fake * _SOME_FAKES / max(one.reports, 1):.2g}",
            "; ".join(one.oddities) or "nothing odd",
        ]
        for one in found.questions
    ]
    heads = ["question", "people a made-up report can move", f"{_SOME_FAKES} of them, per cent", "answers"]
    note = (
        "Anybody who may answer can lie. Intervals are about chance, not about lies: this is how far made-up "
        "reports could move the count of any one thing, at most. Estimates may move farther where they leave "
        "the prior."
    )
    return section("If reports were made up", note, table(heads, rows))


def _hours(found: Estimates) -> Any:
    figure = go.Figure()
    hours = list(range(24))
    figure.add_scatter(
        x=hours, y=100 * found.population.hours(), name="estimated", line={"color": PALETTE[0]}
    )
    figure.add_scatter(
        x=hours, y=100 * found.prior.hours(), name="prior", line={"color": "#5a6270", "dash": "dot"}
    )
    figure.update_layout(
        xaxis={"title": "hour", "dtick": 3},
        yaxis={"title": "% of visits", "rangemode": "tozero"},
        height=360,
        legend={"orientation": "h", "y": 1.15},
    )  # fmt: skip
    return figure


def _question_section(one: Estimated, truth: Floats | None) -> str:
    title = f"{one.name}: {one.question.record.what}"
    if one.table is None:
        return section(title, f"Only {one.reports:,} reports: too few, nothing is published.", "")
    if not one.question.record.has_table:
        note = f"{one.reports:,} reports. They shape the population below; a candidate alone means nothing."
        return section(title, note, "")
    whole = one.frame()
    # A few things stand in their own order: numbers of visits, lengths of trips.
    frame = whole if whole.height <= BUSY else whole.sort("estimate", descending=True).head(BUSY)
    estimate, low, high = (frame[name].to_numpy() for name in ("estimate", "low", "high"))
    true = None if truth is None else truth[frame["thing"].to_numpy()]
    charts = chart(bars(labels(frame), estimate, low=low, high=high, truth=true), f"bars-{one.name}")
    if "hour" in whole.columns and set(_BOX) <= set(whole.columns) and "hours" not in whole.columns:
        charts += chart(_heat(whole), f"heat-{one.name}")
    which = f"The {BUSY} largest" if whole.height > BUSY else f"All {whole.height}"
    note = f"{one.reports:,} reports. {which}, per cent of people, with 95 % intervals."
    if truth is not None:
        holds = one.table.holds(truth)
        note += f" {holds.sum():,} of all {whole.height:,} intervals hold what is true, {holds.mean():.1%}."
    return section(title, note, charts)


def _heat(frame: pl.DataFrame) -> Any:
    """Cells by hour: busiest cells first."""
    hours = sorted(frame["hour"].unique().to_list())
    estimate = frame["estimate"].to_numpy().reshape(-1, len(hours))
    names = labels(frame.drop("hour")[:: len(hours)])
    order = np.argsort(-estimate.sum(axis=1))[:40]
    figure = go.Figure()
    figure.add_heatmap(
        z=100 * estimate[order], x=hours, y=[names[row] for row in order], colorscale="Blues",
        colorbar={"title": "%"},
    )  # fmt: skip
    figure.update_layout(
        xaxis={"title": "hour"}, yaxis={"autorange": "reversed", "automargin": True},
        height=140 + 18 * len(order), margin={"l": 10, "t": 40},
    )  # fmt: skip
    return figure
