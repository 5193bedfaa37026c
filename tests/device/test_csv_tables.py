"""Files in blocks of columns are what the standard library reads row by row."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.device import csv_tables as reading
from elsewhere.device.points import columns_of
from elsewhere.errors import InputError
from elsewhere.inputs.raw_text import opened
from examples import examples

_FIELD = st.sampled_from(
    ["a", "", " b ", "1.5", "ü", "\xa0x", '"q"', '"two, words"', '"two\nlines"', "n\x0bt"]
)
_ENDS = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", " \n"])


@st.composite
def _texts(draw: st.DrawFn) -> str:
    """Tables of four columns, most of them plain, some rows too long or too short."""
    mark = draw(st.sampled_from([",", ";", "\t", " "]))
    start = draw(st.sampled_from(["", "", "\ufeff", "\n", ' "']))
    text = start + mark.join(["uid", "datetime", "note", "place_id"]) + draw(_ENDS)
    for _ in range(draw(st.integers(0, 12))):
        width = 4 if draw(st.integers(0, 9)) else draw(st.integers(0, 6))
        text += mark.join(draw(_FIELD) for _ in range(width)) + draw(_ENDS)
    return text if draw(st.booleans()) else text.rstrip("\r\n")


def _outcome(tables: object) -> list[tuple[str, ...]] | str:
    try:
        frames = list(tables)  # type: ignore[call-overload]  # an iterator of frames
        return pl.concat(frames).rows() if frames else []
    except InputError as error:
        return str(error)
    except (UnicodeDecodeError, csv.Error) as error:
        return type(error).__name__


def _row_by_row(path: Path) -> list[tuple[str, ...]] | str:
    with opened(path) as raw:
        return _outcome(reading._row_by_row(raw, reading._Start(), path, columns_of))


@given(_texts(), st.booleans())
@examples(max_examples=600)
def test_blocks_are_what_rows_are(tmp_path: Path, text: str, is_packed: bool) -> None:
    path = tmp_path / "t.csv"
    content = text.encode()
    path.write_bytes(gzip.compress(content) if is_packed else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_BLOCK_BYTES", 40)
        assert _outcome(reading.csv_tables(path, columns_of)) == _row_by_row(path)


def test_plain_files_are_read_without_the_slow_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(reading, "_row_by_row")
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffuid;datetime;place_id\r\nä;2024-03-07T10:00;p1\r\n b ;;\r\n".encode())
    [frame] = reading.csv_tables(path, columns_of)
    assert frame.rows() == [("ä", "2024-03-07T10:00", "p1"), ("b", "", "")]


def test_text_that_is_no_utf_8_is_never_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"uid,datetime,place_id\na,b,c\n\xff,b,c\n")
    assert "is not utf-8 text" in str(_outcome(reading.csv_tables(path, columns_of)))


def test_a_row_too_long_does_not_make_up_for_one_too_short(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("uid,datetime,place_id\na,b,c,d\na,b\n")
    assert "row 2: has 4 fields, the header has 3" in str(_outcome(reading.csv_tables(path, columns_of)))
