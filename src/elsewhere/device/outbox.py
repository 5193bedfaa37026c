"""Reports that a device has written down: sent, or still to be sent. The same bytes however often (R18)."""

from __future__ import annotations

import json

from elsewhere.device.ledger import Ledger
from elsewhere.device.ledger_file import transaction
from elsewhere.survey.report import Report, report_from_bytes


def unsent(ledger: Ledger, survey: str) -> dict[str, Report]:
    """Reports to a survey, named by its hash, that nobody has acknowledged yet, by their days."""
    with transaction(ledger.path) as database:
        rows = database.execute(
            "SELECT day, method, report FROM shares "
            "WHERE report IS NOT NULL AND day NOT IN (SELECT day FROM sent) ORDER BY day"
        ).fetchall()
    return {
        day: report_from_bytes(bytes.fromhex(json.loads(report)["report"]))
        for day, method, report in rows
        if json.loads(method).get("survey") == survey
    }


def mark_sent(ledger: Ledger, day: str, receiver: str) -> None:
    """A collector has acknowledged the report of a day."""
    with transaction(ledger.path) as database:
        database.execute("INSERT OR REPLACE INTO sent VALUES (?, ?)", (day, receiver))
