"""The folder of a data set: edited tables stay, a full disk leaves nothing half written."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.campus_files import read_campus
from elsewhere.errors import InputError


@pytest.mark.parametrize("name", ["places.csv", "categories.csv", "world.toml"])
def test_a_table_that_somebody_edited_is_not_overwritten(tmp_path: Path, name: str) -> None:
    write_dataset(tmp_path / "out", read_campus(people=5))
    write_dataset(tmp_path / "out", read_campus(people=6))  # as it was written: fine
    edited = (tmp_path / "out" / name).read_text() + "\n# mine\n"
    (tmp_path / "out" / name).write_text(edited)
    said = f"{name} was edited after it was written: choose another folder, or say --replace"
    with pytest.raises(InputError, match=said):
        write_dataset(tmp_path / "out", read_campus(people=7))
    assert (tmp_path / "out" / name).read_text() == edited
    write_dataset(tmp_path / "out", read_campus(people=7), replace_edited=True)
    assert "# mine" not in (tmp_path / "out" / name).read_text()


def test_no_digest_of_anybodys_days_is_kept(tmp_path: Path) -> None:
    write_dataset(tmp_path, read_campus(people=5))
    note = (tmp_path / "SOURCE.md").read_text()
    assert "| `places.csv` | `" in note
    assert hashlib.sha256((tmp_path / "trajectories.csv").read_bytes()).hexdigest() not in note


def test_tables_of_somebody_else_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text("mine")
    with pytest.raises(InputError, match=r"holds a world.toml of somebody else's"):
        write_dataset(tmp_path, read_campus(people=5))
    with pytest.raises(InputError, match="is a file, must be a folder"):
        write_dataset(tmp_path / "world.toml", read_campus(people=5))


def test_a_full_disk_is_one_message_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"trajectories.csv: cannot be written: No space left on device"):
        write_dataset(tmp_path / "out", read_campus(people=5))
    assert not (tmp_path / "out").exists()
