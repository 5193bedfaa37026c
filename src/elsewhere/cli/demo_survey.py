"""The demo's survey: a real collector in a process of its own, and many devices that answer to it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from elsewhere.cli.console import facts_table, out, progress_bar
from elsewhere.cli.survey_estimate import open_store
from elsewhere.device.send import Receiver, check_survey, receiver_of
from elsewhere.errors import ElsewhereError, NotSentError, needs_extra
from elsewhere.files import write_text
from elsewhere.randomness import SystemRandomness
from elsewhere.survey.file import save_survey, survey_hash
from elsewhere.survey.survey import Survey
from elsewhere.world.basemap import basemap_beside, copy_basemap

_TOML = """# What the demo asks: `elsewhere survey create survey.toml -o city.survey`
world = "helsinki.world"
epsilon = 5                    # for each day that a person answers
purpose = "Where is the city at which hour, and how do people move? A demo with made-up people."

[[question]]
kind = "presence"              # people in each part of the city, by the hour
grid = 4
share = 0.6                    # of the people are asked this one

[[question]]
kind = "moves"                 # from part to part
grid = 4
share = 0.3

[[question]]
kind = "visits"                # places visited in a day
share = 0.1
"""
_RUN = "from elsewhere.cli.main import run; run()"
_PATIENCE = 60.0


def survey_demo(folder: Path) -> None:
    """Ask everyone in the folder's trajectories, and see what an analyst sees."""
    with needs_extra("the demo", "collector"):
        from elsewhere.collector.counting import counted_store  # noqa: PLC0415 - needs an extra
        from elsewhere.device.people import read_days  # noqa: PLC0415 - needs an extra
        from elsewhere.device.rehearsal import rehearse  # noqa: PLC0415 - needs an extra
        from elsewhere.device.simulate import simulated_reports, true_shares  # noqa: PLC0415 - needs an extra
        from elsewhere.estimates.estimate import estimate  # noqa: PLC0415 - needs an extra
        from elsewhere.estimates.results import write_results  # noqa: PLC0415 - needs an extra
        from elsewhere.pages.results import results_page  # noqa: PLC0415 - needs an extra
        from elsewhere.survey.reports import reports_of  # noqa: PLC0415 - needs an extra
        from elsewhere.survey.toml import create_survey  # noqa: PLC0415 - needs an extra
    (folder / "survey.toml").write_text(_TOML, encoding="utf-8")
    survey = create_survey(folder / "survey.toml")
    save_survey(survey, folder / "city.survey")
    copy_basemap(folder / "helsinki.world", folder / "city.survey")
    days, _ = read_days(folder / "trajectories.csv", survey, SystemRandomness())
    with progress_bar("Answering (the first time, loops are compiled)") as progress:
        reports = reports_of(simulated_reports(survey, days, SystemRandomness(), progress))
    for old in folder.glob("reports.db*"):
        old.unlink()
    with _running_collector(folder, survey) as receiver, progress_bar("Sending") as progress:
        sent = rehearse(receiver, reports, progress=progress)
    with open_store(str(folder / "reports.db"), survey) as opened:
        tally = counted_store(opened)
    with progress_bar("Estimating") as progress:
        found = estimate(survey, tally, progress=progress)
    write_results(found, folder / "results")
    truth = true_shares(survey, days)
    drawn = results_page(found, truth=truth, basemap=basemap_beside(folder / "city.survey"))
    write_text(folder / "results" / "index.html", drawn)
    frame, true = found.frame("presence"), truth["presence"]
    busiest = frame.sort("estimate", descending=True).head(20)
    off = abs(busiest["estimate"].to_numpy() - true[busiest["thing"].to_numpy()]).sum()
    holds = next(one.table for one in found.questions if one.table and one.name == "presence").holds(true)
    out.print(facts_table({
        "Asked": f"{len(days):,} devices, one report of 63 bytes each, ε = {survey.epsilon}",
        "Collected": f"{tally.rows:,} on disk, {sent.new / max(sent.seconds, 1e-9):,.0f} a second; "
        f"99 in 100 answered within {sent.percentiles()['p99']:.0f} ms",
        "Twenty busiest cell-hours": f"off by {off / true[busiest['thing'].to_numpy()].sum():.1%} in all",
        "Intervals of 95 %": f"{holds.mean():.1%} of {frame.height:,} hold what is true",
        "See": f"{folder}/results/index.html (estimated, and true beside it)",
    }))  # fmt: skip


@contextmanager
def _running_collector(folder: Path, survey: Survey) -> Iterator[Receiver]:
    """A collector as an agency starts it, at any port that is free; ended as with Ctrl-C."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = [
        sys.executable, "-c", _RUN, "survey", "serve", str(folder / "city.survey"), "--port", str(port),
        "--store", str(folder / "reports.db"), "--token-file", str(folder / "city.token"),
        "--limit", "1000000000",  # all devices of the demo have one address
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    receiver = receiver_of(f"http://127.0.0.1:{port}")
    try:
        _wait_for(receiver, survey, process)
        yield receiver
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def _wait_for(receiver: Receiver, survey: Survey, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with suppress(NotSentError):
            check_survey(receiver, survey_hash(survey))
            return
        time.sleep(0.1)
    raise ElsewhereError("the collector does not start: try `elsewhere survey serve` by hand")
