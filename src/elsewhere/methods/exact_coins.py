"""Coins of `ngram` that spend all of ε', found once for a world and kept beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from elsewhere.errors import InputError
from elsewhere.files import write_text
from elsewhere.mechanism.budget import Draw, short_fraction
from elsewhere.mechanism.calibration import calibrated, is_coin_for, spent_by_coin
from elsewhere.world.measure import COMBINE
from elsewhere.world.world import World

PROVEN, EXACT = "proven", "exact"
CALIBRATIONS = (PROVEN, EXACT)


class ExactCoins:
    """The ε of the coin for each window and ε'."""

    def __init__(self, world: World, cache: str | Path | None) -> None:
        combine = world.settings.distance.combine
        if combine not in COMBINE:
            # The proof is about the numbers that were computed: a function may give others tomorrow.
            raise InputError(
                "calibration", f"cannot be exact with a distance that was registered ({combine!r})"
            )
        self._world = world
        self._cache = None if cache is None else Path(cache)
        self._found: dict[tuple[int, Fraction], Fraction] = {}

    def of(self, draws: Sequence[Draw]) -> list[Fraction]:
        """For each draw the largest ε of a coin with which it spends no more than its own."""
        return [self._coin(draw.length, draw.epsilon) for draw in draws]

    def _coin(self, size: int, epsilon: Fraction) -> Fraction:
        if (size, epsilon) not in self._found:
            world = self._world
            spent = spent_by_coin(world.distances, world.graph.words, size, world.max_distance)
            path = self._path(size, epsilon)
            coin = None if path is None else _read(path)
            # A file may say anything. What it says is used only if it is proven once more.
            is_proven = coin is not None and is_coin_for(coin, epsilon) and spent(coin) <= float(epsilon)
            if coin is None or not is_proven:
                coin = calibrated(spent, epsilon)
                if path is not None:
                    with suppress(InputError):  # what cannot be kept is found again next time
                        write_text(path, json.dumps({"coin": str(coin)}) + "\n")
            self._found[size, epsilon] = coin
        return self._found[size, epsilon]

    def _path(self, size: int, epsilon: Fraction) -> Path | None:
        about = json.dumps((self._world.hash, size, str(epsilon)))
        name = hashlib.sha256(about.encode()).hexdigest()[:16]
        return None if self._cache is None else self._cache / f"ngram-{name}.json"


def _read(path: Path) -> Fraction | None:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))["coin"]
        return short_fraction(said) if isinstance(said, str) else None
    except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError, RecursionError):
        return None
