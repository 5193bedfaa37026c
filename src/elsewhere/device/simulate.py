"""Reports of many devices at once, for research: each day answers as on a device of its own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl

from elsewhere.arrays import Counts, Floats, Indices
from elsewhere.device.people import DatedDays, date_of
from elsewhere.mechanism.answer import things_of_secrets
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import FreshRandomness, Randomness
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.reports import SCHEMA
from elsewhere.survey.survey import Survey

_PIECE = 5000


def simulated_reports(
    survey: Survey,
    people: DatedDays,
    randomness: FreshRandomness,
    progress: Progress = no_progress,
    workers: int = 1,
) -> pl.DataFrame:
    """Reports of many devices, one for each day, as if each had answered by itself."""
    answering, done = Answering(survey), 0
    frames = []
    for frame in reports_in_pieces(answering, people, randomness, workers):
        frames.append(frame)
        done += frame.height
        progress(done, len(people))
    # By their random ids: the order of the file must not tell who is who.
    return pl.concat(frames).sort("id") if frames else pl.DataFrame(schema=SCHEMA)


def reports_in_pieces(
    answering: Answering, people: DatedDays, randomness: FreshRandomness, workers: int
) -> Iterator[pl.DataFrame]:
    """Reports of some days after the other, each piece with chance of its own, whoever works on it."""
    name = survey_hash(answering.survey)

    def of_piece(number: int) -> pl.DataFrame:
        some = people.some(np.arange(number * _PIECE, min((number + 1) * _PIECE, len(people))))
        rows = answering.secret.padded(some.days)
        return answered(answering, name, some.dates, rows, randomness.stream(number))

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(of_piece, range(-(-len(people) // _PIECE)))


def answered(
    answering: Answering, name: str, dates: Counts, rows: Indices, randomness: Randomness
) -> pl.DataFrame:
    """Reports about days whose visits are numbered, one for each row; ``name`` is the survey's hash."""
    found, _ = answering.answer_rows(rows, randomness, constant_work=False)
    ids = randomness.words_for_rows(len(rows), 2).tobytes().hex()
    told_of, which = np.unique(dates, return_inverse=True)
    told = [answering.survey.terms.told_day(date_of(number)) for number in told_of.tolist()]
    return pl.DataFrame(
        {
            "survey": pl.repeat(name, len(rows), dtype=pl.String, eager=True),
            "id": [ids[32 * at : 32 * at + 32] for at in range(len(rows))],
            "question": found[:, 0],
            "day": pl.Series(told, dtype=pl.Date).gather(which),
            "seed": found[:, 1],
            "output": found[:, 2],
        }
    ).cast(SCHEMA)  # type: ignore[arg-type]  # names and types


def true_shares(survey: Survey, people: DatedDays) -> dict[str, Floats]:
    """The share of made-up people who have each thing of each question: what a survey should find."""
    rows = Answering(survey).secret.padded(people.days)
    found = {}
    for name, question in zip(survey.names, survey.questions, strict=True):
        things = things_of_secrets(rows, question.things, survey.world.clock.timesteps)
        found[name] = np.bincount(things[things >= 0], minlength=question.things.count) / len(people)
    return found
