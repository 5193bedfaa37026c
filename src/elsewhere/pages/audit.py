"""A page that shows what a method really spends, and how much a share usually tells."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.audit.losses import Losses
from elsewhere.audit.report import AuditReport
from elsewhere.pages.charts import Axis, Bar, Line, bar_table, line_chart
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
    elif isinstance(report.facts.options.get("candidates"), int):
        sections.append(section("How much a share tells", _ABOUT_PICK, _pick(report)))
    hidden = "".join(f"<li>{escape(thing)}</li>" for thing in report.not_protected)
    sections.append(section("What is not protected", "Whoever gets the share learns:", f"<ul>{hidden}</ul>"))
    facts = {**report.facts.as_json(), "world": report.world}
    rows = [[name, str(value)] for name, value in facts.items()]
    sections.append(
        section(
            "Settings", "Public, and the same for everybody.", table(["setting", "value"], rows, words=(0, 1))
        )
    )
    title = "What ε is really spent" if report.is_ldp else "NOT ε-LDP: what is really spent"
    return page(title, report.promise, sections)


_ABOUT_PICK = (
    "One made-up day is picked out of public candidates. Those nearest to the true day are likelier than the "
    "others by a factor of e^ε, and there are as many of them whatever is true. That is all a share can tell."
)


def _pick(report: AuditReport) -> str:
    """Chances of a near candidate and of any other one."""
    near, every = int(report.facts.options["k"]), int(report.facts.options["candidates"])
    factor = math.exp(min(float(report.claimed), 500.0))
    total = near * factor + every - near
    rows = [
        Bar(label=f"any one of the {near:,} nearest", value=100 * factor / total),
        Bar(label=f"any one of the {every - near:,} others", value=100 / total),
        Bar(label="all of the nearest together", value=100 * near * factor / total),
        Bar(label="the same days, if they were not the nearest", value=100 * near / total),
    ]
    return bar_table(rows, what="candidate days", unit="% of shares", digits=3)


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
    return table(
        ["draw", "how", "how many", "ε' claimed", "ε' spent at most", "together"], rows, words=(0, 1)
    )


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
    x = Axis(title="how much likelier under the true day (natural logarithm)", low=-widest, high=widest)
    about = "How often what was drawn tells how much"
    return line_chart(lines, x=x, y=Axis(title="% of days"), about=about, verticals=ends)


def _shares(values: Floats, edges: Floats) -> Floats:
    counts, _ = np.histogram(values, bins=edges)
    return np.asarray(counts / len(values))
