"""Every page in a real browser: opens from a folder without a network, complains of nothing, fits a phone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import elsewhere as ew
from browsing import OpenPage
from chromium import Watched, faults_of_access
from elsewhere.audit.report import audit
from elsewhere.datasets.osm_places import embedded_city
from elsewhere.estimates.expect import expectations
from elsewhere.evaluate.error import mean_errors
from elsewhere.evaluate.plan import plan
from elsewhere.inputs.osm_basemap import write_basemap
from elsewhere.pages.audit import audit_page
from elsewhere.pages.expectation import expectation_page
from elsewhere.pages.own_day import own_day_page
from elsewhere.pages.plan import plan_page
from elsewhere.pages.sharing import sharing_page
from elsewhere.pages.world_page import world_page
from elsewhere.world.world import World
from made_surveys import KINDS, survey_of
from worlds import build, place

NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null;"
WITH_MAP = ("world", "sharing", "own")


def _city(folder: Path) -> World:
    rows = [
        place(
            f"p{i}", 60.166 + i % 4 * 0.003, 24.938 + i // 4 * 0.004, KINDS[i % 3], hours="06:00-24:00"
        )
        for i in range(12)
    ]  # fmt: skip
    return build(folder, rows, {"kappa": 2})


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with every page, of a small city."""
    folder = tmp_path_factory.mktemp("pages")
    world = _city(folder)
    write_basemap(embedded_city(), (24.936, 60.165, 24.952, 60.178), folder / "w.pmtiles")
    tiles = (folder / "w.pmtiles").read_bytes()
    real = [ew.Trajectory([(f"p{i % 12}", 50 + i % 9), (f"p{(i + 5) % 12}", 100)]) for i in range(40)]
    method = ew.method("codebook", world, epsilon=5, candidates=64, shards=2)
    shared = [method.share(day)[0] for day in real]
    errors = {"shared": mean_errors(world, real, shared)}
    nulls = {"popular": shared[::-1]}
    survey = survey_of(world, ("presence", "1/2", {"grid": 2}), ("visits", "1/2", {}))
    made: dict[str, Callable[[], str]] = {
        "world": lambda: world_page(world, tiles),
        "sharing": lambda: sharing_page(
            world, real, shared, promise="ε = 5 a day", errors=errors, nulls=nulls, basemap=tiles
        ),
        "own": lambda: own_day_page(
            world, "2024-03-07", real[0], shared[0], promise="ε = 5", expectation="Little.", basemap=tiles
        ),
        "plan": lambda: plan_page(plan(world, [Fraction(1), Fraction(5)], [1000, 10_000])),
        "audit": lambda: audit_page(audit(method, 2)),
        "expectation": lambda: expectation_page(survey, expectations(survey)),
    }
    for name, make in made.items():
        (folder / f"{name}.html").write_text(make(), encoding="utf-8")
    return folder


ALL = (*WITH_MAP, "plan", "audit", "expectation")


def _opened(open_page: OpenPage, pages: Path, name: str, **options: object) -> Watched:
    watched = open_page((pages / f"{name}.html").as_uri(), **options)
    if name in WITH_MAP and "before" not in options:
        watched.wait_for_map()
    return watched


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ALL)
def test_a_page_opens_offline_fits_a_phone_and_is_for_everybody(
    pages: Path, open_page: OpenPage, name: str, scheme: str
) -> None:
    watched = _opened(open_page, pages, name, width=420, color_scheme=scheme)
    assert watched.asked_of_others == []
    assert watched.complaints == []
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 420
    assert faults_of_access(watched) == []


@pytest.mark.parametrize("name", ALL)
def test_a_page_is_small(pages: Path, name: str) -> None:
    most = 8_000_000 if name in WITH_MAP else 300_000
    assert (pages / f"{name}.html").stat().st_size < most


def _slide(watched: Watched, hour: int) -> None:
    watched.page.evaluate(
        "(hour) => { const one = document.getElementById('hour'); one.value = String(hour);"
        " one.dispatchEvent(new Event('input')); }",
        hour,
    )
    watched.page.wait_for_timeout(400)


@pytest.mark.parametrize(("name", "element"), [("world", "#map"), ("sharing", "#left"), ("own", "#left")])
def test_the_slider_and_play_change_the_picture(
    pages: Path, open_page: OpenPage, name: str, element: str
) -> None:
    watched = _opened(open_page, pages, name)
    pictures = []
    for hour in (3, 8):
        _slide(watched, hour)
        pictures.append(watched.page.locator(element).screenshot())
    assert pictures[0] != pictures[1]
    before = watched.page.inner_text("#hour-words")
    watched.page.click("#play")
    watched.wait(lambda: watched.page.inner_text("#hour-words") != before, "the day does not play")


def test_both_maps_move_together(pages: Path, open_page: OpenPage) -> None:
    watched = _opened(open_page, pages, "sharing")
    watched.page.evaluate("() => sideMaps[0].jumpTo({ center: [24.94, 60.17], zoom: 16 })")
    left, right = watched.page.evaluate("() => sideMaps.map((one) => [one.getZoom(), one.getCenter().lng])")
    assert left == pytest.approx(right)
    assert left[0] == 16


def test_visits_on_the_page_are_those_of_the_files(pages: Path, open_page: OpenPage) -> None:
    watched = _opened(open_page, pages, "sharing")
    # The first visits of 40 days are at timesteps 50 to 58: from 8:20 to 9:40.
    counts = []
    for hour in (8, 9):
        _slide(watched, hour)
        counts.append(int(watched.page.inner_text("#left-words").split()[0]))
    assert sum(counts) == 40


def test_a_chosen_place_tells_how_far_one_gets(pages: Path, open_page: OpenPage, tmp_path: Path) -> None:
    watched = _opened(open_page, pages, "world")
    watched.page.fill("#place", watched.page.evaluate("() => city.names[0]"))
    watched.page.dispatch_event("#place", "change")
    words = watched.page.inner_text("#picked")
    world = _city(tmp_path)
    steps = world.travel.steps([0], list(range(12)), 0)
    reached = int((steps <= 30 // world.clock.timestep_minutes).sum()) - 1
    assert f"{reached} of 11 other places within 30 minutes" in words


def test_regions_can_be_read_one_level_at_a_time(pages: Path, open_page: OpenPage) -> None:
    watched = _opened(open_page, pages, "world")
    assert watched.page.evaluate("() => regionFeatures().length") == 0
    watched.page.select_option("#shown", "regions")
    names = watched.page.locator("#level option").all_inner_texts()
    assert names
    found = watched.page.evaluate("() => regionFeatures().map((one) => one.properties.words)")
    assert found
    assert all("–" in words for words in found)


@pytest.mark.parametrize("name", WITH_MAP)
def test_without_webgl_there_is_something_to_see(pages: Path, open_page: OpenPage, name: str) -> None:
    watched = _opened(open_page, pages, name, before=NO_WEBGL)
    assert watched.page.is_visible("#no-map")
    assert watched.complaints == []
    if name != "world":
        assert watched.page.locator("#left circle, #left polyline").count() > 0


@pytest.mark.parametrize("name", WITH_MAP)
def test_without_scripts_a_sentence_says_so(pages: Path, open_page: OpenPage, name: str) -> None:
    watched = open_page((pages / f"{name}.html").as_uri(), java_script_enabled=False)
    assert "JavaScript" in watched.page.inner_text("main")
