"""`elsewhere perturb` and `ledger show`: formats, cleaning, resuming after a kill, bad input."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

import elsewhere as ew
from commands import Command
from elsewhere.device import job
from elsewhere.device.job_folder import JobFolder
from elsewhere.device.shared_file import write_part, write_shared
from elsewhere.device.shared_metadata import SharedMetadata
from elsewhere.randomness import SeededRandomness, SystemRandomness
from worlds import build, place

HEADER = "uid,tid,datetime,lat,lng,place_id\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A world and a file of forty days in it."""
    rows = [
        place(f"p{i}", 50 + i % 4 * 0.01, 10 + i // 4 * 0.01, ["cafe", "boots"][i % 2], hours="06:00-23:00")
        for i in range(12)
    ]
    build(tmp_path / "tables", rows, {"kappa": 2, "timezone": "Europe/Berlin"}).save(tmp_path / "w.world")
    lines = [
        f"u{u},t{u},2024-03-07T{8 + k:02d}:{u % 6}0:00,,,p{(u + k) % 12}\n"
        for u in range(40)
        for k in range(1 + u % 5)
    ]
    (tmp_path / "days.csv").write_text(HEADER + "".join(lines))
    return tmp_path


def _rows(path: Path) -> list[dict[str, str]]:
    if path.suffix == ".csv":
        with path.open() as file:
            return list(csv.DictReader(file))
    if path.suffix == ".parquet":
        return [{key: str(value) for key, value in row.items()} for row in pl.read_parquet(path).to_dicts()]
    features = json.loads(path.read_text())["features"]
    return [{**f["properties"], "lng": str(f["geometry"]["coordinates"][0])} for f in features]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".geojson"])
def test_every_format_goes_in_and_comes_out(elsewhere: Command, folder: Path, suffix: str) -> None:
    out = folder / f"shared{suffix}"
    code, _, err = elsewhere(
        "perturb", folder / "days.csv", "-w", folder / "w.world", "-m", "ngram", "-e", 5, "-o", out
    )
    assert (code, err) == (0, "")
    rows = _rows(out)
    lengths = Counter(row["uid"] for row in rows)
    assert lengths == {f"u{u}": 1 + u % 5 for u in range(40)}
    assert list(dict.fromkeys(row["uid"] for row in rows)) == [f"u{u}" for u in range(40)]
    assert all(row["datetime"].startswith("2024-03-07T") for row in rows)
    code, _, err = elsewhere(
        "perturb", out, "-w", folder / "w.world", "-m", "ngram", "-e", 5, "-o", folder / "again.csv"
    )
    assert (code, err) == (0, "")
    assert {row["uid"] for row in _rows(folder / "again.csv")} == set(lengths)
    assert not list(folder.glob("*.partial"))


def test_the_promise_is_written_with_the_data_and_nothing_private(elsewhere: Command, folder: Path) -> None:
    elsewhere(
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        "0.5",
        "-n",
        3,
        "-o",
        folder / "s.csv",
    )
    metadata = json.loads((folder / "s.csv.meta.json").read_text())
    assert metadata == {
        "method": "ngram", "n": 3, "sensitivity": "world", "is_ldp": True, "length_is_public": True,
        "epsilon": "1/2", "world": ew.World.load(folder / "w.world").hash, "randomness": "system",
        "elsewhere": ew.__version__, "trajectories": 40,
        "most_days_of_a_person": 1, "epsilon_of_a_person_at_most": "1/2",
    }  # fmt: skip
    elsewhere(
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.parquet",
    )
    inside = json.loads(pl.read_parquet_metadata(folder / "s.parquet")["elsewhere"])
    assert inside["epsilon"] == "5"
    assert inside["is_ldp"] is True


def test_the_length_can_be_hidden(elsewhere: Command, folder: Path) -> None:
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5, "--hide-length", 4]
    code, out, _ = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "s.csv")
    assert code == 0
    assert "places and times, and the number of visits (among 1 to 4). Not hidden: " in " ".join(out.split())
    metadata = json.loads((folder / "s.csv.meta.json").read_text())
    assert metadata["length_is_public"] is False
    assert (metadata["epsilon"], metadata["length_epsilon"], metadata["hide_length"]) == ("5", "1", 4)
    lengths = Counter(row["tid"] for row in _rows(folder / "s.csv"))
    assert len(lengths) == 40
    assert set(lengths.values()) <= {1, 2, 3, 4}
    assert f"40 trajectories, {sum(lengths.values())} visits" in out
    true_lengths = Counter(row["tid"] for row in _rows(folder / "days.csv"))
    assert lengths != true_lengths
    code, _, err = elsewhere("perturb", folder / "days.csv", *options[:-1], 500, "-o", folder / "never.csv")
    assert code == 2
    assert "must be at most 144" in err


