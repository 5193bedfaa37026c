"""Raw files as they are passed around: plain, gzipped or zipped, told apart by what they hold."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from elsewhere.errors import Fault, InputError
from elsewhere.progress import Progress, no_progress

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What a terminal would obey in somebody's text; a new line is none."""
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_LINES_PER_TICK = 20_000
_TABLES = (".csv", ".txt", ".tsv", ".gz", ".zip")
ANY_TEXT = "utf-8 or latin-1"
"""For files that nobody says the encoding of: each line is UTF-8, or else Latin-1."""


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked; what is wrong with it becomes one message that names it."""
    if path.is_dir():
        raise InputError(str(path), "is a folder, must be a file")
    try:
        with path.open("rb") as raw:
            head = raw.read(4)
        if head[:2] == _GZIP:
            with gzip.open(path, "rb") as unpacked:
                yield cast("IO[bytes]", unpacked)
        elif head == _ZIP:
            with zipfile.ZipFile(path) as archive, archive.open(_only_member(archive, path)) as file:
                yield file
        else:
            with path.open("rb") as file:
                yield file
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile):
        raise InputError(
            str(path), "is truncated or damaged: unpack it by hand to see how far it goes"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"is not {error.encoding} text, at byte {error.start:,}") from None
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None


def _only_member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
    if len(names) != 1:
        raise InputError(str(path), f"is a zip of {len(names)} files, must hold one: unpack it")
    return names[0]


def lines_of(path: Path, encoding: str = "utf-8-sig", progress: Progress = no_progress) -> Iterator[str]:
    """Lines of text without their ends, one at a time; progress counts bytes of the file on disk."""
    size = path.stat().st_size if path.is_file() else 0
    with opened(path) as file:
        text = map(_decoded, file) if encoding == ANY_TEXT else _text(file, encoding)
        for number, line in enumerate(text):
            if number % _LINES_PER_TICK == 0:
                progress(min(size, _position(file, size)), size)
            yield line
    progress(size, size)


def _text(file: IO[bytes], encoding: str) -> Iterator[str]:
    with io.TextIOWrapper(file, encoding=encoding, newline="") as text:
        yield from text


def _decoded(line: bytes) -> str:
    try:
        return line.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _position(file: IO[bytes], size: int) -> int:
    raw = getattr(file, "fileobj", None) or getattr(file, "_fileobj", None) or file
    try:
        return int(raw.tell())
    except (OSError, AttributeError, ValueError):
        return size


def parts_of_files(paths: Iterable[Path], progress: Progress) -> Iterator[tuple[Path, Progress]]:
    """Each file with a progress of its own, all of them together one bar."""
    sizes = {path: path.stat().st_size if path.is_file() else 0 for path in paths}
    total, before = sum(sizes.values()), 0
    for path, size in sizes.items():
        yield path, partial(_tell_part, progress, before, total)
        before += size


def _tell_part(progress: Progress, before: int, total: int, done: int, _of: int) -> None:
    progress(before + done, total)


def raw_files(raw: Iterable[Path]) -> list[Path]:
    """The files that were given, and for a folder those in it that could be tables."""
    found: list[Path] = []
    for path in raw:
        inside = [file for file in sorted(path.rglob("*")) if _is_table(file)] if path.is_dir() else [path]
        if not inside:
            raise InputError(str(path), f"is a folder without a file that ends in {', '.join(_TABLES)}")
        found += inside
    return found


def _is_table(path: Path) -> bool:
    is_about = path.name[:1] in {".", "_"} or path.stem.lower().startswith("readme")
    return path.is_file() and path.suffix.lower() in _TABLES and not is_about


def rows_of(
    path: Path, *, encoding: str = "utf-8-sig", delimiter: str = ",", progress: Progress = no_progress
) -> Iterator[tuple[int, list[str]]]:
    """Rows of a delimited file with their numbers, as an editor counts them; blank ones are passed over."""
    reader = csv.reader(
        lines_of(path, encoding, progress), delimiter=delimiter, skipinitialspace=delimiter == " "
    )
    try:
        for row in reader:
            if row and any(row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(str(path), [Fault(row=reader.line_num, problem=f"is no row: {error}")]) from None


def records_of(
    path: Path,
    required: tuple[str, ...],
    *,
    encoding: str = "utf-8-sig",
    delimiter: str = ",",
    progress: Progress = no_progress,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a file with a header, by column; all of ``required`` must be there."""
    rows = rows_of(path, encoding=encoding, delimiter=delimiter, progress=progress)
    header = next(rows, (0, []))[1]
    names = [name.strip() for name in header]
    missing = [name for name in required if name not in names]
    if missing:
        raise InputError(str(path), f"column {missing[0]} is missing, found {', '.join(names[:12])}")
    for number, row in rows:
        if len(row) != len(names):
            problem = f"has {len(row)} fields, the header has {len(names)}"
            raise InputError(str(path), [Fault(row=number, problem=problem)])
        yield number, dict(zip(names, row, strict=True))


def first_line(path: Path) -> str:
    """The beginning of a file, to tell what it is."""
    with opened(path) as file:
        return file.readline(4096).decode("latin-1").lstrip("ï»¿").rstrip("\r\n")


def json_of(path: Path) -> Any:
    """A JSON file, whole."""
    with opened(path) as file:
        content = file.read()
    try:
        return json.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(str(path), f"is not JSON{where}") from None


def degrees(lat: str, lng: str) -> tuple[float, float] | None:
    """A position on the globe, or None; 0, 0 is what devices say when they do not know."""
    try:
        latitude, longitude = float(lat), float(lng)
    except ValueError:
        return None
    if (latitude == 0 and longitude == 0) or not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        return None
    return latitude, longitude
