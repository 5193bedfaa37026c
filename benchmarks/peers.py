"""`make bench-peers`: other ways to protect days beside ours, as two tables and as bench-peers.json.

Real days where there are any, else a made-up campus. What the numbers mean is in docs/explanation/results.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import elsewhere as ew
from cities import CATEGORIES, CHECKINS, ROOT
from elsewhere.experiments.cells import PRIOR, AllDays, PopulationCell
from elsewhere.experiments.population import Pool
from elsewhere.experiments.sources import find_sources, make_source
from elsewhere.experiments.workshop import sampled
from peers_of_a_day import rows_of_days
from peers_of_many_days import rows_of_many_days

Row = dict[str, Any]

_SUPPORT = 32_768
_FEWEST = 100
"""Of fewer people nothing is said."""
_MOST_VISITS = 8
"""Of a shared day: longer ones are rare, and methods with a public length need tables for each."""
_OF_DAYS = {
    "epsilon_of_five_visits": ("ε of 5 visits", ",.0f"),
    "combined": ("d", ".2f"),
    "space_km": ("km", ".2f"),
    "time_hours": ("h", ".2f"),
    "category": ("d_c", ".2f"),
    "unmatched": ("unmatched, %", ".0f"),
    "feasible": ("feasible, %", ".0f"),
    "open": ("open, %", ".0f"),
    "per_second": ("days a CPU s", ",.0f"),
}
_OF_MANY_DAYS = {
    "people": ("people", ",d"),
    "js_cell_hour": ("JS, cell × hour", ".4f"),
    "busiest_cell_hours": ("busiest 20 off by", ".1%"),
    "js_cell": ("JS, cells", ".4f"),
    "seconds": ("CPU s", ".1f"),
}


def _setting() -> AllDays:
    if CHECKINS.exists() and CATEGORIES.exists():
        return AllDays(dataset="foursquare", places=4000, speed_kmh=8.0)
    return AllDays(dataset="campus", places=None, speed_kmh=4.0)


def _pool(setting: AllDays) -> Pool:
    sources = find_sources([CHECKINS, CATEGORIES] if setting.dataset == "foursquare" else [])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_source(folder, setting, sources, "paper")
        world = ew.build_world(folder / "world.toml")
        days = ew.read_trajectories(folder / "trajectories.csv", world=world)
    return Pool(world, days, _SUPPORT)


def _print(console: Console, title: str, rows: list[Row], columns: dict[str, tuple[str, str]]) -> None:
    table = Table(title=title, title_justify="left")
    has_promise = "promise" in rows[0]
    table.add_column("")
    table.add_column("promise" if has_promise else "visits")
    for header, _ in columns.values():
        table.add_column(header, justify="right")
    for row in rows:
        second = row["promise"] if has_promise else "hidden" if row["hides_length"] else "public"
        table.add_row(row["name"], second, *(format(row[key], spec) for key, (_, spec) in columns.items()))
    console.print(table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--epsilon", type=Fraction, default=Fraction(5), help="for a whole day (5)")
    parser.add_argument("--days", type=int, default=1000, help="how many are shared, at most (1000)")
    parser.add_argument(
        "--people", type=int, default=100_000, help="and a tenth and a hundredth of them (100000)"
    )
    parser.add_argument("--runs", type=int, default=3, help="with other people, for the means (3)")
    return parser.parse_args()


def main() -> None:
    options, console = _options(), Console(width=150)
    setting = _setting()
    with console.status("Making the world") as status, threadpool_limits(1):
        pool = _pool(setting)
        short = [day for day in pool.trajectories if len(day) <= _MOST_VISITS]
        days = sampled(short, options.days)
        of_days = rows_of_days(pool.world, days, options.epsilon, status.update)
        cell = PopulationCell(setting=setting, method=PRIOR, epsilon=float(options.epsilon), support=_SUPPORT)
        people = [options.people // part for part in (100, 10, 1) if options.people // part >= _FEWEST]
        of_many = rows_of_many_days(pool, cell, people, options.runs, status.update)
    where = f"{setting.dataset}, {len(pool.world.places):,} places, ε = {options.epsilon}"
    _print(console, f"A shared day: {len(days):,} days, {where}", of_days, _OF_DAYS)
    _print(console, f"Many days together: {len(pool.trajectories):,} days, {where}", of_many, _OF_MANY_DAYS)
    report = {
        "dataset": setting.dataset,
        "places": len(pool.world.places),
        "world": pool.world.hash,
        "epsilon": str(options.epsilon),
        "shared_days": len(days),
        "days": len(pool.trajectories),
        "a_shared_day": of_days,
        "many_days": of_many,
    }
    (ROOT / "bench-peers.json").write_text(json.dumps(report, indent=2) + "\n")
    console.print("Written: bench-peers.json")


if __name__ == "__main__":
    main()
