"""What goes beyond the paper's evaluation, measured: its further work, and what this package adds to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.audit.bounds import draw_losses
from elsewhere.device.live import LiveSharing
from elsewhere.evaluate.error import mean_errors
from elsewhere.experiments.cells import Setting
from elsewhere.knowledge.sphere import chords_squared, great_circle_km
from elsewhere.mechanism.live import Picked
from elsewhere.methods.levels import levels_of, suggested_levels
from elsewhere.methods.registry import DEFAULT, method
from elsewhere.randomness import Generator, SeededRandomness, seeded_generator
from elsewhere.trajectories import SharedTrajectory, Trajectory
from elsewhere.world.build import build_world
from elsewhere.world.toml import read_config
from elsewhere.world.world import World

Row = dict[str, Any]
_CHOSEN = (1, 2, 5)
_LEVEL = Fraction(1)
_LIVE_DAYS = 300
_LIVE_MINUTES = 180
_DISTANCES: dict[str, dict[str, Any]] = {
    "as the paper": {},
    "sum of parts": {"combine": "sum"},
    "largest part": {"combine": "largest"},
    "categories count threefold": {"weights": {"space": 1, "time": 1, "category": 3}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherCell:
    """One thing beyond the paper's tables, on the days of a setting."""

    setting: Setting
    what: str
    """One of `FURTHER`."""
    days: int
    epsilon: float = 5.0

    @property
    def label(self) -> str:
        """What it is called in tables."""
        return self.what

    def key(self) -> dict[str, Any]:
        """All that it depends on, as plain data."""
        return asdict(self)


def further_result(
    cell: FurtherCell, world: World, folder: Path, days: Sequence[Trajectory], seed: int
) -> dict[str, Any]:
    """Measures by group."""
    measure = FURTHER[cell.what]
    rows = list(measure(cell, world, folder, days, seed)) if days else []
    return {"cell": cell.key(), "label": cell.what, "world": world.hash, "days": len(days), "rows": rows}


def further_rows(results: Sequence[dict[str, Any]]) -> list[Row]:
    """A row for each measure, for a table."""
    return [
        {"dataset": result["cell"]["setting"]["dataset"], "what": result["label"], **row}
        for result in results
        for row in result["rows"]
    ]


def _row(group: str, measure: str, value: float, days: int) -> Row:
    return {"group": group, "measure": measure, "value": float(value), "days": days}


def _errors(
    world: World, group: str, real: Sequence[Trajectory], shared: Sequence[SharedTrajectory]
) -> Iterator[Row]:
    """The mean error of a visit, all together."""
    if real:
        yield _row(group, "d", mean_errors(world, real, shared)["combined"], len(real))


def _calibration(
    cell: FurtherCell, world: World, _folder: Path, days: Sequence[Trajectory], seed: int
) -> Iterator[Row]:
    """`ngram` with what is proven of any world, and with the exact bound of this one."""
    for kind in ("proven", "exact"):
        ngram = method("ngram", world, epsilon=cell.epsilon, calibration=kind)
        shared = ngram.share_many(days, randomness=SeededRandomness(seed))
        tables = ngram.core.tables(5)
        spent = sum(loss.spent for loss in draw_losses(tables, ngram.draws_for(5)))
        yield from _errors(world, kind, days, shared)
        yield _row(kind, "ε spent on five visits", spent, len(days))


def _levels(
    cell: FurtherCell, world: World, _folder: Path, days: Sequence[Trajectory], seed: int
) -> Iterator[Row]:
    """The default method with and without levels, on days with a visit to a sensitive place and without."""
    suggested = {category: level for category, _, level in suggested_levels(world, _LEVEL)}
    levels = levels_of(world, suggested)
    if not levels or len(levels) == len(world.places):
        return
    is_sensitive = [any(visit.place_id in levels for visit in day) for day in days]
    for name, given in (("without levels", None), (f"levels of {_LEVEL}", levels)):
        shared = method(DEFAULT, world, epsilon=cell.epsilon, levels=given).share_many(
            days, randomness=SeededRandomness(seed)
        )
        for wanted, words in ((True, "sensitive days"), (False, "other days")):
            rows = [row for row, found in enumerate(is_sensitive) if found is wanted]
            group = f"{name}: {words}"
            yield from _errors(world, group, [days[row] for row in rows], [shared[row] for row in rows])


