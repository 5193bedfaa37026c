"""The secret of a job: in the memory of one process, handed to this job's tasks, and then destroyed (R23).

A plan, a log or a file never holds it. What tasks carry is where to ask and a token, which is of no use once
the secret is gone. Whoever has a secret scope of their own gives a function that reads it where tasks run.
"""

from __future__ import annotations

import hmac
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from elsewhere.chacha import KEY_BYTES
from elsewhere.errors import InputError
from elsewhere.randomness import random_bytes

_LOOPBACK = "127.0.0.1"
_PATIENCE_SECONDS = 30.0
_TOKEN_BYTES = 32
GONE = (
    "the secret of this job is gone: what was perturbed must be written before the job ends, and a new job "
    "spends ε again"
)

ReadSecret = Callable[[], bytes]
"""Reads the 32 bytes of a secret where a task runs, from a secret scope; itself it holds none."""


@dataclass(frozen=True, slots=True, repr=False)
class SecretAddress:
    """Where a task asks for the secret, and by what it is known; calling it gives the secret."""

    host: str
    port: int
    token: bytes

    def __call__(self) -> bytes:
        """The secret, from the process that keeps it."""
        try:
            with socket.create_connection((self.host, self.port), timeout=_PATIENCE_SECONDS) as line:
                line.sendall(self.token)
                found = _received(line, KEY_BYTES)
        except OSError:
            raise InputError("secret", GONE) from None
        if len(found) != KEY_BYTES:
            raise InputError("secret", GONE)
        return found


class JobSecret:
    """A fresh secret for one job. Leaving the block destroys it.

    Parameters
    ----------
    host
        The address at which tasks reach this process: this machine alone, if not given. On a cluster, the
        driver's.

    Examples
    --------
    >>> from elsewhere.spark import JobSecret
    >>> with JobSecret() as secret:
    ...     len(secret.address().token)
    32
    """

    def __init__(self, host: str = _LOOPBACK) -> None:
        self._secret = bytearray(random_bytes(KEY_BYTES))
        self._token = random_bytes(_TOKEN_BYTES)
        self._purpose: str | None = None
        self._lock = threading.Lock()
        try:
            self._server = socket.create_server((host, 0))
        except OSError as error:
            raise InputError("host", f"{host} is no address of this machine: {error.strerror}") from None
        self._address = SecretAddress(host, self._server.getsockname()[1], self._token)
        threading.Thread(target=self._serve, name="secret of a job", daemon=True).start()

    def __repr__(self) -> str:
        return "<JobSecret>"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a secret stays in the memory of the process that made it")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()

    @property
    def is_destroyed(self) -> bool:
        return not self._secret

    def destroy(self) -> None:
        """Overwrite the secret and answer no task any more."""
        with self._lock:
            self._secret[:] = bytes(len(self._secret))
            self._secret.clear()
        with suppress(OSError):
            # Closing alone would leave the port open until one more task has come.
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def address(self) -> SecretAddress:
        """What tasks carry."""
        if self.is_destroyed:
            raise InputError("secret", GONE)
        return self._address

    def bind(self, purpose: str) -> None:
        """A secret is for one job: the same people's days under another method would be a second job."""
        if self._purpose not in {None, purpose}:
            raise InputError("secret", "was used for another job: make a new one for each")
        self._purpose = purpose

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._server.accept()
            except OSError:
                return  # destroyed
            threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        with line:
            try:
                line.settimeout(_PATIENCE_SECONDS)
                if hmac.compare_digest(_received(line, _TOKEN_BYTES), self._token):
                    with self._lock:
                        line.sendall(self._secret)  # no copy, which nobody could overwrite
            except OSError:
                pass  # a task that was ended; whoever asks again is answered again


def _received(line: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count and (more := line.recv(count - len(found))):
        found += more
    return found
