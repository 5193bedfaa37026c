"""Foursquare check-ins of New York (TSMC2014): venues as places, a person's local day as a trajectory."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.checkin_categories import OTHER, category_of, checkin_tree, is_private_home
from elsewhere.datasets.checkin_files import CheckinFiles
from elsewhere.datasets.cleaning import LEAST_VISITS, Cleaner, Stamp, most_popular
from elsewhere.datasets.hours_tables import hours_by_category
from elsewhere.datasets.notes import note
from elsewhere.datasets.popularity import PopularitySource, by_hour, popularity_source
from elsewhere.device.matching import Person
from elsewhere.errors import InputError
from elsewhere.inputs.delimited import layout_of
from elsewhere.inputs.raw_text import degrees, first_line, json_of
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Place
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import seeded_generator
from elsewhere.world.settings import HELD_OUT

HOME = "Home (private)"


class Venue(NamedTuple):
    """A venue as check-ins describe it."""

    category_id: str
    category_name: str
    latitude: float
    longitude: float
    name: str


class Venues(NamedTuple):
    """Places and categories made of check-ins and the category tree, with what was counted."""

    places: list[Place]
    tree: CategoryTree
    steps: dict[str, int]


def is_checkins(path: Path) -> bool:
    """Whether a file has people, venues with positions, and times."""
    try:
        layout = layout_of(path)
    except InputError:
        return False
    return all(key in layout for key in ("uid", "place_id", "lat", "lng", "datetime"))


def is_category_tree(path: Path) -> bool:
    return path.suffix in {".json", ".gz"} and first_line(path).lstrip()[:1] in {"[", "{"}


def read_foursquare(
    raw: Sequence[Path],
    *,
    limit: int | None = 2000,
    has_homes: bool = False,
    least: int = LEAST_VISITS,
    hours: Path | None = None,
    timezone: str | None = None,
    popularity: str = "held-out",
    progress: Progress = no_progress,
) -> Dataset:
    """Check-ins and, if Foursquare's own is wanted, the category tree (v2 JSON), in any order."""
    checkins, categories = told_apart(raw)
    return checkin_dataset(
        "foursquare",
        checkins,
        categories,
        limit=limit,
        has_homes=has_homes,
        least=least,
        hours=hours,
        timezone=timezone,
        popularity=popularity,
        progress=progress,
    )


def checkin_dataset(
    name: str,
    checkins: CheckinFiles,
    categories: Path | None,
    *,
    limit: int | None,
    has_homes: bool,
    least: int,
    hours: Path | None,
    timezone: str | None,
    popularity: str,
    progress: Progress,
) -> Dataset:
    """Venues as places, people's local days as trajectories; ``name`` is that of the note for SOURCE.md."""
    source = popularity_source(popularity)
    public = [(place.latitude, place.longitude) for place in source.venues]
    clock = Clock(timezone=checkins.find_zone(timezone, source.counts, public))
    venues = read_venues(
        checkins,
        categories,
        limit=limit,
        has_homes=has_homes,
        hours=hours,
        popularity=source,
        progress=progress,
    )
    title, what, terms = note(name)
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
        why_none=partial(_why_none, checkins, source, venues.steps),
    )


def _why_none(checkins: CheckinFiles, source: PopularitySource, steps: dict[str, int]) -> str:
    """People who hold a small file do not expect that half of it is set apart."""
    has_positions = steps["check-ins without a position"] < steps["check-ins"]
    if source.kind != HELD_OUT or not has_positions:
        return ""
    people = {row.user for row in checkins.rows()}
    apart = sum(not source.shares(uid) for uid in people)
    return (
        f"half of the people ({apart:,} of {len(people):,}) make places popular and their days are left out; "
        "too few days are left: more people, --popularity public:FILE, or --least-visits 1 would help"
    )


def told_apart(raw: Sequence[Path]) -> tuple[CheckinFiles, Path | None]:
    """Which file holds the check-ins and which, if any, the category tree."""
    categories = [path for path in raw if is_category_tree(path)]
    others = [path for path in raw if path not in categories]
    if len(others) != 1 or len(categories) > 1:
        raise InputError(
            "--raw",
            f"found {len(others)} files of check-ins and {len(categories)} category trees (v2 JSON), must be "
            "one file of check-ins, and at most one tree",
        )
    return CheckinFiles(others), categories[0] if categories else None


