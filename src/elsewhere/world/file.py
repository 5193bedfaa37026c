"""The `.world` file: one line that says what it is, then a zip of plain arrays and one JSON text.

The line holds the format version, the world's content hash (over names, types, shapes and bytes of
all arrays, whatever the compression) and a checksum of the rest of the file. Nothing is unpickled,
and every index is checked before use, so a file from a stranger can do no more than be refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from elsewhere.errors import WorldFileError
from elsewhere.files import whole_file
from elsewhere.knowledge.categories import CategoryTree
from elsewhere.knowledge.clock import Clock
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.travel import RoadNetwork, StepTable, StraightLine
from elsewhere.world.distances import region_distances
from elsewhere.world.graph import RegionGraph, degrees_of
from elsewhere.world.measure import is_known_distance, unknown_distance
from elsewhere.world.parts import WorldParts
from elsewhere.world.regions import MergeReport, MergeStep, Polygons, Regions
from elsewhere.world.schema import array_names, check_content
from elsewhere.world.settings import settings_from_plain

FORMAT = "elsewhere-world"
# A new one whenever the same content would mean other days, too: the hash names what is made of a world.
VERSION = 3
_LONGEST_FIRST_LINE = 1024
_MOST_BYTES = 4 << 30
# Zip entries carry a date; a fixed one keeps the same world the same bytes.
_NO_DATE = (1980, 1, 1, 0, 0, 0)

Arrays = dict[str, NDArray[Any]]
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A world as plain data: small things in ``facts``, all else in arrays."""

    facts: dict[str, Any]
    arrays: Arrays


def content_of(world: WorldParts) -> Content:
    """A world taken apart."""
    facts = {
        "settings": world.settings.plain(),
        "clock": asdict(world.clock),
        "space_labels": world.space_labels,
        "merge_report": asdict(world.merge_report),
        "max_distance": world.max_distance,
        "travel": type(world.travel).__name__,
    }
    arrays: Arrays = {
        "is_open": np.packbits(world.is_open, axis=1),
        "graph.words": world.graph.words,
        "distances.kinds": world.distances.kinds,
        "distances.category_table": world.distances.category_table,
    }
    if world.space_table is not None:
        arrays["space_table"] = world.space_table
    for prefix in ("tree", "places", "regions", "travel", "roads", "polygons"):
        arrays |= _packed(prefix, getattr(world, prefix))
    # What the travel model shares with the places is stored once.
    for shared in ("travel.vectors", "travel.is_anywhere"):
        arrays.pop(shared, None)
    return Content(facts=facts, arrays=arrays)


def parts_of(content: Content) -> WorldParts:
    """A world put together again; the content must have been checked."""
    facts, arrays = content.facts, content.arrays
    places = _unpacked(Places, "places", arrays)
    regions = _unpacked(Regions, "regions", arrays)
    clock = Clock(**facts["clock"])
    if facts["travel"] == "StraightLine":
        shared = {"travel.vectors": places.vectors, "travel.is_anywhere": places.is_anywhere}
        travel: StraightLine | StepTable = _unpacked(StraightLine, "travel", arrays | shared)
    else:
        travel = _unpacked(StepTable, "travel", arrays)
    settings = settings_from_plain(facts["settings"])
    if not is_known_distance(settings.distance.combine):
        raise WorldFileError(unknown_distance(settings.distance.combine))
    words, table = arrays["graph.words"], arrays.get("space_table")
    tree = _unpacked(CategoryTree, "tree", arrays)
    for name, ids in (("places", places.ids), ("categories", tree.ids)):
        if any(not before < after for before, after in pairwise(("", *ids))):
            raise ValueError(f"ids of {name} are not in order, or not unique")
    return WorldParts(
        settings=settings,
        clock=clock,
        tree=tree,
        places=places,
        is_open=np.unpackbits(arrays["is_open"], axis=1, count=clock.timesteps).astype(np.bool_),
        regions=regions,
        space_labels=tuple(tuple(labels) for labels in facts["space_labels"]),
        merge_report=_merge_report(facts["merge_report"]),
        travel=travel,
        graph=RegionGraph(words=words, out_degrees=degrees_of(words)),
        distances=region_distances(
            regions,
            places,
            settings,
            clock,
            kinds=arrays["distances.kinds"],
            category_table=arrays["distances.category_table"],
            table=table,
        ),
        max_distance=facts["max_distance"],
        roads=_unpacked(RoadNetwork, "roads", arrays) if "roads.origins" in arrays else None,
        polygons=_unpacked(Polygons, "polygons", arrays) if "polygons.names" in arrays else None,
        space_table=table,
    )


def _merge_report(plain: dict[str, Any]) -> MergeReport:
    return MergeReport(**{**plain, "steps": tuple(MergeStep(**step) for step in plain["steps"])})


