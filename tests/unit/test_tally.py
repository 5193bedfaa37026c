"""Counting days of people: as a dictionary would, in a fraction of its memory."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.device.tally import DaysOfPeople, Tally


@given(st.lists(st.text(max_size=2), max_size=3000))
def test_counts_are_those_of_a_dictionary(keys: list[str]) -> None:
    tally, counts = Tally(), Counter[str]()
    for key in keys:
        counts[key] += 1
        assert tally.add(("key", key)) == counts[key]


def test_a_million_keys_take_little_memory() -> None:
    tally = Tally()
    assert all(tally.add(("person", number)) == 1 for number in range(1_000_000))
    sizes = [len(array) * array.itemsize for array in (tally._hashes, tally._counts)]
    assert sum(sizes) <= 40 * 1_000_000
    assert tally.add(("person", 999_999)) == 2


@given(st.lists(st.lists(st.tuples(st.sampled_from(["a", "b", "ü"]), st.integers(0, 3)), max_size=9)))
def test_many_days_at_once_are_counted_as_one_by_one(parts: list[list[tuple[str, int]]]) -> None:
    many, one_by_one = DaysOfPeople(), DaysOfPeople()
    for part in parts:
        uids = pl.Series([uid for uid, _ in part], dtype=pl.String)
        are_new = many.add_days(uids, np.array([date for _, date in part], dtype=np.int64))
        assert are_new.tolist() == [one_by_one.add(uid, date) for uid, date in part]
        assert many.most == one_by_one.most


def test_the_most_days_of_any_person_are_known() -> None:
    days = DaysOfPeople()
    monday = dt.date(2024, 3, 4)
    assert days.add("a", monday)
    assert days.add("b", monday)
    assert days.add("a", monday + dt.timedelta(days=1))
    assert not days.add("b", monday)
    assert days.most == 2
