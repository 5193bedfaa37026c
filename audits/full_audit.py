"""`make audit`: every registered method through the exact channel, the faults and the black box."""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.table import Table

from cases import FAULT_WORLDS, WORLDS, cases, longest, most_places, plain_options
from detectors import LENGTH, audited, exact_loss
from elsewhere.audit.channel import all_trajectories
from elsewhere.audit.report import audit
from elsewhere.audit.sampling import black_box
from elsewhere.cli.console import progress_bar
from elsewhere.datasets.bundle import write_dataset
from elsewhere.datasets.campus_files import read_campus
from elsewhere.experiments.tilted import tilted_ngram
from elsewhere.methods.registry import METHODS, method
from elsewhere.methods.sharing import Sharing
from elsewhere.trajectories import Trajectory
from elsewhere.world.build import build_world
from elsewhere.world.world import World
from faults import FAULTS, Fault
from further_audit import level_ratio, live_ratio
from survey_audit import QuestionLine, question_line
from tiny_surveys import KINDS
from tiny_worlds import tiny_world

_WORKERS = 2
_BLACK_BOX_WORLDS = (4, 7, 14, 21, 22)
_PAIRS_PER_WORLD = 4
_SHARES = 6000
_FEWEST = 150
_EPSILON = 2
out = Console(highlight=False, width=None if sys.stdout.isatty() else 130)


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the last table."""

    name: str
    worlds: int
    largest: float
    caught: int
    seen: float
    accused: int
    pairs: int


def channels(folder: Path, name: str) -> tuple[int, float]:
    """T1: worlds looked at, and the largest share of its claim that the method spends on any of them."""
    ratios = []
    with progress_bar(f"{name}: exact channels") as progress, _pool() as pool:
        for seed, result in enumerate(pool.map(partial(audited, folder, name), range(WORLDS))):
            if result is not None:
                ratios.append(result[0] / result[1])
            progress(seed + 1, WORLDS)
    out.print(
        f"{name}: exact channel on {len(ratios)} tiny worlds: at most {max(ratios):.3f} of ε, "
        f"median {sorted(ratios)[len(ratios) // 2]:.3f}"
    )
    return len(ratios), max(ratios)


def caught_by(folder: Path, number: int) -> dict[str, str]:
    """Objections to a fault, on the first world where it shows."""
    return FAULTS[number].objections(folder)


def faults(folder: Path) -> int:
    """T2: how many faults are caught; prints each with what gave it away."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in ("fault", "caught by", "because"):
        table.add_column(header)
    caught = 0
    with progress_bar("Faults") as progress, _pool() as pool:
        for number, found in enumerate(pool.map(partial(caught_by, folder), range(len(FAULTS)))):
            by, because = next(iter(found.items()), ("NOT CAUGHT", ""))
            table.add_row(FAULTS[number].name, by, because)
            caught += bool(found)
            progress(number + 1, len(FAULTS))
    out.print(table)
    return caught


def from_outside(folder: Path, name: str) -> tuple[float, int, int]:
    """T3: the largest lower bound over ε, how many pairs seem to break the claim, and how many pairs."""
    bounds = []
    with progress_bar(f"{name}: black box") as progress:
        for number, seed in enumerate(_BLACK_BOX_WORLDS):
            world = tiny_world(folder, seed, most_places(name))
            suspect = method(name, world, epsilon=_EPSILON, **plain_options(name))
            bounds += black_box(suspect, _pairs(suspect), samples=_SHARES, workers=_WORKERS)
            progress(number + 1, len(_BLACK_BOX_WORLDS))
    largest = max(bound.epsilon for bound in bounds)
    out.print(
        f"{name}: {len(bounds)} pairs of days shared {_SHARES:,} times each: at least {largest:.3f} spent"
    )
    return largest / _EPSILON, sum(bound.epsilon > _EPSILON for bound in bounds), len(bounds)


def _pairs(suspect: Sharing) -> list[tuple[Trajectory, Trajectory]]:
    """The two days that the exact channel tells apart best, and some more."""
    length = longest(suspect.name, suspect.world, LENGTH)
    lengths = range(1, length + 1) if suspect.hides_length else [length]
    days = {
        suspect.core.secret(day): day for size in lengths for day in all_trajectories(suspect.world, size)
    }
    worst = exact_loss(suspect, length)
    pairs = [(days[worst.first], days[worst.second])]
    order = sorted(days)
    if len(order) == 1:  # a null sees nothing of a day
        every = list(all_trajectories(suspect.world, length))
        return list(zip(every, every[::-1], strict=True))[:_PAIRS_PER_WORLD]
    more = min(_PAIRS_PER_WORLD - 1, len(order))
    return pairs + [(days[order[k]], days[order[-1 - k]]) for k in range(more)]


