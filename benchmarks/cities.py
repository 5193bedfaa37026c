"""Cities of any size to measure on: real Foursquare places of New York, or made-up ones of the same shape."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import json
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import elsewhere as ew

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("ELSEWHERE_DATA", ROOT.parent / "shared/data"))
CHECKINS = DATA / "foursquare_nyc/dataset_TSMC2014_NYC_popular.txt.gz"
CATEGORIES = DATA / "foursquare_categories/foursquare_categories_v2_2021-03.json.gz"

# The paper sets hours by hand for each broad category; these are ours.
HOURS_BY_ROOT = {
    "Arts & Entertainment": "10:00-24:00",
    "College & University": "07:00-22:00",
    "Food": "07:00-23:00",
    "Nightlife Spot": "17:00-28:00",
    "Professional & Other Places": "07:00-20:00",
    "Shop & Service": "09:00-21:00",
}

Row = tuple[str, str, float, float, str, int]


def write_city(folder: Path, places: int) -> str:
    """Write places, categories and settings of a city; says where its places come from."""
    folder.mkdir(parents=True, exist_ok=True)
    is_real = CHECKINS.exists() and CATEGORIES.exists()
    categories, base = _foursquare() if is_real else _made_up()
    rows = base[:places] if places <= 2000 else _around(base, places)
    with (folder / "places.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["place_id", "name", "lat", "lng", "category", "popularity"])
        writer.writerows(rows)
    with (folder / "categories.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["category_id", "name", "parent_id", "hours"])
        writer.writerows(categories)
    (folder / "world.toml").write_text('places = "places.csv"\ncategories = "categories.csv"\n')
    return "Foursquare NYC" if is_real else "made up (no raw data)"


def write_changes(folder: Path) -> None:
    """Twenty changes to a city's places: hours, moves, additions, removals, five of each."""
    with (folder / "places.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    changes = [{**row, "hours": "", "remove": ""} for row in rows[:20]]
    for number, row in enumerate(changes):
        match number % 4:
            case 0:
                row["hours"] = "08:00-12:00"
            case 1:
                row["lat"] = str(float(row["lat"]) + 0.01)
            case 2:
                row["place_id"] += "-new"
            case _:
                row["remove"] = "yes"
    after = {row["place_id"]: {**row, "hours": ""} for row in rows}
    for row in changes:
        if row["remove"]:
            del after[row["place_id"]]
        else:
            after[row["place_id"]] = {key: value for key, value in row.items() if key != "remove"}
    for name, content in (("changes.csv", changes), ("changed.csv", list(after.values()))):
        with (folder / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(content[0]))
            writer.writeheader()
            writer.writerows(content)


def _foursquare() -> tuple[list[tuple[str, ...]], list[Row]]:
    """Category tree with hours, and venues by falling number of check-ins."""
    categories: list[tuple[str, ...]] = []

    def walk(entry: dict[str, Any], parent: str) -> None:
        hours = HOURS_BY_ROOT.get(entry["name"], "") if not parent else ""
        categories.append((entry["id"], entry["name"], parent, hours))
        for child in entry["categories"]:
            walk(child, entry["id"])

    with gzip.open(CATEGORIES) as raw:
        for root in json.load(raw):
            walk(root, "")
    known = {category[0] for category in categories}
    counts: Counter[str] = Counter()
    venues: dict[str, list[str]] = {}
    with gzip.open(CHECKINS, "rt", encoding="latin-1") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            counts[fields[1]] += 1
            venues[fields[1]] = fields
    rows = [
        (venue, venues[venue][3], float(venues[venue][4]), float(venues[venue][5]), venues[venue][2], count)
        for venue, count in counts.most_common()
        if venues[venue][2] in known
    ]
    return categories, rows


def _made_up() -> tuple[list[tuple[str, ...]], list[Row]]:
    generator = np.random.default_rng(1)
    categories: list[tuple[str, ...]] = []
    leaves = []
    for r, hours in enumerate([*HOURS_BY_ROOT.values(), "", "", ""]):
        categories.append((f"r{r}", f"Root {r}", "", hours))
        for m in range(8):
            categories.append((f"r{r}m{m}", f"Middle {r}.{m}", f"r{r}", ""))
            for leaf in range(3):
                categories.append((f"r{r}m{m}l{leaf}", f"Leaf {r}.{m}.{leaf}", f"r{r}m{m}", ""))
                leaves.append(f"r{r}m{m}l{leaf}")
    spots = generator.normal((40.73, -73.97), (0.06, 0.07), size=(5000, 2))
    kinds = generator.choice(leaves, size=5000)
    rows = [
        (f"v{i}", f"Venue {i}", float(lat), float(lng), str(kind), 5000 - i)
        for i, ((lat, lng), kind) in enumerate(zip(spots, kinds, strict=True))
    ]
    return categories, rows


def _around(base: list[Row], places: int) -> list[Row]:
    """Places sampled around real ones: their categories, a few hundred metres away."""
    generator = np.random.default_rng(1)
    picks = generator.integers(len(base), size=places)
    shifts = generator.normal(0, 0.004, size=(places, 2))
    rows = []
    for number, (pick, (north, east)) in enumerate(zip(picks.tolist(), shifts.tolist(), strict=True)):
        venue, name, latitude, longitude, category, count = base[pick]
        rows.append((f"{venue}-{number}", name, latitude + north, longitude + east, category, count))
    return rows


def write_days(path: Path, places: int, *, most: int = 3000) -> str:
    """Days of 3 to 8 visits to a city's places: real user-days if there are any, else made-up ones."""
    rows = _real_days(places) if CHECKINS.exists() and CATEGORIES.exists() else []
    source = "Foursquare user-days" if rows else "made-up days"
    if not rows:
        generator = np.random.default_rng(2)
        for number in range(most):
            steps = np.sort(
                generator.choice(np.arange(40, 140), size=generator.integers(3, 9), replace=False)
            )
            rows += [(f"u{number}", f"v{generator.integers(places)}", int(step) * 10) for step in steps]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["uid", "tid", "datetime", "place_id"])
        for uid, place_id, minute in rows:
            writer.writerow([uid, uid, f"2012-05-02T{minute // 60:02d}:{minute % 60:02d}:00", place_id])
    return source


