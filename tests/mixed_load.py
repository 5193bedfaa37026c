"""People who send reports, again, late and in other orders; fools and attackers beside them, all at once."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from bad_requests import BAD, Asked
from elsewhere.collector.requests import BYTES, JSON
from elsewhere.survey.report import Report
from elsewhere.survey.reports import frame_of
from elsewhere.survey.survey import Survey
from made_reports import some_reports

_MOST_TOGETHER = 20
_PILE = 500
_LATER = {429, 503, 507}


class Sender:
    """One of them: sends to one of some ports, and knows what must be kept."""

    def __init__(self, ports: Sequence[int], survey: Survey, seed: int) -> None:
        self.chance = random.Random(seed)  # noqa: S311 - what is sent next
        self._ports, self._survey = ports, survey
        self._pile: list[Report] = []
        self.sent: list[Report] = []
        self.pending: list[Report] = []
        """Sent, but not acknowledged: they may be there, or not."""
        self.acknowledged: list[Report] = []
        self.new = self.again = self.later = 0
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []
        """Answers that should not have been."""
        self._connection: http.client.HTTPConnection | None = None

    def step(self) -> None:
        """One request of some kind."""
        kind = self.chance.random()
        if kind < 0.2:
            self._bad()
        elif kind < 0.3 and self.acknowledged:
            self._once_more()
        elif kind < 0.35 and self.acknowledged:
            self._conflict()
        elif kind < 0.5 and self.pending:
            self._late(self.chance.randint(1, _MOST_TOGETHER))
        else:
            if not self._pile:
                self._pile = some_reports(self._survey, _PILE)
            report = self._pile.pop()
            self.sent.append(report)
            # Some people's first try never gets anywhere.
            self.pending.append(report)
            if self.chance.random() < 0.8:
                self._hand_in([self.pending.pop()])

    def finish(self, patience: float = 60.0) -> None:
        """All that is pending, until it is acknowledged."""
        end = time.monotonic() + patience
        while self.pending and time.monotonic() < end:
            self._late(_MOST_TOGETHER)
        self._forget()

    def ask(self, asked: Asked) -> tuple[int, dict[str, Any]] | None:
        """Status and JSON of an answer; nothing if nobody answers."""
        if self._connection is None:
            port = self.chance.choice(self._ports)
            self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            headers = {"Content-Type": asked.kind, **asked.headers}
            self._connection.request(asked.method, asked.path, asked.body, headers)
            answer = self._connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self._forget()
            return None
        if self.chance.random() < 0.05:
            self._forget()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, {}

    def _forget(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _hand_in(self, reports: list[Report]) -> None:
        if self.chance.random() < 0.8:
            asked = Asked(body=b"".join(report.to_bytes() for report in reports))
        else:
            asked = Asked(body=f"[{','.join(one.to_json() for one in reports)}]".encode(), kind=JSON)
        found = self.ask(asked)
        if found is None or found[0] in _LATER:
            self.pending += reports
            self.later += found is not None
            time.sleep(0.005)
            return
        status, told = found
        if status not in {200, 201} or told["new"] + told["again"] != len(reports):
            self.wrong.append(f"{len(reports)} good reports: {status} {told}")
        self.acknowledged += reports
        self.new += told.get("new", 0)
        self.again += told.get("again", 0)

    def _late(self, most: int) -> None:
        self.chance.shuffle(self.pending)
        some, self.pending = self.pending[:most], self.pending[most:]
        self._hand_in(some)

    def _once_more(self) -> None:
        found = self.ask(Asked(body=self.chance.choice(self.acknowledged).to_bytes(), kind=BYTES))
        self._expect("duplicate", found, {200})

    def _conflict(self) -> None:
        report = self.chance.choice(self.acknowledged)
        other = replace(report, output=(report.output + 1) % 3)
        self._expect("conflict", self.ask(Asked(body=other.to_bytes())), {409})

    def _bad(self) -> None:
        name = self.chance.choice(list(BAD))
        asked = BAD[name](some_reports(self._survey, 1)[0], self.chance)
        self._expect(name, self.ask(asked), set(range(400, 429)))

    def _expect(self, name: str, found: tuple[int, dict[str, Any]] | None, statuses: set[int]) -> None:
        if found is None or found[0] in _LATER:
            return
        self.refused[name] += 1
        if found[0] not in statuses:
            self.wrong.append(f"{name}: {found}")


class Load:
    """Senders, each in a thread of its own."""

    def __init__(self, ports: Sequence[int], survey: Survey, senders: int = 4, seed: int = 0) -> None:
        self.senders = [Sender(ports, survey, seed * 1000 + number) for number in range(senders)]
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(one,)) for one in self.senders]
        for thread in self._threads:
            thread.start()

    def _run(self, sender: Sender) -> None:
        while not self._stop.is_set():
            sender.step()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def finish(self) -> None:
        """No more new ones; whatever is pending is sent until it is acknowledged."""
        self.stop()
        for sender in self.senders:
            sender.finish()

    @property
    def acknowledged(self) -> list[Report]:
        return [report for sender in self.senders for report in sender.acknowledged]

    @property
    def wrong(self) -> list[str]:
        return [one for sender in self.senders for one in sender.wrong]

    def count(self, name: str) -> int:
        return sum(getattr(sender, name) for sender in self.senders)

    def numbers(self, kept: pl.DataFrame) -> dict[str, int]:
        """How it went, beside what a store has kept."""
        there = set(kept["id"])
        said = {report.report_id for report in self.acknowledged}
        sent = frame_of(report for sender in self.senders for report in sender.sent)
        refused = sum((sender.refused for sender in self.senders), Counter())
        return {
            "sent": sent.height,
            "acknowledged": len(said),
            "lost": len(said - there),
            "doubled": kept.height - len(there) + len(self.acknowledged) - len(said),
            "never sent, or half": kept.join(sent, on=sent.columns, how="anti").height,
            "new that were there": max(0, self.count("new") - len(there)),
            "come again later": self.count("later"),
            "wrong answers": len(self.wrong),
            **dict(sorted(refused.items())),
        }
