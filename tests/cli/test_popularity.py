"""Popularity is public, of other people, or marked: R12."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import elsewhere as ew
from commands import Command
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.checkin_files import CheckinFiles
from elsewhere.datasets.foursquare import read_foursquare
from elsewhere.datasets.popularity import is_held_out, popularity_source
from elsewhere.errors import InputError
from raw import real, write_foursquare

HELD_OUT, OTHERS = ["1", "2", "4"], ["3", "5", "9"]


def _checkins(path: Path, *, favourite: str = "v3") -> Path:
    """Days of six people at three venues; nobody but person 3 goes to ``only-3``."""
    rows = []
    for user in [*HELD_OUT, *OTHERS]:
        venues = ["v1", "v2", "v1", favourite if user in OTHERS else "v2"]
        venues += ["only-3"] if user == "3" else []
        for number, venue in enumerate(venues):
            moment = f"Tue Apr 03 {13 + 2 * number}:00:00 +0000 2012"
            rows.append((user, venue, "cafe", "Café", "40.70", f"-74.0{len(venue)}", "-240", moment))
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="latin-1")
    return path


def test_people_are_parted_by_a_rule_that_looks_at_nothing_but_their_id() -> None:
    assert [uid for uid in [*HELD_OUT, *OTHERS] if is_held_out(uid)] == HELD_OUT
    assert 0.45 < np.mean([is_held_out(str(number)) for number in range(4000)]) < 0.55


def test_what_those_who_share_do_leaves_no_trace_in_places_and_popularity(tmp_path: Path) -> None:
    one = read_foursquare([_checkins(tmp_path / "a.txt"), write_foursquare(tmp_path)[1]], least=1)
    other = read_foursquare(
        [_checkins(tmp_path / "b.txt", favourite="v1"), write_foursquare(tmp_path)[1]], least=1
    )
    assert one.places == other.places
    assert "only-3" not in {place.place_id for place in one.places}
    assert {person.uid for person in one.days} == set(OTHERS)
    assert one.settings["popularity_from"] == "held-out people"


def test_popularity_of_the_same_people_is_asked_for_and_marked(tmp_path: Path, elsewhere: Command) -> None:
    raw = [_checkins(tmp_path / "a.txt"), write_foursquare(tmp_path)[1]]
    dataset = read_foursquare(raw, least=1, popularity="same")
    assert "only-3" in {place.place_id for place in dataset.places}
    write_dataset(tmp_path / "out", dataset)
    with (tmp_path / "out/world.toml").open("a") as file:
        file.write("kappa = 1\n")
    world = ew.build_world(tmp_path / "out/world.toml")
    world.save(tmp_path / "w.world")
    for name in ("codebook", "ngram", "popular"):
        facts = ew.method(name, world, epsilon=5).facts()
        assert not facts.is_ldp
        assert "same people" in facts.promise
    ledger, ngram = ew.Ledger(tmp_path / "l", cap=9), ew.method("ngram", world, epsilon=5)
    with pytest.raises(InputError, match="ε-LDP"):
        ledger.share("2025-09-17", ew.Trajectory([("v1", 60)]), ngram)
    code, out, err = elsewhere("world", "show", tmp_path / "w.world")
    assert code == 0
    assert "the same people" in out
    assert "nothing shared on this world is ε-LDP" in err
    code, out, _ = elsewhere(
        "perturb", tmp_path / "out/trajectories.csv", "-w", tmp_path / "w.world", "-e", "5",
        "-o", tmp_path / "s.csv", "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["is_ldp"] is False
    assert json.loads((tmp_path / "s.csv.meta.json").read_text())["is_ldp"] is False
    code, out, err = elsewhere("audit", tmp_path / "w.world", "-e", "5")
    assert code == 0
    assert "counted from the same people" in out
    assert "NOT ε-LDP" in err


def test_popularity_may_be_a_public_table(tmp_path: Path) -> None:
    raw = [_checkins(tmp_path / "a.txt"), write_foursquare(tmp_path)[1]]
    by_hour = ";".join(["1"] * 12 + ["3"] * 12)
    head = "place_id,lat,lng,category,popularity\n"
    rows = f"v1,40.7,-74.02,cafe,2\nv2,40.7,-74.03,cafe,{by_hour}\nnew,40.8,-74.0,pizza,9\n"
    (tmp_path / "p.csv").write_text(head + rows)
    dataset = read_foursquare(raw, least=1, popularity=f"public:{tmp_path / 'p.csv'}")
    assert {place.place_id: sum(place.popularity) for place in dataset.places} == {
        "v1": 2,
        "v2": 48,
        "new": 9,
    }
    assert {person.uid for person in dataset.days} == {*HELD_OUT, *OTHERS}
    assert dataset.settings["popularity_from"] == "public"
    # Whether anybody was ever at a venue makes no difference to what is public.
    other = _checkins(tmp_path / "b.txt", favourite="new")
    again = read_foursquare([other, raw[1]], least=1, popularity=f"public:{tmp_path / 'p.csv'}")
    assert again.places == dataset.places
    (tmp_path / "p.csv").write_text(f"{head}v1,40.7,-74.02,cafe,many\n")
    with pytest.raises(InputError, match="row 2, column popularity"):
        read_foursquare(raw, popularity=f"public:{tmp_path / 'p.csv'}")
    with pytest.raises(InputError, match="must be held-out, same, or public:FILE"):
        read_foursquare(raw, popularity="mine")


def test_when_no_day_is_left_it_is_said_that_half_of_the_people_are_set_apart(
    tmp_path: Path, elsewhere: Command
) -> None:
    head = "user,venue_id,lat,lng,category,time\n"
    rows = [f"{user},v{user},40.7,-74.0,Cafe,2012-04-03T15:00\n" for user in [*HELD_OUT, *OTHERS]]
    raw, out = tmp_path / "c.csv", tmp_path / "out"
    raw.write_text(head + "".join(rows))
    code, _, err = elsewhere("dataset", "checkins", "--raw", raw, "-o", out)
    assert code == 2
    assert "half of the people (3 of 6) make places popular and their days are left out; too few" in err
    assert err.index("--least-visits 1 would help") < err.index("check-ins at these venues 0")
    code, _, err = elsewhere("dataset", "checkins", "--raw", raw, "-o", out, "--popularity", "same")
    assert (code, "the last step was: days with fewer than 3 visits left (6)" in err) == (2, True)
    raw.write_text(head + rows[-1])
    code, _, err = elsewhere("dataset", "checkins", "--raw", raw, "-o", out)
    assert (code, "none of the 1 people is of the half that makes places popular" in err) == (2, True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,venue_id,lat,lng,when\n1,v,40.7,-74,2012-04-03T15:00\n",
         "the file has user, venue_id, lat, lng, when; say which is which with --columns datetime=NAME"),
        ("who,venue_id,lat,lng,when\n1,v,40.7,-74,2012-04-03T15:00\n", "--columns uid=NAME,datetime=NAME"),
        ("user,venue_id,lat,lng,time\n", "c.csv: holds no row"),
        ("user,venue_id,lat,lng,time\n1,v,139.7,35.7,2012-04-03T15:00\n", "are lat and lng swapped?"),
        ("user,venue_id,lat,lng,time\n1,v,-74.0,40.7,2012-04-03T15:00\n", "are lat and lng swapped?"),
        ("user,venue_id,lat,lng,time\n1,v,,,2012-04-03T15:00\n", "--timezone: is needed"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_of_check_ins_is_named(
    tmp_path: Path, elsewhere: Command, text: str, message: str
) -> None:
    (tmp_path / "c.csv").write_text(text)
    code, _, err = elsewhere("dataset", "checkins", "--raw", tmp_path / "c.csv", "-o", tmp_path / "out")
    assert (code, message in err) == (2, True), err


def test_those_who_share_tell_neither_time_zone_nor_order_of_dates(tmp_path: Path) -> None:
    """One traveller among them must not set everybody's clock."""
    head = "user,venue_id,lat,lng,category,utc_time\n"
    rows = [f"{user},v{n},40.7,-74.0{n},Cafe,04/0{n}/2012 15:00\n" for user in HELD_OUT for n in (1, 2, 3)]
    rows.append(f"{HELD_OUT[0]},v1,40.7,-74.01,Cafe,04/15/2012 15:00\n")
    traveller = [f"{OTHERS[0]},t{n},35.7,139.7{n},Cafe,{13 + n}/04/2012 03:00\n" for n in range(6)]
    zones = set()
    for name, text in (("a", rows), ("b", rows + traveller)):
        (tmp_path / f"{name}.csv").write_text(head + "".join(text))
        files = CheckinFiles([tmp_path / f"{name}.csv"])
        zones.add(files.find_zone(None, popularity_source("held-out").counts))
        months = {row.moment.month for row in islice(files.rows(), len(rows))}
        assert months == {4}  # whatever the traveller writes
    assert zones == {"America/New_York"}