def hash_of(content: Content) -> str:
    """sha256 over everything that makes the world what it is."""
    digest = hashlib.sha256(f"{FORMAT} {VERSION}\n".encode() + _json(content.facts))
    for name, array in sorted(content.arrays.items()):
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def parts_to_bytes(world: WorldParts, content_hash: str) -> bytes:
    """A world as a `.world` file has it; the same world gives the same bytes."""
    body = _zipped(content_of(world))
    head = {
        "format": FORMAT,
        "version": VERSION,
        "hash": content_hash,
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return _json(head) + b"\n" + body


def write_parts(world: WorldParts, path: Path, content_hash: str) -> None:
    """Write a world to ``path``, whole or not at all."""
    with whole_file(path) as file:
        file.write(parts_to_bytes(world, content_hash))


def read_parts(path: Path) -> WorldParts:
    """Read and check a `.world` file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise WorldFileError(f"{path}: cannot be read: {error.strerror}") from None
    return parts_from_bytes(raw, str(path))


def parts_from_bytes(raw: bytes, source: str) -> WorldParts:
    """A world from what stands in a `.world` file; ``source`` is what errors blame."""
    line, _, body = raw.partition(b"\n")
    head = _first_line(line, source)
    if hashlib.sha256(body).hexdigest() != head.get("sha256"):
        raise WorldFileError(f"{source}: truncated or corrupted, its checksum does not match; get it again")
    try:
        content = _unzipped(body)
        check_content(content.facts, content.arrays)
        world = parts_of(content)
        is_true = hash_of(content_of(world)) == head.get("hash")
    except WorldFileError as error:
        raise WorldFileError(f"{source}: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever a stranger's file provokes, it is the file's fault
        reason = str(error) or type(error).__name__
        raise WorldFileError(f"{source}: not a well-formed world: {reason}") from None
    if not is_true:
        raise WorldFileError(f"{source}: its content is not what its hash says; get it again")
    return world


def _first_line(line: bytes, source: str) -> dict[str, Any]:
    try:
        head = json.loads(line) if len(line) <= _LONGEST_FIRST_LINE else None
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise WorldFileError(f"{source}: not a .world file; `elsewhere world build` makes one")
    version = head.get("version")
    if type(version) is not int:
        raise WorldFileError(f"{source}: says no world format; `elsewhere world build` makes it anew")
    if version < VERSION:
        raise WorldFileError(
            f"{source}: made by an older elsewhere (world format {version}, now {VERSION}): build it again "
            "with `elsewhere world build`"
        )
    if version > VERSION:
        raise WorldFileError(
            f"{source}: needs a newer elsewhere (world format {version}, this program reads {VERSION})"
        )
    return head


def _zipped(content: Content) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        _write_entry(archive, "facts.json", _json(content.facts))
        for name, array in sorted(content.arrays.items()):
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            _write_entry(archive, f"{name}.npy", entry.getbuffer())
    return buffer.getvalue()


def _write_entry(archive: zipfile.ZipFile, name: str, data: bytes | memoryview) -> None:
    info = zipfile.ZipInfo(name, date_time=_NO_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data, compresslevel=1)


def _unzipped(body: bytes) -> Content:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _MOST_BYTES:
            raise ValueError("it would unpack to more than 4 GiB")
        if any(entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for entry in entries):
            raise ValueError("a compression that worlds do not use")
        names = [entry.filename for entry in entries]
        expected = {"facts.json"} | {f"{name}.npy" for name in array_names()}
        if len(set(names)) < len(names) or not set(names) <= expected:
            raise ValueError("entries that worlds do not have")
        facts = json.loads(archive.read("facts.json"))
        arrays = {}
        for name in names:
            if name.endswith(".npy"):
                buffer = io.BytesIO(archive.read(name))
                array = np.lib.format.read_array(buffer, allow_pickle=False)
                arrays[name.removesuffix(".npy")] = np.ascontiguousarray(array)
    return Content(facts=facts, arrays=arrays)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def _packed(prefix: str, record: object) -> Arrays:
    """Fields of a record as arrays; texts become one run of bytes and the places where each ends."""
    arrays: Arrays = {}
    for field in fields(record) if record is not None else ():  # type: ignore[arg-type]  # always a dataclass
        value = getattr(record, field.name)
        if isinstance(value, tuple):
            encoded = [item if isinstance(item, bytes) else item.encode("utf-8") for item in value]
            arrays[f"{prefix}.{field.name}"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
            arrays[f"{prefix}.{field.name}.ends"] = np.cumsum([len(item) for item in encoded], dtype=np.int64)
        else:
            arrays[f"{prefix}.{field.name}"] = value
    return arrays


def _unpacked(kind: type[Record], prefix: str, arrays: Arrays) -> Record:
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]  # always a dataclass
        name = f"{prefix}.{field.name}"
        values[field.name] = arrays[name]
        if f"{name}.ends" in arrays:
            run, ends = arrays[name].tobytes(), arrays[f"{name}.ends"].tolist()
            items = [run[start:end] for start, end in zip([0, *ends], ends, strict=False)]
            is_text = "bytes" not in str(field.type)
            values[field.name] = tuple(item.decode("utf-8") if is_text else item for item in items)
    return kind(**values)
