"""The collector's web interface: reports in, once each; everything else is refused with a clear word."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from elsewhere.collector.app import Collector
from elsewhere.collector.limits import Limits
from elsewhere.collector.openapi import openapi
from elsewhere.collector.people import ServedPage
from elsewhere.collector.requests import BYTES, MOST_REPORTS, RefusedError
from elsewhere.collector.results import Results, _answered
from elsewhere.collector.store import DiskFullError, Store, StoreError
from elsewhere.survey.file import load_survey, save_survey, survey_hash
from elsewhere.survey.report import Report
from elsewhere.survey.reports import frame_of, read_reports
from elsewhere.survey.survey import Survey
from examples import examples
from made_reports import some_reports

TOKEN = "a token for the analysts of tests"  # noqa: S105 - of tests
KNOWN = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def collector(tmp_path: Path, survey: Survey) -> Collector:
    return Collector(store=Store(str(tmp_path / "r.db"), survey), token=TOKEN)


@pytest.fixture
def client(collector: Collector) -> Iterator[TestClient]:
    with TestClient(collector.app(), raise_server_exceptions=False) as found:
        yield found


def _bytes(reports: list[Report], headers: dict[str, str] | None = None) -> dict[str, Any]:
    content = b"".join(report.to_bytes() for report in reports)
    return {"content": content, "headers": {"content-type": BYTES, **(headers or {})}}


def test_people_get_their_page_with_its_policy(tmp_path: Path, survey: Survey) -> None:
    page = ServedPage("<p>survey</p>", "default-src 'none'")
    collector = Collector(store=Store(str(tmp_path / "p.db"), survey), token=TOKEN, page=page)
    with TestClient(collector.app(), raise_server_exceptions=False) as client:
        for packed in ("gzip", "identity"):
            found = client.get("/", headers={"accept-encoding": packed})
            assert (found.status_code, found.text) == (200, "<p>survey</p>")
            assert found.headers["content-security-policy"] == "default-src 'none'"
            assert found.headers["x-content-type-options"] == "nosniff"
            assert found.headers.get("content-encoding", "identity") == packed
            assert "set-cookie" not in found.headers
        again = client.get("/", headers={"if-none-match": found.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert client.post("/").status_code == 405


def test_without_a_page_there_is_a_word(client: TestClient) -> None:
    assert client.get("/").status_code == 404
    assert "/v1/survey" in client.get("/").json()["error"]


def test_pages_of_others_may_hand_in_reports_and_read_what_is_public(
    client: TestClient, collector: Collector, survey: Survey
) -> None:
    """A page that somebody keeps as a file has no origin; no rights of anybody are used."""
    asked = {
        "origin": "null",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type, elsewhere-code",
    }
    allowed = client.options("/v1/reports", headers=asked)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == "*"
    assert allowed.headers["access-control-allow-headers"].lower() == "content-type, elsewhere-code"
    assert "authorization" not in str(allowed.headers).lower()
    for path in ("/v1/survey", f"/v1/surveys/{collector.name}.survey", "/v1/counts"):
        assert client.get(path).headers["access-control-allow-origin"] == "*"
    for status, body in ((201, _bytes(some_reports(survey, 1))), (415, {"content": b"x"})):
        found = client.post("/v1/reports", **body)
        assert (found.status_code, found.headers["access-control-allow-origin"]) == (status, "*")
        assert "access-control-allow-credentials" not in found.headers


def test_a_page_of_somebody_else_sends_little_at_a_time(client: TestClient, survey: Survey) -> None:
    """Whoever only visits a page must not flood a survey with their address."""
    for origin in ("https://evil.example", "null"):
        some = client.post("/v1/reports", **_bytes(some_reports(survey, 2), {"Origin": origin}))
        assert (some.status_code, "one report at a time" in some.text) == (422, True)
    own = client.post("/v1/reports", **_bytes(some_reports(survey, 2), {"Origin": "http://testserver"}))
    assert own.status_code == 201
    statuses = [
        client.post("/v1/reports", **_bytes([one], {"Origin": "null"})).status_code
        for one in some_reports(survey, 70)
    ]
    assert statuses == [201] * 60 + [429] * 10
    assert client.post("/v1/reports", **_bytes(some_reports(survey, 2))).status_code == 201


@pytest.mark.parametrize("path", ["/v1/estimates", "/v1/population", "/v1/export", "/metrics"])
def test_what_needs_a_token_is_for_no_page_of_others(client: TestClient, path: str) -> None:
    assert "access-control-allow-origin" not in client.get(path).headers
    assert client.options(path).status_code == 405


def test_a_report_is_kept_once(client: TestClient, collector: Collector, survey: Survey) -> None:
    first, second, *others = some_reports(survey, 20)
    answer = client.post("/v1/reports", **_bytes([first]))
    assert (answer.status_code, answer.json()) == (201, {"new": 1, "again": 0})
    answer = client.post("/v1/reports", **_bytes([first]))
    assert (answer.status_code, answer.json()) == (200, {"new": 0, "again": 1})
    answer = client.post("/v1/reports", json=json.loads(second.to_json()))
    assert (answer.status_code, answer.json()) == (201, {"new": 1, "again": 0})
    answer = client.post("/v1/reports", json=[json.loads(one.to_json()) for one in [first, *others]])
    assert (answer.status_code, answer.json()) == (201, {"new": 18, "again": 1})
    answer = client.post("/v1/reports", **_bytes([replace(first, output=first.output + 1)]))
    assert answer.status_code == 409
    assert answer.json()["ids"] == [first.report_id]
    # One that is taken does not keep out those beside it, and the answer says so.
    taken, (beside,) = replace(first, output=first.output + 1), some_reports(survey, 1)
    answer = client.post("/v1/reports", **_bytes([taken, beside]))
    assert (answer.status_code, answer.json()["new"], answer.json()["again"]) == (409, 1, 0)
    assert collector.store.frame().equals(frame_of([first, second, *others, beside]).sort("id"))


def test_the_survey_is_what_devices_load(client: TestClient, tmp_path: Path, survey: Survey) -> None:
    about = client.get("/v1/survey").json()
    assert about["survey"] == survey_hash(survey)
    answer = client.get(about["file"])
    assert "immutable" in answer.headers["cache-control"]
    (tmp_path / "a.survey").write_bytes(answer.content)
    assert survey_hash(load_survey(tmp_path / "a.survey")) == about["survey"]
    again = client.get(about["file"], headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"survey": "0" * 64}, 409),
        ({"question": 2}, 422),
        ({"output": 1 << 20}, 422),
        ({"seed": 5}, 422),
        ({"day": dt.date(2025, 10, 1)}, 422),
        ({"day": dt.date(2025, 8, 31)}, 422),
    ],
)
def test_what_this_survey_does_not_ask_is_refused(
    client: TestClient, collector: Collector, survey: Survey, change: dict[str, Any], status: int
) -> None:
    """One of them spoils its whole batch: nothing of it is kept."""
    good, bad = some_reports(survey, 2)
    answer = client.post("/v1/reports", **_bytes([good, replace(bad, **change)]))
    assert answer.status_code == status
    assert answer.json()["error"]
    assert collector.store.count() == 0


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", BYTES, 400),
        (b"x" * 62, BYTES, 400),
        (b"x" * 63, BYTES, 400),
        (b"x" * 63 * (MOST_REPORTS + 1), BYTES, 413),
        (b"[]", "application/json", 400),
        (b"[[]]", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'[{"survey": 1, "survey": 1}]', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 5000, "application/json", 400),
        (b"[" + b'{"a":' * 600 + b"1" + b"}" * 601, "application/json", 400),
        (b" " * 500_000, "application/json", 413),
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
    ],
)
def test_damaged_requests_are_refused(
    client: TestClient, collector: Collector, content: bytes, kind: str, status: int
) -> None:
    answer = client.post("/v1/reports", content=content, headers={"content-type": kind})
    assert answer.status_code == status
    assert answer.json()["error"]
    assert collector.store.count() == 0


def test_a_list_of_pairs_is_no_report(client: TestClient, collector: Collector, survey: Survey) -> None:
    """What an object says, written as a list: the one strict reader takes objects alone."""
    pairs = [list(pair) for pair in json.loads(some_reports(survey, 1)[0].to_json()).items()]
    assert client.post("/v1/reports", json=[pairs]).status_code == 400
    assert collector.store.count() == 0


@given(body=st.binary(max_size=300), kind=st.sampled_from([BYTES, "application/json"]))
@examples(max_examples=300)
def test_whatever_is_sent_is_refused_with_a_word(fuzzed: TestClient, body: bytes, kind: str) -> None:
    answer = fuzzed.post("/v1/reports", content=body, headers={"content-type": kind})
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory, survey: Survey) -> Iterator[TestClient]:
    store = Store(str(tmp_path_factory.mktemp("fuzzed") / "r.db"), survey)
    collector = Collector(store=store, token=TOKEN, limits=Limits(per_minute=1 << 40))
    with TestClient(collector.app(), raise_server_exceptions=False) as found:
        yield found
        assert store.count() == 0


@pytest.mark.parametrize("path", ["/v1/export", "/metrics"])
@pytest.mark.parametrize("given_token", ["", "Bearer", "Bearer wrong", f"bearer {TOKEN}", f"Bearer {TOKEN}s"])
def test_results_need_the_token(client: TestClient, path: str, given_token: str) -> None:
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"authorization": given_token}).status_code == 401
    assert client.get(path, headers=KNOWN).status_code == 200


def test_an_export_is_what_was_kept(client: TestClient, tmp_path: Path, survey: Survey) -> None:
    reports = some_reports(survey, 50)
    client.post("/v1/reports", **_bytes(reports))
    (tmp_path / "out.parquet").write_bytes(client.get("/v1/export", headers=KNOWN).content)
    assert read_reports(tmp_path / "out.parquet").equals(frame_of(reports).sort("id"))


def test_counts_for_everybody_are_rounded_down(client: TestClient, survey: Survey) -> None:
    client.post("/v1/reports", **_bytes(some_reports(survey, 250)))
    assert client.get("/v1/counts").json() == {"reports_at_least": 200, "in_steps_of": 100}


def test_metrics_count_and_tell_nothing_else(client: TestClient, survey: Survey) -> None:
    reports = some_reports(survey, 250)
    client.post("/v1/reports", **_bytes(reports), params={"who": "me"})
    client.post("/v1/reports", content=b"x", headers={"content-type": BYTES, "user-agent": "mine/1"})
    text = client.get("/metrics", headers=KNOWN).text
    # In steps, else it would tell when each report came.
    assert 'elsewhere_reports_total{outcome="new"} 200' in text
    assert 'elsewhere_refused_total{status="400"} 1' in text
    assert "mine" not in text
    assert reports[0].report_id not in text


def test_a_busy_or_broken_store_is_said_and_nothing_is_lost(
    client: TestClient, collector: Collector, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = some_reports(survey, 1)
    # Also what nobody thought of is answered: the writer goes on.
    problems = ((DiskFullError("full"), 507), (StoreError("down"), 503), (TypeError("a fault of ours"), 503))
    for problem, status in problems:

        def broken(_reports: object, _codes: object, problem: Exception = problem) -> None:
            raise problem

        with monkeypatch.context() as patched:
            patched.setattr(collector.store, "add", broken)
            answer = client.post("/v1/reports", **_bytes(report))
        assert answer.status_code == status
        assert ("retry-after" in answer.headers) == (status == 503)
    with monkeypatch.context() as patched:
        patched.setattr(collector.writer, "_most", 0)
        assert client.post("/v1/reports", **_bytes(report)).status_code == 503
    assert client.post("/v1/reports", **_bytes(report)).status_code == 201
    assert client.get("/v1/ready").status_code == 200
    monkeypatch.setattr("elsewhere.collector.store.SPARE_BYTES", 1 << 62)
    assert client.get("/v1/ready").status_code == 507
    assert client.post("/v1/reports", **_bytes(some_reports(survey, 1))).status_code == 507
    assert client.get("/v1/health").status_code == 200
    assert collector.store.count() == 1


def test_one_address_may_send_so_much_a_minute() -> None:
    now = [0.0]
    limits = Limits(per_minute=10, clock=lambda: now[0])
    assert limits.allows("192.0.2.1", 10)
    assert not limits.allows("192.0.2.1", 1)
    assert limits.allows("192.0.2.2", 1)
    kept = set(vars(limits)["_seen"])
    assert all(len(mark) == 8 for mark in kept)  # digests under a key that is thrown away
    now[0] = 61.0
    assert limits.allows("192.0.2.1", 1)
    assert not kept & set(vars(limits)["_seen"])


def test_too_much_from_one_address_is_refused(tmp_path: Path, survey: Survey) -> None:
    store = Store(str(tmp_path / "r.db"), survey)
    few = Collector(store=store, token=TOKEN, limits=Limits(per_minute=5))
    with TestClient(few.app()) as client:
        refused = client.post("/v1/reports", **_bytes(some_reports(survey, 6)))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
        assert client.post("/v1/reports", **_bytes(some_reports(survey, 5))).status_code == 201


def test_what_is_described_is_what_there_is(client: TestClient, survey: Survey) -> None:
    described = openapi(survey_hash(survey))["paths"]
    assert client.get("/openapi.json").json()["paths"].keys() == described.keys()
    for path, methods in described.items():
        for method in methods:
            answer = client.request(method, path, headers=KNOWN)
            assert str(answer.status_code) in methods[method]["responses"], path
        assert client.request("DELETE", path).status_code == 405
    assert client.get("/v1/surveys/../../etc/passwd").status_code == 404
    # No redirect: it would lead to whatever host the request names.
    for path in described:
        assert client.get(f"{path}/", headers={"host": "example.org"}).status_code == 404


def test_results_need_a_token_and_enough_reports(
    client: TestClient, collector: Collector, survey: Survey
) -> None:
    for path in ("/v1/estimates", "/v1/estimates/visits.csv", "/v1/population"):
        assert client.get(path).status_code == 401
        few = client.get(path, headers=KNOWN)
        assert few.status_code == 404
        assert "the least of which anything is published" in few.json()["error"]
    client.post("/v1/reports", **_bytes(some_reports(survey, 600)))
    collector.results._made = -1e9  # a minute later
    found = client.get("/v1/estimates", headers=KNOWN)
    assert found.status_code == 200
    assert found.json()["reports"] == 600
    tables = found.json()["tables"]
    assert tables == [
        f"/v1/estimates/{name}.{kind}" for name in ("presence", "visits") for kind in ("csv", "parquet")
    ]
    assert client.get(tables[0], headers=KNOWN).text.startswith("thing,")
    assert client.get("/v1/population", headers=KNOWN).content[:4] == b"PAR1"
    for path in ("/v1/estimates", tables[0], "/v1/export", "/metrics"):
        headers = client.get(path, headers=KNOWN).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
    page = client.get("/results", auth=("anybody", TOKEN))
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-store")
    assert "script-src 'sha256-" in page.headers["content-security-policy"]
    assert "What people said together" in page.text
    for name in ("summary.json", "counts.npz", "..%2fasked.survey", "nothing.csv"):
        assert client.get(f"/v1/estimates/{name}", headers=KNOWN).status_code == 404


def test_a_browser_asks_for_the_token_as_a_password(client: TestClient) -> None:
    assert client.get("/results").headers["www-authenticate"].startswith("Basic ")
    for name, password in ((TOKEN, ""), ("", "wrong"), ("x", f"{TOKEN} "), ("", "")):
        assert client.get("/results", auth=(name, password)).status_code == 401
    for header in ("Basic", "Basic %%%", f"Basic {TOKEN}", f"bearer {TOKEN}", f"Bearer  {TOKEN}"):
        assert client.get("/results", headers={"Authorization": header}).status_code == 401


@pytest.mark.audit
def test_new_reports_are_in_the_results_after_a_minute(
    client: TestClient, collector: Collector, survey: Survey
) -> None:
    client.post("/v1/reports", **_bytes(some_reports(survey, 600)))
    assert client.get("/v1/estimates", headers=KNOWN).json()["reports"] == 600
    # New reports are there after a minute, and only they are read.
    client.post("/v1/reports", **_bytes(some_reports(survey, 50)))
    assert client.get("/v1/estimates", headers=KNOWN).json()["reports"] == 600
    collector.results._made = -1e9
    client.get("/v1/estimates", headers=KNOWN)
    for _ in range(200):
        if client.get("/v1/estimates", headers=KNOWN).json()["reports"] == 650:
            break
        time.sleep(0.1)
    assert client.get("/v1/estimates", headers=KNOWN).json()["reports"] == 650


def test_results_that_could_not_be_made_are_made_again(
    client: TestClient, collector: Collector, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if no new report comes meanwhile; that there are too few is not found out again and again."""
    problems = [RefusedError(404, "few"), RefusedError(503, "killed")]

    async def failing(_target: Path) -> RefusedError:
        return problems.pop()

    monkeypatch.setattr(collector.results, "_run", failing)
    client.post("/v1/reports", **_bytes(some_reports(survey, 1)))
    assert [client.get("/v1/estimates", headers=KNOWN).status_code for _ in range(3)] == [503, 404, 404]


