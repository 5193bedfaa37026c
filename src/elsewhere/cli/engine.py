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


def master_of(engine: str, master: str | None, only_here: Mapping[str, object]) -> str | None:
    """Spark's master; None if this machine does the work. Options ``only_here`` do not go with Spark."""
    if engine == "here":
        if master is not None:
            raise InputError("--master", "goes with --engine spark")
        return None
    for name, value in only_here.items():
        if value:
            raise InputError(name, "does not go with --engine spark")
    return master or ALL_CORES
