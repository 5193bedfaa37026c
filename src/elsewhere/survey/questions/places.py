"""`places`: which places people visit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

from elsewhere.survey.questions.question import PublicMap, QuestionKind, hours_of_block
from elsewhere.survey.questions.spaces import groups_from, public_groups, single_places
from elsewhere.survey.things import GroupHours, Things
from elsewhere.world.world import World


@dataclass(frozen=True, kw_only=True)
class PlacesQuestion(QuestionKind):
    """Every place by itself, on the whole day or in blocks of hours."""

    kind: ClassVar[str] = "places"
    what: ClassVar[str] = "people who visit each place"

    hours: int = 24

    def __post_init__(self) -> None:
        super().__post_init__()
        hours_of_block(self.hours)

    def public_map(self, world: World, epsilon: Fraction, folder: Path) -> PublicMap:
        """The places themselves."""
        del epsilon, folder
        return public_groups(single_places(world))

    def things(self, world: World, public: PublicMap) -> Things:
        return GroupHours(
            groups=groups_from(public, world),
            timestep_minutes=world.clock.timestep_minutes,
            hours=self.hours,
        )
