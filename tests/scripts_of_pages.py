"""Scripts of pages in Node, for tests that hold them against Python."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import elsewhere
from missing_parts import missing

SCRIPTS = Path(elsewhere.__file__).parent / "pages" / "scripts"
HERE = Path(__file__).parent / "browser"


def in_node(folder: Path, call: str, given: Sequence[Any], scripts: Sequence[Path]) -> Any:
    """What a function of scripts returns, in one process."""
    node = shutil.which("node")
    if node is None:
        missing("there is no Node.js")
    asked, answered = folder / "asked.json", folder / "answered.json"
    asked.write_text(json.dumps(given))
    subprocess.run(  # noqa: S603 - our own scripts
        [str(node), HERE / "node.js", answered, call, asked, *scripts], check=True, timeout=300
    )
    return json.loads(answered.read_text())
