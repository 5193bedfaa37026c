"""What a `.world` file must look like inside, so that no index can lead outside its array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elsewhere.world.consistency import check_facts, check_meaning, has_space_table


class _Spec(NamedTuple):
    """Type and size names of an array; entries must be below ``below`` and not under ``least``."""

    dtype: str
    sizes: tuple[str, ...]
    below: str | None = None
    least: int = 0


_HOURS = "24"
_AXES = "3"

_REQUIRED = {
    "tree.parents": _Spec("int32", ("nodes",), below="nodes", least=-1),
    "tree.lineage": _Spec("int32", ("nodes", "depth"), below="nodes", least=-1),
    "places.latitudes": _Spec("float64", ("places",)),
    "places.longitudes": _Spec("float64", ("places",)),
    "places.vectors": _Spec("float64", ("places", _AXES)),
    "places.category_offsets": _Spec("int32", ("places+1",), below="place categories+1"),
    "places.category_nodes": _Spec("int32", ("place categories",), below="nodes"),
    "places.popularity": _Spec("float64", ("places", _HOURS)),
    "places.weights": _Spec("float64", ("places", _HOURS)),
    "places.is_anywhere": _Spec("bool", ("places",)),
    "is_open": _Spec("uint8", ("places", "timestep bytes")),
    "regions.place_offsets": _Spec("int32", ("regions+1",), below="region places+1"),
    "regions.place_indices": _Spec("int32", ("region places",), below="places"),
    "regions.starts": _Spec("int32", ("regions",), below="timesteps"),
    "regions.ends": _Spec("int32", ("regions",)),
    "regions.nodes": _Spec("int32", ("regions",), below="nodes"),
    "regions.space_levels": _Spec("int32", ("regions",), below="space levels"),
    "regions.cells": _Spec("int32", ("regions",)),
    "regions.time_levels": _Spec("int32", ("regions",)),
    "regions.vectors": _Spec("float64", ("regions", _AXES)),
    "regions.mid_hours": _Spec("float64", ("regions",)),
    "regions.pair_places": _Spec("int32", ("pairs",), below="places"),
    "regions.pair_nodes": _Spec("int32", ("pairs",), below="nodes"),
    "regions.region_of": _Spec("int32", ("pairs", "intervals"), below="regions", least=-1),
    "travel.profile_of_hour": _Spec("uint8", (_HOURS,), below="profiles"),
    "graph.words": _Spec("uint64", ("regions", "region words")),
    "distances.kinds": _Spec("int32", ("regions",), below="kinds"),
    "distances.category_table": _Spec("float64", ("kinds", "kinds")),
}
_STRAIGHT_LINE = {
    "travel.thresholds": _Spec("float64", ("rungs",)),
    "travel.steps_at": _Spec("uint16", ("profiles", "rungs+1"), below="timesteps+1", least=1),
}
_STEP_TABLE = {
    "travel.table": _Spec("uint16", ("profiles", "places", "places"), below="timesteps+1", least=1)
}
_ROADS = {
    "roads.node_vectors": _Spec("float64", ("road nodes", _AXES)),
    "roads.origins": _Spec("int32", ("road edges",), below="road nodes"),
    "roads.destinations": _Spec("int32", ("road edges",), below="road nodes"),
    "roads.lengths_km": _Spec("float64", ("road edges",)),
    "roads.speeds_kmh": _Spec("float64", ("road edges",)),
}
_SPACE_TABLE = {"space_table": _Spec("float32", ("places", "places"))}
_TEXTS = {
    "tree.ids": "nodes",
    "tree.names": "nodes",
    "tree.hours": "nodes",
    "places.ids": "places",
    "places.names": "places",
    "places.hours": "places",
}
_POLYGON_TEXTS = {"polygons.shapes": "polygons", "polygons.names": "polygons", "polygons.parents": "polygons"}


def array_names() -> set[str]:
    """Names of all arrays that a world may have."""
    texts = {*_TEXTS, *_POLYGON_TEXTS}
    tables = {*_REQUIRED, *_STRAIGHT_LINE, *_STEP_TABLE, *_ROADS, *_SPACE_TABLE}
    return tables | texts | {f"{text}.ends" for text in texts}


def check_content(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Raise an error, with a reason, unless ``arrays`` and ``facts`` make up a world."""
    check_facts(facts)
    specs = _REQUIRED | (_STRAIGHT_LINE if facts["travel"] == "StraightLine" else _STEP_TABLE)
    specs |= _ROADS if "roads.origins" in arrays else {}
    specs |= _SPACE_TABLE if has_space_table(facts) else {}
    texts = _TEXTS | (_POLYGON_TEXTS if "polygons.names" in arrays else {})
    for name, size in texts.items():
        specs[name] = _Spec("uint8", (f"bytes of {name}",))
        specs[f"{name}.ends"] = _Spec("int64", (size,), below=f"bytes of {name}+1")
    if set(specs) != set(arrays):
        raise ValueError(f"arrays missing or not expected: {sorted(set(specs) ^ set(arrays))}")
    sizes = _sizes(specs, arrays, _known_sizes(facts))
    sizes["region words"] = -(-sizes["regions"] // 64) if facts["settings"].get("graph", True) else 0
    for name, spec in specs.items():
        _check_array(name, spec, arrays[name], sizes)
    for name in [f"{text}.ends" for text in texts]:
        if np.any(np.diff(arrays[name]) < 0):
            raise ValueError(f"{name} must not fall")
    _check_ends(arrays, sizes["timesteps"])
    _check_last_word(arrays["graph.words"], sizes["regions"])
    check_meaning(facts, arrays)


def _known_sizes(facts: dict[str, Any]) -> dict[str, int]:
    clock = facts["clock"]
    minutes, interval = int(clock["timestep_minutes"]), int(clock["interval_minutes"])
    if minutes < 1 or 1440 % minutes or interval < 1 or 1440 % interval or interval % minutes:
        raise ValueError("its clock does not divide the day")
    timesteps = 1440 // minutes
    return {
        "3": 3,
        "24": 24,
        "timesteps": timesteps,
        "timestep bytes": -(-timesteps // 8),
        "intervals": 1440 // interval,
        "space levels": len(facts["space_labels"]),
    }


def _sizes(specs: dict[str, _Spec], arrays: dict[str, NDArray[Any]], known: dict[str, int]) -> dict[str, int]:
    """What each size name stands for, taken from the arrays that state it plainly."""
    sizes = dict(known)
    for name, spec in specs.items():
        for size, length in zip(spec.sizes, arrays[name].shape, strict=False):
            if "+" not in size:
                sizes.setdefault(size, length)
    return sizes


def _size(name: str, sizes: dict[str, int]) -> int:
    base, plus, more = name.partition("+")
    return sizes[base] + (int(more) if plus else 0)


def _check_array(name: str, spec: _Spec, array: NDArray[Any], sizes: dict[str, int]) -> None:
    expected = tuple(_size(size, sizes) for size in spec.sizes)
    # The exact type, byte order included: compiled loops take the bytes as they are.
    if array.dtype != np.dtype(spec.dtype).newbyteorder("<") or array.shape != expected:
        raise ValueError(f"{name} is {array.dtype.str} {array.shape}, must be {spec.dtype} {expected}")
    if array.dtype.kind == "f" and np.isnan(array).any() and name != "roads.speeds_kmh":
        raise ValueError(f"{name} holds what is not a number")
    if spec.dtype == "bool" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError(f"{name} holds what is neither true nor false")
    if spec.below is not None and array.size:
        limit = _size(spec.below, sizes)
        if int(array.min()) < spec.least or int(array.max()) >= limit:
            raise ValueError(f"{name} leads outside [{spec.least}, {limit})")


def _check_ends(arrays: dict[str, NDArray[Any]], timesteps: int) -> None:
    pairs = (
        ("places.category_offsets", "places.category_nodes"),
        ("regions.place_offsets", "regions.place_indices"),
    )
    for offsets, target in pairs:
        runs = np.diff(arrays[offsets])
        is_whole = arrays[offsets][0] == 0 and arrays[offsets][-1] == len(arrays[target])
        if not is_whole or np.any(runs < 1):
            raise ValueError(f"{offsets} must cover {target}, at least one entry each")
    spans = arrays["regions.ends"].astype(np.int64) - arrays["regions.starts"]
    if np.any((spans < 1) | (spans > timesteps)):
        raise ValueError("a region ends before it starts, or lasts longer than a day")


def _check_last_word(words: NDArray[Any], regions: int) -> None:
    spare = words.shape[1] * 64 - regions
    if spare > 0 and np.any(words[:, -1] >> np.uint64(64 - spare)):
        raise ValueError("graph.words names regions that do not exist")
