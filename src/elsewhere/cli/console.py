"""What commands share: where they print, how they show progress, what they say when a part is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from elsewhere.inputs.raw_text import CONTROL

out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)


def report_error(message: str) -> None:
    _err.print(f"[red]error:[/red] {_shown(message)}", soft_wrap=True)


def warn(message: str) -> None:
    _err.print(f"[yellow]warning:[/yellow] {_shown(message)}", soft_wrap=True)


def print_json(value: Any) -> None:
    """Machine-readable output: nothing else goes to standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False))  # noqa: T201 - not for people, so not through rich


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, gone when done; yields a function of done and total."""
    columns = (
        TextColumn(title),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def waiting(title: str) -> Iterator[None]:
    """A spinner on standard error, gone when done: for work that cannot say how far it is."""
    columns = (TextColumn("{task.description}"), SpinnerColumn(), TimeElapsedColumn())
    with Progress(*columns, console=_err, transient=True, disable=not _err.is_terminal) as progress:
        progress.add_task(escape(title), total=None)
        yield


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Rows under a header; numbers to the right."""
    made = Table(box=None, pad_edge=False, header_style="dim")
    for number, name in enumerate(header):
        is_number = bool(rows) and all(row[number].replace(",", "")[:1].isdigit() for row in rows)
        made.add_column(name, justify="right" if is_number else "left")
    for row in rows:
        made.add_row(*map(_shown, row))
    return made


def _shown(text: str) -> str:
    """Text of anybody's file for a terminal, which would obey control characters in a name."""
    return escape(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text))


def facts_table(rows: dict[str, str]) -> Table:
    """Names and values in two columns."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(f"[dim]{escape(name)}[/dim]", _shown(value))
    return table