def read_venues(
    checkins: CheckinFiles,
    categories: Path | None,
    *,
    limit: int | None,
    has_homes: bool,
    hours: Path | None,
    popularity: PopularitySource,
    progress: Progress = no_progress,
) -> Venues:
    """The most popular venues with a known category, and the tree: the one given, or ours by name."""
    is_ours = categories is None
    tree = (
        checkin_tree(hours)
        if categories is None
        else read_category_tree(categories, hours_by_category("foursquare", hours))
    )
    steps = {"check-ins": 0, "check-ins without a position": 0}
    counts, hours_of, venues = _counted(checkins, popularity, steps, progress, is_ours=is_ours)
    if checkins.nameless:
        steps["rows without a person or a venue left out"] = checkins.nameless
    if checkins.elsewhere:
        steps["venues in another time zone than most"] = checkins.elsewhere
    steps |= {"check-ins that popularity is counted from": counts.total(), "venues": len(counts)}
    if popularity.kind == "public":
        venues = {place.place_id: _published(place, is_ours=is_ours) for place in popularity.venues}
        counts = Counter({place.place_id: sum(place.popularity) for place in popularity.venues})
        steps["venues"] = len(venues)
    homes = {venue for venue in counts if _is_home(venues[venue])}
    if not has_homes:
        steps["private homes left out"] = len(homes)
    roots = {tree.ids[node]: tree.ids[lineage[0]] for node, lineage in enumerate(tree.lineage.tolist())}
    unknown = {venue for venue in counts if venues[venue].category_id not in roots}
    steps["venues of a category that the tree does not have"] = len(unknown)
    if is_ours:
        steps["venues of a kind that is not known"] = sum(v.category_id == OTHER for v in venues.values())
    dropped = unknown if has_homes else unknown | homes
    kept = most_popular(Counter({v: n for v, n in counts.items() if v not in dropped}), limit)
    kinds = {venue: roots[venues[venue].category_id] for venue in kept}
    by_hours = {place.place_id: place.popularity for place in popularity.venues}
    by_hours = by_hours or by_hour(Counter({v: counts[v] for v in kept}), kinds, hours_of)
    places = [
        Place(
            place_id=venue,
            name=venues[venue].name or venues[venue].category_name,
            latitude=venues[venue].latitude,
            longitude=venues[venue].longitude,
            category_ids=(venues[venue].category_id,),
            popularity=by_hours[venue],
        )
        for venue in kept
    ]
    return Venues(places, tree, steps)


def _published(place: Place, *, is_ours: bool) -> Venue:
    """A venue as a public table has it."""
    [category] = place.category_ids
    category_id = (category_of(category) or OTHER) if is_ours else category
    return Venue(category_id, category, place.latitude, place.longitude, place.name)


def _is_home(venue: Venue) -> bool:
    """Whether a venue is somebody's private home.

    Deviation: private-homes — they are left out of public places, unless one asks for them.
    """
    return venue.category_name == HOME or is_private_home(venue.category_id)


def _counted(
    checkins: CheckinFiles,
    popularity: PopularitySource,
    steps: dict[str, int],
    progress: Progress,
    *,
    is_ours: bool,
) -> tuple[Counter[str], Counter[tuple[str, int]], dict[str, Venue]]:
    """Check-ins of each venue, and of each venue and hour, by those who are counted; what venues are."""
    counts: Counter[str] = Counter()
    at_hours: Counter[tuple[str, int]] = Counter()
    venues: dict[str, Venue] = {}
    for row in checkins.rows(progress):
        steps["check-ins"] += 1
        position = degrees(row.lat, row.lng)
        if position is None:
            steps["check-ins without a position"] += 1
        elif popularity.counts(row.user):
            counts[row.venue] += 1
            at_hours[row.venue, row.moment.hour] += 1
            category_id = (category_of(row.category) or OTHER) if is_ours else row.category_id
            venues[row.venue] = Venue(category_id, row.category, *position, row.name)
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


def _user_days(
    checkins: CheckinFiles,
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
    for row in checkins.rows(progress):
        if row.venue in known and popularity.shares(row.user):
            stamp = Stamp(row.moment, row.venue, known[row.venue])
            venues.steps["check-ins at these venues"] += 1
            days.setdefault((row.user, row.moment.date()), []).append(stamp)
    cleaner = Cleaner(clock, seeded_generator(1), venues.steps, least)
    for user, date in sorted(days, key=lambda key: (key[0].zfill(12), key[1])):
        person = cleaner.day(user, date, days[user, date], by_gap=False)
        if person is not None:
            yield person


def pick_foursquare(files: Sequence[Path]) -> tuple[Path, ...]:
    """Check-ins and the category tree, if both are among ``files``."""
    trees = [file for file in files if is_category_tree(file) and "categor" in file.name]
    checkins = [file for file in files if not is_category_tree(file) and is_checkins(file)]
    return (checkins[0], trees[0]) if checkins and trees else ()
