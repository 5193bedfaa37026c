"""Where the ledger is, and what its SQLite file holds beside the days: a cap and a random owner."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from pathlib import Path

from platformdirs import user_data_path

from elsewhere.errors import InputError
from elsewhere.files import make_folder
from elsewhere.randomness import SYSTEM, random_id

_TABLES = """
CREATE TABLE IF NOT EXISTS cap (epsilon TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS owner (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS shares (
    day TEXT PRIMARY KEY, epsilon TEXT NOT NULL, method TEXT NOT NULL, world TEXT NOT NULL, report BLOB
);
CREATE TABLE IF NOT EXISTS sent (day TEXT PRIMARY KEY, receiver TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS hours (day TEXT PRIMARY KEY, begins INTEGER NOT NULL, ends INTEGER NOT NULL);
"""


def user_ledger() -> Path:
    """The one ledger of this user on this device, wherever commands are run.

    It is in the user's data folder; `ELSEWHERE_DATA_DIR` names another folder, for tests and for people
    whose data folder is shared between devices.
    """
    folder = os.environ.get("ELSEWHERE_DATA_DIR")
    return (Path(folder) if folder else user_data_path("elsewhere")) / "elsewhere.ledger"


def has_cap(path: Path) -> bool:
    """Whether there is a ledger with a cap."""
    if not path.exists():
        return False
    with transaction(path) as database:
        return database.execute("SELECT epsilon FROM cap").fetchone() is not None


def owner_of(path: Path) -> str:
    """The random id of a ledger's owner. A ledger that is not there is made; its cap can still be chosen."""
    _make(path)
    with transaction(path) as database:
        return _owner(database)


def settled(path: Path, wanted: Fraction | None) -> tuple[str, Fraction]:
    """Owner and cap of a ledger; a new one gets the cap that is wanted."""
    if wanted is None and not path.exists():
        raise InputError(str(path), "no such ledger; a new one needs a cap on the sum of ε")
    _make(path)
    with transaction(path) as database:
        stored = database.execute("SELECT epsilon FROM cap").fetchone()
        if stored is None:
            if wanted is None:
                raise InputError(str(path), "not a ledger, or one without a cap: nothing was shared with it")
            stored = (str(wanted),)
            database.execute("INSERT INTO cap VALUES (?)", stored)
        return _owner(database), Fraction(stored[0])


def _make(path: Path) -> None:
    if path.exists():
        with suppress(OSError):  # it may be somebody else's to decide
            path.chmod(0o600)
        return
    try:
        if path.parent == user_ledger().parent:
            make_folder(path.parent, is_private=True)
        if not path.parent.is_dir():
            raise InputError(str(path), f"cannot be written: there is no folder {path.parent}")
        path.touch(mode=0o600)
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror}") from None


def _owner(database: sqlite3.Connection) -> str:
    """The owner; a ledger of an earlier version gets one, and ids for the reports it holds."""
    row = database.execute("SELECT id FROM owner").fetchone()
    if row is not None:
        return str(row[0])
    owner = random_id()
    database.execute("INSERT INTO owner VALUES (?)", (owner,))
    for day, report in database.execute("SELECT day, report FROM shares WHERE report IS NOT NULL").fetchall():
        visits = json.loads(report)
        if isinstance(visits, list):
            whole = json.dumps({"id": random_id(), "randomness": SYSTEM, "visits": visits})
            database.execute("UPDATE shares SET report = ? WHERE day = ?", (whole.encode(), day))
    return owner


@contextmanager
def transaction(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction that is on disk when it ends; nobody else writes meanwhile."""
    try:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as database:
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            try:
                _check_tables(database, path)
                yield database
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")
    except sqlite3.OperationalError as error:  # a full disk, a lock that nobody gives back, no permission
        raise InputError(str(path), f"cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        raise InputError(str(path), f"not a ledger: {error}") from None


def _check_tables(database: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new ledger; refuse a database of somebody else's."""
    names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if names and "cap" not in names:
        raise InputError(str(path), "not a ledger, but another database")
    for statement in _TABLES.strip().split(";\n"):
        database.execute(statement)
