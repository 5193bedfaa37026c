"""Answer a survey for all people of a file: in batches, in bounded memory, and never twice.

As in `job`, finished batches wait beside the output until all are there, and a run that was stopped goes on
after the last of them. At the end reports are put in the order of their random ids, since the order of the
file would tell who is who.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from elsewhere.device.ahead import one_ahead
from elsewhere.device.day_columns import in_batches
from elsewhere.device.job_folder import JobFolder, counts_file
from elsewhere.device.people import AskedDays, DatedDays, asked_people
from elsewhere.device.shared_file import write_part
from elsewhere.device.simulate import reports_in_pieces
from elsewhere.errors import InputError
from elsewhere.files import check_can_write, check_suffix, refuse_to_replace, write_text
from elsewhere.progress import Progress, no_progress
from elsewhere.randomness import FreshRandomness, SeededRandomness, SystemRandomness, label_of
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import survey_hash
from elsewhere.survey.reports import write_reports, write_reports_of_files
from elsewhere.survey.survey import Survey

BATCH = 50_000
_SORTED_AT_ONCE = 2_000_000
_PREFIXES = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswered:
    """What a job has done, all of it or with what earlier runs had finished."""

    by_question: dict[str, int]
    """Reports for each question."""
    others: int
    """Days that the survey does not ask about. It depends on what is true: for this device alone."""


def answer_file(
    source: Path,
    output: Path,
    survey: Survey,
    *,
    workers: int = 1,
    seed: int | None = None,
    progress: Progress = no_progress,
) -> FileAnswered:
    """Answer for every person of ``source`` into ``output``, going on where an earlier run stopped."""
    check_suffix(output, ".parquet")
    refuse_to_replace(output, [source])
    _refuse_existing(output)
    check_can_write(output)
    randomness: FreshRandomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    looked = AskedDays(survey.terms)
    for _ in asked_people(source, survey, SystemRandomness(), looked):
        pass  # whatever is wrong with the file shows before the first draw
    looked.check_some(str(source))
    label = label_of(randomness)
    facts = {"survey": survey_hash(survey), "randomness": label, "batch": BATCH}
    with JobFolder(output, facts, source) as folder:
        _refuse_existing(output)  # another run may have finished while this one was getting ready
        parts = folder.finished_parts()
        progress(min(len(parts) * BATCH, looked.asked), looked.asked)
        asked = AskedDays(survey.terms)
        people = asked_people(source, survey, randomness.stream(0), asked)
        answering = Answering(survey)
        for batch in one_ahead(islice(in_batches(people, BATCH), len(parts), None), workers):
            folder.check_unchanged()
            some, stream = DatedDays(batch.dates, batch.days), randomness.stream(1 + len(parts))
            frame = pl.concat(reports_in_pieces(answering, some, stream, workers))
            parts.append(_keep(folder.path, len(parts), frame))
            progress(min(len(parts) * BATCH, looked.asked), looked.asked)
        folder.check_unchanged()
        counts = _counts_of(parts, folder)
        _write_in_order(output, parts, looked.asked, folder.path, label)
        folder.remove()
    by_question = {name: counts[str(number)] for number, name in enumerate(survey.names)}
    return FileAnswered(by_question=by_question, others=looked.others)


def _refuse_existing(output: Path) -> None:
    if output.exists():
        raise InputError(
            str(output), "is there already: answering again would spend ε again, so it stays as it is"
        )


def _keep(folder: Path, number: int, frame: pl.DataFrame) -> Path:
    """Keep the reports of one batch, first how many there are."""
    part = folder / f"part-{number:06d}.parquet"
    counts = {str(question): count for question, count in frame["question"].value_counts().iter_rows()}
    write_text(counts_file(part), json.dumps(counts), is_private=True)
    write_part(part, frame)
    return part


def _counts_of(parts: list[Path], folder: JobFolder) -> Counter[str]:
    """Reports for each question; a part that cannot be read makes going on useless."""
    counts: Counter[str] = Counter()
    for part in parts:
        try:
            counted = json.loads(counts_file(part).read_text(encoding="utf-8"))
            counts.update({str(question): int(count) for question, count in counted.items()})
            pl.scan_parquet(part).select(pl.len()).collect()
        except (OSError, ValueError, TypeError, AttributeError, pl.exceptions.PolarsError):
            raise folder.damaged() from None
    return counts


def _write_in_order(output: Path, parts: list[Path], count: int, folder: Path, label: str) -> None:
    """All reports by their random ids: as many at a time as fit into memory, those that begin alike."""
    if count <= _SORTED_AT_ONCE:
        write_reports(output, pl.concat(map(pl.read_parquet, parts)).sort("id"), randomness=label)
        return
    files = []
    for number, (first, last) in enumerate(_ranges(-(-count // _SORTED_AT_ONCE))):
        is_mine = (pl.col("id") >= first) & (pl.col("id") < last)
        some = pl.scan_parquet(parts).filter(is_mine).collect(engine="streaming")
        files.append(folder / f"sorted-{number:06d}.parquet")
        write_part(files[-1], some.sort("id"))
    write_reports_of_files(output, files, randomness=label)


def _ranges(count: int) -> Iterator[tuple[str, str]]:
    """Where ids are parted, by their first four letters; after `g` there is none."""
    edges = [f"{number * _PREFIXES // count:04x}" for number in range(count)]
    yield from zip(edges, [*edges[1:], "g"], strict=True)
