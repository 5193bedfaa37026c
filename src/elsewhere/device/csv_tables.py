"""Tables of text with separators: in blocks of columns where they are plainly written, else row by row.

Plain is a block without quotes, blank rows or control characters, each of its rows as long as the header.
From the first other block on the standard library reads, which also finds the words for what is wrong.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

import polars as pl

from elsewhere.errors import Fault, InputError
from elsewhere.inputs.column_names import FoundColumns, separator_of
from elsewhere.inputs.raw_text import opened

ROWS_AT_ONCE = 50_000
_BLOCK_BYTES = 1 << 22
_BOM = b"\xef\xbb\xbf"
# Separators of which each one counts: of several spaces in a row only the first would.
_MARKS = (",", ";", "\t")
_PLAIN = bytes(byte for byte in range(0x20, 0x100) if byte not in b'"\x7f') + b"\n\t"

ColumnsOf = Callable[[list[str], str], FoundColumns]
"""From names and their source to where the columns are; an error if one that is needed is missing."""


class _Layout(NamedTuple):
    """What the header says."""

    delimiter: str
    width: int
    kept: dict[str, int]
    """Positions of the columns that are needed, by name."""


class _Start(NamedTuple):
    """Where reading row by row begins: so many bytes and rows after the beginning."""

    at: int = 0
    rows: int = 0
    layout: _Layout | None = None


def csv_tables(path: Path, columns_of: ColumnsOf) -> Iterator[pl.DataFrame]:
    """Columns that are needed, as text, a part of the file in memory at a time."""
    with opened(path) as raw:
        header = _plain_header(raw)
        start = _Start()
        if header is not None:
            delimiter = separator_of(header)
            layout = _layout(delimiter, header.split(delimiter), path, columns_of)
            start = _Start(raw.tell(), 0, layout)
            for block in _blocks(raw):
                frame = _plain_frame(block, layout)
                if frame is None:
                    break
                yield frame
                start = _Start(start.at + len(block), start.rows + frame.height, layout)
            else:
                return
        raw.seek(start.at)
        yield from _row_by_row(raw, start, path, columns_of)


def _plain_header(raw: IO[bytes]) -> str | None:
    """The first line that is not blank, if every comma in it parts two columns."""
    line = raw.readline().removeprefix(_BOM)
    while line and not line.strip():
        line = raw.readline()
    line = line.rstrip(b"\r\n")
    if line.translate(None, _PLAIN):
        return None
    try:
        header = line.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return header if header and separator_of(header) in _MARKS else None


def _layout(delimiter: str, fields: list[str], path: Path, columns_of: ColumnsOf) -> _Layout:
    names = [name.strip() for name in fields]
    where = columns_of(names, str(path)).where
    return _Layout(delimiter, len(names), {names[place]: place for place in where.values()})


def _blocks(raw: IO[bytes]) -> Iterator[bytes]:
    """The rest of a file in whole rows."""
    left = b""
    while more := raw.read(_BLOCK_BYTES):
        end = more.rfind(b"\n") + 1
        if end:
            yield left + more[:end]
            left = more[end:]
        else:
            left += more
    if left:
        yield left


def _plain_frame(block: bytes, layout: _Layout) -> pl.DataFrame | None:
    """The columns of a block, or None if it is not plain."""
    text = block.replace(b"\r\n", b"\n") if b"\r" in block else block
    rows = text.count(b"\n") + (not text.endswith(b"\n"))
    is_plain = (
        not text.translate(None, _PLAIN)
        and not text.startswith(b"\n")
        and b"\n\n" not in text
        # No row is too long, as polars says below; so none is too short if there are enough in all.
        and text.count(layout.delimiter.encode()) == rows * (layout.width - 1)
    )
    if not is_plain:
        return None
    try:
        frame = pl.read_csv(
            text,
            has_header=False,
            separator=layout.delimiter,
            quote_char=None,
            schema={str(place): pl.String for place in range(layout.width)},
        )
    except pl.exceptions.PolarsError:
        return None
    if frame.height != rows:
        return None
    return frame.select(
        pl.col(str(place)).fill_null("").str.strip_chars().alias(name) for name, place in layout.kept.items()
    )


def _row_by_row(raw: IO[bytes], start: _Start, path: Path, columns_of: ColumnsOf) -> Iterator[pl.DataFrame]:
    """The rest with the standard library: no reader that runs ahead and fills the memory."""
    # Only the beginning of a file may have a mark of the order of bytes.
    encoding = "utf-8" if start.at else "utf-8-sig"
    with io.TextIOWrapper(raw, encoding=encoding, newline="") as file:
        lines: Iterator[str] = iter(file)
        layout = start.layout
        if layout is None:
            first = next((line for line in lines if line.strip()), "")
            lines = chain([first], lines)
            delimiter = separator_of(first.rstrip("\r\n"))
        else:
            delimiter = layout.delimiter
        reader = csv.reader(lines, strict=True, delimiter=delimiter, skipinitialspace=delimiter == " ")
        if layout is None:
            fields = next(reader, [])
            if not fields:
                raise InputError(str(path), "the file is empty")
            layout = _layout(delimiter, fields, path, columns_of)
        rows: list[list[str]] = []
        for number, row in enumerate(reader, start=start.rows + 2):
            if len(row) != layout.width and row:
                problem = f"has {len(row)} fields, the header has {layout.width}"
                raise InputError(str(path), [Fault(row=number, problem=problem)])
            rows.append(row or [""] * layout.width)
            if len(rows) == ROWS_AT_ONCE:
                yield _by_name(layout.kept, rows)
                rows = []
        yield _by_name(layout.kept, rows)


def _by_name(kept: dict[str, int], rows: list[list[str]]) -> pl.DataFrame:
    return pl.DataFrame(
        {name: [row[place].strip() for row in rows] for name, place in kept.items()},
        schema=dict.fromkeys(kept, pl.String),
    )
