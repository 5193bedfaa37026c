"""The people's page end to end: a real browser, a real collector, a file in, one report in the store."""

from __future__ import annotations

import datetime as dt
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from browsing import OpenPage
from chromium import Watched, faults_of_access
from elsewhere.collector.store import Store
from elsewhere.device.personal import personal_day, read_own
from elsewhere.pages.people import messages, people_page
from elsewhere.survey.answering import Answering
from elsewhere.survey.file import save_survey, survey_hash
from elsewhere.survey.report import Report
from elsewhere.survey.survey import Period, Survey
from elsewhere.world.world import World
from made_surveys import survey_of
from own_files import android, berlin
from running import Forked
from twins import UNIFORM, CountedWords
from worlds import build, place

DAY = dt.date(2024, 3, 7)
SEED = 20_240_307
ENGLISH = messages()["en"]
COUNTED = f"""(() => {{
  // Words by a counter, as tests/twins.py makes them, in place of the browser's own.
  const stir = (word) => {{
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
    return (word ^ (word >>> 16)) >>> 0;
  }};
  let taken = 0;
  crypto.getRandomValues = (halves) => {{
    for (let i = 0; i < halves.length; i++) {{
      halves[i] = stir((stir({SEED}) + Math.imul(taken++, 0x9e3779b1)) >>> 0);
    }}
    return halves;
  }};
}})();"""
NO_STORAGE = "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('no'); } });"
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null;"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(tmp_path_factory.mktemp("world"), berlin(), {"kappa": 1, "timezone": "Europe/Berlin"})


@pytest.fixture
def survey(world: World) -> Survey:
    asked = [
        ("presence", "1/2", {"grid": 3}),
        ("kinds", "1/4", {}),
        ("day", "1/4", {"candidates": 32, "k": 3}),
    ]
    period = Period(first=dt.date(2024, 3, 1), last=dt.date(2024, 3, 31))
    return survey_of(world, *asked, purpose="Where is <everybody> & when?", period=period, day_unit=7, days=2)


class _Site:
    """A running collector of a survey, and what it keeps."""

    def __init__(self, folder: Path, survey: Survey) -> None:
        self.folder, self.survey = folder, survey
        save_survey(survey, folder / "s.survey")
        self._store = str(folder / "reports.db")
        self.running = Forked(folder, self._store)
        self.url = f"http://127.0.0.1:{self.running.port}"

    def reports(self) -> list[str]:
        """All reports in the store, as their ids."""
        with closing(Store(self._store, self.survey)) as store:
            return [str(one) for one in store.frame()["id"]]

    def rows(self) -> list[tuple[Any, ...]]:
        with closing(Store(self._store, self.survey)) as store:
            return store.frame().select("id", "question", "day", "seed", "output").rows()


@pytest.fixture
def site(tmp_path: Path, survey: Survey) -> Iterator[_Site]:
    found = _Site(tmp_path, survey)
    yield found
    assert found.running.end(signal.SIGTERM) == ""


@pytest.fixture
def people(open_page: OpenPage, site: _Site) -> Callable[..., Watched]:
    """The page as the collector serves it, ready."""

    def opened(**options: Any) -> Watched:
        return _ready(open_page(f"{site.url}/", offline=False, **{"locale": "en-GB", **options}))

    return opened


def _ready(watched: Watched) -> Watched:
    watched.wait(lambda: watched.page.evaluate("document.body.dataset.people") == "ready", "it is not ready")
    return watched


def _choose_file(watched: Watched, path: Path) -> None:
    watched.page.set_input_files("#file", path)
    said = watched.page.locator("#status")
    watched.wait(
        lambda: "days" in said.inner_text() or watched.page.inner_text("#problem"), "nothing is read"
    )


def _choose_day(watched: Watched, day: str) -> None:
    watched.page.fill("#date", day)
    watched.page.dispatch_event("#date", "change")


def _answer(watched: Watched, day: dt.date = DAY) -> str:
    """Choose a day, press the button; returns the bytes as shown, once they are sent."""
    _press(watched, day)
    watched.page.wait_for_selector("#preview", state="visible")
    return watched.page.inner_text("#picked-bytes")


