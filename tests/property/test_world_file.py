"""A world file gives back the world, the same bytes for the same world, and nothing for a bad one."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsewhere.errors import WorldFileError
from elsewhere.knowledge.places import Place
from elsewhere.world import schema
from elsewhere.world.file import content_of, hash_of
from elsewhere.world.schema import check_content
from elsewhere.world.world import World
from examples import examples
from worlds import build, place, world_inputs

Inputs = tuple[list[Place], dict[str, Any]]


@given(world_inputs())
def test_load_gives_what_was_saved(tmp_path: Path, inputs: Inputs) -> None:
    world = build(tmp_path, *inputs)
    world.save(tmp_path / "a.world")
    loaded = World.load(tmp_path / "a.world")
    assert loaded == world
    assert loaded.hash == world.hash
    before, after = content_of(world), content_of(loaded)
    assert json.dumps(before.facts, sort_keys=True) == json.dumps(after.facts, sort_keys=True)
    assert before.arrays.keys() == after.arrays.keys()
    for name, array in before.arrays.items():
        np.testing.assert_array_equal(array, after.arrays[name])
    loaded.save(tmp_path / "b.world")
    assert (tmp_path / "a.world").read_bytes() == (tmp_path / "b.world").read_bytes()


@given(world_inputs(), st.randoms())
def test_the_order_of_rows_does_not_matter(tmp_path: Path, inputs: Inputs, random: Any) -> None:
    rows, keys = inputs
    world = build(tmp_path, rows, keys)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert build(tmp_path, shuffled, keys) == world


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("world")
    rows = [place(f"p{i}", 50 + i * 0.01, 10, hours="24/7") for i in range(5)]
    build(folder, rows, {"kappa": 2}).save(folder / "w.world")
    return (folder / "w.world").read_bytes()


@given(st.data())
@examples(max_examples=200)
def test_any_flipped_or_missing_byte_is_noticed(tmp_path: Path, saved: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(saved) - 1))
    if data.draw(st.booleans()):
        damaged = saved[:position]
    else:
        flip = data.draw(st.integers(1, 255))
        damaged = saved[:position] + bytes([saved[position] ^ flip]) + saved[position + 1 :]
    path = tmp_path / "damaged.world"
    path.write_bytes(damaged)
    with pytest.raises(WorldFileError):
        World.load(path)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not a .world file"),
        (b"PK\x03\x04 something else", "not a .world file"),
        (b'{"format": "elsewhere-world", "version": 99}\nrest', "needs a newer elsewhere .world format 99"),
        (b'{"format": "elsewhere-world", "version": 0}\nrest', "made by an older elsewhere .world format 0"),
        (b'{"format": "elsewhere-world", "version": 0}\nrest', "again with `elsewhere world build`"),
        (b'{"format": "elsewhere-world", "version": "1"}\nrest', "says no world format"),
        (b'["elsewhere-world"]\n', "not a .world file"),
    ],
)
def test_foreign_older_and_newer_files_are_named_as_such(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "x.world"
    path.write_bytes(raw)
    with pytest.raises(WorldFileError, match=said):
        World.load(path)


def test_a_folder_or_nothing_is_not_a_world(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.world"):
        with pytest.raises(WorldFileError, match="cannot be read"):
            World.load(path)


def _opened(saved: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    with zipfile.ZipFile(io.BytesIO(saved.partition(b"\n")[2])) as archive:
        facts = json.loads(archive.read("facts.json"))
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    check_content(facts, arrays)
    return facts, arrays


def test_no_index_may_be_one_too_large_or_too_small(saved: bytes) -> None:
    """Every array of indices, at its first and last entry: the limit itself is already outside."""
    facts, arrays = _opened(saved)
    specs = {**schema._REQUIRED, **schema._STRAIGHT_LINE}
    sizes = schema._sizes(specs, arrays, schema._known_sizes(facts))
    checked = 0
    for name, spec in specs.items():
        if spec.below is None:
            continue
        limit = schema._size(spec.below, sizes)
        for value in (limit, spec.least - 1):
            for position in (0, -1):
                broken = arrays[name].copy()
                if not np.iinfo(broken.dtype).min <= value <= np.iinfo(broken.dtype).max:
                    continue
                broken.flat[position] = value
                with pytest.raises(ValueError, match=name.split(".")[-1]):
                    check_content(facts, {**arrays, name: broken})
                checked += 1
    assert checked > 40


_NAN = float("nan")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("regions.ends", lambda a: np.maximum(a - 200, 1), r"middle|ends before"),
        ("regions.mid_hours", lambda a: a + 1, "middle"),
        ("regions.vectors", lambda a: a * 2, "globe"),
        ("regions.vectors", lambda a: a * _NAN, "not a number"),
        ("regions.cells", lambda a: a - 5, "label"),
        ("regions.cells", lambda a: a + 999, "label"),
        ("regions.time_levels", lambda a: a + 77, "time_levels"),
        ("regions.region_of", lambda a: a * 0 - 1, "opening hours"),
        ("places.latitudes", lambda a: a + 100, "globe"),
        ("places.popularity", lambda a: a - 2, "0 or more"),
        ("places.ids.ends", lambda a: a[::-1].copy(), "must not fall"),
        ("travel.thresholds", lambda a: a[::-1].copy(), "longer way"),
        ("travel.steps_at", lambda a: a[:, ::-1].copy(), "longer way"),
        ("tree.parents", lambda a: np.arange(len(a), dtype=a.dtype), "disagree"),
        ("tree.lineage", lambda a: a * 0 - 1, "lineage"),
        ("distances.category_table", lambda a: -a, "table of distances"),
        ("graph.words", lambda a: a.astype(">u8"), "graph.words is"),
        ("is_open", lambda a: a * 0, "opening hours"),
    ],
)  # fmt: skip
def test_numbers_that_make_no_sense_are_refused(saved: bytes, name: str, value: Any, said: str) -> None:
    facts, arrays = _opened(saved)
    with pytest.raises(ValueError, match=said):
        check_content(facts, {**arrays, name: value(arrays[name])})


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("max_distance", _NAN),
        ("max_distance", -1.0),
        ("max_distance", "abc"),
        ("time_cap_hours", None),
        ("is_circular", [1]),
        ("space_labels", "abc"),
        ("space_labels", [[]]),
        ("settings", {}),
        ("clock", {"timestep_minutes": 60.5}),
        ("travel", "StepTable"),
        ("more", 1),
    ],
)
def test_facts_that_make_no_sense_are_refused(saved: bytes, fact: str, value: Any) -> None:
    facts, arrays = _opened(saved)
    with pytest.raises((ValueError, KeyError)):
        check_content({**facts, fact: value}, arrays)


def _forged(saved: bytes, change: Any) -> bytes:
    """A file whose checksum is right and whose inside is not."""
    line, _, body = saved.partition(b"\n")
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(*change(name, old.read(name)))
    head = json.loads(line) | {"sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    return json.dumps(head).encode() + b"\n" + buffer.getvalue()


@pytest.mark.parametrize(
    "change",
    [
        lambda name, data: (name, b"[" * 100_000 if name == "facts.json" else data),
        lambda name, data: (name, b"\x93NUMPY\x01\x00" + b"(" * 9000 if name == "is_open.npy" else data),
        lambda name, data: ("other.npy" if name == "is_open.npy" else name, data),
        lambda name, data: (name, b"" if name == "graph.words.npy" else data),
        lambda name, data: (name, data.replace(b'"Wed"', b'"Thu"') if name == "facts.json" else data),
    ],
)
def test_forged_files_are_refused_without_a_traceback(tmp_path: Path, saved: bytes, change: Any) -> None:
    (tmp_path / "forged.world").write_bytes(_forged(saved, change))
    with pytest.raises(WorldFileError):
        World.load(tmp_path / "forged.world")


_BAD_SETTINGS = [
    {"lengths": ()}, {"lengths": (0.0,)}, {"lengths": ("a",)}, {"lengths": 5}, {"lengths": (-1.0, 2.0)},
    {"lengths": (_NAN,)}, {"lengths": (1.0,) * 1000}, {"start_by_hour": (1.0,) * 23},
    {"start_by_hour": (0.0,) * 24}, {"start_by_hour": (math.inf,) * 24}, {"decay_km": 0.0},
    {"decay_km": (1.0, 2.0)}, {"decay_km": _NAN}, {"mean_gap_minutes": 0.0}, {"mean_gap_minutes": _NAN},
    {"category_levels": 0}, {"category_levels": (1, 2)}, {"category_levels": 1.5},
    {"category_weights": ("x",)}, {"category_weights": (_NAN,)}, {"category_weights": (-1.0,)},
    {"unrelated_category_distance": _NAN}, {"unrelated_category_distance": -1.0},
]  # fmt: skip


@pytest.mark.parametrize("bad", _BAD_SETTINGS, ids=lambda bad: str(bad)[:40])
def test_settings_that_compiled_loops_would_trip_over_are_refused(
    tmp_path: Path, saved: bytes, bad: dict[str, Any]
) -> None:
    """A file from anyone: days are made and compared by these numbers, with nothing checked any more."""
    (tmp_path / "good.world").write_bytes(saved)
    world = World.load(tmp_path / "good.world")
    settings = world.settings
    if set(bad) <= {field.name for field in fields(settings.prior)}:
        settings = replace(settings, prior=replace(settings.prior, **bad))
    else:
        settings = replace(settings, **bad)
    parts = {name: value for name, value in vars(world).items() if name not in {"hash", "place_index"}}
    World(**{**parts, "settings": settings}).save(tmp_path / "bad.world")
    with pytest.raises(WorldFileError):
        World.load(tmp_path / "bad.world")


def test_a_first_line_without_end_is_no_world(tmp_path: Path) -> None:
    (tmp_path / "deep.world").write_bytes(b"[" * 1020 + b"\n")
    with pytest.raises(WorldFileError, match=r"not a .world file"):
        World.load(tmp_path / "deep.world")


def test_worlds_never_change(tmp_path: Path) -> None:
    world = build(tmp_path, [place("a", 50, 10)], {"kappa": 1})
    for array in (world.graph.words, world.places.latitudes, world.regions.starts, world.is_open):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_the_hash_tells_worlds_apart(tmp_path: Path) -> None:
    rows = [place("a", 50, 10), place("b", 50.01, 10)]
    world = build(tmp_path, rows, {"kappa": 1})
    slower = build(tmp_path, rows, {"kappa": 1, "speed_kmh": 7.9})
    assert world != slower
    assert hash_of(content_of(world)) == world.hash != slower.hash
