"""The report of the experiments: ours, the paper's, the nulls, and what the numbers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, TypeVar

import numpy as np

from elsewhere.days.alignment import UNMATCHED
from elsewhere.days.hotspots import THRESHOLDS
from elsewhere.evaluate.hotspots import TOGETHER
from elsewhere.experiments.further import further_rows
from elsewhere.experiments.paper_numbers import ERRORS, HOTSPOTS, PAPERS_DATASET, SECONDS
from elsewhere.experiments.run import Outcome
from elsewhere.experiments.stages import paper_stages
from elsewhere.experiments.tables import keeps_length, settings_of
from elsewhere.experiments.tilted import TILTED
from elsewhere.experiments.time_bound import least_time_error
from elsewhere.methods.registry import null_names
from elsewhere.pages.findings import findings_about_ours
from elsewhere.pages.page import cards, page, picture, section, table
from elsewhere.pages.population import population_section, survey_hours_section

Result = dict[str, Any]
_Numbers = TypeVar("_Numbers")

_POPULATIONS = {
    "table-population": "What many people say together",
    "table-coverage": "How often intervals hold the truth",
    "table-rounds": "What a second round gains",
}


def experiments_page(outcome: Outcome) -> str:
    """One self-contained page: every table and figure that was made, and the findings first."""
    data = "; ".join(f"{name}: {label}" for name, label in outcome.labels.items())
    sections = [findings(outcome)]
    results = outcome.results
    for name, made in (
        ("table-error", _error_section),
        ("table-runtime", _runtime_section),
        ("table-hotspots", _hotspot_section),
    ):
        if name in results:
            sections.append(made(results[name]))
    for name, title, note in (
        ("fig-ranges", "Preservation range queries", "Per cent of visits within δ of the true one."),
        ("fig-hours", "Visits by hour", "What is so, what the public prior thinks, and what is shared."),
        ("fig-error", "Error as settings vary", "Error d of a visit. Dotted: nulls. Dashed: not ε-LDP."),
        ("fig-runtime", "Runtime as settings vary", "Milliseconds a day, on a logarithmic scale."),
        ("fig-preprocessing", "Making a world", "Seconds, once for everybody."),
        (
            "fig-population",
            "What many people say together, as people and ε vary",
            "JS from what is so, of cells by the hour and of cells alone. Dotted: people make it no better.",
        ),
    ):
        image = outcome.folder / f"{name}.png"
        if name in results and image.exists():
            sections.append(section(title, note, picture(image.read_bytes(), title)))
    for name, made in (("table-merging", _merging_section), ("table-further", _further_section)):
        if name in results:
            sections.append(made(results[name]))
    if "fig-survey-hours" in results:
        figure = picture((outcome.folder / "fig-survey-hours.png").read_bytes(), "Hours that an analyst sees")
        sections.append(survey_hours_section(results["fig-survey-hours"], figure))
    for name, title in _POPULATIONS.items():
        if name in results:
            sections.append(population_section(title, results[name]))
    return page("The paper's evaluation, remade", f"Size: {outcome.size}. {data}.", sections)


def _papers(numbers: Mapping[str, Mapping[str, _Numbers]], method: str, dataset: str) -> _Numbers | None:
    """What the paper has for a method on the data set that stands beside ours, if any."""
    return numbers.get(method, {}).get(PAPERS_DATASET.get(dataset, ""))


def _value(result: Result, dimension: str) -> float:
    return float(result["summary"]["errors"][dimension]["value"])


def _by_dataset(results: Sequence[Result]) -> dict[str, dict[str, Result]]:
    found: dict[str, dict[str, Result]] = {}
    for result in results:
        if "summary" in result:
            found.setdefault(settings_of(result)["dataset"], {})[result["label"]] = result
    return found


def _below_null(rows: dict[str, Result], name: str) -> float:
    """Per cent that a method's d is below that of the best null that is as free in the length."""
    nulls = null_names(keeps_length=keeps_length(rows[name]))
    best = min(_value(rows[null], "combined") for null in nulls if null in rows)
    return 100 * (1 - _value(rows[name], "combined") / best)


