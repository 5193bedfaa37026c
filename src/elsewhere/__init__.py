"""Share where you went without giving away where you were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elsewhere.errors import BudgetError, ElsewhereError, InputError, MissingExtraError, WorldFileError
from elsewhere.trajectories import SharedTrajectory, Trajectory, Visit
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.config import read_config
    from elsewhere.methods.frames import from_frame, to_frame
    from elsewhere.methods.ledger import Ledger
    from elsewhere.methods.reading import read_trajectories
    from elsewhere.methods.registry import METHODS, method
    from elsewhere.methods.tuning import tune
    from elsewhere.world.build import build_world
    from elsewhere.world.update import update_world

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "BudgetError",
    "ElsewhereError",
    "InputError",
    "Ledger",
    "MissingExtraError",
    "SharedTrajectory",
    "Trajectory",
    "Visit",
    "World",
    "WorldFileError",
    "build_world",
    "from_frame",
    "method",
    "read_config",
    "read_trajectories",
    "to_frame",
    "tune",
    "update_world",
]

# What a caller may not need loads on first use: libraries that build worlds, loops that share.
_LAZY = {
    "METHODS": "elsewhere.methods.registry",
    "Ledger": "elsewhere.methods.ledger",
    "build_world": "elsewhere.world.build",
    "from_frame": "elsewhere.methods.frames",
    "to_frame": "elsewhere.methods.frames",
    "method": "elsewhere.methods.registry",
    "read_trajectories": "elsewhere.methods.reading",
    "read_config": "elsewhere.config",
    "tune": "elsewhere.methods.tuning",
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
