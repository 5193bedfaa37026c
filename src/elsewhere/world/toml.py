"""From a `world.toml` and options to settings, with every fault named by its key."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from elsewhere.errors import Fault, InputError
from elsewhere.files import read_toml
from elsewhere.world import settings as records
from elsewhere.world.settings import SpaceSettings, TravelSettings, WorldConfig
from elsewhere.world.toml_tables import (
    ClusterSpaceTable,
    ConfigTable,
    DistanceTable,
    GridSpaceTable,
    H3SpaceTable,
    KappaTable,
    PolygonSpaceTable,
    PriorTable,
    WeightsTable,
    WorldTable,
)
from elsewhere.world.toml_travel import (
    MatrixTravelTable,
    RoadTravelTable,
    SpeedTravelTable,
    Table,
    TimetableTravelTable,
)

Record = TypeVar("Record", TravelSettings, SpaceSettings)

_SHORT_KEYS = {"speed_kmh": "travel.speed_kmh", "grid": "space.cells", "kappa": "kappa.least"}


def parse_config(values: dict[str, Any], *, folder: Path, source: str) -> WorldConfig:
    """Settings from the keys of a `world.toml`; relative paths start at ``folder``.

    ``speed_kmh`` and ``grid`` are short for a [travel] and a [space] table, and a plain number for
    ``kappa`` is short for its ``least``.
    """
    values = dict(values)
    faults = [
        Fault(problem=f"{short} and [{table}] say the same thing: give one of them")
        for short, table in (("speed_kmh", "travel"), ("grid", "space"))
        if short in values and table in values
    ]
    if faults:
        raise InputError(source, faults)
    short_keys = {long: short for short, long in _SHORT_KEYS.items() if short in values}
    if "speed_kmh" in values:
        values["travel"] = {"kind": "speed", "speed_kmh": values.pop("speed_kmh")}
    if "grid" in values:
        values["space"] = {"kind": "grid", "cells": values.pop("grid")}
    if isinstance(values.get("kappa"), int | float):
        values["kappa"] = {"least": values["kappa"]}
    tables = {key: values.pop(key) for key in ("places", "categories", "basemap") if key in values}
    try:
        config: WorldConfig = _record_of(ConfigTable.model_validate({**tables, "settings": values}))
    except ValidationError as error:
        raise InputError(source, _faults_of(error, short_keys)) from None
    return _with_paths_from(config, folder)


def read_config(path: str | Path, overrides: dict[str, Any] | None = None) -> WorldConfig:
    """Read and check a `world.toml`.

    Parameters
    ----------
    path
        The file. Paths in it start at its folder.
    overrides
        Keys that replace those of the file, such as ``{"kappa": 5}``; paths start at the current folder.

    Returns
    -------
    WorldConfig
        The tables and frozen settings, for `build_world`.

    Raises
    ------
    InputError
        With every fault, by key.

    Examples
    --------
    >>> ew.read_config("world.toml", {"speed_kmh": 4}).settings.travel.speed_kmh
    4.0
    """
    path = Path(path)
    values = read_toml(path)
    overrides = dict(overrides or {})
    for key in ("places", "categories"):
        if key in overrides:
            overrides[key] = str(Path(overrides[key]).absolute())
    try:
        return parse_config(_overridden(values, overrides), folder=path.parent, source=str(path))
    except InputError as error:
        raise InputError(error.source, [_blame_option(fault, overrides) for fault in error.faults]) from None


def _overridden(values: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    """Keys with options put in; an option for part of a table changes that part alone."""
    merged = {**values, **overrides}
    for option, (table, part) in _PARTS.items():
        given = values.get(table)
        if option in overrides and isinstance(given, dict):
            kinds = _KINDS_WITH.get(option)
            if kinds and given.get("kind", kinds[0]) not in kinds:
                raise InputError(_option(option), f"has no meaning with {table} kind = {given['kind']!r}")
            merged.pop(option)
            merged[table] = {**given, part: overrides[option]}
    return merged


_PARTS = {"speed_kmh": ("travel", "speed_kmh"), "grid": ("space", "cells"), "kappa": ("kappa", "least")}
_KINDS_WITH = {"speed_kmh": ("speed", "roads", "timetable"), "grid": ("grid",)}


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _blame_option(fault: Fault, overrides: dict[str, Any]) -> Fault:
    key = fault.problem.partition(":")[0]
    for option in overrides:
        if key in {option, _SHORT_KEYS.get(option)}:
            return Fault(problem=_option(option) + fault.problem[len(key) :])
    return fault


def _with_paths_from(config: WorldConfig, folder: Path) -> WorldConfig:
    settings = replace(
        config.settings,
        travel=_resolved(config.settings.travel, folder),
        space=_resolved(config.settings.space, folder),
    )
    return replace(
        config,
        places=folder / config.places,
        categories=folder / config.categories,
        basemap=config.basemap and folder / config.basemap,
        settings=settings,
    )


def _resolved(record: Record, folder: Path) -> Record:
    """The record with its paths starting at ``folder``."""
    given = {name: getattr(record, name, None) for name in ("file", "nodes", "edges")}
    return replace(record, **{name: folder / path for name, path in given.items() if path is not None})


_PROBLEMS = {
    "missing": "missing",
    "model_type": "must be a number or a table",
    "model_attributes_type": "must be a table",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "string_type": "must be text",
    "path_type": "must be a path",
    "too_short": "must not be empty",
    "bool_type": "must be true or false",
}


def _faults_of(error: ValidationError, short_keys: dict[str, str]) -> list[Fault]:
    faults = []
    for entry in error.errors(include_url=False):
        # Union members ("float", "list[...]") and tags of [travel] and [space] are not keys of the file.
        keys = [str(part) for part in entry["loc"] if part != "settings" and not _is_type_name(str(part))]
        key = short_keys.get(".".join(keys), ".".join(keys))
        problem = _PROBLEMS.get(entry["type"]) or entry["msg"].removeprefix("Value error, ")
        problem = problem.replace("Input should be", "must be")
        found = entry["input"]
        if entry["type"] == "extra_forbidden":
            problem = f"unknown key, allowed are {', '.join(_allowed_keys(keys, entry['loc']))}"
        elif entry["type"].startswith("union_tag"):
            kinds = entry["ctx"].get("expected_tags", "see docs/reference/settings").replace("'", "")
            problem = f"needs kind to be one of {kinds}" if kinds[0].islower() else "needs a kind"
        elif isinstance(found, int | float | str) and "found" not in problem:
            shown = "nan" if isinstance(found, float) and math.isnan(found) else repr(found)
            problem = f"found {shown}, {problem}"
        fault = Fault(problem=f"{key}: {problem}" if key else problem)
        if fault not in faults:
            faults.append(fault)
    return faults


def _is_type_name(part: str) -> bool:
    tags = {"speed", "matrix", "roads", "timetable", "grid", "clusters", "polygons", "h3"}
    return part in tags or "[" in part or part in {"float", "int"}


def _allowed_keys(keys: list[str], location: tuple[int | str, ...]) -> list[str]:
    """Keys that may stand where an unknown one was found."""
    if len(keys) == 1:
        return ["places", "categories", "basemap", "speed_kmh", "grid", *WorldTable.model_fields]
    tables: dict[str, type[Table]] = {
        "speed": SpeedTravelTable, "matrix": MatrixTravelTable, "roads": RoadTravelTable,
        "timetable": TimetableTravelTable, "grid": GridSpaceTable,
        "clusters": ClusterSpaceTable, "polygons": PolygonSpaceTable, "h3": H3SpaceTable, "kappa": KappaTable,
        "prior": PriorTable, "distance": DistanceTable, "weights": WeightsTable,
    }  # fmt: skip
    named = [tables[part] for part in location if isinstance(part, str) and part in tables]
    return list(named[-1].model_fields) if named else []


_RECORDS: dict[type[Table], type] = {
    SpeedTravelTable: records.SpeedTravel,
    MatrixTravelTable: records.MatrixTravel,
    RoadTravelTable: records.RoadTravel,
    TimetableTravelTable: records.TimetableTravel,
    GridSpaceTable: records.GridSpace,
    ClusterSpaceTable: records.ClusterSpace,
    PolygonSpaceTable: records.PolygonSpace,
    H3SpaceTable: records.H3Space,
    KappaTable: records.Kappa,
    PriorTable: records.PriorSettings,
    WeightsTable: records.DistanceWeights,
    DistanceTable: records.DistanceSettings,
    WorldTable: records.WorldSettings,
    ConfigTable: records.WorldConfig,
}


def _record_of(table: Table) -> Any:
    """The plain record of a checked table."""
    kind = _RECORDS[type(table)]
    values = {field.name: getattr(table, field.name) for field in fields(kind)}
    return kind(**{name: _record_of(v) if isinstance(v, Table) else v for name, v in values.items()})


def check_settings(settings: records.WorldSettings) -> None:
    """Raise ValueError unless the settings that a world keeps could stand in a `world.toml`."""
    plain = settings.plain()
    travel, space = dict(plain["travel"]), dict(plain["space"])
    # Paths are gone, what the files held is in the world; and intervals are never shorter than timesteps.
    plain["interval_minutes"] = max(plain["interval_minutes"], plain["timestep_minutes"])
    if travel["kind"] in {"matrix", "timetable"} or travel.get("mode"):
        travel["file"] = Path()
    elif travel["kind"] == "roads":
        travel = {"kind": "roads", "speed_kmh": travel["speed_kmh"], "nodes": Path(), "edges": Path()}
    if space["kind"] == "polygons":
        space["file"] = Path()
    WorldTable.model_validate({**plain, "travel": travel, "space": space})
