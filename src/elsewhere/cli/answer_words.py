"""What an answer names, in words: for the person who gave it. It may be true of their day, or not."""

from __future__ import annotations

from typing import Any

from elsewhere.survey.channels import Channel, DayChannel, SetChannel
from elsewhere.survey.part_names import SIDES, PartNames
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from elsewhere.survey.things import Things, trip_words
from elsewhere.world.world import World


def answer_in_words(survey: Survey, report: Report) -> str:
    """The thing that was picked, or the bucket of things."""
    channel, number = survey.questions[report.question].channel, report.output
    outputs = channel.odds.candidates
    if isinstance(channel, DayChannel):
        return f"made-up day {number + 1:,} of {outputs:,} in list {report.seed + 1:,}"
    if is_hashed(channel):
        share = max(1, round(channel.things.count / outputs))
        return f"bucket {number + 1:,} of {outputs:,}; each holds about {share:,} things, put there by chance"
    if number >= channel.things.count:
        return "a blank, which names nothing"
    return _thing_in_words(channel.things, number, survey.world)


def is_hashed(channel: Channel) -> bool:
    """Whether an answer names a bucket of things, and not a thing."""
    return isinstance(channel, SetChannel) and channel.tables.is_hashed


def _thing_in_words(things: Things, number: int, world: World) -> str:
    row = {name: values[number] for name, values in things.columns().items()}
    if "from_km" in row:
        return f"a trip of {trip_words(row['from_km'], row['to_km'])}"
    if "visits" in row:
        visits = row["visits"]
        return f"{visits} visit{'s' if visits > 1 else ''}{' or more' if visits == things.count else ''}"
    names = PartNames(world.places)
    moves = [_where(row, names, prefix) for prefix in ("from_", "to_")]
    parts = [" to ".join(filter(None, moves)), _where(row, names)]
    parts += [str(row.get(name, "")) for name in ("category", "name")]
    if "hour" in row:
        hours = row.get("hours", getattr(things, "hours", 1))
        parts.append(f"{row['hour']}:00 to {row['hour'] + hours}:00")
    return ", ".join(filter(None, parts))


def _where(row: dict[str, Any], names: PartNames, prefix: str = "") -> str:
    """A part of the city, if the thing is about one."""
    if f"{prefix}south" not in row:
        return ""
    south, west, north, east = (row[f"{prefix}{side}"] for side in SIDES)
    return names.of((south, west, north, east), row.get(f"{prefix}area"))