def _press(watched: Watched, day: dt.date = DAY) -> None:
    """Choose a day, press the button."""
    _choose_day(watched, day.isoformat())
    watched.page.click("#answer")


def _kept(watched: Watched) -> list[str]:
    """What this browser has written down."""
    return watched.page.evaluate(  # type: ignore[no-any-return]  # a list of text
        "async () => (await allKept(await openKept(), given.survey.hash)).map((one) => "
        "[...one.report].map((byte) => byte.toString(16).padStart(2, '0')).join(''))"
    )


def _sent_again(watched: Watched) -> str:
    """Press the button of an answer that did not arrive; returns what is said then."""
    watched.page.click("#send")
    return _said(watched)


def _said(watched: Watched) -> str:
    """What is said in the end."""
    said = ENGLISH["sending"]
    watched.wait(
        lambda: watched.page.inner_text("#receipt") not in {"", said} or watched.page.inner_text("#problem"),
        "nothing is said",
    )
    return watched.page.inner_text("#receipt") or watched.page.inner_text("#problem")


def _as_python(survey: Survey, file: Path) -> Report:
    """What Python's device makes of the same file, day and words."""
    trajectory = personal_day(read_own([file], survey.world), survey.world, DAY)
    answering, source = Answering(survey), CountedWords(SEED, UNIFORM)
    found, _ = answering.answer([answering.secret(trajectory)], source, constant_work=True)  # type: ignore[arg-type]
    question, seed, output = found[0].tolist()
    return Report(
        survey=survey_hash(survey),
        report_id=source.words(2).tobytes().hex(),
        question=question,
        day=survey.terms.told_day(DAY),
        seed=seed,
        output=output,
    )


def test_a_file_in_and_one_report_in_the_store_as_python_makes_it(
    people: Callable[..., Watched], site: _Site, tmp_path: Path
) -> None:
    """T11, R24: nothing is asked for but the page, and after one press one report is sent."""
    file = android(tmp_path)
    wanted = _as_python(site.survey, file)
    watched = people(before=COUNTED)
    _choose_file(watched, file)
    assert [url for url in watched.requests if not url.startswith(("blob:", "data:"))] == [f"{site.url}/"]
    shown = _answer(watched)
    assert watched.page.locator("#visits tr").all_inner_texts() == [
        "10:00\tcafe (Café)\tTake away", "12:00\tshop (Shoe shop)\tTake away"
    ]  # fmt: skip
    assert shown == wanted.to_bytes().hex()
    assert _said(watched) == ENGLISH["receipt"].format(host=site.url[7:], id=wanted.report_id)
    assert watched.complaints == []
    assert [url for url in watched.requests if not url.startswith(("blob:", "data:"))] == [
        f"{site.url}/", f"{site.url}/v1/survey", f"{site.url}/v1/reports"
    ]  # fmt: skip
    assert site.rows() == [(wanted.report_id, wanted.question, wanted.day, wanted.seed, wanted.output)]


@pytest.mark.parametrize("is_lost", [False, True], ids=["slow", "lost"])
def test_nobody_sees_an_answer_that_is_not_sent(
    people: Callable[..., Watched], site: _Site, *, is_lost: bool
) -> None:
    """R17: whether an answer is sent must not depend on what it says."""
    watched = people()
    waiting: list[Any] = []
    watched.page.route("**/v1/reports", lambda route: waiting.append(route))  # noqa: PLW0108 - it is patched
    _press(watched)
    watched.wait(lambda: waiting, "nothing is sent")
    [first] = _kept(watched)
    seen = watched.page.inner_text("main")
    assert watched.page.is_hidden("#preview")
    assert not any(text in seen for text in (first, first[70:102]))
    waiting[0].abort() if is_lost else waiting[0].continue_()
    if is_lost:
        assert "cannot be reached" in _said(watched)
        assert watched.page.is_hidden("#preview")
        watched.page.unroute("**/v1/reports")
        assert _sent_again(watched).startswith("Sent.")
    assert _said(watched).startswith("Sent.")
    assert watched.page.inner_text("#picked-bytes") == first
    assert watched.page.is_hidden("#send")
    assert len(site.reports()) == 1


