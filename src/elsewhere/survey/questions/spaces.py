"""Groups of places that questions share: cells of the city, and kinds of place."""

from __future__ import annotations

from typing import Any

import h3 as h3_library
import numpy as np

from elsewhere.arrays import Indices
from elsewhere.days.visits import first_categories
from elsewhere.errors import InputError
from elsewhere.knowledge.sphere import continuous_longitudes
from elsewhere.survey.things import Groups
from elsewhere.world.settings import GridSpace, H3Space
from elsewhere.world.space import SpaceLevels, divide_space
from elsewhere.world.world import World

_MOST_CELLS = 64


def cells_of(world: World, *, grid: int | None, h3: int | None) -> Groups:
    """Cells of a grid or of H3 hexagons that hold a place, with coarser ones above them."""
    if h3 is not None:
        if not 0 <= h3 <= 15:
            raise InputError("question.h3", f"found {h3}, must be 0 to 15, a resolution of H3")
        levels = divide_space(world.places, H3Space(resolutions=tuple(range(h3, max(h3 - 3, -1), -1))), None)
        return Groups(members=_numbered(levels.cells), columns=_hexagons(levels))
    if grid is None or not 1 <= grid <= _MOST_CELLS:
        raise InputError("question.grid", f"found {grid}, must be 1 to {_MOST_CELLS} cells along a side")
    levels = divide_space(world.places, GridSpace(cells=grid), None)
    return Groups(members=_numbered(levels.cells), columns=_squares(world, grid, np.unique(levels.cells[0])))


def _numbered(levels: Indices) -> Indices:
    """Every level with the numbers 0, 1, ... of the groups that hold a place."""
    return np.stack([np.unique(level, return_inverse=True)[1].astype(np.int32) for level in levels])


def _squares(world: World, grid: int, used: Indices) -> dict[str, list[float]]:
    """Where the cells of a grid lie: the places' box, cut evenly."""
    latitudes, longitudes = world.places.latitudes, continuous_longitudes(world.places.longitudes)
    south, west = float(latitudes.min()), float(longitudes.min())
    height, width = (float(values.max() - values.min()) / grid for values in (latitudes, longitudes))
    rows, columns = np.divmod(used, grid)
    return {
        "south": (south + rows * height).tolist(),
        "west": (west + columns * width).tolist(),
        "north": (south + (rows + 1) * height).tolist(),
        "east": (west + (columns + 1) * width).tolist(),
    }


def _hexagons(levels: SpaceLevels) -> dict[str, list[Any]]:
    """The names of hexagons, and the box that each lies in."""
    names = [levels.labels[0][cell] for cell in np.unique(levels.cells[0]).tolist()]
    corners = [np.array(h3_library.cell_to_boundary(name)) for name in names]
    return {
        "cell": names,
        "south": [float(points[:, 0].min()) for points in corners],
        "west": [float(points[:, 1].min()) for points in corners],
        "north": [float(points[:, 0].max()) for points in corners],
        "east": [float(points[:, 1].max()) for points in corners],
    }


def kinds_of(world: World, level: int) -> Groups:
    """Categories on a level of the tree, with those above them."""
    if not 1 <= level <= world.settings.category_levels:
        allowed = f"must be 1 to {world.settings.category_levels}, a level of the category tree"
        raise InputError("question.level", f"found {level}, {allowed}")
    first = first_categories(world)
    nodes = np.stack([np.asarray(world.tree.ancestors_at(depth)[first]) for depth in range(level, 0, -1)])
    members = _numbered(nodes)
    names = [world.tree.names[node] for node in np.unique(nodes[0]).tolist()]
    everything = np.zeros((1, members.shape[1]), dtype=np.int32)
    return Groups(members=np.vstack([members, everything]), columns={"category": names})


def single_places(world: World) -> Groups:
    """Every place by itself, with cells of a grid above."""
    cells = cells_of(world, grid=16, h3=None).members
    own = np.arange(len(world.places), dtype=np.int32)[None]
    return Groups(members=np.vstack([own, cells]), columns={"place_id": list(world.places.ids)})
