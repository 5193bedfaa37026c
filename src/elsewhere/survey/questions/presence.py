"""`presence`: where people are at which hour."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from elsewhere.survey.boxes import box_map, boxes_from
from elsewhere.survey.questions.question import PublicMap, flag, hours_of_block, whole
from elsewhere.survey.questions.spaces import InCells, groups_from
from elsewhere.survey.things import GroupHours, Things
from elsewhere.world.world import World


@dataclass(frozen=True, kw_only=True)
class Presence(InCells):
    """Parts of the city by the hour."""

    kind: ClassVar[str] = "presence"
    what: ClassVar[str] = "people in each part of the city, by the hour"

    hours: int = 1
    """Length of a block of hours."""
    until_next: bool = False
    """People count where they are until the next visit, not only where they arrive."""
    boxes: int | None = None
    """So many boxes of space and time with nearly as many people each, by the public prior."""

    def __post_init__(self) -> None:
        super().__post_init__()
        hours_of_block(self.hours)
        flag("until_next", self.until_next)
        if self.boxes is not None:
            whole("boxes", self.boxes, 8, 1 << 14)
        self.check_space(self.grid, self.h3, self.polygons, self.boxes)

    def public_map(self, world: World, epsilon: Fraction, folder: Path) -> PublicMap:
        """The cell of each place; the box of each cell and hour."""
        if self.boxes is not None:
            return box_map(world, self.boxes)
        return super().public_map(world, epsilon, folder)

    def things(self, world: World, public: PublicMap) -> Things:
        if self.boxes is not None:
            return boxes_from(public, world, until_next=self.until_next)
        return GroupHours(
            groups=groups_from(public, world),
            timestep_minutes=world.clock.timestep_minutes,
            hours=self.hours,
            until_next=self.until_next,
        )