def test_asked_again_the_same_bytes_come_back(people: Callable[..., Watched], site: _Site) -> None:
    """R18: after a reload, with other visits; an answer that did not arrive is sent as it is."""
    watched = people()
    watched.page.route("**/v1/reports", lambda route: route.abort())
    _press(watched)
    assert "cannot be reached" in _said(watched)
    [first] = _kept(watched)
    watched.page.unroute("**/v1/reports")
    watched.page.reload()
    _ready(watched)
    assert "written down but was not sent" in watched.page.inner_text("#status")
    _choose_day(watched, DAY.isoformat())
    watched.page.fill("#search", "shop")
    watched.page.click("#add")
    watched.page.click("#answer")
    watched.page.wait_for_selector("#again", state="visible")
    assert _said(watched).startswith("Sent.")
    assert watched.page.inner_text("#picked-bytes") == first
    asked = watched.requests.count(f"{site.url}/v1/reports")
    assert _answer(watched) == first
    assert watched.page.inner_text("#receipt") == ENGLISH["sent_before"]
    assert watched.requests.count(f"{site.url}/v1/reports") == asked  # nothing more is sent
    assert len(site.reports()) == 1
    watched.page.reload()
    _ready(watched)
    assert "was not sent" not in watched.page.inner_text("#status")


def test_nothing_of_a_day_is_there_after_going_back(people: Callable[..., Watched], site: _Site) -> None:
    watched = people()
    _choose_day(watched, DAY.isoformat())
    watched.page.fill("#search", "shop")
    watched.page.click("#add")
    assert watched.page.locator("#visits tr").count() == 1
    watched.page.goto("about:blank")
    watched.page.go_back()
    _ready(watched)
    watched.page.wait_for_timeout(300)
    _ready(watched)
    assert watched.page.locator("#visits tr").count() == 0
    assert watched.page.input_value("#search") == ""
    assert watched.page.url == f"{site.url}/"


def test_in_a_frame_nothing_is_answered(people: Callable[..., Watched], world: World, tmp_path: Path) -> None:
    survey = survey_of(world, ("visits", "1", {}))
    (tmp_path / "a.html").write_text(people_page(survey, to="http://127.0.0.1:9"), encoding="utf-8")
    (tmp_path / "around.html").write_text("<iframe src='a.html'></iframe>", encoding="utf-8")
    watched = people()
    watched.page.goto((tmp_path / "around.html").as_uri())
    frame = watched.page.frames[1]
    frame.wait_for_load_state()
    watched.wait(lambda: ENGLISH["framed"] in frame.inner_text("#problem"), "it is not refused")
    assert frame.is_disabled("#answer")


def test_two_tabs_answer_once(people: Callable[..., Watched], site: _Site) -> None:
    first = people()
    second = _ready(_tab(first, site))
    for watched in (first, second):
        watched.page.fill("#date", DAY.isoformat())
        watched.page.dispatch_event("#date", "change")
    for watched in (first, second):
        watched.page.evaluate("document.getElementById('answer').click()")
    for watched in (first, second):
        watched.page.wait_for_selector("#preview", state="visible")
    assert first.page.inner_text("#picked-bytes") == second.page.inner_text("#picked-bytes")
    for watched in (first, second):
        assert _said(watched).startswith(("Sent.", "It was there already", "This answer was sent before"))
    assert len(site.reports()) == 1


def _tab(watched: Watched, site: _Site) -> Watched:
    other = Watched(watched.page.context.new_page())
    other.page.goto(f"{site.url}/")
    return other


@pytest.mark.parametrize("is_taken", [False, True], ids=["request lost", "answer lost"])
def test_a_lost_connection_sends_the_same_bytes_later(
    people: Callable[..., Watched], site: _Site, *, is_taken: bool
) -> None:
    watched = people()

    def lose(route: Any) -> None:
        if is_taken:
            route.fetch()  # it arrives, but nobody hears of it
        route.abort()

    watched.page.route("**/v1/reports", lose)
    _press(watched)
    assert "cannot be reached" in _said(watched)
    [first] = _kept(watched)
    watched.page.unroute("**/v1/reports")
    watched.page.reload()
    _ready(watched)
    assert _answer(watched) == first
    assert _said(watched).startswith("It was there already" if is_taken else "Sent.")
    assert len(site.reports()) == 1


