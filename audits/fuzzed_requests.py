"""Requests to a collector that are wrong in many ways, from a seed: what a fuzzer sends.

Most are *framed*: whatever is wrong with them, where they end is clear, so that exactly one answer comes
back, or the connection ends. The others are wrong about that too.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import string
import struct
from dataclasses import dataclass
from typing import Any

_LAYOUT = struct.Struct("<2sB32s16sHHII")
_OPENS = '{"survey"'
_FIRST_DAY = dt.date(2000, 1, 1)
_JSON, _BYTES = b"application/json", b"application/octet-stream"
_PATHS = (
    "/v1/survey", "/v1/counts", "/v1/estimates", "/v1/estimates/visits.csv", "/v1/population", "/v1/export",
    "/v1/health", "/v1/ready", "/metrics", "/openapi.json", "/v1/reports", "/", "/v1", "/v1/surveys/",
)  # fmt: skip
_HEAVY = {"/v1/export", "/v1/estimates", "/v1/estimates/visits.csv", "/v1/population"}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get", "G!T")
_STRANGE = (
    "", "..", ".", "%2e%2e", "%2E%2e%2f", "..%2f", "%00", "%", "%zz", "%c0%af", "%ff%fe", "%f0%9f%98%80",
    "\\", ";", "//", "?", "?a=b&a=%00", "#x", "@", ":80", "%0d%0aX:y", "%25252e", "~", "*", "{}", "|",
    "etc/passwd", "'--",
)  # fmt: skip
_NAMES = (
    b"Content-Type", b"Authorization", b"Elsewhere-Code", b"X-Forwarded-For", b"X-Forwarded-Proto", b"Host",
    b"Cookie", b"Range", b"If-None-Match", b"Accept", b"Accept-Encoding", b"Origin", b"Forwarded", b"Te",
    b"X-Http-Method-Override", b"Content-Encoding", b"If-Modified-Since", b"User-Agent", b"Via", b"Date",
)  # fmt: skip
_VALUES = (
    b"", b"*", b"0", b"-1", b"a, b", b"Bearer", b"Bearer \xff\xfe", b"Basic Og==", b"gzip", b"127.0.0.1",
    b"[::1", b"[::1]:x", b"1.2.3.4:99999999999", b"\xc3\xa4", b"x" * 300, b"bytes=0-,5-1", b"text/plain; q=a",
    b"multipart/form-data; boundary=", b"application/json; charset=utf-16", b"' OR 1=1 --", b"${jndi:x}",
    b'"',
)  # fmt: skip
_NUMBERS = (
    -1,
    0,
    1,
    2,
    65535,
    65536,
    2**31,
    2**32 - 1,
    2**32,
    2**63,
    2**64,
    -(2**63),
    10**30,
    1.0,
    0.5,
    1e308,
)
_TEXTS = ("", "0", "\ud800", "\0", "a" * 500, "2025-02-30", "2025-9-1", "٢٠٢٥-٠٩-٠١", "0000-00-00", "’; DROP")
Told = tuple[str, int, int, int, int]
"""A report as a store has it: id, question, day, seed, output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuzzed:
    """One request."""

    raw: bytes
    told: tuple[Told, ...] = ()
    """What might be kept of it."""
    is_framed: bool = True
    is_head: bool = False


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A request while it is being made."""

    method: str = "GET"
    path: str = "/v1/health"
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    kind: bytes = b""


def reports_told(data: bytes, survey: str) -> tuple[Told, ...]:
    """All reports that stand anywhere in some bytes, read by other code than the collector's."""
    found = []
    mark = b"ew\1" + bytes.fromhex(survey)
    start = data.find(mark)
    while 0 <= start <= len(data) - _LAYOUT.size:
        one = _LAYOUT.unpack_from(data, start)
        found.append((one[3].hex(), *one[4:]))
        start = data.find(mark, start + _LAYOUT.size)
    text = data.decode("utf-8", "replace")
    start = text.find(_OPENS)
    while start >= 0:
        end = text.find("}", start) + 1
        found += _object(text[start:end])
        start = text.find(_OPENS, start + 1)
    return tuple(found)


def _object(text: str) -> list[Told]:
    try:
        one = json.loads(text)
        seed, output = one["answer"]
        told = one["id"], one["question"], (dt.date.fromisoformat(one["day"]) - _FIRST_DAY).days, seed, output
    except (ValueError, TypeError, KeyError):
        return []
    is_sound = type(told[0]) is str and all(type(number) is int for number in told[1:])
    return [told] if is_sound else []


