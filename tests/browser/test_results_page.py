"""The analyst's page in a real browser: what it shows is what was estimated, and how sure that is."""

from __future__ import annotations

import csv
import datetime as dt
from pathlib import Path

import pytest

import elsewhere as ew
from browsing import OpenPage
from chromium import Watched, faults_of_access
from elsewhere.datasets.osm_places import embedded_city
from elsewhere.device.people import DatedDays, dated_days
from elsewhere.device.simulate import simulated_reports, true_shares
from elsewhere.estimates.estimate import Estimates
from elsewhere.estimates.results import write_results
from elsewhere.inputs.osm_basemap import write_basemap
from elsewhere.pages.results import read_compared, results_page
from elsewhere.randomness import SeededRandomness
from made_surveys import survey_of
from worlds import build, place

DAY = dt.date(2025, 9, 17)
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null;"


def _found(folder: Path, seed: int, people: int) -> tuple[Estimates, DatedDays]:
    rows = [
        place(f"p{i}", 60.166 + i % 3 * 0.004, 24.938 + i // 3 * 0.008, hours="06:00-24:00") for i in range(6)
    ]
    world = build(folder, rows, {"kappa": 1})
    asked = [("presence", "1/2", {"grid": 2}), ("moves", "1/4", {"grid": 2}), ("visits", "1/4", {})]
    survey = survey_of(world, *asked, purpose="Where is <everybody> & when?")
    some = [(DAY, ew.Trajectory([("p0", 48), (f"p{1 + i % 5}", 110)])) for i in range(people)]
    days = dated_days(world, some)
    reports = simulated_reports(survey, days, SeededRandomness(seed))
    return ew.estimate(survey, reports), days


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Estimates]:
    """A page of made-up people with a base map, compared with an earlier survey of them."""
    folder = tmp_path_factory.mktemp("results")
    before, _ = _found(folder, 1, 2000)
    write_results(before, folder / "last week")
    found, days = _found(folder, 2, 8000)
    tiles = folder / "city.pmtiles"
    write_basemap(embedded_city(), (24.936, 60.165, 24.952, 60.178), tiles)
    html = results_page(
        found,
        truth=true_shares(found.survey, days),
        basemap=tiles.read_bytes(),
        other=read_compared(folder / "last week", "last week"),
    )
    (folder / "index.html").write_text(html, encoding="utf-8")
    (folder / "plain.html").write_text(results_page(found), encoding="utf-8")
    return folder, found


@pytest.fixture
def watched(made: tuple[Path, Estimates], open_page: OpenPage) -> Watched:
    found = open_page((made[0] / "index.html").as_uri(), accept_downloads=True)
    found.wait_for_map()
    return found


def _hour(watched: Watched, hour: int) -> None:
    watched.page.evaluate(
        "(hour) => { const one = document.getElementById('hour'); one.value = String(hour);"
        " one.dispatchEvent(new Event('input')); }",
        hour,
    )


