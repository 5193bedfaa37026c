"""`make bench`: what a world costs, by size, as a table and as bench.json."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

SIZES = (2000, 8000, 32000)
HERE = Path(__file__).parent


def _measured(places: int) -> dict[str, Any]:
    program = [sys.executable, str(HERE / "world_size.py"), str(places)]
    done = subprocess.run(program, check=True, capture_output=True, text=True)  # noqa: S603 - our own script
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def _bars(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What issue A asks of the largest world, each as measured against allowed."""
    small, large = rows[0], rows[-1]
    checks = [
        (
            f"build, {large['places']:,} against {small['places']:,} places",
            large["build_s"] / small["build_s"],
            24.0,
            "×",
        ),
        ("peak memory of the largest", large["peak_mb"] / 1024, 4.0, "GB"),
        ("file of the largest", large["file_mb"], 100.0, "MB"),
        ("update of 20 places against rebuild, largest", large["update_s"] / large["rebuild_s"], 1.0, "×"),
    ]
    return [
        {"what": what, "measured": value, "bar": bar, "unit": unit, "holds": value <= bar}
        for what, value, bar, unit in checks
    ]


def main() -> None:
    console = Console(width=132)
    rows = []
    with console.status("Measuring") as status:
        for size in SIZES:
            status.update(f"Measuring a world of {size:,} places")
            rows.append(_measured(size))
    table = Table(
        title=f"Worlds: {rows[0]['source']}; larger ones sampled around its places", title_justify="left"
    )
    columns = {
        "places": ",", "regions": ",", "bigrams": ",", "build_s": ".3f", "save_s": ".3f", "load_s": ".3f",
        "rebuild_s": ".3f", "update_s": ".3f", "peak_mb": ",.0f", "file_mb": ".2f",
    }  # fmt: skip
    for name in columns:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(format(row[name], spec) for name, spec in columns.items()))
    console.print(table)
    bars = _bars(rows)
    for bar in bars:
        mark = "holds" if bar["holds"] else "MISSED"
        console.print(f"{mark:7}{bar['what']}: {bar['measured']:.2f} {bar['unit']} (bar {bar['bar']:g})")
    (HERE.parent / "bench.json").write_text(json.dumps({"worlds": rows, "bars": bars}, indent=2) + "\n")
    console.print("Written: bench.json")
    if not all(bar["holds"] for bar in bars):
        sys.exit(1)


if __name__ == "__main__":
    main()
