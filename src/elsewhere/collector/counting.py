"""Counting a store's reports: only those that came since the last time."""

from __future__ import annotations

from elsewhere.collector.store import Store
from elsewhere.estimates.report_tally import DayType, ReportTally, nothing_counted, tally_of


def counted_store(
    store: Store, days: DayType | None = None, before: ReportTally | None = None
) -> ReportTally:
    """Counts of all reports in a store; those that ``before`` has are not read again."""
    if before is None or store.count(up_to=before.newest) != before.rows:
        # Two collectors on one database: a report may come late, under a lower number. Then all over again.
        before = nothing_counted(store.survey, days)
    found = before
    for frame, newest in store.pieces(after=before.newest):
        found = found + tally_of(store.survey, frame, days, newest)
    return found