def test_it_opens_without_a_network_and_asks_nobody(
    watched: Watched, made: tuple[Path, Estimates], tmp_path: Path
) -> None:
    assert watched.asked_of_others == []
    assert watched.complaints == []
    assert (made[0] / "index.html").stat().st_size < 8_000_000
    # A picture of a map has many colours, one of nothing a few.
    watched.page.locator("#map").screenshot(path=tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 20_000


def test_numbers_are_those_of_the_tables(watched: Watched, made: tuple[Path, Estimates]) -> None:
    frame = made[1].frame("presence").filter(hour=8).sort("estimate", descending=True)
    _hour(watched, 8)
    first = watched.page.locator("#list tr").first.inner_text()
    row = frame.row(0, named=True)
    words = [f"{100 * row[name]:.1f} %" for name in ("estimate", "low", "high")]
    assert all(word in first for word in words)
    watched.page.locator("#list button").first.click()
    picked = watched.page.inner_text("#picked")
    assert all(word in picked for word in words)
    assert f"{row['reports']:,} reports" in picked
    assert watched.page.locator("#picked-day path").count() >= 3


def test_the_slider_and_play_change_the_picture(watched: Watched, tmp_path: Path) -> None:
    def picture(hour: int) -> bytes:
        _hour(watched, hour)
        watched.page.wait_for_timeout(400)
        return watched.page.locator("#map").screenshot(path=tmp_path / f"{hour}.png")

    assert picture(3) != picture(8)
    before = watched.page.inner_text("#hour-words")
    watched.page.click("#play")
    watched.wait(lambda: watched.page.inner_text("#hour-words") != before, "the day does not play")
    watched.page.click("#play")
    assert watched.page.get_attribute("#play", "aria-pressed") == "false"


def test_what_is_not_known_is_not_coloured(watched: Watched, made: tuple[Path, Estimates]) -> None:
    """An interval that is long is hatched; one that lies below 1 % of people says that there are few."""
    frame = made[1].frame("presence")
    count = (
        "(kind) => view().estimate.filter("
        "(_, row) => surenessOf(shownAt(view(), 'estimate', row), 'estimate') === kind).length"
    )
    is_few = frame["high"] < 0.01
    is_vague = (frame["high"] - frame["low"]) / 2 > 0.6 * frame["estimate"]
    assert watched.page.evaluate(count, "few") == is_few.sum() > 0
    assert watched.page.evaluate(count, "unknown") == (is_vague & ~is_few).sum()
    _hour(watched, 3)
    assert "few: under" in watched.page.inner_text("#list")
    vague = watched.page.evaluate("() => surenessOf({ row: 0, value: 0.02, low: 0, high: 0.05 }, 'estimate')")
    assert vague == "unknown"


def test_a_click_on_the_map_tells_its_number(watched: Watched) -> None:
    _hour(watched, 8)
    place_of = "() => { const at = cityMap.project(view().parts[0].middle); return [at.x, at.y]; }"
    watched.click_map(*watched.page.evaluate(place_of))
    watched.wait(lambda: "reports" in watched.page.inner_text("#picked"), "nothing was picked")
    label = watched.page.evaluate("() => view().parts[0].label")
    assert label in watched.page.inner_text("#picked-title")


def test_changes_have_intervals_of_both_surveys(watched: Watched, made: tuple[Path, Estimates]) -> None:
    watched.page.select_option("#view", "change")
    assert "between" in watched.page.inner_text("#list")
    both = watched.page.evaluate("() => shownAt(view(), 'change', 0)")
    now = made[1].frame("presence").row(0, named=True)
    before = read_compared(made[0] / "last week", "").tables["presence"].row(0, named=True)
    assert both["value"] == pytest.approx(now["estimate"] - before["estimate"], abs=2e-6)
    below = ((now["estimate"] - now["low"]) ** 2 + (before["high"] - before["estimate"]) ** 2) ** 0.5
    assert both["value"] - both["low"] == pytest.approx(below, abs=1e-5)


def test_what_is_seen_can_be_downloaded(
    watched: Watched, made: tuple[Path, Estimates], tmp_path: Path
) -> None:
    _hour(watched, 8)
    with watched.page.expect_download() as csv_file:
        watched.page.click("#csv")
    csv_file.value.save_as(tmp_path / "seen.csv")
    with (tmp_path / "seen.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    frame = made[1].frame("presence").filter(hour=8)
    assert [float(row["value"]) for row in rows] == pytest.approx(frame["estimate"].to_list(), abs=1e-6)
    with watched.page.expect_download() as png_file:
        watched.page.click("#png")
    png_file.value.save_as(tmp_path / "seen.png")
    assert (tmp_path / "seen.png").read_bytes().startswith(b"\x89PNG")


def test_moves_are_arcs_that_are_known_to_be_there(watched: Watched, made: tuple[Path, Estimates]) -> None:
    assert watched.page.evaluate("() => arcFeatures().length") == 0
    watched.page.check("#flows")
    arcs = watched.page.evaluate("() => arcFeatures().map((one) => one.properties.row)")
    frame = made[1].frame("moves")
    assert arcs
    assert all(frame["low"][row] > 0 for row in arcs)


def test_without_webgl_the_list_says_the_same(made: tuple[Path, Estimates], open_page: OpenPage) -> None:
    watched = open_page((made[0] / "index.html").as_uri(), before=NO_WEBGL)
    assert watched.page.is_visible("#no-map")
    assert not watched.page.is_visible("#map")
    assert watched.page.locator("#list tr").count() > 0
    assert watched.complaints == []


def test_without_scripts_the_tables_are_there(made: tuple[Path, Estimates], open_page: OpenPage) -> None:
    watched = open_page((made[0] / "index.html").as_uri(), java_script_enabled=False)
    assert "needs JavaScript" in watched.page.inner_text("main")
    assert watched.page.locator("table.bars tr").count() > 10


def test_a_world_without_a_base_map_says_so(made: tuple[Path, Estimates], open_page: OpenPage) -> None:
    watched = open_page((made[0] / "plain.html").as_uri())
    watched.wait_for_map()
    assert watched.page.is_visible("#plain-map")
    assert watched.page.locator("#view-label").is_hidden()
    assert watched.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(made: tuple[Path, Estimates], open_page: OpenPage, scheme: str) -> None:
    watched = open_page((made[0] / "index.html").as_uri(), width=420, color_scheme=scheme)
    watched.wait_for_map()
    watched.page.locator("#list button").first.click()
    assert faults_of_access(watched) == []
    # Nothing is wider than a phone.
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 420
