"""A device sends its report to a real collector: the same bytes, until they are acknowledged."""

from __future__ import annotations

import datetime as dt
import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

import elsewhere as ew
from commands import Command
from elsewhere.collector.app import Collector
from elsewhere.collector.serve import server
from elsewhere.collector.store import Store
from elsewhere.device.ledger_file import user_ledger
from elsewhere.device.outbox import unsent
from elsewhere.device.send import receiver_of, send
from elsewhere.errors import InputError, NotSentError
from elsewhere.survey.file import save_survey, survey_hash
from elsewhere.survey.report import report_from_bytes
from elsewhere.survey.survey import Survey
from made_reports import DAY, free_port, some_reports
from running import Running


@contextmanager
def _running(survey: Survey, folder: Path) -> Iterator[tuple[Collector, str]]:
    """A running collector, and its address."""
    made = Collector(store=Store(str(folder / "r.db"), survey), token="t" * 16)
    running = server(made, "127.0.0.1", port := free_port())
    thread = threading.Thread(target=running.run)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    try:
        yield made, f"http://127.0.0.1:{port}"
    finally:
        running.should_exit = True
        thread.join()


@pytest.fixture
def collector(tmp_path: Path, survey: Survey) -> Iterator[tuple[Collector, str]]:
    with _running(survey, tmp_path) as running:
        yield running


def test_a_person_answers_sends_and_sends_again(
    elsewhere: Command, tmp_path: Path, survey: Survey, collector: tuple[Collector, str]
) -> None:
    made, url = collector
    save_survey(survey, tmp_path / "s.survey")
    (tmp_path / "me.csv").write_text("datetime,lat,lng\n2025-09-17T09:00:00,50.0,10.0\n")
    ask = ("survey", "answer", tmp_path / "s.survey", tmp_path / "me.csv", "--day", "2025-09-17", "-y")
    code, out, err = elsewhere(*ask, "-o", tmp_path / "my.report", "--to", url)
    assert (code, err) == (0, "")
    report = report_from_bytes((tmp_path / "my.report").read_bytes())
    assert f"{url} keeps report {report.report_id}" in out
    assert "by chance: it may be true of your day or not" in " ".join(out.split())
    assert made.store.frame()["id"].to_list() == [report.report_id]
    code, out, _ = elsewhere(*ask, "--to", url)
    assert code == 0
    assert "It was there already" in out
    assert (
        elsewhere("survey", "send", tmp_path / "s.survey", "--to", url)[1]
        == "Nothing is waiting to be sent.\n"
    )
    assert made.store.count() == 1


