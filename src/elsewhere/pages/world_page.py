"""A page that shows a world: places by kind and hour, regions, how far one gets, what its prior thinks."""

from __future__ import annotations

from typing import Any

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.estimates.population import population_of
from elsewhere.estimates.support import support_of
from elsewhere.pages.charts import Axis, Bar, Line, bar_table, line_chart
from elsewhere.pages.page import MAP_SCRIPTS, page, section, table
from elsewhere.pages.sides import visits_by_hour
from elsewhere.pages.world_regions import reach_data, region_levels
from elsewhere.randomness import seeded_generator
from elsewhere.world.basemap import box_of
from elsewhere.world.kinds import first_categories
from elsewhere.world.summary import summarise
from elsewhere.world.world import World

_HOURS = 24
_PRIOR_DAYS = 20_000
_MOST_CIRCLES = 300
_SEED = 2021
_MAP = """
<noscript><p class="verdict">The map needs JavaScript. Tables and charts below do without.</p></noscript>
<div class="controls"><label>Shown <select id="shown"></select></label>
<label id="level-label">Regions <select id="level"></select></label></div>
<div class="controls"><button type="button" id="play" aria-pressed="false">Play the day</button>
<label for="hour">Hour</label><input type="range" id="hour" min="0" max="23" step="1">
<output id="hour-words" for="hour" aria-live="polite"></output></div>
<p class="note" id="no-map" hidden>This browser cannot draw maps (no WebGL): tables below say what there is.
</p>
<p class="note" id="plain-map" hidden>
There is no base map: this world was not built from an OpenStreetMap extract.</p>
<div class="map" id="map"></div><ul class="legend" id="key"></ul>
<div class="controls"><label for="place">Find a place</label>
<input id="place" list="place-names" autocomplete="off"><datalist id="place-names"></datalist></div>
<p id="picked" aria-live="polite">Choose a place, on the map or by its name, to see how far one gets from it
in 30 minutes.</p>
"""
_ABOUT_MAP = (
    "Kinds of place: those that are open in the chosen hour are full, others hollow. What the prior thinks: "
    "where made-up people are in that hour, before anybody is asked. Regions: places that are told apart no "
    "further at that hour; point at one to read what is in it."
)


def world_page(world: World, basemap: bytes | None = None) -> str:
    """HTML of the page."""
    facts = summarise(world, longest_ngram=4)
    clock, count = world.clock, len(world.places)
    roots = world.tree.lineage[first_categories(world), 0]
    prior = _prior_visits(world)
    subtitle = (
        f"Everything public about {clock.day} ({clock.timezone}), in steps of {clock.timestep_minutes} "
        f"minutes. World {world.hash[:12]}."
    )
    return page(
        f"A world of {count:,} place{'s' if count != 1 else ''}",
        subtitle,
        [
            section("The city, hour by hour", _ABOUT_MAP, _MAP),
            section("Kinds of place", "How many places of each kind, and how many are ever open.",
                    _kinds(world, roots)),
            section("When places are open, and when people are out",
                    "Made-up people are those of the public prior: what is believed before anybody is asked.",
                    _by_hour(world, prior)),
            section("In numbers", "For those who read the paper.", _numbers(facts)),
        ],
        scripts=(*MAP_SCRIPTS, "scripts/world.js"),
        data={"world": _data(world, roots, prior)},
        blobs=None if basemap is None else {"basemap": basemap},
    )  # fmt: skip


def _prior_visits(world: World) -> Floats:
    """Place × hour: share of all visits, of days that the public prior thinks likely."""
    support = support_of(world)
    drawn = population_of(world, support.days, support.prior).draw(_PRIOR_DAYS, seeded_generator(_SEED))
    found = np.zeros((len(world.places), _HOURS))
    for hour, visits in enumerate(visits_by_hour(world, drawn)):
        for place, number in visits.items():
            found[place, hour] = number
    return np.asarray(found / max(found.sum(), 1.0))


def _open_by_hour(world: World) -> Floats:
    """Place × hour: 1 where a place is open at any time of the hour."""
    hours = np.arange(world.clock.timesteps) * world.clock.timestep_minutes // 60
    found = np.zeros((len(world.places), _HOURS))
    for hour in range(_HOURS):
        found[:, hour] = world.is_open[:, hours == hour].any(axis=1)
    return found


