"""Settings for all tests."""

from __future__ import annotations

import os

# Before numpy is loaded: two workers on two cores, each with two threads that wait for each other, take long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from commands import Command
from elsewhere.cli.main import run
from elsewhere.kept_code import cache_folder
from worlds import build, place

# Builds write files and compile loops: time per example says nothing here.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("default")
# Also before any fixture has run, no test may touch the ledger of whoever runs it.
os.environ["ELSEWHERE_DATA_DIR"] = f"{tempfile.gettempdir()}/elsewhere-tests-{os.getpid()}"


@pytest.fixture(autouse=True)
def own_data_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A user's data folder for each test, also for the processes that it starts: never the real one."""
    folder = tmp_path_factory.getbasetemp() / "data" / f"{zlib.crc32(request.node.nodeid.encode()):08x}"
    monkeypatch.setenv("ELSEWHERE_DATA_DIR", str(folder))
    return folder


_ALWAYS = ("architecture", "unit")
_ONE_IN = 12
_NEVER = ("test_docs.py", "test_contributing.py", "test_experiment.py", "test_killed_at")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help=f"architecture, units, and of all other tests one in {_ONE_IN}: `make quick`",
    )


# Each list takes about as long: what one worker compiled, the other need not.
_COMPILED_TOGETHER = (("ngram", "codebook", "uniform", "global"), ("ngram-noh", "ind-reach"))
_FEW_LOOPS = 60


def pytest_configure(config: pytest.Config) -> None:
    """In a fresh clone, compile the largest loops before the workers start, which would do it twice."""
    has_workers = bool(getattr(config.option, "numprocesses", 0)) and not hasattr(config, "workerinput")
    if not has_workers or len(list(cache_folder().glob("*.nbc"))) >= _FEW_LOOPS:
        return
    tests = Path(__file__).parent
    path = os.pathsep.join([str(tests), *sys.path])
    running = [
        subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, tests / "warm.py", *names], env={**os.environ, "PYTHONPATH": path}
        )
        for names in _COMPILED_TOGETHER
    ]
    for process in running:
        process.wait()  # what it could not compile, tests will


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --quick, leave out most of what takes long; always the same tests."""
    if not config.getoption("--quick"):
        return
    kept = []
    for item in items:
        folder = Path(item.path).relative_to(Path(__file__).parent).parts[0]
        is_some = zlib.crc32(item.nodeid.encode()) % _ONE_IN == 0
        if folder in _ALWAYS or (is_some and not any(name in item.nodeid for name in _NEVER)):
            kept.append(item)
    items[:] = kept


@pytest.fixture
def small_city(tmp_path: Path) -> tuple[Path, Path]:
    """A world of twelve places around 50° N, 10° E, and a file of forty people's days in it."""
    rows = [
        place(f"p{i}", 50 + i % 4 * 0.01, 10 + i // 4 * 0.01, ["cafe", "boots"][i % 2], hours="06:00-23:00")
        for i in range(12)
    ]
    folder = tmp_path / "city"
    build(folder, rows, {"kappa": 2, "timezone": "Europe/Berlin"}).save(folder / "w.world")
    lines = [
        f"u{u},t{u},2024-03-07T{8 + k:02d}:{u % 6}0:00,,,p{(u + k) % 12}\n"
        for u in range(40)
        for k in range(1 + u % 5)
    ]
    (folder / "days.csv").write_text("uid,tid,datetime,lat,lng,place_id\n" + "".join(lines))
    return folder / "w.world", folder / "days.csv"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process; exit code, standard output, standard error."""

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["elsewhere", *map(str, arguments)])
        code = 0
        try:
            run()
        except SystemExit as stop:
            code = int(stop.code or 0)
        output = capfd.readouterr()
        return code, output.out, output.err

    return command