def test_the_default_hides_how_many_visits_there_were(elsewhere: Command, folder: Path) -> None:
    options = ["-w", folder / "w.world", "-e", 5, "--set", "candidates=128", "--set", "shards=3"]
    code, out, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "s.csv")
    assert (code, err) == (0, "")
    assert "places and times, and the number of visits (among 1 to 8). Not hidden: " in " ".join(out.split())
    metadata = json.loads((folder / "s.csv.meta.json").read_text())
    assert (metadata["method"], metadata["candidates"], metadata["shards"]) == ("codebook", 128, 3)
    assert (metadata["epsilon"], metadata["is_ldp"], metadata["hide_length"]) == ("5", True, 8)
    assert len({row["tid"] for row in _rows(folder / "s.csv")}) == 40
    code, _, err = elsewhere("perturb", folder / "days.csv", *options, "-n", 2, "-o", folder / "t.csv")
    assert code == 2
    assert "n: is no option of codebook" in err


def test_a_file_says_which_reading_it_has(elsewhere: Command, folder: Path) -> None:
    options = ["-w", folder / "w.world", "-e", 5, "--set", "candidates=64", "--set", "shards=2"]
    for reading in ("candidate", "guess"):
        more = [] if reading == "candidate" else ["--set", f"reading={reading}"]
        out = folder / f"{reading}.csv"
        assert elsewhere("perturb", folder / "days.csv", *options, *more, "-o", out)[0] == 0
        metadata = json.loads((folder / f"{reading}.csv.meta.json").read_text())
        assert (metadata["reading"], metadata["is_ldp"], metadata["epsilon"]) == (reading, True, "5")
    options += ["--set", "reading=best", "-o", folder / "never.csv"]
    code, _, err = elsewhere("perturb", folder / "days.csv", *options)
    assert code == 2
    assert "reading: found 'best', must be one of candidate, guess" in " ".join(err.split())


@pytest.mark.parametrize("name", ["ind-reach", "ind-noreach", "global"])
def test_every_method_perturbs_a_file(elsewhere: Command, folder: Path, name: str) -> None:
    options = ["-w", folder / "w.world", "-e", 5, "-m", name]
    code, out, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "s.csv")
    assert (code, err) == (0, "")
    assert "Not hidden: the number of visits," in " ".join(out.split())
    assert Counter(row["tid"] for row in _rows(folder / "s.csv")) == Counter(
        row["tid"] for row in _rows(folder / "days.csv")
    )
    metadata = json.loads((folder / "s.csv.meta.json").read_text())
    assert (metadata["method"], metadata["epsilon"], metadata["is_ldp"]) == (name, "5", True)
    assert (folder / "w.world.tables").exists() == (name == "global")
    if name == "global":
        kept = {path: path.stat().st_mtime_ns for path in (folder / "w.world.tables").iterdir()}
        elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "again.csv")
        assert kept == {path: path.stat().st_mtime_ns for path in (folder / "w.world.tables").iterdir()}
        for path in kept:
            path.write_bytes(b"damaged")
        code, _, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "third.csv")
        assert (code, err) == (0, "")


def test_what_is_not_private_says_so(elsewhere: Command, folder: Path) -> None:
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5]
    _, _, err = elsewhere(
        "perturb", folder / "days.csv", *options, "-o", folder / "a.csv", "--sensitivity", 1
    )
    assert "NOT ε-LDP" in err
    assert json.loads((folder / "a.csv.meta.json").read_text())["promise"] == "NOT ε-LDP"
    for name in ("b.csv", "c.csv"):
        _, _, err = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / name, "--seed", 7)
        assert "NOT private" in err
    assert (folder / "b.csv").read_bytes() == (folder / "c.csv").read_bytes()
    metadata = json.loads((folder / "b.csv.meta.json").read_text())
    assert metadata["randomness"] == "seeded (7)"
    assert metadata["is_ldp"] is False
    assert "NOT private" in metadata["promise"]


