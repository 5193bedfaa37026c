"""What a population says beyond what was asked, as sections of the page of results."""

from __future__ import annotations

import polars as pl

from elsewhere.days.hotspots import THRESHOLDS
from elsewhere.estimates.population import Population
from elsewhere.estimates.population_frames import ETA_PEOPLE, chains_frame, flows_frame, hotspots_frame
from elsewhere.pages.page import section, table
from elsewhere.pages.things import labels, shares_table, where

_SHOWN = ("4 × 4 grid", "category level 1")
_MOST = 15
_EACH = 8
_WARNING = (
    "From here on, numbers come from made-up weighted days that agree with the answers. They have no "
    "intervals. Where one of them matters, ask it as a question of its own."
)


def made_up_sections(population: Population) -> list[str]:
    """Hotspots, flows and chains, with a word on what they are worth."""
    return [
        section("What the population says", _WARNING, ""),
        _hotspots(hotspots_frame(population)),
        _flows(flows_frame(population)),
        _chains(chains_frame(population)),
    ]


def _hotspots(frame: pl.DataFrame) -> str:
    """The largest of each granularity that tells most: cells, and kinds of place."""
    rows = [
        [
            where(row) or row["category"],
            f"{row['start']}:00–{row['end']}:00",
            f"{row['peak_hour']}:00",
            f"{100 * row['peak_share']:.1f} %",
        ]
        for granularity in _SHOWN
        for row in frame.filter(granularity=granularity)[:_EACH].iter_rows(named=True)
    ]
    cell, kind = (f"{100 * THRESHOLDS[granularity] / ETA_PEOPLE:g} %" for granularity in _SHOWN)
    note = f"Hours in a row in which more than {cell} of people are in a cell, or {kind} at a kind of place."
    return section("Hotspots", note, table(["where", "when", "peak", "people"], rows))


def _flows(frame: pl.DataFrame) -> str:
    """Bars of those that go anywhere."""
    is_same = pl.all_horizontal(pl.col(f"from_{side}") == pl.col(f"to_{side}") for side in ("south", "west"))
    frame = frame.filter(~is_same)[:_MOST]
    if not frame.height:
        return section("Flows", "Nobody goes from one cell to another.", "")
    note = f"The {frame.height} most popular moves from one cell of a 4 × 4 grid to another."
    shares = frame["share"].to_numpy()
    return section("Flows", note, shares_table(labels(frame.drop("share")), shares, what="from → to"))


def _chains(frame: pl.DataFrame) -> str:
    rows = [
        [f"{100 * share:.1f} %", chain]
        for visits in (2, 3)
        for _, chain, share in frame.filter(visits=visits)[:_EACH].iter_rows()
    ]
    note = "Kinds of place one after the other, and people with each."
    return section("Popular chains", note, table(["people", "chain"], rows))
