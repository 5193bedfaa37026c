"""Popularity of venues that check-ins tell of: whose visits it is counted from, and at which hours they are.

Counts of the very people who share are not public: many a venue is visited by one person only, and a list of
the most popular ones is made of them too. So people are parted by a rule that nobody chose: one half is
counted, and only the days of the other half are ever shared.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.errors import InputError
from elsewhere.inputs.tables import read_public_venues
from elsewhere.knowledge.places import Place
from elsewhere.world.settings import HELD_OUT, SAME_PEOPLE, PopularityFrom

_WORDS: dict[str, PopularityFrom] = {"held-out": HELD_OUT, "same": SAME_PEOPLE}
_PUBLIC_FILE = "public:"
# Check-ins of all kinds of place that are mixed into each kind's: a rare kind has few of its own.
_BORROWED = 50.0

ByHour = tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PopularitySource:
    """Whose visits popularity is counted from; ``venues`` where somebody else published them.

    Deviation: held-out-popularity — the paper takes the most popular venues of the people it perturbs.
    """

    kind: PopularityFrom
    venues: Sequence[Place] = ()
    """All that is public of venues then; what check-ins say of them is not, not even that they exist."""
    counts_all: bool = False
    """Everybody who checked in is counted: the days to be shared are other people's."""

    def counts(self, uid: str) -> bool:
        """Whether this person's check-ins may make anything public: places, hours, the time zone."""
        if self.kind == HELD_OUT:
            return self.counts_all or is_held_out(uid)
        return self.kind == SAME_PEOPLE

    def shares(self, uid: str) -> bool:
        """Whether this person's days are among those to be shared."""
        return self.kind != HELD_OUT or not is_held_out(uid)


def popularity_source(text: str) -> PopularitySource:
    """What ``--popularity`` says: ``held-out``, ``same``, or ``public:FILE``."""
    if text in _WORDS:
        return PopularitySource(kind=_WORDS[text])
    if text.startswith(_PUBLIC_FILE):
        venues = read_public_venues(Path(text.removeprefix(_PUBLIC_FILE)))
        return PopularitySource(kind="public", venues=venues)
    allowed = "must be held-out, same, or public:FILE (place_id, lat, lng, category, popularity)"
    raise InputError("--popularity", f"found {text!r}, {allowed}")


def is_held_out(uid: str) -> bool:
    """Every other person, by a digest of the id: always the same ones, whatever the order of a file."""
    return hashlib.sha256(f"held out? {uid}".encode()).digest()[0] % 2 == 0


def by_hour(
    counts: Counter[str], kinds: Mapping[str, str], at_hours: Counter[tuple[str, int]]
) -> dict[str, ByHour]:
    """Each venue's count, spread over the day as visits to its kind of place are; the mean is the count."""
    overall = np.zeros(24)
    of_kind: dict[str, Floats] = {kind: np.zeros(24) for kind in kinds.values()}
    for (venue, hour), count in at_hours.items():
        if venue in kinds:
            overall[hour] += count
            of_kind[kinds[venue]][hour] += count
    borrowed = _BORROWED * overall / max(overall.sum(), 1.0)
    curves = {kind: 24 * (own + borrowed) / (own + borrowed).sum() for kind, own in of_kind.items()}
    return {
        venue: tuple(round(count * weight, 4) for weight in curves[kinds[venue]].tolist())
        for venue, count in counts.items()
    }
