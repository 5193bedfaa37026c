"""A ledger on the device: what was shared, what it cost, and never more than the cap.

For every day: charge first, then sample, then persist, then hand out (R11). Whatever happens in
between, a day is paid for before anything is drawn, and what was handed out can only be handed out
again. A day that is charged counts against the cap, also if its report was lost.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from elsewhere.device.charge import Charge, check_name, date_of, hours_of
from elsewhere.device.ledger_file import has_cap, settled, transaction
from elsewhere.errors import BudgetError, InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.methods.guess import CANDIDATE
from elsewhere.methods.protocol import Method
from elsewhere.randomness import random_id
from elsewhere.trajectories import SharedTrajectory, Trajectory

LIFETIME_CAP = Fraction(100)
"""Of a ledger whose owner names none: twenty days at ε = 5."""


class DayState(StrEnum):
    """What became of a day that is charged."""

    CHARGED = "only charged"
    """Nothing was handed out: it can be asked for again, as it was charged."""
    SHARED = "shared"
    WAITING = "waiting"
    """Its answer to a survey is written down, and no collector has acknowledged it."""
    SENT = "sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One day of the ledger."""

    day: str
    epsilon: Fraction
    method: str
    world: str
    state: DayState
    survey: str | None = None
    """The hash of the survey that was answered, if it was one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayReport:
    """A shared day as the ledger keeps it: what may leave the device."""

    shared: SharedTrajectory
    report_id: str
    """Random, and the same whenever this report is asked for: under it the day is filed."""
    randomness: str
    """Where the noise came from."""
    is_again: bool
    """It was there before; nothing was spent."""


def _name(method: Method) -> str:
    """Method and all its settings."""
    settings = method.facts().as_json()
    if settings.get("reading") == CANDIDATE:
        del settings["reading"]  # days that were charged before there was a choice must still be found
    return json.dumps(settings, sort_keys=True)


def checked_cap(cap: float | str | Fraction) -> Fraction:
    """A cap as an exact fraction."""
    try:
        return exact_epsilon(cap)
    except InputError:
        problem = f"found {cap!r}, must be a number above 0: the sum of ε of all days, such as 20 or 100"
        raise InputError("cap", problem) from None


def open_ledger(path: Path, cap: str | None, needed: Fraction) -> Ledger:
    """The ledger of a command; no cap is settled for what would pass it at once."""
    if has_cap(path):
        return Ledger(path, cap)
    limit = LIFETIME_CAP if cap is None else checked_cap(cap)
    if needed > limit:
        raise BudgetError(spent=Fraction(0), asked=needed, cap=limit)
    return Ledger(path, limit)


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
        wanted = None if cap is None else checked_cap(cap)
        self.owner, self.cap = settled(self._path, wanted)
        """A random id that never leaves the device, and the cap."""
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
        return self.reports({day: trajectory}, method)[day].shared

    def reports(self, days: Mapping[str, Trajectory], method: Method) -> dict[str, DayReport]:
        """Share several days as `share` does: all are charged, or none, before the first is drawn."""
        if not method.facts().is_ldp:
            raise InputError("ledger", "takes only methods that are ε-LDP")
        for length in sorted({len(trajectory) for trajectory in days.values()}):
            method.prepare(length)  # whatever can fail, fails before anything is charged
        charges = [
            Charge(
                day,
                str(method.spent_on(len(trajectory))),
                _name(method),
                method.world.hash,
                hours_of(date_of(day), method.world.clock.timezone),
            )
            for day, trajectory in days.items()
        ]

        def drawn(day: str) -> dict[str, Any]:
            shared, info = method.share(days[day])
            visits = [list(visit) for visit in shared]
            return {"id": random_id(), "randomness": info.randomness, "visits": visits}

        return {
            day: DayReport(
                shared=SharedTrajectory(plain["visits"]),
                report_id=plain["id"],
                randomness=plain["randomness"],
                is_again=is_again,
            )
            for day, (plain, is_again) in self.paid(charges, drawn).items()
        }

    def paid(
        self, charges: Sequence[Charge], draw: Callable[[str], dict[str, Any]], *, most: int | None = None
    ) -> dict[str, tuple[dict[str, Any], bool]]:
        """Charge days, all or none, then draw each; what was drawn before comes back, and says so.

        With ``most``, no more days than that are ever charged under one name.
        """
        for charge in charges:
            check_name(charge.day)
        found = {}
        for charge, kept in zip(charges, self._charge(charges, most), strict=True):
            report = kept
            if report is None:
                report = self._persist(charge, json.dumps(draw(charge.day)).encode())
            found[charge.day] = (json.loads(report), kept is not None)
        return found

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def entries(self) -> list[Entry]:
        """All days, in order."""
        with transaction(self._path) as database:
            rows = database.execute(
                "SELECT day, epsilon, method, world, report IS NOT NULL, day IN (SELECT day FROM sent) "
                "FROM shares ORDER BY day"
            ).fetchall()
        return [_entry(*row) for row in rows]

    @property
    def spent(self) -> Fraction:
        """Sum of all charges."""
        return sum((entry.epsilon for entry in self.entries()), start=Fraction(0))

    def _charge(self, charges: Sequence[Charge], most: int | None) -> list[bytes | None]:
        """For each day its report if there is one; days that are not charged yet are, or none of them.

        A day that is charged but not reported may be drawn again, since whatever was drawn never left,
        but only as it was charged: another ε, method or world would be a sharing nobody paid for.
        """
        with transaction(self._path) as database:
            kept = [_kept(database, charge) for charge in charges]
            new = [charge for charge, row in zip(charges, kept, strict=True) if row is None]
            charged = database.execute("SELECT epsilon, method FROM shares").fetchall()
            spent = sum((Fraction(earlier) for earlier, _ in charged), start=Fraction(0))
            for name in {charge.method for charge in new} if most is not None else ():
                before = sum(earlier == name for _, earlier in charged)
                if before + sum(charge.method == name for charge in new) > (most or 0):
                    what = f"{before} of {most} days that a person may answer are answered already"
                    raise InputError("ledger", what)
            asked = sum((Fraction(charge.epsilon) for charge in new), start=Fraction(0))
            if new and spent + asked > self.cap:
                raise BudgetError(spent=spent, asked=asked, cap=self.cap)
            for charge in new:
                _check_hours(database, charge)
                database.execute("INSERT INTO shares VALUES (?, ?, ?, ?, NULL)", charge[:4])
                database.execute("INSERT OR REPLACE INTO hours VALUES (?, ?, ?)", (charge.day, *charge.hours))
        return [None if row is None or row[0] is None else bytes(row[0]) for row in kept]

    def _persist(self, charge: Charge, report: bytes) -> bytes:
        """Keep the first report of a charge, and return it: another process may have been quicker."""
        with transaction(self._path) as database:
            database.execute(
                "UPDATE shares SET report = ? "
                "WHERE day = ? AND epsilon = ? AND method = ? AND world = ? AND report IS NULL",
                (report, *charge[:4]),
            )
            row = database.execute("SELECT report FROM shares WHERE day = ?", (charge.day,)).fetchone()
        return bytes(row[0])


def _entry(day: str, epsilon: str, method: str, world: str, is_drawn: int, is_sent: int) -> Entry:
    how = json.loads(method)
    survey = how.get("survey")
    after = DayState.SHARED if survey is None else DayState.SENT if is_sent else DayState.WAITING
    return Entry(
        day=day,
        epsilon=Fraction(epsilon),
        method=how["method"],
        world=world,
        state=after if is_drawn else DayState.CHARGED,
        survey=survey,
    )


def _check_hours(database: sqlite3.Connection, charge: Charge) -> None:
    """No hour is paid for under two dates: in worlds of other time zones days begin at other times."""
    begins, ends = charge.hours
    day, _, time = charge.day.partition("T")
    # By name as well: a ledger of an earlier version does not know the hours of its days.
    whole, parts = (day, "") if time else ("", f"{day}T%")
    told = database.execute("SELECT day FROM shares WHERE day = ? OR day LIKE ?", (whole, parts)).fetchone()
    other = (
        told
        or database.execute(
            "SELECT day FROM hours WHERE begins < ? AND ends > ? AND day != ?", (ends, begins, charge.day)
        ).fetchone()
    )
    if other is not None:
        [kept] = database.execute("SELECT method FROM shares WHERE day = ?", other).fetchone()
        how = _differences(kept, charge.method)
        raise InputError(
            "ledger",
            f"{charge.day} has hours of {other[0]}, which are charged already{how}: no hour is told twice",
        )


_OPTIONS = {"every_minutes": "--every", "window_days": "--days", "levels": "--levels"}
"""How settings are called where people give them, if that is not their name."""


def _differences(kept: str, asked: str) -> str:
    """Settings in which two sharings by one method differ: what the kept one had, and what is asked for."""
    old, new = json.loads(kept), json.loads(asked)
    if old["method"] != new["method"]:
        return ""
    names = sorted((old.keys() | new.keys()) - {"method", "epsilon"})
    return "".join(
        f", {_OPTIONS.get(name, name)} {_said(old.get(name))}, not {_said(new.get(name))}"
        for name in names
        if old.get(name) != new.get(name)
    )


def _said(value: Any) -> str:
    return "none" if value is None else str(value)


def _kept(database: sqlite3.Connection, charge: Charge) -> tuple[bytes | None] | None:
    """A day's report, None in its place if it is only charged; None if it is not charged either."""
    row = database.execute(
        "SELECT report, epsilon, method, world FROM shares WHERE day = ?", (charge.day,)
    ).fetchone()
    if row is not None and row[1:] != charge[1:4]:
        raise InputError(
            "ledger",
            f"{charge.day} is charged for another sharing ({json.loads(row[2])['method']}, ε = {row[1]}, "
            f"world {row[3][:12]}{_differences(row[2], charge.method)}): ask for that one",
        )
    return None if row is None else (row[0],)
