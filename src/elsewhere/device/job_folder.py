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


def partial_folder(output: Path) -> Path:
    """Where the job of an output keeps what it has finished."""
    return output.with_name(f"{output.name}.PRIVATE.partial")


def counts_file(part: Path) -> Path:
    """What was counted in a batch: it depends on what was true, and stays on the device."""
    return part.with_suffix(".PRIVATE.json")


class JobFolder:
    """`OUT.PRIVATE.partial`, locked while a job is at work and readable by its owner only.

    It belongs to one job: the same input, settings and output. The input is recognised by a digest
    under a random key that stays in the folder, so the digest alone is of no use for checking guesses.
    """

    def __init__(self, output: Path, facts: dict[str, Any], source: Path) -> None:
        self.path = partial_folder(output)
        self._output, self._facts, self._source = output, facts, source
        self._lock = -1

    def __enter__(self) -> Self:
        is_new = not self.path.exists()
        if not is_new and not self.path.is_dir():
            problem = "is there already and is not a folder, which unfinished jobs wait in: move it away"
            raise InputError(str(self.path), problem)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir(mode=0o700, exist_ok=True)
            self.path.chmod(0o700)
            self._lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise InputError(str(self._output), f"cannot be written: {error.strerror}") from None
        try:
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._check_job()
        except OSError:
            os.close(self._lock)
            raise InputError(str(self._output), "another run of this job is at work") from None
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
        key_file, job_file = self.path / "key", self.path / "job.json"
        if not job_file.exists():
            if any(self.path.glob("part-*.parquet")):
                raise self.damaged()
            with whole_file(key_file, is_private=True) as file:
                file.write(random_bytes(_KEY_BYTES))
            write_text(job_file, self._job(key_file.read_bytes()), is_private=True)
        elif not _is_whole(key_file, job_file):
            raise self.damaged()
        elif job_file.read_text(encoding="utf-8") != self._job(key_file.read_bytes()):
            problem = (
                "belongs to another job: finish that one, or remove the folder, which gives up what that job "
                "has shared so far; its ε is spent"
            )
            raise InputError(str(self.path), problem)

    def _job(self, key: bytes) -> str:
        digest = hmac.new(key, digestmod="sha256")
        try:
            with self._source.open("rb") as file:
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


def _is_whole(key_file: Path, job_file: Path) -> bool:
    """Whether both are as they were written, as far as one can tell without the input."""
    try:
        json.loads(job_file.read_text(encoding="utf-8"))
        return key_file.stat().st_size == _KEY_BYTES
    except (OSError, ValueError):
        return False
