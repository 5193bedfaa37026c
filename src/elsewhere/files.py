"""Files that appear whole or not at all."""

from __future__ import annotations

import io
import os
import tempfile
import threading
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from elsewhere.errors import InputError


@contextmanager
def whole_file(path: Path, *, is_private: bool = False) -> Iterator[BinaryIO]:
    """Open ``path`` for writing; it takes the old file's place only if the block ends well.

    Links are followed, and what is not a plain file (a folder, a device) is refused. A private file can be
    read by its owner alone, and so can folders that are made for it.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "not a plain file"
        raise InputError(str(path), f"cannot be written: it is {what}")
    part = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.part")
    # What is not private is opened as any new file, so that the user's umask decides who may read it.
    mode = 0o600 if is_private else 0o666
    try:
        make_folder(target.parent, is_private=is_private)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(part, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except (FileExistsError, NotADirectoryError):
        raise InputError(str(path), f"cannot be written: {target.parent} is not a folder") from None
    except OSError as error:
        problem = error.strerror or "the disk did not take all of it"  # other libraries leave out which
        raise InputError(str(path), f"cannot be written: {problem}") from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def make_folder(folder: Path, *, is_private: bool = False) -> None:
    """Make a folder and those above it, if they are not there; private ones are for their owner alone."""
    if is_private:
        # `mkdir(parents=True)` gives the folders above the usual mode.
        for above in [*reversed(folder.parents), folder]:
            if not above.exists():
                above.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)


def write_text(path: Path, text: str, *, is_private: bool = False) -> None:
    """Write a text file whole."""
    with whole_file(path, is_private=is_private) as file:
        file.write(text.encode("utf-8"))


def read_toml(path: Path) -> dict[str, Any]:
    """What a TOML file holds, or a clear word on why not."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(str(path), "no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"not valid TOML: {error}") from None


def check_new(path: Path) -> None:
    """Refuse now what could not be written afterwards: a file that is there, or one that nobody may make."""
    if path.exists():
        raise InputError(str(path), "is there already: choose another output")
    check_can_write(path)


def check_can_write(path: Path) -> None:
    """Try now whether a file can be written later, before anything is paid for; nothing is left behind.

    The folder need not be there: then the nearest one above it is tried, which is where it would be made.
    """
    target = path.resolve()
    folder = next(above for above in target.parents if above.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except NotADirectoryError:
        raise InputError(str(path), f"cannot be written: {folder} is not a folder") from None
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror or 'no file can be made'}") from None


def check_suffix(path: Path, suffix: str) -> None:
    """A name that says something else than what the file holds is a mistake, or will be one."""
    if path.suffix != suffix:
        raise InputError(str(path), f"must end in {suffix}")


def refuse_to_replace(output: Path, inputs: Iterable[Path]) -> None:
    """An output must not be one of its own inputs."""
    if any(output.resolve() == path.resolve() for path in inputs):
        raise InputError(str(output), "is one of the inputs: choose another output")


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep public arrays that take long to make; the folder is made if it is not there.

    What cannot be kept (a folder that is read-only, a full disk) is made again next time.
    """
    with suppress(InputError), whole_file(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]  # names of arrays


def read_arrays(path: Path, names: Iterable[str]) -> list[NDArray[Any]] | None:
    """Arrays that `write_arrays` kept; None where there are none, or nothing that can be read.

    What they hold is to be checked by whoever asked: anybody may have written them.
    """
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            return [stored[name] for name in names]
    except Exception:  # noqa: BLE001 - whatever a damaged file provokes, it is made anew
        return None
