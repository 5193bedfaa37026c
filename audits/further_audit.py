"""Levels and visits as they happen through the exact channel: promises beside the ε of a whole day."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

from elsewhere.audit.channel import all_trajectories, largest_loss
from elsewhere.audit.levels import level_losses
from elsewhere.device.live import LiveSharing
from elsewhere.errors import InputError
from elsewhere.methods.registry import method
from tiny_worlds import tiny_world

_EPSILONS = ("1/2", "2", "6")
_LEVEL_METHODS: tuple[tuple[str, dict[str, int]], ...] = (
    ("codebook", {"candidates": 12, "shards": 1, "k": 2}),
    ("ind-noreach", {}),
    ("ngram", {"n": 1}),
)
_PLACES = 3


def live_ratio(folder: Path, seed: int) -> float:
    """What all parts of a day spend on tiny world ``seed``, over ε: every history, every output."""
    world = tiny_world(folder, seed, _PLACES)
    epsilon = Fraction(_EPSILONS[seed % len(_EPSILONS)])
    every = 480 if 480 % world.clock.timestep_minutes == 0 else 720
    live = LiveSharing(world, epsilon=epsilon, every_minutes=every)
    days = list(product(range(live.tables.nowhere + 1), repeat=live.parts))
    return float(largest_loss(live, days).epsilon) / float(epsilon)


def level_ratio(folder: Path, seed: int) -> float | None:
    """The largest share that is spent of a level, or of ε; None where no place is left to stand in."""
    world = tiny_world(folder, seed, _PLACES)
    if len(world.places) < 2:
        return None
    name, options = _LEVEL_METHODS[seed % len(_LEVEL_METHODS)]
    epsilon = Fraction(_EPSILONS[seed // 3 % len(_EPSILONS)])
    chosen = zip(world.places.ids[:-1], (epsilon / 4, epsilon / 2), strict=False)
    try:
        leveled = method(name, world, epsilon=epsilon, levels=dict(chosen), **options)
        leveled.prepare(1)
    except InputError:
        return None
    losses = level_losses(leveled, list(all_trajectories(world, 1)))
    return max(loss / float(epsilon if level is None else level) for level, loss in losses.items())
