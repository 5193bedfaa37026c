"""What the numbers of a `.world` file must mean together, beyond their types and sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from elsewhere.world.kinds import category_pairs
from elsewhere.world.regions import shortest_arcs
from elsewhere.world.settings import PopularityFrom, SpaceMeasure, WorldSettings

Arrays = dict[str, NDArray[Any]]

_FACTS = {
    "settings": dict,
    "clock": dict,
    "space_labels": list,
    "merge_report": dict,
    "max_distance": float,
    "travel": str,
}
_CLOCK = {"timestep_minutes": int, "interval_minutes": int, "day": str, "timezone": str}
_SETTINGS = {"kappa": dict, "merge_order": list, "space": dict, "travel": dict, "timezone": str, "day": str}


def check_facts(facts: Any) -> None:
    """Raise ValueError unless every fact is there and of its type."""
    _check_types("facts", facts, _FACTS, is_exact=True)
    _check_types("clock", facts["clock"], _CLOCK, is_exact=True)
    _check_types("settings", facts["settings"], _SETTINGS, is_exact=False)
    if not _is_number(facts["max_distance"]):
        raise ValueError("max_distance must be a finite number, 0 or more")
    is_labelled = all(
        isinstance(level, list) and level and all(isinstance(label, str) for label in level)
        for level in facts["space_labels"]
    )
    if not facts["space_labels"] or not is_labelled:
        raise ValueError("space_labels must name the cells of each level")
    is_straight = facts["settings"]["travel"].get("kind") == "speed"
    if is_straight != (facts["travel"] == "StraightLine"):
        raise ValueError("travel is not what its settings say")
    _check_numbers(facts["settings"])


def _check_numbers(settings: dict[str, Any]) -> None:
    """Weights and distances that days are made and compared by; loops on a device check them no more."""
    defaults = WorldSettings().plain()
    known = {**defaults, **settings}
    prior = {**defaults["prior"], **known["prior"]} if isinstance(known["prior"], dict) else {}
    rows = {"category_weights": known["category_weights"]}
    rows |= {name: prior.get(name) for name in ("start_by_hour", "activity_by_hour", "lengths")}
    distance = {**defaults["distance"], **known["distance"]} if isinstance(known["distance"], dict) else {}
    parts = distance.get("weights")
    rows["weights"] = (
        [*{**defaults["distance"]["weights"], **parts}.values()] if isinstance(parts, dict) else None
    )
    if distance.get("space") not in get_args(SpaceMeasure) or type(known["circular_time"]) is not bool:
        raise ValueError("settings: distance.space and circular_time must be what they can be")
    if type(settings.get("graph", True)) is not bool:
        raise ValueError("settings: graph must be true or false")
    for name, row in rows.items():
        is_sound = isinstance(row, list) and 1 <= len(row) <= 64 and all(_is_number(part) for part in row)
        if not is_sound or not sum(row) > 0:
            raise ValueError(f"settings: {name} must be numbers, 0 or more, and not all 0")
    for name in ("start_by_hour", "activity_by_hour"):
        if len(rows[name]) != 24:
            raise ValueError(f"settings: {name} must have a number for each hour")
    positive = [known["unrelated_category_distance"], prior["mean_gap_minutes"], prior["decay_km"]]
    positive += [known["time_cap_hours"], distance.get("kmh")]
    if not all(_is_number(value) and value > 0 for value in positive):
        raise ValueError("settings: distances and gaps must be numbers above 0")
    if known["popularity_from"] not in get_args(PopularityFrom):
        raise ValueError("settings: popularity_from must say whose visits popularity was counted from")
    if type(known["category_levels"]) is not int or known["category_levels"] < 1:
        raise ValueError("settings: category_levels must be 1 or more")


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and math.isfinite(value) and value >= 0


def _check_types(name: str, value: Any, types: Mapping[str, type], *, is_exact: bool) -> None:
    if not isinstance(value, dict) or not set(types) <= set(value) or (is_exact and set(types) != set(value)):
        raise ValueError(f"{name} must have {', '.join(sorted(types))}")
    for key, kind in types.items():
        if type(value[key]) is not kind:
            raise ValueError(f"{name}.{key} must be {kind.__name__}")


def has_space_table(facts: dict[str, Any]) -> bool:
    """Whether d_s is a table between places."""
    return bool(facts["settings"].get("distance", {}).get("space", "line") != "line")


def check_meaning(facts: dict[str, Any], arrays: Arrays) -> None:
    """Raise ValueError unless tree, travel, places and regions make sense."""
    _check_tree(arrays["tree.parents"], arrays["tree.lineage"])
    _check_travel(facts, arrays)
    _check_points(arrays)
    _check_pairs(facts, arrays)
    _check_regions(facts, arrays)
    table = arrays["distances.category_table"]
    if not np.isfinite(table).all() or table.min() < 0 or not np.array_equal(table, table.T):
        raise ValueError("distances.category_table is no table of distances")
    if has_space_table(facts):
        space = arrays["space_table"]
        if space.min() < 0 or np.diagonal(space).any() or not np.array_equal(space, space.T):
            raise ValueError("space_table is no table of distances")


def _check_tree(parents: NDArray[Any], lineage: NDArray[Any]) -> None:
    """Every node ends its own lineage, and its parent's comes before it: so there is no cycle."""
    levels = np.count_nonzero(lineage >= 0, axis=1)
    nodes = np.arange(len(parents))
    is_packed = np.all((lineage >= 0) == (np.arange(lineage.shape[1]) < levels[:, None]))
    if levels.min(initial=1) < 1 or not is_packed or np.any(lineage[nodes, levels - 1] != nodes):
        raise ValueError("tree.lineage is no lineage")
    is_child = levels > 1
    expected = np.where(is_child, lineage[nodes, np.maximum(levels - 2, 0)], -1)
    above = np.where(np.arange(lineage.shape[1]) < levels[:, None] - 1, lineage, -1)[is_child]
    if np.any(parents != expected) or np.any(above != lineage[parents[is_child]]):
        raise ValueError("tree.parents and tree.lineage disagree")


