"""Charts as plain SVG: nothing runs, text keeps its size on any screen, every mark says its number.

Positions are in per cent of the plot, which a browser works out again when a page gets wider or narrower.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("first", "second", "third", "fourth", "fifth")
"""Names of the look; beyond five, lines cannot be told apart."""
_PLOT_HEIGHT = 260
_BELOW = 44
_SHAPES = ("circle", "square", "diamond", "triangle")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One line of a bar table, in the unit that its head says."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    truth: float | None = None


def bar_table(bars: Sequence[Bar], *, what: str, unit: str = "%", digits: int = 1) -> str:
    """A bar, its number and its interval for each label; a diamond where it is known what is true."""
    widest = max((edge for bar in bars for edge in (bar.value, bar.high, bar.truth) if edge), default=1.0)
    has_truth = any(bar.truth is not None for bar in bars)
    rows = "".join(_bar_row(bar, widest or 1.0, digits, has_truth=has_truth) for bar in bars)
    truth = "<th>true</th>" if has_truth else ""
    head = f"<th class='text'>{escape(what)}</th><th></th><th>{escape(unit)}</th>{truth}"
    return f"<table class='bars'><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _bar_row(bar: Bar, widest: float, digits: int, *, has_truth: bool) -> str:
    def at(value: float) -> str:
        return f"{100 * max(value, 0) / widest:.2f}%"

    parts = [f"<rect class='fill first' x='0' y='15%' height='70%' width='{at(bar.value)}'/>"]
    number = f"{bar.value:.{digits}f}"
    if bar.low is not None and bar.high is not None:
        ends = f"x1='{at(bar.low)}' x2='{at(bar.high)}'"
        parts.append(f"<line class='whisker' {ends} y1='50%' y2='50%'/>")
        number += f" ({max(bar.low, 0):.{digits}f}–{bar.high:.{digits}f})"
    truth = ""
    if bar.truth is not None:
        parts.append(_mark(at(bar.truth), "50%", "diamond", "mark"))
    if has_truth:
        truth = f"<td>{'–' if bar.truth is None else f'{bar.truth:.{digits}f}'}</td>"
    svg = f"<svg aria-hidden='true'>{''.join(parts)}</svg>"
    label = f"<th class='text' scope='row'>{escape(bar.label)}</th>"
    return f"<tr>{label}<td class='bar'>{svg}</td><td>{number}</td>{truth}</tr>"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """What a chart's axis says, in one unit."""

    title: str
    ticks: Sequence[float] = ()
    """Where to write numbers; round ones where none are given."""
    is_log: bool = False
    low: float | None = None
    high: float | None = None

    def spread(self, values: Sequence[float]) -> Axis:
        """The same axis, wide enough for values."""
        known = [value for value in values if math.isfinite(value) and (value > 0 or not self.is_log)] or [
            1.0
        ]
        low = self.low if self.low is not None else min(known) if self.is_log else min(0.0, *known, 0.0)
        high = self.high if self.high is not None else max(known)
        if high <= low:
            high = low + 1
        ticks = self.ticks or (_decades(low, high) if self.is_log else _round_steps(low, high))
        if not self.ticks and not self.is_log:
            high = max(high, ticks[-1]) if self.high is None else high
            ticks = [tick for tick in ticks if low <= tick <= high]
        return Axis(title=self.title, ticks=ticks, is_log=self.is_log, low=low, high=high)

    def at(self, value: float) -> float:
        """How far along, from 0 to 100."""
        low, high = self.low or 0.0, self.high or 1.0
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, 1e-300))
        return 100 * (value - low) / (high - low)


def _round_steps(low: float, high: float) -> list[float]:
    """Four or five round numbers from ``low`` to a little over ``high``."""
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(size * unit for size in (1, 2, 2.5, 5, 10) if size * unit >= rough * 0.999)
    first, last = math.floor(low / step), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, last + 1)]


def _decades(low: float, high: float) -> list[float]:
    found = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    return [10.0**power for power in found] if len(found) > 1 else [low, high]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str = "first"
    style: str = ""
    """Nothing, ``dotted`` or ``dashed``."""
    has_marks: bool = False
    is_area: bool = False
    is_named: bool = True


def line_chart(
    lines: Sequence[Line], *, x: Axis, y: Axis, about: str, verticals: Mapping[str, float] | None = None
) -> str:
    """Lines over one axis; ``verticals`` are named places on it."""
    across = x.spread([*(value for line in lines for value in line.x), *(verticals or {}).values()])
    up = y.spread([value for line in lines for value in line.y])
    parts = [_path(line, across, up) for line in lines]
    marks = []
    for name, value in (verticals or {}).items():
        place, anchor = f"{across.at(value):.2f}%", _anchor(across.at(value))
        marks.append(f"<line class='stroke quiet dashed' x1='{place}' x2='{place}' y1='0' y2='100%'/>")
        marks.append(f"<text x='{place}' y='-4' text-anchor='{anchor}'>{escape(name)}</text>")
    for line in lines:
        if line.has_marks:
            marks += [
                _mark(f"{across.at(left):.2f}%", f"{100 - up.at(top):.2f}%", "circle", f"fill {line.colour}",
                      f"{line.name}: {top:.4g}")
                for left, top in zip(line.x, line.y, strict=True)
            ]  # fmt: skip
    inner = (
        "<svg width='100%' height='100%' viewBox='0 0 1000 1000' preserveAspectRatio='none'>"
        f"{''.join(parts)}</svg>{''.join(marks)}"
    )
    keys = [(line.name, line.colour, f"stroke {line.style}") for line in lines if line.is_named]
    return _legend(keys) + _plot(inner, across, up, about)


