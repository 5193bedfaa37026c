"""`elsewhere perturb`: a file of trajectories to a file of shared ones."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from elsewhere import __version__
from elsewhere.cli.console import (
    METHOD_HELP,
    SAME_LENGTH_HELP,
    counter,
    facts_table,
    needs_extra,
    out,
    print_json,
    warn,
)
from elsewhere.errors import InputError
from elsewhere.world.world import World


def perturb(
    trajectories: Annotated[
        Path, typer.Argument(metavar="TRAJ", help="CSV, Parquet or GeoJSON.", show_default=False)
    ],
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="F.world", help="The world.", show_default=False)
    ],
    epsilon: Annotated[
        str, typer.Option("-e", "--epsilon", help="ε for each whole trajectory.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="OUT", help="CSV, Parquet, GeoParquet or GeoJSON.", show_default=False
        ),
    ],
    *,
    name: Annotated[str, typer.Option("-m", "--method", help=METHOD_HELP)] = "ngram",
    n: Annotated[
        int | None,
        typer.Option(
            "-n", help="Length of an n-gram, 1 or more; for ngram, ngram-noh, physdist.  [default: 2]"
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Threads to share the work.")] = 1,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse trajectories that do not fit the world.")
    ] = False,
    sensitivity: Annotated[
        str | None,
        typer.Option(help="'1' reproduces the paper's numbers: that is NOT ε-LDP.  [default: world]"),
    ] = None,
    same_length: Annotated[
        bool, typer.Option("--same-length", help=SAME_LENGTH_HELP, show_default=False)
    ] = False,
    hide_length: Annotated[
        int | None, typer.Option(metavar="CAP", help="Hide the number of visits among 1 to CAP.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeatable, for experiments only: NOT private.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Perturb every trajectory of a file under ε-local differential privacy.

    The person, id and day of each trajectory are not hidden, nor is its number of visits, unless
    --hide-length is given or the method is codebook. A run that was stopped goes on where it was; nothing
    is perturbed twice.

    Example: elsewhere perturb campus/trajectories.csv -w campus.world -e 5 -o shared.csv
    """
    started = time.perf_counter()
    with needs_extra("reading trajectories", "build"):
        from elsewhere.audit.bounds import draw_losses  # noqa: PLC0415 - needs an extra
        from elsewhere.methods.job import perturb_file  # noqa: PLC0415 - needs an extra
        from elsewhere.methods.registry import method, options_of  # noqa: PLC0415 - needs an extra
    chosen = method(
        name,
        World.load(world_file),
        epsilon=epsilon,
        hide_length=hide_length,
        **given_options(n, sensitivity, same_length=same_length),
        **kept_tables(options_of(name), world_file),
    )
    facts: dict[str, Any] = {}
    if sensitivity == "1":
        spent = sum(loss.spent for loss in draw_losses(chosen.core.tables(5), chosen.core.draws_for(5)))
        facts["epsilon_on_5_visits_at_most"] = round(spent, 3)
        warn(f"sensitivity 1 is NOT ε-LDP: on five visits it spends up to {spent:.1f}, not {epsilon}")
    if seed is not None:
        warn("seeded randomness can be repeated by anyone who knows the seed: NOT private")
    try:
        with counter("Perturbing (the first time, loops are compiled)") as progress:
            result = perturb_file(
                trajectories,
                output,
                chosen,
                version=__version__,
                workers=workers,
                seed=seed,
                is_strict=strict,
                facts=facts,
                progress=progress,
            )
    except KeyboardInterrupt:
        warn("stopped; the same command goes on where it was, and nothing is perturbed twice")
        raise typer.Exit(130) from None
    seconds = time.perf_counter() - started
    if as_json:
        private = {"private_counts_for_this_device_only": result.counts}
        print_json({**result.metadata, **private, "seconds": round(seconds, 3)})
        return
    out.print(facts_table(_for_people(result.metadata, result.counts, output, seconds)))


def kept_tables(options: set[str], world_file: Path) -> dict[str, str]:
    """Where a method that makes public tables may keep them: beside the world."""
    return {"cache": f"{world_file}.tables"} if "cache" in options else {}


def given_options(n: int | None, sensitivity: str | None, *, same_length: bool) -> dict[str, Any]:
    """Options of a method as it takes them, those that were given."""
    if sensitivity not in {None, "world", "1"}:
        raise InputError("--sensitivity", f"found {sensitivity!r}, must be 'world' or '1'")
    options = {
        "n": n,
        "sensitivity": 1 if sensitivity == "1" else sensitivity,
        "same_length": same_length or None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _for_people(
    metadata: dict[str, Any], counts: dict[str, int], output: Path, seconds: float
) -> dict[str, str]:
    length = "public"
    if "hide_length" in metadata:
        length = f"hidden among 1 to {metadata['hide_length']} visits"
    promise = f"ε = {metadata['epsilon']} for each trajectory, its length {length}"
    shared = f"{metadata['trajectories']:,} trajectories, {counts['shared visits']:,} visits"
    lines = {
        "Shared": f"{shared}, in {output}",
        "Promise": promise if metadata["is_ldp"] else f"none: {metadata['promise']}",
        "Method": metadata["method"] + (f", n = {metadata['n']}" if "n" in metadata else ""),
        "World": metadata["world"],
        "Time": f"{seconds:.2f} s",
    }
    for what, count in sorted(counts.items()):
        if what not in {"visits", "shared visits"} and count:
            kind, _, rest = what.partition(": ")
            lines[f"{kind.capitalize()}: {rest}" if rest else what.capitalize()] = f"{count:,}"
    return lines
