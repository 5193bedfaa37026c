"""From stamped places to days, cleaned as the paper's data section does, every step counted."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from elsewhere.device.matching import Person
from elsewhere.knowledge.clock import Clock
from elsewhere.randomness import Generator
from elsewhere.trajectories import Trajectory

LEAST_VISITS = 3


class Stamp(NamedTuple):
    """Somebody at a place, in local time."""

    moment: dt.datetime
    place_id: str
    position: tuple[float, float]
    """What was recorded, to tell repeats."""

    def __repr__(self) -> str:
        return "<private Stamp>"


class Cleaner:
    """Days of at least so many visits, from the stamps of one person and day.

    Paper: section 6.1.1 (sss:real-data).
    Deviation: least-visits — the paper names no least number; ours may be set to 1.
    """

    def __init__(
        self, clock: Clock, generator: Generator, steps: dict[str, int], least: int = LEAST_VISITS
    ) -> None:
        self._minutes = clock.timestep_minutes
        self._generator = generator
        self._steps = steps
        self._least = least
        for name in (
            "days",
            "repeats removed",
            f"points within {self._minutes} minutes of another removed",
            f"days with fewer than {least} visits left",
        ):
            steps.setdefault(name, 0)
        self._names = list(steps)[-4:]

    def day(self, uid: str, date: dt.date, stamps: Iterable[Stamp], *, by_gap: bool) -> Person | None:
        """One cleaned day, or None if too little is left.

        ``by_gap``: points less than a timestep apart are thinned to one, at random; else those within the
        same timestep of the clock.
        """
        days, repeats, close, short = self._names
        self._steps[days] += 1
        ordered = sorted(stamps, key=lambda stamp: stamp.moment)
        kept = list(_without_repeats(ordered))
        self._steps[repeats] += len(ordered) - len(kept)
        thinned = self._thinned(kept, by_gap=by_gap)
        # What stood between two visits to a place may be gone.
        final = list(_without_repeats(thinned))
        self._steps[close] += len(kept) - len(thinned)
        self._steps[repeats] += len(thinned) - len(final)
        if len(final) < self._least:
            self._steps[short] += 1
            return None
        visits = [(stamp.place_id, self._timestep(stamp.moment)) for stamp in final]
        return Person(uid=uid, tid=f"{uid}-{date:%Y%m%d}", date=date, trajectory=Trajectory(visits))

    def _timestep(self, moment: dt.datetime) -> int:
        return (moment.hour * 60 + moment.minute) // self._minutes

    def _thinned(self, stamps: Sequence[Stamp], *, by_gap: bool) -> list[Stamp]:
        """All but one of the points too close to each other go, at random.

        Deviation: thinning — close is close to the one that is kept; of check-ins, in the same timestep.
        """
        kept: list[Stamp] = []
        together = 1
        for stamp in stamps:
            if kept and self._is_close(kept[-1], stamp, by_gap=by_gap):
                together += 1
                # One of those so far is kept, each with the same chance.
                if self._generator.integers(together) == 0:
                    kept[-1] = stamp
            else:
                kept.append(stamp)
                together = 1
        return kept

    def _is_close(self, before: Stamp, stamp: Stamp, *, by_gap: bool) -> bool:
        if by_gap:
            return (stamp.moment - before.moment).total_seconds() < 60 * self._minutes
        return self._timestep(stamp.moment) == self._timestep(before.moment)


def _without_repeats(stamps: Iterable[Stamp]) -> Iterator[Stamp]:
    """Points that are not at the place, or the exact position, of the one before.

    Deviation: repeats — somebody who comes back later was there twice; only repeats in a row go.
    """
    before: Stamp | None = None
    for stamp in stamps:
        is_repeat = before is not None and (
            stamp.place_id == before.place_id or stamp.position == before.position
        )
        if not is_repeat:
            yield stamp
            before = stamp


def most_popular(counts: Counter[str], limit: int | None) -> list[str]:
    """The places with the highest counts; of equals those that come first by id."""
    ranked = sorted(counts, key=lambda place_id: (-counts[place_id], place_id))
    return ranked[:limit]