def _real_days(places: int) -> list[tuple[str, str, int]]:
    """Check-ins of a person's local day, if 3 to 8 are left once repeats and close ones are gone."""
    _, base = _foursquare()
    known = {row[0] for row in base[:places]}
    days: dict[str, list[tuple[int, str]]] = {}
    with gzip.open(CHECKINS, "rt", encoding="latin-1") as lines:
        for line in lines:
            user, venue, _, _, _, _, offset, moment = line.rstrip("\n").split("\t")
            if venue in known:
                utc = dt.datetime.strptime(moment, "%a %b %d %H:%M:%S %z %Y")
                local = utc + dt.timedelta(minutes=int(offset))
                days.setdefault(f"{user}-{local:%Y%m%d}", []).append((local.hour * 60 + local.minute, venue))
    rows = []
    for uid, visits in days.items():
        by_step = {minute // 10: venue for minute, venue in sorted(visits)}
        kept = list(by_step.items())
        kept = [kept[0], *(b for a, b in pairwise(kept) if a[1] != b[1])]
        if 3 <= len(kept) <= 8:
            rows += [(uid, venue, step * 10) for step, venue in kept]
    return rows


def city_with_days(folder: Path, places: int) -> tuple[str, ew.World, list[ew.Trajectory]]:
    """Where its days come from, a city's world, and the days."""
    write_city(folder, places)
    source = write_days(folder / "days.csv", places)
    world = ew.build_world(folder / "world.toml")
    return source, world, ew.read_trajectories(folder / "days.csv", world=world)
