"""The `.survey` file: one line that says what it is, then a zip of its terms, its questions and its world.

The hash in the first line names the survey: it covers terms, questions, public maps and the world's own hash.
Every report carries it. Nothing is unpickled and everything is checked before use, so that a file from a
stranger can do no more than be refused.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elsewhere.days.visits import Days
from elsewhere.errors import ElsewhereError, InputError
from elsewhere.files import whole_file
from elsewhere.mechanism.budget import exact_epsilon, short_fraction
from elsewhere.survey.questions.question import PublicMap
from elsewhere.survey.questions.registry import question_of
from elsewhere.survey.survey import Period, Question, Survey, Terms, ready_question
from elsewhere.world.file import parts_from_bytes, parts_to_bytes
from elsewhere.world.world import World

FORMAT = "elsewhere-survey"
VERSION = 1
_LONGEST_FIRST_LINE = 1024
_MOST_BYTES = 4 << 30
_NO_DATE = (1980, 1, 1, 0, 0, 0)


def survey_hash(survey: Survey) -> str:
    """sha256 over everything that makes a survey what it is: what reports name."""
    digest = hashlib.sha256(f"{FORMAT} {VERSION} {survey.world.hash}\n".encode() + _json(_facts(survey)))
    for number, question in enumerate(survey.questions):
        for name, array in sorted(question.public.arrays.items()):
            digest.update(f"\n{number}.{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).data)
    for name, array in _believed_arrays(survey).items():
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _believed_arrays(survey: Survey) -> dict[str, NDArray[Any]]:
    """Days of an earlier round, if there was one."""
    if survey.believed is None:
        return {}
    return {f"believed.{name}": array for name, array in survey.believed._asdict().items()}


def save_survey(survey: Survey, path: str | Path) -> str:
    """Write a `.survey` file, whole or not at all; the same survey gives the same bytes.

    Parameters
    ----------
    survey
        What `create_survey` made.
    path
        The file.

    Returns
    -------
    str
        The survey's hash, which every report names.

    Examples
    --------
    >>> len(ew.save_survey(survey, "mine.survey"))
    64
    """
    with whole_file(Path(path)) as file:
        file.write(survey_to_bytes(survey))
    return survey_hash(survey)


def survey_to_bytes(survey: Survey) -> bytes:
    """What a `.survey` file holds; the same survey gives the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        _write_entry(archive, "survey.json", _json(_facts(survey)))
        for number, question in enumerate(survey.questions):
            for name, array in sorted(question.public.arrays.items()):
                _write_array(archive, f"{number}.{name}", array)
        for name, array in _believed_arrays(survey).items():
            _write_array(archive, name, array)
        _write_entry(archive, "world", parts_to_bytes(survey.world, survey.world.hash))
    body = buffer.getvalue()
    head = {
        "format": FORMAT,
        "version": VERSION,
        "hash": survey_hash(survey),
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return _json(head) + b"\n" + body


def load_survey(path: str | Path) -> Survey:
    """Read a `.survey` file, from anyone: checked, and nothing in it is executed.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Survey
        World, terms and questions, ready to be answered or estimated.

    Raises
    ------
    InputError
        If the file is damaged, foreign, or of another format.

    Examples
    --------
    >>> ew.load_survey("city.survey").names
    ('presence',)
    """
    source = str(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise InputError(source, f"cannot be read: {error.strerror}") from None
    line, _, body = raw.partition(b"\n")
    head = _first_line(line, source)
    if hashlib.sha256(body).hexdigest() != head.get("sha256"):
        raise InputError(source, "truncated or corrupted, its checksum does not match; get it again")
    try:
        survey = _unzipped(body, source)
    except ElsewhereError as error:
        raise InputError(source, f"not a well-formed survey: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever a stranger's file provokes, it is the file's fault
        raise InputError(source, f"not a well-formed survey: {str(error) or type(error).__name__}") from None
    if survey_hash(survey) != head.get("hash"):
        raise InputError(source, "its content is not what its hash says; get it again")
    return survey


def _facts(survey: Survey) -> dict[str, Any]:
    terms = survey.terms
    period = terms.period and terms.period.plain()
    return {
        "terms": {**asdict(terms), "epsilon": str(terms.epsilon), "period": period},
        "questions": [_question_facts(question) for question in survey.questions],
    }


def _question_facts(question: Question) -> dict[str, Any]:
    return {
        "kind": question.kind,
        "share": str(question.share),
        "options": question.record.options(),
        "k": question.channel.odds.nearest,
        "columns": list(map(list, question.public.columns.items())),
    }


def _first_line(line: bytes, source: str) -> dict[str, Any]:
    try:
        head = json.loads(line) if len(line) <= _LONGEST_FIRST_LINE else None
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise InputError(source, "not a .survey file; `elsewhere survey create` makes one")
    if head.get("version") != VERSION:
        found = head.get("version")
        raise InputError(source, f"survey format {found}, this program reads {VERSION}: make it again")
    return head


def _unzipped(body: bytes, source: str) -> Survey:
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        entries = archive.infolist()
        if sum(entry.file_size for entry in entries) > _MOST_BYTES:
            raise ValueError("it would unpack to more than 4 GiB")
        if any(entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for entry in entries):
            raise ValueError("a compression that surveys do not use")
        facts = json.loads(archive.read("survey.json"))
        world = World(**vars(parts_from_bytes(archive.read("world"), source)))
        terms = _terms(facts["terms"])
        questions = tuple(
            _question(world, terms, plain, _arrays(archive, f"{number}."))
            for number, plain in enumerate(facts["questions"])
        )
        believed = _believed(world, _arrays(archive, "believed."))
    return Survey(world=world, terms=terms, questions=questions, believed=believed)


def _arrays(archive: zipfile.ZipFile, start: str) -> dict[str, NDArray[Any]]:
    found = {}
    for name in archive.namelist():
        if name.startswith(start) and name.endswith(".npy"):
            array = np.lib.format.read_array(io.BytesIO(archive.read(name)), allow_pickle=False)
            found[name.removeprefix(start).removesuffix(".npy")] = np.ascontiguousarray(array)
    return found


def _believed(world: World, arrays: dict[str, NDArray[Any]]) -> Days | None:
    """Days of an earlier round, each of them one that could be: on places and timesteps that there are."""
    if not arrays:
        return None
    days = Days(arrays["places"], arrays["times"], arrays["lengths"])
    if any(array.dtype != np.int32 for array in days) or days.places.ndim != 2 or not days.places.size:
        raise ValueError("believed days are damaged")
    is_visit = np.arange(days.places.shape[1]) < days.lengths[:, None]
    ordered = (np.diff(days.times, axis=1) > 0) | ~is_visit[:, 1:]
    if (
        days.times.shape != days.places.shape
        or not ((days.lengths >= 1) & (days.lengths <= days.places.shape[1])).all()
        or not np.where(
            is_visit, (days.places >= 0) & (days.places < len(world.places)), days.places == -1
        ).all()
        or not np.where(is_visit, (days.times >= 0) & (days.times < world.clock.timesteps), True).all()
        or not ordered.all()
    ):
        raise ValueError("believed days are damaged")
    return days


def _terms(plain: dict[str, Any]) -> Terms:
    period = plain["period"]
    days = None if period is None else Period(first=_date(period[0]), last=_date(period[1]))
    return Terms(**{**plain, "epsilon": exact_epsilon(plain["epsilon"]), "period": days})


def _date(text: str) -> dt.date:
    return dt.date.fromisoformat(text)


def _question(world: World, terms: Terms, plain: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Question:
    record = question_of(plain["kind"], plain["options"])
    columns = {str(name): list(values) for name, values in plain["columns"]}
    public = PublicMap(arrays=arrays, columns=columns)
    if type(plain["k"]) is not int:
        raise ValueError("k is no whole number")
    return ready_question(world, terms, record, short_fraction(str(plain["share"])), public, plain["k"])


def _write_array(archive: zipfile.ZipFile, name: str, array: NDArray[Any]) -> None:
    entry = io.BytesIO()
    np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)
    _write_entry(archive, f"{name}.npy", entry.getvalue())


def _write_entry(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, date_time=_NO_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