def test_results_of_a_database_that_is_down_are_for_later(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "s.survey")
    given = {"survey": str(tmp_path / "s.survey"), "folder": str(tmp_path / "r"), "before": ""}
    down = _answered({**given, "store": "postgresql://127.0.0.1:1/none"})
    assert down["status"] == 503
    Store(str(tmp_path / "r.db"), survey).close()
    few = _answered({**given, "store": str(tmp_path / "r.db")})
    assert few["status"] == 404


def test_where_people_were_invited_a_code_is_good_for_one_report(
    client: TestClient, collector: Collector, survey: Survey
) -> None:
    assert not client.get("/v1/survey").json()["by_invitation"]
    codes = collector.store.invite(2)
    assert client.get("/v1/survey").json()["by_invitation"]
    reports = some_reports(survey, 4)

    def sent(number: int, code: str | None) -> int:
        given = _bytes(reports[number : number + 1])
        headers = given["headers"] | ({} if code is None else {"Elsewhere-Code": code})
        return client.post("/v1/reports", content=given["content"], headers=headers).status_code

    assert sent(0, None) == 403
    assert sent(0, "ABCD-EFGH-JKMN-PQRS") == 403
    assert sent(0, codes[0].lower().replace("-", " ")) == 201
    assert sent(0, codes[0]) == 200  # the same report again needs no code
    assert sent(0, None) == 200
    assert sent(1, codes[0]) == 403
    assert sent(1, codes[1]) == 201
    assert sent(2, "x" * 65) == 422
    many = _bytes(reports)
    both = client.post(
        "/v1/reports", content=many["content"], headers=many["headers"] | {"Elsewhere-Code": codes[0]}
    )
    assert both.status_code == 422
    assert client.post("/v1/reports", **_bytes(reports)).status_code == 403
    assert collector.store.count() == 2


