"""A page that shows true and shared days side by side: on maps by the hour, by kinds of places, by errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.pages.charts import Axis, column_chart
from elsewhere.pages.page import cards, page, section, table, verdict
from elsewhere.pages.sides import HOURS, SIDE_SCRIPTS, SIDES, Days, sides_data, visits_by_hour
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_PEOPLE_SHOWN = 6
_COLOURS = ("quiet", "first")
_MEASURES = {"combined": "d, all together", "space_km": "km", "time_hours": "hours", "category": "d_c"}
Errors = Mapping[str, float]


def sharing_page(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    *,
    promise: str,
    errors: Mapping[str, Errors],
    nulls: Mapping[str, Sequence[SharedTrajectory]],
    finding: str = "",
    cards_too: Mapping[str, str] | None = None,
    is_made_up: bool = False,
    basemap: bytes | None = None,
) -> str:
    """HTML of the page. PRIVATE unless people are made up: it shows true days.

    ``errors`` has a row for what was shared and one for each null, ``finding`` says what that comes to;
    ``nulls`` are days that ignore people and could pass for those of a city.
    """
    numbers = {
        "days": f"{len(real):,}",
        "true visits": f"{sum(len(day.visits) for day in real):,}",
        "shared visits": f"{sum(len(day.visits) for day in shared):,}",
        "promise": promise,
        **(cards_too or {}),
    }
    people = [(f"person {number + 1}", number) for number in range(min(_PEOPLE_SHOWN, len(real)))]
    return page(
        "What was true, and what was shared",
        "Left: where people were. Right: what was shared instead. Only the right side may leave a device.",
        [
            _MADE_UP if is_made_up else verdict(_PRIVATE),
            cards(numbers),
            section("Hour by hour", _ABOUT_MAPS, SIDES),
            section("What it tells of a person", f"{_ABOUT_ERRORS} {finding}".strip(), _error_table(errors)),
            section("When people are out", _ABOUT_COUNTS, _hours(world, real, shared, nulls)),
            section(
                "Which kinds of places",
                "Root categories, in per cent of visits.",
                _kinds(world, real, shared, nulls),
            ),
            section("What this page does not say", _NOT_SAID, ""),
        ],
        scripts=SIDE_SCRIPTS,
        data={"sides": sides_data(world, ("True", "Shared"), (real, shared), people)},
        blobs=None if basemap is None else {"basemap": basemap},
    )


_PRIVATE = (
    "PRIVATE: this page shows people's true days. It is for whoever may see them, on the device where they "
    "are. Do not send it to anyone."
)
_MADE_UP = "<p class='note'>The left side is shown here because these people are made up.</p>"
_ABOUT_MAPS = (
    "A circle for each of the busiest places of the chosen hour, larger for more visits. Lines are the whole "
    "days of a few people: choose whose. Both maps move together."
)
_ABOUT_ERRORS = (
    "Mean distance of a visit between what a person did and what was shared of it. Below it the nulls: days "
    "that ignore the person. Only what is better than the best null tells anything about the single person."
)
_ABOUT_COUNTS = (
    "Bars are true and shared visits, in per cent of each. Marks are the nulls: what would be seen if nobody "
    "had taken part. Where shared bars follow the marks and not the true ones, they tell nothing."
)
_NOT_SAID = (
    "Counting shared days is not estimating. What is shared is drawn at random, more likely near the truth, "
    "so counts of it lean towards what public knowledge expects: a busy hour looks less busy, a rare place "
    "less rare than it is. A shared day is not a guess at what its person did, and that two days look alike "
    "says nothing about how safe they are: the promise above does."
)


def _error_table(errors: Mapping[str, Errors]) -> str:
    rows = [[name, *(f"{values[key]:.2f}" for key in _MEASURES)] for name, values in errors.items()]
    return table(["days", *_MEASURES.values()], rows)


def _hours(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    nulls: Mapping[str, Sequence[SharedTrajectory]],
) -> str:
    def shares(days: Days) -> list[float]:
        return list(_percent([sum(hour.values()) for hour in visits_by_hour(world, days)]))

    return column_chart(
        [f"{hour:02d}" for hour in range(HOURS)],
        {"true": shares(real), "shared": shares(shared)},
        others={f"null: {name}": shares(days) for name, days in nulls.items()},
        y=Axis(title="% of visits"),
        x_title="hour",
        about="Share of visits by hour: true, shared, and nulls",
        colours=_COLOURS,
    )


def _kinds(
    world: World,
    real: Sequence[Trajectory],
    shared: Sequence[SharedTrajectory],
    nulls: Mapping[str, Sequence[SharedTrajectory]],
) -> str:
    roots = world.tree.lineage[world.places.category_nodes[world.places.category_offsets[:-1]], 0]

    def shares(days: Days) -> Floats:
        counts = np.zeros(len(world.tree.ids))
        for hour in visits_by_hour(world, days):
            for place, visits in hour.items():
                counts[roots[place]] += visits
        return _percent(counts)

    sides = {"true": shares(real), "shared": shares(shared)}
    others = {name: shares(days) for name, days in nulls.items()}
    seen = np.sum([*sides.values(), *others.values()], axis=0)
    kept = [int(root) for root in np.argsort(sides["true"], kind="stable") if seen[root] > 0]
    kept.reverse()
    return table(
        ["kind of place", *(f"{name}, %" for name in (*sides, *(f"null: {name}" for name in others)))],
        [
            [
                world.tree.names[root],
                *(f"{values[root]:.1f}" for values in (*sides.values(), *others.values())),
            ]
            for root in kept
        ],
    )


def _percent(counts: Any) -> Floats:
    numbers = np.asarray(counts, dtype=np.float64)
    return np.asarray(np.round(100 * numbers / max(numbers.sum(), 1.0), 2))
