"""The data sets that experiments run on: real where raw files are given, else made up and called so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elsewhere.datasets.bundle import Dataset, write_dataset
from elsewhere.datasets.commuters import COMMUTER_CITIES
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.generated import generated_city
from elsewhere.datasets.registry import SOURCES
from elsewhere.errors import InputError
from elsewhere.experiments.cells import AllDays, Setting, Size

_READABLE = (".csv", ".txt", ".gz", ".json", ".geojson", ".tsv")

Sources = Mapping[str, tuple[Path, ...]]
"""Which raw files there are for each data set."""


def label_of(sources: Sources, dataset: str) -> str:
    """What a data set is, for captions."""
    if dataset in COMMUTER_CITIES:
        return COMMUTER_CITIES[dataset].label
    if sources.get(dataset):
        return SOURCES[dataset].real
    is_its_own = not SOURCES[dataset].needs_raw
    return f"generated {dataset}" if is_its_own else f"generated, in the shape of {dataset}"


def find_sources(raw: Sequence[Path]) -> Sources:
    """Look through files and folders, told apart by what they hold."""
    files = [
        file
        for path in raw
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file() and file.name.endswith(_READABLE)
    ]
    if raw and not files:
        raise InputError("--raw", "found no file there that could be raw data")
    return {name: entry.pick(files) for name, entry in SOURCES.items() if entry.speed_kmh is not None}


def make_source(folder: Path, setting: Setting, sources: Sources, size: Size) -> None:
    """Write the files of a setting's world, with the days that are feasible in it, or with all."""
    dataset = _dataset(folder, setting, sources, size)
    dataset.settings |= {
        "speed_kmh": setting.speed_kmh,
        "kappa": setting.kappa,
        "grid": setting.grid,
        "merge_order": list(setting.merge_order),
    }
    if not isinstance(setting, AllDays):
        dataset.days = only_feasible(dataset)
    write_dataset(folder, dataset, replace_edited=True)  # the folder is the experiment's own


def _dataset(folder: Path, setting: Setting, sources: Sources, size: Size) -> Dataset:
    people = 600 if size == "small" else 5000
    if setting.dataset in COMMUTER_CITIES:
        return COMMUTER_CITIES[setting.dataset].make(folder, limit=setting.places, people=people)
    entry, raw = SOURCES[setting.dataset], sources.get(setting.dataset, ())
    if not raw and entry.made_up_by:
        entry = SOURCES[entry.made_up_by]
    if not raw and entry.needs_raw:
        return generated_city(
            setting.dataset, limit=setting.places or 2000, people=people, seed=1 + len(setting.dataset)
        )
    wanted: dict[str, Any] = {"limit": setting.places, "people": people, "seed": 1}
    known = {option.name for option in entry.options}
    return entry.read(raw, **{name: value for name, value in wanted.items() if name in known})
