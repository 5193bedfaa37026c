"""Reports: one way to write each, 63 bytes whatever is true, and a parser that only ever refuses."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.errors import InputError
from elsewhere.survey.report import SIZE, Report, report_from_bytes, report_from_json
from examples import examples

HEX = "0123456789abcdef"
REPORTS = st.builds(
    Report,
    survey=st.text(HEX, min_size=64, max_size=64),
    report_id=st.text(HEX, min_size=32, max_size=32),
    question=st.integers(0, 2**16 - 1),
    day=st.dates(dt.date(2000, 1, 1), dt.date(2179, 6, 6)),
    seed=st.integers(0, 2**32 - 1),
    output=st.integers(0, 2**32 - 1),
)
ONE = Report(
    survey="ab" * 32, report_id="cd" * 16, question=3, day=dt.date(2025, 9, 17), seed=7, output=4_000_000_000
)


@given(report=REPORTS)
def test_a_report_comes_back_from_bytes_and_from_json(report: Report) -> None:
    assert report_from_bytes(report.to_bytes()) == report
    assert report_from_json(report.to_json()) == report
    assert len(report.to_bytes()) == SIZE < 100


@given(data=st.binary(min_size=SIZE, max_size=SIZE))
def test_bytes_that_are_read_are_written_the_same(data: bytes) -> None:
    """One way to write each report: no room for a mark of one's own."""
    try:
        report = report_from_bytes(data)
    except InputError:
        return
    assert report.to_bytes() == data


def test_damaged_bytes_are_refused_or_another_report() -> None:
    """A million inputs: cut, longer, and with any bytes changed."""
    generator, good = np.random.default_rng(1), ONE.to_bytes()
    noise = generator.integers(0, 256, size=(40_000, SIZE + 3), dtype=np.uint8)
    sizes = generator.integers(0, SIZE + 4, size=len(noise))
    heads = generator.integers(0, SIZE + 1, size=len(noise))
    for row, size, head in zip(noise, sizes.tolist(), heads.tolist(), strict=True):
        data = (good[:head] + row.tobytes()[head:])[:size]
        try:
            report = report_from_bytes(data)
        except InputError as error:
            assert "report" in str(error)  # noqa: PT017 - either is fine, nothing else is
        else:
            assert report.to_bytes() == data


@pytest.mark.audit
def test_a_million_damaged_reports_are_refused_or_read() -> None:
    generator, good = np.random.default_rng(2), bytearray(ONE.to_bytes())
    places = generator.integers(0, SIZE, size=(500_000, 3)).tolist()
    values = generator.integers(0, 256, size=(500_000, 3)).tolist()
    text = ONE.to_json()
    spots, letters = (
        generator.integers(0, len(text), size=500_000).tolist(),
        generator.integers(1, 256, size=500_000).tolist(),
    )
    for place, value in zip(places, values, strict=True):
        data = bytearray(good)
        for spot, byte in zip(place, value, strict=True):
            data[spot] = byte
        try:
            assert report_from_bytes(bytes(data)).to_bytes() == bytes(data)
        except InputError:
            continue
    for spot, letter in zip(spots, letters, strict=True):
        try:
            report_from_json(text[:spot] + chr(letter) + text[spot + 1 :])
        except InputError:
            continue


@examples(max_examples=300)
@given(
    text=st.text(max_size=300) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps)
)
def test_any_text_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(InputError, match="report"):
        report_from_json(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"question":3', '"question":3.0'),
        ('"question":3', '"question":-1'),
        ('"question":3', '"question":true'),
        ('"question":3', '"question":"3"'),
        ('"question":3', '"question":99999999999999999999'),
        ('"question":3', '"question":NaN'),
        ('"question":3', '"question":3,"question":4'),
        ('"question":3', '"question":3,"home":1'),
        ("[7,4000000000]", "[7]"),
        ("[7,4000000000]", "[7,4294967296]"),
        ("[7,4000000000]", "[7,1e3]"),
        ("2025-09-17", "2025-09-31"),
        ("2025-09-17", "1999-12-31"),
        ("2025-09-17", "2025-9-17"),
        ("2025-09-17", "20250917"),
        ("2025-09-17", "२०२५-09-17"),
        ("ab" * 32, "AB" * 32),
        ("ab" * 32, "ab" * 31),
        ("cd" * 16, "cg" * 16),
    ],
)
def test_what_is_nearly_a_report_is_refused(old: str, new: str) -> None:
    text = ONE.to_json()
    assert old in text
    with pytest.raises(InputError, match="report"):
        report_from_json(text.replace(old, new))


def test_a_report_shows_nothing_of_a_day_but_its_date() -> None:
    assert set(json.loads(ONE.to_json())) == {"survey", "id", "question", "day", "answer"}
