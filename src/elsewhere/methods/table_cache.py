"""Public tables that take seconds to make, kept in a folder beside the world they belong to."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elsewhere.io.files import whole_file

Table = NDArray[np.int64]
Tables = tuple[Table, Table, Table]

_NAMES = ("sums", "scales", "cumulative")


def cached_tables(
    folder: Path | None, name: str, make: Callable[[], Tables], shapes: tuple[tuple[int, ...], ...]
) -> Tables:
    """Tables from ``folder`` if they are there and sound, else made and kept; ``name`` has the world's hash.

    A table from another world has another name, so a world that changes leaves nothing behind that
    would be used. Whatever does not look right is made anew: the proposals must stay within bounds.
    """
    if folder is None:
        return make()
    path = folder / f"{name}.npz"
    kept = _read(path, shapes)
    if kept is not None:
        return kept
    made = make()
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        np.savez_compressed(file, **dict(zip(_NAMES, made, strict=True)))  # type: ignore[arg-type]  # names of arrays
    return made


def _read(path: Path, shapes: tuple[tuple[int, ...], ...]) -> Tables | None:
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            sums, scales, cumulative = (stored[name] for name in _NAMES)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    tables = (sums, scales, cumulative)
    is_sound = all(
        table.dtype == np.int64 and table.shape == shape for table, shape in zip(tables, shapes, strict=True)
    )
    is_sound = is_sound and bool(
        (sums >= 0).all()
        and (scales >= 1).all()
        and (cumulative[:, -1] > 0).all()
        and (np.diff(cumulative, axis=1, prepend=0) >= 0).all()
    )
    return tables if is_sound else None
