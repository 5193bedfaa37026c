"""Options of commands that may run on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import typer

from elsewhere.errors import InputError

Engine = Annotated[
    Literal["here", "spark"],
    typer.Option("--engine", help="here: this machine; spark: a cluster, for folders of Parquet."),
]
Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="MASTER",
        help="With --engine spark: local[*], spark://host:7077, yarn, k8s://...",
        show_default=False,
    ),
]
ALL_CORES = "local[*]"


def master_of(engine: str, master: str | None) -> str | None:
    """Spark's master; None if this machine does the work by itself."""
    if engine == "here" and master is not None:
        raise InputError("--master", "goes with --engine spark")
    return (master or ALL_CORES) if engine == "spark" else None


def refuse_with_spark(options: Mapping[str, object]) -> None:
    """Options that have no meaning on a cluster, by name."""
    for name, value in options.items():
        if value:
            raise InputError(name, "does not go with --engine spark")
