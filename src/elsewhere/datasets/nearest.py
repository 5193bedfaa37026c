"""The nearest place to a position, if it is near enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from elsewhere.device.matching import MATCH_KM
from elsewhere.knowledge.places import Place
from elsewhere.knowledge.sphere import chord_squared_of_km, unit_vectors


class NearestPlaces:
    """Finds places within 100 m, as section 6.1.1 of the paper does."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = places
        self._tree = cKDTree(unit_vectors(*np.array([(row.latitude, row.longitude) for row in places]).T))
        self._reach = chord_squared_of_km(MATCH_KM) ** 0.5

    def ids(self, positions: Sequence[tuple[float, float]]) -> list[str | None]:
        """Id of the place nearest to each (latitude, longitude); None where all are farther than 100 m."""
        if not positions:
            return []
        chords, rows = map(np.asarray, self._tree.query(unit_vectors(*np.array(positions).T)))
        return [
            self._places[row].place_id if chord <= self._reach else None
            for chord, row in zip(chords.tolist(), rows.tolist(), strict=True)
        ]