def _own_epsilon(
    _cell: FurtherCell, world: World, _folder: Path, days: Sequence[Trajectory], seed: int
) -> Iterator[Row]:
    """A third of the people with each of three ε, and all of them together."""
    real: list[Trajectory] = []
    shared: list[SharedTrajectory] = []
    for number, epsilon in enumerate(_CHOSEN):
        mine = list(days[number :: len(_CHOSEN)])
        told = method(DEFAULT, world, epsilon=epsilon).share_many(mine, randomness=SeededRandomness(seed))
        yield from _errors(world, f"ε = {epsilon}", mine, told)
        real, shared = real + mine, shared + told
    yield from _errors(world, "together", real, shared)


def _live(
    cell: FurtherCell, world: World, _folder: Path, days: Sequence[Trajectory], seed: int
) -> Iterator[Row]:
    """Days told of part by part, beside picks that ignore the person."""
    live = LiveSharing(world, epsilon=cell.epsilon, every_minutes=_LIVE_MINUTES)
    source, generator = SeededRandomness(seed), seeded_generator(seed)

    def ignoring(_day: Trajectory, part: int, before: Picked | None) -> Picked | None:
        return _any_candidate(live, part, before, generator)

    def telling(day: Trajectory, part: int, before: Picked | None) -> Picked | None:
        return live.pick(day, part, before, source)

    some = days[:_LIVE_DAYS]
    for name, pick in (("told", telling), ("null: any candidate", ignoring)):
        truths = np.array([live.secret(day) for day in some])
        told = np.array([_told(live, day, pick) for day in some])
        nowhere = live.tables.nowhere
        yield _row(name, "% of parts right whether anywhere", 100 * _agree(truths, told, nowhere), len(some))
        both = (truths != nowhere) & (told != nowhere)
        if both.any():
            vectors = world.places.vectors
            km = great_circle_km(chords_squared(vectors[truths[both]], vectors[told[both]]))
            yield _row(name, "km where both are places", float(km.mean()), len(some))


def _agree(truths: np.ndarray[Any, Any], told: np.ndarray[Any, Any], nowhere: int) -> float:
    return float(((truths == nowhere) == (told == nowhere)).mean())


def _any_candidate(
    live: LiveSharing, part: int, before: Picked | None, generator: Generator
) -> Picked | None:
    candidates = live.tables.candidates(part, before)
    place = int(candidates[generator.integers(len(candidates))])
    return None if place == live.tables.nowhere else Picked(part, place)


def _told(
    live: LiveSharing, day: Trajectory, pick: Callable[[Trajectory, int, Picked | None], Picked | None]
) -> list[int]:
    """The place told for each part of a day, or nowhere."""
    found, before = [], None
    for part in range(live.parts):
        picked = pick(day, part, before)
        before = picked or before
        found.append(live.tables.nowhere if picked is None else picked.place)
    return found


def _distances(
    cell: FurtherCell, world: World, folder: Path, days: Sequence[Trajectory], seed: int
) -> Iterator[Row]:
    """`ngram` in worlds with other distances, each measured by the paper's."""
    for name, distance in _DISTANCES.items():
        other = build_world(read_config(folder / "world.toml", {"distance": distance})) if distance else world
        shared = method("ngram", other, epsilon=cell.epsilon).share_many(
            days, randomness=SeededRandomness(seed)
        )
        errors = mean_errors(world, days, shared)
        for part in ("space_km", "time_hours", "category", "combined"):
            yield _row(name, part, errors[part], len(days))


FURTHER: dict[str, Callable[..., Iterator[Row]]] = {
    "exact calibration": _calibration,
    "levels": _levels,
    "own ε": _own_epsilon,
    "live": _live,
    "distances": _distances,
}
"""What is measured, by what it is called."""
