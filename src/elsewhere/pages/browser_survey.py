"""A survey as the scripts of the people's page read it: public numbers alone, as JSON and base64.

The device in the browser (`scripts/device.js`, `scripts/things.js`) looks all of it up and works nothing
out anew, so that it answers as Python does, word for word. Where that cannot be promised, `why_not` says so,
and the page does not answer.
"""

from __future__ import annotations

import base64
import datetime as dt
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elsewhere.days.alignment import UNMATCHED
from elsewhere.days.visits import visit_distances
from elsewhere.device.other_city import FAR_KM
from elsewhere.device.personal import MATCH_KM, STAY_KM
from elsewhere.inputs.column_names import ALIASES
from elsewhere.knowledge.sphere import NEAR_CHORD_SQUARED, chord_squared_of_km
from elsewhere.mechanism.answer import things_of_secrets, words_for_answer
from elsewhere.mechanism.pick import words_for_candidates
from elsewhere.survey.boxes import AdaptiveBoxes
from elsewhere.survey.channels import DayChannel, SetChannel
from elsewhere.survey.file import survey_hash
from elsewhere.survey.part_names import SIDES, PartNames
from elsewhere.survey.report import FIRST_DAY
from elsewhere.survey.survey import Question, Survey, shares_denominator
from elsewhere.survey.things import GroupHours, Moves, Things, TripLengths, VisitNumber
from elsewhere.world.kinds import place_kinds
from elsewhere.world.world import World

Plain = dict[str, Any]
_MOST_BOUND = 1 << 32
"""The page draws whole numbers below this, from the lower half of a word."""
_MOST_TRIALS = 1_000_000


def why_not(survey: Survey) -> str:
    """Why a survey cannot be answered in a browser as Python would; empty if it can."""
    for name, question in zip(survey.names, survey.questions, strict=True):
        channel, odds = question.channel, question.channel.odds
        has_lengths = isinstance(channel.things, TripLengths) or isinstance(channel, DayChannel)
        if has_lengths and not _is_small(survey.world):
            return f"{name} compares places more than 200 km apart, which browsers do with other last digits"
        distances = survey.world.distances
        if isinstance(channel, DayChannel) and (not distances.measure.is_plain or len(distances.table)):
            return f"{name} compares days by a [distance] of the world's own, which browsers do not know"
        if odds.trials > _MOST_TRIALS:
            return f"{name} takes {odds.trials:,} trials, too long for a browser"
        if max(odds.candidates, odds.denominator, channel.seeds) > _MOST_BOUND:
            return f"{name} has numbers too large for a browser"
        is_known = isinstance(channel, SetChannel) and _rule(channel.things) is not None
        if not is_known and not isinstance(channel, DayChannel):
            return f"{name} is of a kind that the page does not know"
    return ""


def _is_small(world: World) -> bool:
    """Whether all places are near each other: then distances need no arc sine (`knowledge.sphere`)."""
    vectors = world.places.vectors
    spread = vectors.max(axis=0) - vectors.min(axis=0)
    return bool((spread**2).sum() < NEAR_CHORD_SQUARED)


def browser_survey(survey: Survey) -> Plain:
    """All that the scripts need of a survey that `why_not` finds nothing against."""
    world, terms = survey.world, survey.terms
    distances = visit_distances(world)
    parts = shares_denominator(survey.questions)
    start = dt.date(2000, 1, 3) if terms.period is None else terms.period.first
    return {
        "hash": survey_hash(survey),
        "epsilon": str(terms.epsilon),
        "odds": math.exp(min(float(terms.epsilon), 500.0)),
        "days": terms.days,
        "least": terms.least,
        "purpose": terms.purpose,
        "period": terms.period and terms.period.plain(),
        "first_day": (start - FIRST_DAY).days,
        "day_unit": terms.day_unit,
        "timezone": world.clock.timezone,
        "timesteps": world.clock.timesteps,
        "minutes": world.clock.timestep_minutes,
        "categories": _packed(distances.category_table, "<f8"),
        "hours_per_step": distances.hours_per_step,
        "time_cap_hours": distances.time_cap_hours,
        "is_circular": world.settings.circular_time,
        "match_chord": chord_squared_of_km(MATCH_KM),
        "stay_chord": chord_squared_of_km(STAY_KM),
        "far_chord": chord_squared_of_km(FAR_KM),
        "aliases": {**ALIASES, "date": ["date"]},
        "places": _places(world),
        "questions": [
            {**_question(world, question, parts), **_names(world, question)} for question in survey.questions
        ],
    }


