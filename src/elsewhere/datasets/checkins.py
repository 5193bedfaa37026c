"""Anybody's check-ins: venues as places, people's local days, whatever the columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.checkin_files import CheckinFiles
from elsewhere.datasets.cleaning import LEAST_VISITS
from elsewhere.datasets.foursquare import checkin_dataset
from elsewhere.inputs.column_names import parse_given
from elsewhere.inputs.delimited import KEYS
from elsewhere.inputs.moments import DateOrder
from elsewhere.inputs.raw_text import raw_files
from elsewhere.progress import Progress, no_progress


def read_checkins(
    raw: Sequence[Path],
    *,
    columns: str | None = None,
    dates: DateOrder | None = None,
    timezone: str | None = None,
    limit: int | None = 2000,
    has_homes: bool = False,
    least: int = LEAST_VISITS,
    hours: Path | None = None,
    popularity: str = "held-out",
    progress: Progress = no_progress,
) -> Dataset:
    """Files or folders of check-ins, and tables of their venues if these stand apart."""
    return checkin_dataset(
        "checkins",
        CheckinFiles(raw_files(raw), given=parse_given(columns, KEYS), order=dates),
        None,
        limit=limit,
        has_homes=has_homes,
        least=least,
        hours=hours,
        timezone=timezone,
        popularity=popularity,
        progress=progress,
    )
