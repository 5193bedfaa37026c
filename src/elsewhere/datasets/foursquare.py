"""Foursquare check-ins of New York (TSMC2014): venues as places, a person's local day as a trajectory."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.cleaning import LEAST_VISITS, Cleaner, Stamp, most_popular
from elsewhere.datasets.hours_tables import hours_by_category
from elsewhere.datasets.notes import note
from elsewhere.datasets.popularity import PopularitySource, by_hour, popularity_source
from elsewhere.device.matching import Person
from elsewhere.errors import Fault, InputError
from elsewhere.inputs.raw_text import degrees, first_line, json_of, rows_of
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import seeded_generator

HOME = "Home (private)"
TIMEZONE = "America/New_York"
# The header of the CSV in circulation, in the order of the original's eight columns.
_HEADER = (
    "userId", "venueId", "venueCategoryId", "venueCategory", "latitude", "longitude", "timezoneOffset",
    "utcTimestamp",
)  # fmt: skip


class Venue(NamedTuple):
    """A venue as check-ins describe it."""

    category_id: str
    category_name: str
    latitude: float
    longitude: float


class Checkin(NamedTuple):
    """One row: who, where, and when in local time."""

    user: str
    venue: str
    moment: dt.datetime

    def __repr__(self) -> str:
        return "<private Checkin>"


class Venues(NamedTuple):
    """Places and categories made of check-ins and the category tree, with what was counted."""

    places: list[Place]
    tree: CategoryTree
    steps: dict[str, int]


def is_checkins(path: Path) -> bool:
    line = first_line(path)
    return line.count("\t") == 7 or line.startswith("userId,venueId")


def is_category_tree(path: Path) -> bool:
    return path.suffix in {".json", ".gz"} and first_line(path).lstrip()[:1] in {"[", "{"}


def read_foursquare(
    raw: Sequence[Path],
    *,
    limit: int | None = 2000,
    has_homes: bool = False,
    least: int = LEAST_VISITS,
    hours: Path | None = None,
    popularity: str = "held-out",
    progress: Progress = no_progress,
) -> Dataset:
    """Check-ins and the category tree (v2 JSON), in any order."""
    checkins, categories = told_apart(raw)
    source = popularity_source(popularity)
    venues = read_venues(
        checkins, categories, limit=limit, has_homes=has_homes, hours=hours, popularity=source
    )
    clock = Clock(timezone=TIMEZONE)
    title, what, terms = note("foursquare")
    return Dataset(
        title=title,
        what=what,
        terms=terms,
        places=venues.places,
        tree=venues.tree,
        days=_user_days(checkins, venues, clock, least, source, progress),
        clock=clock,
        settings={"speed_kmh": 8, "popularity_from": source.kind},
        steps=venues.steps,
    )


def told_apart(raw: Sequence[Path]) -> tuple[Path, Path]:
    """Which file holds the check-ins and which the category tree."""
    checkins = [path for path in raw if is_checkins(path)]
    categories = [path for path in raw if path not in checkins and is_category_tree(path)]
    others = [path for path in raw if path not in checkins and path not in categories]
    if others:
        raise InputError(str(others[0]), "is neither check-ins nor a category tree")
    if len(checkins) != 1 or len(categories) != 1:
        raise InputError(
            "--raw",
            f"found {len(checkins)} files of check-ins (eight columns with tabs, or CSV from userId on) and "
            f"{len(categories)} category trees (v2 JSON), must be one of each",
        )
    return checkins[0], categories[0]


def read_venues(
    checkins: Path,
    categories: Path,
    *,
    limit: int | None,
    has_homes: bool,
    hours: Path | None,
    popularity: PopularitySource,
) -> Venues:
    """The most popular venues with a known category, and the tree."""
    tree = read_category_tree(categories, hours_by_category("foursquare", hours))
    steps = {"check-ins": 0, "check-ins without a position": 0}
    counts, hours_of, venues = _counted(checkins, popularity, steps)
    steps |= {"check-ins that popularity is counted from": counts.total(), "venues": len(counts)}
    if popularity.given is not None:
        counts = Counter(
            {venue: sum(popularity.given[venue]) for venue in counts if venue in popularity.given}
        )
    homes = {venue for venue in counts if venues[venue].category_name == HOME}
    if not has_homes:
        steps["private homes left out"] = len(homes)
    roots = {tree.ids[node]: tree.ids[lineage[0]] for node, lineage in enumerate(tree.lineage.tolist())}
    unknown = {venue for venue in counts if venues[venue].category_id not in roots}
    steps["venues of a category that the tree does not have"] = len(unknown)
    dropped = unknown if has_homes else unknown | homes
    kept = most_popular(Counter({v: n for v, n in counts.items() if v not in dropped}), limit)
    kinds = {venue: roots[venues[venue].category_id] for venue in kept}
    by_hours = popularity.given or by_hour(Counter({v: counts[v] for v in kept}), kinds, hours_of)
    places = [
        Place(
            place_id=venue,
            name=venues[venue].category_name,
            latitude=venues[venue].latitude,
            longitude=venues[venue].longitude,
            category_ids=(venues[venue].category_id,),
            popularity=by_hours[venue],
        )
        for venue in kept
    ]
    return Venues(places, tree, steps)


def _counted(
    checkins: Path, popularity: PopularitySource, steps: dict[str, int]
) -> tuple[Counter[str], Counter[tuple[str, int]], dict[str, Venue]]:
    """Check-ins of each venue, and of each venue and hour, by those who are counted; what venues are."""
    counts: Counter[str] = Counter()
    at_hours: Counter[tuple[str, int]] = Counter()
    venues: dict[str, Venue] = {}
    for number, fields in enumerate(_fields(checkins, no_progress), start=1):
        steps["check-ins"] += 1
        position = degrees(fields[4], fields[5])
        if position is None:
            steps["check-ins without a position"] += 1
        elif popularity.counts(fields[0]):
            counts[fields[1]] += 1
            at_hours[fields[1], _local(checkins, number, fields).hour] += 1
            venues[fields[1]] = Venue(fields[2], fields[3], *position)
    return counts, at_hours, venues


def read_category_tree(path: Path, hours: dict[str, str]) -> CategoryTree:
    """The tree of a v2 `venues/categories` answer, whole or its `categories` alone."""
    content = json_of(path)
    for key in ("response", "categories"):
        if isinstance(content, dict) and key in content:
            content = content[key]
    rows: list[tuple[str, str, str, str]] = []

    def walk(entries: Any, parent: str) -> None:
        for entry in entries:
            rows.append((entry["id"], entry["name"], parent, "" if parent else hours.get(entry["name"], "")))
            walk(entry.get("categories") or [], entry["id"])

    try:
        walk(content, "")
    except (TypeError, KeyError, AttributeError):
        raise InputError(
            str(path), "must be Foursquare's categories: nested objects with id, name, categories"
        ) from None
    if not rows:
        raise InputError(str(path), "holds no category")
    ids, names, parents, by_root = zip(*rows, strict=True)
    return build_tree(ids, names, parents, by_root)


def _fields(path: Path, progress: Progress) -> Iterator[list[str]]:
    """The eight columns of each row; a header is passed over."""
    is_original = first_line(path).count("\t") == 7
    for row, fields in rows_of(
        path,
        encoding="latin-1" if is_original else "utf-8-sig",
        delimiter="\t" if is_original else ",",
        progress=progress,
    ):
        if len(fields) != len(_HEADER):
            problem = f"has {len(fields)} fields, must have {len(_HEADER)}: {', '.join(_HEADER)}"
            raise InputError(str(path), [Fault(row=row, problem=problem)])
        if fields[0] != _HEADER[0]:
            yield fields


def read_checkins(path: Path, progress: Progress = no_progress) -> Iterator[Checkin]:
    """Check-ins in local time, in the order of the file."""
    for number, fields in enumerate(_fields(path, progress), start=1):
        yield Checkin(fields[0], fields[1], _local(path, number, fields))


def _local(path: Path, number: int, fields: list[str]) -> dt.datetime:
    """Local time of a check-in."""
    try:
        return _moment(fields[7]) + dt.timedelta(minutes=int(fields[6]))
    except ValueError:
        expected = "minutes from UTC and a time such as 'Tue Apr 03 18:00:09 +0000 2012'"
        raise InputError(str(path), f"check-in {number:,}: columns 7 and 8 must be {expected}") from None


_MONTHS = {
    name: n
    for n, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], start=1
    )
}


def _moment(text: str) -> dt.datetime:
    """``Tue Apr 03 18:00:09 +0000 2012``, always in UTC; ten times as fast as strptime."""
    _, month, day, clock, _, year = text.split()
    hour, minute, second = clock.split(":")
    try:
        date = dt.date(int(year), _MONTHS[month], int(day))
        return dt.datetime.combine(date, dt.time(int(hour), int(minute), int(second)))
    except KeyError:
        raise ValueError(text) from None


def _user_days(
    checkins: Path,
    venues: Venues,
    clock: Clock,
    least: int,
    popularity: PopularitySource,
    progress: Progress,
) -> Iterator[Person]:
    """Local days of the people who share, by user and date."""
    known = {place.place_id: (place.latitude, place.longitude) for place in venues.places}
    days: dict[tuple[str, dt.date], list[Stamp]] = {}
    venues.steps["check-ins at these venues"] = 0
    for user, venue, moment in read_checkins(checkins, progress):
        if venue in known and popularity.shares(user):
            venues.steps["check-ins at these venues"] += 1
            days.setdefault((user, moment.date()), []).append(Stamp(moment, venue, known[venue]))
    cleaner = Cleaner(clock, seeded_generator(1), venues.steps, least)
    for user, date in sorted(days, key=lambda key: (key[0].zfill(12), key[1])):
        person = cleaner.day(user, date, days[user, date], by_gap=False)
        if person is not None:
            yield person


def pick_foursquare(files: Sequence[Path]) -> tuple[Path, ...]:
    """Check-ins and the category tree, if both are among ``files``."""
    checkins = [file for file in files if is_checkins(file)]
    trees = [file for file in files if is_category_tree(file) and "categor" in file.name]
    return (checkins[0], trees[0]) if checkins and trees else ()
