"""From points in columns to people's days in columns: matched to places and cleaned, many at once.

The same rules as `matching`, which does it day by day for single people; a test holds the two together.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.spatial import cKDTree

from elsewhere.arrays import Bools, Counts, Indices, Words
from elsewhere.compiled import compiled
from elsewhere.device.matching import DAY_IS_APART, MATCH_KM, TRIP_GAP, TRIP_IS_LONG
from elsewhere.device.other_city import FAR_KM
from elsewhere.device.owner import NO_OWNER, NOT_SAID_WHOSE
from elsewhere.device.point_columns import PointColumns, joined_points, some_points
from elsewhere.device.tally import DaysOfPeople
from elsewhere.errors import InputError
from elsewhere.knowledge.sphere import chord_squared_of_km, unit_vectors
from elsewhere.randomness import Randomness, next_below
from elsewhere.trajectories import Trajectories, joined_trajectories
from elsewhere.world.world import World

Thinning = Callable[[Sequence[str], Counts], Randomness]
"""From whose days these are, and their dates, to what decides which point of a timestep stays."""
DAY_MICROS = 86_400_000_000
_MINUTE = 60_000_000
TRIP_GAP_MICROS = TRIP_GAP // dt.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PeopleColumns:
    """Days of people, and whose they are. PRIVATE."""

    uids: pl.Series
    tids: pl.Series
    dates: Counts
    """Days since 1970."""
    days: Trajectories
    epsilons: pl.Series
    """What the rows of each day say of the ε that the person chose: lists of one text, if they agree."""

    def __len__(self) -> int:
        return len(self.days)


def some_people(people: PeopleColumns, first: int, last: int) -> PeopleColumns:
    """Days ``first`` to before ``last``."""
    return people_of_rows(people, np.arange(first, last))


def people_of_rows(people: PeopleColumns, rows: Counts) -> PeopleColumns:
    """Some of the days."""
    return PeopleColumns(
        uids=people.uids.gather(rows),
        tids=people.tids.gather(rows),
        dates=people.dates[rows],
        days=people.days.some(rows),
        epsilons=people.epsilons.gather(rows),
    )


def joined_people(parts: Sequence[PeopleColumns]) -> PeopleColumns:
    if len(parts) == 1:
        return parts[0]
    return PeopleColumns(
        uids=pl.concat([part.uids for part in parts]),
        tids=pl.concat([part.tids for part in parts]),
        dates=np.concatenate([part.dates for part in parts]),
        days=joined_trajectories([part.days for part in parts]),
        epsilons=pl.concat([part.epsilons for part in parts]),
    )


def in_batches(parts: Iterable[PeopleColumns], size: int) -> Iterator[PeopleColumns]:
    """The same people, so many days at a time; the last batch may have fewer."""
    waiting: list[PeopleColumns] = []
    count = 0
    for part in parts:
        waiting.append(part)
        count += len(part)
        if count < size:
            continue
        joined = joined_people(waiting)
        whole = count - count % size
        for first in range(0, whole, size):
            yield some_people(joined, first, first + size)
        waiting, count = [some_people(joined, whole, len(joined))], count - whole
    if count:
        yield joined_people(waiting)


class DayMatcher:
    """Turns points of whole days into visits; keeps count of what it had to do, as `Matcher` does."""

    def __init__(self, world: World) -> None:
        self._places, self._clock = world.places, world.clock
        ids = pl.Series(world.places.ids, dtype=pl.String)
        self._rows = pl.DataFrame({"place_id": ids, "row": np.arange(len(ids), dtype=np.int32)})
        self._unknown = len(ids)
        self._tree = cKDTree(world.places.vectors)
        self.counts: Counter[str] = Counter()
        self.points = 0
        self.far_points = 0
        """Of all points those more than 50 km from every place."""

    def days(self, points: PointColumns, starts: Counts, randomness: Randomness) -> Trajectories:
        """Visits of the days whose points begin at ``starts``; the last entry is the number of points."""
        self.points += len(points)
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        order = np.lexsort((points.moments, owners))
        is_late = order != np.arange(len(order))
        self.counts["trajectories not in order of time"] += len(np.unique(owners[is_late]))
        owners = owners[order]
        moments = points.moments[order]
        places = self._matched(points, owners, order)
        steps = self._timesteps(moments, starts)
        kept = np.flatnonzero(places >= 0)
        kept = kept[_is_new(owners[kept], places[kept])]
        self.counts["repeats removed"] += int((places >= 0).sum()) - len(kept)
        chosen = kept[_one_of_each(owners[kept], steps[kept], len(starts) - 1, randomness)]
        self.counts["points within one timestep removed"] += len(kept) - len(chosen)
        lengths = np.bincount(owners[chosen], minlength=len(starts) - 1)
        return Trajectories(
            places=places[chosen],
            times=steps[chosen],
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        )

    def _matched(self, points: PointColumns, owners: Counts, order: Counts) -> Indices:
        """The row of each point's place, in order of time; −1 for what is left out."""
        named = points.place_ids.to_frame("place_id").join(
            self._rows, on="place_id", how="left", maintain_order="left"
        )
        places = named["row"].fill_null(self._unknown).to_numpy()[order].astype(np.int32)
        latitudes, longitudes = points.latitudes[order], points.longitudes[order]
        searched = np.flatnonzero((places == self._unknown) & np.isfinite(latitudes))
        has_name = (points.place_ids.str.len_bytes() > 0).to_numpy()[order]
        places[(places == self._unknown) & ~has_name] = -1
        if not len(searched):
            return places
        chords, nearest = self._tree.query(unit_vectors(latitudes[searched], longitudes[searched]))
        limit, far = (chord_squared_of_km(km) ** 0.5 for km in (MATCH_KM, FAR_KM))
        is_near = chords <= limit
        places[searched] = np.where(is_near, nearest, -1)
        self.far_points += int((chords > far).sum())
        self.counts["points matched to a place"] += int(is_near.sum())
        self.counts["points farther than 100 m from any place"] += int((~is_near).sum())
        # Nobody is dropped (R10): where nothing would be left of a day, all its points count.
        is_lost = np.ones(owners[-1] + 1, dtype=np.bool_)
        is_lost[owners[places >= 0]] = False
        self.counts["trajectories with no point near a place"] += int(is_lost.sum())
        everywhere = np.zeros(len(places), dtype=np.int32)
        everywhere[searched] = nearest
        return np.where(is_lost[owners], everywhere, places).astype(np.int32)

    def _timesteps(self, moments: Counts, starts: Counts) -> Indices:
        """Timesteps of the first point's day; what comes after midnight counts as the day's last."""
        midnights = np.repeat(moments[starts[:-1]] // DAY_MICROS * DAY_MICROS, np.diff(starts))
        steps = (moments - midnights) // (_MINUTE * self._clock.timestep_minutes)
        self.counts["points after midnight"] += int((steps >= self._clock.timesteps).sum())
        return np.asarray(np.minimum(steps, self._clock.timesteps - 1), dtype=np.int32)


def _is_new(owners: Counts, values: Indices) -> Bools:
    """Whether each row is the first of those in a row with the same day and value."""
    is_new = np.ones(len(owners), dtype=np.bool_)
    is_new[1:] = (owners[1:] != owners[:-1]) | (values[1:] != values[:-1])
    return is_new


def _one_of_each(owners: Counts, steps: Indices, days: int, randomness: Randomness) -> Counts:
    """Of the visits within a timestep one, at random: its row for each timestep that has any."""
    firsts = np.flatnonzero(_is_new(owners, steps))
    counts = np.diff(np.append(firsts, len(owners)))
    states = randomness.words_for_rows(days, 1)[:, 0].copy()
    return firsts + _picks(owners[firsts], counts, states)


@compiled
def _picks(owners: Counts, counts: Counts, states: Words) -> Counts:
    """A whole number below each count, from the words of its day."""
    found = np.zeros(len(counts), dtype=np.int64)
    for i in range(len(counts)):
        if counts[i] > 1:
            found[i] = next_below(states[owners[i] : owners[i] + 1], counts[i])
    return found


def people_in_columns(
    parts: Iterable[PointColumns],
    matcher: DayMatcher,
    source: str,
    thinning: Thinning,
    tally: DaysOfPeople | None = None,
) -> Iterator[PeopleColumns]:
    """Days of each part of a file; what may go on in the next part waits for it. See `matching.people_of`."""
    tally = DaysOfPeople() if tally is None else tally
    left: PointColumns | None = None
    for part in parts:
        points = part if left is None else joined_points([left, part])
        groups = _groups(points)
        days = _settled(points, groups)
        whole = int(groups.starts[days])
        left = some_points(points, slice(whole, None))
        if whole:
            some = _Groups(groups.starts[: days + 1], groups.dates[:days])
            yield _people(some_points(points, slice(0, whole)), some, matcher, source, thinning, tally)
    if left is not None and len(left):
        yield _people(left, _groups(left), matcher, source, thinning, tally)


class _Groups(NamedTuple):
    """Where each person's day begins among points, at the end how many points there are, and its date."""

    starts: Counts
    dates: Counts


def _settled(points: PointColumns, groups: _Groups) -> int:
    """How many days no later row can change: all but the last.

    A trip that goes on may turn out to have begun on an earlier day: none of its person's is settled then.
    """
    if len(groups.starts) < 2:
        return 0
    last = len(points) - 1
    if not points.tids[last]:
        return len(groups.starts) - 2
    first = int(np.flatnonzero(_changes(points.uids))[-1])
    return int(np.searchsorted(groups.starts, first))


def _groups(points: PointColumns) -> _Groups:
    """Points of one person's local day that stand together; a trip belongs to the day of its first point."""
    if not len(points):
        return _Groups(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64))
    local = points.moments // DAY_MICROS
    by_day = np.where((points.tids.str.len_bytes() > 0).to_numpy(), 0, local)
    trip = _changes(points.uids) | _changes(points.tids)
    trip[1:] |= by_day[1:] != by_day[:-1]
    trip[1:] |= np.diff(points.moments) >= TRIP_GAP_MICROS
    firsts = np.flatnonzero(trip)
    dates = np.minimum.reduceat(points.moments, firsts) // DAY_MICROS
    is_day = _changes(points.uids)[firsts]
    is_day[1:] |= dates[1:] != dates[:-1]
    starts = np.append(firsts[is_day], len(points)).astype(np.int64)
    return _Groups(starts, dates[is_day])