class Requests:
    """As many as anybody wants, the same for the same seed."""

    def __init__(self, seed: int, survey: str, token: str) -> None:
        self.chance = random.Random(seed)
        self._survey, self._token = survey, token
        self._last: list[dict[str, Any]] = []

    def next(self) -> Fuzzed:
        """One more."""
        if self.chance.random() < 0.08:
            return self._noise()
        draft = self._reports() if self.chance.random() < 0.65 else self._asked()
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, 3))):
            self.chance.choice(
                (_mutated_method, _mutated_path, _mutated_headers, _mutated_body, _mutated_body)
            )(draft, self.chance)
        if self.chance.random() < 0.06:
            return self._misframed(draft)
        return self._framed(draft)

    def _report(self) -> dict[str, Any]:
        if self._last and self.chance.random() < 0.2:
            return dict(self.chance.choice(self._last))  # again, or with other bytes
        made = {
            "survey": self._survey,
            "id": self.chance.randbytes(16).hex(),
            "question": self.chance.randrange(2),
            "day": "2025-09-17",
            "answer": [0, self.chance.randrange(3)],
        }
        self._last = [*self._last[-20:], made]
        return dict(made)

    def _reports(self) -> _Draft:
        some = [self._report() for _ in range(self.chance.choice((1, 1, 1, 2, 5)))]
        if self.chance.random() < 0.5:
            return _Draft(
                method="POST", path="/v1/reports", headers=[], body=b"".join(map(_packed, some)), kind=_BYTES
            )
        if self.chance.random() < 0.6:
            some = [_mutated_json(one, self.chance) for one in some]
        plain = some if len(some) > 1 or self.chance.random() < 0.5 else some[0]
        body = json.dumps(plain, ensure_ascii=self.chance.random() < 0.5).encode("utf-8", "surrogatepass")
        return _Draft(method="POST", path="/v1/reports", headers=[], body=body, kind=_JSON)

    def _asked(self) -> _Draft:
        path = self.chance.choice((*_PATHS, f"/v1/surveys/{self._survey}.survey"))
        draft = _Draft(path=path, headers=[], method=self.chance.choice(("GET", "GET", "HEAD")))
        if self.chance.random() < (0.002 if path in _HEAVY else 0.3):
            draft.headers.append((b"Authorization", f"Bearer {self._token}".encode()))
        if self.chance.random() < 0.1:
            draft.headers.append((b"If-None-Match", f'"{self._survey}"'.encode()))
        return draft

    def _framed(self, draft: _Draft, *, may_be_chunked: bool = True) -> Fuzzed:
        chance = self.chance
        headers = [
            (b"Host", b"here"),
            *([(b"Content-Type", draft.kind)] if draft.kind else []),
            *draft.headers,
        ]
        body = draft.body
        if body and may_be_chunked and chance.random() < 0.25:
            headers.append((b"Transfer-Encoding", b"chunked"))
            body = _chunked(body, chance)
        elif body or chance.random() < 0.2:
            headers.append((b"Content-Length", str(len(body)).encode()))
            if chance.random() < 0.03:
                headers.append((b"Expect", b"100-continue"))
        chance.shuffle(headers)
        return Fuzzed(
            raw=_head(draft, headers) + body,
            told=reports_told(draft.body, self._survey),
            is_head=draft.method == "HEAD",
        )

    def _misframed(self, draft: _Draft) -> Fuzzed:
        """Where it ends is not what it says."""
        chance, body = self.chance, draft.body
        length = str(len(body)).encode()
        lengths = [
            [(b"Content-Length", str(max(0, len(body) + chance.choice((-63, -1, 1, 63, 10**6)))).encode())],
            [(b"Content-Length", chance.choice((b"-1", b"+5", b"0x10", b"1e3", b"", b"9" * 40, b"\xb2")))],
            [(b"Content-Length", length), (b"Content-Length", b"5")],
            [(b"Content-Length", length), (b"Content-Length", length)],
            [(b"Content-Length", length), (b"Transfer-Encoding", b"chunked")],
            [
                (
                    b"Transfer-Encoding",
                    chance.choice((b"chunked, chunked", b"gzip", b"xchunked", b"\tchunked")),
                )
            ],
            [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket"), (b"Content-Length", length)],
        ]
        headers = [(b"Host", b"here"), (b"Content-Type", draft.kind), *draft.headers, *chance.choice(lengths)]
        raw = _head(draft, headers) + body
        if chance.random() < 0.5:
            raw = _cut(raw, chance)
        return Fuzzed(raw=raw, told=reports_told(draft.body + raw, self._survey), is_framed=False)

    def _noise(self) -> Fuzzed:
        """No HTTP, or hardly."""
        chance = self.chance
        good = self._framed(self._reports(), may_be_chunked=False)
        lines = [
            chance.randbytes(chance.randrange(1, 400)),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(200),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"GET /v1/health HTTP/9.9\r\nHost: x\r\n\r\n",
            b"GET /v1/health\r\n\r\n",
            b"GET /v1/health HTTP/1.0\r\n\r\n",
            b"GET /v1/health HTTP/1.1\r\n\r\n",
            b"GET /v1/health HTTP/1.1\nHost: x\n\n",
            b"GET /v1/health HTTP/1.1\r\nHost: x\r\n folded: y\r\n\r\n",
            b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX\0: y\r\n\r\n",
            b"GET /" + b"a" * chance.choice((5000, 70_000, 300_000)) + b" HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * chance.choice((50, 500, 5000)) + b"\r\n",
            b"\r\n" * chance.randrange(1, 50),
            b"CONNECT here:443 HTTP/1.1\r\nHost: here\r\n\r\n",
            b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            + chance.choice(
                (b"zz\r\n", b"-1\r\n", b"fffffffffffffffff\r\n", b"5\r\nabc", b"0\r\nX: y\r\n\r\nGET")
            ),
            _cut(good.raw, chance),
            good.raw[: chance.randrange(len(good.raw))],
        ]
        raw = chance.choice(lines)
        return Fuzzed(raw=raw, told=reports_told(raw, self._survey), is_framed=False)


def _packed(one: dict[str, Any]) -> bytes:
    day = (dt.date.fromisoformat(one["day"]) - _FIRST_DAY).days
    ids = bytes.fromhex(one["survey"]), bytes.fromhex(one["id"])
    return _LAYOUT.pack(b"ew", 1, *ids, one["question"], day, *one["answer"])


def _head(draft: _Draft, headers: list[tuple[bytes, bytes]]) -> bytes:
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return f"{draft.method} {draft.path} HTTP/1.1\r\n".encode() + lines + b"\r\n"


def _chunked(body: bytes, chance: random.Random) -> bytes:
    parts, start = [], 0
    while start < len(body):
        size = min(chance.randrange(1, max(2, len(body))), len(body) - start)
        parts.append(f"{size:x}".encode() + chance.choice((b"", b"", b";a=b")) + b"\r\n")
        parts.append(body[start : start + size] + b"\r\n")
        start += size
    return b"".join([*parts, b"0\r\n", chance.choice((b"", b"", b"X-Trailer: y\r\n")), b"\r\n"])


def _cut(raw: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, lost, or there twice."""
    data = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        place = chance.randrange(len(data)) if data else 0
        match chance.randrange(4):
            case 0 if data:
                data[place] = chance.randrange(256)
            case 1:
                del data[place : place + chance.randrange(1, 70)]
            case 2:
                data[place:place] = chance.randbytes(chance.randrange(1, 70))
            case _:
                data[place:place] = data[place : place + chance.randrange(1, 130)]
    return bytes(data)


def _mutated_method(draft: _Draft, chance: random.Random) -> None:
    draft.method = chance.choice(_METHODS)
    if chance.random() < 0.1:
        draft.method = "".join(chance.choices(string.ascii_uppercase, k=chance.randrange(1, 30)))


def _mutated_path(draft: _Draft, chance: random.Random) -> None:
    parts = draft.path.split("/")
    for _ in range(chance.choice((1, 1, 2))):
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(_STRANGE))
    joined = chance.choice(("/", "/", "", "%2f")).join(parts)
    draft.path = joined[:8000] if joined.startswith(("/", "*", "%")) else f"/{joined}"
    if chance.random() < 0.05:
        draft.path = chance.choice((f"http://elsewhere.example{draft.path}", "*", draft.path + "a" * 5000))


def _mutated_headers(draft: _Draft, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 2, 10))):
        value = chance.choice(_VALUES)
        if chance.random() < 0.1:
            value = bytes(chance.choices(range(0x21, 0x7F), k=chance.choice((5, 60, 70, 4000))))
        draft.headers.append((chance.choice(_NAMES), value))
    if chance.random() < 0.02:
        draft.headers.append((b"X-Long", b"x" * chance.choice((10_000, 100_000, 300_000))))


def _mutated_body(draft: _Draft, chance: random.Random) -> None:
    if chance.random() < 0.1:
        draft.kind = chance.choice((_BYTES, _JSON, b"", b"text/plain", b"APPLICATION/JSON ; charset=x"))
        return
    if chance.random() < 0.03:
        depth = chance.choice((50, 300, 480, 600, 900, 3000, 60_000))
        opens, closes = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")))
        draft.body = b"[" + opens * depth + b"1" + closes * chance.choice((depth, depth, 0)) + b"]"
    elif chance.random() < 0.02:
        draft.body = draft.body * chance.choice((20, 200, 1001))
    elif chance.random() < 0.02:
        draft.body = b'{"survey":' + b"1" * chance.choice((300, 4299, 5000, 399_000)) + b"}"
    else:
        draft.body = _cut(draft.body, chance)


def _mutated_json(plain: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    key = chance.choice(list(plain))
    match chance.randrange(5):
        case 0:
            plain.pop(key)
        case 1:
            plain[chance.choice(("who", "", "id ", "SURVEY", "\ud800"))] = _any_json(chance)
        case 2:
            plain["answer"] = [chance.choice(_NUMBERS) for _ in range(chance.choice((0, 1, 2, 2, 3)))]
        case _:
            plain[key] = _any_json(chance)
    return plain


def _any_json(chance: random.Random, depth: int = 0) -> Any:
    kinds: list[Any] = [None, True, False, chance.choice(_NUMBERS), chance.choice(_TEXTS)]
    kinds += [float("nan"), float("inf"), chance.randbytes(16).hex(), chance.randbytes(32).hex()]
    if depth < 4:
        kinds.append([_any_json(chance, depth + 1) for _ in range(chance.randrange(3))])
        kinds.append({"a": _any_json(chance, depth + 1), "id": chance.choice(_TEXTS)})
    return chance.choice(kinds)
