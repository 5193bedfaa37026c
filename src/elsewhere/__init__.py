"""Share where you went without giving away where you were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elsewhere.errors import ElsewhereError, InputError, MissingExtraError, WorldFileError
from elsewhere.trajectories import Trajectory, Visit
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.config import read_config
    from elsewhere.world.build import build_world
    from elsewhere.world.update import update_world

__version__ = "0.1.0"

__all__ = [
    "ElsewhereError",
    "InputError",
    "MissingExtraError",
    "Trajectory",
    "Visit",
    "World",
    "WorldFileError",
    "build_world",
    "read_config",
    "update_world",
]

# Building a world needs libraries that a device has no use for: they load on first use.
_LAZY = {
    "build_world": "elsewhere.world.build",
    "read_config": "elsewhere.config",
    "update_world": "elsewhere.world.update",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'elsewhere' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only when something lazy is asked for

    try:
        return getattr(import_module(_LAZY[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("elsewhere"):
            raise
        raise MissingExtraError(name, "build") from None