def test_without_a_network_the_report_is_kept_and_sent_later(
    elsewhere: Command,
    tmp_path: Path,
    survey: Survey,
    collector: tuple[Collector, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, url = collector
    monkeypatch.setattr("elsewhere.device.send.time.sleep", lambda _: None)
    save_survey(survey, tmp_path / "s.survey")
    (tmp_path / "me.csv").write_text("datetime,lat,lng\n2025-09-17T09:00:00,50.0,10.0\n")
    ask = ("survey", "answer", tmp_path / "s.survey", tmp_path / "me.csv", "--day", "2025-09-17", "-y")
    code, out, err = elsewhere(*ask, "--to", f"http://127.0.0.1:{free_port()}")
    assert code == 2
    assert "Answered" in out
    assert "told here when it is sent" in out  # nobody's answer decides whether it is sent
    assert "The report is kept" in err
    assert "`elsewhere survey send`" in err
    assert made.store.count() == 0
    assert _states(elsewhere) == {"2025-09-17": "waiting"}
    assert "1 report waits: elsewhere survey send" in elsewhere("ledger", "show")[1]
    code, out, err = elsewhere("survey", "send", tmp_path / "s.survey", "--to", url)
    assert (code, err) == (0, "")
    kept = made.store.frame()["id"].to_list()
    assert len(kept) == 1
    assert kept[0] in out
    assert _states(elsewhere) == {"2025-09-17": "sent"}
    assert "wait" not in elsewhere("ledger", "show")[1]


def _states(elsewhere: Command) -> dict[str, str]:
    days = json.loads(elsewhere("ledger", "show", "--json")[1])["days"]
    return {day["day"]: day["state"] for day in days}


def test_a_wrong_code_costs_nothing_more_and_one_code_sends_one_report(
    elsewhere: Command, tmp_path: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elsewhere.device.send.time.sleep", lambda _: None)
    longer = replace(survey, terms=replace(survey.terms, days=3))
    save_survey(longer, tmp_path / "s.survey")
    (tmp_path / "me.csv").write_text("datetime,lat,lng\n2025-09-17T09:00:00,50.0,10.0\n")
    wrong, days = "0000-0000-0000-0000", ("2025-09-16", "2025-09-17", "2025-09-18")
    with _running(longer, tmp_path) as (made, url):
        codes = made.store.invite(3)
        for number, day in enumerate(days):
            ask = ("survey", "answer", tmp_path / "s.survey", tmp_path / "me.csv", "--day", day, "-y")
            code, _, err = elsewhere(*ask, "--to", url, "--code", wrong)
            assert code == 2
            assert "is wrong, or was used before. Your answer is kept, nothing more is spent" in err
            assert "Elsewhere-Code" not in err
            assert ew.Ledger(user_ledger()).spent == 5 * (number + 1)
        assert elsewhere(*ask, "--to", url, "--code", codes[0])[0] == 0
        assert ew.Ledger(user_ledger()).spent == 15
        # One code for two reports: the first goes, the second is named.
        send_all = ("survey", "send", tmp_path / "s.survey", "--to", url, "--code")
        code, out, err = elsewhere(*send_all, codes[1])
        assert (code, out.count("Sent:"), made.store.count()) == (2, 1, 2)
        assert "waiting: 2025-09-17: a code is for one report" in err
        assert "2025-09-16" not in err
        assert "once for each, with a code of its own" in err
        assert _states(elsewhere) == dict(zip(days, ("sent", "waiting", "sent"), strict=True))
        code, out, err = elsewhere(*send_all, codes[2])
        assert (code, err, made.store.count()) == (0, "", 3)
        assert elsewhere(*send_all, codes[2])[1] == "Nothing is waiting to be sent.\n"
        # Who comes with no good code, in Python: the answer is kept there as well.
        with pytest.raises(ew.NotSentError, match="Your answer is kept"):
            ew.answer(
                longer, DAY, ew.Trajectory([("p1", 60)]), ledger=ew.Ledger(tmp_path / "other.ledger", cap=9),
                to=url, code=wrong,
            )  # fmt: skip


def test_in_python_too_who_is_away_gets_the_report_later(
    collector: tuple[Collector, str], survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elsewhere.device.send.time.sleep", lambda _: None)
    made, url = collector
    ledger, day = ew.Ledger(tmp_path / "my.ledger", cap=100), ew.Trajectory([("p1", 60)])
    with pytest.raises(ew.NotSentError, match="The report is kept: the same again sends it later"):
        ew.answer(survey, DAY, day, ledger=ledger, to=f"http://127.0.0.1:{free_port()}")
    kept = unsent(ledger, survey_hash(survey))
    assert ew.answer(survey, DAY, day, ledger=ledger, to=url) == kept[DAY.isoformat()]
    assert (made.store.count(), ledger.spent) == (1, survey.epsilon)


def test_no_ledger_and_no_file_of_codes_are_called_so(
    elsewhere: Command, tmp_path: Path, survey: Survey
) -> None:
    save_survey(survey, tmp_path / "s.survey")
    to = ("--to", "https://survey.example.org")
    code, _, err = elsewhere("survey", "send", tmp_path / "s.survey", *to, "--ledger", tmp_path / "no.ledger")
    assert (code, "no such ledger: nothing was charged" in err) == (2, True)
    assert not (tmp_path / "no.ledger").exists()
    simulate = ("survey", "simulate", tmp_path / "s.survey", "--people", 3, "--codes", tmp_path / "no.txt")
    code, _, err = elsewhere(*simulate, "-o", tmp_path / "r.parquet")
    assert (code, "no.txt: no such file" in err) == (2, True)


class _Fickle(BaseHTTPRequestHandler):
    """Busy twice, then a success; keeps what it was sent."""

    bodies: ClassVar[list[bytes]] = []
    headers_seen: ClassVar[set[str]] = set()
    answers: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.headers_seen.update(name.lower() for name in self.headers)
        self.send_response(self.answers.pop(0))
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def fickle() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Fickle) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        _Fickle.bodies.clear()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_retries_send_the_same_bytes_and_nothing_that_tells_who_it_is(fickle: str, survey: Survey) -> None:
    report, waited = some_reports(survey, 1)[0], list[float]()
    _Fickle.answers[:] = [503, 500, 201]
    assert send(receiver_of(fickle), report, wait=waited.append)
    assert _Fickle.bodies == [report.to_bytes()] * 3
    assert waited == sorted(waited) != []
    assert _Fickle.headers_seen == {"host", "accept-encoding", "content-length", "content-type"}
    _Fickle.answers[:] = [503] * 2
    with pytest.raises(NotSentError, match="kept"):
        send(receiver_of(fickle), report, tries=2, wait=waited.append)
    _Fickle.answers[:] = [422]
    with pytest.raises(InputError, match="refuses"):
        send(receiver_of(fickle), report, wait=waited.append)


def test_a_collector_of_another_survey_is_refused_before_anything_is_spent(
    elsewhere: Command, tmp_path: Path, survey: Survey, fickle: str, own_data_folder: Path
) -> None:
    save_survey(survey, tmp_path / "s.survey")
    (tmp_path / "me.csv").write_text("datetime,lat,lng\n2025-09-17T09:00:00,50.0,10.0\n")
    ask = ("survey", "answer", tmp_path / "s.survey", tmp_path / "me.csv", "--day", "2025-09-17", "-y")
    code, _, err = elsewhere(*ask, "--to", fickle)
    assert code == 2
    assert "does not collect this survey" in err
    assert not (own_data_folder / "elsewhere.ledger").exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org", "ftp://localhost", "localhost:8063", "https://", "", "https://me:hush@example.org",
        "https://example.org/?day=1", "http://127.0.0.1.example.org", "https://[::1", "http://localhost:99999",
    ],
)  # fmt: skip
def test_only_safe_addresses_are_taken(url: str) -> None:
    with pytest.raises(InputError, match="must be an address"):
        receiver_of(url)


def test_plain_http_to_another_machine_is_told_as_such() -> None:
    with pytest.raises(InputError, match=r"with https, .*; plain http goes to this machine only"):
        receiver_of("http://survey.example.org")


def test_addresses_on_this_machine_and_with_tls_are_taken() -> None:
    assert receiver_of("https://example.org/city/").shown == "https://example.org/city"
    assert receiver_of("http://localhost:8063").is_here
    assert not receiver_of("https://localhost").is_here


def test_a_device_in_python_answers_and_sends(
    collector: tuple[Collector, str], survey: Survey, tmp_path: Path
) -> None:
    made, address = collector
    ledger = ew.Ledger(tmp_path / "my.ledger", cap=100)
    day = ew.Trajectory([("p1", 60)])
    report = ew.answer(survey, DAY, day, ledger=ledger, to=address)
    assert made.store.count() == 1
    assert ew.answer(survey, DAY, day, ledger=ledger, to=address) == report
    assert made.store.count() == 1
    assert unsent(ledger, report.survey) == {}
    made.store.invite(1)
    with pytest.raises(InputError, match="by invitation only"):
        ew.answer(survey, DAY + dt.timedelta(days=1), day, ledger=ledger, to=address)
    assert ledger.spent == survey.epsilon


def test_a_rehearsal_says_how_long_it_took_and_what_was_refused(
    elsewhere: Command, tmp_path: Path, survey: Survey
) -> None:
    save_survey(survey, tmp_path / "s.survey")
    collector = Running(tmp_path, str(tmp_path / "r.db"), "--limit", "400")
    to = ("--to", f"http://127.0.0.1:{collector.port}")
    try:
        code, out, err = elsewhere(
            "survey", "simulate", tmp_path / "s.survey", "--people", 300, "--connections", 3, *to, "--json"
        )
        assert code == 0
        assert "keeps made-up reports among all others: rehearse on a store of its own" in err
        sent = json.loads(out)["sent"]
        assert (sent["new"], sent["refused"], sent["retries"]) == (300, {}, 0)
        assert 0 < sent["milliseconds"]["p50"] <= sent["milliseconds"]["p99"] <= sent["milliseconds"]["max"]
        code, _, err = elsewhere("survey", "simulate", tmp_path / "s.survey", *to)
        assert code == 2
        assert "--people" in err
        # By invitation, one code for each report.
        arguments = ("survey", "invite", tmp_path / "s.survey", "-n", 5, "--store", tmp_path / "r.db")
        assert elsewhere(*arguments, "-o", tmp_path / "codes.txt")[0] == 0
        assert elsewhere(*arguments, "-o", tmp_path / "codes.txt")[0] == 2
        simulated = ("survey", "simulate", tmp_path / "s.survey", *to, "--json")
        code, _, err = elsewhere(*simulated, "--people", 5)
        assert code == 2
        assert "--codes FILE: is missing" in err
        assert "by invitation only" in err
        code, _, err = elsewhere(*simulated, "--people", 6, "--codes", tmp_path / "codes.txt")
        assert (code, "has 5 codes for 6 reports" in err) == (2, True)
        code, out, err = elsewhere(*simulated, "--people", 5, "--codes", tmp_path / "codes.txt")
        assert (code, json.loads(out)["sent"]["new"]) == (0, 5)
        assert "these codes are used up" in err
        code, out, _ = elsewhere(*simulated, "--people", 5, "--codes", tmp_path / "codes.txt")
        assert (code, json.loads(out)["sent"]["refused"]) == (1, {"403": 5})
    finally:
        collector.end(signal.SIGTERM)
