"""`dataset checkins`, `fixes` and `stays` as a person runs them."""

from __future__ import annotations

from pathlib import Path

from commands import Command

CHECKINS = """Member;Spot;Kind;Lon;Lat;When
ann;shrine;Shrine;139.7;35.70;2012-07-07T01:00:00Z
ann;noodles;Ramen / Noodle House;139.7;35.71;2012-07-07T03:00:00Z
ann;den;Zorb;139.7;35.72;2012-07-07T05:00:00Z
"""


def test_the_message_about_columns_says_what_to_type(elsewhere: Command, tmp_path: Path) -> None:
    (tmp_path / "tokyo.csv").write_text(CHECKINS)
    start = ["dataset", "checkins", "--raw", str(tmp_path / "tokyo.csv"), "-o", str(tmp_path / "out")]
    start += ["--popularity", "same"]
    code, _, err = elsewhere(*start)
    assert code == 2
    assert "column uid, datetime, place_id missing; the file has Member, Spot, Kind, Lon, Lat, When" in err
    assert "--columns uid=NAME,datetime=NAME,place_id=NAME" in err
    assert not (tmp_path / "out").exists()
    code, _, err = elsewhere(*start, "--columns", "who=member")
    assert (code, "must be KEY=NAME with a key of uid" in err) == (2, True)
    code, out, err = elsewhere(*start, "--columns", "uid=Member,place_id=spot,datetime=When")
    assert (code, err) == (0, "")
    assert "Asia/Tokyo" in out


def test_cabs_of_san_francisco_load_in_one_step(elsewhere: Command, tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text(
        "poi_id,name,lat,lng\npier,Pier,37.8,-122.41\nbank,Bank,37.79,-122.4\n"
    )
    (tmp_path / "cabs").mkdir()
    (tmp_path / "cabs/new_abboip.txt").write_text(
        "37.79 -122.40 0 1213120800\n37.79 -122.40 1 1213117300\n"
        "37.80 -122.41 1 1213117200\n37.80 -122.41 0 1213113600\n"
    )
    code, out, err = elsewhere(
        "dataset", "fixes", "--raw", str(tmp_path / "cabs"), "--places", str(tmp_path / "places.csv"),
        "-o", str(tmp_path / "out"),
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "America/Los_Angeles" in out
    assert (tmp_path / "out/trajectories.csv").read_text().count("new_abboip-20080610") == 2
