"""`visits`: how many visits people have in a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from elsewhere.survey.questions.question import PublicMap, QuestionKind, whole
from elsewhere.survey.things import Things, VisitNumber
from elsewhere.world.world import World


@dataclass(frozen=True, kw_only=True)
class Visits(QuestionKind):
    """The number of visits."""

    kind: ClassVar[str] = "visits"
    what: ClassVar[str] = "people with so many visits in a day"

    most: int = 8
    """The last number stands for so many or more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        whole("most", self.most, 2, 200)

    def things(self, world: World, public: PublicMap) -> Things:
        del public
        return VisitNumber(most=self.most, places=len(world.places))
