"""Public docstrings can be used by a newcomer, and their examples run."""

from __future__ import annotations

import datetime as dt
import doctest
import importlib
import inspect
import io
import pkgutil
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import elsewhere as ew
from elsewhere.device.people import dated_days
from elsewhere.device.simulate import simulated_reports
from elsewhere.randomness import SeededRandomness
from elsewhere.survey.questions.presence import Presence
from elsewhere.survey.survey import Terms, make_survey
from worlds import place, write_place_rows, write_world_files

ROWS = [place("a", 50, 10), place("b", 50.01, 10.01, "shoes"), place("c", 50.02, 10.0, "wine-bar")]
SURVEY = 'world = "city.world"\nepsilon = 5\n[[question]]\nkind = "presence"\ngrid = 2\n'
FUNCTIONS = [name for name in ew.__all__ if inspect.isfunction(getattr(ew, name))]


def _modules() -> list[str]:
    found = [module.name for module in pkgutil.walk_packages(ew.__path__, "elsewhere.")]
    return ["elsewhere", *found]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What examples take for granted: a world, a day, and the files of both in the current folder."""
    keys = write_world_files(tmp_path, ROWS, {"kappa": 1})
    monkeypatch.chdir(tmp_path)
    settings = "".join(f"{key} = {value!r}\n" for key, value in keys.items())
    Path("world.toml").write_text(settings)
    write_place_rows(Path("changed.csv"), [place("d", 50.0, 10.02)])
    Path("trajectories.csv").write_text(
        "uid,tid,datetime,place_id\nu,t,2025-09-17T10:30:00,a\nu,t,2025-09-17T12:30:00,b\n"
    )
    Path("levels.csv").write_text("place_id,epsilon\na,1\n")
    world = ew.build_world("world.toml")
    day = ew.Trajectory([("a", 63), ("b", 75)])
    shared = ew.method("ngram", world, epsilon=5).share_many([day])
    frame = ew.to_frame(shared, world=world)
    survey, reports = _survey_of(world)
    Path("survey.toml").write_text(SURVEY)
    world.save("city.world")
    ew.save_survey(survey, "city.survey")
    Path("reports.parquet").write_bytes(reports)
    Path("mine.csv").write_text("lat,lng,datetime\n50,10,2025-09-17T09:00:00\n50,10,2025-09-17T09:40:00\n")
    return {
        "ew": ew,
        "dt": dt,
        "world": world,
        "day": day,
        "shared": shared,
        "frame": frame,
        "survey": survey,
    }


@cache
def _survey_of(world: ew.World) -> tuple[ew.Survey, bytes]:
    """A survey and 400 reports; made once."""
    survey = make_survey(world, Terms(epsilon=Fraction(5)), [(Presence(grid=2), Fraction(1))])
    people = [(dt.date(2025, 9, 17), ew.Trajectory([("a", 63), ("b", 75)]))] * 400
    packed = io.BytesIO()
    simulated_reports(survey, dated_days(world, people), SeededRandomness(1)).write_parquet(packed)
    return survey, packed.getvalue()


@pytest.mark.parametrize("module", _modules())
def test_examples_in_docstrings_run(module: str, names: dict[str, Any]) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    thing = importlib.import_module(module)
    for test in doctest.DocTestFinder().find(thing, module, globs={**names}):
        runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_say_what_they_take_and_give_with_an_example(name: str) -> None:
    function = getattr(ew, name)
    text = inspect.getdoc(function) or ""
    for section in ("Parameters\n-", "Returns\n-", "Examples\n-"):
        assert section in text, section
    parameters = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    for parameter in inspect.signature(function).parameters:
        assert f"\n{parameter}\n" in f"\n{parameters}\n", parameter


@pytest.mark.parametrize("name", [name for name in ew.__all__ if inspect.isclass(getattr(ew, name))])
def test_public_classes_and_their_methods_are_described(name: str) -> None:
    kind = getattr(ew, name)
    assert inspect.getdoc(kind)
    for member, value in vars(kind).items():
        if not member.startswith("_") and inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{member}"
