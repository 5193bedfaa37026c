"""A page about what to expect of sharing: errors by ε, and changes that show by ε and number of people."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from elsewhere.evaluate.plan import Plan
from elsewhere.pages.page import PALETTE, chart, page, section, table

_NAMES = {"combined": "d, all together", "space_km": "km", "time_hours": "hours", "category": "d_c"}


def plan_page(plan: Plan) -> str:
    """One self-contained page."""
    sections = [
        section(
            "Error of a person's visit",
            "Lines: codebook. Dotted: the best day that ignores the person. Below it there is information.",
            chart(_errors(plan), "errors"),
        ),
        section(
            "What an analyst can see",
            "The smallest change in how many people, in per cent of all, are in a cell of 4 × 4 at an hour "
            "that stands out by two standard errors. Dotted: if everybody told the truth.",
            chart(_changes(plan), "changes"),
        ),
        section("In numbers", "Errors with 95 % intervals.", _table(plan)),
    ]
    return page(
        "Before anyone shares anything",
        f"Expected of codebook on world {plan.world[:12]}, by sharing pretend days of its public prior.",
        sections,
    )


def _errors(plan: Plan) -> Any:
    figure = go.Figure()
    epsilons = [line.epsilon for line in plan.expectations]
    for colour, (key, words) in zip(PALETTE, _NAMES.items(), strict=False):
        values = [line.errors[key].value for line in plan.expectations]
        figure.add_scatter(x=epsilons, y=values, name=words, mode="lines+markers", line={"color": colour})
        figure.add_scatter(
            x=epsilons, y=[plan.best_null[key]] * len(epsilons), showlegend=False, hoverinfo="skip",
            mode="lines", line={"color": colour, "dash": "dot"},
        )  # fmt: skip
    figure.update_layout(
        xaxis={"title": "ε for a day", "type": "category"}, yaxis={"title": "error"}, height=420
    )
    figure.update_yaxes(rangemode="tozero")
    return figure


def _changes(plan: Plan) -> Any:
    figure = go.Figure()
    people = list(plan.open_change)
    for colour, line in zip(PALETTE * 9, plan.expectations, strict=False):
        figure.add_scatter(
            x=people, y=list(line.visible_change.values()), name=f"ε = {line.epsilon}", mode="lines+markers",
            line={"color": colour},
        )  # fmt: skip
    figure.add_scatter(
        x=people, y=list(plan.open_change.values()), name="truth", mode="lines",
        line={"color": "#5a6270", "dash": "dot"},
    )  # fmt: skip
    figure.update_layout(
        xaxis={"title": "people", "type": "log"}, yaxis={"title": "%", "type": "log"}, height=420
    )
    return figure


def _table(plan: Plan) -> str:
    header = [
        "ε",
        "k",
        *_NAMES.values(),
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