def _kind_names(world: World, roots: Any) -> list[tuple[int, str]]:
    """Root categories that have a place, the largest first."""
    known, counts = np.unique(roots, return_counts=True)
    order = known[np.argsort(-counts, kind="stable")].tolist()
    return [(root, world.tree.names[root] or world.tree.ids[root]) for root in order]


def _data(world: World, roots: Any, prior: Floats) -> dict[str, Any]:
    places = world.places
    kinds = _kind_names(world, roots)
    number = {root: at for at, (root, _) in enumerate(kinds)}
    is_open = _open_by_hour(world).astype(np.int64) @ (1 << np.arange(_HOURS))
    by_hour = []
    for hour in range(_HOURS):
        top = np.argsort(-prior[:, hour], kind="stable")[:_MOST_CIRCLES]
        by_hour.append([[int(place), round(1e6 * prior[place, hour])] for place in top if prior[place, hour]])
    return {
        "box": box_of(places),
        "kinds": [name for _, name in kinds],
        "lng": np.round(places.longitudes, 6).tolist(),
        "lat": np.round(places.latitudes, 6).tolist(),
        "names": [name or place for name, place in zip(places.names, places.ids, strict=True)],
        "kind": [number[int(root)] for root in roots],
        "open": is_open.tolist(),
        "prior": by_hour,
        "levels": region_levels(world),
        "reach": reach_data(world),
    }


def _kinds(world: World, roots: Any) -> str:
    is_ever_open = world.is_open.any(axis=1)
    bars = []
    for root, name in _kind_names(world, roots):
        mine = roots == root
        closed = int((mine & ~is_ever_open).sum())
        label = name if not closed else f"{name} ({closed:,} closed all day)"
        bars.append(Bar(label=label, value=float(mine.sum())))
    return bar_table(bars, what="kind", unit="places", digits=0)


def _by_hour(world: World, prior: Floats) -> str:
    hours = [float(hour) for hour in range(_HOURS)]
    opened, visits = 100 * _open_by_hour(world).mean(axis=0), 100 * prior.sum(axis=0)
    parts = []
    for title, unit, values in (
        ("Places that are open", "% of places", opened),
        ("Visits of made-up people", "% of visits", visits),
    ):
        x = Axis(title="hour", ticks=[0, 3, 6, 9, 12, 15, 18, 21], low=0, high=23)
        line = Line(name=title, x=hours, y=values.tolist(), has_marks=True)
        drawn = line_chart([line], x=x, y=Axis(title=unit), about=f"{title} by hour")
        parts.append(f"<div><h3>{title}</h3>{drawn}</div>")
    return f"<div class='beside'>{''.join(parts)}</div>"


def _numbers(facts: dict[str, Any]) -> str:
    kappa, settings = facts["settings"]["kappa"], facts["settings"]
    what = "places" if kappa["weight"] == "count" else f"of {kappa['weight']}"
    spread = facts["places_per_region"]
    rows = [
        ["places", f"{facts['places']:,}, of which {facts['places_closed_all_day']:,} are closed all day"],
        ["regions", f"{facts['regions']:,}, merged from {facts['regions_before_merging']:,}"],
        ["places in a region", f"{spread['least']} to {spread['most']}, median {spread['median']:g}"],
        [
            "each region should have (κ)",
            f"{kappa['least']:g} {what}; {facts['regions_below_kappa']:,} have less",
        ],
        ["merged in", ", then ".join(settings["merge_order"]) or "nothing"],
        ["largest distance (d)", f"{facts['max_distance']:.2f}"],
    ]
    rows += [
        [
            f"sequences of {entry['n']} regions",
            (
                f"{entry['feasible']:,} can happen; {entry['removed_by_time']:.1%} of all are out of order "
                f"in time, {entry['removed_by_travel']:.1%} too far to travel"
            ),
        ]
        for entry in facts["ngrams"][1:]
    ]
    merging = [
        [step["dimension"], step["level"], *(f"{step[key]:,}" for key in ("climbed", "became", "satisfied"))]
        for step in facts["merging"]
    ]
    steps = table(
        ["climb in", "to", "regions below κ", "became", "of these now have κ"], merging, words=(0, 1)
    )
    found = table(["what", ""], rows, words=(0, 1))
    return found + (f"<h3>Merging, step by step</h3>{steps}" if merging else "")
