"""The `elsewhere` command: one app, one place where errors become one clear message and exit code 2."""

from __future__ import annotations

import errno
import sys
from io import TextIOWrapper

import typer

from elsewhere import __version__
from elsewhere.cli import audit as audit_command
from elsewhere.cli import (
    dataset,
    demo,
    ledger,
    survey,
    survey_answer,
    survey_page,
    survey_simulate,
    survey_store,
    world,
)
from elsewhere.cli import evaluate as evaluate_command
from elsewhere.cli import experiment as experiment_command
from elsewhere.cli import live as live_command
from elsewhere.cli import perturb as perturb_command
from elsewhere.cli import plan as plan_command
from elsewhere.cli import share as share_command
from elsewhere.cli.console import report_error
from elsewhere.errors import ElsewhereError

# A full disk or a folder that may not be written to is no fault of the program, wherever it shows.
_NOT_OURS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG}

app = typer.Typer(
    name="elsewhere",
    help="Share where you went without giving away where you were.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("demo")(demo.demo)
app.command("plan")(plan_command.plan)
app.command("perturb")(perturb_command.perturb)
app.command("share")(share_command.share)
app.command("live")(live_command.live)
app.command("evaluate")(evaluate_command.evaluate)
app.command("experiment")(experiment_command.experiment)
app.command("audit")(audit_command.audit)
app.add_typer(ledger.app, name="ledger")
app.add_typer(dataset.app, name="dataset")
app.add_typer(world.app, name="world")
survey_answer.add_to(survey.app)
survey_page.add_to(survey.app)
survey_simulate.add_to(survey.app)
survey_store.add_to(survey.app)
app.add_typer(survey.app, name="survey")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"elsewhere {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Share where you went without giving away where you were."""


def run() -> None:
    """Entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without κ must not end a command
    try:
        app()
    except ElsewhereError as error:
        report_error(str(error))
        sys.exit(2)
    except OSError as error:
        if error.errno not in _NOT_OURS:
            raise
        report_error(f"{error.filename or 'a file'}: {error.strerror}")
        sys.exit(2)
