"""A report: all that ever leaves a device. 63 bytes, whatever was true.

```text
0   "ew"            what it is
2   1               version
3   32 bytes        hash of the survey
35  16 bytes        random id, of this report alone
51  2 bytes         number of the question
53  2 bytes         day, counted from 2000-01-01, rounded as the survey says
55  4 bytes         first number of the answer: a seed, or 0
59  4 bytes         second number of the answer: what was picked
```

Numbers are little-endian. There is one way to write each report, in bytes and in JSON, and both are read
strictly: what is not exactly a report is refused with a reason.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import struct
from dataclasses import dataclass
from typing import Any

from elsewhere.errors import InputError

SIZE = 63
_LAYOUT = struct.Struct("<2sB32s16sHHII")
_MAGIC, _VERSION = b"ew", 1
FIRST_DAY = dt.date(2000, 1, 1)
LAST_DAY = FIRST_DAY + dt.timedelta(days=(1 << 16) - 1)
"""Days that a report can tell."""
_KEYS = ("survey", "id", "question", "day", "answer")
_MOST_JSON = 400
_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One answer to one question of a survey.

    Raises
    ------
    InputError
        If a part of it is not what it must be.
    """

    survey: str
    """The survey's hash, 64 letters."""
    report_id: str
    """32 random letters, of this report alone: no account, no device."""
    question: int
    day: dt.date
    seed: int
    """How things were put into buckets, or the shard of a codebook; 0 where neither is."""
    output: int
    """What was picked."""

    def __post_init__(self) -> None:
        for name, text, size in (("survey", self.survey, 64), ("id", self.report_id, 32)):
            if not (isinstance(text, str) and len(text) == size and _HEX.fullmatch(text)):
                raise InputError("report", f"{name} must be {size} letters 0-9a-f")
        for name, number, bits in (
            ("question", self.question, 16),
            ("answer", self.seed, 32),
            ("answer", self.output, 32),
        ):
            if type(number) is not int or not 0 <= number < 1 << bits:
                raise InputError("report", f"{name} must be a whole number of at most {bits} bits, 0 or more")
        if type(self.day) is not dt.date or not FIRST_DAY <= self.day <= LAST_DAY:
            raise InputError("report", f"day must be a date between {FIRST_DAY} and {LAST_DAY}")

    def to_bytes(self) -> bytes:
        """The one way to write it."""
        return _LAYOUT.pack(
            _MAGIC,
            _VERSION,
            bytes.fromhex(self.survey),
            bytes.fromhex(self.report_id),
            self.question,
            (self.day - FIRST_DAY).days,
            self.seed,
            self.output,
        )

    def to_json(self) -> str:
        """The same as text."""
        plain = {
            "survey": self.survey,
            "id": self.report_id,
            "question": self.question,
            "day": self.day.isoformat(),
            "answer": [self.seed, self.output],
        }
        return json.dumps(plain, separators=(",", ":"))


def report_from_bytes(data: bytes) -> Report:
    """A report, if ``data`` is exactly one."""
    if len(data) != SIZE:
        raise InputError("report", f"has {len(data):,} bytes, must have {SIZE}")
    magic, version, survey, report_id, question, day, seed, output = _LAYOUT.unpack(data)
    if magic != _MAGIC:
        raise InputError("report", "is no report: it must begin with 'ew'")
    if version != _VERSION:
        raise InputError("report", f"is of version {version}, must be {_VERSION}")
    return Report(
        survey=survey.hex(),
        report_id=report_id.hex(),
        question=question,
        day=FIRST_DAY + dt.timedelta(days=day),
        seed=seed,
        output=output,
    )


def report_from_json(text: str | bytes) -> Report:
    """A report, if ``text`` is exactly one: every key once, nothing more, numbers as numbers."""
    if len(text) > _MOST_JSON:
        raise InputError("report", f"is longer than {_MOST_JSON} letters")
    try:
        plain = json.loads(text, object_pairs_hook=_pairs, parse_constant=_refused, parse_float=_refused)
    except (ValueError, RecursionError):
        raise InputError("report", "is not JSON as reports have it") from None
    if not isinstance(plain, dict) or set(plain) != set(_KEYS):
        raise InputError("report", f"must have {', '.join(_KEYS)}, and nothing else")
    answer = plain["answer"]
    if not (isinstance(answer, list) and len(answer) == 2):
        raise InputError("report", "answer must be two whole numbers")
    return Report(
        survey=plain["survey"],
        report_id=plain["id"],
        question=plain["question"],
        day=_date(plain["day"]),
        seed=answer[0],
        output=answer[1],
    )


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that comes twice may mean one thing to one reader and another to the next."""
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _refused(_text: str) -> Any:
    raise ValueError("only whole numbers")


def _date(text: Any) -> dt.date:
    if isinstance(text, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        try:
            return dt.date.fromisoformat(text)
        except ValueError:
            pass
    raise InputError("report", "day must be a date such as 2025-09-17")
