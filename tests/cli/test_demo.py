"""The demo's loop on a small city: asked, collected for real, estimated, with what is true beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elsewhere.cli.demo_survey import survey_demo
from made_surveys import six_places


@pytest.mark.audit
def test_the_whole_loop(tmp_path: Path) -> None:
    six_places(tmp_path / "city").save(tmp_path / "helsinki.world")
    lines = [
        f"u{u},t{u},2024-03-07T{8 + u % 9:02d}:10:00,p{u % 6}\nu{u},t{u},2024-03-07T19:00:00,p{u % 3}\n"
        for u in range(2500)
    ]
    (tmp_path / "trajectories.csv").write_text("uid,tid,datetime,place_id\n" + "".join(lines))
    (tmp_path / "reports.db").write_text("of an earlier demo")
    survey_demo(tmp_path)
    assert json.loads((tmp_path / "results/summary.json").read_text())["reports"] == 2500
    page = (tmp_path / "results/index.html").read_text()
    assert "hold what is true" in page
    assert "If reports were made up" in page
