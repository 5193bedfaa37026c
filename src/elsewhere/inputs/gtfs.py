"""Timetables from GTFS feeds: what runs on one day, as hops from stop to stop."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from scipy.spatial import cKDTree

from elsewhere.arrays import Floats, Indices
from elsewhere.errors import InputError
from elsewhere.knowledge.clock import LONG_WEEKDAYS, WEEKDAYS, Clock
from elsewhere.knowledge.sphere import chord_squared_of_km, great_circle_km, unit_vectors
from elsewhere.knowledge.timetable import Footpaths, Hops, Seconds, Timetable

_DAY_SECONDS = 86_400
_FOOTPATH_KM = 0.4


def read_timetable(path: Path, clock: Clock, *, change_minutes: float, speed_kmh: float) -> Timetable:
    """What a feed (a zip, or a folder) says of the clock's day.

    A weekday stands for that weekday of the feed on which most trips run. Trips of the day before that run
    past midnight count too. Platforms are taken together to stations. Changing takes ``change_minutes``
    or what the feed says; stations within 400 m of each other can be walked between.
    """
    feed = _Feed(path)
    stations, vectors = feed.stations()
    services = feed.services(_date_in(feed, clock))
    hops = feed.hops(services, stations)
    if not len(hops.departures):
        raise InputError(str(path), f"nothing runs on {clock.day}")
    change = round(change_minutes * 60)
    change_seconds = np.full(len(vectors), change, dtype=np.int32)
    walks = _walks_nearby(vectors, speed_kmh)
    for origin, destination, seconds in feed.transfers(stations, change):
        if origin == destination:
            change_seconds[origin] = seconds
        else:
            walks[origin, destination] = seconds
    return Timetable(
        station_vectors=vectors,
        change_seconds=change_seconds,
        hops=hops,
        footpaths=_footpaths(walks, len(vectors)),
    )


def _date_in(feed: _Feed, clock: Clock) -> dt.date:
    """The date itself, or the busiest of the feed's dates with the clock's weekday."""
    if clock.day not in WEEKDAYS:
        return clock.date
    dates = [date for date in feed.dates() if date.weekday() == WEEKDAYS.index(clock.day)]
    if not dates:
        raise InputError(feed.source, f"has no {clock.day} in its calendar")
    return max(dates, key=lambda date: (feed.trips_of(feed.services_on(date)), -date.toordinal()))


class _Feed:
    """The tables of a feed, as text."""

    def __init__(self, path: Path) -> None:
        self.source = str(path)
        self._files = _files(path)
        self._trips = self.table("trips.txt", ["trip_id", "service_id"])
        self._counts = dict(self._trips.group_by("service_id").len().iter_rows())
        self._calendar = self.table(
            "calendar.txt", ["service_id", *LONG_WEEKDAYS, "start_date", "end_date"], True
        )
        self._changes = self.table("calendar_dates.txt", ["service_id", "date", "exception_type"], True)
        if not self._calendar.height and not self._changes.height:
            raise InputError(self.source, "has neither calendar.txt nor calendar_dates.txt with any row")

    def table(self, name: str, columns: Sequence[str], may_lack: bool = False) -> pl.DataFrame:
        """Columns of one of its files; those that are not in it are null."""
        if name not in self._files:
            if may_lack:
                return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
            raise InputError(self.source, f"has no {name}: is it a GTFS feed?")
        try:
            frame = pl.read_csv(self._files[name], infer_schema=False, truncate_ragged_lines=True)
        except pl.exceptions.NoDataError:
            frame = pl.DataFrame()
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{self.source}/{name}", f"not a table: {str(error).splitlines()[0]}") from None
        frame = frame.rename({column: column.strip().strip("\ufeff") for column in frame.columns})
        missing = [column for column in columns if column not in frame.columns]
        if missing and not may_lack:
            raise InputError(f"{self.source}/{name}", f"column {missing[0]} is missing")
        frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(column) for column in missing)
        return frame.with_columns(pl.all().str.strip_chars())

    def dates(self) -> list[dt.date]:
        """All dates that its calendar is about."""
        found = {_date(text, self.source) for text in self._changes["date"].to_list()}
        for first, last in self._calendar.select("start_date", "end_date").iter_rows():
            day, end = _date(first, self.source), _date(last, self.source)
            while day <= end:
                found.add(day)
                day += dt.timedelta(days=1)
        return sorted(found)

    def services_on(self, date: dt.date) -> frozenset[str]:
        """Services that run on a date."""
        text = date.strftime("%Y%m%d")
        running = self._calendar.filter(
            (pl.col(LONG_WEEKDAYS[date.weekday()]) == "1")
            & (pl.col("start_date") <= text)
            & (pl.col("end_date") >= text)
        )
        changes = self._changes.filter(pl.col("date") == text)
        added = changes.filter(pl.col("exception_type") == "1")["service_id"]
        removed = changes.filter(pl.col("exception_type") == "2")["service_id"]
        return frozenset({*running["service_id"], *added} - {*removed})

    def trips_of(self, services: frozenset[str]) -> int:
        return sum(self._counts.get(service, 0) for service in services)

    def services(self, date: dt.date) -> list[tuple[frozenset[str], int]]:
        """Services of a date and of the day before, each with what to take off its times."""
        return [
            (self.services_on(date), 0),
            (self.services_on(date - dt.timedelta(days=1)), _DAY_SECONDS),
        ]

    def stations(self) -> tuple[dict[str, int], Floats]:
        """The station of each stop, as a number, and where the stations are."""
        stops = self.table("stops.txt", ["stop_id"])
        for name in ("stop_lat", "stop_lon", "parent_station"):
            if name not in stops.columns:
                stops = stops.with_columns(pl.lit(None, dtype=pl.String).alias(name))
        parents = dict(stops.select("stop_id", "parent_station").iter_rows())
        top = {stop: _top(stop, parents) for stop in parents}
        numbers = {station: number for number, station in enumerate(sorted(set(top.values())))}
        where = {
            stop: (lat, lng) for stop, lat, lng in stops.select("stop_id", "stop_lat", "stop_lon").iter_rows()
        }
        degrees = np.array([_degrees(station, where, self.source) for station in numbers])
        return {stop: numbers[station] for stop, station in top.items()}, unit_vectors(*degrees.T)

    def hops(self, services: list[tuple[frozenset[str], int]], stations: dict[str, int]) -> Hops:
        """Rides between neighbouring stops of all trips of the services, in order of departure."""
        times = self._stop_times()
        parts = []
        for number, (running, earlier) in enumerate(services):
            trips = self._trips.filter(pl.col("service_id").is_in(list(running)))["trip_id"]
            rows = times.filter(pl.col("trip_id").is_in(trips.implode()))
            parts.append(
                self._repeated(rows).with_columns(
                    pl.col("departure") - earlier,
                    pl.col("arrival") - earlier,
                    (pl.col("trip_id") + f" {number}").alias("trip_id"),
                )
            )
        rows = pl.concat(parts).sort("trip_id", "sequence")
        unknown = set(rows["stop_id"].unique()) - set(stations)
        if unknown:
            raise InputError(f"{self.source}/stop_times.txt", f"{min(unknown)!r} is not in stops.txt")
        hops = rows.with_columns(
            pl.col("arrival", "stop_id", "drop_off_type").shift(-1).over("trip_id").name.prefix("next_")
        ).filter(pl.col("next_arrival").is_not_null() & (pl.col("next_arrival") > 0))
        back = hops.filter(pl.col("next_arrival") < pl.col("departure"))
        if back.height:
            trip = back["trip_id"][0].rpartition(" ")[0]
            raise InputError(f"{self.source}/stop_times.txt", f"trip {trip!r} arrives before it departs")
        hops = hops.sort("departure", "next_arrival", "trip_id", "sequence")
        number_of = pl.col("stop_id", "next_stop_id").replace_strict(stations, return_dtype=pl.Int32)
        hops = hops.with_columns(
            number_of, (pl.col("trip_id").rank("dense") - 1).cast(pl.Int32).alias("trip")
        )
        return Hops(
            departures=hops["departure"].to_numpy().astype(np.int32),
            arrivals=hops["next_arrival"].to_numpy().astype(np.int32),
            origins=hops["stop_id"].to_numpy().astype(np.int32),
            destinations=hops["next_stop_id"].to_numpy().astype(np.int32),
            trips=hops["trip"].to_numpy().astype(np.int32),
            can_board=(hops["pickup_type"].fill_null("0") != "1").to_numpy().copy(),
            can_alight=(hops["next_drop_off_type"].fill_null("0") != "1").to_numpy().copy(),
        )

    def _stop_times(self) -> pl.DataFrame:
        """All stops of all trips, with seconds; times left out are put between those around them."""
        name = "stop_times.txt"
        frame = self.table(name, ["trip_id", "stop_id", "arrival_time", "departure_time", "stop_sequence"])
        for optional in ("pickup_type", "drop_off_type"):
            if optional not in frame.columns:
                frame = frame.with_columns(pl.lit(None, dtype=pl.String).alias(optional))
        frame = frame.with_columns(
            _seconds("arrival_time").alias("arrival"),
            _seconds("departure_time").alias("departure"),
            pl.col("stop_sequence").cast(pl.Int32, strict=False).alias("sequence"),
        )
        for column, parsed in (("arrival_time", "arrival"), ("departure_time", "departure")):
            wrong = frame.with_row_index("row", 2).filter(
                pl.col(column).is_not_null() & (pl.col(column) != "") & pl.col(parsed).is_null()
            )
            if wrong.height:
                where = f"row {wrong['row'][0]}, column {column}"
                raise InputError(
                    f"{self.source}/{name}", f"{where}: found {wrong[column][0]!r}, must be HH:MM:SS"
                )
        frame = frame.with_columns(
            pl.coalesce("arrival", "departure").alias("arrival"),
            pl.coalesce("departure", "arrival").alias("departure"),
        ).sort("trip_id", "sequence")
        between = pl.col("arrival", "departure").interpolate().over("trip_id").round().cast(pl.Int64)
        columns = ["trip_id", "stop_id", "sequence", "arrival", "departure", "pickup_type", "drop_off_type"]
        return frame.with_columns(between).select(columns).drop_nulls(["arrival", "departure", "sequence"])

    def _repeated(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Trips with a headway instead of times, as often as they run."""
        names = ["trip_id", "start_time", "end_time", "headway_secs"]
        headways = self.table("frequencies.txt", names, True).filter(
            pl.col("trip_id").is_in(rows["trip_id"].unique().implode())
        )
        if not headways.height:
            return rows
        runs = headways.select(
            "trip_id",
            pl.int_ranges(
                _seconds("start_time"), _seconds("end_time"), pl.col("headway_secs").cast(pl.Int64)
            ).alias("begin"),
        ).explode("begin")
        first = pl.col("departure").min().over("trip_id")
        repeated = (
            rows.with_columns(first.alias("first"))
            .join(runs, on="trip_id")
            .with_columns(
                pl.col("arrival", "departure") - pl.col("first") + pl.col("begin"),
                (pl.col("trip_id") + " at " + pl.col("begin").cast(pl.String)).alias("trip_id"),
            )
        )
        plain = rows.filter(~pl.col("trip_id").is_in(headways["trip_id"].implode()))
        return pl.concat([plain, repeated.select(rows.columns)])

    def transfers(self, stations: dict[str, int], change: int) -> Iterator[tuple[int, int, int]]:
        """Changes that the feed lists: from, to, seconds; those that are not possible are left out."""
        names = ["from_stop_id", "to_stop_id", "transfer_type", "min_transfer_time"]
        rows = self.table("transfers.txt", names, True).select(names)
        for origin, destination, kind, seconds in rows.iter_rows():
            if origin in stations and destination in stations and kind != "3":
                yield stations[origin], stations[destination], int(seconds) if seconds else change


