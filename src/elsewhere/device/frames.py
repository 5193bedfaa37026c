"""From and to tables as other tools of the field have them in memory, without needing any of these tools."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from elsewhere.arrays import Floats
from elsewhere.device.matching import Matcher, people_of
from elsewhere.device.points import date_order_of_table, points_of_table, table_of
from elsewhere.errors import InputError, MissingExtraError
from elsewhere.inputs.column_names import ALIASES
from elsewhere.randomness import SystemRandomness
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

Tool = Literal["scikit-mobility", "trackintel", "movingpandas"]

_GEOMETRIES = ("geometry", "geom")


def from_frame(frame: Any, *, world: World) -> list[Trajectory]:
    """Trajectories of a pandas frame as scikit-mobility, trackintel or movingpandas have it.

    Parameters
    ----------
    frame
        Columns go by any of their usual names; positions may be columns or points under ``geometry`` or
        ``geom``, times may be the index. The rows of one trajectory stand together.
    world
        Points without a known place go to its nearest place within 100 m.

    Returns
    -------
    list of Trajectory
        In the order of the frame. PRIVATE.

    Raises
    ------
    InputError
        With every fault, by row and column; private values are never quoted.

    Examples
    --------
    >>> days = ew.from_frame(frame, world=world)
    """
    columns = _columns(frame)
    matcher = Matcher(world.places, world.clock, SystemRandomness())
    table = table_of(columns)
    order = date_order_of_table(table, "frame")
    points = points_of_table(table, world.clock, "frame", order=order)
    return [person.trajectory for person in people_of(points, matcher, Path("frame"))]


def _columns(frame: Any) -> dict[str, list[str]]:
    """Columns as text, the index among them if it holds the times."""
    names = [str(name) for name in frame.columns]
    if not set(names) & set(ALIASES["datetime"]) and str(frame.index.name) in ALIASES["datetime"]:
        frame = frame.reset_index()
        names = [str(name) for name in frame.columns]
    columns = {name: [_text(value) for value in frame[name]] for name in names if name not in _GEOMETRIES}
    shapes = next((name for name in _GEOMETRIES if name in names), None)
    if shapes is not None and not set(names) & set(ALIASES["lat"]):
        columns["lat"] = [repr(float(point.y)) for point in frame[shapes]]
        columns["lng"] = [repr(float(point.x)) for point in frame[shapes]]
    if not set(columns) & set(ALIASES["uid"]):
        # movingpandas needs no person, only a trajectory.
        trips = next((columns[name] for name in ALIASES["tid"] if name in columns), None)
        columns |= {} if trips is None else {"uid": trips}
    return columns


def _text(value: Any) -> str:
    """What a cell says; blank for what is missing."""
    if value is None or value != value:  # noqa: PLR0124 - not-a-number and not-a-time differ from themselves
        return ""
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _libraries() -> tuple[Any, Any]:
    try:
        import pandas as pd  # noqa: PLC0415 - not a dependency
        import shapely  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("frames of pandas", "build' pandas 'elsewhere[build]") from None
    return pd, shapely


def to_frame(
    shared: Sequence[SharedTrajectory],
    *,
    world: World,
    like: Tool = "scikit-mobility",
    uids: Sequence[str] | None = None,
    date: dt.date | None = None,
) -> Any:
    """Shared trajectories as a pandas frame with the columns of another tool.

    Parameters
    ----------
    shared
        What `Sharing.share_many` gave.
    world
        The world they were shared on.
    like
        "scikit-mobility", "trackintel" or "movingpandas".
    uids
        Names of the people; 1, 2, ... if not given.
    date
        The day; the world's if not given.

    Returns
    -------
    pandas.DataFrame
        One row for each visit.

    Examples
    --------
    >>> list(ew.to_frame(shared, world=world).columns)
    ['uid', 'tid', 'datetime', 'lat', 'lng', 'place_id']
    """
    pd, _ = _libraries()
    names = [str(number) for number in range(1, len(shared) + 1)] if uids is None else list(uids)
    if len(names) != len(shared):
        raise InputError("uids", f"found {len(names)}, must be as many as trajectories, {len(shared)}")
    midnight = dt.datetime.combine(date or world.clock.date, dt.time())
    step = dt.timedelta(minutes=world.clock.timestep_minutes)
    rows = [
        (name, midnight + visit.timestep * step, world.place_index[visit.place_id], visit.place_id)
        for name, day in zip(names, shared, strict=True)
        for visit in day
    ]
    owners, moments, places, ids = zip(*rows, strict=True) if rows else ((), (), (), ())
    latitudes, longitudes = (axis[list(places)] for axis in (world.places.latitudes, world.places.longitudes))
    return _shaped(like, world, owners, pd.to_datetime(list(moments)), latitudes, longitudes, ids)


def _shaped(
    like: str, world: World, owners: Any, times: Any, latitudes: Floats, longitudes: Floats, ids: Any
) -> Any:
    """Columns as a tool has them."""
    pd, shapely = _libraries()
    match like:
        case "scikit-mobility":
            where = {"lat": latitudes, "lng": longitudes, "place_id": ids}
            return pd.DataFrame({"uid": owners, "tid": owners, "datetime": times, **where})
        case "trackintel":
            started = times.tz_localize(world.clock.timezone, ambiguous=True, nonexistent="shift_forward")
            return pd.DataFrame(
                {
                    "user_id": owners,
                    "started_at": started,
                    "finished_at": started + pd.Timedelta(minutes=world.clock.timestep_minutes),
                    "geom": shapely.points(longitudes, latitudes),
                    "location_id": ids,
                }
            ).rename_axis("id")
        case "movingpandas":
            points = shapely.points(longitudes, latitudes)
            frame = pd.DataFrame({"t": times, "traj_id": owners, "place_id": ids, "geometry": points})
            return frame.set_index("t")
        case _:
            raise InputError("like", f"found {like!r}, must be scikit-mobility, trackintel or movingpandas")
