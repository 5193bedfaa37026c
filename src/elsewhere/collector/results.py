"""Results for analysts, made in a process of their own: whoever hands in a report does not wait for them."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from elsewhere.collector.counting import counted_store
from elsewhere.collector.requests import RefusedError
from elsewhere.collector.store import Store, StoreError, existing_store
from elsewhere.errors import ElsewhereError
from elsewhere.estimates.estimate import estimate
from elsewhere.estimates.report_tally import kept_tally, save_tally
from elsewhere.estimates.results import COUNTS, write_results
from elsewhere.files import write_text
from elsewhere.pages.results import results_page
from elsewhere.survey.file import load_survey, save_survey
from elsewhere.world.basemap import basemap_beside

_PATIENCE = 20.0
"""Seconds that a request waits for results before it is told to come again."""
_FRESH = 60.0
"""Seconds in which results are not made again, also if there are new reports."""
PAGE = "index.html"
_SURVEY, _RESULTS = "asked.survey", "results"


class Results:
    """The newest results of a store, in a folder that nobody else can read."""

    def __init__(
        self, store: Store, clock: Callable[[], float] = time.monotonic, *, basemap: Path | None = None
    ) -> None:
        self._store, self._clock, self._basemap = store, clock, basemap
        self._home = Path(tempfile.mkdtemp(prefix="elsewhere-results-"))
        self._ready: Path | None = None
        self._problem = RefusedError(404, "there are no results")
        self._newest, self._made, self._runs = -1, 0.0, 0
        self._task: asyncio.Task[None] | None = None
        self._deciding = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        save_survey(store.survey, self._home / _SURVEY)

    async def folder(self) -> Path:
        """Results of all reports, or of those that were there a minute ago."""
        async with self._deciding:
            if self._task is None and await self._is_old():
                self._task = asyncio.create_task(self._make())
        if self._ready is None and self._task is not None:
            try:
                await asyncio.wait_for(asyncio.shield(self._task), _PATIENCE)
            except TimeoutError:
                raise RefusedError(503, "results are being made: come again in a while") from None
        if self._ready is None:
            raise self._problem
        return self._ready

    async def stop(self) -> None:
        """Leave nothing behind."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
        if self._task is not None:
            await self._task
        shutil.rmtree(self._home, ignore_errors=True)

    async def _is_old(self) -> bool:
        is_due = self._ready is None or self._clock() - self._made > _FRESH
        return is_due and await run_in_threadpool(self._store.last) > self._newest

    async def _make(self) -> None:
        self._runs += 1
        target = self._home / f"{_RESULTS}-{self._runs}"
        try:
            self._newest, self._made = await run_in_threadpool(self._store.last), self._clock()
            problem = await self._run(target)
        except (ElsewhereError, OSError) as error:
            problem = RefusedError(503, str(error))
        finally:
            self._task, self._process = None, None
        if problem is not None:
            self._problem = problem
            if problem.status == 503:  # it may be otherwise in a while, also if no report comes
                self._newest = -1
            return
        before, self._ready = self._ready, target
        if before is not None:
            shutil.rmtree(before, ignore_errors=True)

    async def _run(self, target: Path) -> RefusedError | None:
        """Make results in another process; returns why there are none."""
        given = {
            "store": self._store.where,  # through a pipe: others can read what a command is started with
            "survey": str(self._home / _SURVEY),
            "folder": str(target),
            "before": str(self._ready / COUNTS) if self._ready else "",
            "basemap": str(self._basemap) if self._basemap else "",
        }
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        answer, _ = await self._process.communicate(json.dumps(given).encode())
        if not answer:
            return RefusedError(503, "results could not be made")
        found = json.loads(answer)
        return RefusedError(found["status"], found["problem"]) if found["problem"] else None


def make_results(store: str, survey: str, folder: str, before: str, basemap: str = "") -> None:
    """Count what is new, estimate, write a folder and a page."""
    asked = load_survey(survey)
    with closing(existing_store(store, asked)) as opened:
        tally = counted_store(opened, None, kept_tally(Path(before), asked, None) if before else None)
    found = estimate(asked, tally)
    write_results(found, Path(folder))
    tiles = basemap_beside(Path(basemap)) if basemap else None
    write_text(Path(folder) / PAGE, results_page(found, basemap=tiles))
    save_tally(tally, Path(folder) / COUNTS)


def _answered(given: dict[str, Any]) -> dict[str, Any]:
    """What went wrong, in words, and its status; no words if nothing did."""
    try:
        make_results(**given)
    except StoreError as error:
        return {"problem": str(error), "status": 503}
    except ElsewhereError as error:
        return {"problem": str(error), "status": 404}
    return {"problem": "", "status": 200}


if __name__ == "__main__":
    print(json.dumps(_answered(json.load(sys.stdin))))  # noqa: T201 - for the collector
