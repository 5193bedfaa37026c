"""`elsewhere perturb`: a file of trajectories to a file of shared ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from elsewhere import __version__
from elsewhere.cli import engine as engines
from elsewhere.cli import ledger as ledgers
from elsewhere.cli import method
from elsewhere.cli.console import facts_table, out, print_json, progress_bar, waiting, warn
from elsewhere.device.ledger_file import user_ledger
from elsewhere.errors import needs_extra
from elsewhere.methods.registry import DEFAULT
from elsewhere.methods.sharing import Sharing
from elsewhere.progress import Progress
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.device.job import JobResult
    from elsewhere.device.own_epsilon import AnyMethod
    from elsewhere.device.shared_metadata import SharedMetadata


def perturb(
    trajectories: Annotated[
        Path,
        typer.Argument(
            metavar="TRAJ",
            help="CSV, Parquet or GeoJSON; with Spark, a folder of Parquet.",
            show_default=False,
        ),
    ],
    world_file: Annotated[
        Path, typer.Option("-w", "--world", metavar="F.world", help="The world.", show_default=False)
    ],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="OUT", help="CSV, Parquet, GeoParquet or GeoJSON.", show_default=False
        ),
    ],
    *,
    epsilon: Annotated[
        str | None,
        typer.Option(
            "-e",
            "--epsilon",
            help="ε for each day, a number or a fraction; 'own': each person's, in the column epsilon.",
            show_default=False,
        ),
    ] = None,
    name: method.Name = DEFAULT,
    n: method.NgramLength = None,
    workers: Annotated[int, typer.Option(min=1, help="Threads to share the work.")] = 1,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse trajectories that do not fit the world.")
    ] = False,
    smooth: Annotated[
        bool,
        typer.Option("--smooth", help="Shift times of true days whose steps cannot be travelled, before."),
    ] = False,
    sensitivity: method.Sensitivity = None,
    same_length: method.SameLength = False,
    hide_length: method.HideLength = None,
    epsilon_per_draw: method.EpsilonPerDraw = None,
    levels: method.LevelsFile = None,
    settings: method.Settings = None,
    ledger_file: ledgers.LedgerFile = None,
    cap: ledgers.Cap = None,
    anyway: method.Anyway = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Repeatable, for experiments only: NOT private.")
    ] = None,
    engine: engines.Engine = "here",
    master: engines.Master = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Perturb every person's day of a file under ε-local differential privacy.

    The person, id and date of each day are not hidden. With codebook, the default, its number of visits is;
    with most other methods it is not, unless --hide-length is given. A run that was stopped goes on where it
    was; nothing is perturbed twice. Your own days (`dataset personal`) are charged to your ledger.

    Example: elsewhere perturb campus/trajectories.csv -w campus.world -e 5 -o shared.csv
    """
    started = time.perf_counter()
    with needs_extra("reading trajectories", "build"):
        from elsewhere.device.job import LedgerChoice, perturb_file  # noqa: PLC0415 - needs an extra
        from elsewhere.device.own_epsilon import OWN, OwnEpsilon  # noqa: PLC0415 - needs an extra

    def choose(epsilon: str | Fraction | None, world: World | None = None) -> Sharing:
        return method.chosen_method(
            name,
            world_file,
            None if epsilon is None else str(epsilon),
            world=world,
            epsilon_per_draw=epsilon_per_draw,
            n=n,
            same_length=same_length,
            hide_length=hide_length,
            levels=levels,
            sensitivity=sensitivity,
            settings=settings,
        )

    only_here = {"--strict": strict, "--smooth": smooth, "--seed": seed is not None, "-e own": epsilon == OWN}
    cluster = engines.master_of(engine, master, only_here | {"--ledger": ledger_file, "--cap": cap})
    if cluster is not None:
        there = _warned(choose(epsilon), epsilon)
        _on_cluster(trajectories, output, there, cluster, started, is_anyway=anyway, as_json=as_json)
        return
    chosen: AnyMethod
    if epsilon == OWN:
        world = World.load(world_file)
        chosen = OwnEpsilon(lambda own: choose(own, world), world)
    else:
        chosen = _warned(choose(epsilon), epsilon)
    if seed is not None:
        warn("seeded randomness can be repeated by anyone who knows the seed: NOT private")
    result = _finished(
        lambda progress: perturb_file(
            trajectories,
            output,
            chosen,
            version=__version__,
            workers=workers,
            seed=seed,
            is_strict=strict,
            is_anyway=anyway,
            is_smooth=smooth,
            ledger=LedgerChoice(path=ledger_file or user_ledger(), cap=cap),
            progress=progress,
        )
    )
    seconds = time.perf_counter() - started
    _show(result, output, seconds, as_json=as_json)


