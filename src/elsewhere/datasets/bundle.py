"""What every data set comes down to: places, categories, days, settings, a note on where they come from."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from elsewhere.datasets.folder import BASEMAP, NOTE, ROADS, checksums, refuse_edited
from elsewhere.days.recipes import Habits, PopularityRecipe
from elsewhere.device.matching import Person
from elsewhere.device.owner import is_own
from elsewhere.errors import InputError
from elsewhere.files import make_folder, whole_file, write_text
from elsewhere.inputs.osm_basemap import Box, write_basemap
from elsewhere.inputs.tables import write_categories, write_places
from elsewhere.inputs.travel_tables import write_road_network
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.hours import open_table
from elsewhere.knowledge.places import Place, Places, build_places
from elsewhere.knowledge.travel import RoadNetwork, Travel, straight_line
from elsewhere.progress import Progress, no_progress
from elsewhere.trajectories import Trajectory
from elsewhere.world.build import road_travel
from elsewhere.world.settings import RoadTravel

_DAYS_AT_ONCE = 20_000


@dataclass(kw_only=True, eq=False, repr=False)
class Dataset:
    """A source, read and cleaned. ``days`` may be read only once; ``steps`` are complete after that."""

    title: str
    what: str
    """A paragraph or two for SOURCE.md."""
    terms: str
    places: list[Place]
    tree: CategoryTree
    days: Iterable[Person]
    clock: Clock
    settings: dict[str, Any] = field(default_factory=lambda: {"speed_kmh": 8})
    """Keys of world.toml beside the tables, the clock's and the paper's defaults."""
    roads: RoadNetwork | None = None
    """Streets to travel on; else straight lines."""
    extract: Path | None = None
    """OpenStreetMap's, for a base map."""
    steps: dict[str, int] = field(default_factory=dict)
    """What was counted at each step of cleaning, in order."""
    why_none: Callable[[], str] = lambda: ""
    """In words, why no day may be left and what would help; blank where the steps tell."""
    is_private: bool = False
    """Somebody's own days: files and folder are for their owner alone, and say so."""

    @property
    def days_file(self) -> str:
        return "trajectories.PRIVATE.csv" if self.is_private else "trajectories.csv"


def only_file(raw: Sequence[Path]) -> Path:
    """The raw file of a source that is one file."""
    if len(raw) != 1:
        raise InputError("--raw", f"found {len(raw)} files, must be one")
    return raw[0]


def travel_of(dataset: Dataset, places: Places) -> Travel:
    """How the data set's world will travel."""
    speed = dataset.settings["speed_kmh"]
    if dataset.roads is None:
        return straight_line(places, dataset.clock, speed)
    settings = RoadTravel(speed_kmh=speed)
    return road_travel(dataset.roads, places, dataset.clock, settings)


def made_up_people(
    dataset: Dataset, habits: Habits, people: int, *, seed: int, progress: Progress = no_progress
) -> Iterator[Person]:
    """A day for each of so many people, by the paper's recipe; habits have a row for each place."""
    places = build_places(dataset.places, dataset.tree)
    # The rows of habits are in the order given, those of places in the order of ids.
    order = sorted(range(len(dataset.places)), key=lambda row: dataset.places[row].place_id)
    recipe = PopularityRecipe(
        places,
        open_table(places.effective_hours(dataset.tree), dataset.clock),
        travel_of(dataset, places),
        dataset.clock,
        replace(habits, dwell=np.asarray(habits.dwell)[order]),
        seed=seed,
    )
    return _people(places, recipe, dataset.clock.date, people, progress)


def _people(
    places: Places, recipe: PopularityRecipe, date: dt.date, people: int, progress: Progress
) -> Iterator[Person]:
    width = len(str(people))
    for number in range(1, people + 1):
        name = f"{number:0{width}d}"
        day = Trajectory((places.ids[place], timestep) for place, timestep in recipe.day())
        yield Person(uid=f"u{name}", tid=f"t{name}", date=date, trajectory=day)
        progress(number, people)


def write_dataset(folder: Path, dataset: Dataset, *, replace_edited: bool = False) -> dict[str, Any]:
    """Write the five files; returns counts. Trajectories are written as they come.

    Tables that somebody edited since they were written are refused, unless ``replace_edited``.
    """
    refuse_edited(folder, replace=replace_edited)
    is_new = not folder.exists()
    try:
        if dataset.is_private and (is_new or (folder / "SOURCE.md").exists() or not any(folder.iterdir())):
            make_folder(folder, is_private=True)
            folder.chmod(0o700)  # it may have been there, empty or with an earlier data set
        facts = _write_days(folder, dataset)
    except BaseException:
        if is_new and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
        raise
    write_places(folder / "places.csv", dataset.places)
    write_categories(folder / "categories.csv", dataset.tree)
    if dataset.roads is not None:
        write_road_network(folder / ROADS["nodes"], folder / ROADS["edges"], dataset.roads)
    else:
        for name in ROADS.values():
            (folder / name).unlink(missing_ok=True)
    if dataset.extract is not None:
        write_basemap(dataset.extract, _box(dataset.places), folder / BASEMAP)
    else:
        (folder / BASEMAP).unlink(missing_ok=True)
    write_text(folder / "world.toml", _world_toml(dataset))
    about = f"{_source_md(dataset, facts)}\n{checksums(folder)}"
    write_text(folder / NOTE, about, is_private=dataset.is_private)
    return {**facts, "steps": dict(dataset.steps)}


