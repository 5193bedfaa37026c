"""`moves`: from where people go to where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elsewhere.survey.questions.question import PublicMap
from elsewhere.survey.questions.spaces import InCells, groups_from
from elsewhere.survey.things import Moves, Things
from elsewhere.world.world import World


@dataclass(frozen=True, kw_only=True)
class MovesQuestion(InCells):
    """From the cell of a visit to the cell of the next one."""

    kind: ClassVar[str] = "moves"
    what: ClassVar[str] = "people who go from one part of the city to another"

    def things(self, world: World, public: PublicMap) -> Things:
        return Moves(groups=groups_from(public, world))