def test_other_names_zones_and_points_without_a_place(elsewhere: Command, folder: Path) -> None:
    """Names of trackintel and movingpandas; zoned times become local; points go to places within 100 m."""
    (folder / "points.csv").write_text(
        "user_id,traj_id,timestamp,latitude,longitude\n"
        "a,1,2024-03-07T09:00:00Z,50.0001,10.0001\n"
        "a,1,2024-03-07T09:30:00Z,50.0001,10.0001\n"
        "a,1,2024-03-07T11:00:00+01:00,50.0101,10\n"
        "a,1,2024-03-07T12:00:00+01:00,50.0102,10\n"
        "a,1,2024-03-07T14:00:00+01:00,51,11\n"
        "b,2,2024-03-07T15:00:00,55,15\n"
    )
    world = ew.World.load(folder / "w.world")
    first, second = ew.read_trajectories(folder / "points.csv", world=world)
    # 9:00 in London is 10:00 in Berlin; the repeats are gone, and so is the point far from everything.
    assert [(visit.place_id, visit.timestep) for visit in first] == [("p0", 60), ("p1", 66)]
    assert len(second) == 1  # nobody is dropped: the nearest place, however far
    code, out, _ = elsewhere(
        "perturb",
        folder / "points.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
        "--json",
    )
    counts = json.loads(out)["private_counts_for_this_device_only"]
    assert code == 0
    assert counts["repeats removed"] == 2
    assert counts["points farther than 100 m from any place"] == 2
    assert counts["trajectories with no point near a place"] == 1


