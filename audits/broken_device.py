"""Faults of the device around the core, and the checks that look at its ledger and its files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

from elsewhere.device import job
from elsewhere.device.job import perturb_file
from elsewhere.device.ledger import Ledger
from elsewhere.errors import BudgetError
from elsewhere.methods.registry import method
from elsewhere.methods.sharing import Sharing
from elsewhere.randomness import SeededRandomness
from elsewhere.trajectories import Trajectory
from elsewhere.world.world import World
from tiny_worlds import tiny_world

_CAP = 2
_DAYS = [f"2025-09-{day:02d}" for day in range(10, 18)]


class ForgetsAfterACrash(Ledger):
    """Days that were charged but never reported are free again: their noise may have been seen (R11)."""

    def _charge(self, charges: Sequence[Any], most: int | None) -> list[bytes | None]:
        with closing(sqlite3.connect(self._path)) as database, database:
            database.execute("DELETE FROM shares WHERE report IS NULL")
        return super()._charge(charges, most)


class _Crashes(Sharing):
    """Draws, and then the machine is switched off."""

    def share(self, *given: Any, **options: Any) -> Any:
        super().share(*given, **options)
        raise KeyboardInterrupt


def ledger_objections(kind: type[Ledger], folder: Path) -> dict[str, str]:
    """How many days of 1 are drawn against a cap of 2, if every one of them is cut off after its draw."""
    world = tiny_world(folder, 4, 4)
    honest = method("codebook", world, epsilon=1, candidates=12, shards=2, k=3)
    ledger, drawn = kind(folder / f"{kind.__name__}.ledger", cap=_CAP), 0
    for day in _DAYS:
        try:
            ledger.share(day, Trajectory([(world.places.ids[0], 1)]), _Crashes(honest.core))
        except KeyboardInterrupt:
            drawn += 1
        except BudgetError:
            continue
    return {"ledger": f"{drawn} days are drawn for a cap of {_CAP}"} if drawn > _CAP else {}


def _always_seeded() -> SeededRandomness:
    return SeededRandomness(1)


def job_objections(folder: Path, *, is_broken: bool) -> dict[str, str]:
    """A file of days perturbed twice: two outputs that are the same, or that do not say what made them."""
    folder.mkdir(parents=True, exist_ok=True)
    world = tiny_world(folder, 4, 4)
    source = folder / "days.csv"
    _write_days(source, world)
    chosen = method("codebook", world, epsilon=Fraction(1), candidates=12, shards=2, k=3)
    outputs, objections = [], {}
    for number in range(2):
        output = folder / f"shared-{is_broken}-{number}.csv"
        if is_broken:
            with patch.object(job, "SystemRandomness", _always_seeded):
                result = perturb_file(source, output, chosen, version="")
        else:
            result = perturb_file(source, output, chosen, version="")
        outputs.append(output.read_bytes())
        if result.metadata.is_ldp == is_broken:
            objections["metadata"] = "does not say whose words were used"
    if outputs[0] == outputs[1]:
        objections["second time"] = "gives the same file"
    return objections


def _write_days(path: Path, world: World) -> None:
    place = world.places.ids[0]
    rows = [f"u{n},t{n},2025-09-17T08:00:00,{place}" for n in range(60)]
    path.write_text("\n".join(["uid,tid,datetime,place_id", *rows]) + "\n")


DEVICE_FAULTS: dict[str, Callable[[Path], dict[str, str]]] = {
    "days free after a crash": lambda folder: ledger_objections(ForgetsAfterACrash, folder),
    "perturb always seeded": lambda folder: job_objections(folder, is_broken=True),
}
