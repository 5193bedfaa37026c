"""A page about what to expect of sharing: errors by ε, and changes that show by ε and number of people."""

from __future__ import annotations

from fractions import Fraction

from elsewhere.evaluate.plan import Plan
from elsewhere.pages.charts import COLOURS, Axis, Line, line_chart
from elsewhere.pages.page import page, section, table

_NAMES = {
    "combined": "All together (d)",
    "space_km": "How far away",
    "time_hours": "How long before or after",
    "category": "How different a kind of place (d_c)",
}
_UNITS = {"combined": "d", "space_km": "km", "time_hours": "hours", "category": "d_c"}


def plan_page(plan: Plan) -> str:
    """One self-contained page."""
    sections = [
        section(
            "Error of a person's visit",
            "How far a shared visit is from the true one, on average. Dotted: the best day that ignores the "
            "person. Only what is below it tells anything about the person.",
            _errors(plan),
        ),
        section(
            "What an analyst can see",
            "The smallest change in how many people, in per cent of all, are in a cell of 4 × 4 at an hour "
            "that stands out by two standard errors. Dotted: if everybody told the truth.",
            _changes(plan),
        ),
        section("In numbers", "Errors with 95 % intervals.", _table(plan)),
    ]
    return page(
        "Before anyone shares anything",
        f"Expected of codebook on world {plan.world[:12]}, by sharing pretend days of its public prior.",
        sections,
    )


def _errors(plan: Plan) -> str:
    """A chart for each unit: what a device shares, and the best day that ignores the person."""
    epsilons = [float(Fraction(line.epsilon)) for line in plan.expectations]
    parts = []
    for key, words in _NAMES.items():
        lines = [
            Line(name="codebook", x=epsilons, y=[line.errors[key].value for line in plan.expectations],
                 has_marks=True),
            Line(name="ignoring the person", x=epsilons, y=[plan.best_null[key]] * len(epsilons),
                 colour="quiet", style="dotted"),
        ]  # fmt: skip
        x = Axis(title="ε for a day", ticks=epsilons, is_log=True)
        parts.append(
            f"<div><h3>{words}</h3>"
            + line_chart(lines, x=x, y=Axis(title=_UNITS[key]), about=f"Error by ε: {words}")
            + "</div>"
        )
    return f"<div class='beside'>{''.join(parts)}</div>"


def _changes(plan: Plan) -> str:
    people = [float(number) for number in plan.open_change]
    lines = [
        Line(
            name=f"ε = {line.epsilon}",
            x=people,
            y=list(line.visible_change.values()),
            colour=colour,
            has_marks=True,
        )
        for colour, line in zip(COLOURS * 9, plan.expectations, strict=False)
    ]
    truth = Line(
        name="everybody tells the truth", x=people, y=list(plan.open_change.values()), colour="quiet",
        style="dotted",
    )  # fmt: skip
    x, y = Axis(title="people who share", is_log=True), Axis(title="% of people", is_log=True)
    return line_chart([*lines, truth], x=x, y=y, about="Smallest change that shows, by people and ε")


def _table(plan: Plan) -> str:
    header = [
        "ε",
        "k",
        *_UNITS.values(),
        "of a change kept",
        *(f"{number:,} people" for number in plan.open_change),
    ]
    rows = [
        [
            line.epsilon,
            str(line.k),
            *(f"{e.value:.2f} ({e.low:.2f}–{e.high:.2f})" for e in (line.errors[key] for key in _NAMES)),
            f"{100 * line.kept:.0f} %",
            *(f"±{change:.2f} %" for change in line.visible_change.values()),
        ]
        for line in plan.expectations
    ]
    nulls = [f"{plan.best_null[key]:.2f}" for key in _NAMES]
    rows.append(["ignoring people", "–", *nulls, "0 %", *["–"] * len(plan.open_change)])
    return table(header, rows)
