"""What comes in, read strictly: reports as bytes or as JSON; else a clear word, and nothing is kept."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Sequence

from starlette.requests import ClientDisconnect, Request

from elsewhere.errors import InputError
from elsewhere.survey.channels import check_answer
from elsewhere.survey.report import SIZE, Report, report_from_bytes, report_from_json
from elsewhere.survey.survey import Survey

MOST_REPORTS = 1000
"""In one request."""
BYTES, JSON = "application/octet-stream", "application/json"
_MOST_BODY = {BYTES: SIZE * MOST_REPORTS, JSON: 400 * MOST_REPORTS}
_PATIENCE = 20.0
_MOST_AT_ONCE = 64 << 20
_SHORTEST_JSON = 150
"""Letters of a report as JSON."""


class RefusedError(Exception):
    """A request that is refused: a status, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Room:
    """Bytes of requests that are still coming in: together no more than memory bears."""

    def __init__(self, most: int = _MOST_AT_ONCE) -> None:
        self.left = most

    def take(self, size: int) -> None:
        """Room for so many more bytes, if there is any."""
        if size > self.left:
            raise RefusedError(503, "too many requests at once: come again in a while")
        self.left -= size


async def body_in(request: Request, room: Room, patience: float = _PATIENCE) -> tuple[str, bytes]:
    """What a request holds, and as what: bytes or JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _MOST_BODY:
        raise RefusedError(415, f"content type must be {BYTES} or {JSON}")
    try:
        return kind, await asyncio.wait_for(_body(request, _MOST_BODY[kind], room), patience)
    except TimeoutError:
        raise RefusedError(408, "the request took too long") from None
    except ClientDisconnect:
        raise RefusedError(400, "the request ended early") from None


def size_in_reports(kind: str, body: bytes) -> int:
    """How many reports a body could hold: what is refused must not come for nothing."""
    return max(1, len(body) // (SIZE if kind == BYTES else _SHORTEST_JSON))


def reports_of(kind: str, body: bytes, survey: Survey, name: str) -> list[Report]:
    """The reports of a request, all checked against the survey and its hash."""
    try:
        found = _from_bytes(body) if kind == BYTES else _from_json(body)
    except InputError as error:
        raise RefusedError(400, str(error)) from None
    _check(found, survey, name)
    return found


async def _body(request: Request, most: int, room: Room) -> bytes:
    """A body of at most so many bytes; more is not even read."""
    too_large = f"a request may have at most {most:,} bytes, {MOST_REPORTS:,} reports"
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and len(declared) < 19 and int(declared) > most:
        raise RefusedError(413, too_large)
    parts, size = [], 0
    try:
        async for part in request.stream():
            room.take(len(part))
            size += len(part)
            if size > most:
                raise RefusedError(413, too_large)
            parts.append(part)
    finally:
        room.left += size
    return b"".join(parts)


def _from_bytes(body: bytes) -> list[Report]:
    if not body or len(body) % SIZE:
        raise InputError("reports", f"have {len(body):,} bytes, must have {SIZE} for each report")
    return [report_from_bytes(body[start : start + SIZE]) for start in range(0, len(body), SIZE)]


def _from_json(body: bytes) -> list[Report]:
    """One report, or a list of them; each is read by the one strict reader."""
    try:
        text = body.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise InputError("reports", "must be JSON in UTF-8") from None
    if not text.startswith("["):
        return [report_from_json(text)]
    try:
        listed = json.loads(text, object_pairs_hook=tuple)
    except (ValueError, RecursionError):
        raise InputError("reports", "are not JSON as reports have it") from None
    if not 1 <= len(listed) <= MOST_REPORTS:
        raise InputError("reports", f"found {len(listed):,} of them, must be 1 to {MOST_REPORTS:,}")
    return [report_from_json(_as_written(one)) for one in listed]


def _as_written(one: object) -> str:
    """One report of a list as text again, with every key as often as it was there."""
    if not isinstance(one, tuple):  # an object; a list of pairs is none
        raise InputError("report", "must be an object")
    try:
        return "{" + ",".join(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in one) + "}"
    except (TypeError, ValueError, RecursionError):  # deep enough to be read, too deep to be written
        raise InputError("report", "must be an object") from None


def _check(reports: Sequence[Report], survey: Survey, name: str) -> None:
    """Of this survey, about a question that is asked and a day of the period, with an answer that can be."""
    terms = survey.terms
    for report in reports:
        if report.survey != name:
            raise RefusedError(409, f"is of survey {report.survey[:12]}; this collector is for {name[:12]}")
        if report.question >= len(survey.questions):
            raise RefusedError(422, f"question {report.question} is not asked")
        channel = survey.questions[report.question].channel
        if problem := check_answer(channel, report.seed, report.output):
            raise RefusedError(422, problem)
        period = terms.period
        if period is not None and not terms.told_day(period.first) <= report.day <= period.last:
            raise RefusedError(422, f"day {report.day} is outside the period {period.first} to {period.last}")
        if report.day != terms.told_day(report.day):
            raise RefusedError(422, f"day {report.day} is not rounded as the survey says")


def given_token(request: Request) -> bytes:
    """The token that a request came with: as such, or as the password that a browser asked for."""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "basic":
        try:
            return base64.b64decode(given, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return given.encode() if kind == "Bearer" else b""