def test_another_language_takes_nothing_back(people: Callable[..., Watched], site: _Site) -> None:
    """What waits to be sent can still be sent, and focus stays where it was."""
    watched = people()
    watched.page.route("**/v1/reports", lambda route: route.abort())
    _press(watched)
    assert "cannot be reached" in _said(watched)
    watched.page.unroute("**/v1/reports")
    watched.page.click("[data-language=fi]")
    assert watched.page.evaluate("document.activeElement.dataset.language") == "fi"
    assert watched.page.inner_text("#send").startswith("Lähetä")
    watched.page.click("#send")
    watched.wait(lambda: watched.page.inner_text("#receipt").startswith("Lähetetty."), "not sent")
    watched.page.click("[data-language=en]")
    assert watched.page.inner_text("#picked-bytes") == _kept(watched)[0]
    assert len(site.reports()) == 1


def test_a_collector_that_is_down_keeps_nobody_from_sending_later(
    open_page: OpenPage, site: _Site, tmp_path: Path
) -> None:
    """A single file, without a network: the answer waits in the browser."""
    (tmp_path / "answer.html").write_text(people_page(site.survey, to=site.url), encoding="utf-8")
    watched = _ready(open_page((tmp_path / "answer.html").as_uri(), locale="en-GB"))
    _press(watched)
    assert "cannot be reached" in _said(watched)
    [first] = _kept(watched)
    watched.page.context.set_offline(False)
    assert _sent_again(watched).startswith("Sent.")
    assert first[70:102] in site.reports()  # the id
    assert watched.asked_of_others == [f"{site.url}/v1/survey", *[f"{site.url}/v1/reports"] * 2]


def test_without_storage_nothing_is_answered(people: Callable[..., Watched]) -> None:
    watched = people(before=NO_STORAGE)
    assert watched.page.inner_text("#problem") == ENGLISH["no_storage"]
    _choose_day(watched, DAY.isoformat())
    assert watched.page.is_disabled("#answer")
    assert watched.complaints == []


def test_only_so_many_days_are_answered(people: Callable[..., Watched]) -> None:
    watched = people()
    first = _answer(watched, DAY)
    assert _answer(watched, DAY + dt.timedelta(days=1)) != first
    _choose_day(watched, (DAY + dt.timedelta(days=2)).isoformat())
    watched.page.click("#answer")
    watched.wait(
        lambda: "as many as this survey asks for" in watched.page.inner_text("#problem"), "not refused"
    )
    assert watched.page.is_hidden("#preview")
    assert _answer(watched, DAY) == first


@pytest.mark.parametrize("day", ["2024-02-29", "2024-04-01"])
def test_a_day_outside_the_period_is_refused_whatever_happened_on_it(
    people: Callable[..., Watched], day: str
) -> None:
    watched = people()
    assert "until 2024-03-31" in watched.page.inner_text("#status")
    _choose_day(watched, day)
    assert "from 2024-03-01 to 2024-03-31, not about this one" in watched.page.inner_text("#problem")
    assert watched.page.is_disabled("#answer")


def test_a_day_to_come_is_refused(world: World, open_page: OpenPage, tmp_path: Path) -> None:
    later = dt.datetime.now(dt.UTC).date() + dt.timedelta(days=30)
    survey = survey_of(
        world, ("visits", "1", {}), period=Period(first=later, last=later + dt.timedelta(days=9))
    )
    (tmp_path / "a.html").write_text(people_page(survey, to="http://127.0.0.1:9"), encoding="utf-8")
    watched = _ready(open_page((tmp_path / "a.html").as_uri(), locale="en-GB"))
    assert "Come back then" in watched.page.inner_text("#status")
    _choose_day(watched, later.isoformat())
    assert watched.page.inner_text("#problem") == ENGLISH["day_later"]
    assert watched.page.is_disabled("#answer")


