"""Places and categories in files."""

from __future__ import annotations

import io
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from elsewhere.errors import InputError
from elsewhere.files import whole_file
from elsewhere.inputs.columns import NO, Columns, flag, number
from elsewhere.knowledge.categories import CategoryTree, build_tree
from elsewhere.knowledge.hours import hours_problem
from elsewhere.knowledge.places import Place, Places

_COLUMNS = ("name", "lat", "lng", "category", "hours", "popularity", "anywhere")


_WHERE = ("lat", "lng")


def _blank(place_id: str) -> Place:
    return Place(place_id=place_id, name="", latitude=0.0, longitude=0.0, category_ids=())


def read_categories(path: Path) -> CategoryTree:
    """Category tree from ``category_id, name, parent_id`` and, if given, default ``hours``."""
    columns = Columns(path, required=["category_id", "parent_id"])
    ids = columns.unique_ids("category_id")
    parents = columns.text("parent_id")
    known = set(ids)
    for row, parent in enumerate(parents):
        if parent and parent not in known:
            columns.complain(
                row, "parent_id", f"found {parent!r}, must be a category_id of this file or blank"
            )
    hours = _checked_hours(columns)
    if not ids:
        raise InputError(columns.source, "holds no category, at least one is needed")
    columns.finish()
    for row in _rows_in_cycles(ids, parents):
        columns.complain(row, "parent_id", f"{ids[row]!r} is its own ancestor, categories must form a tree")
    columns.finish()
    return build_tree(ids, columns.text("name"), parents, hours)


def read_places(path: Path, tree: CategoryTree, weight_column: str = "count") -> list[Place]:
    """Places from ``place_id, name, lat, lng, category, hours, popularity`` (the last two and name may lack).

    ``weight_column`` names the column that counts towards κ. ``anywhere`` marks places that are nowhere in
    particular, such as an online shop: they need no position.
    """
    columns = Columns(path, required=["place_id", "lat", "lng", "category", *_weight_columns(weight_column)])
    if not columns.count:
        raise InputError(columns.source, "holds no place, at least one is needed")
    ids = columns.unique_ids("place_id")
    has_position = _has_position(columns)
    fields = _parsed_fields(columns, tree, weight_column, has_position=has_position)
    for name in ("latitude", "longitude"):
        fields[name] = _in_the_middle(fields[name], has_position)
    _complain_of_nowhere(columns)
    _complain_of_swapped(columns, fields, fields["latitude"], fields["longitude"])
    columns.finish()
    return _with_fields([_blank(place_id) for place_id in ids], fields)


def read_place_changes(
    path: Path, tree: CategoryTree, current: Places, weight_column: str = "count"
) -> tuple[list[Place], set[str]]:
    """Changed and new places, and ids to remove, from a table with any of the columns of `read_places`.

    A column that is there is taken as it stands (blank hours mean the category's default again); one
    that is not keeps what the world has. A row with ``remove`` set takes its place away.
    """
    columns = Columns(path, required=["place_id"])
    allowed = ["place_id", *_COLUMNS, "remove", *_weight_columns(weight_column)]
    unknown = [name for name in columns.names if name not in allowed]
    if unknown:
        # A misspelt column would change nothing and say nothing.
        raise InputError(columns.source, f"unknown column {unknown[0]!r}, allowed are {', '.join(allowed)}")
    known = {place_id: row for row, place_id in enumerate(current.ids)}
    ids = columns.unique_ids("place_id")
    removals = columns.parse("remove", flag, default=False)
    needed = [
        name for name in ("lat", "lng", "category", *_weight_columns(weight_column)) if name not in columns
    ]
    for row, (place_id, is_removed) in enumerate(zip(ids, removals, strict=True)):
        if is_removed and place_id not in known:
            columns.complain(row, "place_id", f"found {place_id!r}, there is no such place to remove")
        elif needed and not is_removed and place_id not in known:
            columns.complain(
                row, "place_id", f"{place_id!r} is new and needs the columns {', '.join(needed)}"
            )
    is_kept = [not is_removed for is_removed in removals]
    fields = _parsed_fields(columns, tree, weight_column, is_kept)
    if "latitude" in fields and "longitude" in fields:
        _complain_of_nowhere(columns, is_kept)
        among = (current.latitudes.tolist(), current.longitudes.tolist())
        _complain_of_swapped(columns, fields, *among, is_kept)
    columns.finish()
    rows = [current.row(known[i], tree) if i in known else _blank(i) for i in ids]
    rows = _with_fields(rows, fields)
    changed = [row for row, kept in zip(rows, is_kept, strict=True) if kept]
    return changed, {place_id for place_id, kept in zip(ids, is_kept, strict=True) if not kept}