def _anchor(place: float) -> str:
    """Words at an edge grow away from it."""
    return "start" if place < 10 else "end" if place > 90 else "middle"


def _path(line: Line, across: Axis, up: Axis) -> str:
    points = [
        (10 * across.at(left), 1000 - 10 * up.at(top))
        for left, top in zip(line.x, line.y, strict=True)
        if math.isfinite(top)
    ]
    if not points:
        return ""
    drawn = "M" + " L".join(f"{left:.1f} {top:.1f}" for left, top in points)
    if line.is_area:
        closed = f"{drawn} L{points[-1][0]:.1f} 1000 L{points[0][0]:.1f} 1000 Z"
        return f"<path class='fill pale {line.colour}' d='{closed}'/>"
    return f"<path class='stroke {line.colour} {line.style}' d='{drawn}'/>"


def column_chart(
    labels: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    *,
    y: Axis,
    x_title: str,
    about: str,
    others: Mapping[str, Sequence[float]] | None = None,
    colours: Sequence[str] = COLOURS,
) -> str:
    """Columns side by side for each label, and hollow marks for what they are compared with."""
    others = others or {}
    up = y.spread([value for values in (*groups.values(), *others.values()) for value in values])
    room = 100 / max(len(labels), 1)
    width = 0.8 * room / max(len(groups), 1)
    parts = []
    for number, (name, values) in enumerate(groups.items()):
        for place, (label, value) in enumerate(zip(labels, values, strict=True)):
            left, tall = room * (place + 0.1) + number * width, max(up.at(value), 0.0)
            parts.append(
                f"<rect class='fill {colours[number]}' x='{left:.2f}%' width='{width * 0.94:.2f}%' "
                f"y='{100 - tall:.2f}%' height='{tall:.2f}%'><title>{escape(label)}, {escape(name)}: "
                f"{value:.1f}</title></rect>"
            )
    shapes = dict(zip(others, _SHAPES * len(others), strict=False))
    for name, values in others.items():
        parts += [
            _mark(f"{room * (place + 0.5):.2f}%", f"{100 - up.at(value):.2f}%", shapes[name], "hollow quiet",
                  f"{label}, {name}: {value:.1f}")
            for place, (label, value) in enumerate(zip(labels, values, strict=True))
        ]  # fmt: skip
    across = Axis(title=x_title, ticks=range(len(labels)), low=-0.5, high=len(labels) - 0.5)
    keys = [(name, colour, "fill") for name, colour in zip(groups, colours, strict=False)]
    keys += [(name, "quiet", shape) for name, shape in shapes.items()]
    return _legend(keys) + _plot("".join(parts), across, up, about, labels)


def _plot(inner: str, across: Axis, up: Axis, about: str, labels: Sequence[str] = ()) -> str:
    """Axes, a grid, and what stands in it."""
    parts = []
    for tick in up.ticks:
        top = f"{100 - up.at(tick):.2f}%"
        parts.append(f"<line class='grid' x1='0' x2='100%' y1='{top}' y2='{top}'/>")
        parts.append(f"<text x='-6' y='{top}' text-anchor='end' dominant-baseline='central'>{tick:,g}</text>")
    every = max(1, math.ceil(len(across.ticks) / 12))
    for number, tick in enumerate(across.ticks):
        if number % every == 0:
            left = f"{across.at(tick):.2f}%"
            words = labels[number] if labels else f"{tick:,g}"
            parts.append(
                f"<text x='{left}' y='{_PLOT_HEIGHT + 16}' text-anchor='middle'>{escape(words)}</text>"
            )
    title = f"<text x='100%' y='{_PLOT_HEIGHT + 36}' text-anchor='end'>{escape(across.title)}</text>"
    height = _PLOT_HEIGHT + _BELOW + 22
    return (
        f"<svg class='chart' height='{height}' role='img' aria-label='{escape(about, quote=True)}'>"
        f"<text x='0' y='12'>{escape(up.title)}</text>"
        f"<svg x='10%' y='22' width='88%' height='{_PLOT_HEIGHT}' overflow='visible'>"
        f"{''.join(parts)}{title}{inner}</svg></svg>"
    )


def _mark(x: str, y: str, shape: str, kind: str, words: str = "") -> str:
    """A small shape around a place; a svg of its own, so that the place may be in per cent."""
    drawn = {
        "circle": "<circle r='4'/>",
        "square": "<rect x='-4' y='-4' width='8' height='8'/>",
        "diamond": "<path d='M0 -6 L6 0 L0 6 L-6 0 Z'/>",
        "triangle": "<path d='M0 -5 L5 4 L-5 4 Z'/>",
    }[shape]
    title = f"<title>{escape(words)}</title>" if words else ""
    return f"<svg x='{x}' y='{y}' overflow='visible'><g class='{kind}'>{drawn}{title}</g></svg>"


def _legend(keys: Sequence[tuple[str, str, str]]) -> str:
    if len(keys) < 2:
        return ""
    items = "".join(f"<li>{_key(colour, kind)} {escape(name)}</li>" for name, colour, kind in keys)
    return f"<ul class='legend'>{items}</ul>"


def _key(colour: str, kind: str) -> str:
    if kind in _SHAPES:
        drawn = _mark("50%", "50%", kind, f"hollow {colour}")
    elif kind == "fill":
        drawn = f"<rect class='fill {colour}' width='100%' height='100%'/>"
    else:
        drawn = f"<line class='{kind} {colour}' x1='0' x2='100%' y1='50%' y2='50%'/>"
    return f"<svg aria-hidden='true'>{drawn}</svg>"
