"""Reports of many devices at once, for research: each day answers as on a device of its own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np
import polars as pl

from elsewhere.arrays import Floats, Indices
from elsewhere.mechanism.answer import things_of_secrets
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import FreshRandomness, Randomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.reports import SCHEMA
from elsewhere.survey.survey import Survey
from elsewhere.trajectories import Trajectory

_BATCH = 20_000


def simulated_reports(
    survey: Survey,
    people: Sequence[tuple[dt.date, Trajectory]],
    randomness: FreshRandomness,
    progress: Progress = no_progress,
) -> pl.DataFrame:
    """Reports of many devices, one for each day, as if each had answered by itself."""
    answering, name = Answering(survey), survey_hash(survey)
    frames = []
    for start in range(0, len(people), _BATCH):
        batch = people[start : start + _BATCH]
        secrets = [answering.secret(trajectory) for _, trajectory in batch]
        rows = answering.rows(secrets, constant_work=False)
        frames.append(answered(answering, name, [day for day, _ in batch], rows, randomness))
        progress(start + len(batch), len(people))
    # By their random ids: the order of the file must not tell who is who.
    return pl.concat(frames).sort("id") if frames else pl.DataFrame(schema=SCHEMA)


def answered(
    answering: Answering, name: str, dates: Sequence[dt.date], rows: Indices, randomness: Randomness
) -> pl.DataFrame:
    """Reports about days whose visits are numbered, one for each row; ``name`` is the survey's hash."""
    found, _ = answering.answer_rows(rows, randomness, constant_work=False)
    ids = randomness.words_for_rows(len(rows), 2).tobytes().hex()
    told = {date: answering.survey.terms.told_day(date) for date in set(dates)}
    return pl.DataFrame(
        {
            "survey": [name] * len(rows),
            "id": [ids[32 * at : 32 * at + 32] for at in range(len(rows))],
            "question": found[:, 0],
            "day": [told[date] for date in dates],
            "seed": found[:, 1],
            "output": found[:, 2],
        }
    ).cast(SCHEMA)  # type: ignore[arg-type]  # names and types


def true_shares(survey: Survey, people: Sequence[tuple[dt.date, Trajectory]]) -> dict[str, Floats]:
    """The share of made-up people who have each thing of each question: what a survey should find."""
    answering = Answering(survey)
    rows = answering.rows([answering.secret(day) for _, day in people], constant_work=False)
    found = {}
    for name, question in zip(survey.names, survey.questions, strict=True):
        things = things_of_secrets(rows, question.things, survey.world.clock.timesteps)
        found[name] = np.bincount(things[things >= 0], minlength=question.things.count) / len(people)
    return found
