"""Results as tidy tables: one row for each number, sorted, the same bytes for the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from elsewhere.days.hotspots import THRESHOLDS
from elsewhere.evaluate.hotspots import TOGETHER
from elsewhere.experiments.cells import Setting
from elsewhere.experiments.stages import paper_stages
from elsewhere.inputs.tables import write_csv
from elsewhere.methods.registry import null_names

Result = dict[str, Any]
Row = dict[str, Any]

# As many as mean something: the last bits of a sum may differ from machine to machine.
_DECIMALS = 6


def settings_of(result: Result) -> Row:
    """What a result is about, as columns."""
    cell = result["cell"]
    setting = cell["setting"]
    options = dict(map(tuple, cell["options"]))
    return {
        "dataset": setting["dataset"],
        "method": result["label"],
        "epsilon": float(cell["epsilon"]),
        "n": int(options.get("n", 2)),
        "visits": "all" if cell["length"] is None else str(cell["length"]),
        "places": "all" if setting["places"] is None else str(setting["places"]),
        "speed_kmh": float(setting["speed_kmh"]),
        "kappa": float(setting["kappa"]),
        "grid": int(setting["grid"]),
        "merge_order": " ".join(setting["merge_order"]),
        "days": int(result["days"]),
        "seed": int(result["seed"]),
        "world": result["world"][:12],
    }


def error_rows(results: Sequence[Result]) -> list[Row]:
    """Normalised errors, how far below the best null they are, and what else describes the days."""
    best = _best_nulls(results)
    rows = []
    for result in results:
        if "summary" not in result:
            continue
        about, summary = settings_of(result), result["summary"]
        measures = {
            **summary["errors"],
            **summary["density"],
            **{name: summary[name] for name in ("feasible_percent", "open_percent", "unmatched_percent")},
            "smoothed_percent": result["smoothed_percent"],
            "epsilon_spent_on_5_visits": _exactly(result["epsilon_spent_on_5_visits"]),
        }
        for name, estimate in measures.items():
            null = best.get((_without_method(about), name, keeps_length(result)))
            below = 100 * (1 - estimate["value"] / null) if null and estimate else None
            rows.append({**about, "measure": name, **(estimate or _NONE), "percent_below_best_null": below})
    return rows


_NONE = {"value": None, "low": None, "high": None}


def _exactly(value: float) -> dict[str, float]:
    return {"value": value, "low": value, "high": value}


def _without_method(about: Row) -> tuple[Any, ...]:
    # ε and n make no difference to nulls, but each has its own beside it.
    return tuple(value for name, value in about.items() if name not in {"method", "n", "days", "seed"})


def keeps_length(result: Result) -> bool:
    """Whether shared days are as long as true ones."""
    return not result["summary"]["unmatched_percent"]["value"]


def _best_nulls(results: Sequence[Result]) -> dict[tuple[tuple[Any, ...], str, bool], float]:
    """The least error of any null in a setting, for methods that keep the length and those that do not."""
    best: dict[tuple[tuple[Any, ...], str, bool], float] = {}
    for result in results:
        for keeps in (True, False):
            if result["label"] in null_names(keeps_length=keeps) and "summary" in result:
                for dimension, estimate in result["summary"]["errors"].items():
                    key = (_without_method(settings_of(result)), dimension, keeps)
                    best[key] = min(best.get(key, float("inf")), estimate["value"])
    return best


def range_rows(results: Sequence[Result]) -> list[Row]:
    return [
        {**settings_of(result), "dimension": dimension, "delta": float(delta), **value}
        for result in results
        if "summary" in result
        for dimension, values in result["summary"]["ranges"].items()
        for delta, value in zip(result["summary"]["deltas"][dimension], values, strict=True)
    ]


def hour_rows(results: Sequence[Result]) -> list[Row]:
    """Share of visits in each hour: true and of the prior once for each data set, and of each method."""
    rows: list[Row] = []
    for result in results:
        if "hours" not in result:
            continue
        dataset, hours = result["cell"]["setting"]["dataset"], dict(result["hours"])
        if any(row["dataset"] == dataset for row in rows):
            hours = {"shared": hours["shared"]}
        for days_of, shares in hours.items():
            name = result["label"] if days_of == "shared" else days_of
            rows += [
                {"dataset": dataset, "days_of": name, "hour": hour, "share": round(share, _DECIMALS)}
                for hour, share in enumerate(shares)
            ]
    return rows


def hotspot_rows(results: Sequence[Result]) -> list[Row]:
    """Hotspots of all granularities together."""
    return [
        {**settings_of(result), "measure": measure, **(estimate or _NONE)}
        for result in results
        if "summary" in result
        for measure, estimate in result["summary"]["hotspots"][TOGETHER].items()
    ]


def granularity_rows(results: Sequence[Result]) -> list[Row]:
    """Hotspots of places, cells and levels of categories, each with its η."""
    return [
        {**settings_of(result), "granularity": name, "eta": eta, "measure": measure, **(estimate or _NONE)}
        for result in results
        if "summary" in result
        for name, eta in THRESHOLDS.items()
        for measure, estimate in result["summary"]["hotspots"][name].items()
    ]


def runtime_rows(results: Sequence[Result]) -> list[Row]:
    """Milliseconds a day by the paper's stages. Times differ from run to run, so they stand apart."""
    rows = []
    for result in results:
        if "seconds" in result:
            rows += [
                {**settings_of(result), "stage": stage, "ms_a_day": 1000 * seconds}
                for stage, seconds in paper_stages(result["seconds"]).items()
                if seconds is not None
            ]
            rows.append(
                {**settings_of(result), "stage": "tables first, s", "ms_a_day": result["prepare_seconds"]}
            )
    return rows


def preprocessing_rows(worlds: Sequence[tuple[Setting, Result]]) -> list[Row]:
    return [
        {
            "dataset": setting.dataset,
            "places_asked": setting.places or 0,
            "speed_kmh": setting.speed_kmh,
            **{name: facts[name] for name in ("seconds", "places", "regions", "bigrams")},
            "world": facts["world"][:12],
        }
        for setting, facts in worlds
    ]


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """A table, its rows in order."""
    if rows:
        frame = pl.DataFrame(rows, infer_schema_length=None).unique(maintain_order=True)
        rounded = frame.with_columns(pl.col(pl.Float64).round(_DECIMALS))
        write_csv(path, rounded.sort(frame.columns[:6], maintain_order=True))
