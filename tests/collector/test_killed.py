"""T10: a collector is killed under load, for real; every acknowledged report is there once."""

from __future__ import annotations

import random
import signal
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey
from elsewhere.survey.reports import sorted_reports
from elsewhere.survey.survey import Survey
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
    load, survived = Load([running.port], survey, seed=kills), 0
    for _ in range(kills):
        time.sleep(chance.uniform(0.02, 0.6))
        assert running.end(signal.SIGKILL) == ""
        # Only these have lived through a kill; what is still pending is acknowledged at the very end.
        survived = len(load.acknowledged)
        running.start()
    load.finish()
    assert running.end(signal.SIGTERM) == ""
    store = Store(where, survey)
    frame = store.frame()
    store.close()
    numbers = load.numbers(frame)
    record_property("numbers", {"kills": kills, "acknowledged before the last kill": survived, **numbers})
    assert load.wrong == []
    assert numbers["acknowledged"] == frame.height == numbers["sent"]
    assert numbers["lost"] == numbers["doubled"] == numbers["never sent, or half"] == 0
    assert numbers["new that were there"] == 0
    assert survived > 20 * kills
    assert sorted_reports(survey, frame).left_out == {}


def test_a_graceful_stop_answers_what_was_accepted(tmp_path: Path, survey: Survey) -> None:
    """A process as people start it; some who never finish what they say do not hold it up."""
    save_survey(survey, tmp_path / "s.survey")
    where = str(tmp_path / "r.db")
    running = Running(tmp_path, where, *_NO_LIMIT)
    with ExitStack() as stack:
        for first in (b"", b"POST /v1/repo", b"x" * 100):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            one.sendall(first)
        load = Load([running.port], survey)
        time.sleep(0.7)
        assert running.end(signal.SIGTERM) == ""
        load.stop()
    store = Store(where, survey)
    kept = set(store.frame()["id"])
    store.close()
    assert load.wrong == []
    assert len(kept) > 50
    assert kept == {report.report_id for report in load.acknowledged}
