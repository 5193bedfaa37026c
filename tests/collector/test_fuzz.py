"""Some thousand wrong requests to a running collector: `make audit` sends a million."""

from __future__ import annotations

import signal
from pathlib import Path

from elsewhere.survey.file import save_survey, survey_hash
from elsewhere.survey.survey import Survey
from fuzz_collector import differences, fuzzed, kept_in
from fuzzed_requests import Requests
from running import Forked

_REQUESTS = 3000


def test_wrong_requests_are_refused_and_what_is_acknowledged_is_kept(tmp_path: Path, survey: Survey) -> None:
    save_survey(survey, tmp_path / "s.survey")
    where = str(tmp_path / "r.db")
    running = Forked(tmp_path, where, "--limit", "1000000", "--proxy", "127.0.0.1")
    token = running.token_file.read_text().strip()
    outcome = fuzzed(running.port, survey_hash(survey), token, seed=7, count=_REQUESTS)
    assert running.end(signal.SIGTERM) == ""
    assert outcome.findings == []
    assert {200, 201, 400, 401, 404, 405, 409, 415, 422} <= set(outcome.statuses)
    assert outcome.new > _REQUESTS / 20
    assert set(differences(outcome, kept_in(where, survey)).values()) == {0}


def test_what_is_sent_is_the_same_for_the_same_seed() -> None:
    first, again, other = (Requests(seed, "0" * 64, "t") for seed in (1, 1, 2))
    some = [first.next() for _ in range(50)]
    assert some == [again.next() for _ in range(50)]
    assert some != [other.next() for _ in range(50)]
