"""Where finished batches of a job wait: one process at a time, one job only, nothing missing in between."""

from __future__ import annotations

import hmac
import json
import os
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from elsewhere.errors import InputError
from elsewhere.files import whole_file, write_text
from elsewhere.randomness import random_bytes

try:
    import fcntl
except ImportError:  # no such locks on Windows: there, two runs of one job at once are the user's to avoid
    fcntl = None  # type: ignore[assignment]

_KEY_BYTES = 32
JOB_FILE = "job.json"
OF_ANOTHER_JOB = (
    "belongs to another job: finish that one, or remove the folder, which gives up what that job has shared "
    "so far; its ε is spent"
)


def partial_folder(output: Path) -> Path:
    """Where the job of an output keeps what it has finished."""
    return output.with_name(f"{output.name}.PRIVATE.partial")


def counts_file(part: Path) -> Path:
    """What was counted in a batch: it depends on what was true, and stays on the device."""
    return part.with_suffix(".PRIVATE.json")


def lock_folder(path: Path, output: Path) -> int:
    """Make a folder for its owner only and keep other runs out of it until what is returned is closed."""
    if path.exists() and not path.is_dir():
        problem = "is there already and is not a folder, which unfinished jobs wait in: move it away"
        raise InputError(str(path), problem)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        path.chmod(0o700)
        lock = os.open(path / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise InputError(str(output), f"cannot be written: {error.strerror}") from None
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise InputError(str(output), "another run of this job is at work") from None
    return lock


class JobFolder:
    """`OUT.PRIVATE.partial`, locked while a job is at work and readable by its owner only.

    It belongs to one job: the same input, settings and output. The input is recognised by a digest
    under a random key that stays in the folder, so the digest alone is of no use for checking guesses.
    """

    def __init__(self, output: Path, facts: dict[str, Any], source: Path) -> None:
        self.path = partial_folder(output)
        self._output, self._facts, self._source = output, facts, source
        self._lock = -1
        self._seen: tuple[int, ...] = ()

    def __enter__(self) -> Self:
        is_new = not self.path.exists()
        self._lock = lock_folder(self.path, self._output)
        try:
            self._check_job()
        except InputError:
            os.close(self._lock)
            if is_new:
                shutil.rmtree(self.path, ignore_errors=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_empty = self.path.exists() and not any(self.path.glob("part-*"))
        if is_empty and kind is not None:
            shutil.rmtree(self.path, ignore_errors=True)  # nothing was drawn: leave nothing behind
        os.close(self._lock)

    def check_unchanged(self) -> None:
        """Raise an error if the input is no longer what this job belongs to.

        Batches of two inputs would not fit together: a person could be in both, and be shared twice.
        """
        try:
            is_same = _state_of(self._source.stat()) == self._seen
        except OSError:
            is_same = False
        if not is_same:
            raise InputError(
                str(self._source),
                "has changed since this job began: bring back what it was, to go on with it",
            )

    def finished_parts(self) -> list[Path]:
        """Batches that earlier runs have finished: 0, 1, 2, ... without a gap, each with its counts."""
        parts = sorted(self.path.glob("part-*.parquet"))
        expected = [self.path / f"part-{number:06d}.parquet" for number in range(len(parts))]
        if parts != expected or not all(counts_file(part).exists() for part in parts):
            raise self.damaged()
        return parts

    def remove(self) -> None:
        """Take the folder away at once, then its contents: a kill in between leaves no half of it."""
        finished = self.path.with_name(f"{self.path.name}.finished")
        shutil.rmtree(finished, ignore_errors=True)
        self.path.rename(finished)
        shutil.rmtree(finished)

    def _check_job(self) -> None:
        key_file, job_file = self.path / "key", self.path / JOB_FILE
        if not job_file.exists():
            if any(self.path.glob("part-*.parquet")):
                raise self.damaged()
            with whole_file(key_file, is_private=True) as file:
                file.write(random_bytes(_KEY_BYTES))
            write_text(job_file, self._job(key_file.read_bytes()), is_private=True)
        elif not _is_whole(key_file, job_file):
            raise self.damaged()
        elif job_file.read_text(encoding="utf-8") != self._job(key_file.read_bytes()):
            raise InputError(str(self.path), OF_ANOTHER_JOB)

    def _job(self, key: bytes) -> str:
        digest = hmac.new(key, digestmod="sha256")
        try:
            with self._source.open("rb") as file:
                self._seen = _state_of(os.fstat(file.fileno()))
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
        except OSError as error:
            raise InputError(str(self._source), f"cannot be read: {error.strerror}") from None
        return json.dumps({**self._facts, "input": digest.hexdigest()}, sort_keys=True, ensure_ascii=False)

    def damaged(self) -> InputError:
        return InputError(
            str(self.path),
            "is damaged, some of what was shared is missing or cannot be read: remove it to start again, "
            "which spends ε again",
        )


def _state_of(found: os.stat_result) -> tuple[int, ...]:
    """What of a file is new when it was written again."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _is_whole(key_file: Path, job_file: Path) -> bool:
    """Whether both are as they were written, as far as one can tell without the input."""
    try:
        json.loads(job_file.read_text(encoding="utf-8"))
        return key_file.stat().st_size == _KEY_BYTES
    except (OSError, ValueError):
        return False
