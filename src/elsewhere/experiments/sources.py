"""The three data sets that experiments run on: real where raw files are given, else made up and called so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from elsewhere.datasets.bundle import Dataset, write_dataset
from elsewhere.datasets.campus_files import read_campus
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.foursquare import is_category_tree, is_checkins, read_foursquare
from elsewhere.datasets.generated import generated_city
from elsewhere.datasets.naics import is_naics
from elsewhere.datasets.raw_text import first_line
from elsewhere.datasets.safegraph import read_safegraph
from elsewhere.errors import InputError
from elsewhere.experiments.recipes import Setting, Size

_READABLE = (".csv", ".txt", ".gz", ".json", ".geojson", ".tsv")


@dataclass(frozen=True, slots=True)
class Sources:
    """Which raw files there are for each data set."""

    foursquare: tuple[Path, ...] = ()
    safegraph: tuple[Path, ...] = ()
    campus: Path | None = None

    def label(self, dataset: str) -> str:
        """What a data set is, for captions."""
        if dataset == "campus":
            return "UBC campus, made-up days" if self.campus else "generated campus"
        has_raw = bool(getattr(self, dataset))
        real = {"foursquare": "Foursquare NYC", "safegraph": "SafeGraph, made-up days"}
        return real[dataset] if has_raw else f"generated, in the shape of {dataset}"


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
    checkins = [file for file in files if is_checkins(file)]
    trees = [file for file in files if is_category_tree(file) and "categor" in file.name]
    core, patterns, naics, buildings = [], [], [], []
    for file in files:
        head = first_line(file)
        if "popularity_by_hour" in head or "visits_by_each_hour" in head:
            patterns.append(file)
        elif "placekey" in head and "latitude" in head:
            core.append(file)
        elif is_naics(file):
            naics.append(file)
        elif "BLDG_UID" in head and "geojson" not in file.name:
            buildings.append(file)
    return Sources(
        foursquare=(checkins[0], trees[0]) if checkins and trees else (),
        safegraph=(core[0], *patterns, *naics[:1]) if core and patterns else (),
        campus=buildings[0] if buildings else None,
    )


def make_source(folder: Path, setting: Setting, sources: Sources, size: Size) -> None:
    """Write the files of a setting's world, with the days that are feasible in it."""
    dataset = _dataset(setting, sources, size)
    dataset.settings |= {
        "speed_kmh": setting.speed_kmh,
        "kappa": setting.kappa,
        "grid": setting.grid,
        "merge_order": list(setting.merge_order),
    }
    dataset.days = only_feasible(dataset)
    write_dataset(folder, dataset)


def _dataset(setting: Setting, sources: Sources, size: Size) -> Dataset:
    people = 600 if size == "small" else 5000
    if setting.dataset == "campus":
        return read_campus(sources.campus, people=people, seed=1, progress=lambda _done, _total: None)
    if setting.dataset == "foursquare" and sources.foursquare:
        return read_foursquare(sources.foursquare, limit=setting.places)
    if setting.dataset == "safegraph" and sources.safegraph:
        return read_safegraph(sources.safegraph, limit=setting.places, people=people)
    return generated_city(
        setting.dataset, limit=setting.places or 2000, people=people, seed=1 + len(setting.dataset)
    )
