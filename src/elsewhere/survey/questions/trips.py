"""`trips`: how far people go from one visit to the next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from elsewhere.errors import InputError
from elsewhere.survey.questions.question import PublicMap, QuestionKind
from elsewhere.survey.things import Things, TripLengths
from elsewhere.world.world import World

_MOST_BINS = 200


@dataclass(frozen=True, kw_only=True)
class Trips(QuestionKind):
    """Lengths of trips in bins of km."""

    kind: ClassVar[str] = "trips"
    what: ClassVar[str] = "people with a trip of such a length"

    edges_km: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0)
    """Where one bin ends and the next begins."""

    def __post_init__(self) -> None:
        super().__post_init__()
        edges: Any = self.edges_km
        is_list = isinstance(edges, list | tuple) and 1 <= len(edges) <= _MOST_BINS
        if not is_list or not all(type(edge) in {int, float} and 0 < edge < 50_000 for edge in edges):
            raise InputError("question.edges_km", "must be a list of lengths above 0, in km")
        if any(after <= before for before, after in pairwise(edges)):
            raise InputError("question.edges_km", "must go up")
        object.__setattr__(self, "edges_km", tuple(map(float, edges)))

    def things(self, world: World, public: PublicMap) -> Things:
        del public
        return TripLengths(edges_km=self.edges_km, vectors=world.places.vectors)