def _changes(text: pl.Series) -> Bools:
    """Whether each row differs from the one before; the first does."""
    return np.asarray((text != text.shift(1)).fill_null(value=True).to_numpy().copy())


def _people(
    points: PointColumns,
    groups: _Groups,
    matcher: DayMatcher,
    source: str,
    thinning: Thinning,
    tally: DaysOfPeople,
) -> PeopleColumns:
    firsts = groups.starts[:-1]
    uids, dates = points.uids.gather(firsts), groups.dates
    if (uids == NO_OWNER).any():
        raise InputError(source, NOT_SAID_WHOSE)
    is_new = tally.add_days(uids, dates)
    last_dates = np.maximum.reduceat(points.moments, firsts) // DAY_MICROS
    if not (is_good := is_new & (last_dates <= dates + 1)).all():
        raise InputError(source, TRIP_IS_LONG if is_new[np.argmin(is_good)] else DAY_IS_APART)
    written = pl.Series(dates).cast(pl.Int32).cast(pl.Date).cast(pl.String)
    tids = points.tids.gather(firsts)
    return PeopleColumns(
        uids=uids,
        tids=pl.select(pl.when(tids.str.len_bytes() > 0).then(tids).otherwise(written)).to_series(),
        dates=dates,
        days=matcher.days(points, groups.starts, thinning(uids.to_list(), dates)),
        epsilons=_texts_of(points.epsilons, groups.starts),
    )


def _texts_of(epsilons: pl.Series, starts: Counts) -> pl.Series:
    """The texts that each day's rows have, each once."""
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    frame = pl.DataFrame({"day": owners, "epsilon": epsilons})
    return frame.group_by("day", maintain_order=True).agg(pl.col("epsilon").unique(maintain_order=True))[
        "epsilon"
    ]
