"""A world in a folder that cannot be written to: public tables go to the user's caches, or nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands import Command
from elsewhere import World
from elsewhere.cli.method import tables_folder
from worlds import build, place

DAYS = "uid,tid,datetime,place_id\n" + "".join(
    f"{who},1,2024-03-07T{hour}:00:00,{where}\n" for who in "abc" for hour, where in ((10, "p1"), (14, "p2"))
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [place(f"p{i}", 50 + i / 100, 10, hours="24/7") for i in range(1, 5)]
    build(tmp_path / "city", rows, {"kappa": 1}).save(tmp_path / "w.world")
    (tmp_path / "days.csv").write_text(DAYS)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path


def _share(elsewhere: Command, folder: Path, name: str, output: str) -> tuple[int, str]:
    code, _, err = elsewhere(
        "perturb", folder / "days.csv", "-w", folder / "w.world", "-m", name, "-e", 5, "-o", folder / output
    )
    return code, err


@pytest.mark.parametrize("name", ["global", "codebook"])
def test_tables_go_to_the_users_caches_where_they_cannot_stand_beside(
    elsewhere: Command, folder: Path, name: str
) -> None:
    (folder / "w.world.tables").write_text("a file in the way")
    assert _share(elsewhere, folder, name, "s.csv") == (0, "")
    kept = list((folder / "caches/elsewhere/tables").rglob("*.*"))
    assert kept
    stamps = [path.stat().st_mtime_ns for path in kept]
    assert _share(elsewhere, folder, name, "again.csv") == (0, "")
    assert [path.stat().st_mtime_ns for path in kept] == stamps  # they were used


@pytest.mark.parametrize("name", ["global", "codebook"])
def test_without_any_folder_sharing_goes_on(elsewhere: Command, folder: Path, name: str) -> None:
    (folder / "w.world.tables").write_text("a file in the way")
    (folder / "caches").write_text("another one")
    assert _share(elsewhere, folder, name, "s.csv") == (0, "")


def test_a_read_only_folder_is_seen_before_anything_is_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World.load(folder / "w.world")
    assert tables_folder(folder / "w.world", world) == folder / "w.world.tables"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert tables_folder(folder / "w.world", world) == folder / "caches/elsewhere/tables" / world.hash[:16]
    assert not (folder / "w.world.tables").exists()
