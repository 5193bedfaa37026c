"""`codebook` on real days: how fast, how far off beside ngram and the nulls, and what ε it spends."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import elsewhere as ew
from cities import city_with_days
from elsewhere.arrays import Indices
from elsewhere.audit.bounds import draw_losses
from elsewhere.days.comparison import plain_day_costs
from elsewhere.days.prior import world_prior
from elsewhere.days.prior_days import compiled_likely_days
from elsewhere.days.visits import parts_of
from elsewhere.evaluate.summary import summarise
from elsewhere.mechanism.codebook import nearest_flags
from elsewhere.methods.codebook import Codebook
from elsewhere.methods.registry import null_names
from elsewhere.methods.sharing import Sharing
from elsewhere.world.place_world import place_world
from elsewhere.world.world import World

_DAYS = 2000


def _prior_per_second(world: World) -> float:
    prior, places, seed = world_prior(world), place_world(world), np.array([1], dtype=np.uint64)
    compiled_likely_days(prior, places, 100, 1, seed)
    started = time.process_time()
    compiled_likely_days(prior, places, 50_000, 1, seed)
    return 50_000 / (time.process_time() - started)


def _plainly(core: Codebook, secrets: list[Indices]) -> float:
    """Seconds of the plain twin, which is what devices without a compiler run."""
    tables = core.tables(1)
    started = time.perf_counter()
    for number, secret in enumerate(secrets):
        columns = tables.columns(number % core.shards)
        places, times = parts_of(secret, tables.timesteps)
        costs = plain_day_costs(columns, tables.distances, tables.unmatched, places, times)
        nearest_flags(costs, tables.odds.nearest)
    return (time.perf_counter() - started) / len(secrets)


def _speeds(method: Sharing, core: Codebook, days: list[ew.Trajectory]) -> dict[str, float]:
    core.prepare_many(1)
    for shard in range(core.shards):
        core.tables(1).columns(shard)
    secrets = [np.array(core.secret(day), dtype=np.int32) for day in days[:200]]
    started = time.perf_counter()
    for number, secret in enumerate(secrets):
        core.tables(1).near(secret, number % core.shards)
    pick = (time.perf_counter() - started) / len(secrets)
    plainly = _plainly(core, secrets)
    method.share(days[0])
    started = time.perf_counter()
    for day in days[:60]:
        method.share(day)
    one = (time.perf_counter() - started) / 60
    method.share_many(days[:200], workers=2)
    started = time.perf_counter()
    method.share_many(days, workers=2)
    return {
        "pick_ms": 1e3 * pick,
        "plainly": plainly / pick,
        "one_ms": 1e3 * one,
        "per_second": len(days) / (time.perf_counter() - started),
    }


OURS = ("codebook", "codebook, guess", "codebook, same length")


def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        source, world, days = city_with_days(Path(name), 2000)
        days = days[:_DAYS]
        started = time.perf_counter()
        core = Codebook(world, epsilon=5)
        method = Sharing(core)
        method.prepare(1)
        tuned = time.perf_counter() - started
        rows: dict[str, dict[str, float]] = {}
        for label, other in {
            "codebook": method,
            "codebook, guess": ew.method("codebook", world, epsilon=5, reading="guess"),
            "codebook, same length": ew.method("codebook", world, epsilon=5, same_length=True),
            **{null: ew.method(null, world, epsilon=5) for null in ("ngram", "global", *null_names())},
        }.items():
            found = summarise(world, days, other.share_many(days, workers=2))
            errors = {key: estimate.value for key, estimate in found.errors.items()}
            density = found.density["density_cell_hour"]
            rows[label] = {
                **errors,
                "feasible": found.feasible_percent.value,
                "open": found.open_percent.value,
                "unmatched": found.unmatched_percent.value,
                "js_cell_hour": density.value if density else 1.0,
            }
        (loss,) = draw_losses(core.tables(5), core.draws_for(5))
        return {
            "source": source,
            "days": len(days),
            "prior_per_second": _prior_per_second(world),
            "tuned_s": tuned,
            **_speeds(method, core, days),
            "spent_of_claimed": loss.spent / 5,
            "nulls": {name: null_names(keeps_length=not rows[name]["unmatched"]) for name in OURS},
            "rows": rows,
        }


if __name__ == "__main__":
    print(json.dumps(measure()))
