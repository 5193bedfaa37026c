"""What the collector answers to, as OpenAPI."""

from __future__ import annotations

from typing import Any

from elsewhere import __version__
from elsewhere.collector.requests import BYTES, JSON, MOST_REPORTS
from elsewhere.survey.codes import HEADER, LONGEST
from elsewhere.survey.report import SIZE

Plain = dict[str, Any]
_ERROR: Plain = {
    "type": "object",
    "properties": {
        "error": {"type": "string"},
        "ids": {"type": "array", "items": {"type": "string"}},
        "new": {"type": "integer"},
        "again": {"type": "integer"},
    },
    "required": ["error"],
}
_REPORT: Plain = {
    "type": "object",
    "additionalProperties": False,
    "required": ["survey", "id", "question", "day", "answer"],
    "properties": {
        "survey": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "question": {"type": "integer", "minimum": 0, "maximum": 65535},
        "day": {"type": "string", "format": "date"},
        "answer": {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "items": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
        },
    },
}
_NOTHING = {404: "nothing is published: no page, or too few reports"}
_REFUSALS = {
    400: "damaged",
    403: "by invitation only: no code, or one that was used",
    408: "too slow",
    409: "of another survey, or ids that are taken: all other reports are kept",
    413: "too large",
    415: "neither bytes nor JSON",
    422: "not an answer to this survey",
    429: "too many from one address",
    503: "busy: come again",
    507: "no room left",
}


def _json(what: str, schema: Plain) -> Plain:
    return {"description": what, "content": {JSON: {"schema": schema}}}


def _get(summary: str, answer: Plain, *, needs_token: bool = False, refusals: tuple[int, ...] = ()) -> Plain:
    found = {str(status): _json((_REFUSALS | _NOTHING)[status], _ERROR) for status in refusals}
    if needs_token:
        found["401"] = _json("no token, or a wrong one", _ERROR)
    security: list[Plain] = [{"token": []}] if needs_token else []
    return {"get": {"summary": summary, "security": security, "responses": {"200": answer, **found}}}


def _table(refusals: tuple[int, ...]) -> Plain:
    file = {"description": "the table", "content": {"text/csv": {"schema": {"type": "string"}}}}
    found = _get("A table of results, .csv or .parquet", file, needs_token=True, refusals=refusals)
    found["get"]["parameters"] = [
        {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    ]
    return found


def _post() -> Plain:
    """Handing in reports."""
    some = {"type": "array", "items": _REPORT, "minItems": 1, "maxItems": MOST_REPORTS}
    kept: Plain = {
        "type": "object",
        "properties": {"new": {"type": "integer"}, "again": {"type": "integer"}},
        "required": ["new", "again"],
    }
    return {
        "summary": "Hand in a report, or some; the same report may come again",
        "security": [],
        "parameters": [
            {
                "name": HEADER,
                "in": "header",
                "description": "the code of an invitation, where people were invited",
                "schema": {"type": "string", "maxLength": LONGEST},
            }
        ],
        "requestBody": {
            "required": True,
            "content": {
                JSON: {"schema": {"oneOf": [_REPORT, some]}},
                BYTES: {"schema": {"type": "string", "format": "binary", "minLength": SIZE}},
            },
        },
        "responses": {
            "200": _json("all were there before", kept),
            "201": _json("kept, on disk", kept),
            **{str(status): _json(what, _ERROR) for status, what in _REFUSALS.items()},
        },
    }


def openapi(survey: str) -> Plain:
    """The description of a collector of one survey."""
    options: Plain = {
        "summary": "What browsers ask before a page that is not the collector's sends a report: yes",
        "security": [],
        "responses": {"204": {"description": "any page may"}},
    }
    anything: Plain = {"type": "object"}
    file = {"description": "the file", "content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}
    down, made = (503, 507), (404, 503)
    page = {"description": "a page", "content": {"text/html": {"schema": {"type": "string"}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Elsewhere collector", "version": __version__},
        "paths": {
            "/": _get("The page on which people answer", page, refusals=(404,)),
            "/results": _get("The analysts' page", page, needs_token=True, refusals=made),
            "/v1/survey": _get("What is asked, and at what cost", _json("terms", anything)),
            f"/v1/surveys/{survey}.survey": _get("The survey file", file),
            f"/v1/surveys/{survey}.pmtiles": _get("Its base map", file, refusals=(404,)),
            "/v1/reports": {"post": _post(), "options": options},
            "/v1/counts": _get("Reports so far, rounded down", _json("counts", anything), refusals=down),
            "/v1/estimates": _get(
                "What people say together", _json("summary", anything), needs_token=True, refusals=made
            ),
            "/v1/estimates/{name}": _table(made),
            "/v1/population": _get("Weighted made-up days", file, needs_token=True, refusals=made),
            "/v1/export": _get("All reports as Parquet", file, needs_token=True, refusals=down),
            "/v1/health": _get("Whether it runs", _json("yes", anything)),
            "/v1/ready": _get("Whether reports can be kept", _json("yes", anything), refusals=down),
            "/metrics": _get(
                "Numbers for Prometheus",
                {"description": "text", "content": {"text/plain": {"schema": {"type": "string"}}}},
                needs_token=True,
            ),
        },
        "components": {
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "password": {"type": "http", "scheme": "basic", "description": "any name; the token"},
            }
        },
    }