def test_what_does_not_fit_is_projected_and_counted_or_refused(elsewhere: Command, folder: Path) -> None:
    (folder / "odd.csv").write_text(
        HEADER
        + "a,1,2024-03-07T12:00:00,,,p0\na,1,2024-03-07T10:00:00,,,p5\n"  # back in time
        + "b,2,2024-03-07T03:00:00,,,p0\n"  # closed
        + "c,3,2024-03-07T10:00:00,,,atlantis\n"  # unknown
        + "d,4,2024-03-07T10:00:00,,,p0\nd,4,2024-03-07T10:10:00,,,p11\n"  # too far for ten minutes
    )
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5, "-o", folder / "s.csv"]
    code, out, err = elsewhere("perturb", folder / "odd.csv", *options, "--strict")
    assert (code, out) == (2, "")
    for number, said in enumerate(["order of time", "closed", "unknown", "too far"], start=1):
        assert f"trajectory {number}: " in err
        assert said in err
    assert "atlantis" not in err
    assert not (folder / "s.csv").exists()
    code, out, _ = elsewhere("perturb", folder / "odd.csv", *options, "--json")
    counts = json.loads(out)["private_counts_for_this_device_only"]
    assert code == 0
    assert counts["trajectories not in order of time"] == 1
    assert counts["visits to closed places"] == 1
    assert counts["visits to unknown places"] == 1
    assert counts["steps too far for their time"] == 1
    assert len(_rows(folder / "s.csv")) == 6


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-e", "0"], "epsilon"),
        (["-e", "-1"], "epsilon"),
        (["-e", "lots"], "epsilon"),
        (["-e", "5", "-n", "0"], "n: found 0"),
        (["-e", "5", "-m", "magic"], "must be one of codebook, constant, global"),
        (["-e", "5", "--sensitivity", "2"], "--sensitivity"),
        (["-e", "5", "-o", "s.txt"], "must end in .csv, .parquet, .geoparquet or .geojson"),
        (["-e", "5", "-o", "days.csv"], "is one of the inputs"),
        (["-e", "5", "-o", "days.csv/s.csv"], "cannot be written"),
        (["-e", "5", "-w", "days.csv"], "not a .world file"),
        (["-e", "5", "--world", "nothing.world"], "cannot be read"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    defaults = [] if "-o" in arguments else ["-o", "s.csv"]
    defaults += [] if "-m" in arguments else ["-m", "ngram"]
    defaults += [] if "-w" in arguments or "--world" in arguments else ["-w", "w.world"]
    code, out, err = elsewhere("perturb", "days.csv", *arguments, *defaults)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (HEADER, "holds no trajectory"),
        ("", "empty"),
        ("uid,where\na,b\n", "column datetime"),
        (HEADER + "a,1,yesterday,50,10,\n", "row 2, column datetime"),
        (HEADER + "a,1,2024-03-07T10:00:00,,,\n", "row 2, column lat"),
        (HEADER + "a,1,2024-03-07T10:00:00,95,10,\n", "row 2, column lat"),
        ("secret,t1,2024-03-07T10:00:00,50,10,p1\n" * 2, "column uid"),
        (HEADER + 'a,1,"secret\n', "cannot be read as a table"),
        (HEADER + ",1,2024-03-07T10:00:00,,,p1\n", "row 2, column uid"),
        (HEADER + "a,1,2024-03-07T10:00:00,,,p1,more\n", "row 2: has 7 fields, the header has 6"),
        (HEADER + "a,1,9999-12-31T23:59:59-12:00,,,p1\n", "row 2, column datetime"),
        (
            HEADER
            + "a,1,2024-03-07T10:00:00,,,p1\nb,1,2024-03-07T10:00:00,,,p1\na,1,2024-03-07T11:00:00,,,p2\n",
            "apart",
        ),
    ],
)
def test_bad_trajectory_files(elsewhere: Command, folder: Path, content: str, said: str) -> None:
    (folder / "bad.csv").write_text(content)
    code, _, err = elsewhere(
        "perturb",
        folder / "bad.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    )
    assert code == 2
    assert said in err
    assert "yesterday" not in err
    assert "secret" not in err
    assert not (folder / "s.csv").exists()
    assert not (folder / "s.csv.PRIVATE.partial").exists()


def test_finished_output_is_never_perturbed_again(elsewhere: Command, folder: Path) -> None:
    arguments = [
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    ]
    elsewhere(*arguments)
    before = (folder / "s.csv").read_bytes()
    code, _, err = elsewhere(*arguments)
    assert code == 2
    assert "would spend ε again" in err
    assert (folder / "s.csv").read_bytes() == before


def test_parts_of_another_job_are_refused(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stop_after(monkeypatch, parts=2)
    arguments = [
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-o",
        folder / "s.csv",
    ]
    with pytest.raises(_Stopped):
        elsewhere(*arguments, "-e", 5)
    monkeypatch.undo()
    code, _, err = elsewhere(*arguments, "-e", 4)
    assert code == 2
    assert "another job" in err


class _Stopped(BaseException):
    """Stands for whatever ends a process."""


def _stop_after(monkeypatch: pytest.MonkeyPatch, parts: int) -> None:
    monkeypatch.setattr(job, "BATCH", 7)
    share = job._share_part

    def stopping(folder: Path, number: int, *more: object) -> Path:
        if number == parts:
            raise _Stopped
        return share(folder, number, *more)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(job, "_share_part", stopping)


def test_a_file_that_changes_under_way_ends_the_job(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of two files do not fit together: a person could be in both."""
    source, share = folder / "days.csv", job._share_part
    before = source.read_text()
    arguments = ("perturb", source, "-w", folder / "w.world", "-m", "ngram", "-e", 5, "-o", folder / "s.csv")

    def changing(folder: Path, number: int, *more: object) -> Path:
        source.write_text(before + "late,t,2024-03-07T08:00:00,,,p1\n")
        return share(folder, number, *more)  # type: ignore[arg-type]  # passed on as they came

    with monkeypatch.context() as patch:
        patch.setattr(job, "BATCH", 5)
        patch.setattr(job, "_share_part", changing)
        code, _, err = elsewhere(*arguments)
        assert (code, "has changed since this job began" in err) == (2, True)
        assert not (folder / "s.csv").exists()
        patch.setattr(job, "_share_part", share)
        code, _, err = elsewhere(*arguments)
        assert (code, "belongs to another job" in err) == (2, True)
        source.write_text(before)
        assert elsewhere(*arguments)[0] == 0
    assert len({row["uid"] for row in _rows(folder / "s.csv")}) == 40


def test_a_stopped_job_keeps_what_it_has_and_goes_on(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    ]
    with monkeypatch.context() as patch:
        _stop_after(patch, parts=3)
        with pytest.raises(_Stopped):
            elsewhere(*arguments)
    parts = sorted((folder / "s.csv.PRIVATE.partial").glob("part-*.parquet"))
    kept = pl.concat([pl.read_parquet(part) for part in parts])
    assert len(parts) == 3
    assert not (folder / "s.csv").exists()
    monkeypatch.setattr(job, "BATCH", 7)
    code, _, _ = elsewhere(*arguments)
    assert code == 0
    rows = _rows(folder / "s.csv")
    assert Counter(row["uid"] for row in rows) == {f"u{u}": 1 + u % 5 for u in range(40)}
    assert [row["place_id"] for row in rows[: kept.height]] == kept["place_id"].to_list()
    assert [row["datetime"] for row in rows[: kept.height]] == kept["datetime"].to_list()


def test_two_workers_make_and_count_what_one_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "BATCH", 7)
    method = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5)
    output, found = folder / "s.parquet", []
    for workers in (1, 2):
        result = job.perturb_file(
            folder / "days.csv", output, method, version="test", workers=workers, seed=4, is_anyway=True
        )
        found.append((pl.read_parquet(output), result.counts))
        output.unlink()
    (days, counts), (same_days, same_counts) = found
    assert days.equals(same_days)
    assert counts == same_counts
    assert counts["visits"] == 120


_PROGRAM = """
import sys, time
from pathlib import Path
import elsewhere as ew
from elsewhere.device import job
job.BATCH = 4
share = job._share_part
def slow(*arguments):
    time.sleep(0.02)
    return share(*arguments)
job._share_part = slow
folder = Path(sys.argv[1])
method = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5)
print("ready", flush=True)
job.perturb_file(folder / "days.csv", folder / "s.csv", method, version="test")
"""


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.audit)])
def test_killed_at_random_moments_it_ends_complete_and_without_duplicates(folder: Path, kills: int) -> None:
    """Each run is killed for real, at a random moment; the last one finishes what is left."""
    chance = random.Random(5)  # noqa: S311 - moments to kill at
    seen: dict[str, list[str]] = {}
    for _ in range(kills):
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and program
            [sys.executable, "-c", _PROGRAM, str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.12))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for part in sorted((folder / "s.csv.PRIVATE.partial").glob("part-*.parquet")):
            places = pl.read_parquet(part)["place_id"].to_list()
            assert seen.setdefault(part.name, places) == places  # what was written stays as it is
        if (folder / "s.csv").exists():
            break
    if not (folder / "s.csv").exists():
        subprocess.run([sys.executable, "-c", _PROGRAM, str(folder)], check=True, capture_output=True)  # noqa: S603 - as above
    rows = _rows(folder / "s.csv")
    assert Counter(row["uid"] for row in rows) == {f"u{u}": 1 + u % 5 for u in range(40)}
    assert [row["place_id"] for row in rows][: sum(map(len, seen.values()))] == [
        place_id for name in sorted(seen) for place_id in seen[name]
    ]


def test_ledger_show(elsewhere: Command, folder: Path) -> None:
    ledger = ew.Ledger(folder / "my.ledger", cap=12)
    method = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5)
    ledger.share("2025-09-17", ew.Trajectory([("p0", 60)]), method)
    code, out, _ = elsewhere("ledger", "show", folder / "my.ledger")
    assert code == 0
    assert "2025-09-17" in out
    assert "Spent 5 of 12." in out
    _, out, _ = elsewhere("ledger", "show", folder / "my.ledger", "--json")
    assert json.loads(out)["spent"] == "5"
    code, _, err = elsewhere("ledger", "show", folder / "none.ledger")
    assert code == 2
    assert "no such ledger" in err
    assert not (folder / "none.ledger").exists()


def test_only_one_run_of_a_job_at_a_time(elsewhere: Command, folder: Path) -> None:
    method = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5)
    metadata = SharedMetadata(
        method=method.facts(),
        world=method.world.hash,
        version=ew.__version__,
        randomness="system",
        most_days_of_a_person=1,
        epsilon_of_a_person_at_most=Fraction(5),
    )
    facts = {**metadata.as_json(), "batch": job.BATCH}
    arguments = [
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    ]
    with JobFolder(folder / "s.csv", facts, folder / "days.csv"):
        code, _, err = elsewhere(*arguments)
        assert code == 2
        assert "another run" in err
    assert elsewhere(*arguments)[0] == 0


def test_a_file_where_unfinished_jobs_wait_is_named(elsewhere: Command, folder: Path) -> None:
    (folder / "s.csv.PRIVATE.partial").write_text("")
    command = ["perturb", folder / "days.csv", "-w", folder / "w.world", "-m", "uniform", "-e", 5]
    code, _, err = elsewhere(*command, "-o", folder / "s.csv")
    assert (code, "s.csv.PRIVATE.partial: is there already and is not a folder" in err) == (2, True)


@pytest.mark.parametrize("name", ["job.json", "key"])
def test_a_folder_whose_notes_are_damaged_says_what_that_costs(folder: Path, name: str) -> None:
    with JobFolder(folder / "s.csv", {"method": "any"}, folder / "days.csv") as unfinished:
        (unfinished.path / "part-000000.parquet").write_bytes(b"")
    (unfinished.path / name).write_bytes(b"\xff{")
    with (
        pytest.raises(ew.InputError, match=r"is damaged.*which spends ε again"),
        JobFolder(folder / "s.csv", {"method": "any"}, folder / "days.csv"),
    ):
        pass


@pytest.mark.parametrize("loss", ["part-000001.parquet", "part-000000.PRIVATE.json", "job.json", "key"])
def test_a_damaged_folder_is_refused_rather_than_guessed_at(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    """With a part missing, going on would draw some people twice and lose others."""
    arguments = [
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    ]
    with monkeypatch.context() as patch:
        _stop_after(patch, parts=3)
        with pytest.raises(_Stopped):
            elsewhere(*arguments)
    monkeypatch.setattr(job, "BATCH", 7)
    (folder / "s.csv.PRIVATE.partial" / loss).unlink()
    code, _, err = elsewhere(*arguments)
    assert code == 2
    assert "damaged" in err
    assert not (folder / "s.csv").exists()


def test_the_folder_is_for_its_owner_only_and_tells_no_digest(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    ]
    _stop_after(monkeypatch, parts=1)
    with pytest.raises(_Stopped):
        elsewhere(*arguments)
    partial = folder / "s.csv.PRIVATE.partial"
    assert partial.stat().st_mode & 0o777 == 0o700
    plain = hashlib.sha256((folder / "days.csv").read_bytes()).hexdigest()
    assert plain not in (partial / "job.json").read_text()


def test_all_trips_of_a_persons_day_are_one_trajectory(elsewhere: Command, folder: Path) -> None:
    """ε is for a person's day: whoever cuts it into trips must not get more for the same ε."""
    (folder / "trips.csv").write_text(
        "uid,trip_id,datetime,place_id\n"
        "a,1,2024-03-07T10:00:00,p1\na,1,2024-03-07T11:00:00,p2\n"
        "a,2,2024-03-07T13:00:00,p3\na,2,2024-03-08T00:10:00,p4\n"  # ends after midnight
        "a,1,2024-03-08T09:00:00,p5\n"  # trips are counted anew every day
        "b,7,2024-03-07T10:00:00,p1\n"
    )
    world = ew.World.load(folder / "w.world")
    days = ew.read_trajectories(folder / "trips.csv", world=world)
    assert [[visit.place_id for visit in day] for day in days] == [["p1", "p2", "p3", "p4"], ["p5"], ["p1"]]
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5]
    code, out, err = elsewhere("perturb", folder / "trips.csv", *options, "-o", folder / "s.csv")
    assert (code, err) == (0, "")
    assert "up to 2 days of each, so ε = 10 at most for all that is shared of a person" in " ".join(
        out.split()
    )
    facts = json.loads((folder / "s.csv.meta.json").read_text())
    assert (facts["most_days_of_a_person"], facts["epsilon_of_a_person_at_most"]) == (2, "10")
    keys = {(row["uid"], row["tid"], row["datetime"][:10]) for row in _rows(folder / "s.csv")}
    assert keys == {("a", "1", "2024-03-07"), ("a", "1", "2024-03-08"), ("b", "7", "2024-03-07")}
    code, out, err = elsewhere("evaluate", folder / "trips.csv", folder / "s.csv", "-w", folder / "w.world")
    assert (code, "3 days" in out) == (0, True)


def test_a_trip_ends_where_nothing_comes_for_half_a_day(folder: Path) -> None:
    """Timetables run the same trip every day. A trip of a day and a night belongs to no day."""
    path, world = folder / "trips.csv", ew.World.load(folder / "w.world")
    hours = [("07T09", "p1"), ("07T21", "p2"), ("08T08", "p3"), ("08T21", "p4"), ("09T09", "p5")]
    rows = [f"a,7,2024-03-{hour}:00:00,{place}" for hour, place in hours]
    path.write_text("\n".join(["uid,trip_id,datetime,place_id", *rows]) + "\n")
    days = ew.read_trajectories(path, world=world)
    assert [[visit.place_id for visit in day] for day in days] == [["p1", "p2", "p3"], ["p4"], ["p5"]]
    rows[3:3] = ["a,7,2024-03-08T19:00:00,p1"]
    rows[-1] = "a,7,2024-03-09T08:00:00,p1"
    path.write_text("\n".join(["uid,trip_id,datetime,place_id", *rows]) + "\n")
    with pytest.raises(ew.InputError, match="column tid: a trip goes on into a third day"):
        ew.read_trajectories(path, world=world)


def test_rows_of_a_persons_day_that_are_apart_are_refused(folder: Path) -> None:
    world = ew.World.load(folder / "w.world")
    for columns in ("uid,datetime,place_id", "uid,trip_id,datetime,place_id"):
        trips = ["1,", "2,", "3,"] if "trip_id" in columns else ["", "", ""]
        rows = [
            f"a,{trips[0]}2024-03-07T10:00:00,p1",
            f"a,{trips[1]}2024-03-08T10:00:00,p2",
            f"a,{trips[2]}2024-03-07T12:00:00,p3",
        ]
        (folder / "mixed.csv").write_text("\n".join([columns, *rows]) + "\n")
        with pytest.raises(ew.InputError, match="person's day are apart: sort the file by uid and time"):
            ew.read_trajectories(folder / "mixed.csv", world=world)


def test_days_of_me_could_be_anybodys(elsewhere: Command, folder: Path) -> None:
    (folder / "me.csv").write_text(HEADER + "me,1,2024-03-07T10:00:00,,,p1\n")
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5, "-o", folder / "s.csv"]
    code, _, err = elsewhere("perturb", folder / "me.csv", *options)
    assert (code, "may be anybody: make the data set again with `elsewhere dataset personal`" in err) == (
        2,
        True,
    )
    code, _, err = elsewhere("evaluate", folder / "days.csv", folder / "me.csv", "-w", folder / "w.world")
    assert (code, "may be anybody" in err) == (2, True)


