"""`dataset NAME` and `share` as a person runs them."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import polars as pl
import pytest
import shapely

import elsewhere as ew
from commands import Command
from elsewhere.cli import main
from raw import write_foursquare
from worlds import build, place


def test_foursquare_to_world(elsewhere: Command, tmp_path: Path) -> None:
    checkins, categories = write_foursquare(tmp_path)
    code, out, err = elsewhere(
        "dataset", "foursquare", "--raw", str(checkins), "--raw", str(categories), "--popularity", "same",
        "-o", str(tmp_path / "nyc"),
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Private homes left out" in out
    code, out, _ = elsewhere(
        "world", "build", str(tmp_path / "nyc/world.toml"), "--kappa", "1", "-o", str(tmp_path / "nyc.world")
    )
    assert code == 0
    code, out, _ = elsewhere(
        "dataset", "foursquare", "--raw", str(checkins), "--raw", str(categories), "--with-homes",
        "--feasible-only", "--places-limit", "3", "--popularity", "same", "--json",
        "-o", str(tmp_path / "nyc2"),
    )  # fmt: skip
    assert code == 0
    facts = json.loads(out)
    assert facts["places"] == 3
    assert facts["steps"]["feasible only: kept"] == facts["trajectories"]


def test_osm_without_raw_is_helsinki(elsewhere: Command, tmp_path: Path) -> None:
    code, _, err = elsewhere(
        "dataset", "osm", "--people", "20", "--places-limit", "200", "-o", str(tmp_path / "helsinki")
    )
    assert (code, err) == (0, "")
    world = ew.build_world(tmp_path / "helsinki/world.toml")
    assert len(world.places) == 200
    days = ew.read_trajectories(tmp_path / "helsinki/trajectories.csv", world=world)
    assert len(days) == 20
    assert "Open Database License" in (tmp_path / "helsinki/SOURCE.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["foursquare", "--raw", "nowhere.txt"], "no such file"),
        (["taxi", "--raw", "nowhere.csv"], "no such file"),
        (["safegraph", "--raw", "nowhere.csv"], "no such file"),
        (["osm", "--raw", "nowhere.osm.pbf", "--timezone", "UTC"], "no such file"),
        (["osm", "--raw", "nowhere.parquet", "--timezone", "UTC"], "no such file"),
        (["osm", "--raw", "nowhere.osm.pbf"], "no such file"),
        (["checkins", "--raw", "nowhere.csv"], "no such file"),
        (["fixes", "--raw", "nowhere.csv", "--places", "nowhere.csv"], "no such file"),
        (["osm", "--raw", "a", "--raw", "b", "--timezone", "UTC"], "found 2 files"),
        (["osm", "--timezone", "Mars/Olympus"], "must be a zone"),
        (["foursquare", "--raw", "/"], "is a folder"),
        (["campus", "--raw", "nowhere.csv"], "cannot be read"),
    ],
)
def test_bad_input_is_one_message_and_nothing_is_written(
    elsewhere: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    code, _, err = elsewhere("dataset", *arguments, "-o", str(tmp_path / "out"))
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_edited_tables_are_refused_before_anything_is_read(elsewhere: Command, tmp_path: Path) -> None:
    output = str(tmp_path / "campus")
    assert elsewhere("dataset", "campus", "--people", "5", "-o", output)[0] == 0
    (tmp_path / "campus/places.csv").write_text("mine")
    code, _, err = elsewhere("dataset", "campus", "--raw", "nowhere.csv", "-o", output)
    assert (code, "places.csv was edited" in err, "--replace" in err) == (2, True, True)
    assert (tmp_path / "campus/places.csv").read_text() == "mine"
    assert elsewhere("dataset", "campus", "--people", "5", "--replace", "-o", output)[0] == 0
    assert (tmp_path / "campus/places.csv").read_text() != "mine"


def test_a_full_disk_while_reading_is_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/7.csv")  # noqa: S108 - only a name

    monkeypatch.setattr(main, "app", full)
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    assert "error: /tmp/7.csv: No space left on device" in capsys.readouterr().err


def _own_day(folder: Path) -> tuple[Path, Path]:
    rows = [
        place("cafe", 52.52, 13.405, hours="24/7"),
        place("shop", 52.53, 13.405, "shoes", hours="24/7"),
        place("bar", 52.525, 13.405, "bar", hours="24/7"),
    ]
    build(folder / "city", rows, {"kappa": 1, "timezone": "Europe/Berlin"}).save(folder / "city.world")
    lines = ["lat,lng,datetime"]
    lines += [f"52.52,13.405,2024-03-07T10:{minute:02d}:00" for minute in range(30)]
    lines += [f"52.53,13.405,2024-03-07T12:{minute:02d}:00" for minute in range(30)]
    (folder / "mine.csv").write_text("\n".join(lines) + "\n")
    return folder / "mine.csv", folder / "city.world"


def test_one_day_is_shared_once(elsewhere: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, city = _own_day(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = ["-m", "ngram", "-w", str(city), "-e", "5", "--day", "2024-03-07"]
    options += ["--ledger", "my.ledger", "--cap", "8"]
    code, out, err = elsewhere("share", str(mine), *options, "-o", "shared.csv")
    assert (code, err) == (0, "")
    assert "Spent 5 of 8" in out
    shared = pl.read_csv("shared.csv")
    assert shared.height == 2
    assert json.loads(Path("shared.csv.meta.json").read_text())["epsilon"] == "5"
    code, again, _ = elsewhere("share", str(mine), *options, "--json")
    assert code == 0
    assert [row["place_id"] for row in json.loads(again)["shared"]] == shared["place_id"].to_list()
    assert json.loads(again)["ledger"] == {"file": "my.ledger", "spent": "5", "cap": "8"}
    assert json.loads(again)["randomness"] == "system"
    code, out, _ = elsewhere("share", str(mine), *options)
    assert "The same as before" in out
    code, _, err = elsewhere("share", str(mine), "-m", "ind-reach", *options[2:])
    assert (code, "charged for another sharing (ngram, ε = 5" in err) == (2, True)
    code, _, err = elsewhere("share", str(mine), *options[:-1], "9")
    assert (code, "cannot be changed" in err) == (2, True)
    code, _, err = elsewhere("share", str(mine), *options, "-o", "shared.csv")
    assert (code, "is there already" in err) == (2, True)
    options[options.index("my.ledger")], options[-1] = "new.ledger", "2"
    code, _, err = elsewhere("share", str(mine), *options)
    assert (code, "passes the cap of 2" in err) == (2, True)
    assert not Path("new.ledger").exists()
    options[options.index("2024-03-07")] = "2024-03-08"
    code, _, err = elsewhere("share", str(mine), *options)
    assert "says nothing about 2024-03-08: it is shared as a day without any visit" in err
    assert (code, "passes the cap of 2" in err) == (2, True)


def test_the_default_is_the_codebook(
    elsewhere: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, city = _own_day(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = ["-w", str(city), "-e", "5", "--day", "2024-03-07", "--set", "candidates=64"]
    code, out, err = elsewhere("share", str(mine), *options, "-o", "shared.csv")
    assert (code, err) == (0, "")
    assert "Shared with codebook, ε = 5" in out
    assert "and the number of visits (among 1 to 8)" in out
    facts = json.loads(Path("shared.csv.meta.json").read_text())
    assert (facts["method"], facts["candidates"], facts["length_is_public"]) == ("codebook", 64, False)
    assert facts["day"] == "2024-03-07"


def test_geoparquet_has_geometries(
    elsewhere: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, city = _own_day(tmp_path)
    monkeypatch.chdir(tmp_path)
    options = ["-w", str(city), "-e", "5", "--day", "2024-03-07"]
    assert elsewhere("share", str(mine), *options, "-o", "shared.geoparquet")[0] == 0
    frame, facts = pl.read_parquet("shared.geoparquet"), pl.read_parquet_metadata("shared.geoparquet")
    assert json.loads(facts["geo"])["columns"]["geometry"]["encoding"] == "WKB"
    assert json.loads(facts["elsewhere"])["epsilon"] == "5"
    points = shapely.from_wkb(frame["geometry"].to_list())
    assert [(p.y, p.x) for p in points] == list(zip(frame["lat"], frame["lng"], strict=True))
    world = ew.World.load(city)
    assert len(ew.read_trajectories("shared.geoparquet", world=world)) == 1
