"""Compile the loops of some methods before the tests begin, so that no two workers compile the same.

`python tests/warm.py NAME ...`: each method shares a few days on a small world, in a batch.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import elsewhere as ew
from worlds import build, place


def warm(names: list[str]) -> None:
    """Share with each method once; what is compiled is kept where tests will find it."""
    kinds = ["cafe", "boots", "bar"]
    with tempfile.TemporaryDirectory() as folder:
        rows = [place(f"p{i}", 50 + i * 0.003, 10, kinds[i % 3], hours="24/7") for i in range(6)]
        world = build(Path(folder), rows, {"kappa": 1})
    days = [ew.Trajectory([("p0", 60), ("p1", 66), ("p2", 72)]), ew.Trajectory([("p3", 60)])]
    for name in names:
        ew.method(name, world, epsilon=5).share_many(days * 2)


if __name__ == "__main__":
    warm(sys.argv[1:])
