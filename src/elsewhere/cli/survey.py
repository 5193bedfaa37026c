"""`elsewhere survey`: ask many people, estimate what they say together."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elsewhere.cli.console import out, print_json, progress_bar, waiting
from elsewhere.cli.method import warn_if_senseless
from elsewhere.cli.survey_words import (
    print_expectations,
    print_survey,
    survey_facts,
)
from elsewhere.errors import ElsewhereError, InputError, needs_extra
from elsewhere.files import check_suffix, read_toml, write_text
from elsewhere.survey.file import load_survey, save_survey, survey_hash
from elsewhere.survey.survey import Survey
from elsewhere.world.basemap import copy_basemap

if TYPE_CHECKING:
    from elsewhere.estimates.expect import Expected

app = typer.Typer(
    help="Ask many people about a day, and estimate what they say together.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_NOTHING_FOUND = "the public prior: too few answered the first round to say that it is wrong"
SurveyFile = Annotated[Path, typer.Argument(metavar="SURVEY", help="A .survey file.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def create(
    source: Annotated[
        Path, typer.Argument(metavar="TOML", help="World, ε and questions.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="SURVEY", help="The .survey file.", show_default=False)
    ],
    *,
    expect: Annotated[
        bool, typer.Option("--expect/--no-expect", help="Simulate on the prior what to expect.")
    ] = True,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="PAGE", help="Write what to expect as a page: .html.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a survey from a survey.toml, and say what to expect of it. No person's day is looked at.

    For 1,000 to 1,000,000 people: how far the busiest things of each question will be off, by simulation on
    the public prior, and whether a question is too fine.

    Example: elsewhere survey create survey.toml -o city.survey --page expect.html
    """
    check_suffix(output, ".survey")
    if page is not None:
        check_suffix(page, ".html")
    with needs_extra("making a survey", "build"):
        from elsewhere.estimates.expect import expectations  # noqa: PLC0415 - needs an extra
        from elsewhere.survey.toml import create_survey  # noqa: PLC0415 - needs an extra
    with waiting("Making the survey"):
        survey = create_survey(source)
    warn_if_senseless(survey.epsilon)
    _save(survey, output)
    copy_basemap(source.parent / read_toml(source)["world"], output)
    found: list[Expected] = []
    if expect:
        with progress_bar("Simulating what to expect") as progress:
            found = expectations(survey, progress=progress)
    if page is not None:
        with needs_extra("pages", "pages"):
            from elsewhere.pages.expectation import expectation_page  # noqa: PLC0415 - needs an extra
        write_text(page, expectation_page(survey, found))
    if as_json:
        print_json({**survey_facts(survey), "expect": [one.as_json() for one in found]})
        return
    print_survey(survey)
    if found:
        print_expectations(found)
    out.print(f"Next: elsewhere survey answer {output} FILE --day DATE, on a device", soft_wrap=True)


@app.command()
def show(survey_file: SurveyFile, *, as_json: Json = False) -> None:
    """Say what a survey asks, of whom, and what it promises.

    Example: elsewhere survey show city.survey
    """
    survey = load_survey(survey_file)
    if as_json:
        print_json(survey_facts(survey))
        return
    print_survey(survey)


@app.command("next")
def next_round(
    survey_file: SurveyFile,
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Its folder of results.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="NEXT", help="The .survey file.", show_default=False)
    ],
    *,
    source: Annotated[
        Path | None,
        typer.Option("--toml", metavar="TOML", help="Other terms and questions, on the same world."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a second round of a survey that starts from what the first one found.

    The first round's population takes the place of the public prior: it is made of reports, so nobody is
    asked for more. Questions and terms stay, unless --toml gives others.

    Example: elsewhere survey next city.survey results -o second.survey
    """
    check_suffix(output, ".survey")
    with needs_extra("making a survey", "build"):
        from elsewhere.estimates.rounds import found_nothing, next_survey  # noqa: PLC0415 - needs an extra
    with waiting("Making the next round"):
        survey = next_survey(load_survey(survey_file), results, source)
    _save(survey, output)
    copy_basemap(survey_file, output)
    is_prior = found_nothing(results)
    if as_json:
        print_json({**survey_facts(survey), "starts_from_prior": is_prior})
        return
    print_survey(survey, starts_from=_NOTHING_FOUND if is_prior else None)
    # A store of its own: that of the first round belongs to the first survey.
    store = output.with_suffix(".db").name
    out.print(f"Next: elsewhere survey serve {output} --store {store}", soft_wrap=True, markup=False)


def _save(survey: Survey, output: Path) -> None:
    """Write a survey, but never over another one: nobody could read its reports any more."""
    if output.exists():
        with suppress(InputError):
            before = survey_hash(load_survey(output))
            if before != survey_hash(survey):
                problem = f"is another survey, {before[:12]}, which its reports need: choose another name"
                raise ElsewhereError(f"{output}: {problem}")
    save_survey(survey, output)
