"""`kinds`: which kinds of place people visit at which hour."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from elsewhere.survey.questions.question import PublicMap, QuestionKind, flag, hours_of_block, whole
from elsewhere.survey.questions.spaces import groups_from, kinds_of, public_groups
from elsewhere.survey.things import GroupHours, Things
from elsewhere.world.world import World


@dataclass(frozen=True, kw_only=True)
class Kinds(QuestionKind):
    """Categories by the hour."""

    kind: ClassVar[str] = "kinds"
    what: ClassVar[str] = "people at each kind of place, by the hour"

    level: int = 1
    """Of the category tree; 1 is the coarsest."""
    hours: int = 1
    until_next: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("level", self.level, 1, 16)
        hours_of_block(self.hours)
        flag("until_next", self.until_next)

    def public_map(self, world: World, epsilon: Fraction, folder: Path) -> PublicMap:
        """The category of each place."""
        del epsilon, folder
        return public_groups(kinds_of(world, self.level))

    def things(self, world: World, public: PublicMap) -> Things:
        return GroupHours(
            groups=groups_from(public, world),
            timestep_minutes=world.clock.timestep_minutes,
            hours=self.hours,
            until_next=self.until_next,
        )
