"""A world file gives back the world, the same bytes for the same world, and nothing for a bad one."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from elsewhere.errors import WorldFileError
from elsewhere.knowledge.places import Place
from elsewhere.world.file import Content, content_of, hash_of, world_of
from elsewhere.world.schema import check_content
from elsewhere.world.world import World
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
        (b'{"format": "elsewhere-world", "version": 99}\nrest', "format 99"),
        (b'["elsewhere-world"]\n', "not a .world file"),
    ],
)
def test_foreign_and_newer_files_are_named_as_such(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "x.world"
    path.write_bytes(raw)
    with pytest.raises(WorldFileError, match=said):
        World.load(path)


def test_a_folder_or_nothing_is_not_a_world(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing.world"):
        with pytest.raises(WorldFileError, match="cannot be read"):
            World.load(path)


@given(st.data())
@examples(max_examples=150)
def test_no_index_of_a_strangers_file_leads_outside(saved: bytes, data: st.DataObject) -> None:
    """A well-hashed file with a wrong number in it is refused, or its numbers were harmless ones."""
    body = saved.partition(b"\n")[2]
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        facts = json.loads(archive.read("facts.json"))
        arrays = {
            name.removesuffix(".npy"): np.lib.format.read_array(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    check_content(facts, arrays)
    indices = [n for n, a in arrays.items() if a.dtype.kind in "iu" and a.size and "is_open" not in n]
    name = data.draw(st.sampled_from(sorted(indices)))
    broken = arrays[name].copy()
    limits = np.iinfo(broken.dtype)
    broken.flat[data.draw(st.integers(0, broken.size - 1))] = data.draw(
        st.sampled_from([limits.min, limits.max, 7, 1000 % limits.max])
    )
    arrays[name] = broken
    try:
        check_content(facts, arrays)
        world = world_of(Content(facts=facts, arrays=arrays))
    except (ValueError, KeyError):
        return
    for region in range(len(world.regions)):
        assert world.regions.places_of(region).max() < len(world.places)
        assert world.graph.successors(region).max(initial=0) < len(world.regions)
    assert world.distances.category(0, np.arange(len(world.regions))).size == len(world.regions)


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
