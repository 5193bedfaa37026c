"""Requests that a collector must refuse with 4xx, and that must change nothing: each beside what it is."""

from __future__ import annotations

import datetime as dt
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from elsewhere.collector.requests import BYTES, JSON, MOST_REPORTS
from elsewhere.survey.report import SIZE, Report

_DEEP = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    body: bytes = b""
    kind: str = BYTES
    method: str = "POST"
    path: str = "/v1/reports"
    headers: dict[str, str] = field(default_factory=dict)


Chance = random.Random
Maker = Callable[[Report, Chance], Asked]


def _damaged_bytes(report: Report, chance: Chance) -> Asked:
    whole = report.to_bytes()
    return Asked(
        body=chance.choice(
            [
                b"",
                whole[: chance.randrange(SIZE)],
                whole + chance.randbytes(chance.randint(1, SIZE - 1)),
                b"xx" + whole[2:],
                whole[:2] + b"\2" + whole[3:],
                chance.randbytes(SIZE),
                whole[::-1],
            ]
        )
    )


def _damaged_json(report: Report, chance: Chance) -> Asked:
    text = report.to_json()
    plain = json.loads(text)
    bodies = [
        text[: chance.randrange(len(text))],
        text.replace('"question"', '"survey"'),
        text.replace("[0,", "[0.0,"),
        text[:-1] + ',"who":"me"}',
        text[:-1] + f',"id":"{report.report_id}"}}',
        json.dumps([plain, [plain]]),
        json.dumps([list(plain.items())]),
        json.dumps({**plain, "id": "' OR 1=1; DROP TABLE reports; --"}),
        "[" + '{"a":' * _DEEP + "1" + "}" * _DEEP + "]",
        "[" * 20_000,
        text.replace(report.report_id, report.report_id.upper() + "Z"),
        "\ud800",
    ]
    return Asked(body=chance.choice(bodies).encode("utf-8", "surrogatepass"), kind=JSON)


def _oversized(report: Report, chance: Chance) -> Asked:
    if chance.random() < 0.3:
        # Longer than what is read at once: a head that is whole at the first look is not too long.
        return Asked(body=report.to_bytes(), headers={"X-Long": "x" * 300_000})
    if chance.random() < 0.5:
        return Asked(body=report.to_bytes() * (MOST_REPORTS + 1))
    return Asked(body=b"[" + report.to_json().encode() + b" " * (400 * MOST_REPORTS) + b"]", kind=JSON)


def _foreign(report: Report, chance: Chance) -> Asked:
    other = chance.choice(
        [
            replace(report, survey=chance.randbytes(32).hex()),
            replace(report, question=chance.randint(2, 65535)),
            replace(report, output=1 << 20),
            replace(report, seed=7),
            replace(report, day=dt.date(2025, 10, 1)),
            replace(report, day=dt.date(2001, 1, 1)),
        ]
    )
    if chance.random() < 0.5:
        return Asked(body=other.to_json().encode(), kind=JSON)
    # One of them spoils all.
    return Asked(body=report.to_bytes() + other.to_bytes())


def _malicious(report: Report, chance: Chance) -> Asked:
    whole = report.to_bytes()
    return chance.choice(
        [
            Asked(body=whole, kind="text/plain"),
            Asked(body=whole, kind=""),
            Asked(body=whole, kind=JSON),
            Asked(body=whole, path="/v1/reports/"),
            Asked(body=whole, path="/v1/reports/../reports"),
            Asked(body=whole, path="//v1/reports"),
            Asked(body=whole, method="PUT"),
            Asked(body=whole, method="DELETE"),
            Asked(body=whole * 2, headers={"Elsewhere-Code": "0000-0000-0000-0000"}),
            Asked(body=whole, headers={"Elsewhere-Code": "0" * 65}),
            Asked(method="GET", path="/v1/export"),
            Asked(method="GET", path="/v1/export", headers={"Authorization": "Bearer " + "x" * 32}),
            Asked(method="GET", path="/v1/estimates/..%2f..%2fetc%2fpasswd"),
            Asked(method="GET", path="/v1/surveys/%2e%2e%2fr.db"),
            Asked(method="TRACE", path="/"),
        ]
    )


BAD: dict[str, Maker] = {
    "damaged": _damaged_bytes,
    "damaged text": _damaged_json,
    "oversized": _oversized,
    "foreign": _foreign,
    "malicious": _malicious,
}