def _check_travel(facts: dict[str, Any], arrays: Arrays) -> None:
    if facts["travel"] == "StraightLine":
        thresholds, steps = arrays["travel.thresholds"], arrays["travel.steps_at"].astype(np.int64)
        if np.any(thresholds[1:] <= thresholds[:-1]) or np.any(np.diff(steps, axis=1) < 0):
            raise ValueError("travel takes less time over a longer way")
        stays = steps[:, 0]
    else:
        stays = np.diagonal(arrays["travel.table"], axis1=1, axis2=2)
    # Methods rely on it: wherever one is, one can stay.
    if np.any(stays != 1):
        raise ValueError("travel from a place to itself must take one timestep")


def _check_points(arrays: Arrays) -> None:
    for name in ("places.vectors", "regions.vectors"):
        if not np.all(np.abs((arrays[name] ** 2).sum(axis=1) - 1) < 1e-6):
            raise ValueError(f"{name} do not lie on the globe")
    if np.abs(arrays["places.latitudes"]).max() > 90 or np.abs(arrays["places.longitudes"]).max() > 180:
        raise ValueError("places lie outside the globe")
    for name in ("places.popularity", "places.weights"):
        if not np.isfinite(arrays[name]).all() or arrays[name].min() < 0:
            raise ValueError(f"{name} must be 0 or more")


def _check_pairs(facts: dict[str, Any], arrays: Arrays) -> None:
    """Every place has a pair for each of its categories; visits are looked up by the first of them."""
    lineage = arrays["tree.lineage"]
    most = {**WorldSettings().plain(), **facts["settings"]}["category_levels"]
    levels = np.minimum(np.count_nonzero(lineage >= 0, axis=1), most)
    cut = lineage[np.arange(len(lineage)), levels - 1]
    pairs = category_pairs(arrays["places.category_offsets"], arrays["places.category_nodes"], cut)
    found = (arrays["regions.pair_places"], arrays["regions.pair_nodes"])
    if not all(np.array_equal(mine, theirs) for mine, theirs in zip(pairs, found, strict=True)):
        raise ValueError("regions.pair_places and regions.pair_nodes are not the places' categories")


def _check_regions(facts: dict[str, Any], arrays: Arrays) -> None:
    clock = facts["clock"]
    if not len(arrays["regions.starts"]):
        raise ValueError("it has no regions")
    middles = (arrays["regions.starts"] + arrays["regions.ends"]) * (clock["timestep_minutes"] / 120)
    if not np.allclose(arrays["regions.mid_hours"], middles % 24, rtol=0, atol=1e-9):
        raise ValueError("regions.mid_hours are not in the middle")
    sizes = np.array([len(labels) for labels in facts["space_labels"]])
    cells, levels = arrays["regions.cells"], arrays["regions.space_levels"]
    if cells.min() < 0 or np.any(cells >= sizes[levels]):
        raise ValueError("regions.cells have no label")
    intervals = 1440 // clock["interval_minutes"]
    top = (intervals - 1).bit_length()
    if arrays["regions.time_levels"].min() < 0 or arrays["regions.time_levels"].max() > top:
        raise ValueError("regions.time_levels do not exist")
    region_of = arrays["regions.region_of"]
    is_open = np.unpackbits(arrays["is_open"], axis=1, count=1440 // clock["timestep_minutes"])
    by_interval = np.asarray(is_open.reshape(len(is_open), intervals, -1).any(axis=2))
    if np.any((region_of >= 0) != by_interval[arrays["regions.pair_places"]]):
        raise ValueError("regions.region_of does not follow opening hours")
    if len(np.unique(region_of[region_of >= 0])) != len(cells):
        raise ValueError("a region has no member")
    pairs, hours = np.nonzero(region_of >= 0)
    arcs = shortest_arcs(region_of[pairs, hours], hours.astype(np.int32), len(cells), intervals)
    per_interval = clock["interval_minutes"] // clock["timestep_minutes"]
    for name, arc in zip(("starts", "ends"), arcs, strict=True):
        if not np.array_equal(arrays[f"regions.{name}"], arc * per_interval):
            raise ValueError(f"regions.{name} are not those of their members")
