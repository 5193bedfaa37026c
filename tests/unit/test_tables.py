"""Tables of places and categories: all faults in one message, with row, column and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsewhere.errors import InputError
from elsewhere.inputs.tables import (
    read_categories,
    read_place_changes,
    read_places,
    write_categories,
    write_places,
)
from elsewhere.knowledge.places import build_places
from worlds import TREE, place

HEADER = "place_id,name,lat,lng,category,hours,popularity\n"


def _faults(path: Path, text: str) -> list[str]:
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_places(path, TREE)
    return [str(fault) for fault in caught.value.faults]


def test_all_faults_at_once(tmp_path: Path) -> None:
    faults = _faults(
        tmp_path / "places.csv",
        HEADER
        + "a,A,50,10,cafe,,\n"
        + ",B,50,10,cafe,,\n"
        + "a,C,50,10,cafe,,\n"
        + "d,D,-123.2,49.2,cafe,,\n"
        + "e,E,50,200,cafe,,\n"
        + "f,F,50,10,caffe,,\n"
        + "g,G,50,10,,,\n"
        + "h,H,50,10,cafe,Mo-Fr 9-17,\n"
        + "i,I,50,10,cafe,,-3\n"
        + "j,J,x,10,cafe,,1;2;3\n"
        + "k,K,nan,inf,cafe;bar,,\n",
    )
    expected = [
        ("row 3, column place_id", "every row needs an id"),
        ("row 4, column place_id", "found 'a' again, row 2"),
        ("row 5, column lat", "swapped"),
        ("row 6, column lng", "between -180 and 180"),
        ("row 7, column category", "found 'caffe'"),
        ("row 8, column category", "found nothing"),
        ("row 9, column hours", "opening_hours"),
        ("row 10, column popularity", "between 0 and 1e12"),
        ("row 11, column lat", "must be a number"),
        ("row 11, column popularity", "3 numbers"),
        ("row 12, column lat", "found 'nan'"),
        ("row 12, column lng", "found 'inf'"),
    ]
    assert len(faults) == len(expected)
    for fault, (where, what) in zip(faults, expected, strict=True):
        assert fault.startswith(where)
        assert what in fault


def test_a_single_swapped_row_is_found_although_in_range(tmp_path: Path) -> None:
    text = HEADER + "".join(f"p{i},,40.7{i},-74.0{i},cafe,,\n" for i in range(5)) + "q,,-74.0,40.7,cafe,,\n"
    faults = _faults(tmp_path / "places.csv", text)
    assert len(faults) == 1
    assert faults[0].startswith("row 7, column lat")
    assert "swapped" in faults[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (HEADER, "no place"),
        ("place_id,name,lat\na,A,50\n", "column lng, category missing; the file has place_id, name, lat"),
        (HEADER + "a,A,50,10,cafe,,,,,,\n", "cannot be read as a table"),
    ],
)
def test_unusable_tables(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "places.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_places(tmp_path / "places.csv", TREE)


def test_wrong_encoding_and_missing_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(HEADER.encode() + "a,Café,50,10,cafe,,\n".encode("latin-1"))
    with pytest.raises(InputError, match="cannot be read as a table"):
        read_places(tmp_path / "latin.csv", TREE)
    with pytest.raises(InputError, match="no such file"):
        read_places(tmp_path / "nothing.csv", TREE)


def test_a_byte_order_mark_and_blanks_do_no_harm(tmp_path: Path) -> None:
    text = "\ufeff" + HEADER + " a , A , 50 , 10 , cafe ; bar ,, 3 \n"
    (tmp_path / "places.csv").write_text(text, encoding="utf-8")
    (row,) = read_places(tmp_path / "places.csv", TREE)
    assert (row.place_id, row.latitude, row.category_ids, row.popularity) == ("a", 50, ("cafe", "bar"), (3,))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("category_id,name,parent_id\na,A,b\nb,B,c\nc,C,a\nd,D,\n", "3 faults"),
        ("category_id,name,parent_id\na,A,a\n", "its own ancestor"),
        ("category_id,name,parent_id\na,A,zoo\n", "row 2, column parent_id: found 'zoo'"),
        ("category_id,name,parent_id\na,A,\na,B,\n", "found 'a' again"),
        ("category_id,name,parent_id,hours\na,A,,sometimes\n", "row 2, column hours"),
        ("category_id,name,parent_id\n", "no category"),
        ("id,name\na,A\n", "column category_id, parent_id missing"),
    ],
)
def test_bad_categories(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "categories.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_categories(tmp_path / "categories.csv")


def test_tables_read_back_what_was_written(tmp_path: Path) -> None:
    rows = [
        place("a", 50.125, 10.0625, hours="Mo-Fr 09:00-17:00", popularity=(3.5,)),
        place("b", 50, 10, "boots", is_anywhere=True, popularity=tuple(float(i) for i in range(24))),
    ]
    write_places(tmp_path / "places.csv", rows)
    assert read_places(tmp_path / "places.csv", TREE) == rows
    write_categories(tmp_path / "categories.csv", TREE)
    tree = read_categories(tmp_path / "categories.csv")
    assert (tree.ids, tree.names, tree.hours) == (TREE.ids, TREE.names, TREE.hours)
    assert tree.lineage.tolist() == TREE.lineage.tolist()


def test_changes_keep_columns_that_are_not_given(tmp_path: Path) -> None:
    current = build_places([place("a", 50, 10, hours="24/7", popularity=(7.0,)), place("b", 50, 11)], TREE)
    (tmp_path / "c.csv").write_text("place_id,lat,remove\na,51,\nb,,yes\n")
    changed, removed = read_place_changes(tmp_path / "c.csv", TREE, current)
    assert removed == {"b"}
    (row,) = changed
    assert (row.latitude, row.longitude, row.hours, set(row.popularity)) == (51, 10, "24/7", {7.0})


def test_bad_changes_are_told(tmp_path: Path) -> None:
    current = build_places([place("a", 50, 10)], TREE)
    (tmp_path / "c.csv").write_text("place_id,hours,remove\nnew,24/7,\ngone,,yes\na,never,maybe\n")
    with pytest.raises(InputError) as caught:
        read_place_changes(tmp_path / "c.csv", TREE, current)
    told = [str(fault) for fault in caught.value.faults]
    assert "new and needs the columns lat, lng, category" in told[0]
    assert "no such place to remove" in told[1]
    assert {fault.split(":")[0] for fault in told[2:]} == {"row 4, column remove", "row 4, column hours"}


def test_a_place_at_zero_zero_is_refused_with_its_row(tmp_path: Path) -> None:
    (fault,) = _faults(tmp_path / "places.csv", HEADER + "a,A,50,10,cafe,,\nb,B,0,0.0,cafe,,\n")
    assert fault.startswith("row 3, column lat: found 0, 0, which is in the sea")
    (tmp_path / "c.csv").write_text("place_id,lat,lng\na,0,0\n")
    with pytest.raises(InputError, match="row 2, column lat: found 0, 0"):
        read_place_changes(tmp_path / "c.csv", TREE, build_places([place("a", 50, 10)], TREE))
