"""The people's page as a collector serves it, and who may hand in reports from elsewhere: anybody."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property

from starlette.requests import Request
from starlette.responses import Response

from elsewhere.survey.codes import HEADER

ANYBODY = {"Access-Control-Allow-Origin": "*"}
"""A page that somebody keeps as a file has no origin: whoever may send at all may send from any page.

Browsers send no cookie and no token along, for there is none: nobody's rights are used.
"""
_ASKED = {
    **ANYBODY,
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": f"Content-Type, {HEADER}",
    "Access-Control-Max-Age": "86400",
}


@dataclass(frozen=True)
class ServedPage:
    """A page and the policy that it is to be served with."""

    html: str
    policy: str

    @cached_property
    def _packed(self) -> bytes:
        return gzip.compress(self.html.encode(), mtime=0)

    @cached_property
    def _etag(self) -> str:
        return f'"{hashlib.sha256(self.html.encode()).hexdigest()}"'

    def whole(self) -> Response:
        """A page for one reader."""
        headers = {"Content-Security-Policy": self.policy, "Referrer-Policy": "no-referrer"}
        return Response(self.html.encode(), media_type="text/html", headers=headers)

    def response(self, request: Request) -> Response:
        """The page, packed where a browser can unpack it; asked for again, only whether it is the same."""
        headers = {
            "Content-Security-Policy": self.policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
            "ETag": self._etag,
        }
        if request.headers.get("if-none-match") == self._etag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            packed = {**headers, "Content-Encoding": "gzip"}
            return Response(self._packed, media_type="text/html", headers=packed)
        return Response(self.html.encode(), media_type="text/html", headers=headers)


def is_of_another_page(request: Request) -> bool:
    """Whether a script of a page that is not the collector's own sends this; devices are no pages."""
    origin = request.headers.get("origin")
    return origin is not None and origin.partition("://")[2] != request.headers.get("host", "")


def may_send() -> Response:
    """What a browser asks before it sends a report from another page than the collector's own."""
    return Response(status_code=204, headers=_ASKED)
