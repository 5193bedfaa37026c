"""The people's page: what a survey is, one's own day, an answer made in the browser, 63 bytes sent.

One HTML file that works from a collector and by itself. It asks for nothing but to hand in a report, and only
when its reader presses the button that says so (R24).
"""

from __future__ import annotations

import json
import math
import re
from html import escape, unescape
from importlib.resources import files
from typing import Any

from elsewhere.pages.browser_survey import browser_survey, why_not
from elsewhere.pages.page import MAP_SCRIPTS, page
from elsewhere.survey.file import survey_hash
from elsewhere.survey.survey import Survey
from elsewhere.world.basemap import box_of

LANGUAGES = ("en", "fi")
SCRIPTS = tuple(
    f"scripts/{name}.js"
    for name in (
        "device", "things", "moments", "tables", "files", "visits", "keeping", "wording", "day_map", "people",
    )
)  # fmt: skip
"""What the page needs beside a map, the trusted part first."""
_MUCH = 10
"""With a larger ε little is hidden: whoever answers must say that they have read so."""
_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')


def messages() -> dict[str, dict[str, str]]:
    """All that the page says, by language."""
    folder = files("elsewhere.pages").joinpath("messages")
    return {name: json.loads(folder.joinpath(f"{name}.json").read_text("utf-8")) for name in LANGUAGES}


def people_page(survey: Survey, *, to: str | None = None, basemap: bytes | None = None) -> str:
    """HTML of the page.

    Parameters
    ----------
    to
        A collector, such as ``https://survey.example.org``; None for a page that the collector itself serves.
    basemap
        Tiles of streets and water (`world.basemap`).
    """
    reason = why_not(survey)
    values = _values(survey, reason)
    say = _Sayer(messages()["en"], values)
    sections = [_languages(), say.of("p", "no_script", wrap="noscript"), _about(say, survey)]
    sections += [say.of("p", "cannot", kind="verdict")] if reason else [_day(say), _answer(say, survey)]
    where = "'self'" if to is None else _origin(to)
    data = {
        "people": {
            "survey": None if reason else browser_survey(survey),
            "box": box_of(survey.world.places),
            "to": "" if to is None else f"{to.rstrip('/')}/",
            "values": values,
        },
        "messages": messages(),
    }
    return page(
        messages()["en"]["title"],
        f"Survey {survey_hash(survey)[:12]}",
        [*sections, *([] if reason else [_SAID])],
        scripts=(*MAP_SCRIPTS, *SCRIPTS),
        data=data,
        blobs=None if basemap is None else {"basemap": basemap},
        connect="'none'" if reason else where,
    )


_SAID = (
    # Seen wherever one is on the page: beside the button that was pressed.
    '<div class="said"><p id="status" role="status"></p><p id="receipt" role="status"></p>'
    '<p id="problem" role="alert" class="problem"></p></div>'
)


def policy_of(html: str) -> str:
    """The content security policy of a page, to be sent as a header as well: no frame may hold the page."""
    found = _POLICY.search(html)
    if found is None:
        raise ValueError("a page without a policy")
    return f"{unescape(found[1])}; frame-ancestors 'none'"


def _origin(to: str) -> str:
    return "/".join(to.split("/", 3)[:3])


def chance_of_truth(survey: Survey) -> float:
    """How likely an answer is one of mine, over all questions: k e^ε / (k e^ε + M − k)."""
    total = 0.0
    for question in survey.questions:
        odds = question.channel.odds
        mine = odds.nearest * math.exp(min(float(odds.epsilon), 500.0))
        total += float(question.share) * mine / (mine + odds.candidates - odds.nearest)
    return total


def _values(survey: Survey, reason: str) -> dict[str, str | int]:
    """What stands in messages of this survey."""
    terms = survey.terms
    true = min(99, max(1, round(100 * chance_of_truth(survey))))
    first, last = ("", "") if terms.period is None else terms.period.plain()
    times = math.exp(min(float(terms.epsilon), 40.0))
    return {
        "epsilon": f"{float(terms.epsilon):g}", "odds": _at_least(times),
        "true": true, "false": 100 - true, "days": terms.days, "least": terms.least,
        "first": first, "last": last, "reason": reason,
    }  # fmt: skip


def _at_least(times: float) -> str:
    """A number that nobody can call too small: rounded up."""
    return f"{math.ceil(times):,}" if times >= 10 else f"{math.ceil(10 * times) / 10:.1f}"


class _Sayer:
    """Elements whose words stand in the message files; English, until the script knows better."""

    def __init__(self, english: dict[str, str], values: dict[str, Any]) -> None:
        self._english, self._values = english, values

    def of(self, tag: str, key: str, *, kind: str = "", more: str = "", wrap: str = "") -> str:
        text = re.sub(
            r"\{(\w+)\}", lambda found: str(self._values.get(found[1], found[0])), self._english[key]
        )
        styled = f' class="{kind}"' if kind else ""
        said = f'<{tag} data-say="{key}"{styled}{more and " " + more}>{escape(text)}</{tag}>'
        return f"<{wrap}>{said}</{wrap}>" if wrap else said


