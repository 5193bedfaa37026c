"""Long work says how far it is, piece by piece, and never goes back."""

from __future__ import annotations

from pathlib import Path

from elsewhere import Trajectory
from elsewhere.evaluate.plan import plan
from elsewhere.evaluate.summary import null_days
from elsewhere.inputs.raw_text import lines_of, parts_of_files
from elsewhere.progress import Portions
from worlds import build, place


class _Told:
    def __init__(self) -> None:
        self.steps: list[float] = []

    def __call__(self, done: int, total: int) -> None:
        self.steps.append(done / total)

    def check(self, least: int) -> None:
        assert len(set(self.steps)) >= least
        assert self.steps == sorted(self.steps)
        assert self.steps[-1] == 1


def test_pieces_make_one_progress_that_never_goes_back() -> None:
    told = _Told()
    portions = Portions(told, 2)
    for number in range(2):
        for done in (1, 0, 2, 4):
            portions.part(number)(done, 4)
    told.check(6)


def test_nulls_and_plans_tell_more_than_which_method_it_is(tmp_path: Path) -> None:
    rows = [place(f"p{i}", 50 + i / 100, 10, hours="24/7") for i in range(5)]
    world = build(tmp_path, rows, {"kappa": 1, "timestep_minutes": 60})
    told = _Told()
    null_days(world, [Trajectory([("p1", 8), ("p2", 12), ("p3", 15)])] * 3, progress=told)
    told.check(5)  # four nulls, and the counting of days within one of them
    told = _Told()
    plan(world, [5], [1000], candidates=16, shards=4, progress=told)
    told.check(7)


def test_several_files_are_one_bar(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "ab"]
    for path in paths:
        path.write_text("x\n" * 10)
    told = _Told()
    for path, part in parts_of_files(paths, told):
        list(lines_of(path, progress=part))
    assert told.steps[-1] == 1
    assert told.steps == sorted(told.steps)
    assert 0.5 in told.steps
