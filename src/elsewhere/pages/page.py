"""The frame of every page: one HTML file that holds its own scripts and styles and works offline."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from plotly.offline import get_plotlyjs

_COLOURS = "4269d0 efb118 ff725c 6cc5b0 3ca951 ff8ab7 a463f2 97bbf5 9c6b4e 9498a0"
PALETTE = [f"#{colour}" for colour in _COLOURS.split()]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1e23; }
body { max-width: 1180px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .2rem; }
p.note { color: #5a6270; margin: .2rem 0 .8rem; max-width: 60rem; overflow-wrap: anywhere; }
p.verdict { background: #fdeaea; color: #9b1c1c; border-left: 4px solid #c81e1e; padding: .5rem .9rem; }
.cards { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.card { background: #f4f6f9; border-radius: .6rem; padding: .6rem .9rem; min-width: 5rem; }
.card b { display: block; font-size: 1.35rem; } .card span { color: #5a6270; font-size: .85rem; }
table { border-collapse: collapse; font-size: .88rem; display: block; overflow-x: auto; }
th, td { padding: .25rem .7rem .25rem 0; text-align: right; white-space: nowrap; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
th { border-bottom: 1px solid #c9ced6; font-weight: 600; } code { color: #5a6270; font-size: .85rem; }
"""


def page(title: str, subtitle: str, sections: Sequence[str], *, has_charts: bool = True) -> str:
    """A whole page from HTML sections; without charts the script that draws them is left out."""
    script = f"<script>{get_plotlyjs()}</script>" if has_charts else ""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style>",
            f"{script}</head><body>",
            f"<h1>{escape(title)}</h1><p class='note'>{escape(subtitle)}</p>",
            *sections,
            "</body></html>\n",
        ]
    )


def section(title: str, note: str, content: str) -> str:
    return f"<h2>{escape(title)}</h2><p class='note'>{escape(note)}</p>{content}"


def verdict(text: str) -> str:
    """Something that must not be overlooked."""
    return f"<p class='verdict'>{escape(text)}</p>"


def cards(facts: dict[str, str]) -> str:
    """A row of numbers with what they mean."""
    inner = "".join(
        f"<div class='card'><b>{escape(value)}</b><span>{escape(name)}</span></div>"
        for name, value in facts.items()
    )
    return f"<div class='cards'>{inner}</div>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def chart(figure: Any, name: str) -> str:
    """A plotly figure as HTML; ``name`` becomes its id, so that the same page has the same bytes."""
    figure.update_layout(template="plotly_white")
    if figure.layout.legend.y is None:
        figure.update_layout(legend={"y": 0.94})
    # No button may send a chart anywhere: these pages will show what people shared.
    config = {"displaylogo": False, "responsive": True, "showSendToCloud": False}
    html: str = figure.to_html(
        full_html=False, include_plotlyjs=False, div_id=name, config=config, auto_play=False
    )
    return html


def hour_slider(frames: Sequence[Any], active: int, space: int) -> list[dict[str, Any]]:
    """A slider over a figure's frames, one for each hour, ``space`` pixels below the figure."""
    steps = [
        {
            "method": "animate",
            "label": frame.name,
            "args": [[frame.name], {"mode": "immediate", "frame": {"duration": 0, "redraw": True}}],
        }
        for frame in frames
    ]
    return [{"active": active, "steps": steps, "currentvalue": {"prefix": "Hour: "}, "pad": {"t": space}}]
