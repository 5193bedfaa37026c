"""What can go wrong around a running collector: a full disk, no database, two at once, a wrong clock."""

from __future__ import annotations

import http.client
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from databases import new_database
from elsewhere.collector.requests import BYTES
from elsewhere.collector.store import Store
from elsewhere.survey.file import save_survey
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Survey
from made_reports import some_reports
from mixed_load import Load
from running import Forked

_NO_LIMIT = ("--limit", "1000000000")
# However large the disk is, SQLite finds it full at so many pages.
_PAGES = """
import pathlib, sqlalchemy
@sqlalchemy.event.listens_for(sqlalchemy.pool.Pool, "checkout")
def small(connection, record, proxy):
    connection.execute("PRAGMA max_page_count = " + pathlib.Path({!r}).read_text())
"""
_SPARE = "import elsewhere.collector.store; elsewhere.collector.store.SPARE_BYTES = {}"
# Years back, and further back with every second.
_CLOCK = """
import time
_real = time.time
_start = _real()
time.time = lambda: 1e9 - 1e4 * (_real() - _start)
time.time_ns = lambda: int(time.time() * 1e9)
"""


class Client:
    """Hands in reports on one connection; knows which were acknowledged."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.acknowledged: set[str] = set()

    def send(self, *reports: Report) -> int:
        """Returns the status."""
        body = b"".join(report.to_bytes() for report in reports)
        self._connection.request("POST", "/v1/reports", body, {"Content-Type": BYTES})
        answer = self._connection.getresponse()
        answer.read()
        if answer.status in {200, 201}:
            self.acknowledged |= {report.report_id for report in reports}
        return answer.status

    def until_refused(self, survey: Survey) -> int:
        """Hands in more and more; returns what is said in the end."""
        for _ in range(1000):
            status = self.send(*some_reports(survey, 100))
            if status != 201:
                return status
        return 201

    def close(self) -> None:
        self._connection.close()


@contextmanager
def client_of(running: Forked) -> Iterator[Client]:
    """A client; in the end the collector is stopped and must have nothing to say."""
    client = Client(running.port)
    try:
        yield client
    finally:
        client.close()
        written = running.end(signal.SIGTERM)
    assert written == ""


def kept(where: str, survey: Survey) -> set[str]:
    """Ids in a store; none is there twice."""
    store = Store(where, survey)
    ids = store.frame()["id"]
    store.close()
    assert ids.is_unique().all()
    return set(ids)


def test_a_full_disk_loses_nothing_and_room_makes_it_go_on(tmp_path: Path, survey: Survey) -> None:
    """SQLite's own limit first, then one of the system's: no byte may be written to any file."""
    save_survey(survey, tmp_path / "s.survey")
    (pages := tmp_path / "pages").write_text("60")
    where = str(tmp_path / "r.db")
    running = Forked(tmp_path, where, *_NO_LIMIT, first=_PAGES.format(str(pages)))
    with client_of(running) as client:
        assert client.send(*some_reports(survey, 10)) == 201
        assert client.until_refused(survey) == 507
        assert client.send(*some_reports(survey, 200)) == 507
        pages.write_text("1000000")
        assert client.send(*some_reports(survey, 200)) == 201
        _, most = resource.prlimit(running.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (1, most))
        assert [client.send(*some_reports(survey, 100)) for _ in range(3)] == [503] * 3
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (most, most))
        assert client.send(*some_reports(survey, 100)) == 201
    assert kept(where, survey) == client.acknowledged


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A disk of its own, where that is allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        made = subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603 - our own
    except OSError:
        made = False
    if not made:
        pytest.skip("a disk can be made by root alone")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)  # noqa: S603, S607 - our own


@pytest.mark.audit
@pytest.mark.parametrize(("megabytes", "spare", "filler"), [(3, 0, 1 << 20), (80, 64 << 20, 20 << 20)])
def test_a_small_disk_is_filled_for_real(
    tmp_path: Path, survey: Survey, megabytes: int, spare: int, filler: int
) -> None:
    """Once down to the last byte, once to what is always spared."""
    save_survey(survey, tmp_path / "s.survey")
    with small_disk(tmp_path / "disk", megabytes) as disk:
        where = str(disk / "r.db")
        with client_of(Forked(tmp_path, where, *_NO_LIMIT, first=_SPARE.format(spare))) as client:
            assert client.send(*some_reports(survey, 100)) == 201
            (disk / "filler").write_bytes(b"x" * filler)
            for _ in range(3):
                assert client.until_refused(survey) in {503, 507}
                assert client.send(*some_reports(survey, 1000)) == 507
            (disk / "filler").unlink()
            assert client.send(*some_reports(survey, 100)) == 201
        assert kept(where, survey) == client.acknowledged


@pytest.fixture
def database(postgres: str, tmp_path: Path) -> str:
    return new_database(postgres, f"f{abs(hash(tmp_path)):x}")


@pytest.mark.parametrize("how", ["fast", pytest.param("immediate", marks=pytest.mark.audit)])
def test_a_database_that_goes_and_comes_back(
    tmp_path: Path, survey: Survey, postgres_server: Any, database: str, how: str
) -> None:
    """Stopped, or crashed, under load: 503 meanwhile, then on as before, with the same process."""
    save_survey(survey, tmp_path / "s.survey")
    running = Forked(tmp_path, database, *_NO_LIMIT)
    load = Load([running.port], survey, senders=2)
    for _ in range(1 if how == "fast" else 5):
        _until(lambda: load.count("new") > 100)
        before = load.count("later")
        stop(postgres_server, how)
        _until(lambda before=before: load.count("later") > before + 20)
        postgres_server.ensure_postgres_running()
        heard = load.count("new")
        _until(lambda heard=heard: load.count("new") > heard + 50)
    load.finish()
    assert running.end(signal.SIGTERM) == ""
    assert load.wrong == []
    assert kept(database, survey) == {report.report_id for report in load.acknowledged}


def test_two_collectors_on_one_database(tmp_path: Path, survey: Survey, database: str) -> None:
    """The same reports to both at once are kept once; of two with one id, one is kept, and one noticed."""
    save_survey(survey, tmp_path / "s.survey")
    both = [Forked(tmp_path, database, *_NO_LIMIT) for _ in range(2)]
    reports = some_reports(survey, 200)
    others = [replace(report, output=(report.output + 1) % 3) for report in some_reports(survey, 100)]
    given = [reports, reports[::-1]]
    ids = [report.report_id for report in others]
    rivals = [others, [replace(report, output=(report.output + 1) % 3) for report in others]]
    clients = [Client(one.port) for one in both]
    with ThreadPoolExecutor(2) as pool:
        same = list(pool.map(lambda n: [clients[n].send(report) for report in given[n]], range(2)))
        rival = list(pool.map(lambda n: [clients[n].send(report) for report in rivals[n]], range(2)))
    for client, one in zip(clients, both, strict=True):
        client.close()
        assert one.end(signal.SIGTERM) == ""
    assert sorted(same[0] + same[1]) == [200] * 200 + [201] * 200
    assert all(sorted(pair) == [201, 409] for pair in zip(*rival, strict=True))
    assert kept(database, survey) == {report.report_id for report in reports} | set(ids)


def test_a_clock_that_runs_backwards_changes_nothing(tmp_path: Path, survey: Survey) -> None:
    """Neither which days are taken, nor limits, nor how long a connection lives, go by the time of day."""
    save_survey(survey, tmp_path / "s.survey")
    where = str(tmp_path / "r.db")
    with client_of(Forked(tmp_path, where, "--limit", "50", first=_CLOCK)) as client:
        statuses = [client.send(report) for report in some_reports(survey, 50)]
        time.sleep(0.3)
        assert statuses == [201] * 50
        assert client.send(*some_reports(survey, 1)) == 429
    assert kept(where, survey) == client.acknowledged


def stop(server: Any, how: str) -> None:
    """End a PostgreSQL: `fast` says goodbye, `immediate` is a crash."""
    program = [str(server.bin_path / "pg_ctl"), "-w", "-D", str(server.pgdata), "-m", how, "stop"]
    user = {"user": server.system_user} if server.system_user else {}
    subprocess.run(program, check=True, capture_output=True, cwd="/", **user)  # noqa: S603 - our own


def _until(is_true: Any, patience: float = 30.0) -> None:
    end = time.monotonic() + patience
    while not is_true():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)
