"""Groups of places that questions share: parts of the city, and kinds of place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elsewhere.arrays import Indices
from elsewhere.errors import InputError, needs_extra
from elsewhere.knowledge.sphere import continuous_longitudes
from elsewhere.survey.questions.question import PublicMap, QuestionKind, indices, whole
from elsewhere.survey.things import Groups
from elsewhere.world.kinds import first_categories
from elsewhere.world.settings import GridSpace, H3Space, PolygonSpace, SpaceSettings
from elsewhere.world.world import World

MOST_CELLS = 64
_GRID = 4
_CUTTING = "cutting a city into parts"


@dataclass(frozen=True, kw_only=True)
class InCells(QuestionKind):
    """Options of questions about parts of the city: one of ``grid``, ``h3`` and ``polygons``."""

    grid: int | None = None
    """So many cells along each side of the box that holds all places; 4 if nothing else is said."""
    h3: int | None = None
    """Hexagons of this resolution."""
    polygons: str | None = None
    """A GeoJSON file of named areas."""
    name: str = "name"
    """The property that names a polygon."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grid is not None:
            whole("grid", self.grid, 1, MOST_CELLS)
        if self.h3 is not None:
            whole("h3", self.h3, 0, 15)
        for option in ("polygons", "name"):
            if not isinstance(getattr(self, option), str | None):
                raise InputError(f"question.{option}", "must be text")
        self.check_space(self.grid, self.h3, self.polygons)

    def check_space(self, *given: Any) -> None:
        """Refuse two ways to divide the city."""
        if sum(option is not None for option in given) > 1:
            raise InputError("question", "grid, h3, polygons and boxes say the same thing: give one of them")

    def public_map(self, world: World, epsilon: Any, folder: Path) -> PublicMap:
        """The cell of each place."""
        del epsilon
        return public_groups(cells_of(world, self, folder))


def cells_of(world: World, options: InCells, folder: Path) -> Groups:
    """Parts of the city that hold a place, with coarser ones above them. Needs what builds worlds."""
    if options.polygons is not None:
        return _areas(world, folder / options.polygons, options.name)
    if options.h3 is not None:
        return _hexagons(world, options.h3)
    return squares_of(world, options.grid or _GRID)


def squares_of(world: World, grid: int) -> Groups:
    """Cells of a grid over the places' box."""
    latitudes, longitudes = world.places.latitudes, continuous_longitudes(world.places.longitudes)
    south, west = float(latitudes.min()), float(longitudes.min())
    height, width = (float(values.max() - values.min()) / grid for values in (latitudes, longitudes))
    levels, _ = _divided(world, GridSpace(cells=grid))
    rows, columns = np.divmod(np.unique(levels[0]), grid)
    box = {
        "south": (south + rows * height).tolist(),
        "west": (west + columns * width).tolist(),
        "north": (south + (rows + 1) * height).tolist(),
        "east": (west + (columns + 1) * width).tolist(),
    }
    return Groups(members=_numbered(levels), columns=box)


def _hexagons(world: World, resolution: int) -> Groups:
    """Hexagons by name, and the box that each lies in."""
    with needs_extra(_CUTTING, "build"):
        import h3  # noqa: PLC0415 - a device has none: the survey's file tells the cell of each place
    coarser = tuple(range(resolution, max(resolution - 3, -1), -1))
    levels, labels = _divided(world, H3Space(resolutions=coarser))
    names = [labels[cell] for cell in np.unique(levels[0]).tolist()]
    corners = [np.array(h3.cell_to_boundary(name)) for name in names]
    boxes = [(*points.min(axis=0), *points.max(axis=0)) for points in corners]
    return Groups(members=_numbered(levels), columns={"cell": names, **_sides(boxes)})


def _areas(world: World, path: Path, name: str) -> Groups:
    """Named polygons, and the box that each lies in."""
    with needs_extra(_CUTTING, "build"):
        import shapely  # noqa: PLC0415 - a device has none: the survey's file tells the area of each place

        from elsewhere.world.space import divide_space, read_polygons  # noqa: PLC0415 - needs an extra
    polygons = read_polygons(path, name, None)
    divided = divide_space(world.places, PolygonSpace(file=path), polygons)
    names = [divided.labels[0][cell] for cell in np.unique(divided.cells[0]).tolist()]
    shapes = dict(zip(polygons.names, shapely.from_wkb(list(polygons.shapes)), strict=True))
    bounds = [shapes[name].bounds for name in names]
    boxes = [(south, west, north, east) for west, south, east, north in bounds]
    return Groups(members=_numbered(divided.cells), columns={"area": names, **_sides(boxes)})


def _sides(boxes: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    names = ("south", "west", "north", "east")
    return {name: [float(box[at]) for box in boxes] for at, name in enumerate(names)}


def _divided(world: World, space: SpaceSettings) -> tuple[Indices, tuple[str, ...]]:
    with needs_extra(_CUTTING, "build"):
        from elsewhere.world.space import divide_space  # noqa: PLC0415 - needs an extra
    found = divide_space(world.places, space, None)
    return found.cells, found.labels[0]


def _numbered(levels: Indices) -> Indices:
    """Every level with the numbers 0, 1, ... of the groups that hold a place."""
    return np.stack([np.unique(level, return_inverse=True)[1].astype(np.int32) for level in levels])


def kinds_of(world: World, level: int) -> Groups:
    """Categories on a level of the tree, with those above them."""
    if not 1 <= level <= world.settings.category_levels:
        allowed = f"must be 1 to {world.settings.category_levels}, a level of the category tree"
        raise InputError("question.level", f"found {level}, {allowed}")
    first = first_categories(world)
    nodes = np.stack([np.asarray(world.tree.ancestors_at(depth)[first]) for depth in range(level, 0, -1)])
    members = _numbered(nodes)
    names = [world.tree.names[node] or world.tree.ids[node] for node in np.unique(nodes[0]).tolist()]
    everything = np.zeros((1, members.shape[1]), dtype=np.int32)
    return Groups(members=np.vstack([members, everything]), columns={"category": names})


def single_places(world: World) -> Groups:
    """Every place by itself, with cells of a grid above."""
    own = np.arange(len(world.places), dtype=np.int32)[None]
    cells = squares_of(world, 16).members
    columns = {
        "place_id": list(world.places.ids),
        "name": list(world.places.names),
        "lat": world.places.latitudes.tolist(),
        "lng": world.places.longitudes.tolist(),
    }
    return Groups(members=np.vstack([own, cells]), columns=columns)


def public_groups(groups: Groups) -> PublicMap:
    """Groups as a survey's file keeps them."""
    return PublicMap(arrays={"members": groups.members}, columns=groups.columns)


def groups_from(public: PublicMap, world: World) -> Groups:
    """Groups of a survey's file, from anybody: checked."""
    counts = {len(values) for values in public.columns.values()}
    if len(counts) != 1:
        raise InputError("survey", "columns of a question are missing or damaged")
    places = len(world.places)
    members = indices(public, "members", below=places, dimensions=2)
    if members.shape[1] != places or members[0].max() >= counts.pop():
        raise InputError("survey", "members of a question are missing or damaged")
    return Groups(members=members, columns=public.columns)
