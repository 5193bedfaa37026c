"""Days as rows of numbers, for methods whose draws see places and timesteps, and back."""

from __future__ import annotations

import time

from elsewhere.arrays import Indices
from elsewhere.errors import InputError
from elsewhere.mechanism.step import Outcome
from elsewhere.methods.protocol import Rebuilt
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.world import World

_MOST_VISITS = 2**31 - 1
SETTLE_WAYS = ("as drawn", "smoothed", "smoothed, partly closed", "stayed")


class VisitRows:
    """A visit is a number: place · |T| + timestep; a place nobody knows is one past the last."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._rows = world.place_index
        self._day = world.clock.timesteps
        # One message for everybody: a number too large for some days alone would tell which.
        if (len(world.places) + 1) * self._day > _MOST_VISITS:
            raise InputError("world", f"more than {_MOST_VISITS:,} (place, timestep) pairs are too many")

    def secret(self, trajectory: Trajectory) -> Outcome:
        """A total rule (R10): unknown places differ from others in time alone, late times are the last."""
        unknown, day = len(self._world.places), self._day
        return tuple(
            self._rows.get(place_id, unknown) * day + min(timestep, day - 1)
            for place_id, timestep in trajectory.visits
        )

    def check_length(self, length: int) -> None:
        if length > self._day:
            raise InputError("trajectory", f"a day has {self._day} timesteps, so at most {self._day} visits")

    def shared(self, places: Indices, times: Indices) -> list[SharedTrajectory]:
        """Rows of places and timesteps as days."""
        ids = self._world.places.ids
        return [
            SharedTrajectory(zip([ids[place] for place in row], steps, strict=True))
            for row, steps in zip(places.tolist(), times.tolist(), strict=True)
        ]

    def rebuilt(self, places: Indices, times: Indices, ways: Indices, started: float) -> Rebuilt:
        """The days, how each was found, and the time since ``started``."""
        shared = self.shared(places, times)
        names = [SETTLE_WAYS[way] for way in ways.tolist()]
        return Rebuilt(
            shared=shared, ways={"places": names}, seconds={"places": time.perf_counter() - started}
        )
