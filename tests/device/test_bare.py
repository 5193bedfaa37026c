"""A device has neither a compiler nor polars nor scipy: it answers, from every kind of file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from elsewhere.survey.file import save_survey
from made_surveys import six_places, survey_of

HEAVY = ("numba", "llvmlite", "polars", "scipy", "shapely", "h3", "opening_hours", "starlette")
_PROGRAM = f"""
import sys
for name in {HEAVY}: sys.modules[name] = None
from elsewhere.cli.main import run
run()
"""
_FILES = {
    "days.csv": "lat,lng,datetime\n50.01,10.0,2024-03-07T09:00:00\n50.01,10.0,2024-03-07T09:40:00\n",
    "days.gpx": '<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
    '<trkpt lat="50.01" lon="10.0"><time>2024-03-07T09:00:00Z</time></trkpt>'
    '<trkpt lat="50.01" lon="10.0"><time>2024-03-07T09:40:00Z</time></trkpt></trkseg></trk></gpx>',
    "Records.json": json.dumps({
        "locations": [
            {"latitudeE7": 500100000, "longitudeE7": 100000000, "timestamp": f"2024-03-07T09:{m}:00Z"}
            for m in (10, 20, 50)
        ]
    }),
    "Timeline.json": json.dumps([{
        "startTime": "2024-03-07T09:00:00Z", "endTime": "2024-03-07T10:00:00Z",
        "visit": {"topCandidate": {"placeLocation": "geo:50.01,10.0"}},
    }]),
    "days.rec": "2024-03-07T09:00:00Z\t*\t"
    '{"_type": "location", "tst": 1709802000, "lat": 50.01, "lon": 10.0}\n',
}  # fmt: skip


@pytest.mark.parametrize("name", _FILES)
def test_it_answers_every_question_from_every_kind_of_file(tmp_path: Path, name: str) -> None:
    world = six_places(tmp_path / "city")
    survey = survey_of(
        world, ("presence", "1/4", {"grid": 2}), ("moves", "1/4", {"grid": 2}), ("day", "1/2", {}), days=3
    )
    save_survey(survey, tmp_path / "city.survey")
    (tmp_path / name).write_text(_FILES[name])
    # All three kinds of question are asked in turn, by chance; of days without a record as of any other.
    for day in ("2024-03-05", "2024-03-07") if name == "days.csv" else ("2024-03-07",):
        done = subprocess.run(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-W", "error", "-c", _PROGRAM, "survey", "answer", "city.survey", name,
             "--day", day, "--ledger", "my.ledger", "-o", f"{day}.report", "--yes"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (tmp_path / f"{day}.report").stat().st_size == 63


def _shared(folder: Path, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    six_places(folder / "city").save(folder / "city.world")
    (folder / name).write_text(_FILES[name])
    return subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-W", "error", "-c", _PROGRAM, "share", name, "-w", "city.world", "-e", "5",
         "--set", "candidates=64", "--day", "2024-03-07", "--ledger", "my.ledger", *more],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip


def test_it_needs_more_only_to_write_a_day(tmp_path: Path) -> None:
    """Whatever the file is: what writes is looked for before it is read."""
    refused = _shared(tmp_path, "days.csv", "-o", "shared.csv")
    assert refused.returncode == 2
    assert "writing a shared day to a file (-o) needs the 'build' extra" in refused.stderr
    assert not (tmp_path / "my.ledger").exists()


@pytest.mark.parametrize("name", _FILES)
def test_it_shares_a_day_of_every_kind_of_file(tmp_path: Path, name: str) -> None:
    done = _shared(tmp_path, name)
    assert done.returncode == 0, done.stderr
    assert "Shared with codebook, ε = 5" in done.stdout
