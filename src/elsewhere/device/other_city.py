"""Files about another city than a world's: people take the wrong file more often than they travel."""

from __future__ import annotations

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import chord_squared_of_km, chords_squared, unit_vectors

FAR_KM = 50
FAR_SHARE = 0.9
OTHER_CITY = (
    f"more than {FAR_SHARE:.0%} of its points are farther than {FAR_KM} km from every place of this world: "
    "is it the world of another city? --anyway goes on"
)
# About a kilometre: years of fixes are at a few thousand such spots.
_DECIMALS = 2
_SOME = 1000


def share_far_from(places: Places, latitudes: Floats, longitudes: Floats) -> float:
    """The share of points that are farther than 50 km, give or take one, from every place."""
    rounded = np.column_stack([latitudes, longitudes]).round(_DECIMALS)
    spots, counts = np.unique(rounded, axis=0, return_counts=True)
    limit = chord_squared_of_km(FAR_KM)
    # Hardly any spot is far from a few places and near to another: a metropolis is seldom looked through.
    some = places.vectors[:: max(1, len(places) // _SOME)]
    is_far = [
        chords_squared(vector, some).min() > limit and chords_squared(vector, places.vectors).min() > limit
        for vector in unit_vectors(spots[:, 0], spots[:, 1])
    ]
    return float(counts[is_far].sum() / counts.sum())
