"""A page that shows what a method really spends, and how much a share usually tells."""

from __future__ import annotations

from html import escape

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.audit.losses import Losses
from elsewhere.audit.report import AuditReport
from elsewhere.pages.charts import Axis, Line, line_chart
from elsewhere.pages.page import cards, page, section, table

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
                _histogram(report.losses, claimed, report.spent),
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


def _histogram(losses: Losses, claimed: float, spent: float) -> str:
    widest = max(claimed, float(np.abs(losses.hardest).max()), float(np.abs(losses.ordinary).max())) * 1.08
    edges = np.linspace(-widest, widest, _BINS + 1)
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    lines = []
    for name, values, colour in (
        ("ordinary pairs of days", losses.ordinary, "first"),
        ("the hardest pair", losses.hardest, "second"),
    ):
        shares = (100 * _shares(values, edges)).tolist()
        lines.append(Line(name=name, x=middles, y=shares, colour=colour))
        lines.append(Line(name=name, x=middles, y=shares, colour=colour, is_area=True, is_named=False))
    spent = min(spent, widest)
    ends = {"−ε": -claimed, "ε claimed": claimed}
    if abs(spent - claimed) > widest / 8:  # else the words would stand on each other
        ends["spent at most"] = spent
    x = Axis(title="how much likelier under the true day (natural logarithm)", low=-widest, high=widest,
             ticks=np.linspace(-np.ceil(claimed), np.ceil(claimed), 5).tolist())  # fmt: skip
    about = "How often what was drawn tells how much"
    return line_chart(lines, x=x, y=Axis(title="% of days"), about=about, verticals=ends)


def _shares(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(values, bins=edges)
    return np.asarray(counts / len(values))
