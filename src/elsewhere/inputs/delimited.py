"""Tables as text, whatever separates their columns and whatever these are called, a row at a time."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import (
    ALIASES,
    MORE_ALIASES,
    FoundColumns,
    found_columns,
    is_header,
    joined_time,
    missing_columns,
    separator_of,
)
from elsewhere.inputs.moments import (
    DateOrder,
    MomentError,
    UnclearDateError,
    date_order_of,
    has_slashes,
    local_moment,
    moment_of,
)
from elsewhere.inputs.raw_text import ANY_TEXT, first_line, lines_of, rows_of
from elsewhere.progress import Progress, no_progress

KEYS: Mapping[str, Sequence[str]] = ALIASES | MORE_ALIASES
Record = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How a file is laid out."""

    delimiter: str
    has_header: bool
    width: int
    """Fields in each row."""
    names: tuple[str, ...]
    """Its first row, which may be private where there is no header."""
    columns: FoundColumns

    def __repr__(self) -> str:
        return "<Layout>"

    def __contains__(self, key: str) -> bool:
        return key in self.columns.where


def layout_of(path: Path, given: Mapping[str, str] | None = None) -> Layout:
    """How a file is laid out, from its first row and what was ``given`` about its columns."""
    if first_line(path)[:2] in {"\xff\xfe", "\xfe\xff"}:
        raise InputError(str(path), "is UTF-16 text: save it as UTF-8")
    line = next((line for line in lines_of(path, ANY_TEXT) if line.strip()), None)
    if line is None:
        raise InputError(str(path), "the file is empty")
    delimiter = separator_of(line.rstrip("\r\n"))
    _, names = next(rows_of(path, encoding=ANY_TEXT, delimiter=delimiter))
    has_header = is_header(names, KEYS)
    if has_header or given:
        columns = found_columns(names, str(path), keys=KEYS, given=given)
        if not has_header:
            columns = FoundColumns(
                {key: where for key, where in columns.where.items() if key in (given or {})}
            )
    else:
        columns = FoundColumns(_known_layout(names, delimiter))
    return Layout(
        delimiter=delimiter, has_header=has_header, width=len(names), names=tuple(names), columns=columns
    )


# Files in circulation that have no header, by their separator and the kinds of their fields.
_WITHOUT_HEADER = {
    # New York and Tokyo (TSMC2014)
    ("\t", "****nn*t"): (
        "uid", "place_id", "category_id", "category", "lat", "lng", "offset", "datetime",
    ),
    # the whole world (TIST2015): check-ins, and venues
    ("\t", "**t*"): ("uid", "place_id", "datetime", "offset"),
    ("\t", "*nn**"): ("place_id", "lat", "lng", "category", ""),
    # Gowalla, Brightkite
    ("\t", "*tnn*"): ("uid", "datetime", "lat", "lng", "place_id"),
    # cabs of San Francisco
    (" ", "nn*t"): ("lat", "lng", "occupied", "datetime"),
}  # fmt: skip


def _known_layout(fields: Sequence[str], delimiter: str) -> dict[str, int]:
    for (mark, kinds), keys in _WITHOUT_HEADER.items():
        if mark == delimiter and len(kinds) == len(fields) and all(map(_is_kind, fields, kinds)):
            return {key: place for place, key in enumerate(keys) if key}
    return {}


def _is_kind(text: str, kind: str) -> bool:
    """n: a number with a fraction or sign, as degrees are; t: a time; *: anything."""
    if kind == "t":
        try:
            moment_of(text)
        except MomentError:
            return False
    return kind != "n" or re.fullmatch(r"-?\d+(\.\d+)?", text.strip()) is not None


def require(layout: Layout, path: Path, needed: Sequence[str]) -> None:
    """All of ``needed`` must be there."""
    missing = [key for key in needed if key not in layout]
    if missing:
        raise InputError(str(path), missing_columns(missing, layout.names))


def delimited_records(
    path: Path, layout: Layout, progress: Progress = no_progress
) -> Iterator[tuple[int, Record]]:
    """Rows with their numbers, by key; a row of another length ends it with a message."""
    rows = rows_of(path, encoding=ANY_TEXT, delimiter=layout.delimiter, progress=progress)
    where = layout.columns.where
    for number, fields in islice(rows, int(layout.has_header), None):
        if len(fields) != layout.width:
            problem = f"has {len(fields)} fields, the first row has {layout.width}"
            raise InputError(str(path), [Fault(row=number, problem=problem)])
        record = {key: fields[place].strip() for key, place in where.items()}
        if "date" in record and "datetime" in record:
            record["datetime"] = joined_time(record["date"], record["datetime"])
        if layout.delimiter == ";":  # where semicolons separate, commas stand in numbers
            for key in ("lat", "lng"):
                record[key] = record.get(key, "").replace(",", ".")
        yield number, record


class Timestamps:
    """Times of one file in local time; how its dates are written is found out once, from all of them."""

    def __init__(
        self,
        path: Path,
        layout: Layout,
        timezone: str,
        *,
        order: DateOrder | None = None,
        has_zone: bool = False,
        counts: Callable[[str], bool] = lambda _uid: True,
    ) -> None:
        """``has_zone``: the zone was given by hand, so that offsets in the file do not count.

        ``counts``: whose rows may tell how dates are written.
        """
        self._timezone = timezone
        self._is_utc = layout.columns.is_utc
        self._has_zone = has_zone
        self._order = order or _order_in(path, layout, counts)

    def local(self, text: str, offset: str = "") -> dt.datetime:
        """Local wall-clock time; ``offset`` is that of the row from UTC in minutes, if it has one."""
        moment = self.moment(text)
        if moment.tzinfo is not None and offset and not self._has_zone and self._is_offset(offset):
            return moment.astimezone(dt.UTC).replace(tzinfo=None) + dt.timedelta(minutes=float(offset))
        return local_moment(moment, self._timezone)

    def moment(self, text: str) -> dt.datetime:
        """A time as it is written, with its zone if it has one or the column's name says UTC."""
        moment = moment_of(text, self._order)
        return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None and self._is_utc else moment

    @staticmethod
    def _is_offset(text: str) -> bool:
        """Minutes from UTC; a column of that name may also hold names of zones, which do not count."""
        try:
            return abs(float(text)) <= 14 * 60
        except ValueError:
            return False


def _order_in(path: Path, layout: Layout, counts: Callable[[str], bool]) -> DateOrder | None:
    """Whether day or month comes first; the whole file is asked only if it writes dates that way."""
    texts = (
        record.get("datetime", "")
        for _, record in delimited_records(path, layout)
        if counts(record.get("uid", ""))
    )
    first = next(texts, "")
    if not has_slashes(first):
        return None
    return date_order_of(chain([first], texts))


def problem_with(error: MomentError, option: str) -> str:
    """What is wrong with a time and, where an option would help, which."""
    return f"{error}, or say {option}" if isinstance(error, UnclearDateError) else str(error)
