"""T10: a collector is killed under load, for real; every acknowledged report is there once."""

from __future__ import annotations

import http.client
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from elsewhere.collector.requests import BYTES
from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey
from elsewhere.survey.reports import sorted_reports
from elsewhere.survey.survey import Survey
from made_reports import some_reports
from mixed_load import Load
from running import Forked, Running

_NO_LIMIT = ("--limit", "1000000000")


@pytest.mark.parametrize("kills", [3, pytest.param(250, marks=pytest.mark.audit)])
def test_every_acknowledged_report_is_there_once(
    tmp_path: Path, where: str, survey: Survey, kills: int, record_property: Callable[[str, object], None]
) -> None:
    """Amid duplicates, reports that come late and in other orders, and requests that must be refused."""
    save_survey(survey, tmp_path / "s.survey")
    running, chance = Forked(tmp_path, where, *_NO_LIMIT), random.Random(kills)  # noqa: S311 - moments to kill at
    load = Load([running.port], survey, seed=kills)
    for _ in range(kills):
        time.sleep(chance.uniform(0.02, 0.6))
        assert running.end(signal.SIGKILL) == ""
        running.start()
    load.finish()
    assert running.end(signal.SIGTERM) == ""
    running.close()
    store = Store(where, survey)
    frame = store.frame()
    store.close()
    numbers = load.numbers(frame)
    record_property("numbers", {"kills": kills, **numbers})
    assert load.wrong == []
    assert numbers["acknowledged"] == frame.height == numbers["sent"]
    assert numbers["lost"] == numbers["doubled"] == numbers["never sent, or half"] == 0
    assert numbers["new that were there"] == 0
    assert numbers["acknowledged"] > 50 * kills
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