def _box(places: Sequence[Place]) -> Box:
    latitudes, longitudes = ([getattr(place, side) for place in places] for side in ("latitude", "longitude"))
    return min(longitudes), min(latitudes), max(longitudes), max(latitudes)


def _write_days(folder: Path, dataset: Dataset) -> dict[str, Any]:
    position = {row.place_id: (row.latitude, row.longitude) for row in dataset.places}
    counts = {"trajectories": 0, "visits": 0}
    with whole_file(folder / dataset.days_file, is_private=dataset.is_private) as file:
        file.write(b"uid,tid,datetime,lat,lng,place_id\n")
        days = _counted(dataset, counts)
        while some := tuple(islice(days, _DAYS_AT_ONCE)):
            _frame(some, position, dataset.clock).write_csv(file, include_header=False)
        if not counts["trajectories"]:
            raise InputError(dataset.title, _nothing_left(dataset))
    clock = {"timezone": dataset.clock.timezone}
    return {"source": dataset.title, **clock, "places": len(dataset.places), **counts}


def _counted(dataset: Dataset, counts: dict[str, int]) -> Iterator[Person]:
    for person in dataset.days:
        if is_own(person.uid) and not dataset.is_private:
            raise InputError(dataset.title, "holds somebody's own days: `elsewhere share` shares those")
        counts["trajectories"] += 1
        counts["visits"] += len(person.trajectory)
        yield person


def _frame(
    people: tuple[Person, ...], position: dict[str, tuple[float, float]], clock: Clock
) -> pl.DataFrame:
    step = dt.timedelta(minutes=clock.timestep_minutes)
    rows = [
        (
            person.uid,
            person.tid,
            (dt.datetime.combine(person.date, dt.time()) + visit.timestep * step).isoformat(),
            *position[visit.place_id],
            visit.place_id,
        )
        for person in people
        for visit in person.trajectory
    ]
    return pl.DataFrame(rows, schema=["uid", "tid", "datetime", "lat", "lng", "place_id"], orient="row")


def _world_toml(dataset: Dataset) -> str:
    keys: dict[str, Any] = {
        "places": "places.csv",
        "categories": "categories.csv",
        "timestep_minutes": dataset.clock.timestep_minutes,
        "day": dataset.clock.day,
        "timezone": dataset.clock.timezone,
    }
    if dataset.extract is not None:
        keys["basemap"] = BASEMAP
    settings = dict(dataset.settings)
    tables: dict[str, dict[str, Any]] = {}
    if dataset.roads is not None:
        tables["travel"] = {"kind": "roads", **ROADS, "speed_kmh": settings.pop("speed_kmh")}
    keys |= settings
    lines = ["# Every other key has the paper's default (docs/reference/settings.md)."]
    lines += [f"{key} = {_toml(value)}" for key, value in keys.items()]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """JSON is TOML for what stands here, but for infinity."""
    return "inf" if value == float("inf") else json.dumps(value, ensure_ascii=False)


def _source_md(dataset: Dataset, facts: dict[str, Any]) -> str:
    rows = [*dataset.steps.items(), *((name, facts[name]) for name in ("places", "trajectories", "visits"))]
    table = "\n".join(f"| {name} | {count:,} |" for name, count in rows)
    head = f"# {dataset.title}\n\n{dataset.what}\n\nTerms: {dataset.terms}\n\n"
    return f"{head}| what | count |\n|---|---|\n{table}\n"


def _nothing_left(dataset: Dataset) -> str:
    """Why, before what was counted: nobody finds the step in a list of numbers."""
    counted = ", ".join(f"{name} {count:,}" for name, count in dataset.steps.items())
    if not counted:
        return "no trajectory is left: nothing was read"
    why = dataset.why_none() or _last_step(dataset.steps)
    return f"no trajectory is left: {why}. Counted: {counted}"


def _last_step(steps: dict[str, int]) -> str:
    """The step that took what there still was: the last that counted anything."""
    last = next((name for name in reversed(steps) if steps[name]), None)
    return "nothing was read" if last is None else f"the last step was: {last} ({steps[last]:,})"
