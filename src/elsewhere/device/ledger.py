"""A ledger on the device: what was shared, what it cost, and never more than the cap.

For every day: charge first, then sample, then persist, then hand out (R11). Whatever happens in
between, a day is paid for before anything is drawn, and what was handed out can only be handed out
again.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from elsewhere.errors import BudgetError, InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.methods.protocol import Method
from elsewhere.trajectories import SharedTrajectory, Trajectory

_TABLES = """
CREATE TABLE IF NOT EXISTS cap (epsilon TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS shares (
    day TEXT PRIMARY KEY, epsilon TEXT NOT NULL, method TEXT NOT NULL, world TEXT NOT NULL, report BLOB
);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One day of the ledger."""

    day: str
    epsilon: Fraction
    method: str
    world: str
    is_reported: bool


class _Charge(NamedTuple):
    """What is paid for: nothing else may be drawn under it."""

    day: str
    epsilon: str
    method: str
    world: str


def _name(method: Method) -> str:
    """Method and all its settings."""
    return json.dumps(method.facts().as_json(), sort_keys=True)


def _is_date(day: str) -> bool:
    """One way to write each day, so that none can be paid for twice under two names."""
    try:
        return dt.date.fromisoformat(day).isoformat() == day
    except ValueError:
        return False


def _checked_cap(cap: float | str | Fraction) -> Fraction:
    try:
        return exact_epsilon(cap)
    except InputError as error:
        raise InputError("cap", error.faults) from None


class Ledger:
    """What one person has shared, what it cost, and never more than a cap: an SQLite file.

    Parameters
    ----------
    path
        The file; made if it is not there.
    cap
        The sum of ε that may ever be spent. A new ledger needs one, and it never changes.

    Raises
    ------
    InputError
        If the file is no ledger, or has another cap.

    Examples
    --------
    >>> ledger = ew.Ledger("my.ledger", cap=20)
    >>> shared = ledger.share("2025-09-17", day, ew.method("ngram", world, epsilon=5))
    >>> float(ledger.spent)
    5.0
    """

    def __init__(self, path: str | Path, cap: float | str | Fraction | None = None) -> None:
        """Open a ledger; a new one needs its cap on the sum of ε, which never changes afterwards."""
        self._path = Path(path)
        wanted = None if cap is None else _checked_cap(cap)
        if not self._path.exists():
            if wanted is None:
                raise InputError(str(path), "no such ledger; a new one needs a cap on the sum of ε")
            try:
                self._path.touch(mode=0o600)
            except OSError as error:
                raise InputError(str(path), f"cannot be written: {error.strerror}") from None
        try:
            with self._transaction() as database:
                stored = database.execute("SELECT epsilon FROM cap").fetchone()
                if stored is None:
                    if wanted is None:
                        raise InputError(str(path), "not a ledger")
                    stored = (str(wanted),)
                    database.execute("INSERT INTO cap VALUES (?)", stored)
        except sqlite3.DatabaseError as error:
            raise InputError(str(path), f"not a ledger: {error}") from None
        self.cap = Fraction(stored[0])
        if wanted is not None and wanted != self.cap:
            raise InputError(str(path), f"its cap is {float(self.cap):g} and cannot be changed")

    def share(self, day: str, trajectory: Trajectory, method: Method) -> SharedTrajectory:
        """Share a day; asked again for the same day, the same report comes back and nothing is spent.

        Parameters
        ----------
        day
            The date, as in "2025-09-17".
        trajectory
            What was true. PRIVATE.
        method
            How to share it. Only methods that are ε-LDP are taken.

        Returns
        -------
        SharedTrajectory
            What may leave the device.

        Raises
        ------
        BudgetError
            If this would pass the cap.
        """
        if not _is_date(day):
            raise InputError("day", f"found {day!r}, must be a date such as 2025-09-17")
        if not method.facts().is_ldp:
            raise InputError("ledger", "takes only methods that are ε-LDP")
        method.prepare(len(trajectory))  # whatever can fail, fails before anything is charged
        charge = _Charge(day, str(method.spent_on(len(trajectory))), _name(method), method.world.hash)
        report = self._charge(charge)
        if report is None:
            shared, _ = method.share(trajectory)
            report = self._persist(charge, json.dumps([list(visit) for visit in shared]).encode())
        return SharedTrajectory(json.loads(report))

    def entries(self) -> list[Entry]:
        """All days, in order."""
        with self._transaction() as database:
            rows = database.execute(
                "SELECT day, epsilon, method, world, report IS NOT NULL FROM shares ORDER BY day"
            ).fetchall()
        return [
            Entry(
                day=day,
                epsilon=Fraction(epsilon),
                method=json.loads(method)["method"],
                world=world,
                is_reported=bool(reported),
            )
            for day, epsilon, method, world, reported in rows
        ]

    @property
    def spent(self) -> Fraction:
        """Sum of all charges."""
        return sum((entry.epsilon for entry in self.entries()), start=Fraction(0))

    def _charge(self, charge: _Charge) -> bytes | None:
        """The day's report if there is one; else the day is charged, unless the cap forbids it.

        A day that is charged but not reported may be drawn again, since whatever was drawn never left,
        but only as it was charged: another ε, method or world would be a sharing nobody paid for.
        """
        spend = Fraction(charge.epsilon)
        with self._transaction() as database:
            row = database.execute(
                "SELECT report, epsilon, method, world FROM shares WHERE day = ?", (charge.day,)
            ).fetchone()
            if row is not None:
                if row[1:] != charge[1:]:
                    settled = json.loads(row[2])
                    raise InputError(
                        "ledger",
                        f"{charge.day} is charged for another sharing ({settled['method']}, ε = {row[1]}, "
                        f"world {row[3][:12]}): ask for that one",
                    )
                return None if row[0] is None else bytes(row[0])
            charges = database.execute("SELECT epsilon FROM shares").fetchall()
            spent = sum((Fraction(earlier) for (earlier,) in charges), start=Fraction(0))
            if spent + spend > self.cap:
                raise BudgetError(spent=spent, asked=spend, cap=self.cap)
            database.execute("INSERT INTO shares VALUES (?, ?, ?, ?, NULL)", charge)
        return None

    def _persist(self, charge: _Charge, report: bytes) -> bytes:
        """Keep the first report of a charge, and return it: another process may have been quicker."""
        with self._transaction() as database:
            database.execute(
                "UPDATE shares SET report = ? "
                "WHERE day = ? AND epsilon = ? AND method = ? AND world = ? AND report IS NULL",
                (report, *charge),
            )
            row = database.execute("SELECT report FROM shares WHERE day = ?", (charge.day,)).fetchone()
        return bytes(row[0])

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction that is on disk when it ends; nobody else writes meanwhile."""
        database = sqlite3.connect(self._path, timeout=30, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = FULL")
            database.execute("BEGIN IMMEDIATE")
            for statement in _TABLES.strip().split(";\n"):
                database.execute(statement)
            yield database
            database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        finally:
            database.close()