def test_what_is_refused_counts_as_well(tmp_path: Path, survey: Survey) -> None:
    """Whoever sends a thousand reports of which one is foreign has made us read them."""
    made = Collector(store=Store(str(tmp_path / "l.db"), survey), token=TOKEN, limits=Limits(per_minute=2500))
    bad = [*some_reports(survey, 999), replace(some_reports(survey, 1)[0], survey="0" * 64)]
    with TestClient(made.app(), raise_server_exceptions=False) as client:
        found = [client.post("/v1/reports", **_bytes(bad)).status_code for _ in range(4)]
    assert found == [409, 409, 429, 429]


def test_bodies_together_take_no_more_memory_than_they_may(
    client: TestClient, collector: Collector, survey: Survey
) -> None:
    collector._room.left = 100
    assert client.post("/v1/reports", **_bytes(some_reports(survey, 2))).status_code == 503
    assert client.post("/v1/reports", **_bytes(some_reports(survey, 1))).status_code == 201
    assert collector._room.left == 100


def test_counts_for_everybody_change_once_an_hour(
    client: TestClient, collector: Collector, survey: Survey
) -> None:
    assert client.get("/v1/counts").json()["reports_at_least"] == 0
    client.post("/v1/reports", **_bytes(some_reports(survey, 350)))
    assert client.get("/v1/counts").json()["reports_at_least"] == 0
    collector._counts_until = 0.0  # an hour later
    assert client.get("/v1/counts").json()["reports_at_least"] == 300


def test_many_who_ask_for_results_start_one_process(
    client: TestClient, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    async def slow(_results: Results, target: Path) -> RefusedError:
        started.append(target)
        await asyncio.sleep(0.2)
        return RefusedError(404, "too few")

    monkeypatch.setattr(Results, "_run", slow)
    assert client.get("/v1/health").status_code == 200

    async def asked() -> list[object]:
        return await asyncio.gather(*(collector.results.folder() for _ in range(12)), return_exceptions=True)

    assert client.portal is not None
    found = client.portal.call(asked)
    assert len(started) == 1
    assert {getattr(one, "status", None) for one in found} == {404}
