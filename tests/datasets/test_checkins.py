"""Anybody's check-ins load in one step: columns, time formats, zones and kinds of places are told."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import elsewhere as ew
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.checkin_categories import category_of, checkin_tree
from elsewhere.datasets.checkins import read_checkins
from elsewhere.datasets.foursquare import read_foursquare
from elsewhere.errors import InputError
from elsewhere.inputs.raw_text import rows_of
from raw import CHECKINS, real

VISITS = [("shrine", "Shrine", 35.70), ("noodles", "Ramen / Noodle House", 35.71), ("den", "Zorb", 35.72)]
HEAD = "Member;Spot;Kind;Label;Lon;Lat;When"


def _tokyo(folder: Path, times: list[str], head: str = HEAD) -> Path:
    rows = [
        f"ann;{spot};{kind};The {spot};139.7;{lat};{time}"
        for (spot, kind, lat), time in zip(VISITS, times, strict=True)
    ]
    path = folder / "tokyo.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


COLUMNS = "uid=member,place_id=spot,name=label,datetime=when"
UTC_TIMES = ["2012-07-07T01:00:00Z", "1341626400", "Sat Jul 07 05:00:00 +0000 2012"]


def _days(folder: Path) -> list[tuple[str, str]]:
    with (folder / "trajectories.csv").open() as file:
        return [(row["datetime"], row["place_id"]) for row in csv.DictReader(file)]


def test_tokyo_is_read_by_the_clock_of_tokyo(tmp_path: Path) -> None:
    dataset = read_checkins([_tokyo(tmp_path, UTC_TIMES)], popularity="same", columns=COLUMNS)
    write_dataset(tmp_path / "out", dataset)
    assert dataset.clock.timezone == "Asia/Tokyo"
    assert _days(tmp_path / "out") == [
        ("2012-07-07T10:00:00", "shrine"),
        ("2012-07-07T11:00:00", "noodles"),
        ("2012-07-07T14:00:00", "den"),
    ]
    given = read_checkins([_tokyo(tmp_path, UTC_TIMES)], popularity="same", columns=COLUMNS, timezone="UTC")
    write_dataset(tmp_path / "utc", given)
    assert _days(tmp_path / "utc")[0] == ("2012-07-07T01:00:00", "shrine")


def test_venues_have_names_and_kinds_and_unknown_kinds_are_counted(tmp_path: Path) -> None:
    dataset = read_checkins([_tokyo(tmp_path, UTC_TIMES)], popularity="same", columns=COLUMNS)
    by_id = {place.place_id: place for place in dataset.places}
    assert by_id["shrine"].name == "The shrine"
    assert by_id["shrine"].category_ids == ("Religion > Places of worship > Shrine",)
    assert by_id["den"].category_ids == ("Other places",)
    assert dataset.steps["venues of a kind that is not known"] == 1
    write_dataset(tmp_path / "out", dataset)
    toml = tmp_path / "out/world.toml"
    toml.write_text(toml.read_text() + "kappa = 1\n")
    assert len(ew.build_world(toml).places) == 3


def test_days_before_months_are_told_by_the_file_or_asked_for(tmp_path: Path) -> None:
    unclear = ["07/04/2012 10:00", "07/04/2012 12:00", "07/04/2012 15:32"]
    path = _tokyo(tmp_path, unclear)
    with pytest.raises(
        InputError, match=r"row 2, column datetime: day and month.*--dates day-first"
    ) as caught:
        list(read_checkins([path], popularity="same", columns=COLUMNS).days)
    assert "07/04" not in str(caught.value)
    write_dataset(
        tmp_path / "out", read_checkins([path], popularity="same", columns=COLUMNS, dates="day-first")
    )
    assert _days(tmp_path / "out")[0][0] == "2012-04-07T10:00:00"
    more = path.read_text() + "bob;den;Zorb;The den;139.7;35.72;07/31/2012 10:00\n"
    path.write_text(more)
    write_dataset(tmp_path / "told", read_checkins([path], popularity="same", columns=COLUMNS))
    assert _days(tmp_path / "told")[0][0] == "2012-07-04T10:00:00"


def test_a_table_of_venues_may_stand_apart(tmp_path: Path) -> None:
    """TIST2015 has no header, and positions in a file of their own."""
    (tmp_path / "checkins.txt").write_text(
        "7\tv1\tTue Apr 03 18:00:09 +0000 2012\t-240\n7\tv2\tTue Apr 03 20:00:00 +0000 2012\t-240\n"
    )
    (tmp_path / "pois.txt").write_text("v1\t40.70\t-74.00\tCafé\tUS\nv2\t40.71\t-74.00\tPizza Place\tUS\n")
    dataset = read_checkins([tmp_path], popularity="same", least=2)
    write_dataset(tmp_path / "out", dataset)
    assert [moment for moment, _ in _days(tmp_path / "out")] == ["2012-04-03T14:00:00", "2012-04-03T16:00:00"]
    assert dataset.clock.timezone == "America/New_York"


def test_half_of_the_people_make_places_popular_and_the_others_share(tmp_path: Path) -> None:
    rows = [
        f"u{person};{spot};{kind};The {spot};139.7;{lat};{time}"
        for person in range(20)
        for (spot, kind, lat), time in zip(VISITS, UTC_TIMES, strict=True)
    ]
    path = tmp_path / "tokyo.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    dataset = read_checkins([path], columns=COLUMNS)
    days = list(dataset.days)
    assert 0 < len(days) < 20
    assert dataset.steps["check-ins that popularity is counted from"] == 3 * (20 - len(days))
    assert dataset.settings["popularity_from"] == "held-out people"


def test_rows_without_a_person_or_a_venue_are_counted(tmp_path: Path) -> None:
    path = _tokyo(tmp_path, UTC_TIMES)
    path.write_text(path.read_text() + ";den;Zorb;The den;139.7;35.72;1341626400\n")
    dataset = read_checkins([path], popularity="same", columns=COLUMNS)
    assert dataset.steps["rows without a person or a venue left out"] == 1


def test_foursquare_takes_other_headers_orders_and_times(tmp_path: Path) -> None:
    """Without a category tree too: names are enough."""
    rows = [
        f"{time.replace(' +0000', '')}\t{lng}\t{lat}\t{kind}\t{venue}\t{user}"
        for user, venue, _, kind, lat, lng, _, time in CHECKINS
    ]
    path = tmp_path / "other.tsv"
    path.write_text("\n".join(["UTC_time\tlongitude\tlatitude\tPOI_catname\tPOI_id\tuser_id", *rows]) + "\n")
    dataset = read_foursquare([path], limit=None, popularity="same")
    write_dataset(tmp_path / "out", dataset)
    assert _days(tmp_path / "out") == [
        ("2012-04-03T14:00:00", "v1"),
        _days(tmp_path / "out")[1],
        ("2012-04-03T21:00:00", "v1"),
    ]
    assert dataset.clock.timezone == "America/New_York"
    assert dataset.steps["private homes left out"] == 1
    by_id = {place.place_id: place.category_ids[0] for place in dataset.places}
    assert by_id["v2"] == "Food and drink > Quick bites > Pizza Place"


def test_the_table_of_kinds_is_sound_and_covers_the_real_names() -> None:
    tree = checkin_tree(None)
    roots = [row for row in range(len(tree.ids)) if tree.parents[row] < 0]
    assert len(roots) == 14
    assert all(tree.hours[row] for row in roots)
    assert category_of("thai restaurants") == "Food and drink > Restaurants > Thai Restaurant"
    assert category_of("Mongolian Restaurant") == "Food and drink > Restaurants"
    assert category_of("Zorb") is None
    path = real("foursquare_nyc/dataset_TSMC2014_NYC_popular.txt.gz")
    names = {fields[3] for _, fields in rows_of(path, delimiter="\t")}
    assert len(names) > 200
    assert [name for name in sorted(names) if category_of(name) is None] == []


def test_real_check_ins_need_no_tree() -> None:
    dataset = read_foursquare([real("foursquare_nyc/dataset_TSMC2014_NYC_popular.txt.gz")], popularity="same")
    assert dataset.clock.timezone == "America/New_York"
    assert dataset.steps["venues of a kind that is not known"] == 0
    assert len(list(dataset.days)) == 6444
