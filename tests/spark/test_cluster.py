"""T12 on a cluster of processes: machines that die and tasks that run twice give the bytes of one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from elsewhere.world.world import World

HERE = Path(__file__).parent


@pytest.mark.audit
@pytest.mark.usefixtures("java")
def test_killed_machines_and_second_tries_share_the_same(world: World, tmp_path: Path) -> None:
    world.save(tmp_path / "w.world")
    (tmp_path / "run").mkdir()
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(HERE / "killing.py"), str(tmp_path / "w.world"), str(tmp_path / "run")],
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["killed"] == found["slow"] == found["clean"]
    assert found["killed tries"] >= 2
    assert found["slow tries"] >= 2  # speculation began it again
