"""Worlds that leave out which region can follow which: for cities of very many regions."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from commands import Command
from elsewhere.errors import InputError
from elsewhere.methods.registry import METHODS, method
from elsewhere.randomness import SeededRandomness
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.survey import Terms, make_survey
from elsewhere.trajectories import Trajectory
from elsewhere.world import build as building
from elsewhere.world.file import Content, content_of, parts_to_bytes
from elsewhere.world.schema import check_content
from elsewhere.world.summary import summarise
from elsewhere.world.update import update_world
from elsewhere.world.world import World
from worlds import TREE, build, place, write_world_files

_ROWS = [place(f"p{i}", 50 + i * 0.01, 10 + i % 3 * 0.01, TREE.ids[i % 8], hours="24/7") for i in range(12)]
_DAY = Trajectory([("p1", 60), ("p4", 90)])


@pytest.fixture
def world(tmp_path: Path) -> World:
    return build(tmp_path / "tables", _ROWS, {"kappa": 2, "graph": False})


@pytest.mark.parametrize("name", ["codebook", "ind-noreach", "ngram-noh"])
def test_methods_without_regions_share_with_it(world: World, name: str) -> None:
    shared_by = method(name, world, epsilon=5, **METHODS[name].tiny)
    assert len(shared_by.share_batch([_DAY], randomness=SeededRandomness(1)).shared) == 1


def test_ngram_says_what_it_needs(world: World) -> None:
    with pytest.raises(InputError, match="graph = true"):
        method("ngram", world, epsilon=5)


def test_surveys_can_be_asked_about_it(world: World) -> None:
    question = question_of("presence", {"grid": 2, "hours": 1})
    survey = make_survey(world, Terms(epsilon=Fraction(5)), [(question, Fraction(1))])
    assert survey.questions[0].things.count > 0


def test_only_the_graph_is_left_out(tmp_path: Path, world: World) -> None:
    whole = build(tmp_path / "tables", _ROWS, {"kappa": 2})
    ours, theirs = content_of(world).arrays, content_of(whole).arrays
    assert {name for name in ours if not np.array_equal(ours[name], theirs[name])} == {"graph.words"}
    assert "graph" not in whole.settings.plain()
    assert whole.hash != world.hash


def test_it_is_saved_loaded_and_updated(tmp_path: Path, world: World) -> None:
    world.save(tmp_path / "w.world")
    loaded = World.load(tmp_path / "w.world")
    assert loaded == world
    assert not loaded.graph.is_known
    (tmp_path / "changes.csv").write_text("place_id,hours\np1,10:00-12:00\n")
    changed = [replace(row, hours="10:00-12:00") if row.place_id == "p1" else row for row in _ROWS]
    rebuilt = build(tmp_path / "again", changed, {"kappa": 2, "graph": False})
    assert update_world(loaded, tmp_path / "changes.csv") == rebuilt


def test_its_summary_has_no_ngrams(world: World) -> None:
    assert summarise(world)["ngrams"] == []
    with pytest.raises(InputError, match="graph = true"):
        world.graph.ngram_count(2)


def _as_read(world: World) -> Content:
    """What a file of it holds, as JSON has it."""
    content = content_of(world)
    return Content(facts=json.loads(json.dumps(content.facts)), arrays=content.arrays)


@pytest.mark.parametrize("graph", [True, None, 0, "no"])
def test_a_file_cannot_claim_a_graph_that_it_does_not_have(world: World, graph: object) -> None:
    content = _as_read(world)
    check_content(content.facts, content.arrays)
    forged = {**content.facts, "settings": {**content.facts["settings"], "graph": graph}}
    with pytest.raises(ValueError, match="graph"):
        check_content(forged, content.arrays)


def test_a_file_cannot_have_a_graph_that_it_denies(tmp_path: Path, world: World) -> None:
    whole = build(tmp_path / "tables", _ROWS, {"kappa": 2})
    content = _as_read(world)
    with pytest.raises(ValueError, match=r"graph\.words is"):
        check_content(content.facts, {**content.arrays, "graph.words": whole.graph.words})


def test_more_regions_than_a_graph_can_have_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "MOST_REGIONS", 3)
    with pytest.raises(InputError, match="graph = false"):
        build(tmp_path, _ROWS, {"kappa": 2})
    assert len(build(tmp_path, _ROWS, {"kappa": 2, "graph": False}).regions) > 3


def test_worlds_with_a_graph_keep_their_bytes(tmp_path: Path) -> None:
    said = build(tmp_path / "said", _ROWS, {"kappa": 2, "graph": True})
    unsaid = build(tmp_path / "unsaid", _ROWS, {"kappa": 2})
    assert parts_to_bytes(said, said.hash) == parts_to_bytes(unsaid, unsaid.hash)


def test_the_command_line_says_that_it_is_left_out(elsewhere: Command, tmp_path: Path) -> None:
    write_world_files(tmp_path, _ROWS, {})
    settings = tmp_path / "world.toml"
    settings.write_text('places = "places.csv"\ncategories = "categories.csv"\nkappa = 2\n')
    code, out, _ = elsewhere("world", "build", settings, "--no-graph", "-o", tmp_path / "w.world")
    assert code == 0
    assert "graph = false" in out
    code, _, err = elsewhere("audit", tmp_path / "w.world", "-m", "ngram", "-e", 5)
    assert code == 2
    assert "graph = true" in err
    assert "Traceback" not in err
