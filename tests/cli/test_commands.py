"""The commands as a person runs them: good input, bad input, nothing half-written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from commands import Command
from elsewhere.cli.console import facts_table, out, table, warn
from elsewhere.cli.main import app
from elsewhere.methods.registry import METHODS
from elsewhere.world.settings import GridSpace, Kappa, SpeedTravel
from elsewhere.world.world import World
from worlds import HOURS, TREE, place, write_world_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tables and settings of a small good world."""
    rows = [
        place(f"p{i}", 50 + i * 0.01, 10 + i % 3 * 0.01, TREE.ids[i % 8], hours="24/7") for i in range(12)
    ]
    write_world_files(tmp_path, rows, {})
    (tmp_path / "world.toml").write_text('places = "places.csv"\ncategories = "categories.csv"\nkappa = 3\n')
    return tmp_path


def test_campus_to_world_to_page(elsewhere: Command, tmp_path: Path) -> None:
    code, out, _ = elsewhere("dataset", "campus", "-o", tmp_path / "campus", "--people", 30)
    assert code == 0
    assert "262" in out
    assert sorted(path.name for path in (tmp_path / "campus").iterdir()) == [
        "SOURCE.md", "categories.csv", "places.csv", "trajectories.csv", "world.toml",
    ]  # fmt: skip
    code, out, _ = elsewhere("world", "build", tmp_path / "campus/world.toml", "-o", tmp_path / "c.world")
    assert code == 0
    assert "2-grams" in out
    code, out, _ = elsewhere("world", "show", tmp_path / "c.world", "--map", tmp_path / "c.html")
    assert code == 0
    assert World.load(tmp_path / "c.world").hash in out.replace("\n", "")
    page = (tmp_path / "c.html").read_text()
    assert "A world of 262 places" in page
    assert "too far to travel" in page
    # Nothing is loaded from anywhere: no tag outside the scripts names a source.
    without_scripts = re.sub(r"<script[^>]*>.*?</script>", "<script></script>", page, flags=re.DOTALL)
    assert len(without_scripts) > 2000
    assert not re.findall(r"<[^>]+\b(?:src|href)\s*=", without_scripts)
    assert not re.findall(r"<script[^>]+src\s*=", page)


def test_json_is_all_there_is_on_standard_output(elsewhere: Command, folder: Path) -> None:
    code, out, _ = elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world", "--json")
    built = json.loads(out)
    assert code == 0
    _, out, _ = elsewhere("world", "show", folder / "w.world", "--json")
    shown = json.loads(out)
    assert {key: value for key, value in built.items() if key != "seconds"} == shown
    assert shown["places"] == 12
    assert shown["ngrams"][1]["feasible"] == World.load(folder / "w.world").graph.bigrams


def test_options_override_the_settings(elsewhere: Command, folder: Path) -> None:
    options = ["--kappa", 1, "--speed-kmh", "inf", "--grid", 2, "--day", "Sun", "--timestep-minutes", 30]
    code, _, _ = elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world", *options)
    assert code == 0
    settings = World.load(folder / "w.world").settings
    assert settings.kappa.least == 1
    assert settings.travel == SpeedTravel(speed_kmh=float("inf"))
    assert (settings.space, settings.day, settings.timestep_minutes) == (GridSpace(cells=2), "Sun", 30)


def test_update_equals_build_on_the_changed_table(elsewhere: Command, folder: Path) -> None:
    elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    (folder / "changes.csv").write_text("place_id,hours,remove\np1,10:00-12:00,\np2,,yes\n")
    code, _, _ = elsewhere(
        "world", "update", folder / "w.world", "--places", folder / "changes.csv", "-o", folder / "g.world"
    )
    assert code == 0
    lines = (folder / "places.csv").read_text().splitlines()
    kept = [line.replace("24/7", "10:00-12:00") if line.startswith("p1,") else line for line in lines]
    (folder / "places2.csv").write_text("\n".join(line for line in kept if not line.startswith("p2,")) + "\n")
    elsewhere(
        "world", "build", folder / "world.toml", "--places", folder / "places2.csv", "-o", folder / "h.world"
    )
    assert (folder / "g.world").read_bytes() == (folder / "h.world").read_bytes()


