"""The one door to numba: loops that pay for compilation, kept on disk once compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

import numba

P = ParamSpec("P")
R = TypeVar("R")


def forget_stale_code(package: Path) -> None:
    """Throw compiled code away if any source with compiled loops has changed since it was made.

    Numba notices a change of a function's own file, but not of what it calls from other files: the
    audit would then look at code that is no longer there.
    """
    stamp = package / "__pycache__" / "compiled.stamp"
    sources = sorted(package.rglob("*.py"))
    with suppress(OSError):
        times = " ".join(str(path.stat().st_mtime_ns) for path in sources)
        kept = stamp.read_text().split("\n") if stamp.exists() else ["", ""]
        if kept[0] == times:
            return
        contents = [path.read_bytes() for path in sources]
        loops = hashlib.sha256(b"\0".join(c for c in contents if b"compiled" in c)).hexdigest()
        if kept[-1] != loops:
            for made in package.rglob("__pycache__/*.nb[ci]"):
                made.unlink(missing_ok=True)
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(f"{times}\n{loops}")


forget_stale_code(Path(__file__).parent)


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use; it releases the GIL, so threads can share the work.

    No fastmath: the same inputs must give the same bits here, in numpy and on another machine.
    """
    return cast("Callable[P, R]", numba.njit(cache=True, nogil=True)(function))