def read_public_venues(path: Path) -> list[Place]:
    """Venues that somebody published: ``place_id, lat, lng, category, popularity`` and, if given, ``name``.

    ``category`` is whatever the source calls it: it is looked up later.
    """
    columns = Columns(path, required=["place_id", "lat", "lng", "category", "popularity"])
    ids = columns.unique_ids("place_id")
    nothing: tuple[float, ...] = (1.0,)
    rows = zip(
        ids,
        columns.text("name"),
        columns.parse("lat", _latitude, 0.0),
        columns.parse("lng", _longitude, 0.0),
        columns.text("category"),
        columns.parse("popularity", _by_hour, nothing),
        strict=True,
    )
    columns.finish()
    return [
        Place(
            place_id=place_id,
            name=name or category,
            latitude=latitude,
            longitude=longitude,
            category_ids=(category,),
            popularity=popularity,
        )
        for place_id, name, latitude, longitude, category, popularity in rows
    ]


def write_places(path: Path, rows: Sequence[Place]) -> None:
    """Write places in the columns that `read_places` reads."""
    frame = pl.DataFrame(
        {
            "place_id": [row.place_id for row in rows],
            "name": [row.name for row in rows],
            "lat": [row.latitude for row in rows],
            "lng": [row.longitude for row in rows],
            "category": [";".join(row.category_ids) for row in rows],
            "hours": [row.hours for row in rows],
            "popularity": [";".join(f"{value:g}" for value in row.popularity) for row in rows],
            "anywhere": ["yes" if row.is_anywhere else "" for row in rows],
        }
    )
    write_csv(path, frame)


def write_categories(path: Path, tree: CategoryTree) -> None:
    """Write a category tree in the columns that `read_categories` reads."""
    frame = pl.DataFrame(
        {
            "category_id": tree.ids,
            "name": tree.names,
            "parent_id": [tree.ids[parent] if parent >= 0 else "" for parent in tree.parents],
            "hours": tree.hours,
        }
    )
    write_csv(path, frame)


