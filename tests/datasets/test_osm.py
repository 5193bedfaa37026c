"""Cities: OpenStreetMap extracts and Parquet tables of places."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
import shapely

import elsewhere as ew
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.feasible import only_feasible
from elsewhere.datasets.osm import read_osm
from elsewhere.datasets.osm_places import embedded_city
from elsewhere.datasets.osm_tags import groups, kind_of
from elsewhere.errors import InputError
from elsewhere.knowledge.travel import StepTable
from raw import real

NODES = {1: (50.0, 10.0), 2: (50.0, 10.01), 3: (50.01, 10.01), 4: (50.01, 10.0)}
PLACES = {
    11: (
        50.0001,
        10.0001,
        {"amenity": "restaurant", "name": "Da Gino", "opening_hours": "Mo-Su 11:00-23:00"},
    ),
    12: (50.0001, 10.0099, {"shop": "bakery", "name": "Krume", "opening_hours": "early"}),
    13: (50.0099, 10.0099, {"amenity": "bench", "name": "A bench"}),
    14: (50.0099, 10.0001, {"amenity": "cafe"}),
    15: (50.0050, 10.0001, {"tourism": "hotel", "amenity": "restaurant", "name": "Grand"}),
    16: (50.0050, 10.0099, {"shop": "yes", "name": "Things"}),
}


def _extract(folder: Path) -> Path:
    """A block with streets round it, five places and an area."""
    lines = [f'<node id="{n}" version="1" lat="{lat}" lon="{lng}"/>' for n, (lat, lng) in NODES.items()]
    corners = {21: (50.004, 10.004), 22: (50.004, 10.006), 23: (50.006, 10.006), 24: (50.006, 10.004)}
    lines += [f'<node id="{n}" version="1" lat="{lat}" lon="{lng}"/>' for n, (lat, lng) in corners.items()]
    for node, (lat, lng, tags) in PLACES.items():
        inner = "".join(f'<tag k="{key}" v="{value}"/>' for key, value in tags.items())
        lines.append(f'<node id="{node}" version="1" lat="{lat}" lon="{lng}">{inner}</node>')
    ways = [
        ([1, 2, 3, 4, 1], {"highway": "residential"}),
        ([21, 22, 23, 24, 21], {"leisure": "park", "name": "The park"}),
    ]
    for number, (refs, tags) in enumerate(ways, start=1):
        inner = "".join(f'<nd ref="{n}"/>' for n in refs)
        inner += "".join(f'<tag k="{key}" v="{value}"/>' for key, value in tags.items())
        lines.append(f'<way id="{number}" version="1">{inner}</way>')
    path = folder / "block.osm"
    path.write_text('<osm version="0.6">' + "\n".join(lines) + "</osm>")
    return path


def test_places_streets_and_days_of_an_extract(tmp_path: Path) -> None:
    dataset = read_osm([_extract(tmp_path)], limit=None, timezone="UTC", people=50)
    by_id = {place.place_id: place for place in dataset.places}
    assert set(by_id) == {"n11", "n12", "n15", "n16", "w2"}
    assert by_id["n11"].category_ids == ("Food and drink > Eating out > amenity=restaurant",)
    assert by_id["n11"].hours == "Mo-Su 11:00-23:00"
    assert by_id["n12"].hours == ""
    assert by_id["n15"].category_ids == ("Lodging > Hotels > tourism=hotel",)
    assert by_id["n16"].category_ids == ("Shopping > Other shops > shop=other",)
    assert by_id["w2"].latitude == pytest.approx(50.005)
    assert dataset.steps["no places, such as benches"] == 1
    assert dataset.steps["places without a name or hours"] == 1
    assert dataset.steps["opening hours not understood"] == 1
    facts = write_dataset(tmp_path / "out", dataset)
    assert facts["trajectories"] == 50
    path = tmp_path / "out/world.toml"
    path.write_text(path.read_text().replace("[travel]", "kappa = 1\n\n[travel]"))
    world = ew.build_world(path)
    assert isinstance(world.travel, StepTable)
    assert world.clock.timezone == "UTC"
    again = read_osm([_extract(tmp_path)], limit=None, timezone="UTC", people=50)
    assert len(list(only_feasible(again))) == 50


def test_every_group_says_when_and_how_long() -> None:
    for group in groups().values():
        assert len(group.by_hour) == 24
        assert sum(group.by_hour) == pytest.approx(1)
        assert len(group.dwell) == 7
    assert kind_of({"amenity": "waste_basket"}) is None
    assert kind_of({"shop": "vacant"}) is None
    restaurant = kind_of({"amenity": "restaurant;bar"})
    assert restaurant is not None
    assert restaurant.path[0] in groups()


def _foursquare_places(folder: Path) -> Path:
    labels = [["Dining and Drinking > Restaurant > Pizzeria"], ["Retail > Bakery"], None, ["Retail > Bakery"]]
    pl.DataFrame(
        {
            "fsq_place_id": ["f1", "f2", "f3", "f4"],
            "name": ["One", "Two", "Three", "Four"],
            "latitude": [50.0, 50.001, 50.0, 50.002],
            "longitude": [10.0, 10.001, 10.0, 10.002],
            "fsq_category_labels": labels,
            "date_closed": [None, None, None, "2020-01-01"],
        }
    ).write_parquet(folder / "fsq.parquet")
    return folder / "fsq.parquet"


def _overture_places(folder: Path) -> Path:
    points = [shapely.to_wkb(shapely.Point(10.0 + i / 1000, 50.0)) for i in range(3)]
    pl.DataFrame(
        {
            "id": ["o1", "o2", "o3"],
            "names": [{"primary": name} for name in ("One", "Two", None)],
            "categories": [{"primary": "coffee_shop"}] * 3,
            "geometry": points,
            "taxonomy": [{"hierarchy": ["eat_and_drink", "cafe", "coffee_shop"]}] * 3,
        }
    ).write_parquet(folder / "overture.parquet")
    return folder / "overture.parquet"


def test_places_of_parquet_tables(tmp_path: Path) -> None:
    dataset = read_osm([_foursquare_places(tmp_path)], limit=None, timezone="UTC", people=10)
    assert [place.place_id for place in dataset.places] == ["f1", "f2"]
    assert dataset.places[0].category_ids == ("Dining and Drinking > Restaurant > Pizzeria",)
    assert dataset.roads is None
    assert write_dataset(tmp_path / "fsq", dataset)["trajectories"] == 10
    dataset = read_osm([_overture_places(tmp_path)], limit=None, timezone="UTC", people=10)
    assert [place.name for place in dataset.places] == ["One", "Two"]
    assert dataset.places[0].latitude == 50.0
    assert dataset.tree.ids[0] == "eat_and_drink"
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="neither Foursquare's columns"):
        read_osm([tmp_path / "x.parquet"], limit=None, timezone="UTC")
    (tmp_path / "y.parquet").write_text("nothing of the kind")
    with pytest.raises(InputError, match="not a Parquet file"):
        read_osm([tmp_path / "y.parquet"], limit=None, timezone="UTC")


def test_helsinki_is_embedded() -> None:
    dataset = read_osm([embedded_city()], limit=2000, timezone="Europe/Helsinki", people=20)
    assert len(dataset.places) > 1000
    assert dataset.steps["places with opening hours of their own"] > 400
    assert len(list(dataset.days)) == 20


def test_the_real_manhattan() -> None:
    dataset = read_osm(
        [real("osm/manhattan_midtown.osm.pbf")],
        limit=None,
        people=5,
        streets="none",
    )
    assert len(dataset.places) >= 5000
    assert dataset.steps["places with opening hours of their own"] >= 2000
