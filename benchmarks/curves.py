"""`make bench-curves`: what Elsewhere costs against places, people, visits and questions, as one figure.

Every point is measured in a process of its own (`curve_points.py`) and written into bench-curves.json at
once. A second run measures only what is missing; `--again` measures all, `--panel places` one panel.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from rich.console import Console

from elsewhere.experiments.figures import panel_grid
from elsewhere.files import whole_file

HERE = Path(__file__).parent
RESULTS = HERE.parent / "bench-curves.json"
FIGURE = HERE.parent / "docs/images/cost-curves.png"

Points = dict[str, dict[str, dict[str, float]]]
"""Curve, size, and what was measured there."""


class Line(NamedTuple):
    """One line of a panel: a number of a curve's points."""

    curve: str
    number: str
    label: str
    colour: str
    dashes: str = "-"


class Panel(NamedTuple):
    """What is measured against what, and where it ends."""

    title: str
    across: str
    sizes: Sequence[int]
    curves: Sequence[str]
    lines: Sequence[Line]
    why: str
    """Where it ends."""
    end: float | None = None
    """Where the program itself stops, if that is a number of what is across."""
    ceiling: float | None = None
    """The same, of what is measured."""


_BLUE, _ORANGE, _GREEN, _PURPLE, _GREY = "#175cd3", "#dc6803", "#067647", "#6941c6", "#667085"
PANELS = {
    "places": Panel(
        "Places of a world",
        "places",
        (2000, 8000, 32_000, 100_000, 250_000),
        ("build", "ngram", "codebook", "answer"),
        (
            Line("build", "build_s", "build, s", _BLUE),
            Line("codebook", "load_s", "load, s", _GREY),
            Line("codebook", "prepare_s", "codebook, first day, s", _ORANGE, "--"),
            Line("codebook", "ms", "codebook, ms a day", _ORANGE),
            Line("ngram", "ms", "ngram, ms a day", _PURPLE),
            Line("answer", "one_ms", "answer, ms", _GREEN),
            Line("build", "peak_mb", "build, MB", _BLUE, ":"),
            Line("ngram", "graph_mb", "region graph, MB", _PURPLE, ":"),
        ),
        "14.9 million; region graph at 65,536 regions",
        end=14_900_000,
        ceiling=537,
    ),
    "people": Panel(
        "People who answer",
        "reports of one question",
        (1000, 10_000, 100_000, 1_000_000, 10_000_000),
        ("estimate",),
        (
            Line("estimate", "estimate_s", "estimate, s", _GREEN),
            Line("estimate", "peak_mb", "memory, MB", _GREEN, ":"),
        ),
        "memory; a cluster counts more",
    ),
    "visits": Panel(
        "Visits in a file",
        "visits",
        (10_000, 100_000, 1_000_000),
        ("perturb_codebook", "perturb_ngram", "simulate"),
        (
            Line("perturb_codebook", "seconds", "perturb, codebook, s", _ORANGE),
            Line("perturb_ngram", "seconds", "perturb, ngram, s", _PURPLE),
            Line("simulate", "seconds", "survey simulate, s", _GREEN),
            Line("perturb_codebook", "peak_mb", "codebook, MB", _ORANGE, ":"),
            Line("perturb_ngram", "peak_mb", "ngram, MB", _PURPLE, ":"),
        ),
        "time alone: files are read in parts",
    ),
    "questions": Panel(
        "Questions of a survey",
        "questions, each of another kind",
        (1, 2, 4, 6, 7),
        ("questions",),
        (
            Line("questions", "create_s", "create, s", _BLUE),
            Line("questions", "one_ms", "answer, ms", _GREEN),
            Line("questions", "estimate_s", "estimate 100,000, s", _ORANGE),
            Line("questions", "peak_mb", "memory, MB", _GREY, ":"),
        ),
        "100 questions",
        end=100,
    ),
}


def measured(curve: str, size: int, folder: Path) -> dict[str, float]:
    """One point, in a process of its own."""
    program = [sys.executable, str(HERE / "curve_points.py"), curve, str(size), str(folder)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    if done.returncode:
        raise SystemExit(f"{curve} at {size:,}: {done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(panels: Sequence[str], points: Points, folder: Path, console: Console) -> None:
    """All points of some panels that are not known yet; each is written down at once."""
    for name in panels:
        panel = PANELS[name]
        for curve in panel.curves:
            known = points.setdefault(curve, {})
            for size in panel.sizes:
                if str(size) in known:
                    continue
                known[str(size)] = measured(curve, size, folder)
                with whole_file(RESULTS) as file:
                    file.write((json.dumps(points, indent=2) + "\n").encode())
                numbers = ", ".join(f"{key} {value:,.4g}" for key, value in known[str(size)].items())
                console.print(f"{curve} {size:,}: {numbers}", soft_wrap=True)


def figure(points: Mapping[str, Any], path: Path) -> None:
    """Four panels, log–log: each line ends with a cross at the largest size that was tried."""
    drawing, grid = panel_grid(2, 2)
    for panel, axes in zip(PANELS.values(), grid.ravel(), strict=True):
        _draw(axes, panel, points)
    drawing.supxlabel("×  the largest that was tried          - - -  the program refuses more", fontsize=7)
    engine: Any = drawing.get_layout_engine()  # each panel has a legend of its own: no room above
    engine.set(rect=(0, 0, 1, 1))
    with whole_file(path) as file:
        drawing.savefig(file, format="png", dpi=170, metadata={"Software": None})


def _draw(axes: Axes, panel: Panel, points: Mapping[str, Any]) -> None:
    axes.set(xscale="log", yscale="log")
    for line in panel.lines:
        known = points.get(line.curve, {})
        found = [(size, known[str(size)].get(line.number, 0)) for size in panel.sizes if str(size) in known]
        if not found:
            continue
        axes.plot(
            *zip(*found, strict=True), label=line.label, color=line.colour, linestyle=line.dashes,
            linewidth=1.4, marker="o", markersize=2.5,
        )  # fmt: skip
        axes.plot(*found[-1], marker="x", color=line.colour, markersize=6)
    if panel.end is not None:
        axes.axvline(panel.end, color="black", linewidth=0.8, linestyle="--")
    if panel.ceiling is not None:
        axes.axhline(panel.ceiling, color=_PURPLE, linewidth=0.8, linestyle="--")
    axes.set_title(f"{panel.title}\nends: {panel.why}", fontsize=7.5)
    axes.set_xlabel(panel.across, fontsize=7)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.25, linewidth=0.5)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** (0.08 * len(panel.lines)))  # room for the legend
    axes.legend(fontsize=6, ncols=2, frameon=False, loc="upper left")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--panel", action="append", choices=list(PANELS), help="only this one")
    parser.add_argument("--again", action="store_true", help="measure what is known once more")
    parser.add_argument("--draw", action="store_true", help="only draw what is known")
    parser.add_argument("--folder", type=Path, help="where cities are kept for another run")
    arguments = parser.parse_args()
    panels = arguments.panel or list(PANELS)
    points: Points = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if arguments.again:
        for name in panels:
            for curve in PANELS[name].curves:
                points.pop(curve, None)
    if not arguments.draw:
        with tempfile.TemporaryDirectory() as name:
            measure(panels, points, arguments.folder or Path(name), Console())
    figure(points, FIGURE)
    print(f"Written: {RESULTS.name}, {FIGURE.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
