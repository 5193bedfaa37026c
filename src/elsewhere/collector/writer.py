"""One queue and one writer: it commits all that is waiting together, and answers after the commit.

A commit for each report would wait for the disk each time. Whoever is told that a report is kept can rely on
it: the answer comes when it is on disk, never before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from elsewhere.collector.store import Kept, Store, StoreError
from elsewhere.errors import ElsewhereError
from elsewhere.survey.report import Report

MOST_WAITING = 20_000
"""Reports that may wait; beyond, people are asked to come again."""
_MOST_TOGETHER = 5000


class BusyError(ElsewhereError):
    """Too many reports are waiting."""


@dataclass(slots=True, eq=False)
class _Waiting:
    reports: Sequence[Report]
    codes: Sequence[str]
    answer: asyncio.Future[list[Kept]]


class Writer:
    """Takes reports of all connections, and keeps them in a store."""

    def __init__(self, store: Store, most_waiting: int = MOST_WAITING) -> None:
        self._store = store
        self._most = most_waiting
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue()
        self.waiting = 0
        self._task: asyncio.Task[None] | None = None

    @property
    def is_alive(self) -> bool:
        """Whether reports are being written."""
        return self._task is not None and not self._task.done()

    async def start(self) -> None:
        """Begin to write."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Write what is waiting, then end: whatever was accepted is answered."""
        await self._queue.put(None)
        if self._task is not None:
            await self._task

    async def keep(self, reports: Sequence[Report], codes: Sequence[str] | None = None) -> list[Kept]:
        """Wait until reports are on disk; where people were invited, each with the code it came with."""
        if self.waiting + len(reports) > self._most:
            raise BusyError("too many reports are waiting: come again in a while")
        if not self.is_alive:
            raise StoreError("the collector is stopping")
        given = codes or [""] * len(reports)
        one = _Waiting(reports, given, asyncio.get_running_loop().create_future())
        self.waiting += len(reports)
        self._queue.put_nowait(one)
        return await one.answer

    async def _run(self) -> None:
        is_stopping = False
        while not is_stopping:
            first = await self._queue.get()
            some = [first] if first is not None else []
            is_stopping = first is None
            while not self._queue.empty() and sum(len(one.reports) for one in some) < _MOST_TOGETHER:
                one = self._queue.get_nowait()
                if one is None:
                    is_stopping = True
                else:
                    some.append(one)
            if some:
                await self._write(some)
            is_stopping = is_stopping and self._queue.empty()

    async def _write(self, some: Sequence[_Waiting]) -> None:
        together = [report for one in some for report in one.reports]
        codes = [code for one in some for code in one.codes]
        try:
            self._store.check_room()
            outcomes = await asyncio.to_thread(self._store.add, together, codes)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            problem = error if isinstance(error, ElsewhereError) else StoreError(f"store: {error!r}")
            for one in some:
                if not one.answer.done():
                    one.answer.set_exception(problem)
        else:
            start = 0
            for one in some:
                if not one.answer.done():  # whoever hung up does not hear of it; the report is kept
                    one.answer.set_result(outcomes[start : start + len(one.reports)])
                start += len(one.reports)
        finally:
            self.waiting -= len(together)
