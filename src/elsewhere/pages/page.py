"""The frame of every page: one HTML file that holds its own scripts, styles and data and works offline."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from elsewhere import __version__

_HERE = files("elsewhere.pages")
MAP_SCRIPTS = ("vendor/maplibre-gl.js", "vendor/pmtiles.js", "scripts/map.js", "scripts/controls.js")
"""What a page with a map needs."""
_MAP_STYLE = "vendor/maplibre-gl.css"


def page(
    title: str,
    subtitle: str,
    sections: Sequence[str],
    *,
    scripts: Sequence[str] = (),
    data: Mapping[str, Any] | None = None,
    blobs: Mapping[str, bytes] | None = None,
    connect: str = "'none'",
    language: str = "en",
) -> str:
    """A whole page from HTML sections.

    Parameters
    ----------
    scripts
        Files of this package that run in it, in this order.
    data, blobs
        What scripts find in the page by its id: as JSON, or as bytes.
    connect
        Whom the page may ask for anything, as a source of its content security policy: nobody, usually.
    """
    codes = [_text(name) for name in scripts]
    styles = [_text("look.css"), *([_text(_MAP_STYLE)] if set(scripts) & set(MAP_SCRIPTS) else [])]
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="{escape(language)}"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy(codes, styles, connect)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f'<meta name="generator" content="Elsewhere {__version__}">',
            f"<title>{escape(title)}</title>",
            *(f"<style>{style}</style>" for style in styles),
            "</head><body><main>",
            f"<h1>{escape(title)}</h1><p class='note'>{escape(subtitle)}</p>",
            *sections,
            "</main>",
            *(_data_block(name, value) for name, value in (data or {}).items()),
            *(_blob_block(name, value) for name, value in (blobs or {}).items()),
            *(f"<script>{code}</script>" for code in codes),
            "</body></html>\n",
        ]
    )


def policy(codes: Sequence[str], styles: Sequence[str], connect: str) -> str:
    """Nothing runs and nothing is asked for but what the page was made with.

    A map draws in a worker, which its script makes of itself (blob:).
    """
    allowed = {
        "default-src": "'none'",
        "script-src": " ".join(map(_checksum, codes)) or "'none'",
        "style-src": " ".join(map(_checksum, styles)),
        "img-src": "data: blob:",
        "worker-src": "blob:",
        "connect-src": connect,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{what} {sources}" for what, sources in allowed.items())


def _text(name: str) -> str:
    """A file of this package; no browser shall look for where it was made of."""
    text = _HERE.joinpath(name).read_text(encoding="utf-8")
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def _checksum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data_block(name: str, value: Any) -> str:
    # A page ends where its text says so, also within quotes.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{escape(name)}">{text}</script>'


def _blob_block(name: str, value: bytes) -> str:
    code = base64.b64encode(value).decode()
    return f'<script type="application/octet-stream" id="{escape(name)}">{code}</script>'


def section(title: str, note: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2><p class='note'>{escape(note)}</p>{content}</section>"


def verdict(text: str) -> str:
    """Something that must not be overlooked."""
    return f"<p class='verdict'>{escape(text)}</p>"


def cards(facts: Mapping[str, str]) -> str:
    """A row of numbers with what they mean."""
    inner = "".join(
        f"<div class='card'><b>{escape(value)}</b><span>{escape(name)}</span></div>"
        for name, value in facts.items()
    )
    return f"<div class='cards'>{inner}</div>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, words: Sequence[int] = (0,)) -> str:
    """A table that scrolls by itself where a page is narrow; columns of ``words`` begin at the left."""
    kinds = [" class='text'" if column in words else "" for column in range(len(header))]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, header, strict=True))
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    )
    inner = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    # By keyboard, too.
    return f"<div class='scrolls' tabindex='0' role='region' aria-label='table'>{inner}</div>"


def picture(png: bytes, title: str) -> str:
    """A picture that the page carries."""
    return f'<img alt="{escape(title)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
