"""A person's own files: told apart by what they hold, zips looked through, wrong ones named."""

from __future__ import annotations

import zipfile
from pathlib import Path
from zoneinfo import ZoneInfo

from elsewhere.device.export_json import is_known_json, read_json
from elsewhere.device.export_text import read_csv, read_owntracks
from elsewhere.device.export_xml import read_xml
from elsewhere.device.fixes import Export, Raw
from elsewhere.errors import InputError

FORMATS = (
    "Google Timeline (JSON of Android or iOS), Takeout (zip, timelineObjects, Records.json), GPX, KML, KMZ, "
    "TCX, GeoJSON, OwnTracks .rec, CSV with lat, lng and datetime"
)
_ZIP = b"PK\x03\x04"
# The first bytes of files that people might give by mistake.
_FOREIGN = {
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"II*\x00": "an image",
    b"SQLite format 3": "a database",
    b"\xd0\xcf\x11\xe0": "an old Office document or spreadsheet: save it as CSV",
    b"PAR1": "a Parquet file",
    b"Rar!": "a RAR archive: unpack it",
    b"7z\xbc\xaf": "a 7z archive: unpack it",
    b"{\\rtf": "a text document",
}
_FOREIGN_LATER = {
    b"WEBP": "an image",
    b".FIT": "a FIT file of a watch: export GPX or TCX instead",
    b"heic": "an image",
    b"heix": "an image",
    b"mif1": "an image",
    b"avif": "an image",
    b"isom": "a video",
    b"mp42": "a video",
}
_FOREIGN_ZIPS = {"xl/": "a spreadsheet: save it as CSV", "word/": "a text document", "ppt/": "slides"}


def read_export(path: Path, timezone: str) -> Export:
    """A file, or all that a zip holds of places and times; times become local to ``timezone``."""
    zone = ZoneInfo(timezone)
    raws = _members(path)
    exports = [_read(raw, zone) for raw in raws]
    kinds = list(dict.fromkeys(export.kind for export in exports))
    stays = [stay for export in exports for stay in export.stays]
    fixes = [fix for export in exports for fix in export.fixes]
    # Points of these may lack their times. Of other kinds, what is empty is a day without any record.
    if not stays and not fixes and "GeoJSON" in kinds:
        raise InputError(str(path), f"is {' and '.join(kinds)}, but has no place with a time in it")
    return Export(" and ".join(kinds), stays, fixes)


def _read(raw: Raw, zone: ZoneInfo) -> Export:
    start = raw.start()
    if not start.strip():
        raise InputError(raw.name, "is empty")
    _refuse_foreign(raw, start)
    text = start.decode("utf-8-sig", "replace").lstrip("\ufeff").lstrip()
    line = text.splitlines()[0]
    if start[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise InputError(raw.name, "is UTF-16 text: save it as UTF-8")
    if text[:1] in {"{", "["}:
        return read_json(raw, zone)
    if text.startswith("<"):
        return read_xml(raw, zone)
    if "\t" in line and "_type" in line:
        return Export("OwnTracks", [], list(read_owntracks(raw, zone)))
    if any(mark in line for mark in ",;\t"):
        return Export("CSV", [], list(read_csv(raw, zone)))
    raise InputError(raw.name, f"is none of: {FORMATS}")


def _refuse_foreign(raw: Raw, start: bytes) -> None:
    """Say what a file is that is none of ours, rather than that nothing was found in it."""
    kind = next((kind for magic, kind in _FOREIGN.items() if start.startswith(magic)), None)
    kind = kind or _FOREIGN_LATER.get(start[8:12])
    if kind is not None:
        raise InputError(raw.name, f"is {kind}; must be one of: {FORMATS}")


def _members(path: Path) -> list[Raw]:
    """The file itself, or of a zip the files that may hold places and times."""
    if path.is_dir():
        raise InputError(str(path), "is a folder, must be a file: one of those in it, or a zip of it")
    try:
        with path.open("rb") as file:
            if file.read(4) != _ZIP:
                return [Raw(path)]
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/") and "__MACOSX" not in name]
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except zipfile.BadZipFile:
        raise InputError(
            str(path), "is truncated or damaged: unpack it by hand to see how far it goes"
        ) from None
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror or error}") from None
    kind = next(
        (kind for start, kind in _FOREIGN_ZIPS.items() if any(n.startswith(start) for n in names)), None
    )
    if "content.xml" in names and "mimetype" in names:
        kind = "an OpenDocument file, perhaps a spreadsheet: save it as CSV"
    if kind is not None:
        raise InputError(str(path), f"is {kind}; must be one of: {FORMATS}")
    if len(names) == 1:
        return [Raw(path)]  # whatever it is, as if it were not packed
    found = [raw for raw in (Raw(path, name) for name in sorted(names)) if _may_hold_places(raw)]
    if not found:
        raise InputError(str(path), f"is a zip of {len(names):,} files, none of which is one of: {FORMATS}")
    return found


def _may_hold_places(raw: Raw) -> bool:
    match Path(raw.member).suffix.lower():
        case ".json" | ".geojson":
            return is_known_json(raw.start())
        case ".gpx" | ".kml" | ".tcx":
            return True
        case _:
            return False
