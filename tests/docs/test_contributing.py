"""The two guides of CONTRIBUTING, followed to the letter in a copy of the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import elsewhere
from elsewhere.kept_code import cache_folder

ROOT = Path(__file__).parents[2]
PACKAGE = Path(elsewhere.__file__).parent
BLOCK = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`src/(elsewhere/[\w/]+\.py)`")

Run = Callable[..., str]


def _enter(registry: Path, entry: str, imports: str) -> None:
    """Put an entry at the end of a registry, and what it needs at its top."""
    text = registry.read_text()
    head, _, rest = text.partition("_ENTRIES = (\n")
    entries, _, after = rest.partition("\n)\n")
    head = head.replace("\nfrom elsewhere.", f"\n{imports}\nfrom elsewhere.", 1)
    registry.write_text(f"{head}_ENTRIES = (\n{entries}\n{entry.rstrip()},\n)\n{after}")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Programs with a package to which the guides have added a method and a source."""
    folder = tmp_path_factory.mktemp("contributed")
    shutil.copytree(PACKAGE, folder / "elsewhere", ignore=shutil.ignore_patterns("__pycache__"))
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    end = 0
    for block in BLOCK.finditer(guide):
        path = folder / FILE.findall(guide[end : block.start()])[-1]
        if path.exists():
            name = "OnePlace" if "MethodEntry" in block[1] else "read_libraries"
            module = "methods.one_place" if "MethodEntry" in block[1] else "datasets.libraries"
            _enter(path, block[1], f"from elsewhere.{module} import {name}")
        else:
            path.write_text(block[1])
        end = block.end()
    # Loops that did not change are compiled already.
    (folder / "code").mkdir()
    (folder / "code" / "elsewhere").symlink_to(cache_folder())
    paths = [folder, *(ROOT / name for name in ("tests", "audits", "docs"))]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "NUMBA_CACHE_DIR": str(folder / "code"),
    }

    def program(*arguments: str) -> str:
        done = subprocess.run(  # noqa: S603 - our own programs
            [sys.executable, *arguments],
            capture_output=True, text=True, check=False, cwd=folder, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    (folder / "libraries.csv").write_text(
        "id,name,lat,lng\na,Oodi,60.174,24.938\nb,Rikhardinkatu,60.166,24.946\nc,Töölö,60.183,24.917\n"
    )
    return program


_COMMANDS = """
import sys
from elsewhere.cli.main import run
for line in sys.argv[1:]:
    print("-----", flush=True)
    sys.argv = ["elsewhere", *line.split()]
    try:
        run()
    except SystemExit as stop:
        if stop.code:
            raise
"""


def _commands(run: Run, *lines: str) -> list[str]:
    """What each command prints; all in one process, which loads everything once."""
    return run("-c", _COMMANDS, *lines).split("-----\n")[1:]


def test_both_are_in_the_help(run: Run) -> None:
    perturb, dataset, libraries = _commands(
        run, "perturb --help", "dataset --help", "dataset libraries --help"
    )
    assert "one-place" in "".join(perturb.split())  # lines are wrapped
    assert "libraries" in dataset
    assert "--people" in libraries


def test_they_do_what_others_do(run: Run) -> None:
    *_, printed = _commands(
        run,
        "dataset libraries --raw libraries.csv --people 40 -o city",
        "world build city/world.toml --kappa 1 -o city.world",
        "perturb city/trajectories.csv -w city.world -m one-place -e 5 -o shared.csv",
        "audit city.world -m one-place -e 5 --json",
    )
    audit = json.loads(printed)
    assert audit["epsilon_spent_at_most"] <= 5
    assert not audit["length_is_public"]


def test_the_method_is_audited_by_being_registered(run: Run) -> None:
    program = (
        "from pathlib import Path\nfrom detectors import audited\n"
        "spent = [audited(Path('tiny').absolute() / str(seed), 'one-place', seed) for seed in range(12)]\n"
        "print(all(s is None or s[0] <= s[1] + 1e-12 for s in spent))\n"
        "print(any(s and s[0] > 0.9 * s[1] for s in spent))"
    )
    assert run("-c", program).split() == ["True", "True"]


def test_both_are_in_experiments_and_docs(run: Run) -> None:
    program = (
        "from elsewhere.experiments.recipes import recipes\n"
        "print('one-place' in {cell.method for cell in recipes('small')['table-error'].cells})\n"
        "import site_pages\n"
        "print('one-place' in site_pages.methods_table(), 'libraries' in site_pages.sources_table())\n"
        "print('dataset libraries' in site_pages.command_reference())"
    )
    assert run("-c", program).split() == ["True"] * 4
