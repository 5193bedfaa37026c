"""Sending a report to a collector: over TLS, with the same bytes again until it is acknowledged."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from elsewhere.errors import InputError, NotSentError
from elsewhere.survey.codes import HEADER
from elsewhere.survey.report import Report

_HERE = {"localhost", "127.0.0.1", "::1"}
_HOST = re.compile(r"[a-z0-9_.:-]+")
"""Names and addresses; a page's policy has them in it, where a space or a semicolon would mean something."""
_TRIES = 5
_SECONDS = 15.0
_DEADLINE = 30.0
_MOST_BYTES = 1 << 16
LATER = {408, 429, 500, 502, 503, 504, 507}
"""What a collector may say that will be otherwise in a while."""


class WrongCodeError(NotSentError):
    """The collector wants another code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receiver:
    """Where a collector is."""

    host: str
    port: int | None
    path: str
    is_here: bool
    """On this very machine: then, and only then, without TLS."""

    @property
    def shown(self) -> str:
        """For people, without anything that might be secret."""
        scheme = "http" if self.is_here else "https"
        return f"{scheme}://{self.host}" + ("" if self.port is None else f":{self.port}") + self.path


def receiver_of(url: str) -> Receiver:
    """An address, if reports may be sent there: https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    is_here = parts.scheme == "http" and host in _HERE
    if (
        not _HOST.fullmatch(host)
        or not (parts.scheme == "https" or is_here)
        or parts.username
        or parts.query
        or parts.fragment
    ):
        wanted = "an address with https, such as https://survey.example.org"
        raise InputError("--to", f"found {url!r}, must be {wanted}; plain http goes to this machine only")
    return Receiver(host=host, port=port, path=parts.path.rstrip("/"), is_here=is_here)


def check_survey(receiver: Receiver, survey: str, code: str | None = None, *, option: str = "--code") -> None:
    """Refuse a collector of another survey, or one that would not take a report, before ε is spent on it.

    ``option`` is where a code can be given. Whether a code is good is not asked: strangers could try codes
    at no cost, and a code would be seen shortly before the report that it came with.
    """
    status, answer = _asked(receiver, "GET", "/v1/survey", None)
    if status != 200 or answer.get("survey") != survey:
        raise InputError("--to", f"{receiver.shown} does not collect this survey")
    if answer.get("by_invitation") is True and not code:
        raise InputError(option, f"is missing: {receiver.shown} takes reports by invitation only")


def send(
    receiver: Receiver,
    report: Report,
    *,
    code: str | None = None,
    tries: int = _TRIES,
    wait: Callable[[float], None] | None = None,
) -> bool:
    """Hand in a report; returns whether it was new there. It waits longer from try to try.

    Raises
    ------
    NotSentError
        If nobody acknowledges it now, or the code is not good.
    InputError
        If the collector will never take it.
    """
    problem = ""
    for number in range(tries):
        if number:
            (wait or time.sleep)(0.5 * 2**number)
        try:
            status, answer = _asked(receiver, "POST", "/v1/reports", report.to_bytes(), code)
        except NotSentError as error:
            problem = str(error)
            continue
        if status in {200, 201}:
            return status == 201
        problem = str(answer.get("error", f"status {status}"))[:200]
        if status == 403 and "error" in answer:  # of the collector; that of a proxy has no reason
            raise WrongCodeError(_wrong_code(receiver, code))
        if status not in LATER:
            raise InputError("--to", f"{receiver.shown} refuses the report: {problem}")
    later = "the same again sends it later and spends nothing more, and so does `elsewhere survey send`"
    raise NotSentError(f"not sent: {problem}. The report is kept: {later}")


def _wrong_code(receiver: Receiver, code: str | None) -> str:
    problem = (
        "is wrong, or was used before" if code else f"is missing: {receiver.shown} takes invited people only"
    )
    return (
        f"--code: {problem}. Your answer is kept, nothing more is spent: run this again with the right code"
    )


def _cut(connection: http.client.HTTPConnection) -> None:
    """End a connection that somebody is waiting for."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


def connection_to(receiver: Receiver) -> http.client.HTTPConnection:
    """A connection that is made when it is first used: with TLS, but on this very machine."""
    kind = http.client.HTTPConnection if receiver.is_here else http.client.HTTPSConnection
    return kind(receiver.host, receiver.port, timeout=_SECONDS)


def headers_with(code: str | None) -> dict[str, str]:
    """All that is said beside a report."""
    headers = {"Content-Type": "application/octet-stream"}
    return headers | {HEADER: code} if code else headers


def _asked(
    receiver: Receiver, method: str, path: str, body: bytes | None, code: str | None = None
) -> tuple[int, dict[str, Any]]:
    """Status and JSON of an answer. No cookie, no user agent, no connection kept open."""
    connection = connection_to(receiver)
    headers = headers_with(code) if body is not None else {}
    # All in all: whoever sends a letter now and then would keep a device for ever.
    watch = threading.Timer(_DEADLINE, _cut, [connection])
    watch.start()
    try:
        connection.request(method, receiver.path + path, body, headers)
        answer = connection.getresponse()
        text = answer.read(_MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise NotSentError(f"{receiver.shown} cannot be reached ({type(error).__name__})") from None
    finally:
        watch.cancel()
        connection.close()
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError):
        plain = {}
    return answer.status, plain if isinstance(plain, dict) else {}
