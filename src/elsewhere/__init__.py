"""Share where you went without giving away where you were.

>>> import elsewhere as ew
>>> shared, info = ew.method("codebook", world, epsilon=5).share(ew.Trajectory([("a", 60), ("b", 72)]))
>>> float(info.epsilon)
5.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elsewhere.errors import (
    BudgetError,
    ElsewhereError,
    InputError,
    MissingExtraError,
    NotSentError,
    WorldFileError,
)
from elsewhere.trajectories import SharedTrajectory, Trajectory, Visit
from elsewhere.world.measure import register_distance
from elsewhere.world.world import World

if TYPE_CHECKING:
    from elsewhere.device.client import answer, read_own_day
    from elsewhere.device.frames import from_frame, to_frame
    from elsewhere.device.ledger import Ledger
    from elsewhere.device.live import LiveSharing
    from elsewhere.device.reading import read_trajectories
    from elsewhere.estimates.estimate import Estimates, estimate
    from elsewhere.estimates.several import add_up
    from elsewhere.methods.levels import read_levels
    from elsewhere.methods.protocol import ShareInfo
    from elsewhere.methods.registry import METHODS, method
    from elsewhere.methods.sharing import Sharing
    from elsewhere.methods.tuning import Tuning, tune
    from elsewhere.survey.file import load_survey, save_survey
    from elsewhere.survey.survey import Survey
    from elsewhere.survey.toml import create_survey
    from elsewhere.world.build import build_world
    from elsewhere.world.toml import read_config
    from elsewhere.world.update import update_world

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "BudgetError",
    "ElsewhereError",
    "Estimates",
    "InputError",
    "Ledger",
    "LiveSharing",
    "MissingExtraError",
    "NotSentError",
    "ShareInfo",
    "SharedTrajectory",
    "Sharing",
    "Survey",
    "Trajectory",
    "Tuning",
    "Visit",
    "World",
    "WorldFileError",
    "add_up",
    "answer",
    "build_world",
    "create_survey",
    "estimate",
    "from_frame",
    "load_survey",
    "method",
    "read_config",
    "read_levels",
    "read_own_day",
    "read_trajectories",
    "register_distance",
    "save_survey",
    "to_frame",
    "tune",
    "update_world",
]

# What a caller may not need loads on first use: libraries that build worlds, loops that share.
_LAZY = {
    "Estimates": "elsewhere.estimates.estimate",
    "METHODS": "elsewhere.methods.registry",
    "Ledger": "elsewhere.device.ledger",
    "LiveSharing": "elsewhere.device.live",
    "ShareInfo": "elsewhere.methods.protocol",
    "Sharing": "elsewhere.methods.sharing",
    "Survey": "elsewhere.survey.survey",
    "Tuning": "elsewhere.methods.tuning",
    "add_up": "elsewhere.estimates.several",
    "answer": "elsewhere.device.client",
    "build_world": "elsewhere.world.build",
    "create_survey": "elsewhere.survey.toml",
    "estimate": "elsewhere.estimates.estimate",
    "from_frame": "elsewhere.device.frames",
    "load_survey": "elsewhere.survey.file",
    "method": "elsewhere.methods.registry",
    "read_config": "elsewhere.world.toml",
    "read_levels": "elsewhere.methods.levels",
    "read_own_day": "elsewhere.device.client",
    "read_trajectories": "elsewhere.device.reading",
    "save_survey": "elsewhere.survey.file",
    "to_frame": "elsewhere.device.frames",
    "tune": "elsewhere.methods.tuning",
    "update_world": "elsewhere.world.update",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'elsewhere' has no attribute {name!r}")
    try:
        return getattr(import_module(_LAZY[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("elsewhere"):
            raise
        raise MissingExtraError(name, "build") from None


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
