"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from elsewhere.errors import InputError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open ``path`` for writing; it takes the old file's place only if the block ends well."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        _take_place(Path(name), path)
    finally:
        Path(name).unlink(missing_ok=True)


def _take_place(temporary: Path, path: Path) -> None:
    try:
        temporary.replace(path)
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file whole."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8"))
