"""A page that shows what a method really spends, and how much a share usually tells."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from elsewhere.arrays import Floats
from elsewhere.audit.losses import Losses
from elsewhere.audit.report import AuditReport
from elsewhere.pages.page import PALETTE, cards, chart, page, section, table

_BINS = 80


def audit_page(report: AuditReport) -> str:
    """HTML of the page."""
    claimed = float(report.claimed)
    numbers = {
        "ε claimed": f"{claimed:g}",
        "ε spent, at most": f"{report.spent:.3f}",
        "of the claim": f"{report.spent / claimed:.0%}",
        "draws": str(sum(line.count for line in report.lines)),
        "visits" if report.facts.length_is_public else "visits, at most": str(
            report.facts.most_visits or report.length
        ),
    }
    if report.black_box is not None:
        numbers["seen from outside, at least"] = f"{report.black_box.epsilon:.3f}"
    verdict = "" if report.is_ldp else "<p class='verdict'>This is not ε-local differential privacy.</p>"
    sections = [
        verdict + cards(numbers),
        section("What each draw spends", f"How this is known: {report.how}.", _draws(report)),
    ]
    if report.losses is not None:
        sections.append(
            section(
                "How much a share tells",
                "Privacy loss of real draws: how much likelier what was drawn is under the true day "
                "than under another one, as a logarithm. 0 tells nothing; ε is the most that is allowed. "
                "The ordinary pairs are made-up days at random open places; the hardest pair stays all day "
                "in the two regions that a single draw tells apart best (if lengths are hidden, the shortest "
                "day against the longest). What is shared is made of the "
                "draws, so it tells no more than they do.",
                chart(_histogram(report.losses, claimed, report.spent), "losses"),
            )
        )
    hidden = "".join(f"<li>{escape(thing)}</li>" for thing in report.not_protected)
    sections.append(section("What is not protected", "Whoever gets the share learns:", f"<ul>{hidden}</ul>"))
    facts = {**report.facts.as_json(), "world": report.world}
    rows = [[name, str(value)] for name, value in facts.items()]
    sections.append(
        section("Settings", "Public, and the same for everybody.", table(["setting", "value"], rows))
    )
    title = "What ε is really spent" if report.is_ldp else "NOT ε-LDP: what is really spent"
    return page(title, report.promise, sections)


def _draws(report: AuditReport) -> str:
    rows = [
        [
            line.what,
            "exact" if line.is_exact else "proven bound",
            str(line.count),
            f"{float(line.epsilon):.4f}",
            f"{line.spent:.4f}",
            f"{line.count * line.spent:.4f}",
        ]
        for line in report.lines
    ]
    total = ["all", "", str(sum(line.count for line in report.lines))]
    rows.append([*total, "", "", f"{report.spent:.4f}"])
    return table(["draw", "how", "how many", "ε' claimed", "ε' spent at most", "together"], rows)


def _histogram(losses: Losses, claimed: float, spent: float) -> Any:
    widest = max(claimed, float(np.abs(losses.hardest).max()), float(np.abs(losses.ordinary).max())) * 1.08
    edges = np.linspace(-widest, widest, _BINS + 1)
    figure = go.Figure()
    for name, values, colour in (
        ("ordinary pairs of days", losses.ordinary, PALETTE[0]),
        ("the hardest pair", losses.hardest, PALETTE[2]),
    ):
        figure.add_bar(
            x=(edges[:-1] + edges[1:]) / 2,
            y=_shares(values, edges),
            name=name,
            marker={"color": colour, "opacity": 0.65},
            width=edges[1] - edges[0],
            hovertemplate="loss %{x:.2f}<br>%{y:.1%} of days<extra></extra>",
        )
    for value, words, dash in ((claimed, "ε claimed", "solid"), (min(spent, widest), "spent at most", "dot")):
        for side in (-1, 1):
            figure.add_vline(
                x=side * value,
                line={"dash": dash, "color": "#5a6270", "width": 1.5},
                annotation_text=words if side > 0 else "",
            )
    figure.update_layout(
        barmode="overlay",
        height=380,
        margin={"l": 10, "r": 10, "t": 60, "b": 40},
        legend={"orientation": "h", "y": 1.14},
        xaxis_title="privacy loss of the draws: ln Pr(draws | true day) − ln Pr(draws | other day)",
        yaxis={"title": "share of days", "tickformat": ".0%"},
    )
    return figure


def _shares(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(values, bins=edges)
    return np.asarray(counts / len(values))