def write_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write a table whole."""
    with whole_file(path) as file:
        frame.write_csv(file)


def write_parquet(path: Path, frame: pl.DataFrame, *, is_private: bool = False) -> None:
    """Write a table as Parquet, whole."""
    with whole_file(path, is_private=is_private) as file:
        file.write(packed_parquet(frame))


def packed_parquet(frame: pl.DataFrame, *, metadata: dict[str, str] | None = None) -> bytes:
    """A table as Parquet, by way of memory: polars has no word of its own for a full disk."""
    packed = io.BytesIO()
    frame.write_parquet(packed, metadata=metadata)
    return packed.getvalue()


def _has_position(columns: Columns) -> list[bool]:
    """Rows that say where they are, or must: all but those that are anywhere and leave it blank."""
    texts = zip(columns.text("anywhere"), columns.text("lat"), columns.text("lng"), strict=True)
    return [bool(lat or lng) or anywhere.lower() in NO for anywhere, lat, lng in texts]


def _in_the_middle(values: Sequence[float], has_position: Sequence[bool]) -> list[float]:
    """Places without a position stand in the middle of the others: for maps and grids, never for d_s."""
    known = [value for value, is_known in zip(values, has_position, strict=True) if is_known]
    middle = statistics.fmean(known) if known else 0.0
    return [value if is_known else middle for value, is_known in zip(values, has_position, strict=True)]


def _parsed_fields(
    columns: Columns,
    tree: CategoryTree,
    weight_column: str,
    is_wanted: Sequence[bool] | None = None,
    *,
    has_position: Sequence[bool] | None = None,
) -> dict[str, list[Any]]:
    """For each field of a place that the file has a column for, the values of all rows."""
    known = set(tree.ids)
    weights = _weight_columns(weight_column)
    parsers: list[tuple[str, str, Callable[[str], Any], Any]] = [
        ("name", "name", str, ""),
        ("lat", "latitude", _latitude, 0.0),
        ("lng", "longitude", _longitude, 0.0),
        ("category", "category_ids", lambda text: _category_ids(text, known), ()),
        ("hours", "hours", _hours, ""),
        ("popularity", "popularity", _by_hour, (1.0,)),
        ("anywhere", "is_anywhere", flag, False),
        *((name, "weight", _by_hour if name == "popularity" else _weight, (1.0,)) for name in weights),
    ]
    return {
        field: columns.parse(
            column, parser, default, has_position if column in _WHERE and has_position else is_wanted
        )
        for column, field, parser, default in parsers
        if column in columns
    }


def _with_fields(rows: Sequence[Place], fields: dict[str, list[Any]]) -> list[Place]:
    return [
        replace(row, **{field: values[index] for field, values in fields.items()})
        for index, row in enumerate(rows)
    ]


def _weight_columns(weight_column: str) -> list[str]:
    return [] if weight_column == "count" else [weight_column]


def _latitude(text: str) -> float:
    return number(text, low=-90, high=90, allowed="must be between -90 and 90; are lat and lng swapped?")


def _longitude(text: str) -> float:
    return number(text, low=-180, high=180, allowed="must be between -180 and 180")


def _category_ids(text: str, known: set[str]) -> tuple[str, ...]:
    ids = tuple(dict.fromkeys(part.strip() for part in text.split(";") if part.strip()))
    unknown = [category_id for category_id in ids if category_id not in known]
    if unknown or not ids:
        found = ", ".join(map(repr, unknown)) or "nothing"
        raise ValueError(f"found {found}, must be ids of the table of categories, joined by ';'")
    return ids


def _hours(text: str) -> str:
    problem = hours_problem(text) if text else None
    if problem:
        raise ValueError(problem)
    return text


def _by_hour(text: str) -> tuple[float, ...]:
    parts = text.split(";") if text else ["1"]
    if len(parts) not in {1, 24}:
        raise ValueError(f"found {len(parts)} numbers, must be one, or 24 (one per hour) joined by ';'")
    return tuple(number(part, low=0, high=1e12, allowed="must be between 0 and 1e12") for part in parts)


def _weight(text: str) -> tuple[float, ...]:
    return _by_hour(text or "0")


def _checked_hours(columns: Columns) -> list[str]:
    return columns.parse("hours", _hours, default="")


def _complain_of_nowhere(columns: Columns, is_wanted: Sequence[bool] | None = None) -> None:
    """Rows at 0, 0, in the sea: what tables say when they do not know."""
    for row, texts in enumerate(zip(columns.text("lat"), columns.text("lng"), strict=True)):
        if all(map(_is_zero, texts)) and (is_wanted is None or is_wanted[row]):
            problem = "found 0, 0, which is in the sea: give the place its position, or take the row out"
            columns.complain(row, "lat", problem)


def _is_zero(text: str) -> bool:
    try:
        return float(text) == 0
    except ValueError:
        return False


def _complain_of_swapped(
    columns: Columns,
    fields: dict[str, list[Any]],
    latitudes: Sequence[float],
    longitudes: Sequence[float],
    is_wanted: Sequence[bool] | None = None,
) -> None:
    """Rows far from all places (``latitudes``, ``longitudes``) that exchanged would be among them."""
    if len(latitudes) < 3 or columns.faults:
        return
    latitude, longitude = statistics.median(latitudes), statistics.median(longitudes)
    for row, (lat, lng) in enumerate(zip(fields["latitude"], fields["longitude"], strict=True)):
        is_far = abs(lat - latitude) > 10 and abs(lng - longitude) > 10
        would_fit = abs(lng - latitude) < 2 and abs(lat - longitude) < 2
        if is_far and would_fit and (is_wanted is None or is_wanted[row]):
            problem = f"found lat {lat:g}, lng {lng:g}, far from all other places unless the two are swapped"
            columns.complain(row, "lat", problem)


def _rows_in_cycles(ids: Sequence[str], parents: Sequence[str]) -> list[int]:
    parent_of = dict(zip(ids, parents, strict=True))
    in_cycle = []
    for row, start in enumerate(ids):
        seen = set()
        node = parent_of[start]
        while node and node != start and node not in seen:
            seen.add(node)
            node = parent_of[node]
        if node == start:
            in_cycle.append(row)
    return in_cycle
