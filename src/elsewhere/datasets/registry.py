"""All data sources by name: one entry carries all that others ask about a source.

The command line's `dataset`, the experiments and the table in the docs derive from these entries. Adding a
source: see CONTRIBUTING.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path

from elsewhere.datasets.bundle import Dataset
from elsewhere.datasets.campus_files import pick_campus, read_campus
from elsewhere.datasets.checkins import read_checkins
from elsewhere.datasets.fixes import read_fixes, read_stays
from elsewhere.datasets.foursquare import pick_foursquare, read_foursquare
from elsewhere.datasets.osm import read_osm
from elsewhere.datasets.personal import read_personal
from elsewhere.datasets.safegraph import pick_safegraph, read_safegraph
from elsewhere.datasets.taxi import pick_taxi, read_taxi
from elsewhere.datasets.taxi_made import read_made_taxi

Pick = Callable[[Sequence[Path]], tuple[Path, ...]]


def _none(_files: Sequence[Path]) -> tuple[Path, ...]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """What others ask about a data source before they read it."""

    name: str
    read: Callable[..., Dataset]
    """``read(raw, **options, progress=...)``; its keyword arguments are the options on the command line."""
    summary: str
    """What it is and what is made of it, in a sentence."""
    files: str
    """Which raw files it takes."""
    places: str
    """What its places are."""
    days: str
    """What its trajectories are."""
    example: str
    """Arguments of `elsewhere dataset`, as people would type them."""
    doing: str = "Reading"
    """What a progress bar says."""
    real: str = ""
    """What captions call it where it is read from raw files."""
    speed_kmh: float | None = None
    """Travel speed in experiments; None: not one of their data sets."""
    is_private: bool = False
    """Somebody's own days, all of them kept."""
    made_up_by: str = ""
    """The source that makes up days like these where experiments have no raw files; blank: any city."""
    pick: Pick = _none
    """Of many files those of this source, told apart by what they hold; none if some are missing."""

    @property
    def options(self) -> list[Parameter]:
        """Its own options, with their defaults."""
        parameters = list(signature(self.read, eval_str=True).parameters.values())
        return [one for one in parameters[1:] if one.name != "progress"]

    @property
    def needs_raw(self) -> bool:
        """Whether there is nothing to read without a raw file."""
        return next(iter(signature(self.read).parameters.values())).default is Parameter.empty


_ENTRIES = (
    SourceEntry(
        name="campus",
        read=read_campus,
        summary="Make the paper's campus: buildings of nine categories and a day of each of its people.",
        files="none, or UBC's buildings (CSV or GeoJSON)",
        places="262 made up, or 431 real buildings",
        days="made up, by the paper's recipe with its three events",
        example="campus -o campus",
        doing="Making up days",
        real="UBC campus, made-up days",
        speed_kmh=4.0,
        pick=pick_campus,
    ),
    SourceEntry(
        name="foursquare",
        read=read_foursquare,
        summary="Foursquare check-ins (TSMC2014, any city) with or without its category tree: people's days.",
        files="TSMC2014 check-ins, as published or with a header; category tree (v2 JSON) if wanted",
        places="the most popular venues; private homes only with `--with-homes`",
        days="people's local days",
        example="foursquare --raw dataset_TSMC2014_NYC.txt -o nyc",
        doing="Reading check-ins",
        real="Foursquare NYC",
        speed_kmh=8.0,
        pick=pick_foursquare,
    ),
    SourceEntry(
        name="checkins",
        read=read_checkins,
        summary="Anybody's check-ins, whatever the columns are called: venues as places, people's days.",
        files="tables with a person, a time, a venue and its position",
        places="their most popular venues",
        days="people's local days",
        example="checkins --raw checkins.csv --columns uid=member,place_id=spot -o city",
        doing="Reading check-ins",
    ),
    SourceEntry(
        name="fixes",
        read=read_fixes,
        summary="Anybody's GPS fixes, also cabs of San Francisco, on given places: people's days.",
        files="tables with a time and a position, and people in a column or in files of their own",
        places="those of `--places` or of a world",
        days="people's local days, of stays found in the fixes",
        example="fixes --raw cabs -w city.world -o cabs-days",
        doing="Reading fixes",
    ),
    SourceEntry(
        name="stays",
        read=read_stays,
        summary="Anybody's stays (where, from when to when) on given places: people's days.",
        files="tables with a person, a position, a beginning and, if known, an end",
        places="those of `--places` or of a world",
        days="people's local days",
        example="stays --raw staypoints.csv --places places.csv -o city",
        doing="Reading stays",
    ),
    SourceEntry(
        name="taxi",
        read=read_taxi,
        summary="New York taxi trips of 2013 (TLC, DEBS 2015) on Foursquare's places: drivers' days.",
        files="trips of 2013 (TLC, DEBS 2015, whole days by taxi), and the two files of `foursquare`",
        places="as `foursquare`",
        days="drivers' days, matched within 100 m",
        example="taxi --raw trip_data_1.csv --raw checkins.txt --raw categories.json -o taxi",
        doing="Reading trips",
        real="New York taxis, a real sample",
        # 96 % of its days are within reach at 30 km/h, 34 % at the paper's 8: taxis are faster than that.
        speed_kmh=30.0,
        made_up_by="taxi-made",
        pick=pick_taxi,
    ),
    SourceEntry(
        name="taxi-made",
        read=read_made_taxi,
        summary="Made-up taxi trips, cleaned as real ones are: drivers' days, all of them feasible.",
        files="none, or the two files of `foursquare`",
        places="made up, or as `foursquare`",
        days="made-up drivers' days, matched within 100 m",
        example="taxi-made -o taxis",
        doing="Making up trips",
        real="made-up taxi trips on Foursquare's places of New York",
        speed_kmh=8.0,
        pick=pick_foursquare,
    ),
    SourceEntry(
        name="safegraph",
        read=read_safegraph,
        summary="SafeGraph's Core Places and Patterns, NAICS codes: places, days made up from popularity.",
        files="Core Places; Patterns (monthly or weekly); NAICS codes (`code, title`) if titles are wanted",
        places="those with patterns",
        days="made up from popularity by hour and dwell times",
        example="safegraph --raw core_poi.csv --raw patterns.csv --raw naics.csv -o town",
        doing="Making up days",
        real="SafeGraph, made-up days",
        speed_kmh=8.0,
        pick=pick_safegraph,
    ),
    SourceEntry(
        name="osm",
        read=read_osm,
        summary="Any city of OpenStreetMap: places with their own hours, streets, made-up days.",
        files="an `.osm.pbf` or `.osm`, or Parquet of Overture Maps or Foursquare Open Source Places",
        places="named ones, with their own hours",
        days="made up from a prior by kind of place and hour",
        example="osm -o helsinki",
        doing="Making up days",
    ),
    SourceEntry(
        name="personal",
        read=read_personal,
        summary="Your own days, from Google Timeline or Takeout, GPX, OwnTracks or CSV, on a world. PRIVATE.",
        files="your own exports: see [Share a day](share-a-day.md)",
        places="those of a given world",
        days="your own days. Private",
        example="personal --raw Timeline.json -w city.world -o mine",
        is_private=True,
    ),
)

SOURCES: dict[str, SourceEntry] = {entry.name: entry for entry in _ENTRIES}
