"""Sharing single visits as they happen, with a budget for any window of days."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any

from elsewhere.days.visits import visit_distances
from elsewhere.device.charge import Charge, hours_of_part
from elsewhere.device.ledger import Ledger
from elsewhere.errors import InputError
from elsewhere.mechanism.budget import exact_epsilon
from elsewhere.mechanism.listing import Outcome, State, Step
from elsewhere.mechanism.live import LiveTables, PartsOfDay, Picked, part_step, pick_place
from elsewhere.randomness import Randomness, SystemRandomness, label_of, random_id
from elsewhere.trajectories import Trajectory
from elsewhere.world.place_world import place_world
from elsewhere.world.settings import SAME_PEOPLE
from elsewhere.world.world import World

EVERY_MINUTES = 180
_MOST_DAYS = 366


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePart:
    """What is told of a part of a day: a place, or that there was none."""

    day: str
    begins: str
    ends: str
    place_id: str | None
    stream: str
    """Random, the same for all parts of a day: they are told of one person."""
    randomness: str
    is_again: bool


class LiveSharing:
    """Single visits as they happen: every part of a day is told of, whether there was a visit in it or not.

    Any two histories of visits that differ within ``window_days`` days in a row, and nowhere else, are told
    apart by at most ε, as long as all of them are told with these settings: no such window has more than its
    parts, and each costs its share of ε (w-event privacy). What is told over a longer time adds up; the
    ledger's cap is for all of it.

    Parameters
    ----------
    world
        The public world.
    epsilon
        ε of any window of days.
    every_minutes
        How long a part of a day is. Something is told at the end of each.
    window_days
        How many days a window has.

    Raises
    ------
    InputError
        If a day does not divide into such parts, or the world is not public.

    Examples
    --------
    >>> live = ew.LiveSharing(world, epsilon=5, every_minutes=240)
    >>> live.epsilon_of_part
    Fraction(5, 6)
    """

    def __init__(
        self,
        world: World,
        *,
        epsilon: float | str | Fraction,
        every_minutes: int = EVERY_MINUTES,
        window_days: int = 1,
    ) -> None:
        clock = world.clock
        if every_minutes < 1 or 1440 % every_minutes or every_minutes % clock.timestep_minutes:
            raise InputError(
                "every_minutes",
                f"found {every_minutes}, must divide a day and be a multiple of {clock.timestep_minutes}",
            )
        if not 1 <= window_days <= _MOST_DAYS:
            raise InputError("window_days", f"found {window_days}, must be 1 to {_MOST_DAYS}")
        if world.settings.popularity_from == SAME_PEOPLE:
            raise InputError("world", "was made of the same people's days: nothing can be promised")
        self.world = world
        self.epsilon = exact_epsilon(epsilon)
        self.every_minutes, self.window_days = every_minutes, window_days
        self.parts = 1440 // every_minutes
        self.epsilon_of_part = self.epsilon / (self.parts * window_days)
        steps = every_minutes // clock.timestep_minutes
        self.secret = PartsOfDay(world, steps)
        self.tables = LiveTables(
            places=place_world(world),
            distances=visit_distances(world),
            steps=steps,
            epsilon=self.epsilon_of_part,
        )

    def pick(
        self, trajectory: Trajectory, part: int, before: Picked | None, randomness: Randomness | None = None
    ) -> Picked | None:
        """What is told of one part of a day, given what was told before it; None for nowhere."""
        truth = self.secret(trajectory)[part]
        place = pick_place(self.tables, truth, part, before, randomness or SystemRandomness())
        return None if place == self.tables.nowhere else Picked(part, place)

    def step(self, secret: Outcome, state: State | None) -> Step | None:
        """The next pick of a day, listed, for the audit."""
        return part_step(self.tables, secret, state)

    def share(
        self, day: dt.date, trajectory: Trajectory, ledger: Ledger, *, parts: int | None = None
    ) -> list[LivePart]:
        """Tell of the first ``parts`` parts of a day, all if not given; what was told before stays as it is.

        Every part is charged, drawn and written down before it is handed out, as whole days are.
        """
        told: list[LivePart] = []
        before: Picked | None = None
        for part, charge in enumerate(islice(self._charges(day), parts)):
            stream = told[0].stream if told else random_id()
            draw = partial(self._drawn, trajectory, part, before, stream)
            plain, is_again = ledger.paid([charge], draw)[charge.day]
            told.append(self._told(day, part, plain, is_again=is_again))
            if plain["place"] is not None:
                before = Picked(part, self.world.place_index[plain["place"]])
        return told

    def _drawn(
        self, trajectory: Trajectory, part: int, before: Picked | None, stream: str, _name: str
    ) -> dict[str, Any]:
        """A part's report, as the ledger keeps it."""
        source = SystemRandomness()
        picked = self.pick(trajectory, part, before, source)
        place = None if picked is None else self.world.places.ids[picked.place]
        return {"id": stream, "randomness": label_of(source), "place": place}

    def _told(self, day: dt.date, part: int, plain: dict[str, Any], *, is_again: bool) -> LivePart:
        begins, ends = self._begins(part), self._begins(part + 1)
        return LivePart(
            day=day.isoformat(),
            begins=begins,
            ends=ends,
            place_id=plain["place"],
            stream=plain["id"],
            randomness=plain["randomness"],
            is_again=is_again,
        )

    def _charges(self, day: dt.date) -> Iterator[Charge]:
        """What each part costs, under its own name."""
        how = json.dumps(
            {
                "method": "live",
                "epsilon": str(self.epsilon),
                "every_minutes": self.every_minutes,
                "window_days": self.window_days,
            },
            sort_keys=True,
        )
        for part in range(self.parts):
            minutes = part * self.every_minutes
            hours = hours_of_part(day, minutes, self.every_minutes, self.world.clock.timezone)
            name = f"{day.isoformat()}T{self._begins(part)}"
            yield Charge(name, str(self.epsilon_of_part), how, self.world.hash, hours)

    def _begins(self, part: int) -> str:
        return self.world.clock.label(part * self.tables.steps)