def _finished(work: Callable[[Progress], JobResult]) -> JobResult:
    try:
        with progress_bar("Perturbing (the first time, loops are compiled)") as progress:
            return work(progress)
    except KeyboardInterrupt:
        warn("stopped; the same command goes on where it was, and nothing is perturbed twice")
        raise typer.Exit(130) from None


def _on_cluster(
    source: Path,
    output: Path,
    chosen: Sharing,
    master: str,
    started: float,
    *,
    is_anyway: bool,
    as_json: bool,
) -> None:
    with needs_extra("--engine spark", "spark"):
        from elsewhere.spark.jobs import perturb_folder  # noqa: PLC0415 - needs an extra
    with waiting(f"Perturbing on {master}"):
        done = perturb_folder(source, output, chosen, master=master, version=__version__, is_anyway=is_anyway)
    seconds = time.perf_counter() - started
    if as_json:
        print_json({**done.metadata.as_json(), "seconds": round(seconds, 3)})
        return
    out.print(facts_table(_for_people(done.metadata, {"shared visits": done.visits}, output, seconds)))


def _warned(chosen: Sharing, epsilon: str | None) -> Sharing:
    """The method, once it was said what is odd about its settings."""
    facts = chosen.facts()
    method.warn_if_senseless(facts.epsilon)
    if facts.spent_on_five_visits is not None:
        warn(
            f"sensitivity 1 is {facts.promise}: on five visits it spends up to "
            f"{facts.spent_on_five_visits:.1f}, not {epsilon}"
        )

    return chosen


def _show(result: JobResult, output: Path, seconds: float, *, as_json: bool) -> None:
    if as_json:
        private = {"private_counts_for_this_device_only": result.counts}
        print_json({**result.metadata.as_json(), **private, "seconds": round(seconds, 3)})
        return
    out.print(facts_table(_for_people(result.metadata, result.counts, output, seconds)))
    if result.ledger is not None:
        out.print(ledgers.spent_in_words(result.ledger), soft_wrap=True, markup=False)
    if result.has_long_days:
        out.print(
            f"Some true days have more than {result.metadata.method.most_visits} visits: some of these were "
            "left out before sharing. More numbers under `lengths` in `[prior]` of world.toml allow longer "
            "days.",
            soft_wrap=True,
            markup=False,
        )


def _for_people(
    metadata: SharedMetadata, counts: Mapping[str, int], output: Path, seconds: float
) -> dict[str, str]:
    facts = metadata.method
    shared = f"{metadata.trajectories:,} trajectories, {counts['shared visits']:,} visits"
    promise = (
        f"{facts.epsilon_in_words} for each person's day" if metadata.is_ldp else f"none: {metadata.promise}"
    )
    options = "".join(f", {name} = {value}" for name, value in facts.options.items())
    lines = {
        "Shared": f"{shared}, in {output}",
        "Promise": promise,
        "For a person": _for_a_person(metadata),
        "Hidden": facts.hides if metadata.is_ldp else "nothing that could be promised",
        "Method": facts.method + options,
        "World": metadata.world,
        "Time": f"{seconds:.2f} s",
    }
    for what, count in sorted(counts.items()):
        if what not in {"visits", "shared visits"} and count:
            kind, _, rest = what.partition(": ")
            lines[f"{kind.capitalize()}: {rest}" if rest else what.capitalize()] = f"{count:,}"
    return lines


def _for_a_person(metadata: SharedMetadata) -> str:
    """What all days of one person cost together: ε alone is for one of them."""
    most, together = metadata.most_days_of_a_person, metadata.epsilon_of_a_person_at_most
    days = "1 day" if most == 1 else f"up to {most:,} days"
    if together is None:
        return f"{days} of each; nothing is promised"
    return f"{days} of each, so ε = {together} at most for all that is shared of a person"