def sensitivity_one(world: World, name: str) -> None:
    """R16: what the paper's numbers really cost."""
    honest, tilted = method("ngram", world, epsilon=5), tilted_ngram(world, epsilon=5)
    for kind, suspect in {"sensitivity=1": tilted, "sensitivity='world'": honest}.items():
        report = audit(suspect, 5)
        how = "exact per draw" if report.is_exact else "bounded"
        out.print(
            f"ngram, {kind}, nominal ε = 5, five visits, {name}: spends up to {report.spent:.2f} ({how})"
        )


def broken_is_seen(folder: Path) -> bool:
    """T3: a broken method is caught from outside too."""
    fault = next(fault for fault in FAULTS if isinstance(fault, Fault) and fault.name == "length leak")
    suspect = fault.method(tiny_world(folder, FAULT_WORLDS[0]))
    one, three = (next(all_trajectories(suspect.world, size)) for size in (1, 3))
    bound = black_box(suspect, [(three, one)], samples=_SHARES)[0]
    out.print(f"{fault.name}: from outside at least {bound.epsilon:.3f} for {float(fault.epsilon):g}")
    return bound.epsilon > float(fault.epsilon)


def questions(folder: Path) -> list[QuestionLine]:
    """T9: every kind of question."""
    lines = []
    with progress_bar("Questions") as progress, _pool() as pool:
        for number, line in enumerate(pool.map(partial(question_line, folder), KINDS)):
            lines.append(line)
            progress(number + 1, len(KINDS))
    return lines


def further(folder: Path) -> bool:
    """Levels and visits as they happen: no more than is promised, on every tiny world."""
    is_good = True
    for name, ratio_of in {"levels": level_ratio, "live": live_ratio}.items():
        with progress_bar(f"{name}: exact channels") as progress, _pool() as pool:
            ratios = []
            for seed, ratio in enumerate(pool.map(partial(ratio_of, folder), range(WORLDS))):
                ratios += [] if ratio is None else [ratio]
                progress(seed + 1, WORLDS)
        out.print(
            f"{name}: exact channel on {len(ratios)} tiny worlds: at most {max(ratios):.4f} of the promise, "
            f"median {sorted(ratios)[len(ratios) // 2]:.3f}"
        )
        is_good &= max(ratios) <= 1 + 1e-12 and len(ratios) >= _FEWEST
    return is_good


def _print_questions(lines: list[QuestionLine]) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in ("question", "surveys", "exact max ε/claimed", "real answers under the listed ones, p"):
        table.add_column(header)
    for line in lines:
        table.add_row(line.kind, str(line.surveys), f"{line.largest:.4f}", f"{line.lowest:.2g}")
    out.print()
    out.print(table)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(_WORKERS, get_context("spawn"))


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        caught = faults(folder)
        is_seen = broken_is_seen(folder)
        write_dataset(folder / "campus", read_campus(people=1, seed=1))
        sensitivity_one(build_world(folder / "campus/world.toml"), "campus")
        lines = []
        for name in METHODS:
            out.print(f"{name}: settings {cases(name)}")
            worlds, largest = channels(folder, name)
            lines.append(Line(name, worlds, largest, caught, *from_outside(folder, name)))
        asked = questions(folder)
        is_further_good = further(folder)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for header in (
        "method",
        "worlds",
        "exact max ε/claimed",
        "faults caught",
        "black box ε/claimed, at least",
    ):
        table.add_column(header)
    for line in lines:
        pairs = f" (accused on {line.accused} of {line.pairs} pairs)"
        table.add_row(
            line.name,
            str(line.worlds),
            f"{line.largest:.4f}",
            f"{line.caught}/{len(FAULTS)}",
            f"{line.seen:.4f}{pairs}",
        )
    out.print()
    out.print(table)
    _print_questions(asked)
    is_good = is_seen and caught == len(FAULTS) and all(line.is_good for line in asked)
    is_good &= is_further_good
    is_good &= all(line.largest <= 1 and line.worlds >= 200 and not line.accused for line in lines)
    out.print("All hold." if is_good else "[red]NOT ALL HOLD.[/red]")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