def _error_section(results: Sequence[Result]) -> str:
    parts = []
    for dataset, rows in _by_dataset(results).items():
        lines = []
        for name, result in rows.items():
            theirs = _papers(ERRORS, "ngram" if name == TILTED else name, dataset)
            errors = result["summary"]["errors"]
            below = _below_null(rows, name)
            lines.append(
                [
                    name,
                    f"{result['epsilon_spent_on_5_visits']:.3g}",
                    *(
                        _with_interval(errors[key])
                        for key in ("time_hours", "category", "space_km", "combined")
                    ),
                    "null" if name in null_names() else f"{below:.1f} %",
                    f"{result['summary']['unmatched_percent']['value']:.0f} %",
                    " / ".join(f"{value:g}" for value in theirs) if theirs else "–",
                ]
            )
        days = next(iter(rows.values()))["days"]
        header = [
            "method",
            "ε really spent",
            "d_t, h",
            "d_c",
            "d_s, km",
            "d",
            "below best null",
            "unmatched",
            "paper: d_t / d_c / d_s",
        ]
        parts.append(f"<h3>{escape(dataset)}, {days:,} days</h3>" + table(header, lines))
    note = (
        "Mean over visits, then over days, with 95 % bootstrap intervals over days. Lower is better. Where a "
        "method hides the number of visits, those of the shorter day are matched in order; in d, a visit "
        f"without a partner (unmatched) counts {UNMATCHED:g}. The best null is as free in the number of "
        "visits as the method is: typical counts only for methods that do not keep it."
    )
    return section("Normalised error (Table 2)", note, "".join(parts))


def _with_interval(estimate: dict[str, float] | None) -> str:
    if estimate is None:
        return "none"
    return f"{estimate['value']:.2f} ({estimate['low']:.2f}–{estimate['high']:.2f})"


def _runtime_section(results: Sequence[Result]) -> str:
    lines = []
    for dataset, rows in _by_dataset(results).items():
        for name, result in rows.items():
            theirs = _papers(SECONDS, name, dataset)
            lines.append(
                [
                    dataset,
                    name,
                    *(_milliseconds(seconds) for seconds in paper_stages(result["seconds"]).values()),
                    f"{result['prepare_seconds']:.2f}",
                    " / ".join("–" if value is None else f"{value:.3f}" for value in theirs)
                    if theirs
                    else "–",
                ]
            )
    header = [
        "data set",
        "method",
        "perturb, ms",
        "reconst. prep., ms",
        "optimal reconst., ms",
        "other, ms",
        "total, ms",
        "tables first, s",
        "paper, s: the same five",
    ]
    note = (
        "A day, while other cells may be running beside. Other: times that are smoothed, places and times "
        "within regions, the making of the shared day; for methods without a chain, all but the draws."
    )
    return section("Runtime by stage (Table 3)", note, table(header, lines))


def _milliseconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{1000 * seconds:.3f}"


def _hotspot_section(results: Sequence[Result]) -> str:
    lines = []
    for dataset, rows in _by_dataset(results).items():
        for name, result in rows.items():
            score = result["summary"]["hotspots"][TOGETHER]
            theirs = _papers(HOTSPOTS, name, dataset)
            lines.append(
                [
                    dataset,
                    name,
                    *(_with_interval(score[key]) for key in ("ahd_hours", "acd")),
                    *(_number(score[key]) for key in ("real", "shared", "excluded")),
                    *(_with_interval(score[key]) for key in ("precision", "recall", "f1")),
                    " / ".join(f"{value:g}" for value in theirs) if theirs else "–",
                ]
            )
    header = [
        "data set", "method", "AHD, h", "ACD", "real", "shared", "excluded", "precision", "recall", "F1",
        "paper: AHD / ACD",
    ]  # fmt: skip
    note = (
        "All granularities together. AHD and ACD leave out shared hotspots where there is no real one "
        "(excluded), which hides failure: precision and recall do not."
    )
    return section("Hotspots (Table 4)", note, table(header, lines) + _by_granularity(results))


