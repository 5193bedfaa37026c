"""A store keeps each report once, on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

import elsewhere as ew
from elsewhere.collector.counting import counted_store
from elsewhere.collector.invitations import digest_of
from elsewhere.collector.schema import invitations, metadata
from elsewhere.collector.schema import reports as table_of_reports
from elsewhere.collector.store import DiskFullError, Kept, Store, StoreError
from elsewhere.survey.report import Report
from elsewhere.survey.reports import frame_of
from elsewhere.survey.survey import Survey
from made_reports import some_reports


def _other(report: Report) -> Report:
    return replace(report, output=report.output + 1)


def test_reports_come_back_as_they_were(where: str, survey: Survey) -> None:
    store, reports = Store(where, survey), some_reports(survey, 1200)
    assert store.add(reports) == [Kept.NEW] * 1200
    assert store.count() == store.last() == 1200
    assert store.frame().equals(frame_of(reports).sort("id"))
    assert list(store.pieces(after=1200)) == []
    store.close()
    again = Store(where, survey)
    assert again.count() == 1200
    again.close()


def test_the_same_again_is_a_success_and_other_bytes_a_conflict(where: str, survey: Survey) -> None:
    store, reports = Store(where, survey), some_reports(survey, 3)
    assert store.add([reports[0], reports[0], _other(reports[0]), reports[1]]) == [
        Kept.NEW, Kept.AGAIN, Kept.CONFLICT, Kept.NEW,
    ]  # fmt: skip
    assert store.add([_other(reports[1]), reports[0], reports[2]]) == [Kept.CONFLICT, Kept.AGAIN, Kept.NEW]
    assert store.add([]) == []
    assert store.frame().equals(frame_of(reports).sort("id"))
    store.close()


def test_two_collectors_on_one_store_keep_every_report_once(where: str, survey: Survey) -> None:
    """The same reports from both, in other orders: nobody waits for ever, nothing is there twice."""
    reports = some_reports(survey, 600)
    stores = [Store(where, survey), Store(where, survey)]

    def hand_in(number: int) -> list[Kept]:
        mine = reports if number % 2 else reports[::-1]
        return [
            one for start in range(0, 600, 50) for one in stores[number % 2].add(mine[start : start + 50])
        ]

    with ThreadPoolExecutor(4) as pool:
        outcomes = [one for some in pool.map(hand_in, range(4)) for one in some]
    assert outcomes.count(Kept.NEW) == 600
    assert outcomes.count(Kept.AGAIN) == 1800
    assert stores[0].frame().equals(frame_of(reports).sort("id"))
    for store in stores:
        store.close()


def test_a_store_belongs_to_one_survey(where: str, survey: Survey) -> None:
    Store(where, survey).close()
    other = replace(survey, terms=replace(survey.terms, purpose="another"))
    with pytest.raises(ew.InputError, match="is the store of survey"):
        Store(where, other)


def test_a_newer_store_and_another_database_are_refused(where: str, survey: Survey) -> None:
    store = Store(where, survey)
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(ew.InputError, match=r"made by a newer version \(9999\)"):
        Store(where, survey)
    with store.engine.begin() as connection:
        connection.execute(sa.text("DROP TABLE alembic_version"))
    store.close()
    with pytest.raises(ew.InputError, match="another database"):
        Store(where, survey)


def test_tables_are_those_of_the_schema(where: str, survey: Survey) -> None:
    """Migrations and `schema` say the same; no column says who sent a report, or when (R20, R21)."""
    store = Store(where, survey)
    inspector = sa.inspect(store.engine)
    for table in metadata.tables.values():
        found = {column["name"]: column for column in inspector.get_columns(table.name)}
        assert list(found) == [column.name for column in table.columns]
        assert [not one["nullable"] for one in found.values()] == [not c.nullable for c in table.columns]
    assert [column["name"] for column in inspector.get_columns("reports")] == [
        "number", "id", "question", "day", "seed", "output",
    ]  # fmt: skip
    store.close()


def test_sqlite_is_on_disk_when_it_says_so(tmp_path: Path, survey: Survey) -> None:
    store = Store(str(tmp_path / "r.db"), survey)
    with store.engine.connect() as connection:
        assert connection.scalar(sa.text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(sa.text("PRAGMA synchronous")) == 2
    store.close()


def test_a_backup_is_whole_while_reports_come_in(tmp_path: Path, survey: Survey) -> None:
    store, reports = Store(str(tmp_path / "r.db"), survey), some_reports(survey, 500)
    store.add(reports)
    store.backup(tmp_path / "copy.db")
    with pytest.raises(ew.InputError, match="is there already"):
        store.backup(tmp_path / "copy.db")
    copy = Store(str(tmp_path / "copy.db"), survey)
    assert copy.frame().equals(store.frame())
    copy.close()
    store.close()


def test_a_full_disk_is_said_before_it_is_full(
    tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(str(tmp_path / "r.db"), survey)
    store.check_room()
    monkeypatch.setattr("elsewhere.collector.store.SPARE_BYTES", 1 << 62)
    with pytest.raises(DiskFullError):
        store.check_room()
    with store.engine.connect() as connection:
        pages = connection.scalar(sa.text("PRAGMA page_count"))
    store.close()
    full = Store(str(tmp_path / "r.db"), survey)

    @sa.event.listens_for(full.engine, "connect")
    def _small(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    full.engine.dispose()
    with pytest.raises(DiskFullError):
        full.add(some_reports(survey, 5000))
    assert full.count() == 0
    full.close()


def test_when_all_connections_are_taken_the_store_says_so(
    where: str, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(where, survey)
    monkeypatch.setattr(store.engine.pool, "_timeout", 0.01)
    with ExitStack() as taken:
        for _ in range(store.engine.pool.size() + store.engine.pool._max_overflow):  # type: ignore[attr-defined]
            taken.enter_context(store.engine.connect())
        with pytest.raises(StoreError, match="too many are waiting"):
            store.count()
    assert store.count() == 0
    store.close()


def test_strange_files_and_addresses_are_refused(tmp_path: Path, survey: Survey) -> None:
    (tmp_path / "text.db").write_text("no database at all, but long enough to look at" * 10)
    with pytest.raises(ew.InputError, match=r"text\.db"):
        Store(str(tmp_path / "text.db"), survey)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE things (a)")
    with pytest.raises(ew.InputError, match="another database"):
        Store(str(tmp_path / "other.db"), survey)
    with pytest.raises(ew.InputError, match="no folder"):
        Store(str(tmp_path / "none/r.db"), survey)
    with pytest.raises(ew.ElsewhereError) as caught:
        Store("postgresql://me:hush@127.0.0.1:1/none", survey)
    assert "hush" not in str(caught.value)


def test_codes_are_spent_once_and_leave_nothing_behind(where: str, survey: Survey) -> None:
    store = Store(where, survey)
    codes = store.invite(3)
    assert len(set(codes)) == 3
    reports = some_reports(survey, 5)
    # In one batch: the same report twice, one code for two reports, none, and one that is nobody's.
    batch = [reports[0], reports[0], reports[1], reports[2], reports[3]]
    outcomes = store.add(batch, [codes[0], codes[0], codes[0], "", "0000-0000-0000-0000"])
    assert outcomes == [Kept.NEW, Kept.AGAIN, Kept.UNINVITED, Kept.UNINVITED, Kept.UNINVITED]
    assert store.add([reports[1]], [codes[1]]) == [Kept.NEW]
    assert store.count() == 2
    with store.engine.connect() as connection:
        left = {bytes(one) for one in connection.scalars(sa.select(invitations.c.code))}
    assert left == {digest_of(codes[2])}
    if store.file is not None:
        log = Path(f"{store.file}-wal")
        assert digest_of(codes[0]) in log.read_bytes()
        store.tidy()  # every minute: its log would tell which code came with which report
        assert log.stat().st_size == 0
        kept = store.file.read_bytes()
        assert digest_of(codes[2]) in kept
        assert digest_of(codes[0]) not in kept
        assert not any(code.encode() in kept for code in codes)
    store.close()


def test_every_code_of_a_report_is_tried_and_none_is_spent_for_nothing(where: str, survey: Survey) -> None:
    store = Store(where, survey)
    codes = store.invite(2)
    report = some_reports(survey, 1)[0]
    # Copies of one report, of which one has a code: whoever else sends it does no harm.
    assert store.add([report, report, report], ["", codes[0], ""]) == [Kept.NEW, Kept.AGAIN, Kept.AGAIN]
    assert store.add([report], [codes[1]]) == [Kept.AGAIN]
    other = Store(where, survey)
    reports = some_reports(survey, 1)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda one: one.add(reports, [codes[1]]), (store, other)))
    assert sorted(outcome.value for (outcome,) in both) == ["again", "new"]
    assert store.count() == 2
    for one in (store, other):
        one.close()


def test_only_new_reports_are_counted_again(where: str, survey: Survey) -> None:
    store = Store(where, survey)
    reports = some_reports(survey, 90)
    store.add(reports[:50])
    first = counted_store(store)
    store.add(reports[50:])
    again = counted_store(store, before=first)
    whole = counted_store(store)
    assert (first.rows, again.rows, whole.rows) == (50, 90, 90)
    for mine, theirs in zip(again.questions, whole.questions, strict=True):
        np.testing.assert_array_equal(mine.counts.pointed, theirs.counts.pointed)
        np.testing.assert_array_equal(mine.counts.asked, theirs.counts.asked)
        np.testing.assert_array_equal(mine.seeds, theirs.seeds)
    # A report that came late, under a lower number: all is counted anew.
    with store.engine.begin() as connection:
        connection.execute(sa.delete(table_of_reports).where(table_of_reports.c.number == 7))
    assert counted_store(store, before=again).rows == 89
    store.close()