def test_popularity_follows_the_hours_of_its_kind_of_place(tmp_path: Path) -> None:
    dataset = read_foursquare([_checkins(tmp_path / "a.txt"), write_foursquare(tmp_path)[1]], least=1)
    for place in dataset.places:
        curve = np.array(place.popularity)
        assert set(np.flatnonzero(curve)) == {9, 11, 13, 15}
        assert curve.mean() == pytest.approx({"v1": 6, "v2": 6}[place.place_id], rel=1e-3)


def test_places_of_the_real_check_ins_come_from_half_of_the_people() -> None:
    raw = [
        real("foursquare_nyc/dataset_TSMC2014_NYC_popular.txt.gz"),
        real("foursquare_categories/foursquare_categories_v2_2021-03.json.gz"),
    ]
    dataset = read_foursquare(raw, limit=2000)
    days = list(dataset.days)
    assert len(dataset.places) == 2000
    assert len(days) == 836
    assert not any(is_held_out(person.uid) for person in days)
    assert dataset.steps["check-ins that popularity is counted from"] == 75_361


def test_a_world_says_where_its_popularity_comes_from(tmp_path: Path, elsewhere: Command) -> None:
    write_dataset(
        tmp_path / "out",
        read_foursquare([_checkins(tmp_path / "a.txt"), write_foursquare(tmp_path)[1]], least=1),
    )
    code, out, _ = elsewhere(
        "world", "build", tmp_path / "out/world.toml", "-o", tmp_path / "w.world", "--kappa", "1", "--json"
    )
    assert code == 0
    assert json.loads(out)["settings"]["popularity_from"] == "held-out people"
    toml = tmp_path / "out/world.toml"
    toml.write_text(toml.read_text().replace("held-out people", "friends"))
    code, _, err = elsewhere("world", "build", toml, "-o", tmp_path / "x.world")
    assert code == 2
    assert "popularity_from" in err
    assert "'the same people'" in err