def _packed(array: NDArray[Any], kind: str = "<i4") -> str:
    """An array as the scripts read it: little-endian, base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")


def _places(world: World) -> Plain:
    """Where places are, what they are, and when they are open: one row of bits for each pattern of hours."""
    kinds = place_kinds(world.places, world.tree, world.settings.category_levels)
    patterns, pattern = np.unique(world.is_open, axis=0, return_inverse=True)
    return {
        "names": list(world.places.names),
        "vectors": _packed(world.places.vectors, "<f8"),
        "anywhere": _packed(world.places.is_anywhere),
        "kinds": _packed(kinds.of_place),
        "kind_names": [world.tree.names[node] or world.tree.ids[node] for node, *_ in kinds.nodes],
        "pattern": _packed(pattern.reshape(-1)),
        "open": _packed(np.packbits(patterns, axis=1, bitorder="little"), "<u1"),
    }


def _question(world: World, question: Question, parts: int) -> Plain:
    channel, odds = question.channel, question.channel.odds
    plain: Plain = {
        "kind": question.kind,
        "share": int(question.share * parts),
        "odds": [odds.candidates, odds.nearest, odds.numerator, odds.denominator, odds.trials],
        "things": channel.things.count,
        "columns": {name: question.public.columns.get(name, []) for name in ("hour", "hours")},
    }
    if isinstance(channel, DayChannel):
        books = {name: _packed(question.public.arrays[name]) for name in ("places", "times", "lengths")}
        words = words_for_candidates(odds, constant_work=True)
        more = {"of": "day", "seeds": channel.seeds, "shards": channel.seeds, "unmatched": UNMATCHED}
        return {**plain, **books, **more, "words": words}
    if not isinstance(channel, SetChannel):
        raise TypeError("a channel that the page does not know")  # `why_not` comes first
    # As wide as on a device: a column for each timestep, whatever the day (R15).
    nobody = np.full((1, world.clock.timesteps), -1, dtype=np.int32)
    width = things_of_secrets(nobody, channel.things, world.clock.timesteps).shape[1]
    words = words_for_answer(channel.tables, width, constant_work=True)
    return {**plain, **(_rule(channel.things) or {}), "seeds": channel.tables.seeds, "words": words}


def _rule(things: Things) -> Plain | None:
    """How things of a day are found, as public tables; None for a kind that the scripts do not know."""
    match things:
        case GroupHours():
            members = _packed(things.groups.members[0])
            return {"of": "hours", "members": members, "hours": things.hours, "until_next": things.until_next}
        case AdaptiveBoxes():
            members, boxes = _packed(things.cells.members[0]), _packed(things.box_of)
            return {"of": "boxes", "members": members, "box_of": boxes, "until_next": things.until_next}
        case Moves():
            return {
                "of": "moves",
                "members": _packed(things.groups.members[0]),
                "groups": things.groups.count,
            }
        case VisitNumber():
            return {"of": "visits", "most": things.most}
        case TripLengths():
            return {"of": "trips", "edges_km": list(things.edges_km)}
        case _:
            return None


def _names(world: World, question: Question) -> Plain:
    """What each group of places is called, for people to read: by itself, or by a place in it."""
    columns = question.public.columns
    own = columns.get("category") or columns.get("area") or []
    if own or "south" not in columns:
        return {"names": own, "is_named": True}  # single places have their names already
    known = PartNames(world.places)
    boxes = zip(*(columns[side] for side in SIDES), strict=True)
    names = [known.of((south, west, north, east)) for south, west, north, east in boxes]
    return {"names": [name.removeprefix("around ") for name in names], "is_named": False}
