"""Files appear whole or not at all, and private ones are for their owner alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from elsewhere.errors import InputError
from elsewhere.files import whole_file, write_text


def test_private_files_and_their_folders_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o000)
    try:
        write_text(tmp_path / "new/deeper/mine.txt", "where I was", is_private=True)
        write_text(tmp_path / "public/ours.txt", "where places are")
    finally:
        os.umask(before)
    modes = {
        name: (tmp_path / name).stat().st_mode & 0o777
        for name in ("new", "new/deeper", "new/deeper/mine.txt", "public", "public/ours.txt")
    }
    assert modes == {
        "new": 0o700, "new/deeper": 0o700, "new/deeper/mine.txt": 0o600,
        "public": 0o777, "public/ours.txt": 0o666,
    }  # fmt: skip


def test_a_private_file_takes_the_place_of_a_readable_one(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("old")
    (tmp_path / "mine.txt").chmod(0o644)
    write_text(tmp_path / "mine.txt", "new", is_private=True)
    assert (tmp_path / "mine.txt").stat().st_mode & 0o777 == 0o600


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "f") as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="cannot be written: No space left"):
        fail()
    assert list(tmp_path.iterdir()) == []


_FULL = """
import resource, sys
import polars as pl
from elsewhere.cli.main import run
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
outputs, given = sys.argv.pop(1).split(), sys.argv
for output in outputs:
    sys.argv = [*given, "-o", output]
    try:
        run()
    except SystemExit as stop:
        print(stop.code)
"""


@pytest.mark.parametrize("room", [0, 600, 2000])
def test_a_full_disk_is_one_message_and_leaves_whole_files_only(
    tmp_path: Path, room: int, small_city: tuple[Path, Path]
) -> None:
    """For real: no file may grow beyond ``room`` bytes."""
    world, days = small_city
    outputs = [tmp_path / f"shared{suffix}" for suffix in (".csv", ".parquet", ".geojson")]
    command = [sys.executable, "-c", _FULL, str(room), " ".join(map(str, outputs))]
    command += ["perturb", str(days), "-w", str(world), "-m", "ngram", "-e", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.stdout.split() == ["2"] * 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("cannot be written") == 3
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert not [name for name in left if name.endswith(".part") or name.startswith("shared.csv.meta")]
    assert not any(output.exists() for output in outputs)
