"""SafeGraph's Core Places and Patterns: real places with real popularity, and days made up from them."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elsewhere.datasets.bundle import Dataset, made_up_people
from elsewhere.datasets.cleaning import most_popular
from elsewhere.datasets.hours_tables import hours_by_category
from elsewhere.datasets.naics import UNKNOWN, is_naics, naics_tree, normal_code, parent_of, read_titles
from elsewhere.datasets.notes import note
from elsewhere.datasets.timezones import city_zone
from elsewhere.days.recipes import Habits
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.raw_text import degrees, first_line, records_of
from elsewhere.knowledge.clock import LONG_WEEKDAYS, WEEKDAYS, Clock
from elsewhere.knowledge.hours import hours_problem
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress

SPEED_KMH = 8.0
_KEYS = ("placekey", "safegraph_place_id")
_NO_PLACE = "rows without a place left out"
_NO_WEEKDAYS = "rows without popularity by weekday"
_BUCKET_NAMES = ("<5", "5-10", "11-20", "21-60", "61-120", "121-240", ">240")
# Before 2021 there were fewer buckets; their counts go to ours in equal parts.
_OLD_BUCKETS = {"5-20": ("5-10", "11-20"), "61-240": ("61-120", "121-240")}


def _kind(path: Path) -> str:
    names = set(first_line(path).replace('"', "").split(","))
    if not names & set(_KEYS):
        return "naics" if is_naics(path) else "unknown"
    if names & {"popularity_by_hour", "visits_by_each_hour"}:
        return "patterns"
    return "core" if {"latitude", "longitude"} <= names else "unknown"


def read_safegraph(
    raw: Sequence[Path],
    *,
    limit: int | None = None,
    people: int = 5000,
    seed: int = 1,
    hours: Path | None = None,
    timezone: str | None = None,
    day: str = "Wed",
    progress: Progress = no_progress,
) -> Dataset:
    """Core Places, Patterns and, for its titles, the table of NAICS codes, in any order.

    ``day`` is the weekday that popularity, opening hours and made-up days are of.
    """
    if day not in WEEKDAYS:
        raise InputError("--day", f"found {day!r}, must be one of {', '.join(WEEKDAYS)}")
    by_kind: dict[str, list[Path]] = {}
    for path in raw:
        by_kind.setdefault(_kind(path), []).append(path)
    if by_kind.get("unknown"):
        raise InputError(
            str(by_kind["unknown"][0]), "is neither Core Places, nor Patterns, nor a table code, title"
        )
    if not by_kind.get("patterns"):
        raise InputError("--raw", "needs a file of Patterns (popularity_by_hour or visits_by_each_hour)")
    steps: dict[str, int] = {}
    patterns = _patterns(by_kind["patterns"], steps)
    core = _core(by_kind.get("core", by_kind["patterns"]), patterns, steps)
    kept = most_popular(Counter({key: int(sum(patterns[key].by_hour) * 1000) for key in core}), limit)
    titles = read_titles(by_kind["naics"][0]) if by_kind.get("naics") else _titles(core)
    codes = {normal_code(core[key].get("naics_code", "")) for key in kept}
    tree = naics_tree(codes, titles, hours_by_category("naics", hours))
    places = [_place(key, core[key], patterns[key].on(day), steps) for key in kept]
    steps["places with opening hours of their own"] = sum(bool(place.hours) for place in places)
    steps["places without a NAICS code"] = sum(place.category_ids == (UNKNOWN,) for place in places)
    zone = city_zone(timezone, ((place.latitude, place.longitude) for place in places), steps)
    title, what, terms = note("safegraph", seed=seed, day=day)
    dataset = Dataset(
        title=title,
        what=what,
        terms=terms,
        places=places,
        tree=tree,
        days=[],
        clock=Clock(timezone=zone, day=day),
        settings={"speed_kmh": SPEED_KMH},
        steps=steps,
    )
    habits = Habits(dwell=np.array([patterns[key].dwell for key in kept]))
    dataset.days = made_up_people(dataset, habits, people, seed=seed, progress=progress)
    return dataset


def _key(record: dict[str, str]) -> str:
    return next((record[name].strip() for name in _KEYS if record.get(name, "").strip()), "")


class _Pattern(NamedTuple):
    """What Patterns say of a place, as counts: visits by hour and by weekday, and dwell times by bucket."""

    by_hour: list[float]
    by_day: list[float]
    """Monday first; zeros where nothing is known."""
    dwell: list[float]

    def __add__(self, other: tuple[Any, ...]) -> _Pattern:
        return _Pattern(
            *([a + b for a, b in zip(*pair, strict=True)] for pair in zip(self, other, strict=True))
        )

    def on(self, day: str) -> list[float]:
        """Popularity by hour on a weekday: visits by hour, as many more or fewer as the weekday has.

        One more visit is counted for each weekday: a place that few visited is not closed on all other days.
        """
        factor = 7 * (self.by_day[WEEKDAYS.index(day)] + 1) / (sum(self.by_day) + 7)
        return [float(f"{factor * value:.6g}") for value in self.by_hour]


def _patterns(paths: Sequence[Path], steps: dict[str, int]) -> dict[str, _Pattern]:
    """Popularity and counts of dwell times, by place; of several files the sum."""
    found: dict[str, _Pattern] = {}
    steps |= {_NO_PLACE: 0, _NO_WEEKDAYS: 0}
    for path in paths:
        for row, record in records_of(path, ("bucketed_dwell_times",)):
            key = _key(record)
            if not key:
                steps[_NO_PLACE] += 1
                continue
            try:
                dwell = _dwell(json.loads(record["bucketed_dwell_times"]))
                pattern = _Pattern(_by_hour(record), _by_day(record), dwell)
            except (ValueError, TypeError, KeyError) as error:
                problem = f"popularity by hour or day or dwell times are not what Patterns have: {error}"
                raise InputError(str(path), [Fault(row=row, problem=problem)]) from None
            found[key] = found[key] + pattern if key in found else pattern
            steps[_NO_WEEKDAYS] += not any(pattern.by_day)
    steps["places with patterns"] = len(found)
    return found


def _by_hour(record: dict[str, str]) -> list[float]:
    """24 numbers: given as such, or as one for each hour of a week."""
    if record.get("popularity_by_hour"):
        values = [float(value) for value in json.loads(record["popularity_by_hour"])]
        if len(values) != 24:
            raise ValueError(f"popularity_by_hour has {len(values)} numbers, must have 24")
        return values
    values = [float(value) for value in json.loads(record["visits_by_each_hour"])]
    if not values or len(values) % 24:
        raise ValueError(f"visits_by_each_hour has {len(values)} numbers, must be whole days")
    return [float(value) for value in np.array(values).reshape(-1, 24).sum(axis=0)]


def _by_day(record: dict[str, str]) -> list[float]:
    """Visits of each weekday, Monday first: given as such, or of each hour of whole weeks; else zeros."""
    if record.get("popularity_by_day"):
        given = {
            name.lower(): float(value) for name, value in json.loads(record["popularity_by_day"]).items()
        }
        return [given.get(name, 0.0) for name in LONG_WEEKDAYS]
    visits = [0.0] * 7
    if record.get("visits_by_each_hour"):
        # Weekly Patterns begin on a Monday, unless they say otherwise.
        start = record.get("date_range_start", "")[:10]
        first = dt.date.fromisoformat(start).weekday() if start else 0
        by_day = (
            np.array(json.loads(record["visits_by_each_hour"]), dtype=np.float64).reshape(-1, 24).sum(axis=1)
        )
        for number, count in enumerate(by_day.tolist()):
            visits[(first + number) % 7] += count
    return visits


def _dwell(buckets: dict[str, Any]) -> list[float]:
    counts = dict.fromkeys(_BUCKET_NAMES, 0.0)
    for name, count in buckets.items():
        parts = _OLD_BUCKETS.get(name, (name,))
        for part in parts:
            counts[part] += float(count) / len(parts)
    return list(counts.values())


def _core(
    paths: Sequence[Path], patterns: dict[str, Any], steps: dict[str, int]
) -> dict[str, dict[str, str]]:
    """Rows of Core Places that have patterns and a position."""
    found: dict[str, dict[str, str]] = {}
    steps |= {"core places": 0, "core places with patterns": 0, "places without a position": 0}
    for path in paths:
        for _, record in records_of(path, ("latitude", "longitude")):
            steps["core places"] += 1
            if not _key(record):
                steps[_NO_PLACE] += 1
            elif _key(record) in patterns:
                steps["core places with patterns"] += 1
                if degrees(record["latitude"], record["longitude"]) is None:
                    steps["places without a position"] += 1
                else:
                    found[_key(record)] = record
    if not found:
        raise InputError("--raw", "no place of Core Places has patterns: are the files of the same area?")
    return found


def _titles(core: dict[str, dict[str, str]]) -> dict[str, str]:
    """Titles of six and four digits as Core Places has them."""
    titles: dict[str, str] = {}
    for record in core.values():
        code = normal_code(record.get("naics_code", ""))
        if len(code) == 6:
            titles[code] = record.get("sub_category") or record.get("top_category") or code
            titles[parent_of(parent_of(code))] = record.get("top_category") or code
    return titles


def _place(key: str, record: dict[str, str], popularity: Sequence[float], steps: dict[str, int]) -> Place:
    position = degrees(record["latitude"], record["longitude"])
    assert position is not None  # noqa: S101 - those without are gone
    return Place(
        place_id=key,
        name=record.get("location_name") or key,
        latitude=position[0],
        longitude=position[1],
        category_ids=(normal_code(record.get("naics_code", "")),),
        hours=_opening_hours(record.get("open_hours", ""), steps),
        popularity=tuple(popularity),
    )


def _opening_hours(text: str, steps: dict[str, int]) -> str:
    """SafeGraph's JSON of hours by weekday in OpenStreetMap's syntax; blank where there are none."""
    if not text.strip():
        return ""
    try:
        by_day = json.loads(text)
        parts = []
        for name in WEEKDAYS:
            spans = [f"{_time(begin)}-{_end(begin, end)}" for begin, end in by_day.get(name, [])]
            parts.append(f"{name[:2]} {','.join(spans) if spans else 'off'}")
        hours = "; ".join(parts)
    except (ValueError, TypeError, AttributeError):
        hours = text
    if hours_problem(hours) is not None:
        steps["opening hours that make no sense"] = steps.get("opening hours that make no sense", 0) + 1
        return ""
    return hours


def _time(text: str) -> str:
    hour, minute = text.split(":")[:2]
    return f"{int(hour):02d}:{int(minute):02d}"


def _end(begin: str, end: str) -> str:
    """Midnight at the end of a day is 24:00; the same time twice is all day."""
    return "24:00" if _time(end) == "00:00" or _time(end) == _time(begin) else _time(end)


def pick_safegraph(files: Sequence[Path]) -> tuple[Path, ...]:
    """Core Places, Patterns and NAICS codes, if the first two are among ``files``."""
    core, patterns, naics = [], [], []
    for file in files:
        head = first_line(file)
        if "popularity_by_hour" in head or "visits_by_each_hour" in head:
            patterns.append(file)
        elif "placekey" in head and "latitude" in head:
            core.append(file)
        elif is_naics(file):
            naics.append(file)
    return (core[0], *patterns, *naics[:1]) if core and patterns else ()
