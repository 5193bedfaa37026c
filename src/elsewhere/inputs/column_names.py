"""Columns under the names that people give them, in whatever case and order."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from elsewhere.errors import InputError
from elsewhere.inputs.moments import MomentError, NoTimeError, moment_of

# Of several that a file has, the first counts: scikit-mobility's names, then those of trackintel and
# movingpandas, then those of check-in data sets.
ALIASES: dict[str, tuple[str, ...]] = {
    "uid": ("uid", "user_id", "user", "person_id", "person", "device_id", "agent_id", "taxi_id", "cab_id"),
    "tid": ("tid", "trip_id", "traj_id", "trajectory_id", "tripleg_id"),
    "datetime": (
        "datetime", "timestamp", "t", "time", "started_at", "tracked_at", "utc_timestamp", "utc_time",
        "checkin_time", "check_in_time", "date_time", "local_time", "created_at", "arrived_at", "arrival",
        "arrival_time", "start_time", "start", "begin", "epoch", "unix_time", "unixtime", "ts", "date",
    ),
    "lat": ("lat", "latitude", "y", "venue_lat", "venue_latitude", "poi_lat", "place_lat"),
    "lng": ("lng", "lon", "long", "longitude", "x", "venue_lng", "venue_longitude", "poi_lng", "place_lng"),
    "place_id": ("place_id", "location_id", "poi_id", "venue_id", "spot_id", "poi", "venue", "business_id"),
}  # fmt: skip
# What only data sets have.
MORE_ALIASES: dict[str, tuple[str, ...]] = {
    "end": (
        "end", "finished_at", "leaving_datetime", "end_time", "departure", "departure_time", "departed_at",
        "left_at", "leave_time", "stop", "until",
    ),
    "name": ("name", "venue_name", "place_name", "poi_name", "location_name", "title"),
    "category": (
        "category", "category_name", "venue_category", "venue_category_name", "poi_category", "poi_catname",
        "cat_name", "place_category", "poi_type", "type", "kind",
    ),
    "category_id": ("category_id", "venue_category_id", "poi_catid", "cat_id"),
    "offset": ("timezone_offset", "tz_offset", "utc_offset", "offset_minutes", "timezone"),
    "occupied": ("occupied", "occupancy"),
    "date": ("date",),
}  # fmt: skip


_SEPARATORS = "\t;,"
_CLOCK = re.compile(r"\d{1,2}:\d{2}")


class FoundColumns(NamedTuple):
    """Where a file has what: positions by key, and whether times without a zone are UTC."""

    where: dict[str, int]
    is_utc: bool = False


def separator_of(line: str) -> str:
    """What separates columns: tab, semicolon, comma or, if there is none of them, a space."""
    unquoted = re.sub(r'"[^"]*"', "quoted", line)
    counts = {mark: unquoted.count(mark) for mark in _SEPARATORS}
    if counts["\t"] or counts[";"]:
        return "\t" if counts["\t"] >= counts[";"] else ";"
    return "," if counts[","] or " " not in unquoted.strip() else " "


def joined_time(date: str, time: str) -> str:
    """A time of day with its date, if the date stands in a column of its own."""
    return f"{date} {time}" if _CLOCK.match(time) else time


def plain_name(name: str) -> str:
    """A name without case and marks: `User ID`, `user_id` and `userId` are one."""
    return re.sub(r"[\W_]+", "", name.lower())


def found_columns(
    names: Sequence[str],
    source: str,
    *,
    keys: Mapping[str, Sequence[str]] = ALIASES,
    given: Mapping[str, str] | None = None,
) -> FoundColumns:
    """Positions of the columns that are known, or ``given`` by name or number; none must be there twice."""
    plain = [plain_name(name) for name in names]
    where: dict[str, int] = {}
    for key, aliases in keys.items():
        present = [alias for alias in map(plain_name, aliases) if alias in plain]
        if given and key in given:
            where[key] = _given_column(key, given[key], names, source)
        elif present:
            if plain.count(present[0]) > 1:
                raise InputError(source, f"column {key} is there twice, must be there once")
            where[key] = plain.index(present[0])
    time = plain[where["datetime"]] if "datetime" in where else ""
    return FoundColumns(where, is_utc="utc" in time or "gmt" in time)


def _given_column(key: str, wanted: str, names: Sequence[str], source: str) -> int:
    plain = [plain_name(name) for name in names]
    if wanted in names or plain_name(wanted) in plain:
        return list(names).index(wanted) if wanted in names else plain.index(plain_name(wanted))
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    has = columns_in_words(names)
    raise InputError(source, f"--columns {key}={wanted}: there is no such column; {has}")


def is_header(fields: Sequence[str], keys: Mapping[str, Sequence[str]] = ALIASES) -> bool:
    """Whether a first row names columns; one that holds numbers or times is somebody's data."""
    known = {plain_name(alias) for aliases in keys.values() for alias in aliases}
    if sum(plain_name(field) in known for field in fields) >= 2:
        return True
    return not any(map(_is_datum, fields))


def _is_datum(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        pass
    else:
        return True
    try:
        moment_of(text)
    except NoTimeError:
        return True
    except MomentError:
        # A header has no clock and no date in any form.
        return bool(re.search(r"\d{1,2}:\d{2}|\d{4}-\d{2}|\d+/\d+/\d+", text))
    return True


def columns_in_words(names: Sequence[str]) -> str:
    """What columns there are; a first row that looks like data is never quoted."""
    if is_header(names):
        return f"the file has {', '.join(name.strip() for name in names[:20]) or 'none'}"
    return f"its first row looks like data, not like the names of its {len(names)} columns"


def missing_columns(missing: Collection[str], names: Sequence[str]) -> str:
    """What is missing, what there is, and how to say which is which."""
    wanted = ", ".join(missing)
    if is_header(names):
        example = ",".join(f"{key}=NAME" for key in missing)
        how = f"--columns {example}, with names that the file has"
    else:
        example = ",".join(f"{key}={number}" for number, key in enumerate(missing, start=1))
        how = f"their positions, as in --columns {example}"
    return f"column {wanted} missing; {columns_in_words(names)}; say which is which with {how}"


def parse_given(text: str | None, keys: Collection[str]) -> dict[str, str]:
    """`uid=user,lat=Latitude` as keys and names."""
    found: dict[str, str] = {}
    for part in (text or "").split(","):
        key, equals, name = (piece.strip() for piece in part.partition("="))
        if not part.strip():
            continue
        if not equals or not name or key not in keys:
            raise InputError(
                "--columns", f"found {part.strip()!r}, must be KEY=NAME with a key of {', '.join(keys)}"
            )
        found[key] = name
    return found
