"""`elsewhere survey page`: the people's page as a file that works alone."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import out, waiting, warn
from elsewhere.cli.survey import SurveyFile
from elsewhere.device.send import receiver_of
from elsewhere.errors import needs_extra
from elsewhere.files import check_suffix, write_text
from elsewhere.survey.file import load_survey
from elsewhere.world.basemap import basemap_beside


def page(
    survey_file: SurveyFile,
    *,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="The collector (https://survey.example.org); none: the page as it is served.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="PAGE", help="The page: .html.", show_default=False)
    ],
) -> None:
    """Write the page on which people answer, as one file that needs nothing else.

    It reads a person's own file, makes the answer in the browser and sends 63 bytes to the collector, when
    asked to. The same survey, base map, address and version of Elsewhere give the same bytes. So anybody can
    check what a collector serves: take its survey and base map, make the page without --to, and compare.

    Example: elsewhere survey page city.survey --to https://survey.example.org -o answer.html
    """
    check_suffix(output, ".html")
    receiver, survey = None if to is None else receiver_of(to).shown, load_survey(survey_file)
    with needs_extra("pages", "pages"):
        from elsewhere.pages.browser_survey import why_not  # noqa: PLC0415 - needs an extra
        from elsewhere.pages.people import people_page  # noqa: PLC0415 - needs an extra
    with waiting("Making the page"):
        html = people_page(survey, to=receiver, basemap=basemap_beside(survey_file))
        write_text(output, html)
    if reason := why_not(survey):
        warn(f"the page says that this survey cannot be answered in a browser: {reason}")
    size = f"{len(html.encode()) / 1e6:.1f} MB"
    out.print(
        f"Page: {output}, {size}, for {receiver or 'a collector to serve'}", soft_wrap=True, markup=False
    )
    out.print(f"SHA-256: {hashlib.sha256(html.encode()).hexdigest()}", soft_wrap=True, markup=False)


def add_to(app: typer.Typer) -> None:
    """Make this a command of `elsewhere survey`."""
    app.command()(page)