def test_a_known_place_needs_no_position(folder: Path) -> None:
    row = {"uid": "a", "datetime": "2024-03-07T10:00:00", "lat": float("nan"), "lng": 1e9, "place_id": "p1"}
    pl.DataFrame([row]).write_parquet(folder / "nan.parquet")
    (day,) = ew.read_trajectories(folder / "nan.parquet", world=ew.World.load(folder / "w.world"))
    assert day.visits[0].place_id == "p1"


def test_folders_and_damaged_parquet_are_named_as_such(elsewhere: Command, folder: Path) -> None:
    (folder / "d.csv").mkdir()
    (folder / "fake.parquet").write_text("uid,tid\n")
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5, "-o", folder / "s.csv"]
    assert "is a folder" in elsewhere("perturb", folder / "d.csv", *options)[2]
    assert "not a Parquet file" in elsewhere("perturb", folder / "fake.parquet", *options)[2]
    assert "is a folder" in elsewhere("perturb", folder / "days.csv", *options[:-1], folder / "d.csv")[2]


def test_an_interrupted_run_says_how_to_go_on(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_share_part", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    code, _, err = elsewhere(
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    )
    assert code == 130
    assert "the same command goes on" in err


@pytest.mark.parametrize("damage", ["part-000001.parquet", "part-000001.PRIVATE.json"])
@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing", b"[1, 2]", b"{", b"\xff\xfe"])
def test_a_damaged_part_is_one_message_and_never_a_traceback(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, damage: str, content: bytes
) -> None:
    arguments = ["perturb", folder / "days.csv", "-w", folder / "w.world", "-m", "ngram", "-e", 5]
    arguments += ["-o", folder / "s.csv"]
    with monkeypatch.context() as patch:
        _stop_after(patch, parts=3)
        with pytest.raises(_Stopped):
            elsewhere(*arguments)
    monkeypatch.setattr(job, "BATCH", 7)
    (folder / "s.csv.PRIVATE.partial" / damage).write_bytes(content)
    code, out, err = elsewhere(*arguments)
    assert (code, out) == (2, "")
    assert "is damaged, some of what was shared is missing or cannot be read" in err
    assert not list(folder.glob("s.csv*.json"))
    assert not (folder / "s.csv").exists()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".geojson"])
