"""Where somebody was: fixes and stays, and what all readers of a person's own files share.

Messages never quote what stands in a file: a thing that makes no sense is named by its number alone.
"""

from __future__ import annotations

import datetime as dt
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple
from zoneinfo import ZoneInfo

from elsewhere.errors import InputError
from elsewhere.inputs.moments import local_moment
from elsewhere.inputs.raw_text import opened


class Fix(NamedTuple):
    """Where somebody was, and when, in local time."""

    moment: dt.datetime
    latitude: float
    longitude: float

    def __repr__(self) -> str:
        return "<private Fix>"


class Stay(NamedTuple):
    """Where somebody stayed from when to when, in local time."""

    arrival: dt.datetime
    departure: dt.datetime
    latitude: float
    longitude: float

    def __repr__(self) -> str:
        return "<private Stay>"


class Export(NamedTuple):
    """What a file holds: stays, and fixes that stays have yet to be found in."""

    kind: str
    stays: list[Stay]
    fixes: list[Fix]

    def __repr__(self) -> str:
        return f"<private Export of {self.kind}>"


class Raw(NamedTuple):
    """A file, or one of those in a zip."""

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.path}: {self.member}" if self.member else str(self.path)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Its bytes, unpacked."""
        if not self.member:
            with opened(self.path) as file:
                yield file
            return
        try:
            with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                yield file
        except (EOFError, zlib.error, zipfile.BadZipFile):
            raise InputError(self.name, "is truncated or damaged") from None
        except (RuntimeError, NotImplementedError):
            raise InputError(self.name, "is packed in a way that cannot be read: unpack it") from None

    def start(self, size: int = 4096) -> bytes:
        """Its first bytes, to tell what it is."""
        with self.open() as file:
            return file.read(size)


class NoZoneError(ValueError):
    """A time that could be anywhere's."""


def each(raw: Raw, things: Any, what: str, read: Callable[[Any], Any]) -> Iterator[Any]:
    """What ``read`` makes of each thing; a thing that makes no sense is named by its number alone."""
    if not isinstance(things, Iterable):
        raise InputError(raw.name, f"has no list of {what}s")
    for number, thing in enumerate(things, start=1):
        try:
            found = read(thing)
        except NoZoneError:
            raise InputError(
                raw.name, f"{what} {number:,}: its time has no zone, must end in Z or +02:00"
            ) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError):
            raise InputError(
                raw.name, f"{what} {number:,} is not as it should be: a time or a place lacks"
            ) from None
        if found is not None:
            yield found


def local(text: str, zone: ZoneInfo) -> dt.datetime:
    """A time with a zone as local time."""
    moment = dt.datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        raise NoZoneError
    return local_moment(moment, zone.key)


def from_seconds(seconds: float, zone: ZoneInfo) -> dt.datetime:
    """Seconds since 1970 as local time."""
    return dt.datetime.fromtimestamp(seconds, tz=zone).replace(tzinfo=None)


def on_the_globe(latitude: float, longitude: float) -> tuple[float, float]:
    """Degrees as they are, or an error where there is no such position."""
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        raise ValueError("not on the globe")
    return latitude, longitude
