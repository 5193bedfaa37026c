"""Where reports are kept: SQLite by default, PostgreSQL for more. Each report once, on disk before it counts.

An upload may come again: the same id with the same bytes is a success again, with other bytes a conflict, and
nothing is changed by it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from elsewhere.collector.invitations import (
    MOST_CODES,
    add_codes,
    digest_of,
    is_by_invitation,
    spend,
)
from elsewhere.collector.migrate import migrated
from elsewhere.collector.schema import facts, reports
from elsewhere.errors import ElsewhereError, InputError
from elsewhere.survey.codes import new_code
from elsewhere.survey.file import survey_hash
from elsewhere.survey.report import FIRST_DAY, Report
from elsewhere.survey.reports import SCHEMA
from elsewhere.survey.survey import Survey

SPARE_BYTES = 64 << 20
"""Reports are refused while a disk has less than this left: what was accepted can always be committed."""
_STORES = "a file, or postgresql://user@host/database"
_NO_STORE = "no such store; `elsewhere survey serve` makes one"
_SURVEY = "survey"
_READING = "elsewhere_reading"
_PIECE = 50_000
_AT_ONCE = 500
_FIELDS = ("question", "day", "seed", "output")
_EPOCH = pl.lit(FIRST_DAY)


class Kept(Enum):
    """What became of a report."""

    NEW = "new"
    AGAIN = "again"
    """It was there before, with the same bytes."""
    CONFLICT = "conflict"
    """Its id was there before, with other bytes: it is not kept."""
    UNINVITED = "uninvited"
    """It came without a code that nobody has used: it is not kept."""


class StoreError(ElsewhereError):
    """The store cannot be used now."""


class DiskFullError(StoreError):
    """There is no room for more."""


class Store:
    """Reports of one survey.

    Parameters
    ----------
    where
        A file for SQLite, or `postgresql://…`.
    survey
        The survey whose reports these are.
    must_exist
        Refuse what is empty: whoever only reads makes no store.

    Raises
    ------
    InputError
        If it is the store of another survey, of a newer version, or no store at all.
    """

    def __init__(self, where: str, survey: Survey, *, must_exist: bool = False) -> None:
        self.survey, self.where = survey, where
        self.file = _file_of(where)
        if must_exist and self.file is not None and not self.file.exists():
            raise InputError(where, _NO_STORE)
        self.engine = _postgres(where) if self.file is None else _sqlite(self.file)
        # Whoever only reads never keeps the writer waiting.
        self._reading = self.engine.execution_options(**{_READING: True})
        self._name = survey_hash(survey)
        shown = where.rpartition("@")[2]  # without a password
        try:
            with _errors(shown):
                if must_exist and not sa.inspect(self._reading).get_table_names():
                    raise InputError(shown, _NO_STORE)
                migrated(self.engine, shown)
                self._claim(shown)
        except ElsewhereError:
            self.close()
            raise

    def _claim(self, where: str) -> None:
        """A new store belongs to this survey from now on; one of another survey is refused."""
        with self.engine.begin() as connection:
            insert = self._insert(facts).values(name=_SURVEY, value=self._name).on_conflict_do_nothing()
            connection.execute(insert)
            found = connection.scalar(sa.select(facts.c.value).where(facts.c.name == _SURVEY))
        if found != self._name:
            raise InputError(where, f"is the store of survey {str(found)[:12]}, not of {self._name[:12]}")

    def _insert(self, table: sa.Table) -> Any:
        return sqlite.insert(table) if self.file is not None else postgresql.insert(table)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()

    def add(self, new: Sequence[Report], codes: Sequence[str] | None = None) -> list[Kept]:
        """Keep reports in one transaction: all of them are on disk when this returns.

        Where people were invited, each new report must come with a code that nobody has used.
        """
        found = [_row(report) for report in new]
        with _errors("store"), self.engine.begin() as connection:
            # In the order of their ids: two collectors on one database never wait for each other in a ring.
            rows = sorted(found, key=lambda row: bytes(row["id"]))
            insert = self._insert(reports).on_conflict_do_nothing().returning(reports.c.id)
            added = {bytes(one) for one in connection.scalars(insert, rows)} if rows else set()
            added -= _uninvited(connection, found, codes or [""] * len(found), added)
            before = _found(connection, [row["id"] for row in found if row["id"] not in added])
        outcomes = []
        for row in found:
            told = tuple(row[name] for name in _FIELDS)
            if row["id"] in added:
                # Twice in one batch: the first one counts.
                before[row["id"]] = told
                added.remove(row["id"])
                outcomes.append(Kept.NEW)
            elif row["id"] in before:
                outcomes.append(Kept.AGAIN if before[row["id"]] == told else Kept.CONFLICT)
            else:
                outcomes.append(Kept.UNINVITED)
        return outcomes

    def invite(self, count: int) -> list[str]:
        """Codes for so many people; from now on nobody else may answer."""
        if not 1 <= count <= MOST_CODES:
            raise InputError("invitations", f"found {count:,}, must be 1 to {MOST_CODES:,}")
        codes = [new_code() for _ in range(count)]
        with _errors("store"), self.engine.begin() as connection:
            add_codes(connection, codes)
        return codes

    def is_by_invitation(self) -> bool:
        """Whether only those who were invited may answer."""
        with _errors("store"), self._reading.connect() as connection:
            return is_by_invitation(connection)

    def count(self, up_to: int | None = None) -> int:
        """How many reports there are, or those with a number up to one."""
        select = sa.select(sa.func.count()).select_from(reports)
        if up_to is not None:
            select = select.where(reports.c.number <= up_to)
        with _errors("store"), self._reading.connect() as connection:
            return int(connection.scalar(select) or 0)

    def last(self) -> int:
        """The number of the newest report; 0 if there is none."""
        with _errors("store"), self._reading.connect() as connection:
            return int(connection.scalar(sa.select(sa.func.max(reports.c.number))) or 0)

    def pieces(self, after: int = 0) -> Iterator[tuple[pl.DataFrame, int]]:
        """Reports with a number above ``after`` as tables, a piece at a time, and the last number of each."""
        columns = [reports.c[name] for name in ("number", "id", *_FIELDS)]
        select = sa.select(*columns).where(reports.c.number > after).order_by(reports.c.number)
        with _errors("store"), self._reading.connect() as connection:
            rows = connection.execution_options(yield_per=_PIECE).execute(select)
            for piece in rows.partitions():
                yield self._frame(piece), int(piece[-1][0])

    def frame(self) -> pl.DataFrame:
        """All of them, in the order of their random ids: when they came is nobody's business."""
        pieces = [frame for frame, _ in self.pieces()]
        return pl.concat(pieces).sort("id") if pieces else pl.DataFrame(schema=SCHEMA)

    def _frame(self, rows: Sequence[Any]) -> pl.DataFrame:
        _, ids, *columns = zip(*rows, strict=True)
        fields = dict(zip(_FIELDS, columns, strict=True))
        return (
            pl.DataFrame({"id": [bytes(one).hex() for one in ids], **fields})
            .with_columns(
                pl.lit(self._name).alias("survey"), _EPOCH.dt.offset_by(pl.format("{}d", "day")).alias("day")
            )
            .select([pl.col(name).cast(kind) for name, kind in SCHEMA.items()])
        )

    def check_room(self) -> None:
        """Refuse before a disk is full; PostgreSQL looks after its own."""
        if self.file is not None and shutil.disk_usage(self.file.parent).free < SPARE_BYTES:
            raise DiskFullError("store: there is no room left on the disk")

    def tidy(self) -> None:
        """Empty SQLite's log into the file: it says which report came with which code.

        While others read or write it may have to wait for the next time.
        """
        if self.file is not None:
            with suppress(sqlite3.Error), closing(sqlite3.connect(self.file, timeout=1)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def backup(self, path: Path) -> None:
        """A copy of an SQLite store that is whole, also while reports come in."""
        if self.file is None:
            raise InputError("backup", "is for SQLite stores; PostgreSQL has pg_dump")
        if path.exists():
            raise InputError(str(path), "is there already: choose another name")
        path.touch(mode=0o600)
        with closing(sqlite3.connect(self.file)) as source, closing(sqlite3.connect(path)) as copy:
            source.backup(copy)


def existing_store(where: str, survey: Survey) -> Store:
    """A store that somebody made before."""
    return Store(where, survey, must_exist=True)


def _file_of(where: str) -> Path | None:
    """The file of a store; None if it is PostgreSQL, and no other address is a store."""
    scheme, sign, _ = where.partition("://")
    if sign and scheme != "postgresql":
        raise InputError("--store", f"found {scheme}://…, must be {_STORES}")
    return None if sign else Path(where)


def _row(report: Report) -> dict[str, Any]:
    return {
        "id": bytes.fromhex(report.report_id),
        "question": report.question,
        "day": (report.day - FIRST_DAY).days,
        "seed": report.seed,
        "output": report.output,
    }


def _uninvited(
    connection: sa.Connection, rows: Sequence[dict[str, Any]], codes: Sequence[str], added: set[bytes]
) -> set[bytes]:
    """Of reports that were added, those that came without a code of their own: they are taken out again."""
    if not added or not is_by_invitation(connection):
        return set()
    given: dict[bytes, list[bytes]] = {}
    for row, code in zip(rows, codes, strict=True):  # who comes first has the code
        if row["id"] in added:
            given.setdefault(row["id"], []).append(digest_of(code))
    refused = sorted(spend(connection, given))
    for start in range(0, len(refused), _AT_ONCE):
        connection.execute(sa.delete(reports).where(reports.c.id.in_(refused[start : start + _AT_ONCE])))
    return set(refused)


def _found(connection: sa.Connection, ids: Sequence[bytes]) -> dict[bytes, tuple[int, ...]]:
    """What is kept under these ids."""
    found: dict[bytes, tuple[int, ...]] = {}
    columns = [reports.c[name] for name in ("id", *_FIELDS)]
    for start in range(0, len(ids), _AT_ONCE):
        select = sa.select(*columns).where(reports.c.id.in_(ids[start : start + _AT_ONCE]))
        found |= {bytes(one): tuple(fields) for one, *fields in connection.execute(select)}
    return found


def _sqlite(path: Path) -> sa.Engine:
    if not path.parent.is_dir():
        raise InputError(str(path), f"cannot be written: there is no folder {path.parent}")
    if not path.exists():
        path.touch(mode=0o600)
    engine = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": 30})

    @sa.event.listens_for(engine, "connect")
    def _durable(connection: Any, _record: Any) -> None:
        # Our own BEGIN below: Python's would come too late to keep two writers apart.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        # Codes that were used are overwritten, not only forgotten.
        connection.execute("PRAGMA secure_delete = ON")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        is_reading = connection.get_execution_options().get(_READING, False)
        connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")

    return engine


def _postgres(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url).set(drivername="postgresql+psycopg")
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("--store", f"must be {_STORES}") from None
    # A server that does not answer is away, not slow.
    return sa.create_engine(parsed, pool_pre_ping=True, pool_size=4, connect_args={"connect_timeout": 10})


@contextmanager
def _errors(where: str) -> Iterator[None]:
    """What databases say, in our own words."""
    try:
        yield
    except sa.exc.TimeoutError:
        raise StoreError(f"{where}: too many are waiting for the database") from None
    except sa.exc.DBAPIError as error:
        text = str(error.orig).strip().partition("\n")[0]
        if "full" in text or "No space" in text:
            raise DiskFullError(f"{where}: {text}") from None
        if isinstance(error, sa.exc.OperationalError | sa.exc.InternalError) or error.connection_invalidated:
            raise StoreError(f"{where}: {text}") from None
        raise InputError(where, f"not a store of reports: {text}") from None