def _files(path: Path) -> dict[str, bytes]:
    """The text files of a feed by name; a zip may have them in a folder of its own."""
    try:
        if path.is_dir():
            return {file.name: file.read_bytes() for file in path.glob("*.txt")}
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        raise InputError(str(path), f"cannot be read: {error}") from None


def _seconds(column: str) -> pl.Expr:
    """HH:MM:SS, where hours may be more than 23, as seconds; null for anything else."""
    parts = pl.col(column).str.extract_groups(r"^(\d{1,3}):(\d{2}):(\d{2})$").struct
    numbers = [parts.field(str(i)).cast(pl.Int64) for i in (1, 2, 3)]
    return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]


def _date(text: str | None, source: str) -> dt.date:
    try:
        return dt.datetime.strptime(text or "", "%Y%m%d").date()  # noqa: DTZ007 - a date has no zone
    except ValueError:
        raise InputError(source, f"found {text!r} as a date of its calendar, must be YYYYMMDD") from None


def _top(stop: str, parents: dict[str, str | None]) -> str:
    """The station of a platform; a stop by itself is its own."""
    seen = {stop}
    while (parent := parents.get(stop)) and parent in parents and parent not in seen:
        seen.add(parent)
        stop = parent
    return stop


def _degrees(
    station: str, where: dict[str, tuple[str | None, str | None]], source: str
) -> tuple[float, float]:
    lat, lng = where[station]
    try:
        found = float(lat or ""), float(lng or "")
    except ValueError:
        raise InputError(f"{source}/stops.txt", f"stop {station!r} has no position") from None
    if not (-90 <= found[0] <= 90 and -180 <= found[1] <= 180):
        raise InputError(f"{source}/stops.txt", f"stop {station!r} is at {found}, which is not on the globe")
    return found


def _walks_nearby(vectors: Floats, speed_kmh: float) -> dict[tuple[int, int], int]:
    """Seconds between stations near each other."""
    pairs = cKDTree(vectors).query_pairs(np.sqrt(chord_squared_of_km(_FOOTPATH_KM)), output_type="ndarray")
    km = great_circle_km(((vectors[pairs[:, 0]] - vectors[pairs[:, 1]]) ** 2).sum(axis=1))
    seconds = np.ceil(km / speed_kmh * 3600).astype(int).tolist()
    walks = {(a, b): s for (a, b), s in zip(pairs.tolist(), seconds, strict=True)}
    return walks | {(b, a): s for (a, b), s in walks.items()}


def _footpaths(walks: dict[tuple[int, int], int], stations: int) -> Footpaths:
    order = sorted(walks)
    origins = np.array([a for a, _ in order], dtype=np.int32)
    destinations: Indices = np.array([b for _, b in order], dtype=np.int32)
    seconds: Seconds = np.array([walks[pair] for pair in order], dtype=np.int32)
    return Footpaths(
        np.searchsorted(origins, np.arange(stations + 1)).astype(np.int32), destinations, seconds
    )
