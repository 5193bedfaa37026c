"""T10: a collector is killed under load, for real; every acknowledged report is there once."""

from __future__ import annotations

import http.client
import random
import signal
import threading
import time
from pathlib import Path

import pytest

from elsewhere.collector.requests import BYTES
from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey
from elsewhere.survey.report import Report
from elsewhere.survey.reports import frame_of, sorted_reports
from elsewhere.survey.survey import Survey
from made_reports import some_reports
from running import Running

_SENDERS = 4


def _send(port: int, reports: list[Report], acknowledged: set[str], stop: threading.Event) -> None:
    """Hand in reports one by one, each until it is acknowledged: the same bytes again."""
    for report in reports:
        while not stop.is_set() and report.report_id not in acknowledged:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            try:
                connection.request("POST", "/v1/reports", report.to_bytes(), {"Content-Type": BYTES})
                if connection.getresponse().status in {200, 201}:
                    acknowledged.add(report.report_id)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
            finally:
                connection.close()


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.audit)])
def test_every_acknowledged_report_is_there_once(
    tmp_path: Path, where: str, survey: Survey, kills: int
) -> None:
    save_survey(survey, tmp_path / "s.survey")
    running, chance = Running(tmp_path, where), random.Random(kills)  # noqa: S311 - moments to kill at
    piles = [some_reports(survey, 4000 * kills) for _ in range(_SENDERS)]
    acknowledged, stop = set[str](), threading.Event()
    threads = [
        threading.Thread(target=_send, args=(running.port, pile, acknowledged, stop)) for pile in piles
    ]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(chance.uniform(0.05, 0.6))
        assert running.end(signal.SIGKILL) == ""
        running.start()
    time.sleep(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    assert running.end(signal.SIGTERM) == ""
    store = Store(where, survey)
    frame = store.frame()
    store.close()
    assert len(acknowledged) > 50 * kills
    assert acknowledged <= set(frame["id"])
    assert frame["id"].is_unique().all()
    # Nothing half: all that is kept is a report that somebody sent.
    sent = frame_of(report for pile in piles for report in pile)
    assert frame.join(sent, on=sent.columns, how="anti").height == 0
    assert sorted_reports(survey, frame).left_out == {}


def test_a_graceful_stop_answers_what_was_accepted(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "s.survey")
    where = str(tmp_path / "r.db")
    running, reports = Running(tmp_path, where), some_reports(survey, 1000)
    answers = []

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
        body = b"".join(report.to_bytes() for report in reports)
        connection.request("POST", "/v1/reports", body, {"Content-Type": BYTES})
        answers.append(connection.getresponse().status)
        connection.close()

    thread = threading.Thread(target=send)
    thread.start()
    time.sleep(0.05)
    assert running.end(signal.SIGTERM) == ""
    thread.join()
    store = Store(where, survey)
    assert (answers, store.count()) in [([201], 1000), ([], 0)]
    store.close()
