"""`elsewhere survey estimate`: from reports, in a file or a store, to what many people say together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from elsewhere.cli import engine as engines
from elsewhere.cli.console import print_json, progress_bar, waiting
from elsewhere.cli.survey import Json, SurveyFile
from elsewhere.cli.survey_words import print_estimates
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import write_text
from elsewhere.survey.file import load_survey
from elsewhere.survey.survey import Survey
from elsewhere.world.basemap import basemap_beside

if TYPE_CHECKING:
    from elsewhere.collector.store import Store
    from elsewhere.estimates.report_tally import DayType, ReportTally


def estimate(
    survey_file: SurveyFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder to write to.", show_default=False)
    ],
    reports: Annotated[
        Path | None, typer.Argument(metavar="[REPORTS]", help="Reports: .parquet.", show_default=False)
    ] = None,
    *,
    store: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="A collector's store in place of a file.", show_default=False),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="SURVEY=REPORTS", help="Another survey on the same world; may be repeated."),
    ] = None,
    margins: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Public counts: question, thing, count, error (and people)."),
    ] = None,
    days: Annotated[
        str | None, typer.Option(metavar="WHICH", help="Only reports about a weekday, or a weekend.")
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(min=1, help="Also write so many made-up people: people.parquet.", show_default=False),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Earlier results, to show the change on the page.", show_default=False
        ),
    ] = None,
    engine: engines.Engine = "here",
    master: engines.Master = None,
    as_json: Json = False,
) -> None:
    """Estimate what many people say together: tables with 95 % intervals, a population, a page.

    Bad and foreign reports are counted and left out. With few reports the public prior stands, and the result
    says so. With --store and the same folder again, only new reports are read.

    Example: elsewhere survey estimate city.survey reports.parquet -o results, or --store reports.db
    """
    with needs_extra("estimating", "build"):
        from elsewhere.estimates.estimate import estimate as made_estimate  # noqa: PLC0415 - needs an extra
        from elsewhere.estimates.margins import read_margins  # noqa: PLC0415 - needs an extra
        from elsewhere.estimates.report_tally import ReportTally, save_tally  # noqa: PLC0415 - needs an extra
        from elsewhere.estimates.results import COUNTS, write_results  # noqa: PLC0415 - needs an extra
    with needs_extra("pages", "pages"):
        from elsewhere.pages.results import read_compared, results_page  # noqa: PLC0415 - needs an extra
    survey = load_survey(survey_file)
    others = [(load_survey(name), path) for name, path in map(_pair, also or [])]
    known = [] if margins is None else read_margins(margins, survey)
    _check_folder(output)
    other = None if compare is None else read_compared(compare, compare.resolve().name)
    kind = _day_type(days)
    cluster = engines.master_of(engine, master, {"--store": store})
    those: Path | ReportTally
    if cluster is None:
        those = _reports(survey, reports, store, output / COUNTS, kind)
    else:
        those = _counted_on_cluster(reports, survey, kind, cluster)
    with progress_bar("Estimating") as progress:
        found = made_estimate(survey, those, also=others, margins=known, days=kind, progress=progress)
    summary = write_results(found, output, people=people)
    basemap = basemap_beside(survey_file)
    write_text(output / "index.html", results_page(found, basemap=basemap, other=other))
    if store is not None and isinstance(those, ReportTally):
        save_tally(those, output / COUNTS)
    else:
        (output / COUNTS).unlink(missing_ok=True)  # of an earlier time, from a store
    if as_json:
        print_json(summary)
        return
    print_estimates(found, output)


def _check_folder(output: Path) -> None:
    """A folder of results may be written again; one with other people's files is left alone."""
    if not output.exists():
        return
    if not output.is_dir():
        raise InputError(str(output), "must be a folder")
    if any(output.iterdir()) and not (output / "summary.json").exists():
        raise InputError(str(output), "has other files in it: choose a new folder, or one of earlier results")


def _reports(
    survey: Survey, file: Path | None, store: str | None, before: Path, days: DayType | None
) -> Path | ReportTally:
    """A file of reports, or the counts of a store, begun where an earlier time ended."""
    if file is not None and store is None:
        return file
    if file is not None or store is None:
        raise InputError("reports", "give either a file of reports or --store")
    with needs_extra("reading a store", "collector"):
        from elsewhere.collector.counting import counted_store  # noqa: PLC0415 - needs an extra
        from elsewhere.estimates.report_tally import kept_tally  # noqa: PLC0415 - needs an extra
    with waiting("Counting"), open_store(store, survey) as opened:
        return counted_store(opened, days, kept_tally(before, survey, days))


def _counted_on_cluster(
    reports: Path | None, survey: Survey, days: DayType | None, master: str
) -> ReportTally:
    with needs_extra("--engine spark", "spark"):
        from elsewhere.spark.jobs import count_folder  # noqa: PLC0415 - needs an extra
    if reports is None:
        raise InputError("reports", "are missing: with Spark, a folder of Parquet")
    with waiting(f"Counting on {master}"):
        return count_folder(reports, survey, days, master=master)


@contextmanager
def open_store(where: str, survey: Survey) -> Iterator[Store]:
    """A collector's store that somebody made before."""
    with needs_extra("reading a store", "collector"):
        from elsewhere.collector.store import existing_store  # noqa: PLC0415 - needs an extra
    with closing(existing_store(where, survey)) as opened:
        yield opened


def _day_type(text: str | None) -> DayType | None:
    if text not in {None, "weekday", "weekend"}:
        raise InputError("--days", f"found {text!r}, must be weekday or weekend")
    return cast("DayType | None", text)


def _pair(text: str) -> tuple[Path, Path]:
    survey, sign, reports = text.partition("=")
    if not sign or not survey or not reports:
        raise InputError("--also", f"found {text!r}, must be SURVEY=REPORTS, such as b.survey=b.parquet")
    return Path(survey), Path(reports)