def _by_granularity(results: Sequence[Result]) -> str:
    """AHD / ACD / F1 of each granularity, with its η."""
    lines = []
    for dataset, rows in _by_dataset(results).items():
        for name, result in rows.items():
            spots = result["summary"]["hotspots"]
            lines.append([dataset, name, *(_three(spots[one]) for one in THRESHOLDS)])
    header = ["data set", "method", *(f"{name}, η = {eta}" for name, eta in THRESHOLDS.items())]
    return "<h3>By granularity: AHD, h / ACD / F1 (real hotspots)</h3>" + table(header, lines)


def _three(score: dict[str, dict[str, float] | None]) -> str:
    numbers = (score[key] for key in ("ahd_hours", "acd", "f1"))
    text = " / ".join("–" if number is None else f"{number['value']:.2f}" for number in numbers)
    real = score["real"]
    return f"{text} ({_number(real) if real else 0})"


def _number(estimate: dict[str, float]) -> str:
    return f"{estimate['value']:,.0f}"


def _merging_section(results: Sequence[Result]) -> str:
    lines = []
    for result in results:
        if "summary" in result:
            about = settings_of(result)
            lines.append(
                [
                    about["dataset"],
                    about["merge_order"],
                    f"{about['kappa']:g}",
                    str(about["grid"]),
                    *(
                        f"{_value(result, key):.2f}"
                        for key in ("time_hours", "category", "space_km", "combined")
                    ),
                ]
            )
    header = ["data set", "merging order", "κ", "grid", "d_t, h", "d_c", "d_s, km", "d"]
    note = "ngram at ε = 5. The paper notes that its spatial merging is too coarse."
    return section("Merging", note, table(header, lines))


def _further_section(results: Sequence[Result]) -> str:
    lines = [
        [row["dataset"], row["what"], row["group"], row["measure"], f"{row['value']:.2f}", f"{row['days']:,}"]
        for row in further_rows(results)
    ]
    header = ["data set", "what", "group", "measure", "value", "days"]
    note = "What the paper names as further work, and what is ours, at ε = 5 for a day unless it says so."
    return section("Beyond the paper's tables", note, table(header, lines))


def findings(outcome: Outcome) -> str:
    """What the numbers say, put into words by them."""
    results = outcome.results.get("table-error")
    if not results:
        return ""
    facts, lines = {}, []
    for dataset, rows in _by_dataset(results).items():
        ours = {name: _below_null(rows, name) for name in rows if name not in {*null_names(), TILTED}}
        winner = max(ours, key=lambda name: ours[name])
        facts[f"{dataset}: {winner}, below the best null"] = f"{ours[winner]:.1f} %"
        below = [name for name in ours if ours[name] > 0]
        lines.append(
            f"On {dataset}, at ε = 5, {_count(len(below))} of {len(ours)} ε-LDP methods are below the null"
            + (f": {'; '.join(below)}." if below else ".")
        )
        papers = _papers(ERRORS, "ngram", dataset)
        if TILTED in rows and papers:
            loose = rows[TILTED]
            lines.append(
                f"With sensitivity=1 ngram errs by {_value(loose, 'time_hours'):.2f} h there (the paper: "
                f"{papers[0]:g} h; honestly calibrated "
                f"{_value(rows['ngram'], 'time_hours'):.2f} h), and spends up to "
                f"{loose['epsilon_spent_on_5_visits']:.0f} on five visits, not 5."
            )
    lines += [
        line for dataset, rows in _by_dataset(results).items() for line in findings_about_ours(dataset, rows)
    ]
    bound = least_time_error(1.0, np.ones(24))
    lines.append(
        "Five visits at ε = 5 leave ε' = 1 for each, if nothing else is drawn: for an hour that may be "
        f"any, no 1-LDP channel whatever errs by less than {bound:.2f} h in the mean (linear program). "
        "The paper's tables have 0.9 to 2.2 h."
    )
    text = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return section("Findings", "Written by the numbers of this run.", f"{cards(facts)}<ul>{text}</ul>")


def _count(number: int) -> str:
    return "none" if number == 0 else f"{number}"
