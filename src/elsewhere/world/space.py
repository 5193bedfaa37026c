"""Four ways to divide space into nested cells: grid, clusters, polygons, H3.

Whatever the way, the result is the same: for each level, finest first, the cell of every place. The
last level is always one cell, the whole world.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import h3
import numpy as np
import shapely
from scipy.cluster.vq import kmeans2

from elsewhere.arrays import Floats, Indices
from elsewhere.errors import Fault, InputError
from elsewhere.knowledge.places import Places
from elsewhere.knowledge.sphere import continuous_longitudes, plane_km
from elsewhere.randomness import seeded_generator
from elsewhere.world.regions import Polygons
from elsewhere.world.settings import ClusterSpace, GridSpace, H3Space, SpaceSettings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpaceLevels:
    """Nested cells (ℛ_s): ``cells[level, place_index]``, and what people call each cell."""

    cells: Indices
    labels: tuple[tuple[str, ...], ...]


def divide_space(places: Places, settings: SpaceSettings, polygons: Polygons | None) -> SpaceLevels:
    """Cells of every level for all places.

    Paper: section 5.3 (ss:hierarchical-decomposition), "any spatial decomposition technique".
    """
    match settings:
        case GridSpace():
            return _grid(places, settings)
        case ClusterSpace():
            return _clusters(places, settings)
        case H3Space():
            return _h3(places, settings)
        case _:
            if polygons is None:
                raise InputError("space", "polygons are needed for kind = 'polygons'")
            return _polygon_cells(places, polygons)


def grid_sizes(cells: int) -> list[int]:
    """Cells along one side at each level: halved while even, then one. 4 gives 4, 2, 1; 3 gives 3, 1."""
    sizes = [cells]
    while sizes[-1] > 1:
        sizes.append(sizes[-1] // 2 if sizes[-1] % 2 == 0 else 1)
    return sizes


def _grid(places: Places, settings: GridSpace) -> SpaceLevels:
    """Uniform g_s × g_s grid over the places' bounding box, or over given bounds.

    Paper: section 6.2 (ss:expt-setup), "uniform grid".
    """
    latitudes, longitudes = places.latitudes, continuous_longitudes(places.longitudes)
    if settings.bounds is None:
        south, north = latitudes.min(), latitudes.max()
        west, east = longitudes.min(), longitudes.max()
    else:
        south, west, north, east = settings.bounds
        # The turn of the globe at which a place lies nearest to the middle of the bounds.
        turns = np.rint(((west + east) / 2 - places.longitudes) / 360)
        longitudes = places.longitudes + 360 * turns
        is_inside = (south <= latitudes) & (latitudes <= north) & (west <= longitudes) & (longitudes <= east)
        if not is_inside.any():
            raise InputError("space", "no place lies within the bounds (south, west, north, east)")
    rows = _slice_of(latitudes, south, north, settings.cells)
    columns = _slice_of(longitudes, west, east, settings.cells)
    cells, labels = [], []
    for size in grid_sizes(settings.cells):
        shrink = settings.cells // size
        cells.append(rows // shrink * size + columns // shrink)
        names = [
            f"{size} × {size}, row {row + 1}, column {c + 1}" for row in range(size) for c in range(size)
        ]
        labels.append(tuple(names) if size > 1 else ("everywhere",))
    return SpaceLevels(cells=np.stack(cells).astype(np.int32), labels=tuple(labels))


def _slice_of(values: Floats, low: float, high: float, count: int) -> Indices:
    """Which of ``count`` equal slices holds each value; what lies outside falls into the outermost."""
    width = (high - low) / count or 1.0
    return np.clip(np.floor((values - low) / width), 0, count - 1).astype(np.int32)


def _clusters(places: Places, settings: ClusterSpace) -> SpaceLevels:
    """k-means on the places, then on the centres of the finer level, so that cells nest."""
    generator = seeded_generator(settings.seed)
    points = plane_km(places.latitudes, places.longitudes)
    cell_of = np.arange(len(places))
    levels: list[Indices] = []
    for count in settings.counts:
        distinct = np.unique(points, axis=0)
        centres, _ = kmeans2(distinct, min(count, len(distinct)), minit="++", rng=generator, missing="warn")
        nearest = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)
        used, nearest = np.unique(nearest, return_inverse=True)
        cell_of = nearest[cell_of]
        points = centres[used]
        levels.append(cell_of.astype(np.int32))
    labels = [
        tuple(f"cluster {i + 1} of {level.max() + 1}" for i in range(level.max() + 1)) for level in levels
    ]
    return _with_top(levels, labels)


def _h3(places: Places, settings: H3Space) -> SpaceLevels:
    finest = [
        h3.latlng_to_cell(lat, lng, settings.resolutions[0])
        for lat, lng in zip(places.latitudes, places.longitudes, strict=True)
    ]
    names_by_level = [[h3.cell_to_parent(cell, level) for cell in finest] for level in settings.resolutions]
    return _from_names(names_by_level)


def _polygon_cells(places: Places, polygons: Polygons) -> SpaceLevels:
    """The polygon a place lies in (the first, where they overlap), else the nearest; then its ancestors."""
    tree = shapely.STRtree(shapely.from_wkb(list(polygons.shapes)))
    points = shapely.points(places.longitudes, places.latitudes)
    polygon_of = tree.nearest(points)
    inside, hit = tree.query(points, predicate="intersects")
    if not len(inside):
        raise InputError("space", "no place lies in any polygon: are its coordinates longitude, latitude?")
    first_hit = np.full(len(places), len(polygons.names))
    np.minimum.at(first_hit, inside, hit)
    polygon_of = np.where(first_hit < len(polygons.names), first_hit, polygon_of)
    ancestry = _ancestries(polygons)
    depth = max(map(len, ancestry))
    paths = [ancestry[index] + [ancestry[index][-1]] * (depth - len(ancestry[index])) for index in polygon_of]
    return _from_names([[path[level] for path in paths] for level in range(depth)])


def _ancestries(polygons: Polygons) -> list[list[str]]:
    """For each polygon its own name, its parent's, its grandparent's, ... as far as the file tells."""
    parent_of = dict(zip(polygons.names, polygons.parents, strict=True))
    chains = []
    for name in polygons.names:
        chain = [name]
        while (parent := parent_of.get(chain[-1], "")) and parent not in chain:
            chain.append(parent)
        chains.append(chain)
    return chains


def _from_names(names_by_level: list[list[str]]) -> SpaceLevels:
    levels, labels = [], []
    for names in names_by_level:
        distinct = sorted(set(names))
        index_of = {name: index for index, name in enumerate(distinct)}
        levels.append(np.array([index_of[name] for name in names], dtype=np.int32))
        labels.append(tuple(distinct))
    return _with_top(levels, labels)


def _with_top(levels: list[Indices], labels: list[tuple[str, ...]]) -> SpaceLevels:
    if levels[-1].max() > 0:
        levels.append(np.zeros_like(levels[-1]))
        labels.append(("everywhere",))
    return SpaceLevels(cells=np.stack(levels), labels=tuple(labels))


def read_polygons(path: Path, id_property: str, parent_property: str | None) -> Polygons:
    """Polygons of a GeoJSON feature collection with their names and parents."""
    source = str(path)
    try:
        features = [dict(feature) for feature in json.loads(path.read_text(encoding="utf-8"))["features"]]
    except FileNotFoundError:
        raise InputError(source, "no such file") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise InputError(source, "not a GeoJSON FeatureCollection") from None
    faults: list[Fault] = []
    shapes, names, parents = [], [], []
    for number, feature in enumerate(features, start=1):
        properties = feature.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        name = str(properties.get(id_property, "") or "")
        parent = str(properties.get(parent_property, "") or "") if parent_property else ""
        shape = _shape_of(feature)
        if shape is None:
            faults.append(
                Fault(problem=f"feature {number}: geometry must be a valid Polygon or MultiPolygon")
            )
        if not name or name in names:
            state = "found again" if name else "missing"
            faults.append(
                Fault(problem=f"feature {number}: property {id_property!r} {state}, must be unique")
            )
        shapes.append(b"" if shape is None else shapely.to_wkb(shape))
        names.append(name)
        parents.append(parent)
    if not features:
        faults.append(Fault(problem="holds no feature, at least one polygon is needed"))
    elif parent_property and not any(parents):
        faults.append(Fault(problem=f"no feature has the property {parent_property!r} that names its parent"))
    if faults:
        raise InputError(source, faults)
    return Polygons(shapes=tuple(shapes), names=tuple(names), parents=tuple(parents))


def _shape_of(feature: dict[str, object]) -> shapely.Geometry | None:
    try:
        shape = shapely.from_geojson(json.dumps(feature.get("geometry")))
    except shapely.errors.GEOSException:
        return None
    is_area = shape is not None and shape.geom_type in {"Polygon", "MultiPolygon"} and shape.is_valid
    return shape if is_area and not shape.is_empty else None
