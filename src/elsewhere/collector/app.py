"""The collector's web interface: the survey out, reports in, results for those who hold a token."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from elsewhere.collector.limits import Limits
from elsewhere.collector.metrics import Metrics
from elsewhere.collector.openapi import openapi
from elsewhere.collector.people import ANYBODY, ServedPage, is_of_another_page, may_send
from elsewhere.collector.requests import (
    BYTES,
    RefusedError,
    Room,
    body_in,
    given_token,
    reports_of,
    size_in_reports,
)
from elsewhere.collector.results import PAGE, Results
from elsewhere.collector.store import DiskFullError, Kept, Store, StoreError
from elsewhere.collector.writer import BusyError, Writer
from elsewhere.errors import ElsewhereError
from elsewhere.pages.people import policy_of
from elsewhere.randomness import SYSTEM
from elsewhere.survey.codes import HEADER, LONGEST
from elsewhere.survey.file import survey_hash, survey_to_bytes
from elsewhere.survey.reports import packed_reports
from elsewhere.world.basemap import basemap_beside

_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_STATUS: dict[type[ElsewhereError], int] = {DiskFullError: 507, BusyError: 503, StoreError: 503}
_SAID = {507: "there is no room left", 503: "the collector cannot keep reports now: come again in a while"}
"""To everybody. What databases say may tell where they are."""
_ALSO_SAID = {
    # Browsers then ask for a password: the token.
    401: {"WWW-Authenticate": 'Basic realm="results of the survey", charset="UTF-8"'},
    429: {"Retry-After": "60"},
    503: {"Retry-After": "5"},
}
_FROM_OTHER_PAGES = 60
_FOR_ONE_READER = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_MINUTE, _HOUR = 60.0, 3600.0
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(kw_only=True)
class Collector:
    """All that requests are answered with."""

    store: Store
    token: str
    """Whoever holds it may see results and take reports out."""
    limits: Limits = field(default_factory=Limits)
    page: ServedPage | None = None
    """For people: what is asked, and their answer."""
    basemap: Path | None = None
    """What the analysts' page draws its map on."""

    def __post_init__(self) -> None:
        self.survey = self.store.survey
        self.name = survey_hash(self.survey)
        self.file = survey_to_bytes(self.survey)
        self.tiles = None if self.basemap is None else basemap_beside(self.basemap)
        self.writer = Writer(self.store)
        self.results = Results(self.store, basemap=self.basemap)
        self.metrics = Metrics(step=self.survey.terms.least)
        self._room = Room()
        # Whoever visits a page of somebody else may send without knowing: little at a time.
        self._of_other_pages = Limits(per_minute=_FROM_OTHER_PAGES)
        self._count, self._counts_until = 0, 0.0

    def app(self) -> Starlette:
        """The web application."""
        routes = [
            Route("/", self._guarded(self._people)),
            Route("/v1/survey", self._for_anybody(self._about)),
            Route(f"/v1/surveys/{self.name}.survey", self._for_anybody(self._survey_file)),
            Route(f"/v1/surveys/{self.name}.pmtiles", self._for_anybody(self._tiles)),
            Route("/v1/reports", self._for_anybody(self._reports), methods=["POST", "OPTIONS"]),
            Route("/v1/counts", self._for_anybody(self._counts)),
            Route("/results", self._guarded(self._only_with_token(self._results))),
            Route("/v1/estimates", self._guarded(self._only_with_token(self._estimates))),
            Route("/v1/estimates/{name}", self._guarded(self._only_with_token(self._table))),
            Route("/v1/population", self._guarded(self._only_with_token(self._population))),
            Route("/v1/export", self._guarded(self._only_with_token(self._export))),
            Route("/v1/health", self._guarded(self._health)),
            Route("/v1/ready", self._guarded(self._ready)),
            Route("/metrics", self._guarded(self._only_with_token(self._metrics))),
            Route("/openapi.json", self._guarded(self._openapi)),
        ]

        @asynccontextmanager
        async def lifespan(_app: Starlette) -> AsyncIterator[None]:
            await self.writer.start()
            tidying = asyncio.create_task(self._tidy())
            yield
            tidying.cancel()
            await self.writer.stop()
            await self.results.stop()
            self.store.close()

        app = Starlette(routes=routes, lifespan=lifespan)
        # A redirect would lead wherever the request says that it is: whoever asks for nothing gets 404.
        app.router.redirect_slashes = False
        return app

    async def _tidy(self) -> None:
        while True:
            await run_in_threadpool(self.store.tidy)
            await asyncio.sleep(_MINUTE)

    def _guarded(self, handler: Handler) -> Handler:
        """Whatever is wrong is one clear word with the right status, and never a traceback."""

        async def guarded(request: Request) -> Response:
            try:
                return await handler(request)
            except RefusedError as error:
                return self._refusal(error.status, error.reason)
            except ElsewhereError as error:
                status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
                return self._refusal(status, _SAID.get(status, str(error)))

        return guarded

    def _for_anybody(self, handler: Handler) -> Handler:
        """The same, also asked for by scripts of pages that are not the collector's own."""
        guarded = self._guarded(handler)

        async def open_to_all(request: Request) -> Response:
            response = await guarded(request)
            response.headers.update(ANYBODY)
            return response

        return open_to_all

    def _refusal(self, status: int, reason: str) -> Response:
        self.metrics.refused(status)
        headers = _ALSO_SAID.get(status)
        return JSONResponse({"error": reason}, status_code=status, headers=headers)

    def _only_with_token(self, handler: Handler) -> Handler:
        async def checked(request: Request) -> Response:
            if not hmac.compare_digest(given_token(request), self.token.encode()):
                raise RefusedError(401, "needs the token of the analysts: Authorization: Bearer …")
            response = await handler(request)
            response.headers.update(_FOR_ONE_READER)
            return response

        return checked

    async def _people(self, request: Request) -> Response:
        if self.page is None:
            raise RefusedError(404, "this collector serves no page: /v1/survey says what is asked")
        return self.page.response(request)

    async def _about(self, _request: Request) -> Response:
        terms = self.survey.terms
        return JSONResponse(
            {
                "survey": self.name,
                "file": f"/v1/surveys/{self.name}.survey",
                "epsilon": str(terms.epsilon),
                "days": terms.days,
                "period": terms.period and terms.period.plain(),
                "least": terms.least,
                "purpose": terms.purpose,
                "by_invitation": await run_in_threadpool(self.store.is_by_invitation),
            }
        )

    async def _survey_file(self, request: Request) -> Response:
        etag = f'"{self.name}"'
        headers = {"ETag": etag, **_FOREVER}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(self.file, media_type=BYTES, headers=headers)

    async def _tiles(self, _request: Request) -> Response:
        """The base map, so that anybody can make the page again."""
        if self.tiles is None:
            raise RefusedError(404, "this survey has no base map")
        return Response(self.tiles, media_type=BYTES, headers=_FOREVER)

    async def _reports(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return may_send()
        kind, body = await body_in(request, self._room)
        self._check_how_many(request, size_in_reports(kind, body))
        found = reports_of(kind, body, self.survey, self.name)
        outcomes = await self.writer.keep(found, _codes(request, len(found)))
        for outcome in Kept:
            if count := outcomes.count(outcome):
                self.metrics.kept(outcome.value, count)
        pairs = zip(found, outcomes, strict=True)
        conflicts = [report.report_id for report, outcome in pairs if outcome is Kept.CONFLICT]
        kept = {"new": outcomes.count(Kept.NEW), "again": outcomes.count(Kept.AGAIN)}
        if conflicts:
            # The others of the request are kept: it says how many.
            self.metrics.refused(409)
            return JSONResponse({"error": "an id is taken by another report", "ids": conflicts, **kept}, 409)
        if Kept.UNINVITED in outcomes:
            raise RefusedError(403, f"needs the code of an invitation that nobody has used: {HEADER}: …")
        return JSONResponse(kept, 201 if kept["new"] else 200)

    def _check_how_many(self, request: Request, reports: int) -> None:
        address = request.client.host if request.client else ""
        if is_of_another_page(request):
            if reports > 1:
                raise RefusedError(422, "from the page of somebody else one report at a time")
            if not self._of_other_pages.allows(address, reports):
                raise RefusedError(429, "too many reports from pages of others: come again in a minute")
        if not self.limits.allows(address, reports):
            raise RefusedError(429, "too many reports from one address: come again in a minute")

    async def _counts(self, _request: Request) -> Response:
        """For everybody, so only in steps of the least number that is published."""
        least, now = self.survey.terms.least, time.monotonic()
        if now >= self._counts_until:
            # Once an hour: else one could watch for the very report that makes it a step more.
            self._counts_until = now + _HOUR
            self._count = await run_in_threadpool(self.store.count)
        return JSONResponse({"reports_at_least": self._count // least * least, "in_steps_of": least})

    async def _export(self, _request: Request) -> Response:
        """All reports as Parquet; nothing is left on this machine's disk."""
        packed = await run_in_threadpool(lambda: packed_reports(self.store.frame(), randomness=SYSTEM))
        headers = {"Content-Disposition": 'attachment; filename="reports.parquet"'}
        return Response(packed, media_type=BYTES, headers=headers)

    async def _results(self, _request: Request) -> Response:
        """The analysts' page."""
        html = ((await self.results.folder()) / PAGE).read_text(encoding="utf-8")
        return ServedPage(html, policy_of(html)).whole()

    async def _estimates(self, _request: Request) -> Response:
        """What people say together, and where its tables are."""
        folder = await self.results.folder()
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        tables = sorted(path.name for path in folder.iterdir() if path.name in self._tables())
        return JSONResponse({**summary, "tables": [f"/v1/estimates/{name}" for name in tables]})

    def _tables(self) -> set[str]:
        return {f"{name}.{kind}" for name in self.survey.names for kind in ("csv", "parquet")}

    async def _table(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._tables():
            raise RefusedError(404, "there is no such table: /v1/estimates lists them")
        return _file((await self.results.folder()) / name)

    async def _population(self, _request: Request) -> Response:
        return _file((await self.results.folder()) / "population.parquet")

    async def _health(self, _request: Request) -> Response:
        return JSONResponse({"is_alive": True})

    async def _ready(self, _request: Request) -> Response:
        self.store.check_room()
        await run_in_threadpool(self.store.last)
        if not self.writer.is_alive:
            raise StoreError("the collector is stopping")
        return JSONResponse({"is_ready": True})

    async def _metrics(self, _request: Request) -> Response:
        return PlainTextResponse(self.metrics.text(self.writer.waiting))

    async def _openapi(self, _request: Request) -> Response:
        return JSONResponse(openapi(self.name))


def _file(path: Path) -> Response:
    """A file of results, read whole: the next results may take its place at any moment."""
    if not path.is_file():
        raise RefusedError(404, "there is no such table: nothing is published of it")
    kind = "text/csv" if path.suffix == ".csv" else BYTES
    headers = {"Content-Disposition": f'attachment; filename="{path.name}"'}
    return Response(path.read_bytes(), media_type=kind, headers=headers)


def _codes(request: Request, reports: int) -> list[str] | None:
    """The code that a report came with."""
    code = request.headers.get(HEADER)
    if code is None:
        return None
    if reports != 1:
        raise RefusedError(422, "a code is for one report: send them one by one")
    if len(code) > LONGEST:
        raise RefusedError(422, "this is no code")
    return [code]