_PLACES = "place_id,name,lat,lng,category,hours\n"


@pytest.mark.parametrize(
    ("places", "settings", "said"),
    [
        (_PLACES + "a,A,50,10,cafe,\na,B,50,10,cafe,\n", "", "row 3, column place_id: found 'a' again"),
        (_PLACES + ",A,50,10,cafe,\n", "", "row 2, column place_id: is empty"),
        (_PLACES + "a,A,95,10,cafe,\n", "", "row 2, column lat: found '95', must be between -90 and 90"),
        (_PLACES + "a,A,-123.2,49.2,cafe,\n", "", "swapped"),
        (_PLACES + "a,A,50,10,zoo,\n", "", "row 2, column category: found 'zoo'"),
        (_PLACES + "a,A,50,10,cafe,whenever\n", "", "row 2, column hours: found 'whenever'"),
        (_PLACES, "", "holds no place"),
        (_PLACES + "a,A,50,10,cafe,\n", "kappa = 2\n", "kappa: 2 is larger than the world"),
        (_PLACES + "a,A,50,10,cafe,\n", "speed_kmh = 0\n", "speed_kmh: found 0, must be a speed"),
        (_PLACES + "a,A,50,10,cafe,Mo 10:00-12:00\n", "kappa = 1\n", "no place is open on Wed"),
        (None, "", "no such file"),
    ],
)  # fmt: skip
def test_bad_input_is_one_message_exit_2_and_no_file(
    elsewhere: Command, folder: Path, places: str | None, settings: str, said: str
) -> None:
    (folder / "places.csv").unlink()
    if places is not None:
        (folder / "places.csv").write_text(places)
    (folder / "world.toml").write_text('places = "places.csv"\ncategories = "categories.csv"\n' + settings)
    before = sorted(folder.iterdir())
    code, out, err = elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert said in err
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


def test_a_cycle_in_the_tree(elsewhere: Command, folder: Path) -> None:
    (folder / "categories.csv").write_text("category_id,name,parent_id\na,A,b\nb,B,a\n")
    code, _, err = elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    assert code == 2
    assert "'a' is its own ancestor" in err
    assert "'b' is its own ancestor" in err


