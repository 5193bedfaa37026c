"""What pages are made of: scripts of others as they were, charts that say their numbers, a strict policy."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

import elsewhere.pages
from elsewhere.pages.charts import Axis, Bar, Line, bar_table, column_chart, line_chart
from elsewhere.pages.page import page, table

PAGES = Path(elsewhere.pages.__file__).parent


def test_scripts_of_others_are_as_their_packages_have_them() -> None:
    listed = re.findall(r"^([0-9a-f]{64})  (\S+)$", (PAGES / "vendor/README.md").read_text(), re.MULTILINE)
    assert {name for _, name in listed} == {
        path.name for path in (PAGES / "vendor").iterdir() if path.suffix in {".js", ".css"}
    }
    for checksum, name in listed:
        assert hashlib.sha256((PAGES / "vendor" / name).read_bytes()).hexdigest() == checksum


def test_every_script_has_its_checksum_in_the_policy_and_no_other_runs() -> None:
    html = page("A & B", "<sub>", [], scripts=["scripts/map.js"], data={"x": {"a": "</script><b>"}})
    codes = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(codes) == 1
    checksum = base64.b64encode(hashlib.sha256(codes[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{checksum}';" in html
    assert "A &amp; B" in html
    assert "&lt;sub&gt;" in html
    assert "</script><b>" not in html


def test_no_page_names_a_map_of_its_scripts() -> None:
    """Browsers would look for it, and complain."""
    html = page("t", "s", [], scripts=["vendor/pmtiles.js"])
    assert "sourceMappingURL" not in html


def test_bars_say_their_numbers_and_intervals() -> None:
    html = bar_table(
        [Bar(label="<a>", value=12.34, low=10, high=14, truth=13), Bar(label="b", value=0)], what="x"
    )
    assert "12.3 (10.0–14.0)" in html
    assert "&lt;a&gt;" in html
    assert "<td>13.0</td>" in html
    assert "nan" not in html


def test_nothing_to_draw_is_no_error() -> None:
    assert "<table" in bar_table([], what="nothing")
    line = Line(name="none", x=[], y=[])
    assert "<svg" in line_chart([line], x=Axis(title="x", is_log=True), y=Axis(title="y"), about="nothing")
    assert "<svg" in column_chart([], {}, y=Axis(title="y"), x_title="x", about="nothing")
    assert "<table" in table(["a"], [])


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.0, 0.003), (-5.0, 5.0), (0.0, 123_456.0)])
def test_round_numbers_stand_at_an_axis_and_hold_all_values(low: float, high: float) -> None:
    axis = Axis(title="y").spread([low, high])
    assert 3 <= len(axis.ticks) <= 8
    assert axis.at(low) >= -1e-9
    assert axis.at(high) <= 100 + 1e-9


def test_lines_go_where_values_are() -> None:
    line = Line(name="a", x=[0, 10], y=[0, 4], has_marks=True)
    html = line_chart([line], x=Axis(title="x", low=0, high=10, ticks=[0, 10]), y=Axis(title="y"), about="a")
    assert "M0.0 1000.0 L1000.0 0.0" in html
    assert "<title>a: 4</title>" in html
