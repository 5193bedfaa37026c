"""Connections that do not wait for ever: who holds many and says nothing keeps nobody else out.

uvicorn waits without end for the first byte of a connection, for the rest of a header, for whoever does not
read an answer, and counts all of them as taken. Here each has its time; and when there are as many as there
may be, whoever has kept us waiting longest makes room.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 30.0
"""Seconds for a whole request to come in, and between two signs of somebody who reads an answer."""
_THEIR_TURN = {h11.IDLE, h11.SEND_BODY}


class Connection(H11Protocol):
    """One connection; all else is uvicorn's."""

    patience = PATIENCE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._timer: asyncio.TimerHandle | None = None
        self._unread = 0
        self.since = 0.0
        """When it began to wait, by a clock that nobody sets."""

    @property
    def is_their_turn(self) -> bool:
        """Whether it waits for whoever is at the other end: for a request, or until an answer is read."""
        return self.conn.their_state in _THEIR_TURN or self.transport.get_write_buffer_size() > 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._wait()
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is said, if it still can be: not after an answer, nor in words to a HEAD."""
        if self.cycle is not None:
            self.cycle.disconnected = True  # whoever still works on this request has nobody to tell
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:
            self.transport.close()

    def _wait(self) -> None:
        """From now on it is their turn, and they have so long."""
        self.since = self.loop.time()
        self._unread = self.transport.get_write_buffer_size()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(self.patience, self._look)

    def _look(self) -> None:
        """Time is over: whoever still reads has as long again, all others go."""
        left = self.transport.get_write_buffer_size()
        if 0 < left < self._unread:
            self._wait()
        elif self.is_their_turn:
            self.transport.abort()

    def _make_room(self) -> None:
        most = self.limit_concurrency
        if most is None or len(self.connections) < most:
            return
        others = [
            one
            for one in self.connections
            if isinstance(one, Connection) and one is not self and one.is_their_turn
        ]
        if others:
            longest = min(others, key=lambda one: one.since)
            self.connections.discard(longest)
            longest.transport.abort()
