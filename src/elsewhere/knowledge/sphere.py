"""Distances on the globe, through unit vectors.

The chord between two unit vectors grows with the great-circle distance, so "near enough" can be
decided on squared chords alone: one subtraction, three products, the same bits in numpy and in
compiled loops. The great circle over the chord is the haversine formula, hav = chord² / 4.
"""

from __future__ import annotations

import math

import numpy as np

from elsewhere.arrays import Floats
from elsewhere.compiled import compiled

EARTH_RADIUS_KM = 6371.0088
HALF_CIRCUMFERENCE_KM = math.pi * EARTH_RADIUS_KM
NEAR_CHORD_SQUARED = 1e-3


def unit_vectors(latitudes: Floats, longitudes: Floats) -> Floats:
    """Points of the unit sphere, one row each, from degrees."""
    phi, lam = np.radians(latitudes), np.radians(longitudes)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=-1)


def degrees_of(vectors: Floats) -> tuple[Floats, Floats]:
    """Latitudes and longitudes of (not necessarily unit) vectors."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


@compiled
def chord_squared(first: Floats, i: int, second: Floats, j: int) -> float:
    """Squared chord between row i of one table of unit vectors and row j of another."""
    dx = first[i, 0] - second[j, 0]
    dy = first[i, 1] - second[j, 1]
    dz = first[i, 2] - second[j, 2]
    return float(dx * dx + dy * dy + dz * dz)


def chords_squared(first: Floats, second: Floats) -> Floats:
    """Squared chords between rows of two tables, broadcast; bit for bit what `chord_squared` gives."""
    difference = first - second
    dx, dy, dz = difference[..., 0], difference[..., 1], difference[..., 2]
    return np.asarray(dx * dx + dy * dy + dz * dz)


@compiled
def near_km_squared(chord_sq: float) -> float:
    """Square of the haversine distance of a squared chord below `NEAR_CHORD_SQUARED`.

    (2 asin(c/2))² = c² + c⁴/12 + c⁶/90 + c⁸/560 + c¹⁰/3150 + ...: within 200 km that is exact to the last
    bits, and takes neither a square root nor an arc sine.
    """
    c = chord_sq
    series = 1 + c * (1 / 12 + c * (1 / 90 + c * (1 / 560 + c / 3150)))
    return EARTH_RADIUS_KM * EARTH_RADIUS_KM * c * series


@compiled
def great_circle_km_squared(chord_sq: float) -> float:
    """Square of the haversine distance of any squared chord."""
    if chord_sq < NEAR_CHORD_SQUARED:
        return near_km_squared(chord_sq)
    angle = 2 * math.asin(min(math.sqrt(chord_sq) / 2, 1.0))
    return EARTH_RADIUS_KM * EARTH_RADIUS_KM * angle * angle


def great_circle_km_squares(chords_sq: Floats, *, all_near: bool) -> Floats:
    """The plain twin of `great_circle_km_squared`, bit for bit, for arrays.

    Unless all are known to be near, arc sines are taken of all: the work must not tell how far something is.
    """
    c = chords_sq
    series = 1 + c * (1 / 12 + c * (1 / 90 + c * (1 / 560 + c / 3150)))
    squares = EARTH_RADIUS_KM * EARTH_RADIUS_KM * c * series
    if all_near:
        return np.asarray(squares)
    # Numpy's own arc sine has other bits.
    angles = np.array([2 * math.asin(min(math.sqrt(chord) / 2, 1.0)) for chord in c.tolist()])
    far = EARTH_RADIUS_KM * EARTH_RADIUS_KM * angles * angles
    return np.where(c < NEAR_CHORD_SQUARED, squares, far)


def great_circle_km(chord_sq: Floats) -> Floats:
    """Haversine distance d_s in km of squared chords."""
    return np.asarray(2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(np.sqrt(chord_sq) / 2, 1.0)))


def chord_squared_of_km(km: float) -> float:
    """Squared chord of a great-circle distance; infinite from the antipode on, so nothing is beyond it."""
    if km >= HALF_CIRCUMFERENCE_KM:
        return math.inf
    return (2 * math.sin(km / (2 * EARTH_RADIUS_KM))) ** 2


def continuous_longitudes(longitudes: Floats) -> Floats:
    """Longitudes without a jump at the date line, if the places lie on both sides of it."""
    if longitudes.max() - longitudes.min() <= 180:
        return longitudes
    return np.where(longitudes < 0, longitudes + 360, longitudes)


def plane_km(latitudes: Floats, longitudes: Floats) -> Floats:
    """East and north in km on a plane, for clustering and nearest neighbours within a city."""
    longitudes = continuous_longitudes(longitudes)
    middle = math.radians((latitudes.min() + latitudes.max()) / 2)
    km_per_degree = HALF_CIRCUMFERENCE_KM / 180
    return np.stack([longitudes * km_per_degree * math.cos(middle), latitudes * km_per_degree], axis=-1)