def test_an_old_world_survives_a_failed_build(elsewhere: Command, folder: Path) -> None:
    elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    before = (folder / "w.world").read_bytes()
    (folder / "places.csv").write_text(_PLACES)
    code, _, _ = elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    assert code == 2
    assert (folder / "w.world").read_bytes() == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["world", "show", "nothing.world"],
        ["world", "show", "places.csv"],
        ["world", "build", "world.toml"],
        ["world", "build", "world.toml", "-o", "places.csv/w.world"],
        ["world", "build", "world.toml", "-o", "w.world", "--kappa", "many"],
        ["world", "build", "world.toml", "-o", "w.world", "--kappa", "nan"],
        ["world", "build", "world.toml", "-o", "w.world", "--merge-order", "space,space"],
        ["dataset", "campus", "-o", "campus", "--people", "0"],
        ["dataset", "campus", "-o", "campus", "--raw", "nothing.csv"],
        ["dataset", "atlantis", "-o", "x"],
    ],
)
def test_bad_commands_exit_2_without_a_traceback(
    elsewhere: Command, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    code, _, err = elsewhere(*arguments)
    assert code == 2
    assert err
    assert "Traceback" not in err
    assert sorted(folder.iterdir()) == before


def test_a_damaged_world_is_named(elsewhere: Command, folder: Path) -> None:
    elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    raw = (folder / "w.world").read_bytes()
    (folder / "cut.world").write_bytes(raw[:-100])
    code, _, err = elsewhere("world", "show", folder / "cut.world")
    assert code == 2
    assert "truncated or corrupted" in err


def _commands(group: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Every command below a group, by the words that call it."""
    context = typer.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, *path, name)
        else:
            yield " ".join([*path, name]), command


def test_every_command_has_a_help_text_with_an_example() -> None:
    commands = dict(_commands(typer.main.get_command(app)))
    assert set(commands) == {
        "audit", "demo", "evaluate", "experiment", "dataset campus", "dataset checkins", "dataset fixes",
        "dataset foursquare", "dataset osm", "dataset personal", "dataset stays",
        "dataset safegraph", "dataset taxi", "dataset taxi-made", "ledger show", "live", "perturb", "plan",
        "share", "world build", "world levels", "world show", "world update",
        "survey answer", "survey backup", "survey create", "survey estimate", "survey export",
        "survey invite", "survey next", "survey page", "survey send", "survey serve", "survey show",
        "survey simulate",
    }  # fmt: skip
    for name, command in commands.items():
        assert f"Example: elsewhere {name}" in (command.help or "")


def test_the_hours_of_these_tests_are_all_valid() -> None:
    from elsewhere.knowledge.hours import hours_problem  # noqa: PLC0415 - used only here

    assert [hours for hours in HOURS if hours and hours_problem(hours)] == []


def test_an_output_never_replaces_an_input(elsewhere: Command, folder: Path) -> None:
    for name in ("places.csv", "categories.csv", "world.toml"):
        before = (folder / name).read_bytes()
        code, _, err = elsewhere("world", "build", folder / "world.toml", "-o", folder / name)
        assert code == 2
        assert "is one of the inputs" in err
        assert (folder / name).read_bytes() == before


def test_what_is_not_a_plain_file_is_not_replaced(elsewhere: Command, folder: Path) -> None:
    os.mkfifo(folder / "pipe.world")
    (folder / "sub.world").mkdir()
    for name, said in (
        ("pipe.world", "not a plain file"),
        ("sub.world", "is a folder"),
        ("w.zip", "must end in .world"),
        ("places.csv/w.world", "not a folder"),
    ):
        code, _, err = elsewhere("world", "build", folder / "world.toml", "-o", folder / name)
        assert code == 2
        assert said in err
    assert (folder / "pipe.world").is_fifo()
    assert elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")[0] == 0
    code, _, err = elsewhere("world", "show", folder / "w.world", "--map", folder / "m.pdf")
    assert (code, "m.pdf: must end in .html" in err) == (2, True)


def test_links_are_followed(elsewhere: Command, folder: Path) -> None:
    (folder / "link.world").symlink_to(folder / "target.world")
    code, _, _ = elsewhere("world", "build", folder / "world.toml", "-o", folder / "link.world")
    assert code == 0
    assert (folder / "link.world").is_symlink()
    assert World.load(folder / "target.world") == World.load(folder / "link.world")


def test_a_bad_option_is_blamed_on_the_option(elsewhere: Command, folder: Path) -> None:
    code, _, err = elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world", "--kappa", 0)
    assert code == 2
    assert "--kappa: found 0.0, must be greater than 0" in err


def test_an_option_changes_its_part_of_a_table_alone(elsewhere: Command, folder: Path) -> None:
    with (folder / "world.toml").open("w") as file:
        file.write('places = "places.csv"\ncategories = "categories.csv"\n')
        file.write('[kappa]\nleast = 3\nweight = "popularity"\n[space]\nkind = "h3"\n')
    code, _, err = elsewhere(
        "world", "build", folder / "world.toml", "-o", folder / "w.world", "--kappa", 2, "--grid", 4
    )
    assert code == 2
    assert "--grid: has no meaning with space kind = 'h3'" in err
    elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world", "--kappa", 2)
    assert World.load(folder / "w.world").settings.kappa == Kappa(least=2.0, weight="popularity")


def test_an_update_says_what_it_did(elsewhere: Command, folder: Path) -> None:
    elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    (folder / "c.csv").write_text(
        "place_id,lat,lng,category,remove\nnew,50,10,cafe,\np1,50.5,10,cafe,\np2,,,,yes\n"
    )
    _, out, _ = elsewhere(
        "world",
        "update",
        folder / "w.world",
        "--places",
        folder / "c.csv",
        "-o",
        folder / "g.world",
        "--json",
    )
    assert json.loads(out)["changes"] == {"new": 1, "removed": 1, "changed": 1}
    assert json.loads(out)["category_changes"] == {"new": 0, "removed": 0, "changed": 0}
    (folder / "d.csv").write_text("place_id,hourz\np1,24/7\n")
    code, _, err = elsewhere(
        "world", "update", folder / "w.world", "--places", folder / "d.csv", "-o", folder / "h.world"
    )
    assert code == 2
    assert "'hourz'" in err


def test_an_update_counts_categories_and_may_replace_the_world(elsewhere: Command, folder: Path) -> None:
    """Names, parents and hours; whoever updates in place has the old world or the new one, whole."""
    world, tables = folder / "w.world", folder / "new.csv"
    elsewhere("world", "build", folder / "world.toml", "-o", world)
    lines = (folder / "categories.csv").read_text().splitlines()
    other = [line.replace("Café", "Coffee shop").replace("17:00-26:00", "18:00-26:00") for line in lines]
    tables.write_text("\n".join([*other, "kiosk,Kiosk,shop,"]) + "\n")
    before = world.read_bytes()
    (folder / "bad.csv").write_text("category_id,name,parent_id,hours\n")
    code, _, _ = elsewhere("world", "update", world, "--categories", folder / "bad.csv", "-o", world)
    assert (code, world.read_bytes() == before) == (2, True)
    _, apart, _ = elsewhere(
        "world", "update", world, "--categories", tables, "-o", folder / "g.world", "--json"
    )
    code, out, err = elsewhere("world", "update", world, "--categories", tables, "-o", world)
    assert code == 0, err
    assert world.read_bytes() == (folder / "g.world").read_bytes() != before
    assert json.loads(apart)["category_changes"] == {"new": 1, "removed": 0, "changed": 2}
    assert "categories: 1 new, 0 removed, 2 changed" in " ".join(out.split())
    assert not list(folder.glob("*.part"))


def test_most_regions_below_kappa_is_warned_of(elsewhere: Command, folder: Path) -> None:
    code, _, err = elsewhere(
        "world", "build", folder / "world.toml", "-o", folder / "w.world", "--merge-order", "", "--kappa", 4
    )
    assert code == 0
    assert "regions have less than κ" in err


def test_a_page_may_ask_nobody_for_anything(elsewhere: Command, folder: Path) -> None:
    elsewhere("world", "build", folder / "world.toml", "-o", folder / "w.world")
    elsewhere("world", "show", folder / "w.world", "--map", folder / "w.html")
    page = (folder / "w.html").read_text()
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert found is not None
    rules = dict(rule.strip().split(" ", 1) for rule in found[1].split(";"))
    assert rules["default-src"] == rules["connect-src"] == rules["form-action"] == "'none'"
    assert "unsafe" not in found[1]


@pytest.mark.parametrize("command", ["perturb", "share", "audit"])
def test_help_names_every_method(elsewhere: Command, command: str) -> None:
    code, out, _ = elsewhere(command, "--help")
    assert code == 0
    words = re.findall(r"[\w-]+", re.sub(r"-\s+", "-", out))  # lines break after a hyphen too
    assert all(name in words for name in METHODS)
    assert "[default: codebook]" in " ".join(out.split())


def test_names_of_strangers_do_not_command_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    out.print(facts_table({"Name": "cafe\x1b[2K\x9b1A"}))
    out.print(table(["name"], [["bar\x1b]0;title\x07"]]))
    warn("shop\x1b[8m")
    found = "".join(capfd.readouterr())
    assert not {"\x1b", "\x9b", "\x07"} & set(found)
    assert all(name in found for name in ("cafe", "bar", "shop"))