def test_an_invitation_is_asked_for_and_spent(people: Callable[..., Watched], site: _Site) -> None:
    with closing(Store(str(site.folder / "reports.db"), site.survey)) as store:
        [code] = store.invite(1)
    watched = people()
    for wrong, said in (
        ("", "by invitation only"),
        ("код-код-код-код", "is no code"),
        ("K7QD", "is no code"),
    ):
        watched.page.fill("#code", wrong)
        _press(watched)
        assert said in _said(watched)
        assert _kept(watched) == []  # nothing was drawn
    watched.page.fill("#code", code.lower())
    first = _answer(watched)
    assert _said(watched).startswith("Sent.")
    assert site.reports() == [first[70:102]]


def test_a_collector_of_another_survey_is_told_from_this_one(
    open_page: OpenPage, site: _Site, world: World, tmp_path: Path
) -> None:
    other = survey_of(world, ("visits", "1", {}))
    (tmp_path / "a.html").write_text(people_page(other, to=site.url), encoding="utf-8")
    watched = _ready(open_page((tmp_path / "a.html").as_uri(), offline=False, locale="en-GB"))
    _press(watched)
    assert "collects another survey" in _said(watched)
    assert _kept(watched) == []
    assert site.reports() == []


def test_no_webgl_gives_a_plain_picture_and_the_same_answer(
    people: Callable[..., Watched], site: _Site, tmp_path: Path
) -> None:
    file = android(tmp_path)
    watched = people(before=COUNTED + NO_WEBGL)
    _choose_file(watched, file)
    assert _answer(watched) == _as_python(site.survey, file).to_bytes().hex()
    assert watched.page.is_visible("#no-map")
    assert watched.page.locator("#map svg circle.first").count() == 2
    assert watched.complaints == []


def test_without_javascript_there_is_a_sentence(open_page: OpenPage, site: _Site) -> None:
    watched = open_page(f"{site.url}/", offline=False, java_script_enabled=False)
    assert watched.page.locator("noscript").inner_text() == ENGLISH["no_script"]
    assert "Where is <everybody> & when?" in watched.page.inner_text("main")
    assert watched.complaints == []


def test_a_day_is_marked_by_hand_with_the_keyboard_alone(people: Callable[..., Watched], site: _Site) -> None:
    watched = people()
    keyboard = watched.page.keyboard
    _choose_day(watched, DAY.isoformat())  # how dates are typed hangs on the browser's own language
    watched.page.focus("#search")
    keyboard.type("cafe")
    keyboard.press("Tab")
    keyboard.press("Tab")
    keyboard.type("0930a")  # in the morning, where clocks have halves
    _tab_to(watched, "add")
    keyboard.press("Enter")
    assert watched.page.locator("#visits tr").all_inner_texts() == ["09:30\tcafe (Café)\tTake away"]
    _tab_to(watched, "answer")
    keyboard.press("Enter")
    watched.page.wait_for_selector("#preview", state="visible")
    assert watched.page.evaluate("document.activeElement.id") == "preview-title"
    watched.wait(lambda: watched.page.inner_text("#receipt").startswith("Sent."), "not sent")
    assert len(site.reports()) == 1


def _tab_to(watched: Watched, name: str) -> None:
    """As often as it takes to get there with the Tab key."""
    for _ in range(60):
        if watched.page.evaluate("document.activeElement.id") == name:
            return
        watched.page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not get to {name}")


def test_a_click_on_the_map_chooses_the_nearest_place(people: Callable[..., Watched]) -> None:
    watched = people()
    watched.wait_for_map()
    _choose_day(watched, DAY.isoformat())
    watched.click_map(watched.width_of_map() / 2, 30)  # in the north, where the shop is
    watched.wait(lambda: watched.page.input_value("#found") == "2", "no place is chosen")
    watched.page.click("#add")
    assert watched.page.locator("#visits tr").all_inner_texts() == ["12:00\tshop (Shoe shop)\tTake away"]
    watched.page.click("#visits button")
    assert watched.page.is_visible("#no-visits")


def test_a_wrong_file_is_a_sentence_and_the_next_one_is_read(
    people: Callable[..., Watched], tmp_path: Path
) -> None:
    watched = people()
    for content, said in ((b"%PDF-1.7", "file_foreign"), (b"", "file_empty"), (b'{"a": ', "file_not_json")):
        (tmp_path / said).write_bytes(content)
        _choose_file(watched, tmp_path / said)
        watched.wait(lambda said=said: watched.page.inner_text("#problem") == ENGLISH[said], said)  # type: ignore[misc]
    _choose_file(watched, android(tmp_path))
    assert watched.page.inner_text("#problem") == ""
    watched.page.select_option("#days", index=0)
    assert watched.page.input_value("#date") == DAY.isoformat()
    assert watched.complaints == []


