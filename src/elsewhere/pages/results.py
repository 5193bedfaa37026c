"""The analyst's page: what people said together, on a map by the hour, with an interval at every number."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from elsewhere.arrays import Floats
from elsewhere.errors import InputError
from elsewhere.estimates.estimate import Estimated, Estimates
from elsewhere.estimates.expect import BUSY
from elsewhere.pages.page import MAP_SCRIPTS, cards, page, section, table, verdict
from elsewhere.pages.result_maps import Compared, map_views, move_views
from elsewhere.pages.things import labels, shares_table
from elsewhere.randomness import SYSTEM
from elsewhere.survey.file import survey_hash
from elsewhere.survey.part_names import PartNames
from elsewhere.world.basemap import box_of

_SOME_FAKES = 100
_ABOUT_MAP = (
    "Choose an hour, or let the day play. Numbers are per cent of all people: those who arrive there in that "
    "hour, unless the question counts people until they leave. So an hour need not add up to 100 %. A part "
    "of the city is coloured only as far as it is known: hatched ones could be empty or busy, nobody can "
    "tell from these answers. Choose a part, on the map or in the list, for its number, its interval and its "
    "day."
)
_POPULATION = (
    "Beside these tables lies a population: made-up, weighted days that agree with all answers, and answer "
    "questions that nobody was asked (population.parquet; hotspots, flows and chains in population/). Its "
    "numbers have no intervals, so none of them stands here. Where one matters, ask it as a question."
)
_NO_SCRIPT = (
    "<noscript><p class='verdict'>The map needs JavaScript. All tables below do without.</p></noscript>"
)


def results_page(
    found: Estimates,
    *,
    truth: Mapping[str, Floats] | None = None,
    basemap: bytes | None = None,
    other: Compared | None = None,
) -> str:
    """Where people are by the hour, how they move, every question's largest things, and what was left out.

    Parameters
    ----------
    truth
        Where people are made up: the share of them who have each thing of each question.
    basemap
        Tiles of streets and water (`world.basemap`).
    other
        Results of other days or of another survey to compare with.
    """
    truth = truth or {}
    terms = found.survey.terms
    sections = [cards(_facts(found)), *map(verdict, _warnings(found))]
    names = PartNames(found.survey.world.places)
    for one in found.questions:
        names.learn(one.question.things)
    views = map_views(found, truth, other, names)
    moves = move_views(found, truth, other, names)
    if views or moves:
        sections.append(section("Where people are, hour by hour", _ABOUT_MAP, _NO_SCRIPT + _MAP))
    sections += [_question_section(one, truth.get(one.name), names) for one in found.questions]
    sections.append(section("Questions that nobody was asked", _POPULATION, ""))
    sections.append(_fakes(found))
    if found.left_out:
        rows = [[reason, f"{count:,}"] for reason, count in found.left_out.items()]
        sections.append(
            section("Left out", "Reports that do not count.", table(["reports", "how many"], rows))
        )
    has_map = bool(views or moves)
    return page(
        "What people said together",
        f"Survey {survey_hash(found.survey)[:12]}. {terms.purpose}".strip(),
        sections,
        scripts=(*MAP_SCRIPTS, "scripts/results.js", "scripts/downloads.js", "scripts/results_page.js")
        if has_map
        else (),
        data={"results": {"views": views, "moves": moves, "box": box_of(found.survey.world.places)}}
        if has_map
        else None,
        blobs={"basemap": basemap} if basemap is not None and has_map else None,
    )


_MAP = """
<div class="controls">
<label id="which-label">Question <select id="which"></select></label>
<label id="view-label">Shown <select id="view"></select></label>
<label id="flows-label"><input type="checkbox" id="flows"> moves from part to part, of the whole day</label>
</div>
<div class="controls" id="hours">
<button type="button" id="play" aria-pressed="false">Play the day</button>
<label for="hour">Hour</label><input type="range" id="hour" min="0" max="23" step="1">
<output id="hour-words" for="hour" aria-live="polite"></output>
</div>
<div class="map" id="map"></div>
<p class="note" id="no-map" hidden>This browser cannot draw the map (no WebGL). The list says the same.</p>
<p class="note" id="plain-map" hidden>
There is no base map: this world was not built from an OpenStreetMap extract.</p>
<ul class="legend" id="key"></ul>
<div class="controls"><button type="button" id="csv">Download this hour (CSV)</button>
<button type="button" id="png">Download the map (PNG)</button></div>
<div class="beside"><div><h3 id="list-title">Busiest now</h3><div id="list"></div></div>
<div aria-live="polite"><h3 id="picked-title">Choose a part of the city</h3><p id="picked"></p>
<div id="picked-day"></div></div></div>
"""


def _facts(found: Estimates) -> dict[str, str]:
    return {
        "reports that count": f"{found.reports:,}",
        "ε for each day": str(found.survey.terms.epsilon),
        "left out": f"{sum(found.left_out.values()):,}",
        "intervals": "95 %",
    }


def _warnings(found: Estimates) -> list[str]:
    """What must not be overlooked."""
    said = []
    if found.randomness != SYSTEM:
        said.append(f"NOT private, for experiments: randomness is {found.randomness}.")
    odd = [f"{one.name}: {oddity}" for one in found.questions for oddity in one.oddities]
    if odd:
        said.append(f"Some reports are made up: {'; '.join(odd)}.")
    if not found.tau:
        said.append(
            "Too few answers to say that the public prior is wrong: estimates are the prior's, and only the "
            "intervals come from answers."
        )
    return said


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
    return section("If reports were made up", note, table(heads, rows, words=(0, 3)))


def _question_section(one: Estimated, truth: Floats | None, names: PartNames) -> str:
    title = f"{one.name}: {one.question.record.what}"
    if one.table is None:
        return section(title, f"Only {one.reports:,} reports: too few, nothing is published.", "")
    if not one.question.record.has_table:
        note = f"{one.reports:,} reports. They shape the population; a candidate alone means nothing."
        return section(title, note, "")
    whole = one.frame()
    # A few things stand in their own order: numbers of visits, lengths of trips.
    frame = whole if whole.height <= BUSY else whole.sort("estimate", descending=True).head(BUSY)
    estimate, low, high = (frame[name].to_numpy() for name in ("estimate", "low", "high"))
    true = None if truth is None else truth[frame["thing"].to_numpy()]
    drawn = shares_table(labels(frame, names), estimate, what=one.name, low=low, high=high, truth=true)
    which = f"The {BUSY} largest" if whole.height > BUSY else f"All {whole.height}"
    note = (
        f"{one.reports:,} reports. {which}, per cent of people, with 95 % intervals. They may reach farther "
        "up than down: of days with much in them, answers tell only a part."
    )
    if truth is not None:
        holds = one.table.holds(truth)
        note += f" {holds.sum():,} of all {whole.height:,} intervals hold what is true, {holds.mean():.1%}."
    return section(title, note, drawn)


def read_compared(folder: Path, name: str) -> Compared:
    """Tables of an earlier folder of results, by question."""
    if not (folder / "summary.json").is_file():
        raise InputError(str(folder), "holds no results: it must be a folder that `survey estimate` wrote")
    kept = {}
    for path in sorted(folder.glob("*.parquet")):
        frame = pl.read_parquet(path)
        if {"thing", "estimate", "low", "high"} <= set(frame.columns):
            kept[path.stem] = frame
    if not kept:
        raise InputError(str(folder), "holds no table of a question to compare with")
    return Compared(name=name, tables=kept)
