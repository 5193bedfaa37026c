"""`elsewhere survey serve`, `invite`, `export` and `backup`: a running collector, and what it keeps."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from elsewhere.cli.console import out, print_json, waiting
from elsewhere.cli.survey import Json, SurveyFile
from elsewhere.cli.survey_estimate import estimate, open_store
from elsewhere.errors import needs_extra
from elsewhere.files import check_can_write, check_new, check_suffix, write_text
from elsewhere.randomness import SYSTEM
from elsewhere.survey.file import load_survey, survey_hash
from elsewhere.world.basemap import basemap_beside, basemap_path

StoreName = Annotated[
    str, typer.Option("--store", metavar="STORE", help="A file for SQLite, or postgresql://…")
]


def serve(
    survey_file: SurveyFile,
    store: StoreName = "reports.db",
    *,
    host: Annotated[
        str, typer.Option(help="Where to listen; a proxy with TLS belongs in front.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="At which port.")] = 8063,
    limit: Annotated[
        int, typer.Option(min=1, help="Reports that are taken from one address in a minute.")
    ] = 6000,
    proxy: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A proxy in front that says whose requests it passes on."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="FILE", help="The analysts' token; made if it is not there."),
    ] = None,
) -> None:
    """Collect reports: a survey out, reports in, each kept once and on disk before it is acknowledged.

    People answer on a page that it serves; their answers are made in their browsers. Neither addresses nor
    times of arrival are kept or logged. Stop it with Ctrl-C: what was accepted is answered first.

    Example: elsewhere survey serve city.survey --store reports.db
    """
    with needs_extra("collecting", "collector"):
        from elsewhere.collector.app import Collector  # noqa: PLC0415 - needs an extra
        from elsewhere.collector.limits import Limits  # noqa: PLC0415 - needs an extra
        from elsewhere.collector.people import ServedPage  # noqa: PLC0415 - needs an extra
        from elsewhere.collector.serve import bound_socket, checked_proxy, server, token_of  # noqa: PLC0415 - needs an extra
        from elsewhere.collector.store import Store  # noqa: PLC0415 - needs an extra
        from elsewhere.pages.people import people_page, policy_of  # noqa: PLC0415 - needs an extra
    believed = None if proxy is None else checked_proxy(proxy)
    survey = load_survey(survey_file)
    html = people_page(survey, basemap=basemap_beside(survey_file))
    tokens = token_file or Path(f"{survey_file.stem}.token")
    # The address first: where it is taken, neither a store nor a token is left behind.
    with closing(bound_socket(host, port)) as bound, closing(Store(store, survey)) as opened:
        token = token_of(tokens)
        out.print(f"Survey {survey_hash(survey)[:12]} at http://{host}:{port}/v1/survey", soft_wrap=True)
        out.print(f"People answer at http://{host}:{port}/", soft_wrap=True)
        out.print(
            f"Analysts see results at http://{host}:{port}/results, with the token in {tokens} as password",
            soft_wrap=True, markup=False,
        )  # fmt: skip
        collector = Collector(
            store=opened,
            token=token,
            limits=Limits(per_minute=limit),
            page=ServedPage(html, policy_of(html)),
            basemap=basemap_path(survey_file),
        )
        server(collector, host, port, proxy=believed).run(sockets=[bound])


def export(
    survey_file: SurveyFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="REPORTS", help="Reports: .parquet.", show_default=False)
    ],
    store: StoreName = "reports.db",
    *,
    as_json: Json = False,
) -> None:
    """Write all reports of a store as a file, in the order of their random ids.

    Example: elsewhere survey export city.survey --store reports.db -o reports.parquet
    """
    check_suffix(output, ".parquet")
    check_can_write(output)
    with needs_extra("exporting", "collector"):
        from elsewhere.survey.reports import write_reports  # noqa: PLC0415 - needs an extra
    survey = load_survey(survey_file)
    with waiting("Reading the store"), open_store(store, survey) as opened:
        frame = opened.frame()
    write_reports(output, frame, randomness=SYSTEM)
    if as_json:
        print_json({"reports": frame.height, "survey": survey_hash(survey)})
        return
    out.print(f"{frame.height:,} reports: {output}", soft_wrap=True)


def backup(
    survey_file: SurveyFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The copy.", show_default=False)
    ],
    store: StoreName = "reports.db",
) -> None:
    """Copy an SQLite store, whole, also while reports come in.

    Example: elsewhere survey backup city.survey --store reports.db -o backup.db
    """
    with open_store(store, load_survey(survey_file)) as opened:
        opened.backup(output)
        out.print(f"{opened.count():,} reports: {output}", soft_wrap=True)


def invite(
    survey_file: SurveyFile,
    people: Annotated[
        int, typer.Option("-n", "--people", min=1, help="How many people to invite.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FILE", help="The codes.", show_default=False),
    ],
    store: StoreName = "reports.db",
) -> None:
    """Make one-time codes; from then on only those who hold one may answer.

    The store keeps a digest of each code until it is used, then nothing: no row links a code to a report. The
    file with the codes can be read by its owner alone.

    Example: elsewhere survey invite city.survey -n 5000 -o codes.txt
    """
    check_new(output)
    with needs_extra("inviting", "collector"):
        from elsewhere.collector.store import Store  # noqa: PLC0415 - needs an extra
    with waiting("Making codes"), closing(Store(store, load_survey(survey_file))) as opened:
        codes = opened.invite(people)
        write_text(output, "".join(f"{code}\n" for code in codes), is_private=True)
    out.print(f"{people:,} codes, each for one report: {output}", soft_wrap=True, markup=False)


def add_to(app: typer.Typer) -> None:
    """Make these commands of `elsewhere survey`."""
    for command in (serve, invite, export, backup, estimate):
        app.command()(command)