def _languages() -> str:
    buttons = "".join(
        f'<button type="button" data-language="{name}" lang="{name}">{escape(texts["language"])}</button>'
        for name, texts in messages().items()
    )
    return f'<nav class="controls" aria-label="Language">{buttons}</nav>'


def _about(say: _Sayer, survey: Survey) -> str:
    terms = survey.terms
    purpose = f"<p>{escape(terms.purpose)}</p>" if terms.purpose else say.of("p", "no_purpose")
    when = say.of("p", "any_day" if terms.period is None else "period")
    steps = "".join(say.of("li", f"how_{number}") for number in range(1, 5))
    much = say.of("p", "much", kind="verdict") if terms.epsilon > _MUCH else ""
    return (
        f"<section>{say.of('h2', 'asks')}{purpose}{when}{say.of('p', 'days_allowed', kind='note')}</section>"
        f"<section>{say.of('h2', 'how')}<ol>{steps}</ol></section>"
        f"<section>{say.of('h2', 'odds')}{much}{_dots(say, survey)}{say.of('p', 'odds_words')}"
        f"{say.of('p', 'odds_limit', kind='note')}</section>"
    )


def _dots(say: _Sayer, survey: Survey) -> str:
    """A hundred people: those who send something true are filled."""
    true = int(_values(survey, "")["true"])
    dots = "".join(
        f'<circle cx="{12 + 22 * (at % 20)}" cy="{12 + 22 * (at // 20)}" r="8" '
        f'class="{"fill" if at < true else "hollow"} first"/>'
        for at in range(100)
    )
    # Words for those who do not see it; they change with the language, as a title of the picture would not.
    return (
        f'<svg class="odds" viewBox="0 0 442 112" aria-hidden="true">{dots}</svg>'
        f"{say.of('p', 'odds_picture', kind='note')}"
    )


def _day(say: _Sayer) -> str:
    return f"""<section>{say.of("h2", "your_day")}
<p><label for="file">{say.of("b", "file")}</label><br><input type="file" id="file" autocomplete="off"></p>
{say.of("p", "file_note", kind="note")}
<p id="days-part" hidden><label for="days">{say.of("b", "days")}</label><br>
<select id="days" size="6"></select></p>
<p><label for="date">{say.of("b", "date")}</label><br><input type="date" id="date" autocomplete="off"></p>
{say.of("h3", "visits")}{say.of("p", "visits_note", kind="note")}
<table><thead><tr><th class="text">{say.of("span", "time")}</th>
<th class="text">{say.of("span", "place")}</th>
<th><span class="unseen">{say.of("span", "remove_short")}</span></th></tr></thead>
<tbody id="visits"></tbody></table>
<p id="no-visits" hidden>{say.of("span", "no_visits")}</p>
<fieldset><legend>{say.of("b", "add")}</legend><div class="controls">
<span><label for="search">{say.of("span", "search")}</label><br>
<input type="search" id="search" autocomplete="off"></span>
<span><label for="found">{say.of("span", "found")}</label><br><select id="found" size="5"></select></span>
<span><label for="time">{say.of("span", "time")}</label><br>
<input type="time" id="time" value="12:00" autocomplete="off"></span>
{say.of("button", "add_button", more='type="button" id="add"')}</div></fieldset>
<p id="no-map" hidden>{say.of("span", "no_map", kind="note")}</p><div id="map" class="map"></div></section>"""


def _answer(say: _Sayer, survey: Survey) -> str:
    hidden = "" if survey.terms.epsilon > _MUCH else " hidden"
    rows = "".join(
        f"<dt>{say.of('span', key)}</dt><dd id='{name}'></dd>"
        for key, name in (
            ("preview_question", "picked-question"), ("preview_picked", "picked"),
            ("preview_day", "picked-day"), ("preview_id", "picked-id"), ("preview_bytes", "picked-bytes"),
        )
    )  # fmt: skip
    return f"""<section>{say.of("h2", "answer")}{say.of("p", "answer_note", kind="note")}
<p id="agree-part"{hidden}><label><input type="checkbox" id="agree">
{say.of("span", "much_agree")}</label></p>
<p><label for="code">{say.of("span", "code")}</label><br>
<input id="code" maxlength="64" autocomplete="off" spellcheck="false"></p>
<p><button type="button" id="answer" class="main" disabled>…</button></p>
<p><button type="button" id="send" class="main" hidden></button></p>
<div id="preview" class="card" hidden>{say.of("h3", "preview", more='id="preview-title" tabindex="-1"')}
<p id="again" hidden>{say.of("span", "preview_again")}</p><dl>{rows}</dl>
{say.of("p", "preview_note", kind="note")}</div>
{say.of("p", "memory", kind="note")}{say.of("p", "trust", kind="note")}</section>"""
