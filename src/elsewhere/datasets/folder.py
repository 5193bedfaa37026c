"""The folder of a data set: nothing in it that somebody edited is ever overwritten unasked."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from elsewhere.errors import InputError

NOTE = "SOURCE.md"
BASEMAP = "basemap.pmtiles"
ROADS = {"nodes": "road_nodes.csv", "edges": "road_edges.csv"}
# Not the trajectories: a digest of people's days must not stand where public tables are described.
_TABLES = ("places.csv", "categories.csv", "world.toml", *ROADS.values())
_LINE = re.compile(r"^\| `([\w.]+)` \| `([0-9a-f]{64})` \|$", re.MULTILINE)
_BYTES_AT_ONCE = 1 << 20


def refuse_edited(folder: Path, *, replace: bool = False) -> None:
    """Tables must be as they were written, which `SOURCE.md` says; ``replace`` does not ask."""
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), "is a file, must be a folder")
    there = [name for name in _TABLES if (folder / name).exists()]
    if replace or not there:
        return
    how = "choose another folder, or say --replace"
    note = folder / NOTE
    if not note.is_file():
        raise InputError(str(folder), f"holds a {there[0]} of somebody else's: {how}")
    written = dict(_LINE.findall(note.read_text(encoding="utf-8", errors="replace")))
    edited = [name for name in there if _checksum(folder / name) != written.get(name)]
    if edited:
        raise InputError(str(folder), f"{', '.join(edited)} was edited after it was written: {how}")


def checksums(folder: Path) -> str:
    """Lines for `SOURCE.md` by which `refuse_edited` knows what was written."""
    lines = [f"| `{name}` | `{_checksum(folder / name)}` |" for name in _TABLES if (folder / name).exists()]
    return "\n".join(["| table, as written | sha256 |", "|---|---|", *lines]) + "\n"


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while some := file.read(_BYTES_AT_ONCE):
            digest.update(some)
    return digest.hexdigest()