@pytest.mark.parametrize(("days", "is_told"), [(3, False), (4, True)])
def test_a_file_of_another_city_is_noticed_and_answered_all_the_same(
    people: Callable[..., Watched], tmp_path: Path, days: int, *, is_told: bool
) -> None:
    rows = [f"48.85,2.35,2024-03-{day:02d}T{hour}:00\n" for day in range(4, 4 + days) for hour in (10, 11)]
    (tmp_path / "paris.csv").write_text("lat,lng,datetime\n" + "".join(rows))
    watched = people()
    _choose_file(watched, tmp_path / "paris.csv")
    assert ("far from the city" in watched.page.inner_text("#status")) == is_told
    assert len(_answer(watched, dt.date(2024, 3, 5))) == 126


@pytest.mark.parametrize("language", ["en", "fi"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_for_everybody_on_a_phone_and_in_two_languages(
    people: Callable[..., Watched], tmp_path: Path, language: str, scheme: str
) -> None:
    watched = people(width=420, locale=f"{language}-FI", color_scheme=scheme)
    watched.wait_for_map()
    _choose_or_wait(watched, android(tmp_path))
    _answer(watched)
    words = messages()[language]
    assert watched.page.inner_text("h1") == words["title"]
    assert watched.page.evaluate("document.documentElement.lang") == language
    assert words["preview"] in watched.page.inner_text("main")
    assert watched.page.evaluate("document.documentElement.scrollWidth") <= 420
    assert faults_of_access(watched) == []
    watched.page.click("[data-language=en]")
    assert watched.page.inner_text("h1") == ENGLISH["title"]
    assert watched.complaints == []


def _choose_or_wait(watched: Watched, path: Path) -> None:
    watched.page.set_input_files("#file", path)
    watched.page.wait_for_selector("#days-part", state="visible")


def test_much_epsilon_is_answered_only_by_who_has_read_so(
    world: World, open_page: OpenPage, tmp_path: Path
) -> None:
    survey = survey_of(world, ("visits", "1", {}), epsilon="12")
    (tmp_path / "a.html").write_text(people_page(survey, to="http://127.0.0.1:9"), encoding="utf-8")
    watched = _ready(open_page((tmp_path / "a.html").as_uri(), locale="en-GB"))
    _choose_day(watched, DAY.isoformat())
    assert watched.page.is_disabled("#answer")
    watched.page.check("#agree")
    assert watched.page.is_enabled("#answer")


def test_a_survey_that_browsers_would_answer_otherwise_is_not_answered(
    open_page: OpenPage, tmp_path: Path
) -> None:
    rows = [place(f"p{i}", 50 + 2 * i, 10, hours="24/7") for i in range(3)]
    survey = survey_of(build(tmp_path / "w", rows, {"kappa": 1}), ("trips", "1", {}))
    (tmp_path / "a.html").write_text(people_page(survey, to="http://127.0.0.1:9"), encoding="utf-8")
    watched = open_page((tmp_path / "a.html").as_uri())
    assert "cannot be answered in a browser" in watched.page.inner_text("main")
    assert watched.page.locator("#answer").count() == 0
    assert watched.complaints == []


def test_no_other_script_runs_in_it_and_no_other_address_is_asked(people: Callable[..., Watched]) -> None:
    """The policy holds in the browser, not only in the text."""
    watched = people()
    watched.page.evaluate("document.body.append(Object.assign(document.createElement('script'),"
                          " { textContent: 'document.body.dataset.evil = 1' }))")  # fmt: skip
    assert watched.page.evaluate("document.body.dataset.evil") is None
    asked = "(url) => fetch(url).then(() => 'taken', () => 'refused')"
    assert watched.page.evaluate(asked, "https://example.org/") == "refused"
    assert watched.page.evaluate("new Image().src = 'https://example.org/a.png'")
    assert any("Content Security Policy" in one for one in watched.complaints)