def test_a_part_that_is_damaged_at_the_last_moment_leaves_no_output(folder: Path, suffix: str) -> None:
    texts = {name: [f"{name} {number}" for number in range(5000)] for name in ("uid", "tid", "place_id")}
    whole = pl.DataFrame({**texts, "datetime": "2024-03-07T10:00:00", "lat": 50.0, "lng": 10.0})
    parts = [folder / f"part-{number}.parquet" for number in range(2)]
    for part in parts:
        write_part(part, whole)
    middle = bytearray(parts[1].read_bytes())
    middle[100:3000] = bytes(2900)
    parts[1].write_bytes(middle)
    facts = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5).facts()
    metadata = SharedMetadata(method=facts, world="", version="", randomness="system")
    before = sorted(folder.iterdir())
    with pytest.raises(ew.InputError, match="a part of what was shared cannot be read"):
        write_shared(folder / f"s{suffix}", parts, metadata)
    assert sorted(folder.iterdir()) == before


def test_all_that_waits_for_the_end_of_a_job_is_private(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stop_after(monkeypatch, parts=2)
    with pytest.raises(_Stopped):
        elsewhere(
            "perturb",
            folder / "days.csv",
            "-w",
            folder / "w.world",
            "-m",
            "ngram",
            "-e",
            5,
            "-o",
            folder / "s.csv",
        )
    modes = {path.name: path.stat().st_mode & 0o777 for path in (folder / "s.csv.PRIVATE.partial").iterdir()}
    assert {"part-000001.parquet", "part-000001.PRIVATE.json", "job.json", "key", "lock"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_a_file_of_another_city_is_refused_unless_it_is_meant(elsewhere: Command, folder: Path) -> None:
    rows = [f"u{u},t{u},2024-03-07T10:00:00,49.2,-123.1,\n" for u in range(95)]
    near = [f"v{u},t{u},2024-03-07T10:00:00,50.0,10.0,\n" for u in range(5)]
    (folder / "far.csv").write_text(HEADER + "".join([*rows, *near]))
    options = ["-w", folder / "w.world", "-m", "ngram", "-e", 5]
    code, out, err = elsewhere("perturb", folder / "far.csv", *options, "-o", folder / "s.csv")
    assert (code, out) == (2, "")
    assert "more than 90% of its points are farther than 50 km from every place of this world" in err
    assert "--anyway goes on" in err
    assert "123" not in err.replace(str(folder), "")  # pytest numbers its folders
    assert not (folder / "s.csv").exists()
    code, _, _ = elsewhere("perturb", folder / "far.csv", *options, "-o", folder / "s.csv", "--anyway")
    assert code == 0
    (folder / "some.csv").write_text(HEADER + "".join([*rows[:40], *near]))
    assert elsewhere("perturb", folder / "some.csv", *options, "-o", folder / "t.csv")[0] == 0


def test_days_that_are_cut_short_are_counted_on_this_screen_alone(elsewhere: Command, folder: Path) -> None:
    """The candidates of this world have at most 8 visits."""
    lines = [f"long,t,2024-03-07T{8 + k:02d}:00:00,,,p{k}\n" for k in range(10)]
    (folder / "long.csv").write_text((folder / "days.csv").read_text() + "".join(lines))
    options = ["-w", folder / "w.world", "-e", 5, "--set", "candidates=64", "--set", "shards=2"]
    code, out, _ = elsewhere("perturb", folder / "long.csv", *options, "-o", folder / "s.csv")
    text = " ".join(out.split())
    assert code == 0
    assert "Some true days have more than 8 visits" in text
    assert "`lengths` in `[prior]` of world.toml" in text
    assert "more visits" not in (folder / "s.csv.meta.json").read_text()
    code, out, _ = elsewhere("perturb", folder / "days.csv", *options, "-o", folder / "t.csv")
    assert "Some true days have more" not in out
    _, out, _ = elsewhere("perturb", folder / "long.csv", *options, "-o", folder / "u.csv", "--json")
    private = json.loads(out)["private_counts_for_this_device_only"]
    assert private["days with more visits than any shared day can have"] == 1


class _InItsPlace(SystemRandomness):
    """Whatever stands in for the system's randomness, in a test or in an attack."""


def test_metadata_says_which_randomness_was_really_used(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "SystemRandomness", _InItsPlace)
    elsewhere(
        "perturb",
        folder / "days.csv",
        "-w",
        folder / "w.world",
        "-m",
        "ngram",
        "-e",
        5,
        "-o",
        folder / "s.csv",
    )
    facts = json.loads((folder / "s.csv.meta.json").read_text())
    assert facts["randomness"] == "_InItsPlace, not the operating system's"
    assert facts["is_ldp"] is False
    assert "NOT private" in facts["promise"]
    assert "epsilon_of_a_person_at_most" not in facts


def test_whoever_shares_in_python_is_told_which_randomness_was_used(folder: Path) -> None:
    method = ew.method("ngram", ew.World.load(folder / "w.world"), epsilon=5)
    day = ew.Trajectory([("p0", 60), ("p1", 70)])
    sources = (None, SystemRandomness(), SeededRandomness(7), _InItsPlace())
    labels = ["system", "system", "seeded (7)", "_InItsPlace, not the operating system's"]
    assert [method.share(day, randomness=source)[1].randomness for source in sources] == labels
    assert [method.share_batch([day], randomness=source).randomness for source in sources] == labels
