"""`elsewhere survey simulate`: many devices at once, into a file or against a running collector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elsewhere.cli import engine as engines
from elsewhere.cli.console import facts_table, out, print_json, progress_bar, table, waiting, warn
from elsewhere.cli.survey import Json, SurveyFile
from elsewhere.device.send import check_survey, receiver_of
from elsewhere.errors import InputError, needs_extra
from elsewhere.files import check_suffix
from elsewhere.randomness import FreshRandomness, SeededRandomness, SystemRandomness, label_of
from elsewhere.survey.codes import plain_code
from elsewhere.survey.file import load_survey, survey_hash
from elsewhere.survey.survey import Survey

if TYPE_CHECKING:
    import polars as pl

    from elsewhere.device.rehearsal import Rehearsed


def simulate(
    survey_file: SurveyFile,
    trajectories: Annotated[
        Path | None,
        typer.Argument(
            metavar="[TRAJ]", help="True trajectories of many people; else made up.", show_default=False
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="REPORTS", help="Write reports: .parquet.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="URL", help="Send them to a running collector.")
    ] = None,
    people: Annotated[
        int | None, typer.Option(min=1, help="So many people, drawn with replacement.", show_default=False)
    ] = None,
    connections: Annotated[
        int, typer.Option(min=1, max=1000, help="With --to: so many connections at once.")
    ] = 16,
    batch: Annotated[int, typer.Option(min=1, max=1000, help="With --to: so many reports in a request.")] = 1,
    rate: Annotated[
        float | None, typer.Option(min=0.1, help="With --to: so many reports in a second, at most.")
    ] = None,
    codes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --to: codes of `survey invite`, one a line.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Threads to share the work.")] = 1,
    seed: Annotated[
        int | None, typer.Option(help="Repeatable and NOT private: for experiments.", show_default=False)
    ] = None,
    engine: engines.Engine = "here",
    master: engines.Master = None,
    as_json: Json = False,
) -> None:
    """Answer a survey for many people at once, each as on a device of their own. For research and rehearsals.

    Every person's day in the file gives one report, as far as the survey's period and its number of days for
    each person allow; with --people, days are drawn from the file, each as if of another person. Without a
    file, days are made up. With --to, reports go to a running collector, as from many devices: how long each
    took is told. It keeps them like any others, so give it a store of its own.

    A file may be larger than memory. A run that was stopped goes on where it was; an output that is there
    stays as it is, since answering again would spend ε again.

    Example: elsewhere survey simulate city.survey trajectories.csv -o reports.parquet
    """
    only_here = {"--to": to, "--people": people, "--codes": codes, "--seed": seed is not None}
    cluster = engines.master_of(engine, master, only_here)
    if cluster is not None:
        _on_cluster(survey_file, trajectories, output, cluster, as_json=as_json)
        return
    _check_output(output, to)
    survey = load_survey(survey_file)
    if to is None and trajectories is not None and people is None and output is not None:
        _answer_file(survey, trajectories, output, workers, seed, as_json=as_json)
        return
    given = None if codes is None else _codes(codes)
    receiver = None if to is None else receiver_of(to)
    if receiver is not None:
        check_survey(receiver, survey_hash(survey), given[0] if given else None, option="--codes FILE")
    frame, others, label = _simulated(survey, trajectories, people, seed, workers)
    if given is not None and len(given) < frame.height:
        raise InputError(str(codes), f"has {len(given):,} codes for {frame.height:,} reports")
    if output is not None:
        _write(output, frame, label)
    _warn(seed, others)
    sent = None
    if receiver is not None:
        with needs_extra("simulating", "build"):
            from elsewhere.device.rehearsal import rehearse  # noqa: PLC0415 - needs an extra
            from elsewhere.survey.reports import reports_of  # noqa: PLC0415 - needs an extra
        used = "" if given is None else ", and these codes are used up"
        warn(f"{receiver.shown} keeps made-up reports among all others{used}: rehearse on a store of its own")
        with progress_bar("Sending") as progress:
            sent = rehearse(
                receiver, reports_of(frame), codes=given, connections=connections, batch=batch, rate=rate,
                progress=progress,
            )  # fmt: skip
    counts = frame["question"].value_counts().sort("question")
    by_name = {survey.names[number]: count for number, count in counts.iter_rows()}
    _print(survey, by_name, output, sent, as_json=as_json)
    if sent is not None and sent.refused:
        raise typer.Exit(1)


def _answer_file(
    survey: Survey, source: Path, output: Path, workers: int, seed: int | None, *, as_json: bool
) -> None:
    with needs_extra("simulating", "build"):
        from elsewhere.device.survey_job import answer_file  # noqa: PLC0415 - needs an extra
    with progress_bar("Answering") as progress:
        found = answer_file(source, output, survey, workers=workers, seed=seed, progress=progress)
    _warn(seed, found.others)
    _print(survey, found.by_question, output, None, as_json=as_json)


def _warn(seed: int | None, others: int) -> None:
    if seed is not None:
        warn("a seed was given: these reports are NOT private")
    if others:
        warn(f"{others:,} days are left out: outside the period, or more than a person may answer")


def _on_cluster(
    survey_file: Path, source: Path | None, output: Path | None, master: str, *, as_json: bool
) -> None:
    with needs_extra("--engine spark", "spark"):
        from elsewhere.spark.jobs import answer_folder  # noqa: PLC0415 - needs an extra
    if source is None or output is None:
        raise InputError("simulate", "needs a folder of Parquet and -o, a folder to write to, with Spark")
    survey = load_survey(survey_file)
    with waiting(f"Answering on {master}"):
        reports = answer_folder(source, output, survey, master=master)
    if as_json:
        print_json({"reports": reports, "survey": survey_hash(survey)})
    else:
        out.print(f"{reports:,} reports: {output}", soft_wrap=True)


def _check_output(output: Path | None, to: str | None) -> None:
    if output is None and to is None:
        raise InputError("simulate", "needs -o, a file to write to, or --to, a running collector")
    if output is not None:
        check_suffix(output, ".parquet")


def _codes(path: Path) -> list[str]:
    try:
        found = path.read_text(encoding="utf-8").split()
    except FileNotFoundError:
        raise InputError(str(path), "no such file; `elsewhere survey invite` makes one") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(str(path), "cannot be read as codes") from None
    if not found:
        raise InputError(str(path), "holds no code")
    return [plain_code(code) for code in found]


def _simulated(
    survey: Survey, trajectories: Path | None, people: int | None, seed: int | None, workers: int
) -> tuple[pl.DataFrame, int, str]:
    """Reports, how many days were left out, and where chance came from."""
    with needs_extra("simulating", "build"):
        from elsewhere.device.people import made_up_days, read_days  # noqa: PLC0415 - needs an extra
        from elsewhere.device.simulate import simulated_reports  # noqa: PLC0415 - needs an extra
    randomness: FreshRandomness = SystemRandomness() if seed is None else SeededRandomness(seed)
    if trajectories is not None:
        with waiting("Reading"):
            days, others = read_days(trajectories, survey, randomness, people)
    elif people is None:
        raise InputError("--people", "is missing: how many people to make up, where no file is given")
    else:
        with waiting("Making up days"):
            days, others = made_up_days(survey, people, randomness), 0
    with progress_bar("Answering") as progress:
        return simulated_reports(survey, days, randomness, progress, workers), others, label_of(randomness)


def _write(output: Path, frame: pl.DataFrame, label: str) -> None:
    with needs_extra("simulating", "build"):
        from elsewhere.survey.reports import write_reports  # noqa: PLC0415 - needs an extra
    write_reports(output, frame, randomness=label)


def _print(
    survey: Survey, by_name: dict[str, int], output: Path | None, sent: Rehearsed | None, *, as_json: bool
) -> None:
    reports = sum(by_name.values())
    if as_json:
        facts = {"reports": reports, "by_question": by_name, "survey": survey_hash(survey)}
        print_json(facts if sent is None else {**facts, "sent": sent.as_json()})
        return
    out.print(f"{reports:,} reports" + ("" if output is None else f": {output}"), soft_wrap=True)
    out.print(table(["question", "reports"], [[name, f"{count:,}"] for name, count in by_name.items()]))
    if sent is not None:
        took = ", ".join(f"{name} {value:g} ms" for name, value in sent.percentiles().items())
        refused = ", ".join(
            f"{count:,} with {status or 'no answer'}" for status, count in sent.refused.items()
        )
        rate = (sent.new + sent.again) / max(sent.seconds, 1e-9)
        out.print(facts_table({
            "Taken": f"{sent.new:,} new, {sent.again:,} that were there before",
            "Refused": refused or "none",
            "Sent again": f"{sent.retries:,} times",
            "Took": f"{sent.seconds:.1f} s, {rate:,.0f} reports a second",
            "A request": took or "no answer at all",
        }))  # fmt: skip


def add_to(app: typer.Typer) -> None:
    """Make this a command of `elsewhere survey`."""
    app.command()(simulate)
